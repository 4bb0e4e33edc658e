//! Who the others are: by our own roster, and by the links that are up.

use crate::parts::{Peers, Records};
use base::NodeId;
use folkmoot_base as base;

/// Two parts, for one that only asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Others<'a> {
    pub(crate) records: &'a Records,
    pub(crate) peers: &'a Peers,
}

impl Others<'_> {
    /// The peers that have standing.
    pub(crate) fn known_peers(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.peers.iter().filter(|peer| self.records.has_standing(peer))
    }

    /// Whether this node has standing, and no link is up to it.
    pub(crate) fn is_absent(&self, node: &NodeId) -> bool {
        !self.records.is_me(node) && !self.peers.is_linked(node) && self.records.has_standing(node)
    }

    /// All of those.
    pub(crate) fn absent(&self) -> impl Iterator<Item = NodeId> + '_ {
        let absent = |node: &NodeId| !self.records.is_me(node) && !self.peers.is_linked(node);
        self.records.nodes().filter(absent)
    }
}
