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

/// As `2026-11-21T04:53:47Z` (RFC 3339). Days to a date: Howard Hinnant, chrono-compatible
/// low-level date algorithms.
impl core::fmt::Display for UnixTime {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (days, second) = (self.0 / 86_400 + 719_468, self.0 % 86_400);
        let (era, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
        let year = year + era * 400 + u64::from(month <= 2);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::UnixTime;

    #[test]
    fn dates_are_right() {
        let dates = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_236_827, "2026-11-21T04:53:47Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ];
        for (seconds, date) in dates {
            assert_eq!(UnixTime(seconds).to_string(), date);
        }
        assert!(UnixTime(u64::MAX).to_string().ends_with('Z'), "whatever a peer says is a date");
    }
}
