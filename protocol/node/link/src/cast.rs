//! Whether packets of the ring go to all members in one datagram, by IP multicast (LINK-37 to
//! LINK-39).
//!
//! ```text
//!  rests --a configuration, or the pause is over--> tries --all have answered--> works
//!    ^                                                | four probes                |
//!    '------------- for a longer pause each time -----'----- three in a row unanswered
//! ```
//! Only the host knows a place at which all are reached. Each node finds out for itself whether all
//! others hear what it sends there, because multicast may work in one direction only. While it does
//! not, packets go to each by itself.

use crate::limits::{CAST_CHECK, CAST_MISSED, CAST_PAUSE, CAST_PAUSE_MAX, CAST_STEADY, CAST_TRIES};
use core::time::Duration;
use folkmoot_base::{Instant, Locator, NodeId};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    /// Packets go to each by itself.
    #[default]
    Rests,
    /// The same, and probes are sent. `after`: the number of the last probe before.
    Tries { after: u32 },
    /// Packets go to all.
    Works { since: Instant },
}

/// A probe that is to be sent to all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CastProbe {
    pub(crate) at: Locator,
    pub(crate) number: u32,
    /// The length of its datagram.
    pub(crate) bytes: usize,
}

/// What is known of multicast in the configuration that stands.
#[derive(Debug, Default)]
pub(crate) struct Cast {
    /// Where all are reached, if the host has such a place.
    at: Option<Locator>,
    /// The other members, each with the number of our last probe that it answered.
    others: BTreeMap<NodeId, u32>,
    /// The last probe of each other member that was answered here.
    heard: BTreeMap<NodeId, u32>,
    phase: Phase,
    /// The ring that our probes name.
    ring: [u8; 4],
    /// The length of our probes: what is longer goes to each by itself.
    bytes: usize,
    /// The number of our last probe.
    sent: u32,
    sent_at: Instant,
    /// Something went to all since then.
    used: bool,
    due: Option<Instant>,
    pause: Duration,
}

impl Cast {
    /// A configuration of us and these begins, or (with nobody in it) ends.
    pub(crate) fn begin(&mut self, now: Instant, nodes: &[NodeId]) {
        let at = self.at.take();
        let others = nodes.iter().map(|node| (*node, 0)).collect();
        *self = Self { at, others, due: Some(now), pause: CAST_PAUSE, ..Self::default() };
    }

    /// The host says where all are reached; `None`: nowhere.
    pub(crate) fn place(&mut self, now: Instant, at: Option<Locator>) {
        (self.at, self.phase, self.due) = (at, Phase::Rests, Some(now));
    }

    /// When to call [`Self::advance`].
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due.filter(|_| self.at.is_some() && self.others.len() > 1)
    }

    pub(crate) fn is_at(&self, at: &Locator) -> bool {
        self.at.as_ref() == Some(at)
    }

    pub(crate) fn others(&self) -> impl Iterator<Item = &NodeId> {
        self.others.keys()
    }

    /// What time does: a probe, or a pause. `bytes`: the longest datagram that the paths to all
    /// others carry; `wait`: how long an answer takes.
    pub(crate) fn advance(
        &mut self,
        now: Instant,
        ring: [u8; 4],
        (bytes, wait): (usize, Duration),
    ) -> Option<CastProbe> {
        if self.due().is_none_or(|due| now < due) {
            return None;
        }
        let missed = self.missed();
        let wait = match self.phase {
            Phase::Rests => {
                self.phase = Phase::Tries { after: self.sent };
                (self.ring, self.bytes) = (ring, bytes);
                wait
            }
            Phase::Tries { after } if self.sent.saturating_sub(after) >= CAST_TRIES => {
                self.rest(now);
                return None;
            }
            Phase::Tries { after } => wait.saturating_mul(1 << self.sent.saturating_sub(after).min(8)),
            Phase::Works { .. } if missed >= CAST_MISSED => {
                self.rest(now);
                return None;
            }
            Phase::Works { .. } if missed == 0 && !self.used => {
                self.due = None;
                return None;
            }
            Phase::Works { .. } => {
                if missed == 0 {
                    wait.max(CAST_CHECK)
                } else {
                    wait
                }
            }
        };
        (self.sent, self.sent_at, self.used) = (self.sent.saturating_add(1), now, false);
        self.due = Some(now + wait);
        Some(CastProbe { at: self.at.clone()?, number: self.sent, bytes: self.bytes })
    }

    /// To each by itself, until the pause is over or another configuration begins (LINK-39).
    pub(crate) fn rest(&mut self, now: Instant) {
        if matches!(self.phase, Phase::Works { since } if now.since(since) >= CAST_STEADY) {
            self.pause = CAST_PAUSE;
        }
        self.phase = Phase::Rests;
        self.due = Some(now + self.pause);
        self.pause = self.pause.saturating_mul(2).min(CAST_PAUSE_MAX);
    }

    /// How many of our last probes somebody has not answered.
    fn missed(&self) -> u32 {
        self.sent.saturating_sub(self.others.values().copied().min().unwrap_or(self.sent))
    }

    /// Somebody says that it heard a probe. It counts if it is of our ring and was sent (LINK-38).
    /// Whether what we send goes to all from now on.
    pub(crate) fn answered(&mut self, now: Instant, node: &NodeId, (ring, number): ([u8; 4], u32)) -> bool {
        let Some(last) = self.others.get_mut(node) else { return false };
        if ring != self.ring || number > self.sent {
            return false;
        }
        *last = number.max(*last);
        let Phase::Tries { after } = self.phase else { return false };
        if self.others.values().any(|last| *last <= after) {
            return false;
        }
        (self.phase, self.due) = (Phase::Works { since: now }, None);
        true
    }

    /// A probe of another came to all. Whether it is answered: each is once (LINK-38).
    pub(crate) fn hear(&mut self, node: NodeId, number: u32) -> bool {
        if !self.others.contains_key(&node) {
            return false;
        }
        let last = self.heard.entry(node).or_default();
        let new = number > *last;
        *last = number.max(*last);
        new
    }

    /// Whether packets go to all, if there is a place where all are reached.
    pub(crate) fn state(&self) -> Option<bool> {
        self.at.as_ref().map(|_| self.works())
    }

    /// Whether packets go to all.
    pub(crate) fn works(&self) -> bool {
        matches!(self.phase, Phase::Works { .. })
    }

    /// Where to send a datagram of so many bytes that is for so many others, if it goes to all; and
    /// when to check that all hear it.
    #[inline]
    pub(crate) fn takes(&mut self, now: Instant, others: usize, bytes: usize) -> Option<(&Locator, Instant)> {
        if !self.works() || others != self.others.len() || bytes > self.bytes {
            return None;
        }
        self.used = true;
        let due = *self.due.get_or_insert(now.max(self.sent_at + CAST_CHECK));
        Some((self.at.as_ref()?, due))
    }

    /// Somebody asks for packets again: perhaps it does not hear what goes to all. When to check.
    pub(crate) fn doubt(&mut self, wait: Duration) -> Option<Instant> {
        if !self.works() || !self.used {
            return None;
        }
        let soon = self.sent_at + wait;
        let due = self.due.map_or(soon, |due| due.min(soon));
        self.due = Some(due);
        Some(due)
    }
}
