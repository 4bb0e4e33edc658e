//! Tells the kind of a message between the stacks from its first bytes, as the stacks' own pages
//! draw them (docs/protocol/member.md, flush.md, keying.md). A node could tell as much.

use crate::machine::Mute;
use bytes::Bytes;
use folkmoot_admission::OpenMessage;
use folkmoot_base::{Digest, ViewId, codec};
use folkmoot_transcript::BallotMessage;

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
/// The highest four bits of data of flush.
const KIND: u8 = 0xF0;
const DATA: u8 = 0xD0;
const SESSION_BIT: u8 = 2;
/// Reliable, FIFO, causal.
const NUMBERED: [u8; 3] = [0xD4, 0xD5, 0xD9];
/// Kind 1, tag 4.
const FLUSH_HEADER_BYTES: usize = 5;
const NUMBER_BYTES: usize = 4;
/// Epoch 8, counter 4.
const SEALED_HEADER_BYTES: usize = 12;
/// Version 1, view 96.
const VIEW_BYTES: usize = 97;
const ATTEMPT_BYTES: usize = 4;
const INSTANCE_BYTES: usize = 24;
const CONFIRM: u8 = 200;

/// The payload that an admission message is sent as.
pub(crate) fn open(message: &OpenMessage) -> Bytes {
    [&[OPEN], codec::encode(message).as_slice()].concat().into()
}

/// The decision on which this payload is a judgement.
pub(super) fn judged(payload: &[u8]) -> Option<Digest> {
    let message = payload.strip_prefix(&[OPEN])?;
    match codec::decode(message).ok()? {
        OpenMessage::Ballot { message: BallotMessage::Judgement { report, .. } } => Some(report.decision),
        _ => None,
    }
}

/// The view that a CONFIRM makes secure.
pub(super) fn confirmed(step: Mute, run: Option<Run<'_>>) -> Option<ViewId> {
    let run = run.filter(|run| step == Mute::Confirm && run.is_first)?;
    codec::decode(run.view).ok()
}

/// Tells the kind of `payload`.
pub(super) fn of(payload: &[u8]) -> Kind<'_> {
    let numbered = payload.first().is_some_and(|kind| NUMBERED.contains(&(kind & !SESSION_BIT)));
    let start = if numbered { FLUSH_HEADER_BYTES + NUMBER_BYTES } else { FLUSH_HEADER_BYTES };
    let data = payload.get(start..).unwrap_or_default();
    match *payload {
        [OPEN, ..] => Kind::Step(Mute::Admission, None),
        [kind, ..] if kind & KIND == DATA && kind & SESSION_BIT == 0 => {
            of_envelope(data).unwrap_or(Kind::Other)
        }
        [kind, ..] if kind & KIND == DATA => {
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
