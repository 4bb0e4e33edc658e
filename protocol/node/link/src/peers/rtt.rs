//! The round trip of one path, smoothed (RFC 6298).

use crate::limits::{PROBE_WAIT_FIRST, PROBE_WAIT_MAX, PROBE_WAIT_MIN};
use core::time::Duration;

/// What was measured.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rtt {
    /// The smoothed round trip and its variance, once one was measured.
    smoothed: Option<(Duration, Duration)>,
}

impl Rtt {
    /// A round trip took so long.
    pub(super) fn measure(&mut self, took: Duration) {
        self.smoothed = Some(match self.smoothed {
            None => (took, took / 2),
            Some((mean, variance)) => {
                let off = took.abs_diff(mean);
                ((mean.saturating_mul(7) + took) / 8, (variance.saturating_mul(3) + off) / 4)
            }
        });
    }

    /// The smoothed round trip and its variance.
    pub(super) fn smoothed(&self) -> Option<(Duration, Duration)> {
        self.smoothed
    }

    /// How long to wait for the answers of round `round`, from 0, of a search. What was never
    /// measured may be slow: then each round waits twice as long.
    pub(super) fn wait(&self, round: u8) -> Duration {
        let wait = match self.smoothed {
            Some((mean, variance)) => mean + variance.saturating_mul(4),
            None => PROBE_WAIT_FIRST.saturating_mul(1 << round.min(8)),
        };
        wait.clamp(PROBE_WAIT_MIN, PROBE_WAIT_MAX)
    }
}
