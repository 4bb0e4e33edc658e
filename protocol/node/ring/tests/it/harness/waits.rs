//! What each service does not wait for: what has come to a node and may be delivered there is
//! delivered in the same step. The world reads what comes, in the clear, and judges each step of
//! an operational node.

use super::{Rng, World, index};
use bytes::Bytes;
use folkmoot_base::{Instant, NodeId};
use folkmoot_ring::Phase;
use folkmoot_ring::data::{Class, Data, RingHandle};
use folkmoot_ring::message::{Control, Frame, Token};
use std::collections::{BTreeMap, BTreeSet};

/// The beginning of a message: it is in no other.
type Name = [u8; 12];
/// A packet: the member that numbered it, and its number.
type Packet = (u8, u64);

/// Behind the last place of a sender so many of its packets are kept in any case (RING-28).
const KEPT: u64 = 200;
/// From this delay on, in microseconds, a token may wait before it counts (RING-41).
const FAR: u64 = 10_000;

/// What came to one process.
#[derive(Debug, Default)]
pub struct Waits {
    pub delivered: BTreeSet<Name>,
    /// By handle.
    rings: BTreeMap<[u8; 4], Came>,
}

/// What came of one configuration, and what was made there.
#[derive(Debug, Default)]
struct Came {
    /// Reliable and unreliable messages that were whole in the packet that has just come.
    whole: Vec<(Class, Name)>,
    packets: BTreeMap<Packet, Data>,
    places: BTreeMap<u64, Packet>,
    placed: BTreeMap<u8, u64>,
    /// All say that they hold the places up to here.
    safe: u64,
    /// How far each stream was read, and which messages end where; `None` is one without a name.
    read: BTreeMap<u8, u64>,
    open: BTreeMap<(u8, u8, u16), Option<Name>>,
    ends: BTreeMap<Packet, Vec<Option<Name>>>,
    /// How far the order is delivered, which packets that were, and how far each stream is.
    place: u64,
    passed: BTreeSet<Packet>,
    done: BTreeMap<u8, u64>,
}

pub fn name(bytes: &[u8]) -> Option<Name> {
    bytes.first_chunk().copied()
}

impl World {
    pub fn take(&mut self, now: Instant, to: usize, from: NodeId, bytes: Bytes) {
        self.frames += 1;
        self.comes(from, to, &bytes);
        let mut rng = Rng(self.rng.next());
        let Some(ring) = self.nodes[to].ring.as_mut() else { return };
        if let Err(error) = ring.frame(now, from, bytes, &mut rng) {
            self.errors.push(format!("n{to} from n{}: {error}", index(&from)));
        }
        self.drain(to);
    }

    /// A frame of `from` has come to `i`, or was made there.
    pub(super) fn comes(&mut self, from: NodeId, i: usize, frame: &Bytes) {
        let Some(status) = self.nodes[i].ring.as_ref().map(|ring| ring.status()) else { return };
        let made = |sender: &u8| status.members.get(usize::from(*sender)) == Some(&from);
        // Before the keys are here packets may be dropped. Unreliable ones count in a ring that
        // stands, and from their sender (RING-31).
        let stands = status.phase == Phase::Operational && frame.get(1).is_some_and(made);
        if status.phase == Phase::Gather || crate::is_unreliable(frame) && !stands {
            return;
        }
        let rings = &mut self.waits.entry(self.nodes[i].process).or_default().rings;
        match Frame::decode(frame.clone()) {
            Ok(Frame::Data(packet, record)) => {
                let came = rings.entry(packet.ring.0).or_default();
                came.take(packet);
                record.into_iter().for_each(|record| came.take(record));
            }
            Ok(Frame::Control(Control::Token(token))) if self.delay.0 < FAR => {
                rings.entry(RingHandle::of(&token.ring).0).or_default().token(&token);
            }
            _ => {}
        }
    }

    /// Whether `i` keeps back what it may deliver.
    pub(super) fn judge_waits(&mut self, i: usize) {
        let Some(status) = self.nodes[i].ring.as_ref().map(|ring| ring.status()) else { return };
        let Some(id) = status.configuration.filter(|_| status.phase == Phase::Operational) else { return };
        let waits = self.waits.entry(self.nodes[i].process).or_default();
        let Some(came) = waits.rings.get_mut(&RingHandle::of(&id.nonce).0) else { return };
        if let Some((class, what)) = came.overdue(&waits.delivered) {
            self.errors.push(format!("ORD-07: {class:?} is kept at n{i}: {}", super::message_name(&what)));
        }
    }
}

