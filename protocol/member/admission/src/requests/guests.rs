//! The guests that a contact knows, and how often each may speak.

use folkmoot_base::{Bucket, Host, Instant, NodeId, limits};
use std::collections::BTreeMap;

/// Frames that a guest may send at once.
const BURST: u64 = 8;
/// Frames that it may send per second after that.
const PER_SECOND: u64 = 4;

#[derive(Debug)]
struct Guest {
    linked: bool,
    /// Where its link came up.
    host: Option<Host>,
    heard: Bucket,
    entry_at: Option<Instant>,
}

/// The guests that spoke or are linked; at most twice as many as may be linked.
#[derive(Debug, Default)]
pub(super) struct Guests(BTreeMap<NodeId, Guest>);

impl Guests {
    pub(super) fn up(&mut self, node: NodeId, host: Host) {
        if let Some(guest) = self.entry(node, Instant::default()) {
            guest.linked = true;
            guest.host.get_or_insert(host);
        }
    }

    pub(super) fn host(&self, node: &NodeId) -> Option<Host> {
        self.0.get(node)?.host
    }

    pub(super) fn down(&mut self, node: &NodeId) {
        self.0.remove(node);
    }

    pub(super) fn is_linked(&self, node: &NodeId) -> bool {
        self.0.get(node).is_some_and(|guest| guest.linked)
    }

    fn entry(&mut self, node: NodeId, now: Instant) -> Option<&mut Guest> {
        if !self.0.contains_key(&node) && self.0.len() >= limits::GUESTS_MAX.saturating_mul(2) {
            return None;
        }
        let heard = Bucket::new(BURST, PER_SECOND, now);
        let fresh = Guest { linked: false, host: None, heard, entry_at: None };
        Some(self.0.entry(node).or_insert(fresh))
    }

    /// `ADM-08`: whether the guest may say one more thing now. One that speaks is linked.
    pub(super) fn may_speak(&mut self, node: NodeId, now: Instant) -> bool {
        let Some(guest) = self.entry(node, now) else { return false };
        guest.linked = true;
        guest.heard.take(now, 1)
    }

    pub(super) fn entry_at(&mut self, node: &NodeId) -> Option<&mut Option<Instant>> {
        self.0.get_mut(node).map(|guest| &mut guest.entry_at)
    }
}
