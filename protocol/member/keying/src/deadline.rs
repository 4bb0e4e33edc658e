//! How long to wait for a step of another party (K4). Each step forward starts the wait again.
//! Each complaint doubles it, up to eight times.

use crate::base::Instant;
use core::time::Duration;

const DOUBLINGS_MAX: u32 = 3;

/// One wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    complaints: u32,
}

impl Deadline {
    pub(crate) fn new(now: Instant, wait: Duration) -> Self {
        Self { at: now + wait, complaints: 0 }
    }

    /// A complaint was made: wait longer for the next.
    pub(crate) fn again(&mut self, now: Instant, wait: Duration) {
        self.complaints = self.complaints.saturating_add(1).min(DOUBLINGS_MAX);
        self.at = now + wait.saturating_mul(1 << self.complaints);
    }
}
