//! Events and states as data and as text.

use crate::show::{Paint, harmless, hex, paint, short};
use folkmoot::{Absence, Cause, Event, MemberId, MemberStatus, Person, Petition, Presence, ViewId};
use folkmoot_base::Instant;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Names of members, as far as known.
pub(crate) type Names = BTreeMap<MemberId, String>;

/// The name, made harmless, or the first digits of the id.
pub(crate) fn name(names: &Names, member: &MemberId) -> String {
    names.get(member).filter(|name| !name.is_empty()).map_or_else(|| member.short(), |name| harmless(name))
}

/// An event as data.
pub(crate) fn event_json(event: &Event, names: &Names) -> Value {
    match event {
        Event::View { group, id, members, transitional, cause, epoch } => json!({
            "event": "view", "group": group.hex(), "view": view_text(id), "members": ids(members),
            "names": members.iter().map(|member| name(names, member)).collect::<Vec<_>>(),
            "transitional": ids(transitional), "cause": cause_word(*cause), "epoch": epoch,
        }),
        Event::Message { group, sender, view, service, payload } => json!({
            "event": "message", "group": group.hex(), "sender": sender.hex(), "name": name(names, sender),
            "view": view_text(view), "service": format!("{service:?}").to_lowercase(),
            "text": std::str::from_utf8(payload).ok(), "payload": hex(payload),
        }),
        Event::Transitional { group } => json!({ "event": "transitional", "group": group.hex() }),
        Event::KeyPending { group } => json!({ "event": "key-pending", "group": group.hex() }),
        Event::Request(petition) => {
            let mut value = petition_json(petition);
            if let Some(fields) = value.as_object_mut() {
                fields.insert("event".into(), "request".into());
            }
            value
        }
        Event::Proposal { subject, text, have, need } => {
            json!({ "event": "proposal", "subject": hex(subject), "text": text, "have": have, "need": need })
        }
        Event::Votes { subject, have, need } => {
            json!({ "event": "votes", "subject": hex(subject), "have": have, "need": need })
        }
        Event::Admitted { member, name } => {
            json!({ "event": "admitted", "member": member.hex(), "name": name })
        }
        Event::Refused { reason } => json!({ "event": "refused", "reason": reason }),
        Event::Expelled { member } => json!({ "event": "expelled", "member": member.hex() }),
        Event::Removed { group, cause } => {
            json!({ "event": "removed", "group": group.hex(), "cause": cause_word(*cause) })
        }
        Event::SendFailed { error } => json!({ "event": "send-failed", "error": error.to_string() }),
        Event::LinkUp { node, at } => json!({ "event": "link-up", "node": node.hex(), "at": at.to_string() }),
        Event::LinkDown { node } => json!({ "event": "link-down", "node": node.hex() }),
        Event::Configuration { nodes } => {
            let nodes: Vec<String> = nodes.iter().map(|node| node.hex()).collect();
            json!({ "event": "configuration", "nodes": nodes })
        }
    }
}

/// An event, read back from its data, for people; `None` for those of no interest to them.
pub(crate) fn event_text(event: &Value) -> Option<String> {
    let text = |field: &str| harmless(event.get(field).and_then(Value::as_str).unwrap_or_default());
    let number = |field: &str| event.get(field).and_then(Value::as_u64).unwrap_or_default();
    let news = |text: String| Some(paint(Paint::Dim, &format!("* {text}")));
    match event.get("event").and_then(Value::as_str)? {
        "message" => {
            let said = event.get("text").and_then(Value::as_str).map_or_else(|| text("payload"), harmless);
            Some(format!("{} {said}", paint(Paint::Cyan, &format!("{}:", text("name")))))
        }
        "view" => {
            let names = event.get("names").and_then(Value::as_array).into_iter().flatten();
            let names: Vec<String> = names.filter_map(Value::as_str).map(harmless).collect();
            news(format!("{} share key {} ({})", names.join(", "), text("epoch"), text("cause")))
        }
        "key-pending" => news("agreeing a new key; what you send waits for it".into()),
        "request" => {
            let (who, have, need) = (text("name"), number("have"), number("need"));
            news(format!(
                "{who} asks to join ({have} of {need} votes). To admit: /yes {who} in chat, or folkmoot vote approve {who}"
            ))
        }
        "proposal" => {
            let (what, subject) = (text("text"), text("subject"));
            let (have, need) = (number("have"), number("need"));
            news(format!(
                "{what} ({have} of {need} votes). To agree: folkmoot vote approve {}",
                short(&subject)
            ))
        }
        "votes" => {
            news(format!("{} of {} votes for {}", number("have"), number("need"), short(&text("subject"))))
        }
        "admitted" => news(format!("{} was admitted", text("name"))),
        "refused" => news(format!("not yet, or not at all: {}", text("reason"))),
        "expelled" => news(format!("{} was expelled", short(&text("member")))),
        "removed" => news(format!("you are out of the group ({})", text("cause"))),
        "send-failed" => news(format!("not sent: {}", text("error"))),
        "missed" => news(format!("{} events missed: this reader is too slow", number("count"))),
        _ => None,
    }
}

