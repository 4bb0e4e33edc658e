//! A rate: so many at once, and so many per second after that.

use crate::Instant;

/// A token bucket; starts full.
#[derive(Debug, Clone, Copy)]
pub struct Bucket {
    /// Millionths of a token.
    level: u64,
    burst: u64,
    per_second: u64,
    at: Instant,
}

impl Bucket {
    /// A full one.
    pub fn new(burst: u64, per_second: u64, now: Instant) -> Self {
        let burst = burst.saturating_mul(1_000_000);
        Self { level: burst, burst, per_second, at: now }
    }

    /// Takes `tokens`, or nothing if there are too few.
    pub fn take(&mut self, now: Instant, tokens: u64) -> bool {
        let micros = u64::try_from(now.since(self.at).as_micros()).unwrap_or(u64::MAX);
        self.at = self.at.max(now);
        self.level = self.level.saturating_add(micros.saturating_mul(self.per_second)).min(self.burst);
        match self.level.checked_sub(tokens.saturating_mul(1_000_000)) {
            Some(rest) => {
                self.level = rest;
                true
            }
            None => false,
        }
    }
}
