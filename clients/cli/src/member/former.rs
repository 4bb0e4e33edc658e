//! Former keys of members: another has taken their place, by a decision. Their holders are members
//! still, and are told as such.

use super::names::name;
use super::part::{Departure, departure};
use super::process::Process;
use crate::exit::Failure;
use folkmoot::MemberId;
use folkmoot_transcript::Transcript;
use serde_json::{Value, json};

/// A former key, the key that has its place now, and the number of the decision.
pub(super) type Former = (MemberId, MemberId, u64);

/// All that the line remembers.
pub(super) fn all(transcript: &Transcript) -> Vec<Former> {
    let state = transcript.state();
    let one = |(member, replaced): (&MemberId, &folkmoot_transcript::Replaced)| {
        Some((*member, state.successor(member)?, replaced.number))
    };
    state.replaced().iter().filter_map(one).collect()
}

/// Says of a member which keys it had before.
pub(super) fn say_former(person: &mut Value, formers: &[Former]) {
    let Some(fields) = person.as_object_mut() else { return };
    let text = |field: &str| fields.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (me, why) = (text("member"), text("why"));
    let mut mine: Vec<&Former> = formers.iter().filter(|(_, now, _)| now.hex() == me).collect();
    mine.sort_by_key(|(_, _, number)| *number);
    let Some((before, _, number)) = mine.last() else { return };
    let why = format!("{why}; this key has the place of {} since decision {number}", before.short());
    let keys = mine.iter().map(|(key, _, number)| json!({ "member": key.hex(), "decision": number }));
    let keys: Vec<Value> = keys.collect();
    fields.extend([("why".to_owned(), why.into()), ("former_keys".to_owned(), keys.into())]);
}

impl Process {
    /// What the line says of a key that is no member's any more: whether another has its place.
    pub(super) async fn tell_replaced(&self, member: MemberId, value: &mut Value) -> Result<bool, Failure> {
        let find = move |known: &Transcript| {
            let replaced = known.state().replaced().get(&member).copied();
            replaced.zip(known.state().successor(&member))
        };
        let Some((replaced, now)) = self.with_transcript(find).await? else { return Ok(false) };
        if let Some(fields) = value.as_object_mut() {
            fields.extend([
                ("event".to_owned(), "replaced".into()),
                ("by".to_owned(), replaced.by.hex().into()),
                ("decision".to_owned(), replaced.number.into()),
                ("holder".to_owned(), name(&self.names, &now).into()),
                ("old".to_owned(), member.short().into()),
                ("new".to_owned(), replaced.by.short().into()),
            ]);
        }
        Ok(true)
    }

    /// Why this member is out, where the line says it more exactly than the event.
    pub(super) async fn own_cause(&self) -> Result<Option<&'static str>, Failure> {
        let me = self.moot.me();
        let find = move |known: &Transcript| match departure(known, &me) {
            _ if known.state().replaced().contains_key(&me) => Some("replaced"),
            Departure::OwnWish => Some("left-for-good"),
            _ => None,
        };
        self.with_transcript(find).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_89_a_member_is_told_with_the_keys_that_it_had() {
        let key = |byte| MemberId([byte; 32]);
        let formers = [(key(1), key(3), 4), (key(2), key(3), 9)];
        let mut anna = json!({ "member": key(3).hex(), "why": "in the view" });
        say_former(&mut anna, &formers);
        assert_eq!(anna["why"], "in the view; this key has the place of 02020202 since decision 9");
        assert_eq!(anna["former_keys"][0]["member"], key(1).hex());
        let mut ben = json!({ "member": key(4).hex(), "why": "in the view" });
        say_former(&mut ben, &formers);
        assert_eq!(ben, json!({ "member": key(4).hex(), "why": "in the view" }));
    }
}
