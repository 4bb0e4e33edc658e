//! Events and states as data and as text.

use super::matters::{self, petition_json, word};
pub(crate) use super::names::{Names, name};
use super::names::{ids, party_name, stranger};
use super::told::{message_id, message_text};
use super::{lines, side, told, trouble};
use crate::show::{Paint, harmless, many_of, paint, short, words};
use folkmoot::{
    Absence, AuthorityReach, Cause, Event, GroupStatus, LetterEvent, Locator, MemberId, MemberStatus, Person,
    Petition, Presence, Refusal, Standing, ViewId,
};
use folkmoot_base::{Cipher, Instant, ModuleName, UnixTime, hex};
use folkmoot_identity::names::is_marked;
use serde_json::{Value, json};

/// An event as data.
pub(crate) fn event_json(event: &Event, names: &Names) -> Value {
    match event {
        Event::View { group, id, members, transitional, cause, epoch, side } => json!({
            "event": "view", "group": group.hex(), "view": view_text(id), "members": ids(members),
            "names": members.iter().map(|party| party_name(names, party)).collect::<Vec<_>>(),
            "transitional": ids(transitional), "cause": cause_word(*cause), "epoch": epoch,
            "side": side::json(side),
        }),
        Event::Message { group, sender, view, service, payload, origin } => json!({
            "event": "message", "id": message_id(sender, origin), "signed": origin.is_signed(), "group": group.hex(), "sender": sender.hex(), "name": party_name(names, sender),
            "view": view_text(view), "service": format!("{service:?}").to_lowercase(),
            "text": words(payload), "payload": hex(payload),
        }),
        Event::Letter(_) | Event::LetterStands { .. } | Event::Answer { .. } => letter_json(event, names),
        Event::Transitional { group } => json!({ "event": "transitional", "group": group.hex() }),
        Event::KeyPending { group } => json!({ "event": "key-pending", "group": group.hex() }),
        Event::Request(petition) => {
            let mut value = petition_json(petition, names);
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
        Event::Closed { .. } => matters::closed_json(event, names),
        Event::Withdrawn => json!({ "event": "withdrawn" }),
        Event::Certified { certificate } => json!({ "event": "certified", "bytes": certificate.len() }),
        Event::Admitted { member, name } => {
            json!({ "event": "admitted", "member": member.hex(), "name": stranger(names, member, name) })
        }
        Event::Refused { reason } => json!({ "event": "refused", "reason": reason }),
        Event::JoinRefused { group, refusal } => {
            json!({ "event": "join-refused", "group": group.hex(), "reason": refusal.to_string() })
        }
        Event::SignerLied { member } => {
            json!({ "event": "signer-lied", "member": member.hex(), "name": name(names, member) })
        }
        Event::Denied { reason } => json!({ "event": "denied", "reason": reason }),
        Event::ClockBehind { .. }
        | Event::Stalled { .. }
        | Event::Resumed { .. }
        | Event::Lacking { .. }
        | Event::CaughtUp { .. }
        | Event::RunsTwice { .. } => trouble::event_json(event, names),
        Event::OtherLine { .. } | Event::WentOver { .. } | Event::Offered { .. } | Event::Skipped { .. } => {
            lines::event_json(event, names)
        }
        Event::Expelled { member } => {
            json!({ "event": "expelled", "member": member.hex(), "name": name(names, member) })
        }
        Event::Removed { group, cause } => {
            json!({ "event": "removed", "group": group.hex(), "cause": cause_word(*cause) })
        }
        Event::SendFailed { error } => json!({ "event": "send-failed", "error": error.to_string() }),
        Event::LinkUp { node, at } => json!({ "event": "link-up", "node": node.hex(), "at": at.to_string() }),
        Event::LinkDown { node } => json!({ "event": "link-down", "node": node.hex() }),
        Event::LogConflict { reason } => json!({ "event": "log-conflict", "reason": reason }),
        Event::Log(record) => json!({ "event": "log", "record": hex(record) }),
        Event::Configuration { nodes } => {
            let nodes: Vec<String> = nodes.iter().map(|node| node.hex()).collect();
            json!({ "event": "configuration", "nodes": nodes })
        }
    }
}

/// An event about letters as data.
fn letter_json(event: &Event, names: &Names) -> Value {
    match event {
        Event::Letter(LetterEvent::Came { group, letter, writer, name, text }) => json!({
            "event": "letter", "group": group.hex(), "letter": hex(letter), "writer": writer.hex(), "name": stranger(names, writer, name),
            "text": words(text), "payload": hex(text),
        }),
        Event::Letter(LetterEvent::Answered { group, letter, by, text }) => json!({
            "event": "answered", "group": group.hex(), "letter": hex(letter), "by": by.hex(), "name": party_name(names, by),
            "text": words(text), "payload": hex(text),
        }),
        Event::LetterStands { letter, standing } => json!({
            "event": "letter-stands", "letter": hex(letter), "standing": standing.map_or("begun", standing_word),
        }),
        Event::Answer { letter, by, text } => json!({
            "event": "answer", "letter": hex(letter), "by": by.hex(), "name": party_name(names, by),
            "text": words(text), "payload": hex(text),
        }),
        _ => Value::Null,
    }
}

/// How a letter stands, in a word.
fn standing_word(standing: Standing) -> &'static str {
    match standing {
        Standing::Delivered => "delivered",
        Standing::Stale => "stale",
        Standing::Closed => "closed",
        Standing::NotHere => "not-here",
        Standing::Full => "full",
        Standing::Unknown => "unknown",
        Standing::Refused => "refused",
    }
}