/// The whole name of a view; equal at two members exactly if they share it.
pub(crate) fn view_text(id: &ViewId) -> String {
    let configuration = &id.configuration;
    format!("{id}.{}.{}", configuration.representative.short(), hex(&configuration.nonce))
}

/// A request as data.
pub(crate) fn petition_json(petition: &Petition) -> Value {
    let Petition { subject, member, name, have, need } = petition;
    json!({ "kind": "request", "subject": hex(subject), "member": member.hex(), "name": name, "have": have, "need": need })
}

/// The status as data; times are told as seconds ago.
pub(crate) fn status_json(status: &MemberStatus, now: Instant) -> Value {
    let people: Vec<Value> = status.people.iter().map(|person| person_json(person, now)).collect();
    json!({
        "me": status.me.hex(), "node": status.node.hex(), "view": status.view.as_ref().map(view_text),
        "epoch": status.epoch, "activity": status.activity, "people": people,
    })
}

fn person_json(person: &Person, now: Instant) -> Value {
    let (state, why) = match &person.presence {
        Presence::Present => ("present", "in the view, shares the key".to_owned()),
        Presence::Arriving => ("arriving", "in the view that is being agreed; its key comes next".to_owned()),
        Presence::Absent(absence) => absence_text(absence, now),
    };
    json!({
        "member": person.member.hex(), "name": person.name, "state": state, "why": why,
        "locator": person.locator.map(|locator| locator.to_string()),
    })
}

fn absence_text(absence: &Absence, now: Instant) -> (&'static str, String) {
    match absence {
        Absence::AwaitingVotes { have, need } => {
            ("asking", format!("has {have} of the {need} votes that the charter asks for"))
        }
        Absence::NeverSeen => (
            "never-seen",
            "admitted, but its node was never seen here: is it running, and does it know where you are?"
                .into(),
        ),
        Absence::SilentSince(at) => {
            ("silent", format!("its node is silent for {} s", now.since(*at).as_secs()))
        }
        Absence::OtherSide => (
            "other-side",
            "its node can be reached but is on another ring: the other side of a split, or being merged"
                .into(),
        ),
        Absence::NotJoined => {
            ("not-joined", "its node is here; the member has not joined the group, or has left it".into())
        }
        Absence::SetAside { since } => (
            "set-aside",
            format!(
                "set aside {} s ago after complaints that it was silent; it may come back",
                now.since(*since).as_secs()
            ),
        ),
        Absence::Expired(time) => {
            ("expired", format!("its certificate ended at {} (seconds since 1970)", time.0))
        }
        Absence::Expelled => ("expelled", "expelled by a vote of the members".into()),
        Absence::Unknown => ("unknown", "nobody here knows that key".into()),
    }
}

/// Why a view changed, in a word.
pub(crate) fn cause_word(cause: Cause) -> &'static str {
    match cause {
        Cause::Join => "join",
        Cause::Leave => "leave",
        Cause::Detach => "detach",
        Cause::Network => "network",
        Cause::Expelled => "expelled",
        Cause::Expired => "expired",
        Cause::Complaint => "complaint",
        Cause::Refresh => "refresh",
    }
}

fn ids(members: &[MemberId]) -> Vec<String> {
    members.iter().map(MemberId::hex).collect()
}
