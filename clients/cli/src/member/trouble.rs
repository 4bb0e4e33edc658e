//! Events about what goes wrong on this machine or does not get through.

use super::render::{Moment, Names, name};
use crate::show::{harmless, many_of};
use folkmoot::{Event, Lacking, NodeId, Path, Stalled, Twice};
use serde_json::{Value, json};
use std::time::Duration;

/// What these events are called.
pub(super) const KINDS: [&str; 6] =
    ["clock-behind", "stalled", "resumed", "lacking", "caught-up", "runs-twice"];

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
        Event::Lacking { node } => about_node("lacking", node, names),
        Event::CaughtUp { node } => about_node("caught-up", node, names),
        Event::RunsTwice { node, at } => json!({
            "event": "runs-twice", "member": node.member().hex(), "name": name(names, &node.member()),
            "at": at.to_string(),
        }),
        _ => Value::Null,
    }
}

fn about_node(event: &str, node: &NodeId, names: &Names) -> Value {
    let member = node.member();
    json!({ "event": event, "member": member.hex(), "name": name(names, &member) })
}

/// Who lacks what was sent.
pub(super) fn lacking_json(lacking: &Lacking, moment: &Moment, names: &Names) -> Value {
    let member = lacking.node.member();
    let (seconds, _) = moment.ago(lacking.since);
    json!({ "member": member.hex(), "name": name(names, &member), "seconds": seconds })
}

/// What was sent and does not come back.
pub(super) fn stalled_json(stalled: &Stalled) -> Value {
    json!({ "messages": stalled.messages, "seconds": stalled.waited.as_secs() })
}

/// Adds to somebody's state that it runs twice.
pub(super) fn runs_twice(person: &mut Value, twice: &Twice) {
    let text = |field: &str| person.get(field).and_then(Value::as_str).unwrap_or_default();
    let why = format!("{}; {twice}", text("why"));
    let concerned = text("member") == twice.node.hex();
    if let Some(fields) = person.as_object_mut().filter(|_| concerned) {
        fields.insert("why".into(), why.into());
    }
}

/// Adds to somebody's state what the path to its node carries, and its round trip.
pub(super) fn path_to(person: &mut Value, node: &NodeId, path: &Path) {
    let concerned = person.get("member").and_then(Value::as_str) == Some(&node.hex());
    if let Some(fields) = person.as_object_mut().filter(|_| concerned) {
        let micros = |span: Option<Duration>| span.map(|span| span.as_micros().min(u64::MAX.into()) as u64);
        let (rtt, variance) = (micros(path.rtt), micros(path.rtt_variance));
        fields.insert(
            "path".into(),
            json!({ "mtu": path.mtu, "validated": path.validated, "rtt_us": rtt, "rtt_variance_us": variance }),
        );
    }
}

/// An event about trouble, for people.
pub(super) fn event_text(event: &Value) -> String {
    let text = |field: &str| harmless(event.get(field).and_then(Value::as_str).unwrap_or_default());
    match event.get("event").and_then(Value::as_str) {
        Some("stalled") => {
            let messages = event.get("messages").and_then(Value::as_u64).unwrap_or_default();
            let messages = many_of(messages, "message");
            format!(
                "nothing comes back of what you have sent ({messages}): nobody may have it. `folkmoot \
                 status` shows for how long, and who is silent"
            )
        }
        Some("runs-twice") => format!(
            "{} runs twice, so perhaps its folder was copied. The process at {} started earlier, and was told to stop",
            text("name"),
            text("at")
        ),
        Some("lacking") => format!(
            "{} lacks a message that was sent, and has had nothing of what came after it for a second. Perhaps \
             something on the way to it lets only short datagrams pass",
            text("name")
        ),
        Some("caught-up") => format!("{} has all that was sent again", text("name")),
        Some("resumed") => "what you send comes back again".to_owned(),
        _ => clock_text(event),
    }
}

/// This member is out of a group.
pub(super) fn removed_text(cause: &str) -> String {
    let why = match cause {
        "late" => "your admission no longer counts",
        "expired" => "the term of your certificate is over",
        "expelled" => "the others have expelled you",
        "left-for-good" => "you asked to leave for good, and the others agreed",
        "replaced" => {
            "another key has the place of this one: stop this member, and run folkmoot identity rotate"
        }
        cause => cause,
    };
    format!("you are no longer in the group ({why})")
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
    use crate::doctor;
    use folkmoot::{GroupId, Locator, MemberId};
    use folkmoot_base::Instant;

    #[test]
    fn what_does_not_come_back_is_told_with_how_many() {
        let (group, names) = (GroupId([7; 32]), Names::new());
        let stalled = event_json(&Event::Stalled { group, messages: 12 }, &names);
        assert_eq!((&stalled["event"], &stalled["messages"]), (&json!("stalled"), &json!(12)));
        assert!(event_text(&stalled).contains("(12 messages)"));
        let anna = MemberId::from_hex(&"5a".repeat(32)).unwrap();
        let twice = Event::RunsTwice { node: anna.node(), at: Locator::memory(7) };
        let twice = event_text(&event_json(&twice, &Names::from([(anna, "anna".to_owned())])));
        assert!(twice.starts_with("anna runs twice") && twice.contains("memory/7"), "{twice}");
        let lacking = event_json(&Event::Lacking { node: anna.node() }, &Names::new());
        assert_eq!(lacking["name"], json!(anna.short()));
        assert!(event_text(&lacking).contains("lacks a message"));
        let caught_up = event_json(&Event::CaughtUp { node: anna.node() }, &Names::new());
        assert!(event_text(&caught_up).ends_with("has all that was sent again"));
        let resumed = event_json(&Event::Resumed { group }, &names);
        assert_eq!(event_text(&resumed), "what you send comes back again");
    }

    #[test]
    fn doctor_tells_what_does_not_get_through() {
        let told = |stalled: Option<&Stalled>, lacking: Value| {
            let group = json!({ "group": "ab".repeat(32), "stalled": stalled.map(stalled_json) });
            doctor::sent(&json!({ "groups": [group], "lacking": lacking })).unwrap()
        };
        assert_eq!(told(None, Value::Null).unwrap(), "it comes back");
        let stalled = Stalled { messages: 2, waited: Duration::from_secs(3) };
        let words = told(Some(&stalled), Value::Null).unwrap_err();
        assert!(words.contains("abababab: 2 messages, and none for 3 s"), "{words}");
        let lacking = Lacking { node: NodeId([7; 32]), since: Instant(1_000_000) };
        let lacking = lacking_json(&lacking, &Moment::new(Instant(5_000_000)), &Names::new());
        let words = told(None, lacking).unwrap_err();
        assert!(words.contains("has had nothing of it for 4 s"), "{words}");
    }
}
