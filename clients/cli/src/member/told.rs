//! Parts of what is told about messages and views.

use super::side;
use crate::show::{Paint, harmless, paint, said};
use folkmoot::{Origin, Party};
use folkmoot_base::{hex, unhex};
use serde_json::Value;

/// What names a message at every member: its sender, the key that sealed it, and its number among
/// the sender's messages under that key.
pub(super) fn message_id(sender: &Party, origin: &Origin) -> String {
    format!("{}.{}.{}", sender.hex(), hex(&origin.epoch), origin.number)
}

/// What somebody said, for people.
pub(super) fn words(event: &Value) -> String {
    said(&unhex(&text(event, "payload")).unwrap_or_default())
}

/// Who is no longer in the view: whoever left, and whoever fell silent, are told apart.
fn went(event: &Value, cause: &str) -> String {
    let names = |field: &str| -> Vec<String> {
        let names = event.get(field).and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).map(harmless).collect()
    };
    let (left, mut silent) = (names("left"), names("went"));
    silent.retain(|name| cause == "network" && !left.contains(name));
    let left = (!left.is_empty()).then(|| format!("{} left", left.join(", ")));
    let (count, names) = (silent.len(), silent.join(", "));
    let silent = match count {
        0 => None,
        1 => Some(format!("{names} has gone silent: it has crashed, or the network is cut")),
        _ => Some(format!("{names} have gone silent: they have crashed, or the network is cut")),
    };
    left.into_iter().chain(silent).map(|part| part + "; ").collect()
}

fn text(event: &Value, field: &str) -> String {
    harmless(event.get(field).and_then(Value::as_str).unwrap_or_default())
}

/// A message, for people.
pub(super) fn message_text(event: &Value) -> String {
    let signed = event.get("signed").and_then(Value::as_bool).unwrap_or_default();
    let number = event.get("number").and_then(Value::as_u64).unwrap_or_default();
    let how = if signed { format!(" (signed, {number})") } else { String::new() };
    format!("{} {}", paint(Paint::Cyan, &format!("{}{how}:", text(event, "name"))), words(event))
}

/// A view, for people.
pub(super) fn view_text(event: &Value) -> String {
    let names = event.get("names").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<String> = names.filter_map(Value::as_str).map(harmless).collect();
    let share = if names.len() == 1 { "alone has" } else { "share" };
    let (cause, key) = (text(event, "cause"), text(event, "epoch"));
    let went = went(event, &cause);
    // Whoever is no member any more may have wished that.
    let cause = if cause == "expelled" { "removal" } else { cause.as_str() };
    let side =
        side::text(event.get("side")).map_or_else(String::new, |side| format!("; this side is {side}"));
    format!("{went}{} {share} key {key} ({cause}){side}", names.join(", "))
}

/// Somebody is no longer a member: by a decision, or because its time was over.
pub(super) fn gone_text(event: &Value) -> String {
    let name = text(event, "name");
    match (text(event, "event").as_str(), event.get("own_wish").and_then(Value::as_bool)) {
        ("expired", _) => {
            format!("{name} is no longer a member: its certificate ended at {}", text(event, "at"))
        }
        ("late", _) => {
            format!("{name} is no longer a member: its admission no longer counts, which nobody decided")
        }
        (_, Some(true)) => format!("{name} left the group for good, by its own wish"),
        (_, Some(false)) => format!("{name} was expelled"),
        (_, None) => format!(
            "{name} is no longer a member: it was expelled, or left by its own wish, while this member was away"
        ),
    }
}

/// A member has another key, for people.
pub(super) fn replaced_text(event: &Value) -> String {
    let (holder, new, old) = (text(event, "holder"), text(event, "new"), text(event, "old"));
    format!("{holder} has another key, {new} in place of {old}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whoever_left_whoever_is_missed_and_whoever_gave_up_look_like_three() {
        let view = |cause: &str, went: &[&str], left: &[&str]| {
            view_text(&json!({
                "names": ["anna"], "went": went, "left": left, "cause": cause, "epoch": "9488fcce"
            }))
        };
        let silent = "has gone silent: it has crashed, or the network is cut; anna alone has key";
        assert_eq!(view("leave", &["ben"], &["ben"]), "ben left; anna alone has key 9488fcce (leave)");
        assert!(view("network", &["ben"], &[]).starts_with(&format!("ben {silent}")));
        assert_eq!(
            view("expelled", &[], &[]),
            "anna alone has key 9488fcce (removal)",
            "perhaps by its wish"
        );
        // Several changes in one view: each is told as what it was.
        let both = view("network", &["ben", "cleo"], &["cleo"]);
        assert!(both.starts_with(&format!("cleo left; ben {silent}")), "{both}");
        let gone = |own: bool| gone_text(&json!({ "event": "expelled", "name": "ben", "own_wish": own }));
        assert_eq!(gone(false), "ben was expelled");
        assert_eq!(gone(true), "ben left the group for good, by its own wish");
        let unseen = gone_text(&json!({ "event": "expelled", "name": "ben", "own_wish": null }));
        assert!(unseen.contains("while this member was away"), "{unseen}");
        let ended = gone_text(&json!({ "event": "expired", "name": "ben", "at": "2026-11-30T00:00:00Z" }));
        assert_eq!(ended, "ben is no longer a member: its certificate ended at 2026-11-30T00:00:00Z");
    }

    #[test]
    fn a_message_of_several_lines_cannot_look_like_others() {
        let told = message_text(&json!({ "name": "ben", "payload": hex(b"one\nanna: two\x1b[2J") }));
        assert_eq!(told, "ben: one\n  | anna: two\u{fffd}[2J");
    }
}
