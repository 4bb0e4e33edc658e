//! Events about what goes wrong on this machine or does not get through.

use super::render::{Names, name};
use crate::show::{harmless, many_of};
use folkmoot::{Event, Stalled};
use serde_json::{Value, json};

/// An event about trouble.
pub(super) fn event_json(event: &Event, names: &Names) -> Value {
    match event {
        Event::ClockBehind { than, seconds } => json!({
            "event": "clock-behind", "seconds": seconds, "member": than.map(|member| member.hex()),
            "name": than.map(|member| name(names, &member)),
        }),
        Event::Stalled { group, messages } => {
            json!({ "event": "stalled", "group": group.hex(), "messages": messages })
        }
        Event::Resumed { group } => json!({ "event": "resumed", "group": group.hex() }),
        _ => Value::Null,
    }
}

/// What was sent and does not come back.
pub(super) fn stalled_json(stalled: &Stalled) -> Value {
    json!({ "messages": stalled.messages, "seconds": stalled.waited.as_secs() })
}

/// An event about trouble, for people.
pub(super) fn event_text(event: &Value) -> String {
    match event.get("event").and_then(Value::as_str) {
        Some("stalled") => {
            let messages = event.get("messages").and_then(Value::as_u64).unwrap_or_default();
            let messages = many_of(messages, "message");
            format!(
                "nothing comes back of what you have sent ({messages}): nobody may have it. `folkmoot \
                 status` shows for how long, and who is silent"
            )
        }
        Some("resumed") => "what you send comes back again".to_owned(),
        _ => clock_text(event),
    }
}

/// Whose clock differs from ours.
fn clock_text(event: &Value) -> String {
    let seconds = event.get("seconds").and_then(Value::as_u64).unwrap_or_default();
    match event.get("name").and_then(Value::as_str).map(harmless) {
        Some(name) => format!(
            "this machine's clock is {seconds} s behind that of {name}, or that one is ahead. A request that {name} \
             brought does not count here before this clock shows its beginning. Compare the clocks"
        ),
        None => format!(
            "this machine's clock is {seconds} s behind those of the voters who have just decided. Set it: until \
             then, you do not see some requests, and your votes do not help decisions"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use folkmoot::GroupId;

    #[test]
    fn what_does_not_come_back_is_told_with_how_many() {
        let (group, names) = (GroupId([7; 32]), Names::new());
        let stalled = event_json(&Event::Stalled { group, messages: 12 }, &names);
        assert_eq!((&stalled["event"], &stalled["messages"]), (&json!("stalled"), &json!(12)));
        assert!(event_text(&stalled).contains("(12 messages)"));
        let resumed = event_json(&Event::Resumed { group }, &names);
        assert_eq!(event_text(&resumed), "what you send comes back again");
    }
}
