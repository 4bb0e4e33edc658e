//! Who may take part, and who was set aside for how long.
//!
//! A node that can be reached but keeps silent in a gather (an asymmetric cut, a broken step) is set aside: until its
//! back-off ends, we start no further gather because of it. The back-off doubles each time, and ends when the link to it
//! comes anew or once it has shared configurations with us for some time. Its own JOINs, if they ask for us, are answered: it backs off too.

use crate::config::Timing;
use core::time::Duration;
use folkmoot_base::limits::NODES_MAX;
use folkmoot_base::{Entropy, Instant, NodeId, draw};
use std::collections::{BTreeMap, BTreeSet};

/// Nodes of which more is remembered than that they are eligible.
const LOST_MAX: usize = 4 * NODES_MAX;

/// Who has been together with us for so many of its last back-offs begins with the shortest back-off again.
const TOGETHER_SPANS: u32 = 4;

#[derive(Debug, Clone, Copy, Default)]
struct Peer {
    /// When to gather because of it, if it is in no configuration with us.
    retry_at: Instant,
    /// From here on a gather that begins for another reason proposes it.
    propose_at: Instant,
    /// The last number heard in a JOIN of its present life.
    join_number: u64,
    /// How often in a row it was set aside.
    set_aside: u32,
    /// The last back-off.
    span: Duration,
    /// Since when it has been in a configuration with us.
    joined_at: Option<Instant>,
}

/// The eligible nodes.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    eligible: BTreeMap<NodeId, Peer>,
    lost: BTreeSet<NodeId>,
}

impl Peers {
    /// Says whether anything changed.
    pub(crate) fn set(&mut self, now: Instant, node: NodeId, eligible: bool, timing: &Timing) -> bool {
        if !eligible {
            let known = self.eligible.remove(&node).is_some();
            if known && self.lost.len() < LOST_MAX {
                self.lost.insert(node);
            }
            return known;
        }
        if self.eligible.contains_key(&node) {
            return false;
        }
        self.lost.remove(&node);
        let jitter = Duration::from_millis(node.0.first().map_or(0, |byte| u64::from(byte % 16)));
        let retry_at = now + timing.merge_delay + jitter;
        self.eligible.insert(node, Peer { retry_at, ..Peer::default() });
        true
    }

    pub(crate) fn is_eligible(&self, node: &NodeId) -> bool {
        self.eligible.contains_key(node)
    }

    /// Was eligible once and is no more: naming it in a gather is no reason to wait for it.
    pub(crate) fn is_lost(&self, node: &NodeId) -> bool {
        self.lost.contains(node)
    }

    pub(crate) fn eligible(&self) -> impl Iterator<Item = &NodeId> {
        self.eligible.keys()
    }

    /// Those who are proposed from the start: eligible, and not set aside just now.
    pub(crate) fn proposed(&self, now: Instant) -> impl Iterator<Item = NodeId> + '_ {
        self.eligible.iter().filter(move |(_, peer)| peer.propose_at <= now).map(|(node, _)| *node)
    }

    /// Remembers the number of a JOIN of `node`.
    pub(crate) fn heard_join(&mut self, node: &NodeId, number: u64) {
        if let Some(peer) = self.eligible.get_mut(node) {
            peer.join_number = peer.join_number.max(number);
        }
    }

    /// The last number heard in a JOIN of `node`.
    pub(crate) fn join_number(&self, node: &NodeId) -> u64 {
        self.eligible.get(node).map_or(0, |peer| peer.join_number)
    }

    /// A configuration is formed: who is in it starts fresh, who is not waits a little, or longer if it was set aside.
    pub(crate) fn formed(
        &mut self,
        now: Instant,
        members: &[NodeId],
        silent: &BTreeSet<NodeId>,
        timing: &Timing,
        entropy: &mut dyn Entropy,
    ) {
        for (node, peer) in &mut self.eligible {
            if members.binary_search(node).is_ok() {
                peer.retry_at = Instant(0);
                peer.propose_at = Instant(0);
                peer.joined_at = Some(peer.joined_at.unwrap_or(now));
                continue;
            }
            // Together for a moment only is what a cut that two of three see looks like: partners in turn.
            let joined = peer.joined_at.take().map(|at| now.since(at));
            if joined.is_some_and(|span| span > peer.span.saturating_mul(TOGETHER_SPANS)) {
                peer.set_aside = 0;
            }
            if !silent.contains(node) {
                peer.retry_at = peer.retry_at.max(now + timing.merge_delay);
                continue;
            }
            peer.set_aside = peer.set_aside.saturating_add(1);
            let doubled = timing.set_aside.saturating_mul(1 << peer.set_aside.saturating_sub(1).min(16));
            let span = doubled.min(timing.set_aside_max);
            let [roll] = draw::<1>(entropy);
            let span = span.saturating_mul(192_u32.saturating_add(u32::from(roll) / 2)) / 256;
            peer.span = span;
            peer.retry_at = now + span;
            peer.propose_at = now + span / 2;
        }
    }

    /// The eligible node outside `members` that is due first.
    pub(crate) fn next_retry(&self, members: &[NodeId]) -> Option<(Instant, NodeId)> {
        let outside = self.eligible.iter().filter(|(node, _)| members.binary_search(node).is_err());
        outside.map(|(node, peer)| (peer.retry_at, *node)).min()
    }

    pub(crate) fn set_aside(&self) -> Vec<(NodeId, Instant)> {
        let aside = self.eligible.iter().filter(|(_, peer)| peer.set_aside > 0 && peer.joined_at.is_none());
        aside.map(|(node, peer)| (*node, peer.retry_at)).collect()
    }
}
