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

#[cfg(test)]
mod tests {
    use super::{Bucket, Instant};

    #[test]
    fn no_more_than_the_burst_and_then_the_rate() {
        let mut bucket = Bucket::new(8, 4, Instant(0));
        let mut passed = |at: u64, tries: u32| (0..tries).filter(|_| bucket.take(Instant(at), 1)).count();
        assert_eq!(passed(0, 100), 8, "the burst");
        assert_eq!(passed(249_999, 100), 0);
        assert_eq!(passed(250_000, 100), 1, "fractions of a period are kept");
        assert_eq!(passed(100, 100), 0, "a clock that goes back earns nothing");
        assert_eq!(passed(250_000, 100), 0, "nor does the time that it then makes up for");
        assert_eq!(passed(3_600_000_000, 100), 8, "an hour of silence earns one burst");
        assert_eq!(passed(u64::MAX, 100), 8);
    }

    #[test]
    fn too_few_tokens_are_left_where_they_are() {
        let mut bucket = Bucket::new(8, 4, Instant(0));
        assert!(!bucket.take(Instant(0), 9) && bucket.take(Instant(0), 8));
    }
}
