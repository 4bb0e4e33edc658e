//! When a peer spoke, was spoken to, and was asked whether it is there.

use core::time::Duration;
use folkmoot_base::Instant;

/// The times of one link, and whether it rests.
#[derive(Debug)]
pub(super) struct Pulse {
    heard: Instant,
    sent: Instant,
    /// When it was last asked whether it is there.
    asked: Instant,
    /// It is in our configuration (LINK-24).
    rests: bool,
    /// When the ring was last heard in which it rested.
    vouched: Instant,
}

impl Pulse {
    pub(super) fn new(now: Instant, rests: bool) -> Self {
        Self { heard: now, sent: now, asked: now, rests, vouched: now }
    }

    pub(super) fn hear(&mut self, now: Instant) {
        self.heard = now;
    }

    pub(super) fn send(&mut self, now: Instant) {
        self.sent = now;
    }

    pub(super) fn ask(&mut self, now: Instant) {
        self.asked = now;
    }

    pub(super) fn heard(&self) -> Instant {
        self.heard
    }

    pub(super) fn sent(&self) -> Instant {
        self.sent
    }

    /// When anything last went either way.
    pub(super) fn last(&self) -> Instant {
        self.sent.max(self.heard)
    }

    pub(super) fn rests(&self) -> bool {
        self.rests
    }

    /// Whether it rests from now on. If it rested before, that ring was last heard at `ring`.
    pub(super) fn rest(&mut self, rests: bool, ring: Instant) {
        if self.rests && !rests {
            self.vouched = ring;
        }
        self.rests = rests;
    }

    /// When to ping: after `rest` without a message from here; again and again if the peer is quiet
    /// for so long (LINK-15).
    pub(super) fn ping_at(&self, rest: Duration, silence: Duration) -> Instant {
        let idle = self.sent + rest;
        let doubt = (self.heard + rest).max(self.asked + silence / 8);
        idle.min(doubt)
    }

    /// From when a peer that does not rest counts as gone if nothing comes.
    pub(super) fn gone_at(&self, silence: Duration) -> Instant {
        self.heard.max(self.vouched) + silence
    }
}
