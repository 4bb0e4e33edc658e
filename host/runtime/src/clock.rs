//! The two clocks: monotonic for timers, wall-clock for certificates.

use folkmoot_base::{Instant, UnixTime};
use std::time::{SystemTime, UNIX_EPOCH};

/// Microseconds since this clock was made.
#[derive(Debug, Clone, Copy)]
pub struct Clock(tokio::time::Instant);

impl Clock {
    /// A clock that reads zero now.
    pub fn start() -> Self {
        Self(tokio::time::Instant::now())
    }

    /// What it reads.
    pub fn now(&self) -> Instant {
        Instant(u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// When it will read `at`, for the scheduler.
    pub fn when(&self, at: Instant) -> tokio::time::Instant {
        self.0.checked_add(std::time::Duration::from_micros(at.0)).unwrap_or_else(|| {
            // Past the end of the scheduler's time: a day is as good as never.
            tokio::time::Instant::now() + std::time::Duration::from_secs(86_400)
        })
    }
}

/// What the wall clock reads; zero for a clock set before 1970.
pub fn wall_clock() -> UnixTime {
    UnixTime(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |span| span.as_secs()))
}
