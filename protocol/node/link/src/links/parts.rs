//! The parts, where each datagram goes, and what goes between parts. No part knows another but by
//! what is handed to it in a call.

use crate::answers::{Answers, Hello};
use crate::call::Around;
use crate::cast::Cast;
use crate::dials::{Dials, Target};
use crate::formers::Formers;
use crate::handshake::Proved;
use crate::message::{Datagram, Part, RING_PROBE, is_ring_data, sealed_for};
use crate::peers::{Arrival, Peers};
use crate::rings::Rings;
use crate::routes::Route;
use crate::{Channel, Exchange, LinkError, Numbered, Output};
use bytes::{Bytes, BytesMut};
use core::ops::Range;
use folkmoot_base::{Entropy, Instant, Locator, NodeId, Train};

/// The parts.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) peers: Peers,
    dials: Dials,
    answers: Answers,
    formers: Formers,
    pub(super) rings: Rings,
    pub(super) cast: Cast,
    /// Packets of a train: who numbered each, and where it is. Empty between calls.
    opened: Vec<(NodeId, Range<usize>)>,
}

impl Parts {
    pub(super) fn new(entropy: &mut dyn Entropy) -> Self {
        Self {
            peers: Peers::default(),
            dials: Dials::default(),
            answers: Answers::new(entropy),
            formers: Formers::default(),
            rings: Rings::default(),
            cast: Cast::default(),
            opened: Vec::new(),
        }
    }

    /// A dial does nothing if its locator or node has a link already, or is being dialled
    /// (LINK-20).
    pub(super) fn dial(
        &mut self,
        now: Instant,
        at: Locator,
        node: Option<NodeId>,
        entropy: &mut dyn Entropy,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        if node == Some(around.own.node()) {
            return Err(LinkError::LocalSelf(at));
        }
        let target = Target { at, node, rekey: false };
        if self.dials.runs(&target) || self.peers.reach(&target.at, node) {
            return Ok(());
        }
        self.dials.start(now, target, entropy, around)
    }

    /// Dials for new keys.
    fn rekey(
        &mut self,
        now: Instant,
        (node, at): (NodeId, Locator),
        entropy: &mut dyn Entropy,
        around: &mut Around<'_>,
    ) {
        let target = Target { at, node: Some(node), rekey: true };
        if !self.dials.runs(&target) {
            let _ = self.dials.start(now, target, entropy, around);
        }
    }

