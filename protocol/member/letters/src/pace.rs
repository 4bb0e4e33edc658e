//! How often guests may send: a few messages at once, then one after another (LET-04).

use crate::base::{Bucket, Instant, NodeId, limits};
use std::collections::BTreeMap;

/// Messages that a guest may send at once.
const BURST: u64 = 8;
/// Messages that it may send per second after that.
const PER_SECOND: u64 = 4;
/// New letters that all guests together may bring at once.
const LETTERS_BURST: u64 = 8;
/// New letters that may come per second after that.
const LETTERS_PER_SECOND: u64 = 1;

/// The guests that have sent something and are linked, each with what it may still send.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    guests: BTreeMap<NodeId, Bucket>,
    letters: Option<Bucket>,
}

impl Pace {
    /// Whether this guest may send one more message now.
    pub(crate) fn may_speak(&mut self, node: NodeId, now: Instant) -> bool {
        if !self.guests.contains_key(&node) && self.guests.len() >= limits::GUESTS_MAX.saturating_mul(2) {
            return false;
        }
        self.guests.entry(node).or_insert(Bucket::new(BURST, PER_SECOND, now)).take(now, 1)
    }

    /// Whether one more new letter may go to the group now.
    pub(crate) fn may_write(&mut self, now: Instant) -> bool {
        self.letters.get_or_insert(Bucket::new(LETTERS_BURST, LETTERS_PER_SECOND, now)).take(now, 1)
    }

    /// Whether this guest has sent us something, and its link is up.
    pub(crate) fn is_here(&self, node: &NodeId) -> bool {
        self.guests.contains_key(node)
    }

    pub(crate) fn down(&mut self, node: &NodeId) {
        self.guests.remove(node);
    }
}
