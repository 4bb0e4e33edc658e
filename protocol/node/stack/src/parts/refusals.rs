//! Peers that cannot link to this node: they say that they link by the other form (X25519 alone, or
//! ML-KEM-768 as well), or prove that they speak none of our wire versions. People are told; no
//! node acts on it. Nothing proves a form, so this never changes which locators are dialled, nor
//! how.

use base::{Instant, Locator, NodeId};
use core::fmt;
use core::time::Duration;
use folkmoot_base as base;
use folkmoot_link::{Exchange, Versions};
use std::collections::BTreeMap;

/// How long a refusal is reported after it was last heard. A dial that goes on hears it every few
/// seconds.
pub const REFUSAL_LIFE: Duration = Duration::from_secs(60);
/// Most refusals kept; the one heard longest ago makes room.
pub const REFUSALS_MAX: usize = 64;

/// How a peer links that this node cannot link to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theirs {
    /// By this form; ours is the other. Anybody may have written that.
    Form(Exchange),
    /// In none of our wire versions. It has proved its key.
    Versions {
        /// What we speak.
        ours: Versions,
        /// What it speaks.
        theirs: Versions,
    },
}

/// A peer that this node cannot link to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The locator.
    pub at: Locator,
    /// The node that is looked for there, if that is known.
    pub node: Option<NodeId>,
    /// How it links.
    pub theirs: Theirs,
    /// When it was last heard.
    pub heard: Instant,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self.theirs {
            Theirs::Form(Exchange::Classical) => {
                "lacks ML-KEM-768 links, which this charter asks for (hybrid_links)"
            }
            Theirs::Form(Exchange::Hybrid) => {
                "asks for ML-KEM-768 links, which this charter does not ask for (hybrid_links)"
            }
            Theirs::Versions { ours, theirs } => {
                let what = format!("speaks wire versions {theirs}, and this node speaks {ours}");
                return write!(out, "the node at {} {what}: update the older of the two", self.at);
            }
        };
        write!(out, "the node at {} says that it {words}: does it run on the same charter?", self.at)
    }
}

/// The refusals that were heard last.
#[derive(Debug, Default)]
pub(crate) struct Refusals(BTreeMap<Locator, Refusal>);

impl Refusals {
    /// Those of the last [`REFUSAL_LIFE`], by locator.
    pub(crate) fn fresh(&self, now: Instant) -> Vec<Refusal> {
        let fresh = |refusal: &&Refusal| now.since(refusal.heard) < REFUSAL_LIFE;
        self.0.values().filter(fresh).cloned().collect()
    }

    /// A locator that was dialled refuses (NODE-07).
    pub(crate) fn heard(&mut self, refusal: Refusal) {
        if !self.0.contains_key(&refusal.at) && self.0.len() >= REFUSALS_MAX {
            let oldest =
                self.0.values().min_by_key(|refusal| refusal.heard).map(|refusal| refusal.at.clone());
            oldest.and_then(|at| self.0.remove(&at));
        }
        self.0.insert(refusal.at.clone(), refusal);
    }

    /// A link came up: a refusal from that locator or for that node no longer holds.
    pub(crate) fn end(&mut self, at: &Locator, node: NodeId) {
        self.0.retain(|_, refusal| refusal.at != *at && refusal.node != Some(node));
    }
}
