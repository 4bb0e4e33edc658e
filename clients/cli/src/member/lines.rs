//! Events about two lines of decisions, and about decisions that are skipped.

use super::render::{Names, name};
use crate::show::harmless;
use crate::words::of_head;
use folkmoot::Event;
use serde_json::{Value, json};

/// An event about lines.
pub(super) fn event_json(event: &Event, names: &Names) -> Value {
    match event {
        Event::OtherLine { node, theirs, ours } => json!({
            "event": "other-line", "member": node.member().hex(), "name": name(names, &node.member()),
            "theirs": theirs.whole(), "ours": ours.whole(),
            "theirs_words": of_head(theirs), "ours_words": of_head(ours),
        }),
        Event::WentOver { left, head } => {
            let words = of_head(head);
            json!({ "event": "went-over", "left": left.whole(), "head": head.whole(), "head_words": words })
        }
        Event::Offered { head } => {
            json!({ "event": "offered", "head": head.whole(), "head_words": of_head(head) })
        }
        Event::Skipped { left, head } => {
            let words = of_head(head);
            json!({ "event": "skipped", "left": left.whole(), "head": head.whole(), "head_words": words })
        }
        _ => Value::Null,
    }
}

/// The same for people.
pub(super) fn event_text(event: &Value) -> String {
    let text = |field: &str| harmless(event.get(field).and_then(Value::as_str).unwrap_or_default());
    let [name, theirs, ours, left, head] = ["name", "theirs", "ours", "left", "head"].map(text);
    let [their_words, our_words, words] = ["theirs_words", "ours_words", "head_words"].map(text);
    match event.get("event").and_then(Value::as_str) {
        Some("offered") => {
            return format!(
                "others have gone on to the decision {head} (in words: {words}), and nobody has shown this \
                 member the decisions between. `folkmoot status` says what you can do"
            );
        }
        Some("skipped") => {
            return format!(
                "this member has gone on from {left} to {head} (in words: {words}) without the decisions \
                 between: it trusts the voters that committed to them, and has not counted the approvals itself"
            );
        }
        _ => {}
    }
    if event.get("left").is_some() {
        return format!(
            "this member follows the other line of decisions now: its head is {head} (in words: {words}), and was {left}"
        );
    }
    format!(
        "{name} follows another line of decisions than we do: somebody signed both. Theirs is {theirs} (in words: \
         {their_words}), ours is {ours} (in words: {our_words}). Ask people whom you trust which head is right"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot::{Head, MemberId};

    #[test]
    fn both_lines_are_told_in_digits_and_in_words() {
        let anna = MemberId::from_hex(&"5a".repeat(32)).unwrap();
        let names = Names::from([(anna, "anna".to_owned())]);
        let [theirs, ours] = [1, 2].map(|byte| Head { number: 7, digest: [byte; 32] });
        let told = event_text(&event_json(&Event::OtherLine { node: anna.node(), theirs, ours }, &names));
        let over = event_text(&event_json(&Event::WentOver { left: ours, head: theirs }, &names));
        assert!(told.starts_with("anna follows another line"), "{told}");
        for (said, head) in [(&told, theirs), (&told, ours), (&over, theirs)] {
            assert!(said.contains(&head.whole()) && said.contains(&of_head(&head)), "{said}");
        }
    }
}
