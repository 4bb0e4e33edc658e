//! What others on the ring lack of the transcript.

use super::Records;
use crate::message::ITEMS_BATCH_BYTES;
use crate::parts::Orders;
use base::{Digest, digest};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_group::Mark;
use std::collections::BTreeSet;

/// Most bytes of items that a node provides at once to another that lacks them in a new
/// configuration. Nodes that lack more are left out for a while, and fetch the rest over their
/// links.
const RECONCILE_BYTES_MAX: usize = 4 * 1024 * 1024;

const _: () = assert!(ITEMS_BATCH_BYTES < RECONCILE_BYTES_MAX);

impl Records {
    /// Others on the ring lack what we are to provide. It goes through the ring, to all nodes at
    /// one place, and once in a configuration.
    pub(crate) fn reconcile(&mut self, behind: &[Mark], orders: &mut Orders<'_>) {
        for mark in behind {
            if self.carried && self.transcript.has_left_behind(&mark.head) {
                self.lead_on(mark, orders);
            }
            for item in self.lacked_by(mark) {
                if self.provided.insert(digest(&[&item])) {
                    orders.item(&item);
                }
            }
        }
    }

    /// NODE-33: whoever was left behind in a carried charter is led on in the ring's order, since
    /// the ring goes on whatever becomes of that charter.
    fn lead_on(&mut self, mark: &Mark, orders: &mut Orders<'_>) {
        if let Some(package) = self.transcript.package(&mark.head)
            && self.provided.insert(digest(&[&package]))
        {
            orders.package(&package);
        }
    }

    /// A new configuration: whatever others lack in it is provided again.
    pub(crate) fn provide_anew(&mut self) {
        self.provided.clear();
    }

    /// What somebody at this mark lacks; nothing if its head is not on our line, or ahead of us.
    fn lacked_by(&self, mark: &Mark) -> Vec<Bytes> {
        if !self.is_on_our_line(&mark.head) {
            return Vec::new();
        }
        let known: BTreeSet<Digest> =
            self.transcript.have().into_iter().filter(|name| mark.has(name)).collect();
        self.transcript.lacking(mark.head, &known, RECONCILE_BYTES_MAX)
    }
}
