//! How often guests may send: a few messages at once, then one after another (LET-04).

use crate::base::{Instant, NodeId, limits};
use core::time::Duration;
use std::collections::BTreeMap;

/// Messages that a guest may send at once.
const BURST: u32 = 8;
/// Time after which it may send one more.
const REFILL: Duration = Duration::from_millis(250);
/// New letters that all guests together may bring at once.
const LETTERS_BURST: u32 = 8;
/// Time after which one more may come.
const LETTERS_REFILL: Duration = Duration::from_millis(1_000);

/// So many at once, and one more after each `refill`.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: u32,
    most: u32,
    refill: Duration,
    refilled: Instant,
}

impl Bucket {
    fn new(most: u32, refill: Duration, now: Instant) -> Self {
        Self { tokens: most, most, refill, refilled: now }
    }

    fn take(&mut self, now: Instant) -> bool {
        let earned = now.since(self.refilled).as_millis() / self.refill.as_millis().max(1);
        if earned > 0 {
            let earned = u32::try_from(earned).unwrap_or(self.most);
            self.tokens = self.tokens.saturating_add(earned).min(self.most);
            self.refilled = now;
        }
        let may = self.tokens > 0;
        self.tokens = self.tokens.saturating_sub(1);
        may
    }
}

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
        self.guests.entry(node).or_insert(Bucket::new(BURST, REFILL, now)).take(now)
    }

    /// Whether one more new letter may go to the group now.
    pub(crate) fn may_write(&mut self, now: Instant) -> bool {
        self.letters.get_or_insert(Bucket::new(LETTERS_BURST, LETTERS_REFILL, now)).take(now)
    }

    /// Whether this guest has sent us something, and its link is up.
    pub(crate) fn is_here(&self, node: &NodeId) -> bool {
        self.guests.contains_key(node)
    }

    pub(crate) fn down(&mut self, node: &NodeId) {
        self.guests.remove(node);
    }
}
