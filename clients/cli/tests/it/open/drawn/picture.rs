//! What a member says, and what its transcript holds, in one form, so that they can be compared;
//! and lies about each part, which the comparison must find.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// So many yeses a change takes, of five.
const NEED: usize = 3;

/// Who says yes, and who says no, to each open proposal that anybody says yes to.
pub(super) type Votes = BTreeMap<String, [BTreeSet<String>; 2]>;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Picture {
    pub(super) head: String,
    decided: u64,
    held: u64,
    pub(super) changes: BTreeMap<String, String>,
    pub(super) votes: Votes,
}

pub(super) fn names(list: &Value) -> BTreeSet<String> {
    list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn text(one: &Value, field: &str) -> String {
    one[field].as_str().unwrap().to_owned()
}

/// By the command line: `status`, `rules` and `vote list`.
pub(super) fn said(status: &Value, rules: &Value, list: &Value) -> Picture {
    assert_eq!(status["head"], rules["head"], "rules of another head");
    let changed = rules["rules"].as_array().unwrap().iter().filter(|one| one["since"] != 0);
    let voted = list.as_array().unwrap().iter().filter(|one| one["have"] != 0);
    for one in voted.clone() {
        assert_eq!(one["have"], names(&one["approved"]).len(), "{one}");
        assert_eq!((&one["need"], &one["voters"]), (&json!(NEED), &json!(5)), "{one}");
        assert_eq!(one["needs"], "3 of 5 voters", "{one}");
    }
    let both = |one: &Value| ["approved", "rejected"].map(|field| names(&one[field]));
    Picture {
        head: text(status, "head"),
        decided: status["decided"].as_u64().unwrap(),
        held: status["held"].as_u64().unwrap(),
        changes: changed.map(|one| (text(one, "rule"), text(one, "value"))).collect(),
        votes: voted.map(|one| (text(one, "subject"), both(one))).collect(),
    }
}

/// By what `verify` prints of the transcript. `who` is called what.
pub(super) fn held(told: &Value, who: impl Fn(&str) -> String) -> Picture {
    let all = |ids: &Value| names(ids).iter().map(|id| who(id)).collect::<BTreeSet<String>>();
    // If three of five say no, it is over, whoever says yes.
    let open = told["proposals"].as_array().unwrap().iter();
    let open = open.filter(|one| one["reject"].as_array().unwrap().len() < NEED);
    let open = open.map(|one| (text(one, "subject"), ["approve", "reject"].map(|field| all(&one[field]))));
    let changes = told["changes"].as_object().unwrap().iter();
    Picture {
        head: text(told, "head"),
        decided: told["number"].as_u64().unwrap(),
        held: told["held"].as_u64().unwrap(),
        changes: changes.map(|(field, value)| (field.clone(), value.as_str().unwrap().to_owned())).collect(),
        votes: open.collect(),
    }
}

/// What is wrong with the answer to a vote of `me`, by what its transcript held before and holds
/// now: what others said may have come in between.
pub(super) fn lie(told: &Value, [before, held]: [&Picture; 2], me: &str, word: &str) -> Option<String> {
    let (subject, mine) = (told["subject"].as_str().unwrap(), usize::from(word == "reject"));
    let said = ["approved", "rejected"].map(|field| names(&told[field]));
    let open = held.votes.get(subject);
    let wrong = |what: &str| Some(format!("{what}: {told}, and the transcript holds {held:#?}"));
    if told["have"] != said[0].len() {
        return wrong("it does not count those whom it names");
    }
    match (told["state"].as_str(), told["over"].as_str()) {
        (Some("counted"), None) => {
            // Others may have voted since, or it may have been decided since.
            let holds = open.is_none_or(|open| open[mine].contains(me));
            if !said[mine].contains(me) || !holds {
                return wrong("told as counted, and it is not");
            }
            let theirs = |at: usize| {
                let but_me = |all: &BTreeSet<String>| -> BTreeSet<String> {
                    all.iter().filter(|one| *one != me).cloned().collect()
                };
                let is = |held: &Picture| {
                    let nobody = Default::default();
                    but_me(&held.votes.get(subject).unwrap_or(&nobody)[at]) == but_me(&said[at])
                };
                open.is_none() || is(held) || is(before)
            };
            if !(theirs(0) && theirs(1)) {
                return wrong("others are said to have voted otherwise");
            }
            match told["waits"].as_str() {
                Some("votes") if said[0].len() < NEED => None,
                Some("decision") if said[0].len() >= NEED => None,
                _ => wrong("it waits for something else"),
            }
        }
        (Some("counted" | "overtaken"), Some(over)) => {
            if open.is_some() {
                return wrong("told as over, and it is open");
            }
            let about = told["about"].as_str().unwrap();
            let set = about.strip_prefix("set ").and_then(|rest| rest.strip_suffix(" in the charter"));
            let (field, value) = set.and_then(|rest| rest.split_once(" = ")).unwrap();
            let is_so = held.changes.get(field).is_some_and(|held| held == value);
            match over {
                "decided" if is_so && (told["state"] != "counted" || said[0].len() >= NEED) => None,
                "rejected" if word == "reject" || told["state"] == "overtaken" => None,
                "withdrawn" | "overtaken" | "expired" => None,
                _ => wrong("it did not end so"),
            }
        }
        _ => wrong("no such answer"),
    }
}

/// The words of one who tells the truth: what it says, and what its transcript holds.
fn honest() -> ([Value; 3], Value) {
    let status = json!({ "head": "2.ab", "decided": 2, "held": 5 });
    let rules = json!({ "head": "2.ab", "rules": [
        { "rule": "request_hours", "value": "4", "since": 2 }, { "rule": "quorum", "value": "majority", "since": 0 },
    ] });
    let list = json!([
        { "subject": "01", "have": 2, "need": 3, "voters": 5, "needs": "3 of 5 voters", "approved": ["anna", "ben"], "rejected": ["eve"] },
        { "subject": "02", "have": 0, "need": 3, "voters": 5, "needs": "3 of 5 voters", "approved": [], "rejected": ["anna"] },
    ]);
    let told = json!({
        "head": "2.ab", "number": 2, "held": 5, "changes": { "request_hours": "4" },
        "proposals": [
            { "subject": "01", "approve": ["a", "b"], "reject": ["e"] },
            { "subject": "03", "approve": ["a"], "reject": ["b", "c", "d"] },
        ],
    });
    ([status, rules, list], told)
}

fn called(id: &str) -> String {
    ["anna", "ben", "cleo", "dan", "eve"].into_iter().find(|name| name.starts_with(id)).unwrap().to_owned()
}

#[test]
fn a_false_word_in_what_a_member_says_is_found() {
    let ([status, rules, list], told) = honest();
    let truth = held(&told, called);
    assert_eq!(said(&status, &rules, &list), truth);
    type Lie = (&'static str, usize, fn(&mut Value));
    let lies: [Lie; 11] = [
        ("another head", 0, |one| one["head"] = json!("2.ac")),
        ("a decision less", 0, |one| one["decided"] = json!(1)),
        ("a member more", 0, |one| one["held"] = json!(6)),
        ("another value", 1, |one| one["rules"][0]["value"] = json!("5")),
        ("a rule as founded", 1, |one| one["rules"][0]["since"] = json!(0)),
        ("a rule that nobody changed", 1, |one| one["rules"][1]["since"] = json!(1)),
        ("a yes more", 2, |one| {
            (one[0]["approved"], one[0]["have"]) = (json!(["anna", "ben", "cleo"]), json!(3));
        }),
        ("another's yes", 2, |one| one[0]["approved"] = json!(["anna", "cleo"])),
        ("no no", 2, |one| one[0]["rejected"] = json!([])),
        ("a proposal hidden", 2, |one| drop(one.as_array_mut().unwrap().remove(0))),
        ("a proposal invented", 2, |one| {
            (one[1]["approved"], one[1]["have"]) = (json!(["anna"]), json!(1));
        }),
    ];
    for (what, at, lie) in lies {
        let mut words = [status.clone(), rules.clone(), list.clone()];
        lie(&mut words[at]);
        if at == 0 {
            // Both commands may tell the same lie.
            words[1]["head"] = words[0]["head"].clone();
        }
        assert_ne!(said(&words[0], &words[1], &words[2]), truth, "{what}");
    }
}

#[test]
fn a_false_answer_to_a_vote_is_found() {
    let held = held(&honest().1, called);
    let words = "set request_hours = 4 in the charter";
    let good = json!({
        "state": "counted", "over": null, "waits": "votes", "have": 2, "subject": "01", "about": words,
        "approved": ["anna", "ben"], "rejected": ["eve"],
    });
    assert_eq!(lie(&good, [&held; 2], "ben", "approve"), None);
    assert_eq!(lie(&good, [&held; 2], "eve", "reject"), None);
    let decided = json!({
        "state": "counted", "over": "decided", "waits": null, "have": 3, "subject": "04", "about": words,
        "approved": ["anna", "ben", "cleo"], "rejected": [],
    });
    assert_eq!(lie(&decided, [&held; 2], "ben", "approve"), None);
    let with = |base: &Value, fields: Value| {
        let mut told = base.clone();
        fields.as_object().unwrap().iter().for_each(|(field, value)| told[field] = value.clone());
        told
    };
    let elsewhere = "set request_hours = 5 in the charter";
    for (told, me, word) in [
        // It is not there at all, or it is the other way round.
        (good.clone(), "cleo", "approve"),
        (good.clone(), "ben", "reject"),
        (
            with(&good, json!({ "have": 3, "approved": ["anna", "ben", "dan"], "waits": "decision" })),
            "dan",
            "approve",
        ),
        // Another's vote is left out, or invented; the number is not that of the names.
        (with(&good, json!({ "have": 1, "approved": ["ben"] })), "ben", "approve"),
        (with(&good, json!({ "rejected": ["eve", "cleo"] })), "ben", "approve"),
        (with(&good, json!({ "have": 1 })), "ben", "approve"),
        // What it waits for, and how it ended.
        (with(&good, json!({ "waits": "decision" })), "ben", "approve"),
        (with(&good, json!({ "over": "decided", "waits": null })), "ben", "approve"),
        (with(&decided, json!({ "about": elsewhere })), "ben", "approve"),
        (with(&decided, json!({ "have": 2, "approved": ["anna", "ben"] })), "ben", "approve"),
        (with(&decided, json!({ "over": "rejected" })), "ben", "approve"),
        (with(&good, json!({ "state": "waiting", "waits": "order" })), "ben", "approve"),
    ] {
        assert!(lie(&told, [&held; 2], me, word).is_some(), "{me} {word}: {told}");
    }
}