    /// Every part does what is due, and says when it is due again.
    pub(super) fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy, around: &mut Around<'_>) {
        self.dials.redial(now, around);
        self.answers.expire(now, around.routes);
        self.formers.expire(now, around.routes);
        for node in self.peers.nodes() {
            let Some((due, renewal)) = self.peers.watch(now, node, around) else { continue };
            if let Some(at) = renewal {
                self.rekey(now, (node, at), entropy, around);
            }
            self.peers.tell(now, node, due, around);
        }
        self.try_all(now, around);
        let peers = self.peers.due(around.own);
        let due = [self.dials.due(), self.answers.due(), self.formers.due(), peers, self.cast.due()];
        around.out.wake_at(due.into_iter().flatten().min());
    }

    pub(super) fn datagram(
        &mut self,
        now: Instant,
        from: &Locator,
        datagram: BytesMut,
        entropy: &mut dyn Entropy,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        let malformed = |error| LinkError::WireMalformed(from.clone(), error);
        if let Some(to) = sealed_for(&datagram).map_err(malformed)? {
            return self.data(now, (from, to), datagram, entropy, around);
        }
        if is_ring_data(&datagram) {
            let (node, header, frame) = self.rings.open(from, datagram, around)?;
            if header.class == RING_PROBE {
                return Err(LinkError::WireReplayed(from.clone())); // It came to all, not to us alone.
            }
            around.out.say(Output::Frame { from: node, channel: Channel::Ring, frame });
            return Ok(());
        }
        let hello = |index: u32, noise: Bytes| Hello { from: from.clone(), index, noise };
        // A copy of its own: what a handshake keeps must not hold the memory of other datagrams.
        match Datagram::decode(&Bytes::copy_from_slice(&datagram)).map_err(malformed)? {
            Datagram::Data { .. } | Datagram::Ring(_) => Ok(()), // It was taken above.
            Datagram::Hello { from: index, cookie, noise } => {
                let hello = (Exchange::Classical, hello(index, Bytes::copy_from_slice(&noise)));
                self.answers.hello(now, hello, &cookie, entropy, around)
            }
            Datagram::HybridHello { from: index, cookie, noise } => {
                self.answers.hello(now, (Exchange::Hybrid, hello(index, noise)), &cookie, entropy, around)
            }
            Datagram::Refusal { to, asks } => self.dials.refusal(from, to, asks, around),
            Datagram::Retry { to, cookie } => self.dials.retry(now, from, to, cookie, around),
            Datagram::Reply(part) => self.dials.reply(now, from, &part, around),
            Datagram::Finish(part) => self.finish(now, from, &part, around),
        }
    }

    /// Takes the packets of the ring at the front of a train. They are opened where they are, and
    /// share its memory from then on. Whether there were any.
    pub(super) fn ring_packets(
        &mut self,
        from: &Locator,
        train: &mut Train,
        around: &mut Around<'_>,
    ) -> bool {
        let mut opened = core::mem::take(&mut self.opened);
        self.rings.open_train(from, train, &mut opened, around);
        let any = !opened.is_empty();
        if any {
            let whole = train.take(opened.len());
            for (from, place) in opened.drain(..) {
                let frame = whole.slice(place);
                around.out.say(Output::Frame { from, channel: Channel::Ring, frame });
            }
        }
        self.opened = opened;
        any
    }

    /// Sends a packet of the ring to all of `to`: sealed once under the ring key if that may be,
    /// else under the keys of each link. Whoever has no link here does not get it. In the first
    /// case it goes to all in one datagram, if all hear that (LINK-38).
    pub(super) fn multicast(
        &mut self,
        now: Instant,
        to: &[NodeId],
        packet: &[u8],
        around: &mut Around<'_>,
    ) -> Option<Numbered> {
        let Some((datagram, numbered)) = self.rings.seal(packet, around) else {
            for node in to {
                let _ = self.peers.send(now, *node, Channel::Ring, &[packet], around);
            }
            return None;
        };
        // Whatever was handed in before goes first: the token, if the packet is to follow it.
        while self.peers.flush_next(around) {}
        match self.cast.takes(now, to.len(), datagram.len()) {
            Some((at, check)) => {
                around.out.note(check);
                around.out.count_to_all();
                around.out.transmit(at, [datagram]);
            }
            None => self.peers.spread(now, to, (&datagram, packet), around),
        }
        Some(numbered)
    }

    /// Sealed data: its index says whose it is.
    fn data(
        &mut self,
        now: Instant,
        (from, to): (&Locator, u32),
        datagram: BytesMut,
        entropy: &mut dyn Entropy,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        match around.routes.get(to) {
            Some(Route::Peer(node)) => {
                let plaintext = self.peers.open(now, (node, to), from, datagram, (entropy, around))?;
                let taken = self.peers.take(now, (node, from), plaintext, around);
                self.hear_answers(now, around);
                taken
            }
            Some(Route::Former(node)) => {
                let later = self.peers.start(&node);
                Err(self.formers.hear(now, (from, node), datagram, later, around.out))
            }
            Some(Route::Dial) => {
                let (proved, plaintext) = self.dials.confirm(now, from, to, datagram, around)?;
                let node = proved.claim.node;
                self.establish(now, from, proved, true, around)?;
                self.peers.take(now, (node, from), plaintext, around)
            }
            Some(Route::HalfOpen) | None => Err(LinkError::WireUnknown(from.clone())),
        }
    }

    /// A part of a Finish: its index says whose it is.
    fn finish(
        &mut self,
        now: Instant,
        from: &Locator,
        part: &Part,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        match around.routes.get(part.to) {
            Some(Route::Peer(node)) => self.peers.confirm(now, node, around),
            Some(Route::Former(node)) => {
                self.formers.show(now, node, self.peers.start(&node), around.out);
            }
            Some(Route::HalfOpen) => {
                if let Some(proved) = self.answers.finish(now, from, part, around)? {
                    self.establish(now, from, proved, false, around)?;
                }
            }
            Some(Route::Dial) | None => return Err(LinkError::WireUnknown(from.clone())),
        }
        Ok(())
    }

    /// A handshake has proved an identity. An earlier process that had the link, or comes too late
    /// for it, is told so.
    fn establish(
        &mut self,
        now: Instant,
        at: &Locator,
        proved: Proved,
        dialled: bool,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        let node = proved.claim.node;
        match self.peers.establish(now, at, proved, dialled, around)? {
            Arrival::Linked(None) => {}
            Arrival::Linked(Some(former)) => {
                self.formers.supersede(now, node, former, self.peers.start(&node), around);
            }
            Arrival::Earlier(association) => {
                let earlier = (at.clone(), association);
                self.formers.supersede(now, node, earlier, self.peers.start(&node), around);
                self.formers.name(node, at, around.out);
                return Err(LinkError::PeerEarlier(node));
            }
        }
        if !dialled {
            self.peers.ping(now, node, around);
        }
        around.out.note(now + around.own.silence() / 8);
        Ok(())
    }
}
