//! This node's messages that wait for the token, and how they are cut and packed into packets.
//!
//! Each party of this node has a line of its own, up to [`LINES`] (lines.rs), and they take turns,
//! a packet each: so a small message of one waits for a packet of another's large one, and not for
//! all of it. The messages of one party keep their order.

use crate::circuit::Source;
use crate::config::LINES;
use crate::data::{
    Class, Data, HEADER_BYTES, Head, PART_HEADER_BYTES, PIECE_HEADER_BYTES, Part, packet_bytes, put_piece,
};
use crate::error::SubmitError;
use crate::lines::{Parties, line_of};
use crate::names::{names_bytes, put_names};
use crate::order::Order;
use crate::output::Counters;
use crate::pieces::Whole;
use bytes::{Bytes, BytesMut};
use folkmoot_base::limits::{ORDERED_BYTES_MAX, SEND_QUEUE_BYTES_MAX};
use folkmoot_base::{Lead, Pool, Service};
use std::collections::VecDeque;

/// What a queued message costs in addition to its bytes, so that empty messages are bounded too.
const MESSAGE_COST_BYTES: usize = 64;
/// If a packet has less room left than this, no message is begun in it that is longer than that.
const PIECE_BYTES_MIN: usize = 32;
/// The same for a message that fits a packet of its own, as a part of a packet: to cut it and to
/// join it again costs more than so much room.
const CUT_PART: usize = 4;

/// Notes that a message has left; those of one account that follow one another together.
fn note_left(left: &mut VecDeque<Left>, message: &Message) {
    let bytes = u64::try_from(message.payload.len()).unwrap_or(u64::MAX);
    match left.back_mut().filter(|last| last.account == message.account) {
        Some(last) => {
            last.messages = last.messages.saturating_add(1);
            last.bytes = last.bytes.saturating_add(bytes);
        }
        None => left.push_back(Left { account: message.account, messages: 1, bytes }),
    }
}

/// A message that waits: its bytes are those of `lead`, and then those of `payload`.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) class: Class,
    pub(crate) lead: Lead,
    pub(crate) payload: Bytes,
    /// Whoever submitted it is told when it has left.
    pub(crate) account: u32,
}

/// Messages of one account that left the queue one after another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left {
    pub(crate) account: u32,
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

impl Message {
    pub(crate) fn len(&self) -> usize {
        self.lead.length().saturating_add(self.payload.len())
    }

    /// The bytes from `offset` on, at most `most` of them.
    pub(crate) fn part(&self, offset: usize, most: usize) -> [&[u8]; 2] {
        let lead = self.lead.as_slice().get(offset..).unwrap_or_default();
        let lead = lead.get(..most).unwrap_or(lead);
        let rest = self.payload.get(offset.saturating_sub(self.lead.length())..).unwrap_or_default();
        let most = most.saturating_sub(lead.len());
        [lead, rest.get(..most).unwrap_or(rest)]
    }
}

/// Messages in the order in which they were taken.
#[derive(Debug, Default)]
struct Line {
    messages: VecDeque<Message>,
    /// How much of the first message has been numbered in this configuration.
    offset: usize,
    /// What its pieces say which message they are of.
    message: u16,
    parties: Parties,
}

/// What was put into a packet.
enum Put {
    /// A whole message, or the last piece of one.
    End,
    /// The last piece of one, which shares no packet.
    EndAlone,
    /// A piece: the packet is full.
    Piece,
    /// Nothing: there is no room.
    Nothing,
}

impl Line {
    fn class(&self) -> Option<Class> {
        self.messages.front().map(|message| message.class)
    }

    /// Puts as much of the first message into `frame` as there is room for, up to `most` bytes.
    fn put(&mut self, most: usize, frame: &mut BytesMut, next_message: &mut u16) -> Put {
        let Some(message) = self.messages.front() else { return Put::Nothing };
        let rest = message.len().saturating_sub(self.offset);
        let room = most.saturating_sub(frame.len());
        let first = self.offset == 0;
        let begun = frame.len() > HEADER_BYTES;
        if first && rest.saturating_add(PIECE_HEADER_BYTES) <= room {
            put_piece(frame, Part::WHOLE, &message.part(0, rest));
            return Put::End;
        }
        if message.class.is_apart() && begun {
            return Put::Nothing; // A piece of such a message shares no packet.
        }
        let room = room.saturating_sub(PART_HEADER_BYTES);
        let last = !first && rest <= room;
        let fits_another = first && rest <= most.saturating_sub(HEADER_BYTES + PIECE_HEADER_BYTES);
        if !last && room < if fits_another { most / CUT_PART } else { PIECE_BYTES_MIN } {
            return Put::Nothing;
        }
        if first {
            self.message = *next_message;
            *next_message = next_message.wrapping_add(1);
        }
        let part = Part { first, last, message: self.message };
        put_piece(frame, part, &message.part(self.offset, room));
        let alone = message.class.is_apart();
        self.offset = self.offset.saturating_add(rest.min(room));
        match last {
            true if alone => Put::EndAlone,
            true => Put::End,
            false => Put::Piece,
        }
    }
}

