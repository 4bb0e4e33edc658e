//! What is open to votes, and what became of it, as data and as text.

use super::concerns;
use super::names::{Names, name, stranger};
use super::render::all;
use crate::show::{harmless, many_of, short};
use folkmoot::{Closed, Event, Petition, Proposal};
use folkmoot_base::hex;
use folkmoot_identity::Endorsement;
use folkmoot_identity::names::{ALIKE, is_marked};
use serde_json::{Value, json};

/// A request as data.
pub(super) fn petition_json(petition: &Petition, names: &Names) -> Value {
    let Petition {
        subject,
        member,
        name: of,
        sponsor,
        have,
        need,
        approved,
        rejected,
        rule,
        roles,
        term,
        waits,
        stale,
        renews: _,
        voters,
        endorsement,
    } = petition;
    let of = &stranger(names, member, of);
    let awaits = if *stale { Some("new-shares") } else { waits.map(|_| "authority") };
    json!({
        "kind": kind(petition), "subject": hex(subject), "member": member.hex(), "name": of, "alike": is_marked(of), "have": have, "need": need,
        "sponsor": sponsor.map(|sponsor| name(names, &sponsor)), "approved": all(names, approved), "rejected": all(names, rejected), "rule": rule, "roles": roles,
        "term": { "from": term.0.to_string(), "to": term.1.to_string() }, "awaits": awaits,
        "voters": voters, "needs": needs(*need, *voters, rule.as_deref()), "concerns": [concerns::member(member, of)], "endorsement": endorsement.as_deref().map(endorsement_json),
    })
}

/// What a newcomer shows of who it is.
pub(super) fn endorsement_json(endorsement: &Endorsement) -> Value {
    let until = endorsement.not_after();
    json!({ "by": endorsement.by(), "member": endorsement.is_member(), "until": until.to_string() })
}

/// A proposal as data.
pub(super) fn proposal_json(proposal: &Proposal, concerns: Vec<Value>, names: &Names) -> Value {
    let Proposal { subject, proposer, text, have, need, approved, rejected, voters, rule } = proposal;
    json!({
        "kind": "proposal", "subject": hex(subject), "name": text, "have": have, "need": need,
        "proposer": name(names, proposer), "approved": all(names, approved), "rejected": all(names, rejected),
        "voters": voters, "rule": rule, "needs": needs(*need, *voters, rule.as_deref()), "concerns": concerns,
    })
}

/// What kind of matter a request is.
pub(super) fn kind(petition: &Petition) -> &'static str {
    if petition.renews { "renewal" } else { "request" }
}

/// What it takes, in words: a number of voters, and what the charter's rule asks for besides.
fn needs(need: u32, voters: u32, rule: Option<&str>) -> String {
    let rule = rule.map_or_else(String::new, |rule| format!(" and {rule}"));
    format!("{need} of {}{rule}", many_of(voters.into(), "voter"))
}

/// Why something is open no more, in a word.
fn closed_word(why: Closed) -> &'static str {
    match why {
        Closed::Granted => "granted",
        Closed::Rejected => "rejected",
        Closed::Expired => "expired",
        Closed::Overtaken => "overtaken",
        Closed::Crowded => "crowded",
        Closed::Withdrawn => "withdrawn",
    }
}

/// What became of a request or a proposal; none for an admission, which is told as such.
pub(super) fn closed_text(event: &Value) -> Option<String> {
    let text = |field: &str| harmless(event.get(field).and_then(Value::as_str).unwrap_or_default());
    let (kind, name, why) = (text("kind"), text("name"), text("why"));
    let what = match kind.as_str() {
        "proposal" => format!("the proposal \"{name}\""),
        "renewal" => format!("the request of {name} for a new certificate"),
        _ => format!("the request of {name} to join"),
    };
    let end = match (why.as_str(), kind.as_str()) {
        ("granted", "request") => return None,
        ("granted", "renewal") => return Some(format!("{name} has a new certificate")),
        ("granted", _) => "was decided",
        ("rejected", _) => "was rejected",
        ("expired", _) => "has run out",
        ("withdrawn", _) => "was withdrawn",
        ("crowded", _) => "made room for another",
        (_, "proposal") => "is over: what was decided since leaves nothing to decide",
        _ => "is over: a newer one replaces it, or it does not fit what was decided since",
    };
    Some(format!("{what} {end}"))
}

