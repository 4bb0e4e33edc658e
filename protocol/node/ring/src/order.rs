//! What this node holds of one configuration: the streams of its members, the records that put
//! their packets in order, and the delivery in that order.
//!
//! ```text
//! stream of a   a1 a2 a3 a4        record 1: place 1.. = a1..a2     known order: a1 a2 b1 a3
//! stream of b   b1                 record 2: place 3   = b1         a4 has no place yet
//!                                  record 3: place 4   = a3
//! ```

use crate::config::{RECORD_PACKETS_MAX, STORE_PACKETS_MAX, VISIT_PACKETS};
use crate::data::{Class, Data, RECORD_BYTES, Record, RingHandle};
use crate::message::RingNonce;
use crate::output::{Delivery, Output};
use crate::pieces::Pieces;
use crate::window::{Stored, Window};
use bytes::{Bytes, BytesMut};
use folkmoot_base::{ConfigurationId, Danger, Mutant, NodeId, Service};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bits of a delivery's order number that count the pieces in a packet.
const PIECE_BITS: u32 = 11;
const _: () = assert!(folkmoot_base::limits::FRAME_BYTES_MAX < 1 << PIECE_BITS);
/// Bits of a delivery's order number for the number of a packet in its stream.
const NUMBER_BITS: u32 = 32;
/// ORD-14: set in the order number of what no known record names. So it is behind all places.
const BEHIND: u64 = 1 << 60;

/// How far a walk along the known order has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Cursor {
    /// All places up to here are behind it.
    place: u64,
    /// All records up to here are behind it.
    record: u64,
    /// And so many packets of the next record.
    taken: u64,
}

impl Cursor {
    fn step(&mut self, record: &Record) {
        self.place = self.place.saturating_add(1);
        self.taken = self.taken.saturating_add(1);
        if self.taken >= u64::from(record.count) {
            (self.record, self.taken) = (self.record.saturating_add(1), 0);
        }
    }
}

/// One configuration at this node.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) id: ConfigurationId,
    pub(crate) members: Arc<[NodeId]>,
    /// By member.
    streams: Vec<Window<Data>>,
    /// By member: the last of its packets that a known record names.
    placed: Vec<u64>,
    records: Window<Record>,
    held: Cursor,
    delivered: Cursor,
    /// All members are known to hold all places up to here.
    pub(crate) safe: u64,
    /// Members, by index, whose packets must be delivered even after a hole: another member may
    /// have delivered them already.
    pub(crate) obligations: u64,
    /// Packets kept, of all streams.
    kept: usize,
    pieces: Pieces,
    mine: u8,
    pub(crate) danger: Mutant,
}

impl Order {
    pub(crate) fn new(id: ConfigurationId, members: Arc<[NodeId]>, mine: u8, danger: Mutant) -> Self {
        let count = members.len();
        Self {
            id,
            streams: members.iter().map(|_| Window::default()).collect(),
            placed: vec![0; count],
            members,
            records: Window::default(),
            held: Cursor::default(),
            delivered: Cursor::default(),
            safe: 0,
            obligations: 0,
            kept: 0,
            pieces: Pieces::new(count),
            mine,
            danger,
        }
    }

    pub(crate) fn ring(&self) -> RingNonce {
        self.id.nonce
    }

    pub(crate) fn handle(&self) -> RingHandle {
        RingHandle::of(&self.id.nonce)
    }

    /// Bytes of messages in pieces that were joined.
    pub(crate) fn copied(&self) -> u64 {
        self.pieces.copied
    }

    /// The bit of `node` in sets of members of this configuration; 0 for other nodes.
    pub(crate) fn bit(&self, node: &NodeId) -> u64 {
        self.members.binary_search(node).map_or(0, bit)
    }

    /// All places up to here are held: their records, and the packets.
    pub(crate) fn held(&self) -> u64 {
        self.held.place
    }

