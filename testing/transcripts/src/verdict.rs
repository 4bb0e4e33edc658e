//! What the project's own reader makes of a file.

use crate::Group;
use folkmoot_base::{digest, hex};
use folkmoot_transcript::{FILE_LABEL, FileError, FileReader, Transcript};
use serde_json::{Value, json};

/// What a reader must make of this group's own file.
pub fn own(group: &Group) -> Value {
    accepted(&group.transcript)
}

/// The verdict on a file for somebody who trusts the charter that stands in it, and knows these
/// heads (`NUMBER.HEX`). One that is no head is passed over.
pub fn verdict(file: &[u8], heads: &[String]) -> Value {
    match read(file, heads) {
        Ok(transcript) => accepted(&transcript),
        Err(why) => json!({ "accepted": false, "why": folkmoot_base::whole(&why) }),
    }
}

pub(crate) fn read(file: &[u8], heads: &[String]) -> Result<Transcript, FileError> {
    let known = heads.iter().filter_map(|head| head.parse().ok()).collect();
    let mut reader = FileReader::knowing(charter(file).unwrap_or_default(), known);
    reader.push(file)?;
    reader.finish()
}

/// The bytes of the first section.
fn charter(file: &[u8]) -> Option<&[u8]> {
    let (head, rest) = file.strip_prefix(FILE_LABEL)?.split_at_checked(5)?;
    let length = u32::from_be_bytes(head.get(1..)?.try_into().ok()?);
    rest.get(..usize::try_from(length).ok()?)
}

fn accepted(transcript: &Transcript) -> Value {
    let (state, members) = (transcript.state(), transcript.set().members(transcript.state()));
    let lines = members.iter().map(|(member, held)| {
        [&member.0[..], &held.request, &held.ends.0.to_be_bytes(), held.name.as_bytes()].concat()
    });
    let lines: Vec<Vec<u8>> = lines.collect();
    let parts: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
    json!({
        "accepted": true,
        "number": state.head().number,
        "head": hex(&state.head().digest),
        "state": hex(&state.digest()),
        "set": hex(&transcript.set().digest()),
        "members": members.len(),
        "roster": hex(&digest(&parts)),
    })
}
