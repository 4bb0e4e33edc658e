//! Time is an argument: monotonic for timers, wall-clock time only to judge certificates.

use crate::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use core::ops::{Add, Sub};
use core::time::Duration;

/// Monotonic time of one node: microseconds since it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(pub u64);

impl Instant {
    /// How long ago `earlier` was; zero if it is in the future.
    pub fn since(self, earlier: Instant) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, span: Duration) -> Instant {
        Instant(self.0.saturating_add(u64::try_from(span.as_micros()).unwrap_or(u64::MAX)))
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    fn sub(self, span: Duration) -> Instant {
        Instant(self.0.saturating_sub(u64::try_from(span.as_micros()).unwrap_or(u64::MAX)))
    }
}

/// Wall-clock time: seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    TlsSize,
    TlsSerialize,
    TlsDeserializeBytes,
)]
pub struct UnixTime(pub u64);
