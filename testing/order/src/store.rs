//! What a node holds of one configuration, and what it delivers while the configuration stands.

use crate::nouns::{Delivery, Packet, Per, Place, Record, Service, Set};
use crate::rules::{Rule, Rules};

/// Everything that a node holds of one configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Store {
    /// The configuration.
    pub(crate) id: usize,
    /// Its members.
    pub(crate) members: Set,
    streams: Per<Vec<Option<Packet>>>,
    records: Vec<Option<Record>>,
    /// Place → (source, number), as far as records say.
    places: Vec<Option<(usize, usize)>>,
    /// Places of something weaker than agreed. Only a mutant reads this.
    weak: Set,
    /// The place of each packet that a known record names.
    placed: Per<Vec<Option<usize>>>,
    /// Up to here of each stream everything is held, and what is FIFO or stronger is delivered.
    done: Per<usize>,
    /// Messages that were delivered here.
    pub(crate) delivered: Set,
    /// The next place to deliver.
    pub(crate) next: usize,
    /// All places up to this one are held here: record and packets.
    pub(crate) held: usize,
    /// All places up to this one are known to be held by all.
    pub(crate) safe: usize,
    /// The highest number of each stream that somebody spoke of.
    pub(crate) high: Per<usize>,
    /// The highest record number that somebody spoke of.
    pub(crate) last_record: usize,
    /// A commit entry was written: nothing comes in but by recovery.
    pub(crate) frozen: bool,
}

/// What stands at a place that counts from 1 on.
fn at<T: Copy>(list: &[Option<T>], number: usize) -> Option<T> {
    list.get(number.wrapping_sub(1)).copied().flatten()
}

fn put<T: Clone>(list: &mut Vec<Option<T>>, number: usize, what: T) {
    if list.len() < number {
        list.resize(number, None);
    }
    if let Some(slot) = list.get_mut(number.wrapping_sub(1)) {
        *slot = Some(what);
    }
}

impl Store {
    /// An empty one.
    pub(crate) fn new(id: usize, members: Set) -> Self {
        Self { id, members, next: 1, ..Self::default() }
    }

    /// A packet that is held.
    pub(crate) fn packet(&self, source: usize, number: usize) -> Option<Packet> {
        at(&self.streams[source], number)
    }

    /// A record that is held.
    pub(crate) fn record(&self, number: usize) -> Option<Record> {
        at(&self.records, number)
    }

    /// What a known record puts at a place.
    pub(crate) fn at_place(&self, place: usize) -> Option<(usize, usize)> {
        at(&self.places, place)
    }

    /// The last place of which a known record speaks.
    pub(crate) fn last_place(&self) -> usize {
        self.places.len()
    }

    /// Where a known record puts a packet.
    pub(crate) fn place_of(&self, source: usize, number: usize) -> Option<usize> {
        at(&self.placed[source], number)
    }