/// That a request or a proposal is open no more, as data.
pub(super) fn closed_json(event: &Event, names: &Names) -> Value {
    let Event::Closed { subject, member, text, why } = event else { return Value::Null };
    json!({
        "event": "closed", "subject": hex(subject), "kind": if member.is_some() { "request" } else { "proposal" },
        "name": member.map_or_else(|| text.clone(), |member| stranger(names, &member, text)),
        "member": member.map(|member| member.hex()), "why": closed_word(*why),
    })
}

/// A request or a proposal that is new, with how to vote on it.
pub(super) fn asked_text(event: &Value) -> String {
    let text = |field: &str| harmless(event.get(field).and_then(Value::as_str).unwrap_or_default());
    let number = |field: &str| event.get(field).and_then(Value::as_u64).unwrap_or_default();
    let (have, need, subject) = (number("have"), number("need"), text("subject"));
    let concerned = concerned(event);
    if text("event") == "proposal" {
        let (what, word) = (text("text"), short(&subject));
        return format!(
            "{what} ({have} of {need} votes). To agree: /yes {word} in chat, or folkmoot vote approve \
             {word}{concerned}"
        );
    }
    let who = text("name");
    let word = word(&who, &subject);
    let (asks, grant) = match text("kind").as_str() {
        "renewal" => (", a member, asks for a new certificate", "To renew"),
        _ => (" asks to join", "To admit"),
    };
    format!(
        "{who}{asks} ({have} of {need} votes). {grant}: /yes {word} in chat, or folkmoot vote approve \
         {word}{concerned}"
    )
}

/// Whom it concerns, each on a line of its own.
fn concerned(event: &Value) -> String {
    concerns::lines(event).iter().map(|line| format!("\n  {line}")).collect()
}

/// A word for a command line that means what has this name: a stranger's name goes into no shell
/// unless it is plain.
pub(super) fn word<'a>(name: &'a str, subject: &'a str) -> &'a str {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ALIKE);
    if name.chars().all(plain) && !name.starts_with('-') { name } else { short(subject) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_it_is_told_once() {
        let told = |kind: &str, why: &str| {
            closed_text(&json!({ "event": "closed", "kind": kind, "name": "dora", "why": why }))
        };
        assert_eq!(told("request", "granted"), None, "it is told as an admission");
        assert_eq!(told("renewal", "granted").as_deref(), Some("dora has a new certificate"));
        assert_eq!(told("proposal", "granted").as_deref(), Some("the proposal \"dora\" was decided"));
        assert_eq!(
            told("request", "withdrawn").as_deref(),
            Some("the request of dora to join was withdrawn")
        );
        for why in ["rejected", "expired", "overtaken", "crowded", "withdrawn"] {
            for kind in ["request", "renewal", "proposal"] {
                assert!(told(kind, why).is_some(), "{kind} {why}");
            }
        }
    }

    #[test]
    fn a_renewal_is_told_as_one() {
        let asks = |kind: &str| {
            asked_text(
                &json!({ "event": "request", "kind": kind, "name": "dora", "subject": "a1b2", "have": 0, "need": 2 }),
            )
        };
        assert!(asks("renewal").starts_with("dora, a member, asks for a new certificate (0 of 2 votes)"));
        assert!(asks("request").starts_with("dora asks to join (0 of 2 votes)"));
    }

    #[test]
    fn what_it_takes_is_told_with_the_rule() {
        assert_eq!(needs(3, 4, Some("1 of security (has 0)")), "3 of 4 voters and 1 of security (has 0)");
        assert_eq!(needs(1, 1, None), "1 of 1 voter");
    }
}
