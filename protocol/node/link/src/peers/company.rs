//! LINK-24: the links between members of one configuration rest while its token is heard.
//!
//! The ring finds out itself that a member has gone: the token does not come. It does not find out
//! that two members no longer hear each other, nor does it keep an address translator in mind of
//! every link. So these links are still asked, but so seldom that each member sends no more for
//! them than for one link that is not at rest, however many there are.

use super::Peer;
use crate::limits::REST_MAX;
use crate::{Credentials, Links};
use core::time::Duration;
use folkmoot_base::{Instant, NodeId};
use std::collections::BTreeSet;

/// The other members of the configuration, if one stands.
#[derive(Debug, Default)]
pub(crate) struct Company {
    nodes: BTreeSet<NodeId>,
    /// When one of them last said something of the ring.
    pub(crate) heard: Instant,
}

impl Company {
    pub(crate) fn has(&self, node: &NodeId) -> bool {
        self.nodes.contains(node)
    }
}

impl<C: Credentials> Links<C> {
    /// A configuration begins, or (with nobody in it) ends: links that are not in it are watched as
    /// usual from now on.
    pub(crate) fn keep_company(&mut self, now: Instant, nodes: Vec<NodeId>) {
        let nodes: BTreeSet<NodeId> = nodes.into_iter().collect();
        let heard = if nodes.is_empty() { self.company.heard } else { now };
        for (node, peer) in &mut self.peers {
            let stays = nodes.contains(node);
            if peer.rests && !stays {
                peer.vouched = self.company.heard;
            }
            peer.rests = stays;
        }
        self.company = Company { nodes, heard };
        self.note(now);
    }

    /// When to ping a peer, and from when it counts as gone if nothing comes (LINK-15, LINK-24).
    pub(crate) fn watch_times(&self, node: &NodeId, peer: &Peer) -> (Instant, Instant) {
        let silence = self.config.silence;
        let usual = peer.ping_at(silence / 3, silence);
        if !peer.rests {
            return (usual, peer.heard.max(peer.vouched) + silence);
        }
        let rest = self.rest(node);
        let alarm = self.company.heard + silence / 3;
        let gone = peer.heard.max(self.company.heard).min(peer.heard + rest) + silence;
        (peer.ping_at(rest, silence).min(usual.max(alarm)), gone)
    }

    /// How long a link rests: longer for the node with the higher id, so that not both ask at once.
    fn rest(&self, node: &NodeId) -> Duration {
        let links = u32::try_from(self.company.nodes.len()).unwrap_or(u32::MAX);
        let rest = (self.config.silence / 3).saturating_mul(links).min(REST_MAX);
        if self.credentials.node() < *node { rest } else { rest + rest / 4 }
    }
}
