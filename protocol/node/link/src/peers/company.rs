//! LINK-24: the links between members of one configuration rest while its token is heard.
//!
//! The ring finds out itself that a member has gone: the token does not come. It does not find out
//! that two members no longer hear each other, nor does it keep an address translator in mind of
//! every link. So these links are still asked, but so seldom that each member sends no more for
//! them than for one link that is not at rest, however many there are.

use super::path::Path;
use super::pulse::Pulse;
use crate::call::Me;
use crate::limits::REST_MAX;
use core::time::Duration;
use folkmoot_base::{Instant, NodeId};
use std::collections::BTreeSet;

/// The other members of the configuration, if one stands.
#[derive(Debug, Default)]
pub(super) struct Company {
    nodes: BTreeSet<NodeId>,
    /// When one of them last said something of the ring.
    heard: Instant,
}

impl Company {
    pub(super) fn has(&self, node: &NodeId) -> bool {
        self.nodes.contains(node)
    }

    pub(super) fn hear(&mut self, now: Instant) {
        self.heard = now;
    }

    /// A configuration begins, or (with nobody in it) ends. Returns when the last one was heard.
    pub(super) fn begin(&mut self, now: Instant, nodes: Vec<NodeId>) -> Instant {
        let before = self.heard;
        self.nodes = nodes.into_iter().collect();
        if !self.nodes.is_empty() {
            self.heard = now;
        }
        before
    }

    /// When to ping a peer, and from when it counts as gone if nothing comes (LINK-15, LINK-24):
    /// after `silence`, or longer over a slow path (LINK-36).
    pub(super) fn watch_times(
        &self,
        own: &Me<'_>,
        node: &NodeId,
        (pulse, path): (&Pulse, &Path),
    ) -> (Instant, Instant) {
        let silence = path.silence(own.silence());
        let usual = pulse.ping_at(silence / 3, silence);
        if !pulse.rests() {
            return (usual, pulse.gone_at(silence));
        }
        let rest = self.rest(own, node);
        let alarm = self.heard + silence / 3;
        let gone = pulse.heard().max(self.heard).min(pulse.heard() + rest) + silence;
        (pulse.ping_at(rest, silence).min(usual.max(alarm)), gone)
    }

    /// How long a link rests: longer for the node with the higher id, so that not both ask at once.
    fn rest(&self, own: &Me<'_>, node: &NodeId) -> Duration {
        let links = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let rest = (own.silence() / 3).saturating_mul(links).min(REST_MAX);
        if own.node() < *node { rest } else { rest + rest / 4 }
    }
}
