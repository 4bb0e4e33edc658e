//! Unreliable messages (ORD-16): they leave at once and are delivered on arrival, or are lost. They
//! are outside the streams: nobody gives them places, repeats them, keeps them or waits for them.
//!
//! ```text
//! number   5      6            7            8            9      11
//! piece    whole  first of 3   middle       last         whole  whole      10 is lost
//! ```
//! A sender numbers these packets from 1 on in each configuration, apart from its stream. The
//! pieces of one message have consecutive numbers, so they are put together in whatever order they
//! come.

use crate::config::{
    PACKET_NUMBER_MAX, UNRELIABLE_BYTES_SENT_MAX, UNRELIABLE_PACE, UNRELIABLE_PACKETS, UNRELIABLE_WINDOW,
};
use crate::data::{
    Class, Data, HEADER_BYTES, Head, PART_HEADER_BYTES, PIECE_HEADER_BYTES, Part, Piece, put_piece,
};
use crate::error::SubmitError;
use crate::output::{Counters, Output};
use crate::queue::Message;
use bytes::Bytes;
use folkmoot_base::{Danger, Instant, Lead, Mutant, NodeId, Pool};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Bits of a word of [`Heard::seen`].
const BITS: u64 = 64;
const WORDS: usize = 16;
const _: () = assert!(WORDS as u64 * BITS == UNRELIABLE_WINDOW);

/// What of one sender has come.
#[derive(Debug, Default)]
struct Heard {
    /// The highest number that has come.
    highest: u64,
    /// A bit for each of the last [`UNRELIABLE_WINDOW`] numbers: whether it has come.
    seen: [u64; WORDS],
    /// Pieces of messages that are not whole, all within the window.
    pieces: BTreeMap<u64, Piece>,
}

impl Heard {
    /// Whether the packet with this number comes for the first time. If it is so old that nobody
    /// can tell, it counts as known.
    fn take(&mut self, number: u64) -> bool {
        if self.highest >= number.saturating_add(UNRELIABLE_WINDOW) {
            return false;
        }
        let first = self.highest.saturating_add(1).max(number.saturating_sub(UNRELIABLE_WINDOW));
        (first..=number).for_each(|passed| {
            self.swap(passed, false);
        });
        self.highest = self.highest.max(number);
        !self.swap(number, true)
    }

    /// Sets the bit of `number`; what it was.
    fn swap(&mut self, number: u64, to: bool) -> bool {
        let place = usize::try_from(number / BITS % WORDS as u64).ok();
        let Some(word) = place.and_then(|place| self.seen.get_mut(place)) else { return true };
        let bit = 1 << (number % BITS);
        let was = *word & bit != 0;
        *word = if to { *word | bit } else { *word & !bit };
        was
    }

    /// Keeps a piece. If its message is whole with it: the numbers of its packets.
    fn keep(&mut self, number: u64, piece: Piece) -> Option<(u64, u64)> {
        self.pieces.insert(number, piece);
        // What has a piece outside the window is never whole: the rest of it is given up.
        let oldest = self.highest.saturating_sub(UNRELIABLE_WINDOW).saturating_add(1);
        while self.pieces.first_key_value().is_some_and(|(number, _)| *number < oldest) {
            self.pieces.pop_first();
        }
        let last = self.walk(number, |part| part.last, |number| number.checked_add(1))?;
        let first = self.walk(number, |part| part.first, |number| number.checked_sub(1))?;
        Some((first, last))
    }

    /// Goes from piece to piece of one message, up to the one that is the end.
    fn walk(
        &self,
        from: u64,
        is_end: impl Fn(Part) -> bool,
        next: impl Fn(u64) -> Option<u64>,
    ) -> Option<u64> {
        let message = self.pieces.get(&from)?.part.message;
        let mut at = from;
        loop {
            let part = self.pieces.get(&at).map(|piece| piece.part)?;
            if part.message != message {
                return None;
            }
            if is_end(part) {
                return Some(at);
            }
            at = next(at)?;
        }
    }
}

/// The unreliable messages of one configuration at this node.
#[derive(Debug)]
pub(crate) struct Unreliable {
    /// The number of the last packet that was sent here.
    sent: u64,
    next_message: u16,
    /// When all that was sent would have left if it left evenly.
    paced: Instant,
    /// By member.
    heard: Vec<Heard>,
    pool: Pool,
    counters: Counters,
    danger: Mutant,
}

impl Unreliable {
    /// For so many members.
    pub(crate) fn new(members: usize, danger: Mutant) -> Self {
        Self {
            sent: 0,
            next_message: 0,
            paced: Instant::default(),
            heard: (0..members).map(|_| Heard::default()).collect(),
            pool: Pool::default(),
            counters: Counters::default(),
            danger,
        }
    }

    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    /// So many numbers are used up that a new ring has to begin.
    pub(crate) fn is_spent(&self) -> bool {
        self.sent >= PACKET_NUMBER_MAX / 2
    }

    /// Whether so many packets may leave now. If not, their message is given up.
    fn may_send(&mut self, now: Instant, packets: usize) -> bool {
        let packets = u32::try_from(packets).unwrap_or(u32::MAX);
        let paced = self.paced.max(now) + UNRELIABLE_PACE.saturating_mul(packets);
        let may = paced <= now + UNRELIABLE_PACE.saturating_mul(UNRELIABLE_PACKETS) && !self.is_spent();
        if may {
            self.paced = paced;
        }
        may
    }

