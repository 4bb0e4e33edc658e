//! The packets of one configuration at this node, and their delivery in order.

use crate::data::{Class, Data, Part, Piece, RingHandle};
use crate::message::RingNonce;
use crate::output::{Delivery, Output};
use crate::queue::LINES;
use crate::store::Store;
use bytes::Bytes;
use folkmoot_base::limits::{ORDERED_BYTES_MAX, SEND_QUEUE_BYTES_MAX};
use folkmoot_base::{ConfigurationId, Danger, Mutant, NodeId, Pool, Service};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bits of a delivery's order number that count the pieces in a packet.
const ORDER_PIECE_BITS: u32 = 11;
const _: () = assert!(folkmoot_base::limits::FRAME_BYTES_MAX < 1 << ORDER_PIECE_BITS);

/// Lists of pieces with room for more than this are not kept for the next message.
const SPARE_PIECES_MAX: usize = 64;

/// A message of which some pieces have come.
#[derive(Debug)]
struct Partial {
    message: u16,
    pieces: Vec<Bytes>,
    length: usize,
}

/// One configuration's order at this node.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) id: ConfigurationId,
    pub(crate) members: Arc<[NodeId]>,
    pub(crate) store: Store,
    /// All packets up to here have been delivered.
    pub(crate) delivered: u64,
    /// All members are known to have all packets up to here.
    pub(crate) safe: u64,
    /// Members, by index, whose packets must be delivered even after a hole: another member may
    /// have delivered them already.
    pub(crate) obligations: u64,
    /// By sender, in the order in which they began.
    partials: Vec<VecDeque<Partial>>,
    /// Room for pieces, and for what they are joined to.
    spare: Vec<Vec<Bytes>>,
    pool: Pool,
    mine: u8,
    pub(crate) danger: Mutant,
    /// Bytes of messages that came in pieces, as they were joined.
    pub(crate) copied: u64,
}

impl Stream {
    pub(crate) fn new(id: ConfigurationId, members: Arc<[NodeId]>, mine: u8, danger: Mutant) -> Self {
        let partials = members.iter().map(|_| VecDeque::new()).collect();
        Self {
            id,
            members,
            store: Store::default(),
            delivered: 0,
            safe: 0,
            obligations: 0,
            partials,
            spare: Vec::new(),
            pool: Pool::default(),
            mine,
            danger,
            copied: 0,
        }
    }

    pub(crate) fn ring(&self) -> RingNonce {
        self.id.nonce
    }

    pub(crate) fn handle(&self) -> RingHandle {
        RingHandle::of(&self.id.nonce)
    }

    /// The bit of `node` in sets of members of this configuration; 0 for other nodes.
    pub(crate) fn bit(&self, node: &NodeId) -> u64 {
        self.members.binary_search(node).map_or(0, bit)
    }

    /// The next packet whose turn it is, if it is here and may be delivered.
    pub(crate) fn next_ready(&mut self, messages_too: bool) -> Option<Data> {
        let seq = self.delivered.saturating_add(1);
        let packet = self.store.get(seq)?;
        let unsafe_yet = packet.class == Class::Safe && seq > self.safe;
        if unsafe_yet && !self.danger.is(Danger::RingSafeAsAgreed) {
            return None;
        }
        if !messages_too && matches!(packet.class, Class::Agreed | Class::Safe) {
            return None;
        }
        let packet = packet.clone();
        self.delivered = seq;
        Some(packet)
    }

    /// Delivers every message whose turn it is, and forgets what nobody needs any more.
    pub(crate) fn deliver_ready(&mut self, out: &mut VecDeque<Output>) {
        while let Some(packet) = self.next_ready(true) {
            if !self.danger.is(Danger::RingNoOrder) || packet.sender == self.mine {
                self.emit(&packet, false, out);
            }
        }
        self.store.discard(self.safe.min(self.delivered));
    }

    /// Delivers the messages that `packet` completes.
    pub(crate) fn emit(&mut self, packet: &Data, transitional: bool, out: &mut VecDeque<Output>) {
        let service = match packet.class {
            Class::Agreed => Service::Agreed,
            Class::Safe => Service::Safe,
            Class::Recovered | Class::End => return,
        };
        let Some(&sender) = self.members.get(usize::from(packet.sender)) else { return };
        for (index, piece) in packet.pieces().enumerate() {
            let Some(payload) = self.join_pieces(packet.sender, piece) else { continue };
            let index = u64::try_from(index).unwrap_or_default();
            let order = (packet.seq << ORDER_PIECE_BITS) | index;
            let configuration = self.id;
            out.push_back(Output::Deliver(Delivery {
                configuration,
                order,
                sender,
                service,
                payload,
                transitional,
            }));
        }
    }

    /// The message that `piece` completes. What is dropped, all drop alike: they have the same
    /// packets (RING-12).
    fn join_pieces(&mut self, sender: u8, piece: Piece) -> Option<Bytes> {
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

    /// Ends the configuration: delivers what is left by the one line and the rule for holes (O2).
    pub(crate) fn finish(
        mut self,
        line: u64,
        survivors: &[NodeId],
        obligations: u64,
        out: &mut VecDeque<Output>,
    ) {
        while self.delivered < line {
            self.delivered = self.delivered.saturating_add(1);
            if let Some(packet) = self.store.get(self.delivered).cloned() {
                self.emit(&packet, false, out);
            }
        }
        out.push_back(Output::Transitional { from: self.id, survivors: survivors.to_vec() });
        let trusted = survivors.iter().fold(obligations, |set, node| set | self.bit(node));
        let mut hole = false;
        for seq in self.delivered.saturating_add(1)..=self.store.high() {
            match self.store.get(seq).cloned() {
                None => hole = true,
                Some(packet) if hole && trusted & bit(usize::from(packet.sender)) == 0 => {}
                Some(packet) => self.emit(&packet, true, out),
            }
        }
    }
}

/// The bit of the member with `index`.
pub(crate) fn bit(index: usize) -> u64 {
    u32::try_from(index).ok().and_then(|index| 1_u64.checked_shl(index)).unwrap_or(0)
}