    /// All places up to here have been delivered.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered.place
    }

    /// The number of the last record known.
    pub(crate) fn last_record(&self) -> u64 {
        self.records.high()
    }

    pub(crate) fn packet(&self, source: u8, number: u64) -> Option<&Data> {
        self.streams.get(usize::from(source))?.get(number)
    }

    pub(crate) fn record(&self, number: u64) -> Option<&Record> {
        self.records.get(number)
    }

    /// The number of this node's next packet.
    pub(crate) fn next_number(&self) -> u64 {
        self.high(self.mine).saturating_add(1)
    }

    fn high(&self, source: u8) -> u64 {
        self.streams.get(usize::from(source)).map_or(0, Window::high)
    }

    fn placed(&self, source: u8) -> u64 {
        self.placed.get(usize::from(source)).copied().unwrap_or(0)
    }

    /// How many packets of this member are here that no known record names.
    pub(crate) fn unplaced(&self, source: u8) -> u64 {
        self.high(source).saturating_sub(self.placed(source))
    }

    /// The record of this number, which gives the packets of `source` the places from `place` on;
    /// `None` if all of them have places.
    pub(crate) fn next_record(&self, source: u8, number: u64, place: u64) -> Option<Record> {
        let count = self.unplaced(source);
        let first = self.placed(source).saturating_add(1);
        let count = u16::try_from(count).unwrap_or(u16::MAX).min(RECORD_PACKETS_MAX);
        (count > 0).then_some(Record { number, place, source, first, count })
    }

    /// Keeps a packet, or what a record says. The caller has made sure that the sender is a member.
    pub(crate) fn take(&mut self, data: Data) -> Stored {
        match data.record() {
            Some(record) => self.keep_record(record),
            None => self.keep(data),
        }
    }

    /// A late packet or record, of this configuration or of another.
    pub(crate) fn late(&mut self, from: &NodeId, data: Data) {
        let member =
            self.members.binary_search(from).is_ok() && usize::from(data.sender) < self.members.len();
        if member && data.ring == self.handle() {
            self.take(data);
        }
    }

    /// RING-28: so many packets of another member are kept that no known record names. A member
    /// that floods the ring with packets that it never orders takes no room from the others.
    fn unplaced_most(&self) -> u64 {
        let members = u64::try_from(self.members.len()).unwrap_or(u64::MAX);
        let share = STORE_PACKETS_MAX.checked_div(members.saturating_mul(2)).unwrap_or(0);
        share.max(u64::from(VISIT_PACKETS).saturating_mul(2))
    }

    /// Keeps a packet.
    pub(crate) fn keep(&mut self, packet: Data) -> Stored {
        let full = u64::try_from(self.kept).unwrap_or(u64::MAX) >= STORE_PACKETS_MAX;
        let far = packet.number > self.placed(packet.sender).saturating_add(self.unplaced_most());
        let others = packet.sender != self.mine;
        let Some(stream) = self.streams.get_mut(usize::from(packet.sender)) else { return Stored::TooFar };
        if (full || far) && others && !stream.has(packet.number) {
            return Stored::TooFar;
        }
        let stored = stream.insert(packet.number, packet);
        if stored == Stored::New {
            self.kept = self.kept.saturating_add(1);
            self.hold();
        }
        stored
    }

    /// Keeps a record.
    pub(crate) fn keep_record(&mut self, record: Record) -> Stored {
        let Some(placed) = self.placed.get_mut(usize::from(record.source)) else { return Stored::TooFar };
        let stored = self.records.insert(record.number, record);
        if stored == Stored::New {
            *placed = record.last().max(*placed);
            self.hold();
        }
        stored
    }

    /// The record of the next place, and the number of the packet there, if the record is known.
    /// One that contradicts those before it was never made by the rules: it counts as unknown.
    fn at(&self, cursor: &Cursor) -> Option<(Record, u64)> {
        let record = *self.records.get(cursor.record.saturating_add(1))?;
        let place = record.place.saturating_add(cursor.taken);
        (place == cursor.place.saturating_add(1)).then(|| (record, record.first.saturating_add(cursor.taken)))
    }

    fn hold(&mut self) {
        while let Some((record, number)) = self.at(&self.held) {
            let stream = self.streams.get(usize::from(record.source));
            if !stream.is_some_and(|stream| stream.has(number)) {
                return;
            }
            self.held.step(&record);
        }
    }

    /// What is missing of the records up to `last`, and of the packets that they name.
    pub(crate) fn missing(&self, last: u64) -> impl Iterator<Item = Missing> + '_ {
        let from = self.held.record.saturating_add(1);
        (from..=last).flat_map(move |number| {
            let record = self.records.get(number);
            let lost = record.is_none().then_some(Missing::Record(number));
            let packets = record.into_iter().flat_map(move |record| self.missing_of(record));
            lost.into_iter().chain(packets)
        })
    }

    fn missing_of<'a>(&'a self, record: &'a Record) -> impl Iterator<Item = Missing> + 'a {
        let stream = self.streams.get(usize::from(record.source));
        let lost = move |number: &u64| stream.is_some_and(|stream| !stream.has(*number));
        (record.first..=record.last()).filter(lost).map(|number| Missing::Packet(record.source, number))
    }

    /// The next packet whose turn it is, if it is here and may be delivered.
    pub(crate) fn next_ready(&mut self, messages_too: bool) -> Option<Data> {
        let (record, number) = self.at(&self.delivered)?;
        let packet = self.packet(record.source, number)?;
        let unsafe_yet = packet.class == Class::Safe && self.delivered.place >= self.safe;
        if unsafe_yet && !self.danger.is(Danger::RingSafeAsAgreed) {
            return None;
        }
        if !messages_too && matches!(packet.class, Class::Agreed | Class::Safe) {
            return None;
        }
        let packet = packet.clone();
        self.delivered.step(&record);
        Some(packet)
    }

    /// Delivers every message whose turn it is, and forgets what nobody needs any more.
    pub(crate) fn deliver_ready(&mut self, out: &mut VecDeque<Output>) {
        while let Some(packet) = self.next_ready(true) {
            if !self.danger.is(Danger::RingNoOrder) || packet.sender == self.mine {
                self.emit(&packet, place_order(self.delivered.place), false, out);
            }
        }
        self.discard();
    }

    /// Forgets what every member holds and was delivered here: whole records, with their packets.
    pub(crate) fn discard(&mut self) {
        let most = self.safe.min(self.delivered.place);
        let mut done = 0;
        for (number, record) in self.records.iter() {
            if record.last_place() > most {
                break;
            }
            if let Some(stream) = self.streams.get_mut(usize::from(record.source)) {
                self.kept = self.kept.saturating_sub(stream.discard(record.last()));
            }
            done = number;
        }
        self.records.discard(done);
    }

    /// Delivers the messages that `packet` completes.
    pub(crate) fn emit(&mut self, packet: &Data, order: u64, transitional: bool, out: &mut VecDeque<Output>) {
        let service = match packet.class {
            Class::Agreed => Service::Agreed,
            Class::Safe => Service::Safe,
            Class::Recovered | Class::End | Class::Record => return,
        };
        let Some(&sender) = self.members.get(usize::from(packet.sender)) else { return };
        for (index, piece) in packet.pieces().enumerate() {
            let Some(payload) = self.pieces.join(packet.sender, piece) else { continue };
            let order = order | u64::try_from(index).unwrap_or_default();
            let configuration = self.id;
            let delivery = Delivery { configuration, order, sender, service, payload, transitional };
            out.push_back(Output::Deliver(delivery));
        }
    }

    /// Ends the configuration: delivers what is left by the one line (O2), the rule for holes, and
    /// ORD-11.
    pub(crate) fn finish(
        mut self,
        line: u64,
        survivors: &[NodeId],
        obligations: u64,
        out: &mut VecDeque<Output>,
    ) {
        while self.delivered.place < line {
            let Some((record, number)) = self.at(&self.delivered) else { break };
            self.delivered.step(&record);
            if let Some(packet) = self.packet(record.source, number).cloned() {
                self.emit(&packet, place_order(self.delivered.place), false, out);
            }
        }
        out.push_back(Output::Transitional { from: self.id, survivors: survivors.to_vec() });
        let trusted = survivors.iter().fold(obligations, |set, node| set | self.bit(node));
        let signal = out.len();
        self.finish_known(trusted, out);
        if self.danger.is(Danger::RingSortsKnown) {
            let sender =
                |output: &Output| if let Output::Deliver(d) = output { Some(d.sender) } else { None };
            out.make_contiguous().split_at_mut(signal).1.sort_by_key(sender);
        }
        self.finish_rest(trusted, out);
    }

    /// ORD-10: the rest of the known order; past a hole only of trusted senders.
    fn finish_known(&mut self, trusted: u64, out: &mut VecDeque<Output>) {
        let mut hole = false;
        let mut skip = self.delivered.taken;
        for number in self.delivered.record.saturating_add(1)..=self.records.high() {
            let Some(record) = self.records.get(number).copied() else {
                (hole, skip) = (true, 0);
                continue;
            };
            for offset in core::mem::take(&mut skip)..u64::from(record.count) {
                match self.packet(record.source, record.first.saturating_add(offset)).cloned() {
                    None => hole = true,
                    Some(packet) if hole && trusted & bit(usize::from(packet.sender)) == 0 => {}
                    Some(packet) => {
                        let place = record.place.saturating_add(offset);
                        self.emit(&packet, place_order(place), true, out);
                    }
                }
            }
        }
    }

    /// ORD-11, ORD-14: what no known record names of trusted senders, by sender and number.
    fn finish_rest(&mut self, trusted: u64, out: &mut VecDeque<Output>) {
        let sources = (0..self.members.len()).filter(|index| trusted & bit(*index) != 0);
        for source in sources.filter_map(|index| u8::try_from(index).ok()) {
            let mut number = self.placed(source);
            loop {
                number = number.saturating_add(1);
                let Some(packet) = self.packet(source, number).cloned() else { break };
                let order = BEHIND | u64::from(source) << (NUMBER_BITS + PIECE_BITS) | place_order(number);
                self.emit(&packet, order, true, out);
            }
        }
    }

    /// The frame of what somebody lacks, if it is here.
    pub(crate) fn frame(&self, missing: Missing) -> Option<Bytes> {
        match missing {
            Missing::Record(number) => {
                let room = BytesMut::with_capacity(RECORD_BYTES);
                self.record(number).map(|record| record.frame(self.handle(), room))
            }
            Missing::Packet(source, number) => self.packet(source, number).map(|packet| packet.frame.clone()),
        }
    }

    /// What others may lack: records and packets at places after `low`, up to `full` only if
    /// `fully`, and everything behind.
    pub(crate) fn share(&self, low: u64, full: u64, fully: bool) -> Vec<Missing> {
        let mut out = Vec::new();
        let least = if fully { low } else { full };
        let mut covered = vec![0; self.members.len()];
        for (number, record) in self.records.iter() {
            if record.last_place() > least {
                out.push(Missing::Record(number));
            }
            // Its packets up to place `least` are with everybody who needs them.
            let done = least.saturating_add(1).saturating_sub(record.place).min(record.count.into());
            let covered = covered.get_mut(usize::from(record.source)).filter(|_| done > 0);
            if let Some(covered) = covered {
                *covered = record.first.saturating_add(done).saturating_sub(1).max(*covered);
            }
        }
        for (stream, covered) in self.streams.iter().zip(covered) {
            let rest = stream.iter().filter(|(number, _)| *number > covered);
            let messages = rest.filter(|(_, packet)| matches!(packet.class, Class::Agreed | Class::Safe));
            out.extend(messages.map(|(number, packet)| Missing::Packet(packet.sender, number)));
        }
        out
    }
}

/// Something of a configuration that a member lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Missing {
    /// The record with this number.
    Record(u64),
    /// A packet: the index of its sender, and its number.
    Packet(u8, u64),
}

/// The order number of the first message of the packet at this place.
pub(crate) fn place_order(place: u64) -> u64 {
    place << PIECE_BITS
}

/// The bit of the member with `index`.
pub(crate) fn bit(index: usize) -> u64 {
    u32::try_from(index).ok().and_then(|index| 1_u64.checked_shl(index)).unwrap_or(0)
}