    /// Sends a message to `to`, in packets of at most so many bytes: at once, or never. Returns it
    /// for this node itself, if it was sent.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        message: &Message,
        (head, to): (Head, &Arc<[NodeId]>),
        packet_bytes: usize,
        out: &mut VecDeque<Output>,
    ) -> Option<Bytes> {
        let (length, room) = (message.len(), packet_bytes.saturating_sub(HEADER_BYTES));
        let whole = length.saturating_add(PIECE_HEADER_BYTES) <= room;
        let most = if whole { length } else { room.saturating_sub(PART_HEADER_BYTES) }.max(1);
        let packets = length.div_ceil(most).max(1);
        if !self.may_send(now, packets) {
            self.counters.given_up = self.counters.given_up.saturating_add(1);
            return None;
        }
        if !whole {
            self.next_message = self.next_message.wrapping_add(1);
        }
        let mut own = None;
        for place in 0..packets {
            let last = place.saturating_add(1) == packets;
            let part = match whole {
                true => Part::WHOLE,
                false => Part { first: place == 0, last, message: self.next_message },
            };
            let packet = self.packet(head, message, (part, place.saturating_mul(most), most));
            own = packet.pieces().next().filter(|_| whole).map(|piece| piece.bytes);
            if self.danger.is(Danger::RingRepeatsUnreliable) {
                out.push_back(Output::Multicast { to: to.clone(), frame: packet.frame.clone() });
            }
            if !to.is_empty() {
                out.push_back(Output::first_time(to, packet.frame));
            }
        }
        own.or_else(|| Some(self.joined(length, message.part(0, length).into_iter())))
    }

    fn packet(&mut self, head: Head, message: &Message, (part, from, most): (Part, usize, usize)) -> Data {
        self.sent = self.sent.saturating_add(1);
        let head = Head { number: self.sent, ..head };
        let length = message.len().saturating_sub(from).min(most);
        let room = HEADER_BYTES.saturating_add(part.header_bytes()).saturating_add(length);
        let mut frame = self.pool.buffer(room);
        head.begin(Class::Unreliable, &mut frame);
        put_piece(&mut frame, part, &message.part(from, most));
        self.counters.copied = self.counters.copied.saturating_add(u64::try_from(length).unwrap_or(0));
        head.end(Class::Unreliable, frame)
    }

    fn joined<'a>(&mut self, length: usize, parts: impl Iterator<Item = &'a [u8]>) -> Bytes {
        let mut whole = self.pool.buffer(length);
        parts.for_each(|part| whole.extend_from_slice(part));
        self.counters.copied = self.counters.copied.saturating_add(u64::try_from(whole.len()).unwrap_or(0));
        whole.freeze()
    }

    /// A packet of another member has come, from that member. Tells the messages that it completes.
    pub(crate) fn take(&mut self, packet: &Data, mut deliver: impl FnMut(Bytes)) {
        let Some(heard) = self.heard.get_mut(usize::from(packet.sender)) else { return };
        if !heard.take(packet.number) && !self.danger.is(Danger::RingTakesUnreliableAgain) {
            return;
        }
        let mut pieces = packet.pieces();
        if !packet.is_in_pieces() {
            return pieces.for_each(|piece| deliver(piece.bytes));
        }
        let Some((first, last)) = pieces.next().and_then(|piece| heard.keep(packet.number, piece)) else {
            return;
        };
        let mut rest = heard.pieces.split_off(&first);
        let mut behind = rest.split_off(&last.saturating_add(1));
        heard.pieces.append(&mut behind);
        let length = rest.values().fold(0_usize, |sum, piece| sum.saturating_add(piece.bytes.len()));
        let whole = self.joined(length, rest.values().map(|piece| &piece.bytes[..]));
        deliver(whole);
    }
}

/// Whether a message can be sent so.
///
/// # Errors
/// [`SubmitError::LocalTooLong`].
pub(crate) fn check((lead, payload): &(Lead, Bytes)) -> Result<(), SubmitError> {
    let (got, most) = (lead.length().saturating_add(payload.len()), UNRELIABLE_BYTES_SENT_MAX);
    if got > most { Err(SubmitError::LocalTooLong { got, most }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::{Heard, UNRELIABLE_WINDOW};
    use std::collections::BTreeSet;

    /// Compared with a reference that remembers everything.
    #[test]
    fn ring_31_each_number_counts_once() {
        let (mut heard, mut seen, mut x) = (Heard::default(), BTreeSet::new(), 1_u64);
        for _ in 0..40_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let jump = if x >> 57 == 0 { 5_000 } else { 4 };
            let back = if x >> 60 == 1 { 1_500 } else { 30 };
            let number = (heard.highest + (x >> 33) % jump).saturating_sub((x >> 20) % back).max(1);
            let highest = seen.last().copied().unwrap_or(0);
            let new = number + UNRELIABLE_WINDOW > highest && seen.insert(number);
            assert_eq!(heard.take(number), new, "{number} under {highest}");
        }
    }
}
