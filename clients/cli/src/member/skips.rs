//! Decisions that others made and nobody has shown this member one by one: what it is offered in
//! their place, and what it has skipped. As data, and as lines for people.

use super::names::Names;
use super::times::{ahead, list, names_of, text};
use crate::show::many;
use crate::words::of_head;
use folkmoot::{Ahead, Times};
use serde_json::{Map, Value, json};

/// Most changes of the voters that are told one by one.
const TOLD_MAX: usize = 8;

/// Both, as data.
pub(super) fn data(times: &Times, names: &Names) -> Map<String, Value> {
    let offered = times.offered.split_last().map(|(last, handovers)| offered(last, handovers, names));
    let skipped = times.skipped.map(|skipped| {
        json!({
            "from": skipped.from.whole(), "to": skipped.to.whole(), "to_words": of_head(&skipped.to),
            "first": skipped.from.number.saturating_add(1), "last": skipped.to.number,
        })
    });
    [("offered", offered), ("skipped", skipped)]
        .into_iter()
        .map(|(field, value)| (field.to_owned(), value.unwrap_or_default()))
        .collect()
}

fn offered(last: &Ahead, handovers: &[Ahead], names: &Names) -> Value {
    let mut value = ahead(last, names);
    if let Some(fields) = value.as_object_mut() {
        let before: Value = handovers.iter().map(|one| ahead(one, names)).collect();
        fields.insert("handovers".into(), before);
    }
    value
}

/// What others show in place of the decisions between.
pub(crate) fn of(status: &Value) -> Option<&Value> {
    status.get("offered").filter(|offered| offered.is_object())
}

/// What a person should know of it, a line each.
pub(super) fn lines(status: &Value) -> Vec<String> {
    waiting(status).into_iter().chain(skipped(status)).collect()
}

/// That this member is behind, and what its person can do.
pub(super) fn waiting(status: &Value) -> Option<String> {
    let one = of(status)?;
    Some(format!(
        "{}, and nobody has shown this member the decisions between. It does not skip them by itself, because \
         whoever skips trusts those voters. Let it run until it meets somebody who has them. Or compare that \
         head with a member whom you trust, and then: folkmoot resolve {}",
        decided(one),
        text(one, "head")
    ))
}

/// How far others have come, and by whom.
fn decided(one: &Value) -> String {
    format!(
        "others are at the decision {} (in words: {}) of {}, committed to by {}",
        text(one, "head"),
        text(one, "head_words"),
        text(one, "time"),
        names_of(one, "committed_by")
    )
}

fn skipped(status: &Value) -> Option<String> {
    let skipped = status.get("skipped").filter(|skipped| skipped.is_object())?;
    let number = |field: &str| skipped.get(field).and_then(Value::as_u64).unwrap_or_default();
    Some(format!(
        "this member has skipped the decisions from {} to {}: it trusts the voters that committed to them, and \
         has not counted the approvals itself",
        number("first"),
        number("last")
    ))
}

/// What a person is asked before it lets its member skip.
pub(crate) fn question(status: &Value, one: &Value) -> String {
    let own = status.get("head").and_then(Value::as_str).unwrap_or_default();
    let all: Vec<&Value> = list(one, "handovers").collect();
    let change = |one: &&Value| {
        format!("{} of {}, by {}", text(one, "head"), text(one, "time"), names_of(one, "committed_by"))
    };
    let told: Vec<String> = all.iter().rev().take(TOLD_MAX).map(change).collect();
    let changes = match told.as_slice() {
        [] => "The voters are the same as here.".to_owned(),
        told => {
            format!("The voters have changed between ({}): {}.", many(all.len(), "time"), told.join("; "))
        }
    };
    let decided = decided(one);
    format!(
        "This member is at {own}; {decided}. {changes} If you skip, this member takes from those voters who is in, \
         who votes and what the rules are, and does not count the approvals itself. First compare that head \
         with a member whom you trust."
    )
}

/// Adds to the state of somebody who is not here that it may be because of this.
pub(super) fn say(person: &mut Value, times: &Times) {
    let Some(last) = times.offered.last() else { return };
    let state = person.get("state").and_then(Value::as_str).unwrap_or_default();
    if matches!(state, "present" | "expelled") {
        return;
    }
    let why = person.get("why").and_then(Value::as_str).unwrap_or_default();
    let why = format!(
        "{why}; others have gone on to a decision that this member has not taken (folkmoot status), and share \
         nothing with it until then: folkmoot resolve {}",
        last.head.whole()
    );
    if let Some(fields) = person.as_object_mut() {
        fields.insert("why".into(), why.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status() -> Value {
        let one = |number: u32, by: &str| {
            json!({
                "head": format!("{number}.aa"), "head_words": "abandon", "time": "2026-11-28 10:00:00Z",
                "committed_by": [by],
            })
        };
        let mut last = one(9, "ben");
        last["handovers"] = json!([one(4, "anna")]);
        json!({ "head": "3.bb", "offered": last, "skipped": null })
    }

    #[test]
    fn who_is_behind_sees_dates_and_committers_and_what_to_do() {
        let said = lines(&status()).concat();
        for part in ["9.aa", "2026-11-28", "by ben", "folkmoot resolve 9.aa"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let asked = question(&status(), of(&status()).unwrap());
        for part in ["is at 3.bb", "others are at the decision 9.aa", "(1 time): 4.aa of 2026", "by anna."] {
            assert!(asked.contains(part), "{part}: {asked}");
        }
        assert!(lines(&json!({ "offered": null, "skipped": null })).is_empty());
        let skipped = json!({ "offered": null, "skipped": { "first": 4, "last": 9 } });
        assert!(lines(&skipped).concat().contains("the decisions from 4 to 9: it trusts"));
    }
}
