//! What an actor needs to know of commands, events and trains.

use super::tap::{Desk, Tap};
use crate::machine::{Told, electorate, motion};
use crate::record::{MessageId, Player};
use crate::schedule::CHANGES;
use bytes::Bytes;
use folkmoot_attach::{Attached, Embedded};
use folkmoot_base::{GroupId, Party, Train};
use folkmoot_member::SendError;
use std::collections::VecDeque;

pub(super) fn train(all: impl Iterator<Item = Bytes>) -> Train {
    let (mut whole, mut size) = (Vec::new(), 0);
    for bytes in all {
        size = bytes.len().max(size);
        whole.extend_from_slice(&bytes);
    }
    let length = whole.len();
    Train::new(whole, length, size)
}

/// Who lives there besides a player's programs, and in which group.
pub(super) fn others(
    stack: &Embedded<Tap, Attached<Desk>>,
    first: Party,
    second: Option<Party>,
) -> Vec<(Party, GroupId)> {
    let others = stack.upper.members().filter(|(party, _)| **party != first && Some(**party) != second);
    others.map(|(party, desk)| (*party, desk.member.home())).collect()
}

/// A send that was just handed in failed: the newest. One that was held failed: the oldest.
pub(super) fn failed(asked: &mut VecDeque<MessageId>, sending: bool, error: &SendError) -> Option<Told> {
    let newest = sending && !matches!(error, SendError::LocalLeft);
    let message = if newest { asked.pop_back() } else { asked.pop_front() };
    message.map(|message| Told::Refused(message, error.to_string()))
}

/// The change of the charter that a proposal names, in its words.
pub(super) fn change_in(text: &str) -> Option<Player> {
    let named = |(field, value): &(&str, &str)| text == format!("set {field} = {value} in the charter");
    if text.starts_with("let these vote") {
        return Some(electorate());
    }
    let place = CHANGES.iter().position(named)?;
    u8::try_from(place).ok().map(motion)
}