/// An event, read back from its data, for people; `None` for those of no interest to them.
pub(crate) fn event_text(event: &Value) -> Option<String> {
    let text = |field: &str| harmless(event.get(field).and_then(Value::as_str).unwrap_or_default());
    let number = |field: &str| event.get(field).and_then(Value::as_u64).unwrap_or_default();
    let (past, decided) = (text("past"), text("decided"));
    if past == "before-joining" {
        return None;
    }
    let news = |text: String| {
        let text = match past.as_str() {
            "" => text,
            _ => format!("while this member was away ({decided}): {text}"),
        };
        Some(paint(Paint::Dim, &format!("* {text}")))
    };
    match event.get("event").and_then(Value::as_str)? {
        "message" => Some(message_text(event)),
        "letter" => {
            let (who, id) = (text("name"), text("letter"));
            let said = paint(Paint::Cyan, &format!("{who} (not a member, {}) writes:", short(&id)));
            let how = paint(Paint::Dim, &format!("(to answer: /answer {} TEXT)", word(&who, &id)));
            Some(format!("{said} {}  {how}", told::words(event)))
        }
        "answered" => {
            let said = format!("{} answers letter {}:", text("name"), short(&text("letter")));
            Some(format!("{} {}", paint(Paint::Cyan, &said), told::words(event)))
        }
        "view" => news(told::view_text(event)),
        "key-pending" => news("agreeing on a new key; what you send waits for it".into()),
        "request" | "proposal" => news(matters::asked_text(event)),
        "closed" => matters::closed_text(event).and_then(news),
        "hook" => {
            let (said, why, name) = (text("verdict"), text("reason"), text("name"));
            news(format!(
                "the policy program says {said} to {name}{}",
                if why.is_empty() { why } else { format!(": {why}") }
            ))
        }
        "authority" => news(office_text(event)),
        "votes" => {
            let (about, subject) = (text("about"), text("subject"));
            let about = if about.is_empty() { short(&subject) } else { &about };
            news(format!("{} of {} votes: {about}", number("have"), number("need")))
        }
        "admitted" => news(format!("{} was admitted", text("name"))),
        "past" => {
            let decisions = many_of(number("decisions"), "decision");
            news(format!(
                "the group has made {decisions} so far; folkmoot rules shows the rules that they made"
            ))
        }
        "refused" => news(format!("not yet: {}", text("reason"))),
        "denied" => news(format!("refused: {}", text("reason"))),
        "join-refused" => news(format!("not taken into the group so far: {}", text("reason"))),
        "signer-lied" => {
            let why = "sent a message in a signing session that does not fit its own share";
            news(format!("{} {why}", text("name")))
        }
        kind if trouble::KINDS.contains(&kind) => news(trouble::event_text(event)),
        "other-line" | "went-over" | "offered" | "skipped" => news(lines::event_text(event)),
        "expelled" | "expired" | "late" => news(told::gone_text(event)),
        "replaced" => news(told::replaced_text(event)),
        "removed" => news(trouble::removed_text(&text("cause"))),
        "send-failed" => news(format!("not sent: {}", text("error"))),
        "missed" => news(format!("events missed: {} (this reader is too slow)", number("count"))),
        _ => None,
    }
}

