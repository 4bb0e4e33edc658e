//! Everything that a charter says, rule by rule: what a founder signs, and what is in force.

use folkmoot::{GroupId, MemberId};
use folkmoot_identity::{Central, Charter, Policies};
use std::collections::BTreeSet;

/// What members are called.
pub(crate) type Who<'a> = &'a dyn Fn(&MemberId) -> String;

/// A rule, by the name that `charter change` has for it, and its value; those that no vote changes
/// come first.
pub(crate) fn all(charter: &Charter, who: Who<'_>) -> Vec<(String, String)> {
    let yes = |yes: bool| yes.to_string();
    let mut rules = vec![
        ("scheme", charter.scheme().name().to_owned()),
        ("mode", charter.mode().name().to_owned()),
        ("hybrid_links", yes(charter.hybrid_links())),
    ];
    rules.extend(charter.central().into_iter().flat_map(|central| authority(central)));
    rules.extend([
        ("threshold", charter.threshold_rule().to_string()),
        ("quorum", charter.quorum().word().to_owned()),
        ("adopt", charter.adopt().word().to_owned()),
    ]);
    rules.extend(policies(charter.policies(), who));
    rules.extend([
        ("minority", charter.minority().word().to_owned()),
        ("minority_may_admit", yes(charter.minority_may_admit())),
        ("letters", yes(charter.letters())),
        ("certificate_days", charter.certificate_days().to_string()),
        ("request_hours", charter.request_hours().to_string()),
        ("keying", charter.keying().as_str().to_owned()),
        ("cipher", charter.cipher().as_str().to_owned()),
        ("hybrid", yes(charter.hybrid())),
        ("contributory", yes(charter.contributory())),
        ("contacts", list(charter.contacts().iter().map(|contact| contact.as_str().to_owned()))),
    ]);
    let validity = charter.validity();
    rules.extend(validity.not_before.map(|time| ("not_before", time.to_string())));
    rules.extend(validity.not_after.map(|time| ("not_after", time.to_string())));
    let timeouts = charter.timeouts();
    let timeouts = [
        ("timeouts.step_ms", timeouts.step_ms),
        ("timeouts.silence_ms", timeouts.silence_ms),
        ("timeouts.lookup_ms", timeouts.lookup_ms),
        ("timeouts.skew_ms", timeouts.skew_ms),
        ("timeouts.refresh_ms", timeouts.refresh_ms),
    ];
    rules.extend(timeouts.into_iter().filter_map(|(name, time)| Some((name, time?.to_string()))));
    let rules = rules.into_iter().map(|(name, value)| (name.to_owned(), value));
    let roles = charter.policies().roles.iter();
    let roles = roles.map(|(role, keys)| (format!("roles.{role}"), people(keys, who)));
    let recognised = charter.recognised().iter();
    let recognised =
        recognised.map(|(name, key)| (format!("recognised.{name}"), folkmoot_base::hex(key.spki_der())));
    let groups = charter.named_groups().flat_map(|name| {
        let (keying, cipher) = charter.suite(&GroupId::of_name(&charter.group(), &name));
        let name = name.as_str();
        [
            (format!("groups.{name}.keying"), keying.as_str().to_owned()),
            (format!("groups.{name}.cipher"), cipher.as_str().to_owned()),
        ]
    });
    rules.chain(roles).chain(recognised).chain(groups).collect()
}

fn authority(central: &Central) -> Vec<(&'static str, String)> {
    let nodes = list(central.nodes.iter().map(MemberId::hex));
    vec![
        ("authority", central.certificate.name().to_owned()),
        ("authority.key", folkmoot_base::hex(&folkmoot_base::digest(&[central.certificate.der()]))),
        ("authority.nodes", nodes),
    ]
}

fn policies(policies: &Policies, who: Who<'_>) -> Vec<(&'static str, String)> {
    let mut rules = vec![("policy", policies.policy.word().to_owned())];
    if !policies.list.is_empty() {
        rules.push(("list", people(&policies.list, who)));
    }
    rules.extend(policies.decider.iter().map(|decider| ("decider", who(decider))));
    rules.extend(policies.admit.iter().map(|rule| ("admit", rule.to_string())));
    rules.extend(policies.remove.iter().map(|rule| ("remove", rule.to_string())));
    rules.extend(policies.objections.iter().map(|count| ("objections", count.to_string())));
    rules.extend(policies.request_days.iter().map(|days| ("request_days", days.to_string())));
    rules.push(("below_threshold", policies.below.word().to_owned()));
    rules
}

fn people(keys: &BTreeSet<MemberId>, who: Who<'_>) -> String {
    list(keys.iter().map(who))
}

fn list(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}
