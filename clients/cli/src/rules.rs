//! What a new charter says about admission and expulsion.

use crate::args::rules::RuleArgs;
use crate::exit::{Exit, Failure};
use crate::files::certificate;
use folkmoot::MemberId;
use folkmoot_identity::{Policies, Rule};
use std::collections::BTreeSet;
use std::path::Path;

/// Who admits and who removes.
pub(crate) fn policies(rules: &RuleArgs) -> Result<Policies, Failure> {
    let role = |text: &String| {
        let (name, who) = text.split_once('=').ok_or_else(|| usage("--role", "is written as NAME=KEYS"))?;
        Ok((name.to_owned(), keys(who)?))
    };
    Ok(Policies {
        policy: rules.policy,
        list: rules.list.as_deref().map(keys).transpose()?.unwrap_or_default(),
        decider: rules.decider.as_deref().map(key).transpose()?,
        roles: rules.roles.iter().map(role).collect::<Result<_, Failure>>()?,
        admit: rule("--admit", rules.admit.as_deref())?,
        remove: rule("--remove", rules.remove.as_deref())?,
        objections: rules.objections,
        request_days: rules.request_days,
        below: rules.below_threshold.unwrap_or_default(),
    })
}

fn usage(what: &str, why: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Usage, format!("{what} {why}"))
}

fn rule(what: &str, text: Option<&str>) -> Result<Option<Rule>, Failure> {
    text.map(|text| Rule::parse(text).map_err(|error| usage(what, error))).transpose()
}

fn keys(text: &str) -> Result<BTreeSet<MemberId>, Failure> {
    text.split(',').map(key).collect()
}

/// A key id, or the key in somebody's identity.pem.
pub(crate) fn key(text: &str) -> Result<MemberId, Failure> {
    match MemberId::from_hex(text) {
        Some(id) => Ok(id),
        None => certificate(Path::new(text)).map(|certificate| certificate.member()),
    }
}
