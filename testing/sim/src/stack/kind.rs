//! Tells the kind of a message between the stacks from its first bytes, as the stacks' own pages
//! draw them (docs/protocol/member.md, flush.md, keying.md). A node could tell as much.

use crate::machine::Mute;

/// The kind of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// A sealed application message: its header, and all of it.
    Sealed(&'a [u8], &'a [u8]),
    /// A step that can be left out; with what names the run, if it is one of keying.
    Step(Mute, Option<Run<'a>>),
    /// Anything else.
    Other,
}

/// What names a run of the agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run<'a> {
    /// The view, encoded with its version.
    pub(super) view: &'a [u8],
    /// Zero for the run that makes the view secure.
    pub(super) is_first: bool,
    /// The sender's instance.
    pub(super) instance: &'a [u8],
}

const OPEN: u8 = 0xB0;
/// Without the bit for safe order.
const KEYING: u8 = 0xD0;
const SEALED: u8 = 0xD2;
const SAFE_BIT: u8 = 1;
/// Kind 1, tag 8.
const FLUSH_HEADER_BYTES: usize = 9;
/// Epoch 8, counter 4.
const SEALED_HEADER_BYTES: usize = 12;
/// Version 1, view 96.
const VIEW_BYTES: usize = 97;
const ATTEMPT_BYTES: usize = 4;
const INSTANCE_BYTES: usize = 24;
const CONFIRM: u8 = 200;

/// Tells the kind of `payload`.
pub(super) fn of(payload: &[u8]) -> Kind<'_> {
    let data = payload.get(FLUSH_HEADER_BYTES..).unwrap_or_default();
    match *payload {
        [OPEN, ..] => Kind::Step(Mute::Admission, None),
        [kind, ..] if kind & !SAFE_BIT == KEYING => of_envelope(data).unwrap_or(Kind::Other),
        [kind, ..] if kind & !SAFE_BIT == SEALED => {
            data.get(..SEALED_HEADER_BYTES).map_or(Kind::Other, |header| Kind::Sealed(header, data))
        }
        [_, 1, ..] => Kind::Step(Mute::FlushOk, None),
        [_, 2, ..] => Kind::Step(Mute::FlushReceived, None),
        _ => Kind::Other,
    }
}

fn of_envelope(envelope: &[u8]) -> Option<Kind<'_>> {
    let (view, rest) = envelope.split_at_checked(VIEW_BYTES)?;
    let (attempt, rest) = rest.split_at_checked(ATTEMPT_BYTES)?;
    let (instance, rest) = rest.split_at_checked(INSTANCE_BYTES)?;
    let is_first = attempt.iter().all(|byte| *byte == 0);
    let step = match *rest.first()? {
        1 => Mute::PartialToken,
        2 => Mute::FinalToken,
        3 => Mute::FactOut,
        4 => Mute::KeyList,
        CONFIRM => Mute::Confirm,
        _ => return None,
    };
    Some(Kind::Step(step, Some(Run { view, is_first, instance })))
}