/// What has changed with the authority.
fn office_text(event: &Value) -> String {
    let number = |field: &str| event.get(field).and_then(Value::as_u64).unwrap_or_default();
    let dealer = event.get("dealer").and_then(Value::as_str).unwrap_or_default();
    let dealer = if dealer == "no-shares" { String::new() } else { format!("; dealer: {dealer}") };
    let (issued, here, members) = (number("issued"), number("here"), number("members"));
    let replicas = event.get("replicas").and_then(Value::as_str);
    let replicas = replicas.map_or_else(String::new, |words| format!("; replicas: {words}"));
    let issued = many_of(issued, "certificate");
    format!("{issued} issued; {here} of {members} members are here{dealer}{replicas}")
}

/// The whole name of a view; equal at two members exactly if they share it.
pub(crate) fn view_text(id: &ViewId) -> String {
    let configuration = &id.configuration;
    format!("{id}.{}.{}", configuration.representative.short(), hex(&configuration.nonce))
}

/// The names of these members, sorted.
pub(crate) fn all(names: &Names, members: &[MemberId]) -> Vec<String> {
    let mut all: Vec<String> = members.iter().map(|member| name(names, member)).collect();
    all.sort();
    all
}

/// Now, by both clocks: monotonic times are told as times of day.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    now: Instant,
    wall: u64,
}

impl Moment {
    pub(crate) fn new(now: Instant) -> Self {
        Self { now, wall: folkmoot::tools::wall_clock().0 }
    }

    /// How many seconds ago, and when that was.
    pub(super) fn ago(&self, at: Instant) -> (u64, String) {
        let seconds = self.now.since(at).as_secs();
        (seconds, UnixTime(self.wall.saturating_sub(seconds)).to_string())
    }
}

/// The status as data.
pub(crate) fn status_json(
    status: &MemberStatus,
    moment: &Moment,
    petitions: &[Petition],
    names: &Names,
) -> Value {
    let person = |person: &Person| {
        let asks = petitions.iter().find(|petition| petition.member == person.member);
        person_json(person, moment, asks, names)
    };
    let people: Vec<Value> = status.people.iter().map(person).collect();
    json!({
        "me": status.me.hex(), "node": status.node.hex(), "view": status.view.as_ref().map(view_text),
        "epoch": status.epoch, "module": status.module.map(ModuleName::as_str),
        "cipher": status.cipher.map(Cipher::as_str), "activity": status.activity, "people": people,
        "groups": status.groups.iter().map(group_json).collect::<Vec<_>>(),
        "side": status.groups.iter().find(|group| status.view == Some(group.view)).map(|group| side::json(&group.side)),
        "authority": status.authority.as_ref().map(|reach| reach_json(reach, moment)),
        "lacking": status.lacking.map(|lacking| trouble::lacking_json(&lacking, moment, names)),
    })
}

/// How the authority is reached from here.
fn reach_json(reach: &AuthorityReach, moment: &Moment) -> Value {
    let linked: Vec<String> = reach.linked.iter().map(|node| node.hex()).collect();
    json!({
        "reached": !linked.is_empty(), "linked": linked,
        "heard_seconds_ago": reach.heard.map(|heard| moment.ago(heard).0),
    })
}

