//! Whom, or which line, a vote is about, in words that people can compare aloud: names can be
//! alike.

use super::names::{Names, name, stranger};
use crate::show::harmless;
use crate::words::{of_digest, of_head};
use folkmoot::{Digest, MemberId};
use folkmoot_identity::names::is_marked;
use folkmoot_transcript::{Change, Effect, Transcript};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Most members of one proposal that are told in words.
const TOLD_MAX: usize = 16;

/// A member, or somebody who asks.
pub(super) fn member(id: &MemberId, name: &str) -> Value {
    let name = harmless(name);
    let label = if is_marked(&name) { name } else { format!("{name} ({})", id.short()) };
    json!({ "member": id.hex(), "label": label, "words": of_digest(&id.0) })
}

/// Keys that are to take members' places, by the digests of their requests.
pub(super) type NewKeys = BTreeMap<Digest, (MemberId, String)>;

/// Says which of two keys one is: people compare both.
fn which(mut told: Value, which: &str) -> Value {
    let label = told.get("label").and_then(Value::as_str).unwrap_or_default();
    let label = format!("{which} {label}");
    if let Some(fields) = told.as_object_mut() {
        fields.insert("label".into(), label.into());
    }
    told
}

/// What the transcript and the desk know of a proposal; names are told as everywhere, with their
/// marks.
fn of(effect: &Effect, known: &Transcript, keys: &NewKeys, names: &Names) -> Vec<Value> {
    let all = |members: &[MemberId]| -> Vec<Value> {
        members.iter().take(TOLD_MAX).map(|id| member(id, &name(names, id))).collect()
    };
    let asks = |request: &Digest| {
        let admit = known.set().admit(request).map(|admit| (admit.member, admit.name.clone()));
        let (id, name) = admit.or_else(|| keys.get(request).cloned())?;
        Some(member(&id, &stranger(names, &id, &name)))
    };
    match &effect.change {
        Change::Remove { member } => all(&[*member]),
        Change::Leave(leave) => all(&[leave.member]),
        Change::Electorate { voters } => all(voters),
        Change::Hold { request } => asks(request).into_iter().collect(),
        Change::Rotate { member, request, .. } => {
            let old = all(&[*member]).into_iter().map(|one| which(one, "its key now,"));
            old.chain(asks(request).map(|one| which(one, "its new key,"))).collect()
        }
        Change::Rejoin { head } => {
            vec![json!({ "head": head.whole(), "label": head.whole(), "words": of_head(head) })]
        }
        Change::Charter { .. } | Change::Sharing { .. } | Change::Retime { .. } => Vec::new(),
    }
}

/// Of an open proposal; nothing if it concerns nobody.
pub(super) fn of_proposal(subject: &Digest, known: &Transcript, keys: &NewKeys, names: &Names) -> Vec<Value> {
    let effect = known.set().effects().find(|one| one.subject().digest == *subject);
    effect.map_or_else(Vec::new, |effect| of(effect, known, keys, names))
}

/// A line for each, for people.
pub(crate) fn lines(matter: &Value) -> Vec<String> {
    let concerns = matter.get("concerns").and_then(Value::as_array).into_iter().flatten();
    let text =
        |one: &Value, field: &str| harmless(one.get(field).and_then(Value::as_str).unwrap_or_default());
    let told = concerns.map(|one| format!("{} in words: {}", text(one, "label"), text(one, "words")));
    told.chain(endorsed(matter)).collect()
}

/// What a newcomer shows of who it is.
fn endorsed(matter: &Value) -> Option<String> {
    let endorsement = matter.get("endorsement")?;
    let text = |of: &Value, field: &str| Some(harmless(of.get(field)?.as_str()?));
    let (name, by, until) = (text(matter, "name")?, text(endorsement, "by")?, text(endorsement, "until")?);
    let is_member = endorsement.get("member").and_then(Value::as_bool) == Some(true);
    Some(if is_member {
        format!(
            "{name} is a member of the group {by} under this name, until {until}; whether {by} has expelled \
             it since is not known here"
        )
    } else {
        format!(
            "{by} says that this key is that of {name}, until {until}; whether {by} has taken that back since \
             is not known here"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_who_asks_is_told_in_words_and_cannot_move_the_cursor() {
        let id = MemberId([0; 32]);
        let matter = json!({ "concerns": [member(&id, "do\u{1b}[2Jra")] });
        let words = ["abandon"; 8].join(" ");
        assert_eq!(lines(&matter), [format!("do\u{fffd}[2Jra (00000000) in words: {words}")]);
        assert!(lines(&json!({})).is_empty());
    }

    #[test]
    fn an_endorsement_is_told_with_what_is_not_known_of_it() {
        let told = |member: bool| {
            let endorsement = json!({ "by": "chess\u{1b} club", "member": member, "until": "2027" });
            lines(&json!({ "name": "dora", "endorsement": endorsement })).concat()
        };
        assert!(told(true).starts_with("dora is a member of the group chess\u{fffd} club under this name"));
        assert!(
            told(false).starts_with("chess\u{fffd} club says that this key is that of dora, until 2027;")
        );
        assert!(told(true).ends_with("is not known here") && told(false).ends_with("is not known here"));
        assert!(lines(&json!({ "name": "dora", "endorsement": null })).is_empty());
    }
}
