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
use crate::given::Span;
use crate::message::RingNonce;
use crate::output::{Delivery, Output};
use crate::pieces::{Pieces, Whole};
use crate::settle::Unsettled;
use crate::stream::Stream;
use crate::window::{Stored, Window};
use bytes::{Bytes, BytesMut};
use folkmoot_base::{ConfigurationId, Danger, Mutant, NodeId};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bits of a delivery's order number that count the pieces in a packet.
pub(crate) const PIECE_BITS: u32 = 11;
const _: () = assert!(folkmoot_base::limits::FRAME_BYTES_MAX < 1 << PIECE_BITS);

/// How far a walk along the known order has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// All places up to here are behind it.
    pub(crate) place: u64,
    /// All records up to here are behind it.
    pub(crate) record: u64,
    /// And so many packets of the next record.
    pub(crate) taken: u64,
}

impl Cursor {
    pub(crate) fn step(&mut self, record: &Record) {
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
    pub(crate) streams: Vec<Stream>,
    pub(crate) records: Window<Record>,
    /// Who made the last of them, by index.
    pub(crate) last_maker: u8,
    held: Cursor,
    pub(crate) delivered: Cursor,
    /// Members, by index, of whose streams something may be delivered early.
    pub(crate) news: u64,
    /// Those of them whose next packet names something that has not been delivered.
    pub(crate) blocked: u64,
    /// Reliable packets that wait for nothing: (sender, number).
    pub(crate) overtook: VecDeque<(u8, u64)>,
    pub(crate) unsettled: Unsettled,
    /// All members are known to hold all places up to here.
    pub(crate) safe: u64,
    /// Members, by index, whose packets must be delivered even after a hole: another member may
    /// have delivered them already.
    pub(crate) obligations: u64,
    /// Packets kept, of all streams.
    kept: usize,
    /// Of reliable messages, of FIFO and causal ones, and of agreed and safe ones: each kind has an
    /// order of its own.
    pieces: [Pieces; 3],
    /// Messages of this node in pieces that have not been delivered.
    pub(crate) own: VecDeque<Whole>,
    pub(crate) mine: u8,
    pub(crate) danger: Mutant,
}

impl Order {
    pub(crate) fn new(id: ConfigurationId, members: Arc<[NodeId]>, mine: u8, danger: Mutant) -> Self {
        let count = members.len();
        Self {
            id,
            streams: members.iter().map(|_| Stream::default()).collect(),
            members,
            records: Window::default(),
            last_maker: 0,
            held: Cursor::default(),
            delivered: Cursor::default(),
            news: 0,
            blocked: 0,
            overtook: VecDeque::new(),
            unsettled: Unsettled::default(),
            safe: 0,
            obligations: 0,
            kept: 0,
            pieces: [0; 3].map(|_| Pieces::new(count)),
            own: VecDeque::new(),
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
        self.pieces.iter().fold(0, |sum, pieces| sum.saturating_add(pieces.copied))
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
        self.stream(source)?.packet(number)
    }

    fn stream(&self, source: u8) -> Option<&Stream> {
        self.streams.get(usize::from(source))
    }

    pub(crate) fn record(&self, number: u64) -> Option<&Record> {
        self.records.get(number)
    }

    /// The number of this node's next packet.
    pub(crate) fn next_number(&self) -> u64 {
        self.high(self.mine).saturating_add(1)
    }

    fn high(&self, source: u8) -> u64 {
        self.stream(source).map_or(0, Stream::high)
    }

    pub(crate) fn placed(&self, source: u8) -> u64 {
        self.stream(source).map_or(0, |stream| stream.placed)
    }

    /// How many packets of this member are here that no known record names.
    pub(crate) fn unplaced(&self, source: u8) -> u64 {
        self.high(source).saturating_sub(self.placed(source))
    }

    /// The record of this number, which gives at most `most` packets of `source` the places from
    /// `place` on; `None` if all of them have places, or wait for those of others (ORD-02).
    pub(crate) fn next_record(&self, source: u8, number: u64, place: u64, most: u64) -> Option<Record> {
        let mut first = self.placed(source).saturating_add(1);
        if self.danger.is(Danger::RingRecordsOrderedOnly) {
            let is_early = |number: &u64| self.packet(source, *number).is_some_and(|p| p.class.is_early());
            first = (first..).find(|number| !is_early(number)).unwrap_or(first);
        }
        let at_once = self.danger.is(Danger::RingOrdersAtOnce) || source != self.mine;
        let bound = if at_once { u64::MAX } else { self.unsettled.bound() };
        let count = self.high(source).saturating_add(1).min(bound).saturating_sub(first).min(most);
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
        let member = self.members.binary_search(from).is_ok() && data.is_within(self.members.len());
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
        let (source, number, class) = (packet.sender, packet.number, packet.class);
        let in_pieces = packet.is_in_pieces();
        let stored = stream.insert(packet);
        if stored == Stored::New {
            self.kept = self.kept.saturating_add(1);
            self.note_early((source, number), class, in_pieces);
            self.hold();
        }
        stored
    }

    /// Keeps a record.
    pub(crate) fn keep_record(&mut self, record: Record) -> Stored {
        let Some(stream) = self.streams.get_mut(usize::from(record.source)) else { return Stored::TooFar };
        let stored = self.records.insert(record.number, record);
        if stored == Stored::New {
            stream.placed = record.last().max(stream.placed);
            if record.number == self.records.high() {
                self.last_maker = record.source;
            }
            self.hold();
        }
        stored
    }

    /// The record of the next place, and the number of the packet there, if the record is known.
    /// One that contradicts those before it was never made by the rules: it counts as unknown.
    pub(crate) fn at(&self, cursor: &Cursor) -> Option<(Record, u64)> {
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

    /// Goes on to the next place if its packet is here and may be delivered. Of the new ring's own
    /// packets, in recovery, all but messages may.
    fn next_place(&mut self, messages_too: bool) -> Option<(u8, u64)> {
        let (record, number) = self.at(&self.delivered)?;
        let class = self.packet(record.source, number)?.class;
        let as_safe = class == Class::Agreed && self.danger.is(Danger::RingAgreedAsSafe);
        let unsafe_yet = (class == Class::Safe || as_safe) && self.delivered.place >= self.safe;
        if unsafe_yet && !self.danger.is(Danger::RingSafeAsAgreed) {
            return None;
        }
        if !messages_too && class.service().is_some() {
            return None;
        }
        // RING-32: what has its place here waits for nothing that it names.
        if self.danger.is(Danger::RingPlacesWaitForNames) && self.waits(record.source.into(), number) {
            return None;
        }
        self.delivered.step(&record);
        self.news |= bit(usize::from(record.source));
        Some((record.source, number))
    }

    /// The next packet of a recovery.
    pub(crate) fn next_recovered(&mut self) -> Option<Data> {
        let (source, number) = self.next_place(false)?;
        self.streams.get_mut(usize::from(source))?.take(number)
    }

    /// Delivers every message whose turn it is, and forgets what nobody needs any more.
    pub(crate) fn deliver_ready(&mut self, out: &mut VecDeque<Output>) {
        self.deliver_early(out);
        while let Some((source, number)) = self.next_place(true) {
            if !self.danger.is(Danger::RingNoOrder) || source == self.mine {
                let order = place_order(self.delivered.place);
                self.give(source, number, order, false, out);
            }
            self.deliver_early(out);
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

    /// Delivers a packet, unless it has been delivered. If it is agreed or safe, its messages have
    /// `order` and the numbers behind.
    pub(crate) fn give(
        &mut self,
        source: u8,
        number: u64,
        order: u64,
        transitional: bool,
        out: &mut VecDeque<Output>,
    ) {
        let stream = self.streams.get_mut(usize::from(source));
        if let Some(packet) = stream.and_then(|stream| stream.take(number)) {
            self.unblock();
            self.emit(&packet, order, transitional, out);
        }
    }

    /// Delivers the messages that `packet` completes.
    pub(crate) fn emit(&mut self, packet: &Data, order: u64, transitional: bool, out: &mut VecDeque<Output>) {
        let Some(service) = packet.class.service() else { return };
        let Some(&sender) = self.members.get(usize::from(packet.sender)) else { return };
        let [reliable, fifo, ordered] = &mut self.pieces;
        let pieces = match packet.class {
            Class::Reliable => reliable,
            Class::Fifo | Class::Causal => fifo,
            _ => ordered,
        };
        for (index, piece) in packet.pieces().enumerate() {
            let own = (packet.sender == self.mine).then_some(&mut self.own);
            let Some((lead, payload)) = pieces.join(packet.sender, piece, own) else { continue };
            let order = order | u64::try_from(index).unwrap_or_default();
            let order = (!packet.class.is_early()).then_some(order);
            let configuration = self.id;
            let delivery = Delivery { configuration, order, sender, service, lead, payload, transitional };
            out.push_back(Output::Deliver(delivery));
        }
    }

    /// An attempt has failed: only for a mutant.
    pub(crate) fn forget_lists(&mut self) {
        self.obligations = 0;
        self.streams.iter_mut().for_each(Stream::owe_nothing);
    }

    /// ORD-13: these messages are owed.
    pub(crate) fn owe(&mut self, spans: &[Span]) {
        for span in spans {
            if let Some(stream) = self.streams.get_mut(usize::from(span.source)) {
                stream.owe(span);
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
            let messages = rest.filter(|(_, packet)| packet.class.service().is_some());
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