/// Messages that wait. Survives changes of configuration.
#[derive(Debug)]
pub(crate) struct Queue {
    lines: [Line; LINES],
    /// Whose turn it is.
    turn: usize,
    bytes: usize,
    next_message: u16,
    /// Messages in pieces that end in the packet just made.
    cut: VecDeque<Whole>,
    /// The longest packet of this configuration.
    packet_bytes: usize,
    pool: Pool,
    /// Bytes of messages that were put into packets.
    copied: u64,
    /// What has left since it was asked last.
    left: VecDeque<Left>,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            lines: Default::default(),
            turn: 0,
            bytes: 0,
            next_message: 0,
            cut: VecDeque::new(),
            packet_bytes: packet_bytes(0),
            pool: Pool::default(),
            copied: 0,
            left: VecDeque::new(),
        }
    }
}

impl Queue {
    pub(crate) fn push(
        &mut self,
        (party, account): (u16, u32),
        service: Service,
        (lead, payload): (Lead, Bytes),
    ) -> Result<(), SubmitError> {
        let class = Class::of(service);
        let message = Message { class, lead, payload, account };
        if message.len() > ORDERED_BYTES_MAX {
            return Err(SubmitError::LocalTooLong { got: message.len(), most: ORDERED_BYTES_MAX });
        }
        let bytes = self.bytes.saturating_add(message.len()).saturating_add(MESSAGE_COST_BYTES);
        let place = line_of(party, self.lines.iter().map(|line| &line.parties));
        let line = self.lines.get_mut(place).filter(|_| bytes <= SEND_QUEUE_BYTES_MAX);
        let line = line.ok_or(SubmitError::LocalFull)?;
        line.parties.add(party);
        self.bytes = bytes;
        line.messages.push_back(message);
        Ok(())
    }

    /// What has left since the last call, until `None`.
    pub(crate) fn left(&mut self) -> Option<Left> {
        self.left.pop_front()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters { copied: self.copied, ..Counters::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// A new configuration, with packets of at most so many bytes: a message that is only half
    /// numbered is sent again from its start.
    pub(crate) fn restart(&mut self, packet_bytes: usize) {
        self.packet_bytes = packet_bytes;
        for line in &mut self.lines {
            line.offset = 0;
        }
    }

    /// Only for a mutant.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Bytes that have no number yet.
    fn waiting(&self) -> usize {
        self.lines.iter().fold(self.bytes, |bytes, line| bytes.saturating_sub(line.offset))
    }

    /// Fills `frame` with what a line has of `class`. Returns whether there is room for more.
    fn fill(&mut self, place: usize, class: Class, frame: &mut BytesMut) -> bool {
        let Some(line) = self.lines.get_mut(place) else { return true };
        while line.class() == Some(class) {
            let before = frame.len();
            let put = line.put(self.packet_bytes, frame, &mut self.next_message);
            let taken = frame.len().saturating_sub(before);
            self.copied = self.copied.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX));
            if matches!(put, Put::Piece | Put::Nothing) {
                return false;
            }
            let in_pieces = core::mem::take(&mut line.offset) > 0;
            let Some(message) = line.messages.pop_front() else { return true };
            if line.messages.is_empty() {
                line.parties.clear();
            }
            self.bytes = self.bytes.saturating_sub(message.len()).saturating_sub(MESSAGE_COST_BYTES);
            note_left(&mut self.left, &message);
            if in_pieces {
                let Message { lead, payload, .. } = message;
                self.cut.push_back(Whole { message: line.message, lead, payload });
            }
            if matches!(put, Put::EndAlone) {
                return false;
            }
        }
        true
    }
}

impl Source for Queue {
    fn packet(&mut self, head: Head, order: &Order, safe_too: bool) -> Option<Data> {
        let turn = self.turn;
        let turns = (0..LINES).map(|step| turn.wrapping_add(step) % LINES);
        let class_of = |place: usize| {
            let class = self.lines.get(place).and_then(Line::class);
            class.filter(|class| safe_too || *class != Class::Safe)
        };
        let (first, class) = turns.clone().find_map(|place| class_of(place).map(|class| (place, class)))?;
        let names = if class == Class::Causal { names_bytes(order.names().count()) } else { 0 };
        let room = self.waiting().saturating_add(HEADER_BYTES).saturating_add(names);
        let mut frame = self.pool.buffer(room.min(self.packet_bytes));
        head.begin(class, &mut frame);
        if class == Class::Causal {
            put_names(&mut frame, order.names());
        }
        for place in turns {
            if !self.fill(place, class, &mut frame) {
                break;
            }
        }
        self.turn = first.wrapping_add(1) % LINES;
        Some(head.end(class, frame))
    }

    fn cut(&mut self) -> Option<Whole> {
        self.cut.pop_front()
    }

    fn backlog(&self) -> u32 {
        if self.is_empty() {
            return 0;
        }
        let body = self.packet_bytes.saturating_sub(HEADER_BYTES).max(1);
        let packets = self.waiting().checked_div(body).unwrap_or(0);
        u32::try_from(packets).unwrap_or(u32::MAX).saturating_add(1)
    }
}
