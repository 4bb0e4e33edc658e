//! The two clocks: monotonic for timers, wall-clock for certificates.

use folkmoot_base::{Instant, UnixTime};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Microseconds since this clock was made; and what the wall clock reads, for this process.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    began: tokio::time::Instant,
    ahead: Duration,
}

impl Clock {
    /// A clock that reads zero now.
    pub fn start() -> Self {
        Self { began: tokio::time::Instant::now(), ahead: Duration::ZERO }
    }

    /// The same with a wall clock that is fast by `ahead`: how tests see a certificate end.
    #[must_use]
    pub fn ahead(self, ahead: Duration) -> Self {
        Self { ahead, ..self }
    }

    /// What the wall clock reads.
    pub fn wall(&self) -> UnixTime {
        UnixTime(wall_clock().0.saturating_add(self.ahead.as_secs()))
    }

    /// When this clock was made, in microseconds since 1970 by the wall clock.
    pub fn started(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = (since + self.ahead).saturating_sub(self.began.elapsed());
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
    }

    /// What it reads.
    pub fn now(&self) -> Instant {
        Instant(u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// When it will read `at`, for the scheduler.
    pub fn when(&self, at: Instant) -> tokio::time::Instant {
        self.began.checked_add(Duration::from_micros(at.0)).unwrap_or_else(|| {
            // Past the end of the scheduler's time: a day is as good as never.
            tokio::time::Instant::now() + Duration::from_secs(86_400)
        })
    }
}

/// What the wall clock reads; zero for a clock set before 1970.
pub fn wall_clock() -> UnixTime {
    UnixTime(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |span| span.as_secs()))
}
