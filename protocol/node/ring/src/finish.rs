//! The end of a configuration: what each survivor delivers of it, and in which order.
//!
//! ```text
//! the line                 signal   reliable, the known order to its first hole, what is owed,
//! (O2, before the signal)           the known order past it, what no known record names, what is left
//! ```
//! What is owed was delivered early by a survivor, and so was all that it depends on. So nothing
//! that it depends on is past the hole, and it goes before everything that may depend on it.

use crate::data::Data;
use crate::order::{Order, PIECE_BITS, bit, place_order};
use crate::output::Output;
use crate::stream::Stream;
use folkmoot_base::{Danger, NodeId};
use std::collections::VecDeque;

/// Bits of a delivery's order number for the number of a packet in its stream.
const NUMBER_BITS: u32 = 32;
/// ORD-14: set in the order number of what no known record names. So it is behind all places.
const BEHIND: u64 = 1 << 60;

impl Order {
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
            self.give(record.source, number, place_order(self.delivered.place), false, out);
        }
        out.push_back(Output::Transitional { from: self.id, survivors: survivors.to_vec() });
        let trusted = survivors.iter().fold(obligations, |set, node| set | self.bit(node));
        let signal = out.len();
        self.finish_reliable(trusted, out);
        self.finish_known(trusted, out);
        if self.danger.is(Danger::RingSortsKnown) {
            let sender =
                |output: &Output| if let Output::Deliver(d) = output { Some(d.sender) } else { None };
            out.make_contiguous().split_at_mut(signal).1.sort_by_key(sender);
        }
        self.finish_rest(trusted, out);
        self.finish_weaker(trusted, out);
    }

    fn sources(&self) -> impl Iterator<Item = u8> + use<> {
        (0..self.members.len()).filter_map(|index| u8::try_from(index).ok())
    }

    /// ORD-12: reliable messages wait for nothing, whoever sent them.
    fn finish_reliable(&mut self, trusted: u64, out: &mut VecDeque<Output>) {
        for source in self.sources() {
            if !self.may_be_early(source, trusted) {
                continue;
            }
            let numbers = self.streams.get(usize::from(source)).map(Stream::reliable).unwrap_or_default();
            for number in numbers {
                let stream = self.streams.get_mut(usize::from(source));
                if let Some(packet) = stream.and_then(|stream| stream.take_reliable(number)) {
                    self.emit(&packet, 0, true, out);
                }
            }
        }
    }

    /// ORD-10: the rest of the known order. At a hole comes what is owed, and past it only what is
    /// of trusted senders.
    fn finish_known(&mut self, trusted: u64, out: &mut VecDeque<Output>) {
        let mut hole = false;
        let mut skip = self.delivered.taken;
        for number in self.delivered.record.saturating_add(1)..=self.records.high() {
            let record = self.records.get(number).copied();
            let packets = record.map_or(0..1, |record| core::mem::take(&mut skip)..u64::from(record.count));
            for offset in packets {
                let at = record.map(|record| (record, record.first.saturating_add(offset)));
                let held = at.filter(|(record, number)| self.packet(record.source, *number).is_some());
                let Some((record, number)) = held else {
                    if !core::mem::replace(&mut hole, true) {
                        self.finish_owed(trusted, out);
                    }
                    skip = 0;
                    continue;
                };
                if !hole || trusted & bit(record.source.into()) != 0 {
                    let order = place_order(record.place.saturating_add(offset));
                    self.give(record.source, number, order, true, out);
                }
            }
        }
        if !hole {
            self.finish_owed(trusted, out);
        }
    }

    /// Whether what is early of this sender is delivered behind the signal: of anybody, but for a
    /// mutant.
    fn may_be_early(&self, source: u8, trusted: u64) -> bool {
        trusted & bit(source.into()) != 0 || !self.danger.is(Danger::RingDeniesEarly)
    }

    /// ORD-13: what a survivor delivered early, in the order of its streams, and behind what it
    /// names.
    fn finish_owed(&mut self, trusted: u64, out: &mut VecDeque<Output>) {
        let early = |source: &u8| self.may_be_early(*source, trusted);
        let owed = |source: u8| self.streams.get(usize::from(source)).map(Stream::owed).unwrap_or_default();
        let mut left: Vec<(u8, VecDeque<u64>)> =
            self.sources().filter(early).map(|source| (source, owed(source).into())).collect();
        let mut liars = false;
        loop {
            let mut any = false;
            for (source, numbers) in &mut left {
                while let Some(number) = numbers.front().copied() {
                    if self.waits(usize::from(*source), number) && !liars {
                        break;
                    }
                    numbers.pop_front();
                    self.give(*source, number, 0, true, out);
                    any = true;
                }
            }
            // Of what is left, somebody lied: whoever delivered it had delivered all that it names.
            if !any && core::mem::replace(&mut liars, true) {
                return;
            }
        }
    }

    /// ORD-11, ORD-14: what no known record names of trusted senders, by sender and number.
    fn finish_rest(&mut self, trusted: u64, out: &mut VecDeque<Output>) {
        for source in self.sources().filter(|source| trusted & bit((*source).into()) != 0) {
            let mut number = self.placed(source);
            loop {
                number = number.saturating_add(1);
                if self.packet(source, number).is_none() {
                    break;
                }
                let order = BEHIND | u64::from(source) << (NUMBER_BITS + PIECE_BITS) | place_order(number);
                self.give(source, number, order, true, out);
            }
        }
    }

    fn next_weaker(&mut self, source: u8, trusted: u64) -> Option<Data> {
        self.may_be_early(source, trusted).then(|| self.take_early(usize::from(source))).flatten()
    }

    /// ORD-12: FIFO and causal of other senders, up to what is missing of their stream or not
    /// delivered, and causal only if what it names is delivered.
    fn finish_weaker(&mut self, trusted: u64, out: &mut VecDeque<Output>) {
        let mut any = true;
        while core::mem::take(&mut any) {
            for source in self.sources() {
                while let Some(packet) = self.next_weaker(source, trusted) {
                    self.emit(&packet, 0, true, out);
                    any = true;
                }
            }
        }
        for source in self.sources() {
            if !self.may_be_early(source, trusted) {
                continue;
            }
            if self.danger.is(Danger::RingOvertakesUndelivered) {
                let high = self.streams.get(usize::from(source)).map_or(0, Stream::high);
                for number in 1..=high {
                    if self.packet(source, number).is_some_and(|packet| packet.class.is_early()) {
                        self.give(source, number, 0, true, out);
                    }
                }
            }
        }
    }
}
