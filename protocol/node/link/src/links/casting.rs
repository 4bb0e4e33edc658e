//! What goes to all members in one datagram, and what comes so (LINK-37 to LINK-39).

use super::parts::Parts;
use crate::call::Around;
use crate::cast::CastProbe;
use crate::message::{Control, RING_PROBE, is_ring_data};
use crate::{Channel, LinkError, Output};
use bytes::BytesMut;
use folkmoot_base::{Danger, Entropy, Instant, Locator, NodeId};

impl Parts {
    /// A configuration of us and these begins, or (with nobody in it) ends. The host hears where
    /// they are, so that it can reach all at once.
    pub(super) fn keep_company(&mut self, now: Instant, nodes: Vec<NodeId>, around: &mut Around<'_>) {
        self.cast.begin(now, &nodes);
        let places = nodes.iter().filter_map(|node| self.peers.locator(node)).collect();
        around.out.say(Output::Together { places });
        self.peers.keep_company(now, nodes, around);
    }

    /// Tries or checks whether all others hear what this node sends to all.
    pub(super) fn try_all(&mut self, now: Instant, around: &mut Around<'_>) {
        if self.cast.due().is_none_or(|due| now < due) {
            return;
        }
        let before = self.cast.works();
        let all = self.rings.installed().zip(self.peers.paths(self.cast.others()));
        let probe = match all {
            Some((ring, paths)) => self.cast.advance(now, ring, paths),
            // There is no ring key, or no link to one of them.
            None => {
                self.cast.rest(now);
                None
            }
        };
        if let Some(CastProbe { at, number, bytes }) = probe
            && let Some(datagram) = self.rings.probe(number, bytes, around)
        {
            around.out.say(Output::Probe { to: at, datagram });
        }
        if before && !self.cast.works() {
            let text = "not all members hear multicasts of this node: packets go to each by itself (LINK-39)";
            around.out.trace(text.into());
        }
    }

    /// LINK-37: what came to all is a packet of the ring, or a probe. Anything else is refused:
    /// each receiver would answer it.
    pub(super) fn came_to_all(
        &mut self,
        now: Instant,
        from: &Locator,
        datagram: BytesMut,
        entropy: &mut dyn Entropy,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        if !is_ring_data(&datagram) {
            return if around.own.is(Danger::LinkTakesAnyToAll) {
                self.datagram(now, from, datagram, entropy, around)
            } else {
                Err(LinkError::WireToAll(from.clone()))
            };
        }
        let (node, header, frame) = self.rings.open(from, datagram, around)?;
        if header.class != RING_PROBE {
            around.out.say(Output::Frame { from: node, channel: Channel::Ring, frame });
            return Ok(());
        }
        let installed = self.rings.installed() == Some(header.ring);
        if !installed || !self.cast.hear(node, header.number) {
            return Err(LinkError::WireReplayed(from.clone()));
        }
        self.peers.control(now, node, &Control::Heard { ring: header.ring, number: header.number }, around);
        Ok(())
    }

    /// Takes what members say of our probes.
    pub(super) fn hear_answers(&mut self, now: Instant, around: &mut Around<'_>) {
        while let Some((node, answer)) = self.peers.take_heard() {
            if self.cast.answered(now, &node, answer) {
                around.out.trace("all members hear multicasts of this node: packets go to all".into());
            }
        }
    }

    /// The system does not send datagrams of so many bytes to this locator.
    pub(super) fn too_long(&mut self, now: Instant, to: &Locator, bytes: usize, around: &mut Around<'_>) {
        if self.cast.is_at(to) {
            self.cast.rest(now);
        } else {
            self.peers.too_long(now, to, bytes, around);
        }
    }

    /// Somebody asks for packets again.
    pub(super) fn doubt(&mut self, around: &mut Around<'_>) {
        if let Some((_, wait)) = self.peers.paths(self.cast.others())
            && let Some(due) = self.cast.doubt(wait)
        {
            around.out.note(due);
        }
    }
}
