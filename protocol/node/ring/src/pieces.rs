//! Messages in pieces, joined again.

use crate::config::LINES;
use crate::data::{Part, Piece};
use bytes::Bytes;
use folkmoot_base::Pool;
use folkmoot_base::limits::{ORDERED_BYTES_MAX, SEND_QUEUE_BYTES_MAX};
use std::collections::VecDeque;

/// Lists of pieces with room for more than this are not kept for the next message.
const SPARE_PIECES_MAX: usize = 64;

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
    /// Room for pieces, and for what they are joined to.
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

    /// The message that `piece` completes. What is dropped, all drop alike: they have the same
    /// packets (RING-12).
    pub(crate) fn join(&mut self, sender: u8, piece: Piece) -> Option<Bytes> {
        if piece.part == Part::WHOLE {
            return Some(piece.bytes);
        }
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
        if !piece.part.last {
            return None;
        }
        let mut partial = open.remove(place)?;
        let mut whole = self.pool.buffer(partial.length);
        partial.pieces.drain(..).for_each(|piece| whole.extend_from_slice(&piece));
        self.copied = self.copied.saturating_add(u64::try_from(whole.len()).unwrap_or(u64::MAX));
        if partial.pieces.capacity() <= SPARE_PIECES_MAX && self.spare.len() < LINES {
            self.spare.push(partial.pieces);
        }
        Some(whole.freeze())
    }
}
