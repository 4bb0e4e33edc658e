//! Probes of paths: sent, answered, and what comes of them (LINK-31, LINK-32, LINK-33).

use super::Peers;
use crate::call::Around;
use crate::limits::PATH_BYTES_MIN;
use crate::message::{Control, Lane, Probe, begin_data, put_frame};
use crate::{DownCause, Output, Path};
use core::time::Duration;
use folkmoot_base::limits::DATAGRAM_BYTES_MAX;
use folkmoot_base::{Instant, Locator, NodeId};

impl Peers {
    /// What time does to the path to a peer.
    pub(super) fn probe(&mut self, now: Instant, node: NodeId, around: &mut Around<'_>) {
        let Some(peer) = self.all.get_mut(&node) else { return };
        let mut spent = false;
        for (number, size) in peer.path.advance(now) {
            let frame = Probe::of(number, size).encode();
            let mut packet = around.out.buffer(size);
            begin_data(&mut packet);
            put_frame(&mut packet, Lane::Control, &[&frame], frame.len());
            peer.pulse.send(now);
            spent |= peer.transmit_probe(node, packet, around).is_err();
        }
        if let Some(due) = peer.path.due() {
            around.out.note(due);
        }
        let unmeasured = peer.path.rtt().is_none() && peer.path.is_first_round();
        if spent {
            self.down(node, DownCause::Spent, around);
            return;
        }
        if unmeasured {
            self.ping(now, node, around);
        }
        self.tell_path(node, around);
    }

    /// A probe came: the answer names its size. It is smaller than the probe, and not more are
    /// answered than a few at once.
    pub(super) fn hear_probe(&mut self, now: Instant, node: NodeId, probe: &Probe, around: &mut Around<'_>) {
        let Some(peer) = self.all.get_mut(&node) else { return };
        let Ok(size) = u16::try_from(probe.size()) else { return };
        if usize::from(size) >= PATH_BYTES_MIN && peer.path.may_answer(now) {
            self.control(now, node, &Control::Probed { number: probe.number, size }, around);
        }
    }

    /// A probe of ours came there.
    pub(super) fn hear_probed(
        &mut self,
        now: Instant,
        node: NodeId,
        (number, size): (u32, u16),
        around: &mut Around<'_>,
    ) {
        if let Some(peer) = self.all.get_mut(&node) {
            peer.path.answered(now, number, size.into());
            peer.path.due().into_iter().for_each(|due| around.out.note(due));
        }
        self.tell_path(node, around);
    }

    /// The system does not send datagrams of so many bytes to this locator.
    pub(crate) fn too_long(&mut self, now: Instant, to: &Locator, bytes: usize, around: &mut Around<'_>) {
        for node in self.nodes() {
            let there = self.all.get_mut(&node).filter(|peer| peer.at() == to);
            if there.is_some_and(|peer| peer.path.too_long(now, bytes)) {
                self.probe(now, node, around);
            }
        }
    }

    /// Says what the path to a peer carries, if that or the round trip is news.
    pub(super) fn tell_path(&mut self, node: NodeId, around: &mut Around<'_>) {
        let Some(peer) = self.all.get_mut(&node) else { return };
        let Some(mtu) = peer.path.news() else { return };
        around.out.trace(format!("the path to {node} at {} carries {mtu} bytes", peer.at()));
        around.out.say(Output::Path { node, mtu: u16::try_from(mtu).unwrap_or(u16::MAX) });
    }

    /// The longest datagram that the paths to all of these carry, and how long an answer takes on
    /// the slowest. `None`: there is no link to one of them.
    pub(crate) fn paths<'a>(&self, nodes: impl Iterator<Item = &'a NodeId>) -> Option<(usize, Duration)> {
        let mut paths = nodes.map(|node| self.all.get(node).filter(|peer| peer.is_member()));
        paths.try_fold((DATAGRAM_BYTES_MAX, Duration::ZERO), |(mtu, wait), peer| {
            let path = &peer?.path;
            Some((mtu.min(path.mtu()), wait.max(path.wait())))
        })
    }

    /// The path to a peer whose link is up.
    pub(crate) fn path(&self, node: &NodeId) -> Option<Path> {
        let peer = self.all.get(node)?;
        let mtu = u16::try_from(peer.path.mtu()).unwrap_or(u16::MAX);
        let rtt = peer.path.rtt();
        let (validated, at) = (peer.path.is_settled(), peer.at().clone());
        Some(Path {
            at,
            mtu,
            validated,
            rtt: rtt.map(|(mean, _)| mean),
            rtt_variance: rtt.map(|(_, off)| off),
            trip: peer.path.trip(),
        })
    }
}
