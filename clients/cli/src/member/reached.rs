//! Where others reach this member, and the host names at which it looks for others.

use crate::show::harmless;
use folkmoot::{HostName, Locator, Named};
use serde_json::{Value, json};

/// Where others reach a member that listens there.
pub(super) fn places(bound: &Locator, addresses: &[Locator]) -> String {
    if addresses.is_empty() {
        return format!("{bound} (this machine has no address that others can use now)");
    }
    let all: Vec<String> = addresses.iter().map(Locator::to_string).collect();
    all.join(", ")
}

pub(crate) fn json(addresses: &[Locator]) -> Value {
    addresses.iter().map(|at| Value::from(at.to_string())).collect()
}

/// A host name at which others are looked for.
pub(super) fn named_json(named: &Named) -> Value {
    json!({ "name": named.name.to_string(), "addresses": json(&named.places), "why": named.why })
}

/// Which names have no address, and why: a sentence for each.
pub(crate) fn without_address(status: &Value) -> Vec<String> {
    let names = status.get("names").and_then(Value::as_array).into_iter().flatten();
    let lacks = |one: &&Value| one.get("addresses").and_then(Value::as_array).is_none_or(Vec::is_empty);
    let text =
        |one: &Value, field: &str| harmless(one.get(field).and_then(Value::as_str).unwrap_or_default());
    names.filter(lacks).map(|one| lacking(&text(one, "name"), &text(one, "why"))).collect()
}

/// The same of names that are looked for in this process.
pub(crate) fn names_without_address(names: &[Named]) -> Vec<String> {
    let lacks = names.iter().filter(|one| one.places.is_empty());
    lacks.map(|one| lacking(&one.name.to_string(), one.why.as_deref().unwrap_or_default())).collect()
}

fn lacking(locator: &str, why: &str) -> String {
    let name = locator.parse().ok().and_then(|at| HostName::of(&at));
    let name = name.map_or_else(|| locator.to_owned(), |name| name.host().to_owned());
    match why {
        "" => format!("no name server has answered yet for {name}"),
        why => format!("no address is known for {name}: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{places, without_address};
    use folkmoot::Locator;
    use serde_json::json;

    #[test]
    fn a_member_says_where_others_reach_it() {
        let at = |text: &str| -> Locator { text.parse().unwrap() };
        let all = at("udp/0.0.0.0:4803");
        let here = [at("udp/192.0.2.7:4803"), at("udp/10.0.0.3:4803")];
        assert_eq!(places(&all, &here), "udp/192.0.2.7:4803, udp/10.0.0.3:4803");
        assert!(places(&all, &[]).starts_with("udp/0.0.0.0:4803 (this machine has no address"));
    }

    #[test]
    fn names_without_an_address_are_told_with_the_reason() {
        let status = json!({ "names": [
            { "name": "dns/anna.example.org:4803", "addresses": ["udp/192.0.2.7:4803"], "why": null },
            { "name": "dns/ben.example.org:4803", "addresses": [], "why": "the name does not exist" },
            { "name": "dns/cleo.example.org:4803", "addresses": [], "why": null },
        ]});
        assert_eq!(
            without_address(&status),
            [
                "no address is known for ben.example.org: the name does not exist",
                "no name server has answered yet for cleo.example.org"
            ]
        );
        assert!(without_address(&json!({})).is_empty());
    }
}
