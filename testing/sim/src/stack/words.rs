//! Reads, between the stacks, what programs say of themselves and hear of one another.

use super::company::Names;
use crate::record::Player;
use crate::word::{Notice, Ready, Word};
use folkmoot_base::{Indication, Said, Says};
use folkmoot_flush::message::{self as flush, Control, FlushOk, Frame};

/// What a program says to its group's tables.
pub(super) fn said(said: &Said, names: &Names) -> Option<Word> {
    Some(match &said.word.says {
        Says::Join(_) => Word::Joins,
        Says::Leave { .. } => Word::Leaves,
        Says::Refresh { view } => Word::Refreshes(*view),
        Says::Complain { configuration, view, suspect } => {
            Word::Complains(*configuration, *view, names.seat(suspect)?)
        }
    })
}

/// What a program says to the others' flush.
pub(super) fn flushed(payload: &[u8]) -> Option<Word> {
    let Ok(Frame::Control(control)) = flush::decode(bytes::Bytes::copy_from_slice(payload)) else {
        return None;
    };
    Some(match control {
        Control::FlushOk(signed) => {
            let FlushOk { view, number, heads, .. } = signed.ok;
            Word::Ready(Ready { view, number, heads })
        }
        Control::FlushReceived { view, .. } => Word::Has(view),
    })
}

/// What a program hears that another said to its flush, whoever made it.
pub(super) fn heard(from: Player, payload: &[u8]) -> Option<Word> {
    match flushed(payload)? {
        Word::Ready(ready) => Some(Word::Hears(from, ready)),
        _ => None,
    }
}

/// What a program hears from its group's tables.
pub(super) fn noticed(indication: &Indication, names: &Names) -> Option<Word> {
    let Indication::Notice { view, members, removed, cause, .. } = indication else { return None };
    let (members, removed) = (names.seated(members), names.seated(removed));
    Some(Word::Noticed(Notice { view: **view, cause: *cause, members, removed }))
}
