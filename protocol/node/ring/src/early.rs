//! ORD-07, ORD-17: what is delivered without a place: reliable messages on arrival, FIFO and causal
//! ones when their stream is whole up to them and what is FIFO or stronger before them is
//! delivered, causal ones when also all that they name is delivered.

use crate::data::{Class, Data};
use crate::given::Span;
use crate::names::Name;
use crate::order::{Order, bit};
use crate::output::{Delivery, Output};
use crate::pieces::Whole;
use crate::stream::Stream;
use bytes::Bytes;
use folkmoot_base::{Danger, Lead, NodeId, Service};
use std::collections::VecDeque;

impl Order {
    /// Delivers what waits for no place.
    pub(crate) fn deliver_early(&mut self, out: &mut VecDeque<Output>) {
        if self.danger.is(Danger::RingNothingEarly) {
            return;
        }
        let any = self.danger.is(Danger::RingFifoOnArrival);
        let take = if any { Stream::take } else { Stream::take_reliable };
        while let Some((source, number)) = self.overtook.pop_front() {
            if let Some(packet) = self.streams.get_mut(usize::from(source)).and_then(|s| take(s, number)) {
                self.emit_early(&packet, out);
            }
        }
        while self.news != 0 {
            let index = usize::try_from(self.news.trailing_zeros()).unwrap_or(0);
            match self.take_early(index) {
                Some(packet) => self.emit_early(&packet, out),
                None => self.news &= !bit(index),
            }
        }
    }

    /// Takes the next packet of this stream that is delivered without a place.
    pub(crate) fn take_early(&mut self, index: usize) -> Option<Data> {
        let stream = self.streams.get_mut(index)?;
        let reliable = stream.take_joined();
        if reliable.is_some() {
            return reliable;
        }
        let next = stream.next_early()?;
        if self.waits(index, next) {
            self.blocked |= bit(index);
            return None;
        }
        let packet = self.streams.get_mut(index)?.take(next);
        self.unblock();
        packet
    }

    /// ORD-17: whether this packet names something that has not been delivered.
    pub(crate) fn waits(&self, index: usize, number: u64) -> bool {
        let packet = self.streams.get(index).and_then(|stream| stream.packet(number));
        let delivered = |name: &Name| {
            self.streams.get(usize::from(name.source)).is_some_and(|stream| stream.has_done(name.number))
        };
        let ignored = self.danger.is(Danger::RingCausalAsFifo);
        packet.is_some_and(|packet| !packet.names().all(|name| delivered(&name))) && !ignored
    }

    /// Something that may be named has been delivered: whatever waits for it is looked at again.
    pub(crate) fn unblock(&mut self) {
        self.news |= core::mem::take(&mut self.blocked);
    }

    /// ORD-17: what the next causal packet of this node names.
    pub(crate) fn names(&self) -> impl Iterator<Item = Name> + Clone + '_ {
        (0_u8..).zip(&self.streams).filter_map(|(source, stream)| {
            let number = stream.unnamed().filter(|_| source != self.mine)?;
            Some(Name { source, number })
        })
    }

    fn emit_early(&mut self, packet: &Data, out: &mut VecDeque<Output>) {
        let placed = self.placed(packet.sender) >= packet.number;
        if packet.sender != self.mine && !placed {
            self.unsettled.early(packet.sender, packet.number);
        }
        self.emit(packet, 0, false, out);
    }

    /// Delivers an unreliable message of this member.
    pub(crate) fn emit_unreliable(&self, sender: NodeId, payload: Bytes, out: &mut VecDeque<Output>) {
        let (configuration, service) = (self.id, Service::Unreliable);
        let (order, transitional, lead, payload) = (None, false, Lead::NONE, payload.into());
        let delivery = Delivery { configuration, order, sender, service, lead, payload, transitional };
        out.push_back(Output::Deliver(delivery));
    }

    /// Keeps a packet that this node numbers, and the messages in pieces that end in it.
    pub(crate) fn keep_own(&mut self, packet: Data, ends: impl FnMut() -> Option<Whole>) {
        self.own.extend(core::iter::from_fn(ends));
        if packet.class.service() >= Some(Service::Causal) {
            self.settle();
            self.unsettled.numbered(packet.number);
            self.streams.iter_mut().for_each(Stream::name);
        }
        self.keep(packet);
    }

    /// What was delivered early here, and has places by now, is waited for no more.
    pub(crate) fn settle(&mut self) {
        let streams = &self.streams;
        let placed = |source: u8| streams.get(usize::from(source)).map_or(u64::MAX, |stream| stream.placed);
        self.unsettled.settle(placed);
    }

    /// The first packet of this node that waits for the places of what was delivered here before.
    pub(crate) fn held_back(&self) -> Option<u64> {
        Some(self.unsettled.bound()).filter(|bound| *bound < u64::MAX)
    }

    /// Notes that a packet has come, which may be delivered without a place.
    pub(crate) fn note_early(&mut self, (source, number): (u8, u64), class: Class, in_pieces: bool) {
        self.news |= bit(usize::from(source));
        let on_arrival = class == Class::Fifo && self.danger.is(Danger::RingFifoOnArrival);
        if class == Class::Reliable && !in_pieces || on_arrival {
            self.overtook.push_back((source, number));
        }
    }

    /// What this node delivered early and others may not have, or owes.
    pub(crate) fn given(&self) -> Vec<Span> {
        let streams = (0_u8..).zip(&self.streams);
        streams.flat_map(|(source, stream)| stream.given(source)).collect()
    }
}
