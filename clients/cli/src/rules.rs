//! What a new charter says on who comes in and who goes.

use crate::exit::{Exit, Failure};
use crate::values::{minority, ratio};
use clap::Args;
use folkmoot::MemberId;
use folkmoot_identity::{Below, Minority, Policies, Policy, Rule};
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Debug, Args)]
pub(crate) struct RuleArgs {
    /// In place of --votes, a share of the group's size, as 30%; it follows the size.
    #[arg(long, value_name = "SHARE", value_parser = ratio)]
    ratio: Option<u32>,
    /// With --ratio: by how much the group grows or shrinks before the number of votes follows.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, requires = "ratio")]
    window: u32,
    /// If there are fewer voters than votes asked for: all of them suffice (reset), or the authority decides.
    #[arg(long, value_name = "HOW", value_parser = Below::from_word)]
    below_threshold: Option<Below>,
    /// A role and its keys, as operators=anna/identity.pem,ben/identity.pem; files or key ids. May be given more than once.
    #[arg(long = "role", value_name = "NAME=KEYS")]
    roles: Vec<String>,
    /// What votes for an admission satisfy besides their number, as "2 of operators and 1 of security".
    #[arg(long, value_name = "RULE")]
    admit: Option<String>,
    /// What votes for an expulsion satisfy besides.
    #[arg(long, value_name = "RULE")]
    remove: Option<String>,
    /// How many rejections end a request for good.
    #[arg(long, value_name = "NUMBER")]
    objections: Option<u32>,
    /// How long a request lasts, and every vote on it, whoever was away meanwhile.
    #[arg(long, value_name = "DAYS")]
    request_days: Option<u32>,
    /// Who admits: the voters (threshold), the charter's list, one founder, or the authority.
    #[arg(long, value_name = "POLICY", default_value = "threshold", value_parser = Policy::from_word)]
    policy: Policy,
    /// With --policy list: who may join without votes; files or key ids, with commas between.
    #[arg(long, value_name = "KEYS")]
    list: Option<String>,
    /// What the smaller side of a split may do: continue, read-only or stop.
    #[arg(long, value_name = "HOW", default_value = "continue", value_parser = minority)]
    pub(crate) minority: Minority,
    /// With --policy founder: whose vote admits; a file or key id.
    #[arg(long, value_name = "KEY")]
    decider: Option<String>,
}

impl RuleArgs {
    /// Hundredths and window.
    pub(crate) fn share(&self) -> Option<(u32, u32)> {
        self.ratio.map(|percent| (percent, self.window))
    }

    pub(crate) fn policies(&self) -> Result<Policies, Failure> {
        let role = |text: &String| {
            let (name, who) =
                text.split_once('=').ok_or_else(|| usage("--role", "is written as NAME=KEYS"))?;
            Ok((name.to_owned(), keys(who)?))
        };
        Ok(Policies {
            policy: self.policy,
            list: self.list.as_deref().map(keys).transpose()?.unwrap_or_default(),
            decider: self.decider.as_deref().map(key).transpose()?,
            roles: self.roles.iter().map(role).collect::<Result<_, Failure>>()?,
            admit: rule("--admit", self.admit.as_deref())?,
            remove: rule("--remove", self.remove.as_deref())?,
            objections: self.objections,
            request_days: self.request_days,
            below: self.below_threshold.unwrap_or_default(),
        })
    }
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
fn key(text: &str) -> Result<MemberId, Failure> {
    match MemberId::from_hex(text) {
        Some(id) => Ok(id),
        None => crate::files::certificate(Path::new(text)).map(|certificate| certificate.member()),
    }
}
