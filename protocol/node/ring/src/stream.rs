//! The stream of one member: what of it is here, and what of that has been delivered.
//!
//! ```text
//! number     1      2      3      4     5     6      7
//! class      FIFO   agr.   FIFO   rel.  FIFO  -      rel.
//! delivered  yes    yes    yes    yes   no    lost   yes: a reliable message waits for nothing
//! ```

use crate::data::{Class, Data};
use crate::given::Span;
use crate::window::{Stored, Window};

/// A packet that is kept.
#[derive(Debug)]
struct Kept {
    packet: Data,
    /// If it is reliable: it has been delivered.
    given: bool,
    /// ORD-13: a survivor delivered it early.
    owed: bool,
}

impl Kept {
    fn is_reliable(&self) -> bool {
        self.packet.class == Class::Reliable
    }

    /// Whether it is reliable, and its messages wait for nothing: a message in several packets
    /// needs all of them.
    fn is_whole(&self) -> bool {
        self.is_reliable() && !self.packet.is_in_pieces()
    }
}

/// One member's stream.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    packets: Window<Kept>,
    /// The last of its packets that a known record names.
    pub(crate) placed: u64,
    /// ORD-07: all up to here is here, and what of it is FIFO or stronger has been delivered.
    done: u64,
    /// Reliable packets up to here have been delivered.
    joined: u64,
    /// The last packet that is causal or stronger and has been delivered.
    strong: u64,
    /// The same, when this node last numbered such a packet.
    named: u64,
}

impl Stream {
    pub(crate) fn high(&self) -> u64 {
        self.packets.high()
    }

    pub(crate) fn has(&self, number: u64) -> bool {
        self.packets.has(number)
    }

    pub(crate) fn packet(&self, number: u64) -> Option<&Data> {
        self.packets.get(number).map(|kept| &kept.packet)
    }

    /// The packets, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Data)> {
        self.packets.iter().map(|(number, kept)| (number, &kept.packet))
    }

    pub(crate) fn insert(&mut self, packet: Data) -> Stored {
        self.packets.insert(packet.number, Kept { packet, given: false, owed: false })
    }

    pub(crate) fn discard(&mut self, number: u64) -> usize {
        self.packets.discard(number)
    }

    /// Delivers a packet, unless it has been delivered. What is FIFO or stronger before it has
    /// been, or never will be.
    pub(crate) fn take(&mut self, number: u64) -> Option<Data> {
        let kept = self.packets.get_mut(number)?;
        let given = if kept.is_reliable() {
            core::mem::replace(&mut kept.given, true)
        } else {
            let given = number <= self.done;
            self.done = self.done.max(number);
            if kept.packet.class != Class::Fifo {
                self.strong = self.strong.max(number);
            }
            given
        };
        (!given).then(|| kept.packet.clone())
    }

    /// ORD-07: delivers this packet if it is reliable and waits for nothing.
    pub(crate) fn take_reliable(&mut self, number: u64) -> Option<Data> {
        let waits = number > self.packets.aru();
        self.packets.get(number).filter(|kept| kept.is_reliable() && (kept.is_whole() || !waits))?;
        self.take(number)
    }

    /// ORD-07: delivers the next packet that is reliable in several packets, and up to which the
    /// stream is whole.
    pub(crate) fn take_joined(&mut self) -> Option<Data> {
        while self.joined < self.packets.aru() {
            self.joined = self.joined.saturating_add(1);
            let reliable = self.take_reliable(self.joined);
            if reliable.is_some() {
                return reliable;
            }
        }
        None
    }

    /// ORD-07: the next packet that is FIFO or causal, if all before it is here, and what of that
    /// is FIFO or stronger is delivered.
    pub(crate) fn next_early(&mut self) -> Option<u64> {
        loop {
            let next = self.done.saturating_add(1);
            match self.packets.get(next)?.packet.class {
                Class::Reliable => self.done = next,
                Class::Fifo | Class::Causal => return Some(next),
                _ => return None,
            }
        }
    }

    /// ORD-17: whether all up to here that is FIFO or stronger has been delivered.
    pub(crate) fn has_done(&self, number: u64) -> bool {
        self.done >= number
    }

    /// What of it the next causal packet of this node names.
    pub(crate) fn unnamed(&self) -> Option<u64> {
        (self.strong > self.named).then_some(self.strong)
    }

    /// This node has numbered a packet that is causal or stronger.
    pub(crate) fn name(&mut self) {
        self.named = self.strong;
    }

    /// What has been delivered early of what is kept, or is owed, in spans of numbers.
    pub(crate) fn given(&self, source: u8) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for (number, kept) in self.packets.iter() {
            let given = kept.given || number <= self.done && !kept.is_reliable();
            if !kept.packet.class.is_early() || !given && !kept.owed {
                continue;
            }
            match spans.last_mut().filter(|span| span.last.saturating_add(1) == number) {
                Some(span) => span.last = number,
                None => spans.push(Span { source, first: number, last: number }),
            }
        }
        spans
    }

    /// ORD-13: these are owed.
    pub(crate) fn owe(&mut self, span: &Span) {
        let within = |(number, _): &(u64, &mut Kept)| (span.first..=span.last).contains(number);
        self.packets.iter_mut().filter(within).for_each(|(_, kept)| kept.owed = true);
    }

    /// Only for a mutant.
    pub(crate) fn owe_nothing(&mut self) {
        self.packets.iter_mut().for_each(|(_, kept)| kept.owed = false);
    }

    /// The numbers of what is owed, and early.
    pub(crate) fn owed(&self) -> Vec<u64> {
        let owed = self.packets.iter().filter(|(_, kept)| kept.owed && kept.packet.class.is_early());
        owed.map(|(number, _)| number).collect()
    }

    /// The numbers of what is reliable.
    pub(crate) fn reliable(&self) -> Vec<u64> {
        let reliable = self.packets.iter().filter(|(_, kept)| kept.is_reliable());
        reliable.map(|(number, _)| number).collect()
    }
}