/// What an admission waits for, when the members have done their part.
fn authority_text(linked: bool, heard: Option<Instant>, refuses: Option<&str>, moment: &Moment) -> String {
    let heard = heard.map(|heard| format!("last heard {} s ago", moment.ago(heard).0));
    let how = match (linked, heard) {
        (true, Some(heard)) => heard,
        (true, None) => "reached, but silent so far".into(),
        (false, Some(heard)) => format!("not reachable from here, {heard}"),
        (false, None) => "not reachable from here".into(),
    };
    let refuses = refuses.map_or_else(String::new, |why| format!("; it does not sign: {why}"));
    format!("granted by the members; waiting for the authority, {how}{refuses}")
}

fn group_json(group: &GroupStatus) -> Value {
    json!({
        "group": group.view.group.hex(), "view": view_text(&group.view), "members": ids(&group.members),
        "epoch": group.epoch, "module": group.module.as_str(), "cipher": group.cipher.as_str(),
        "side": side::json(&group.side), "stalled": group.stalled.as_ref().map(trouble::stalled_json),
    })
}

fn person_json(person: &Person, moment: &Moment, asks: Option<&Petition>, names: &Names) -> Value {
    let (state, why, mut more) = match &person.presence {
        Presence::Present => ("present", "in the view, shares the key".to_owned(), Value::Null),
        Presence::Arriving => {
            ("arriving", "in the view that is being agreed on; its key comes next".to_owned(), Value::Null)
        }
        Presence::Absent(Absence::AwaitingVotes { have, need }) => {
            let votes = asks.map_or(Value::Null, |asks| json!({ "votes": petition_json(asks, names) }));
            ("asking", asking_text(*have, *need, asks, names), votes)
        }
        Presence::Absent(absence @ Absence::AwaitingAuthority { .. }) => {
            let (state, why, awaits) = absence_text(absence, moment);
            (state, why, with_votes(awaits, asks, names))
        }
        Presence::Absent(absence) => absence_text(absence, moment),
    };
    let shown = stranger(names, &person.member, &person.name);
    let mut value = json!({
        "member": person.member.hex(), "name": shown, "alike": is_marked(&shown), "state": state, "why": why,
        "locator": person.locator.as_ref().map(Locator::to_string),
    });
    if let (Some(fields), Some(more)) = (value.as_object_mut(), more.as_object_mut()) {
        fields.append(more);
    }
    value
}

/// Somebody whom this node cannot link to, as data.
pub(crate) fn refusal_json(refusal: &Refusal) -> Value {
    json!({
        "locator": refusal.at.to_string(), "node": refusal.node.map(|node| node.hex()), "why": refusal.to_string(),
    })
}

/// Adds a refusal to the reason why somebody is absent: of whoever is looked for there, or may be
/// it; and of this member itself (`me`) as long as it is outside.
pub(crate) fn refused(person: &mut Value, me: &MemberId, refusal: &Refusal) {
    let text = |field: &str| person.get(field).and_then(Value::as_str).unwrap_or_default();
    let is = |id: &str| text("member") == id;
    let place = text("locator") == refusal.at.to_string();
    let concerned = match text("state") {
        "never-seen" => place || refusal.node.is_none_or(|node| is(&node.hex())),
        "silent" => place || refusal.node.is_some_and(|node| is(&node.hex())),
        "not-admitted" | "asking" => is(&me.hex()),
        _ => false,
    };
    let why = format!("{}; {refusal}", text("why"));
    if let Some(fields) = person.as_object_mut().filter(|_| concerned) {
        fields.insert("why".into(), why.into());
    }
}

/// The same, with the votes that it has.
fn with_votes(mut value: Value, asks: Option<&Petition>, names: &Names) -> Value {
    if let (Some(fields), Some(asks)) = (value.as_object_mut(), asks) {
        fields.insert("votes".into(), petition_json(asks, names));
    }
    value
}