    /// All packets that are held.
    pub(crate) fn packets(&self) -> impl Iterator<Item = Packet> + '_ {
        self.members.iter().flat_map(|source| self.streams[source].iter().flatten().copied())
    }

    /// All records that are held.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.records.iter().flatten().copied()
    }

    /// Keeps a packet. Whether it is new.
    pub(crate) fn keep_packet(&mut self, packet: Packet) -> bool {
        self.high[packet.source] = self.high[packet.source].max(packet.number);
        if self.packet(packet.source, packet.number).is_some() {
            return false;
        }
        put(&mut self.streams[packet.source], packet.number, packet);
        true
    }

    /// Keeps a record.
    pub(crate) fn keep_record(&mut self, record: Record) {
        self.last_record = self.last_record.max(record.number);
        self.high[record.source] = self.high[record.source].max(record.last);
        put(&mut self.records, record.number, record);
        for (offset, number) in (record.first..=record.last).enumerate() {
            let place = record.place + offset;
            put(&mut self.places, place, (record.source, number));
            put(&mut self.placed[record.source], number, place);
            if record.weak.has(offset) {
                self.weak.add(place);
            }
        }
    }

    /// The highest causal or stronger number of a stream that is delivered here.
    pub(crate) fn highest_causal(&self, source: usize) -> usize {
        let named = |packet: &&Packet| packet.service >= Service::Causal && self.is_delivered(**packet);
        self.streams[source].iter().rev().flatten().find(named).map_or(0, |packet| packet.number)
    }

    /// The first number of a stream that is held and has no place, or 0.
    pub(crate) fn first_unordered(&self, source: usize) -> usize {
        let number = self.placed[source].iter().take_while(|place| place.is_some()).count() + 1;
        self.packet(source, number).map_or(0, |packet| packet.number)
    }

    /// Packets that somebody spoke of and that are not held: at most so many.
    pub(crate) fn missing_packets(&self, most: usize) -> Vec<(usize, usize)> {
        let each = |source: usize| (1..=self.high[source]).map(move |number| (source, number));
        let all = self.members.iter().flat_map(each);
        all.filter(|(source, number)| self.packet(*source, *number).is_none()).take(most).collect()
    }

    /// Records that somebody spoke of and that are not held.
    pub(crate) fn missing_records(&self, most: usize) -> Vec<usize> {
        (1..=self.last_record).filter(|number| self.record(*number).is_none()).take(most).collect()
    }

    /// Whether a message is delivered.
    pub(crate) fn is_delivered(&self, packet: Packet) -> bool {
        self.delivered.has(packet.uid)
    }

    /// Delivers, unless it is delivered.
    pub(crate) fn deliver(&mut self, packet: Packet, place: Place, out: &mut Vec<Delivery>) {
        if !self.is_delivered(packet) {
            self.delivered.add(packet.uid);
            let place = if packet.service.is_ordered() { place } else { Place::None };
            out.push(Delivery { uid: packet.uid, place });
        }
    }

    /// Whether everything that is FIFO or stronger before it in its stream is delivered, and the
    /// stream is whole up to it.
    pub(crate) fn is_next_of_stream(&mut self, packet: Packet) -> bool {
        self.advance(packet.source);
        self.done[packet.source] + 1 >= packet.number
    }

    /// Whether what it names of other streams is delivered.
    pub(crate) fn has_what_it_names(&self, packet: Packet) -> bool {
        packet.service < Service::Causal
            || self.members.iter().all(|source| {
                let number = packet.names[source];
                number == 0 || self.packet(source, number).is_some_and(|named| self.is_delivered(named))
            })
    }

    fn advance(&mut self, source: usize) {
        while let Some(next) = self.packet(source, self.done[source] + 1) {
            if next.service >= Service::Fifo && !self.is_delivered(next) {
                break;
            }
            self.done[source] += 1;
        }
    }

    /// Delivers all that may be delivered: early, and in order.
    pub(crate) fn deliver_all(&mut self, rules: Rules, out: &mut Vec<Delivery>) {
        self.early(rules, out);
        while self.step(rules, out) {
            self.early(rules, out);
        }
        while at(&self.places, self.held + 1)
            .is_some_and(|(source, number)| self.packet(source, number).is_some())
        {
            self.held += 1;
        }
    }

    /// Delivers what waits for no order.
    fn early(&mut self, rules: Rules, out: &mut Vec<Delivery>) {
        if !rules.keep(Rule::AtOnce) {
            return;
        }
        let mut moved = true;
        while moved {
            moved = false;
            for source in self.members.iter() {
                self.advance(source);
                while let Some(next) = self.packet(source, self.done[source] + 1) {
                    if next.service.is_ordered() || !self.has_what_it_names(next) {
                        break;
                    }
                    self.deliver(next, Place::None, out);
                    self.advance(source);
                    moved = true;
                }
            }
        }
    }

    /// Delivers at the next place of the order. Whether it could.
    fn step(&mut self, rules: Rules, out: &mut Vec<Delivery>) -> bool {
        let Some((source, number)) = self.at_place(self.next) else { return false };
        let Some(packet) = self.packet(source, number) else {
            let goes_on = !rules.keep(Rule::Prior) && self.weak.has(self.next);
            self.next += usize::from(goes_on);
            return goes_on;
        };
        if packet.service == Service::Safe && self.safe < self.next {
            return false;
        }
        self.deliver(packet, Place::Known(self.next), out);
        self.next += 1;
        true
    }
}
