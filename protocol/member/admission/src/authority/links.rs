//! The members that an authority is linked with, and how often each may speak.

use folkmoot_base::{Bucket, Instant, NodeId, limits};
use std::collections::BTreeMap;

/// Most links: one to each member.
pub const LINKS_MAX: usize = limits::MEMBERS_MAX;

/// How often a member may speak, and a node of the authority to a member: 256 times at once and
/// then once each 50 ms. The burst is enough for a grant for every open request, and once more.
pub(crate) fn heard(now: Instant) -> Bucket {
    Bucket::new(256, 20, now)
}

#[derive(Debug)]
struct Link {
    heard: Bucket,
    /// The number of the newest revocation list that it was told.
    told: u64,
}

/// All links.
#[derive(Debug, Default)]
pub(super) struct Links(BTreeMap<NodeId, Link>);

impl Links {
    pub(super) fn up(&mut self, node: NodeId, now: Instant) {
        if self.0.len() < LINKS_MAX {
            self.0.entry(node).or_insert(Link { heard: heard(now), told: 0 });
        }
    }

    pub(super) fn down(&mut self, node: &NodeId) {
        self.0.remove(node);
    }

    pub(super) fn has(&self, node: &NodeId) -> bool {
        self.0.contains_key(node)
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = &NodeId> {
        self.0.keys()
    }

    /// `ADM-69`: whether it may say one more thing now. One that speaks is linked.
    pub(super) fn may_speak(&mut self, node: NodeId, now: Instant) -> bool {
        self.up(node, now);
        self.0.get_mut(&node).is_some_and(|link| link.heard.take(now, 1))
    }

    /// Those who were not told the list with this number. From now on they count as told.
    pub(super) fn untold(&mut self, number: u64, may_hear: impl Fn(&NodeId) -> bool) -> Vec<NodeId> {
        let untold = self.0.iter_mut().filter(|(node, link)| link.told < number && may_hear(node));
        let told = untold.map(|(node, link)| {
            link.told = number;
            *node
        });
        told.collect()
    }
}
