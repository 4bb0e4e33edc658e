//! The peers: nodes to which a link is up, and the configuration that some of them share with us.

use base::{Locator, NodeId};
use folkmoot_base as base;
use std::collections::BTreeMap;

/// Who is linked, and who is on our ring.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    linked: BTreeMap<NodeId, Peer>,
    /// The nodes of the last configuration.
    ring: Vec<NodeId>,
}

#[derive(Debug)]
struct Peer {
    at: Locator,
    /// What the path carries, once that was tried.
    mtu: Option<u16>,
    /// Reported to the ring as eligible. Stays so until the link goes down, the roster drops the
    /// peer or it shows another line, so that an item on its way does not disturb a ring that
    /// stands. The group layer's State exchange settles the differences.
    eligible: bool,
}

impl Peers {
    /// A link came up.
    pub(crate) fn up(&mut self, node: NodeId, at: Locator) {
        self.linked.insert(node, Peer { at, mtu: None, eligible: false });
    }

    /// A link went down. `false` if there was none.
    pub(crate) fn down(&mut self, node: &NodeId) -> bool {
        self.linked.remove(node).is_some()
    }

    /// The path to a peer was tried: it carries datagrams of so many bytes.
    pub(crate) fn tried(&mut self, node: &NodeId, mtu: u16) {
        if let Some(peer) = self.linked.get_mut(node) {
            peer.mtu = Some(mtu);
        }
    }

    /// What the path to a peer carries, if that was tried.
    pub(crate) fn mtu(&self, node: &NodeId) -> Option<u16> {
        self.linked.get(node)?.mtu
    }

    pub(crate) fn is_linked(&self, node: &NodeId) -> bool {
        self.linked.contains_key(node)
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.linked.keys().copied()
    }

    /// All of them, for whoever changes something meanwhile.
    pub(crate) fn all(&self) -> Vec<NodeId> {
        self.iter().collect()
    }

    /// Where a peer was last heard.
    pub(crate) fn at(&self, node: &NodeId) -> Option<&Locator> {
        self.linked.get(node).map(|peer| &peer.at)
    }

    /// Whether some peer was last heard there.
    pub(crate) fn has_at(&self, at: &Locator) -> bool {
        self.linked.values().any(|peer| peer.at == *at)
    }

    /// Takes over where peers are heard now. Those that are heard elsewhere than before.
    pub(crate) fn follow(&mut self, heard: impl Fn(&NodeId) -> Option<Locator>) -> Vec<(NodeId, Locator)> {
        let mut moved = Vec::new();
        for (node, peer) in &mut self.linked {
            if let Some(at) = heard(node).filter(|at| *at != peer.at) {
                peer.at.clone_from(&at);
                moved.push((*node, at));
            }
        }
        moved
    }

    /// Whether the ring may have this peer: only if it `may` take part and its path was tried, or
    /// is `far`, and to begin with only if its transcript equals ours. The answer if it is another
    /// than before.
    pub(crate) fn judge(&mut self, node: &NodeId, may: bool, far: bool, equal: bool) -> Option<bool> {
        let peer = self.linked.get_mut(node)?;
        let known = peer.mtu.is_some() || far || peer.eligible;
        let eligible = may && known && (peer.eligible || equal);
        (core::mem::replace(&mut peer.eligible, eligible) != eligible).then_some(eligible)
    }

    pub(crate) fn is_eligible(&self, node: &NodeId) -> bool {
        self.linked.get(node).is_some_and(|peer| peer.eligible)
    }

    pub(crate) fn is_any_eligible(&self) -> bool {
        self.linked.values().any(|peer| peer.eligible)
    }

    /// A configuration was installed.
    pub(crate) fn configured(&mut self, members: &[NodeId]) {
        members.clone_into(&mut self.ring);
    }

    /// Whether this peer is on our own ring, which brings the same to both.
    pub(crate) fn is_with_us(&self, node: &NodeId) -> bool {
        self.is_eligible(node) && self.ring.contains(node)
    }

    /// Whether nobody shares our order.
    pub(crate) fn is_alone(&self) -> bool {
        self.ring.len() <= 1
    }
}
