//! The time of a bus.

use core::time::Duration;
use folkmoot_base::Instant;
use std::time::SystemTime;

/// Time since the bus joined.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock(tokio::time::Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(tokio::time::Instant::now())
    }

    pub(crate) fn now(self) -> Instant {
        Instant(u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    pub(crate) fn at(self, time: Instant) -> tokio::time::Instant {
        self.0 + Duration::from_micros(time.0)
    }
}

/// The time of day, in microseconds.
pub(crate) fn since_1970() -> i64 {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_micros();
    i64::try_from(time).unwrap_or(i64::MAX)
}
