//! What time does to the peers, and what they are told unasked.

use super::Peers;
use crate::DownCause;
use crate::call::{Around, Me};
use crate::message::Control;
use folkmoot_base::{Digest, Instant, Locator, NodeId};

/// What a peer is to be told now.
#[derive(Debug)]
pub(crate) struct Due {
    ping: bool,
    certificate: bool,
    probe: bool,
}

impl Peers {
    /// A configuration begins, or (with nobody in it) ends: links that are not in it are watched as
    /// usual from now on.
    pub(crate) fn keep_company(&mut self, now: Instant, nodes: Vec<NodeId>, around: &mut Around<'_>) {
        let ring = self.company.begin(now, nodes);
        let mut rested = Vec::new();
        for (node, peer) in &mut self.all {
            rested.extend((peer.pulse.rests() && !self.company.has(node)).then_some(*node));
            peer.pulse.rest(self.company.has(node), ring);
        }
        // A gather goes by what round trips take now (LINK-36).
        rested.into_iter().for_each(|node| self.ping(now, node, around));
        around.out.note(now);
    }

    /// What time does to one peer: silence, pings, forgotten fragments, retired associations, new
    /// keys. If its link is still up, returns what to tell it, and where to dial for new keys
    /// before that.
    pub(crate) fn watch(
        &mut self,
        now: Instant,
        node: NodeId,
        around: &mut Around<'_>,
    ) -> Option<(Due, Option<Locator>)> {
        let peer = self.all.get_mut(&node)?;
        let (ping, gone) = self.company.watch_times(around.own, &node, (&peer.pulse, &peer.path));
        if gone <= now {
            self.down(node, DownCause::Silent, around);
            return None;
        }
        let has_come = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        let (certificate, probe) = (has_come(peer.telling.due()), has_come(peer.path.due()));
        let due = Due { ping: ping <= now, certificate, probe };
        if due.ping {
            peer.ask(now);
        }
        peer.expire(now, around.own.silence(), around);
        Some((due, peer.take_renewal(now)))
    }

    /// Tells a peer what is due.
    pub(crate) fn tell(&mut self, now: Instant, node: NodeId, due: Due, around: &mut Around<'_>) {
        if due.ping {
            self.ping(now, node, around);
        }
        if due.certificate {
            self.tell_certificate(now, node, around);
        }
        if due.probe {
            self.probe(now, node, around);
        }
    }

    /// All peers are told that we have another certificate, with this digest.
    pub(crate) fn tell_all(&mut self, now: Instant, told: Digest, around: &mut Around<'_>) {
        for node in self.nodes() {
            if let Some(peer) = self.all.get_mut(&node) {
                peer.telling.begin(told);
            }
            self.tell_certificate(now, node, around);
        }
    }

    /// Repeated, independently of pings, until the peer says that it has the certificate.
    fn tell_certificate(&mut self, now: Instant, node: NodeId, around: &mut Around<'_>) {
        let again = now + around.own.silence() / 3;
        if self.all.get_mut(&node).is_some_and(|peer| peer.telling.tell(again)) {
            let message = Control::Certificate(around.own.certificate.clone().into());
            self.control(now, node, &message, around);
            around.out.note(again);
        }
    }

    /// When to call [`Self::watch`].
    pub(crate) fn due(&self, own: &Me<'_>) -> Option<Instant> {
        let peers = self.all.iter().flat_map(|(node, peer)| {
            let (ping, gone) = self.company.watch_times(own, node, (&peer.pulse, &peer.path));
            [Some(ping.min(gone))].into_iter().chain(peer.due()).flatten()
        });
        peers.min()
    }
}