fn asking_text(have: u32, need: u32, asks: Option<&Petition>, names: &Names) -> String {
    let voters = |word: &str, voters: &[MemberId]| {
        (!voters.is_empty()).then(|| format!("{word} from {}", all(names, voters).join(", ")))
    };
    let cast = asks.map(|asks| [voters("yes", &asks.approved), voters("no", &asks.rejected)]);
    let cast: Vec<String> = cast.into_iter().flatten().flatten().collect();
    let cast = if cast.is_empty() { "nobody has voted".to_owned() } else { cast.join("; ") };
    let stale =
        if asks.is_some_and(|asks| asks.stale) { ", and waits until the voters have new shares" } else { "" };
    format!("has {have} of the {need} votes needed to be admitted ({cast}){stale}")
}

/// State, reason, and what programs want besides.
fn absence_text(absence: &Absence, moment: &Moment) -> (&'static str, String, Value) {
    let plain = |state, why: &str| (state, why.to_owned(), Value::Null);
    match absence {
        Absence::AwaitingVotes { have, need } => plain("asking", &format!("has {have} of {need} votes")),
        Absence::AwaitingAuthority { linked, heard, refuses } => {
            ("asking", authority_text(*linked, *heard, *refuses, moment), json!({ "awaits": "authority" }))
        }
        Absence::NeverSeen => plain(
            "never-seen",
            "admitted, but its node has not been seen since this one started: it may not be running, or may not know where to find you",
        ),
        Absence::SilentSince(at) => {
            let (seconds, since) = moment.ago(*at);
            let why = format!(
                "its node has been silent since {since} ({seconds} s ago): it has crashed, or the network is cut"
            );
            ("silent", why, json!({ "since": since, "seconds_ago": seconds }))
        }
        Absence::OtherSide => plain(
            "other-side",
            "its node answers but is on another ring: on the other side of a split, or about to merge",
        ),
        Absence::NotJoined => plain("not-joined", "its node is here; the member has not joined the group"),
        Absence::Left { since } => {
            let (seconds, since) = moment.ago(*since);
            let why = format!("left the group at {since} ({seconds} s ago); it may come back without a vote");
            ("left", why, json!({ "since": since, "seconds_ago": seconds }))
        }
        Absence::SetAside { since } => {
            let (seconds, since) = moment.ago(*since);
            let why = format!(
                "set aside at {since} ({seconds} s ago) after complaints that it held the others up; it may come back"
            );
            ("set-aside", why, json!({ "since": since, "seconds_ago": seconds }))
        }
        Absence::Expired(time) => {
            let at = time.to_string();
            (
                "expired",
                format!("its certificate ended at {at}; it may ask for admission again"),
                json!({ "since": at }),
            )
        }
        Absence::Expelled => plain("expelled", "expelled by a vote of the members"),
        Absence::Replaced { by, number } => (
            "replaced",
            format!("a former key of its holder: {} has its place since decision {number}", by.short()),
            json!({ "by": by.hex(), "decision": number }),
        ),
        Absence::Late => plain(
            "late",
            "was admitted, but its admission no longer counts and no decision holds it: vote to keep it, or let it ask again",
        ),
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
        Cause::Late => "late",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_a_shell_would_act_on_is_not_offered_for_pasting() {
        let asks = |name: &str| {
            let event =
                json!({ "event": "request", "name": name, "subject": "a1b2c3d4e5", "have": 0, "need": 2 });
            event_text(&event).unwrap_or_default()
        };
        assert!(asks("dora").ends_with("folkmoot vote approve dora"), "{}", asks("dora"));
        for name in ["d; reboot", "$(reboot)", "--help", "two words"] {
            assert!(asks(name).ends_with("folkmoot vote approve a1b2c3d4"), "{}", asks(name));
        }
    }

    #[test]
    fn votes_are_told_with_what_they_are_on() {
        let mut event = json!({ "event": "votes", "subject": "a1b2c3d4e5", "have": 1, "need": 2 });
        assert_eq!(event_text(&event).as_deref(), Some("* 1 of 2 votes: a1b2c3d4"));
        event["about"] = "expel dora".into();
        assert_eq!(event_text(&event).as_deref(), Some("* 1 of 2 votes: expel dora"));
    }
}
