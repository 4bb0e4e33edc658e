//! Events about two lines of decisions.

use super::render::{Names, name};
use crate::show::harmless;
use folkmoot::Event;
use serde_json::{Value, json};

/// An event about two lines.
pub(super) fn event_json(event: &Event, names: &Names) -> Value {
    match event {
        Event::OtherLine { node, theirs, ours } => json!({
            "event": "other-line", "member": node.member().hex(), "name": name(names, &node.member()),
            "theirs": theirs.whole(), "ours": ours.whole(),
        }),
        Event::WentOver { left, head } => {
            json!({ "event": "went-over", "left": left.whole(), "head": head.whole() })
        }
        _ => Value::Null,
    }
}

/// The same for people.
pub(super) fn event_text(event: &Value) -> String {
    let text = |field: &str| harmless(event.get(field).and_then(Value::as_str).unwrap_or_default());
    let [name, theirs, ours, left, head] = ["name", "theirs", "ours", "left", "head"].map(text);
    if event.get("left").is_some() {
        return format!(
            "this member follows the other line of decisions now: its head is {head}, and was {left}"
        );
    }
    format!(
        "{name} follows another line of decisions ({theirs}) than we do ({ours}): somebody signed both. Ask people whom you trust which head is right"
    )
}
