//! Messages in pieces, joined again. Those of this node are not joined: they come back as they were
//! handed in.

use crate::config::LINES;
use crate::data::{Part, Piece};
use bytes::{Bytes, BytesMut};
use folkmoot_base::limits::{ORDERED_BYTES_MAX, SEND_QUEUE_BYTES_MAX};
use folkmoot_base::{Buffer, Lead, Pool};
use std::collections::VecDeque;

/// Lists of pieces with room for more than this are not kept for the next message.
const SPARE_PIECES_MAX: usize = 64;

/// A message of this node that was cut into pieces, all of which are in packets.
#[derive(Debug)]
pub(crate) struct Whole {
    /// What its pieces say which message they are of.
    pub(crate) message: u16,
    pub(crate) lead: Lead,
    pub(crate) payload: Bytes,
}

/// A message of which some pieces have come.
#[derive(Debug)]
struct Partial {
    message: u16,
    pieces: Vec<Bytes>,
    length: usize,
}

/// What has come of messages in pieces.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// By sender, in the order in which they began.
    partials: Vec<VecDeque<Partial>>,
    /// Lists of pieces, empty, kept for their room.
    spare: Vec<Vec<Bytes>>,
    pool: Pool,
    /// Bytes of messages that came in pieces, as they were joined.
    pub(crate) copied: u64,
}

impl Pieces {
    /// For so many members.
    pub(crate) fn new(members: usize) -> Self {
        let partials = (0..members).map(|_| VecDeque::new()).collect();
        Self { partials, spare: Vec::new(), pool: Pool::default(), copied: 0 }
    }

    /// The message that `piece` completes: what is handed in before it, and its bytes. What is
    /// dropped, all drop alike: they have the same packets (RING-12). `own`: if the sender is this
    /// node, its messages that were cut.
    pub(crate) fn join(
        &mut self,
        sender: u8,
        piece: Piece,
        own: Option<&mut VecDeque<Whole>>,
    ) -> Option<(Lead, Buffer)> {
        if piece.part == Part::WHOLE {
            return Some((Lead::NONE, piece.bytes.into()));
        }
        let message = piece.part.message;
        let mut partial = self.complete(sender, piece)?;
        let own = own.and_then(|own| {
            let place = own.iter().position(|whole| whole.message == message)?;
            own.remove(place)
        });
        let whole = match own {
            Some(Whole { lead, payload, .. }) => (lead, payload.into()),
            None => (Lead::NONE, self.concat(&partial).into()),
        };
        partial.pieces.clear();
        if partial.pieces.capacity() <= SPARE_PIECES_MAX && self.spare.len() < LINES {
            self.spare.push(partial.pieces);
        }
        Some(whole)
    }

    fn concat(&mut self, partial: &Partial) -> BytesMut {
        let mut whole = self.pool.buffer(partial.length);
        partial.pieces.iter().for_each(|piece| whole.extend_from_slice(piece));
        self.copied = self.copied.saturating_add(u64::try_from(whole.len()).unwrap_or(u64::MAX));
        whole
    }

    /// The message of which `piece` is the last, with all its pieces.
    fn complete(&mut self, sender: u8, piece: Piece) -> Option<Partial> {
        let open = self.partials.get_mut(usize::from(sender))?;
        let message = piece.part.message;
        if piece.part.first {
            open.retain(|partial| partial.message != message);
            if open.len() >= LINES {
                open.pop_front();
            }
            let pieces = self.spare.pop().unwrap_or_default();
            open.push_back(Partial { message, pieces, length: 0 });
        }
        let place = open.iter().position(|partial| partial.message == message)?;
        let others: usize = open.iter().map(|partial| partial.length).sum();
        let partial = open.get_mut(place)?;
        let length = piece.bytes.len().max(1);
        partial.length = partial.length.saturating_add(length);
        let too_much = others.saturating_add(length) > SEND_QUEUE_BYTES_MAX;
        if partial.length > ORDERED_BYTES_MAX || too_much {
            open.remove(place);
            return None;
        }
        partial.pieces.push(piece.bytes);
        if piece.part.last { open.remove(place) } else { None }
    }
}