impl Came {
    fn take(&mut self, data: Data) {
        if let Some(record) = data.record() {
            return self.record(record.source, (record.place, record.first, record.count.into()));
        }
        let packet = (data.sender, data.number);
        let far = data.number > self.placed.get(&data.sender).unwrap_or(&0) + KEPT;
        if data.class != Class::Unreliable && (far || self.packets.contains_key(&packet)) {
            return;
        }
        if matches!(data.class, Class::Reliable | Class::Unreliable) {
            let whole = data.pieces().filter(|piece| piece.part.first && piece.part.last);
            self.whole.extend(whole.filter_map(|piece| Some((data.class, name(&piece.bytes)?))));
        }
        if data.class != Class::Unreliable {
            self.packets.insert(packet, data);
            self.read(packet.0);
        }
    }

    fn record(&mut self, source: u8, (place, first, count): (u64, u64, u64)) {
        self.places.extend((0..count).map(|at| (place + at, (source, first + at))));
        let placed = self.placed.entry(source).or_default();
        *placed = (first + count - 1).max(*placed);
    }

    fn token(&mut self, token: &Token) {
        for (source, member) in (0..).zip(token.members.iter()) {
            if let Some(record) = member.record {
                let (place, first) = (record.place.into(), record.first.into());
                self.record(source, (place, first, record.count.into()));
            }
        }
        let held = token.members.iter().map(|member| u64::from(member.held)).min();
        self.safe = held.unwrap_or(0).max(self.safe);
    }

    /// Reads each stream as far as it is whole: which messages end in which packet.
    fn read(&mut self, sender: u8) {
        let read = self.read.entry(sender).or_default();
        while let Some(data) = self.packets.get(&(sender, *read + 1)) {
            *read += 1;
            let kind = match data.class {
                Class::Agreed | Class::Safe => 0,
                Class::Fifo | Class::Causal => 1,
                Class::Reliable => 2,
                _ => continue,
            };
            let ends = self.ends.entry((sender, *read)).or_default();
            for piece in data.pieces() {
                let message = (sender, kind, piece.part.message);
                if piece.part.first {
                    self.open.insert(message, name(&piece.bytes));
                }
                if piece.part.last {
                    ends.push(self.open.remove(&message).flatten());
                }
            }
        }
    }

    /// A message that may be delivered, and is not.
    fn overdue(&mut self, delivered: &BTreeSet<Name>) -> Option<(Class, Name)> {
        let mut whole = std::mem::take(&mut self.whole).into_iter();
        if let Some(late) = whole.find(|(_, name)| !delivered.contains(name)) {
            return Some(late);
        }
        let missing =
            |ends: &Vec<Option<Name>>| ends.iter().flatten().find(|n| !delivered.contains(*n)).copied();
        // Agreed and safe: the order, as far as its packets are here. Safe: as far as all hold it.
        while let Some(packet) =
            self.places.get(&(self.place + 1)).filter(|p| self.read.get(&p.0) >= Some(&p.1))
        {
            let class = self.packets[packet].class;
            let late = self.ends.get(packet).and_then(missing);
            let waits = class == Class::Safe && self.place >= self.safe;
            if waits && (late.is_some() || self.ends[packet].is_empty()) {
                break;
            }
            if let Some(late) = late {
                return Some((class, late));
            }
            self.passed.insert(*packet);
            self.place += 1;
        }
        // Reliable, FIFO and causal: the streams.
        let mut moved = true;
        while std::mem::take(&mut moved) {
            for (sender, read) in &self.read {
                let done = self.done.get(sender).copied().unwrap_or(0);
                for number in done + 1..=*read {
                    let data = &self.packets[&(*sender, number)];
                    let named = data.names().all(|name| self.done.get(&name.source) >= Some(&name.number));
                    let waits = match data.class {
                        Class::Agreed | Class::Safe => true,
                        Class::Causal => !named,
                        _ => false,
                    };
                    if waits && !self.passed.contains(&(*sender, number)) {
                        break;
                    }
                    if let Some(late) = self.ends.get(&(*sender, number)).and_then(missing) {
                        return Some((data.class, late));
                    }
                    self.done.insert(*sender, number);
                    moved = true;
                }
            }
        }
        None
    }
}
