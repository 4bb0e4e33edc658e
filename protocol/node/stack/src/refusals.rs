//! Peers that say that they link by the other form (X25519 alone, or ML-KEM-768 as well). People
//! are told; no node acts on it. Such a word is in no way proved, so it never changes what is
//! dialled, nor how.

use crate::Node;
use base::{Instant, Locator, NodeId};
use core::fmt;
use core::time::Duration;
use folkmoot_base as base;
use folkmoot_link::Exchange;

/// How long a refusal is told after it was last heard. A dial that goes on hears it every few
/// seconds.
pub const REFUSAL_LIFE: Duration = Duration::from_secs(60);
/// Most refusals kept; the one heard longest ago makes room.
pub const REFUSALS_MAX: usize = 64;

/// Somebody whom this node cannot link to, by its own word, which anybody may have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// Where.
    pub at: Locator,
    /// Who is looked for there, if that is known.
    pub node: Option<NodeId>,
    /// The form that it links by; ours is the other.
    pub theirs: Exchange,
    /// When it was last heard.
    pub heard: Instant,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self.theirs {
            Exchange::Classical => "lacks ML-KEM-768 links, which this charter asks for (hybrid_links)",
            Exchange::Hybrid => "asks for ML-KEM-768 links, which this charter does not (hybrid_links)",
        };
        write!(out, "the node at {} says that it {words}: does it run on the same charter?", self.at)
    }
}

impl Node {
    /// Refusals of the last [`REFUSAL_LIFE`], by place.
    pub fn refusals(&self, now: Instant) -> Vec<Refusal> {
        let fresh = |refusal: &&Refusal| now.since(refusal.heard) < REFUSAL_LIFE;
        self.refusals.values().filter(fresh).copied().collect()
    }

    /// A place that was dialled refuses (NODE-07).
    pub(crate) fn refused(&mut self, now: Instant, at: Locator, node: Option<NodeId>, theirs: Exchange) {
        if !self.refusals.contains_key(&at) && self.refusals.len() >= REFUSALS_MAX {
            let oldest = self.refusals.values().min_by_key(|refusal| refusal.heard).map(|refusal| refusal.at);
            oldest.and_then(|at| self.refusals.remove(&at));
        }
        let node = node.or_else(|| self.reach.who(at));
        self.refusals.insert(at, Refusal { at, node, theirs, heard: now });
    }

    /// A Hello of the other form came, and was refused. From a place where nobody is looked for it
    /// is counted only: whoever makes up addresses leaves nothing here.
    pub(crate) fn turned_away(&mut self, now: Instant, at: Locator, theirs: Exchange) {
        if self.reach.looks_at(at) {
            self.refused(now, at, None, theirs);
        }
    }

    /// A link came up: what was said of that place or that node is no longer so.
    pub(crate) fn no_longer_refused(&mut self, at: Locator, node: NodeId) {
        self.refusals.retain(|_, refusal| refusal.at != at && refusal.node != Some(node));
    }
}
