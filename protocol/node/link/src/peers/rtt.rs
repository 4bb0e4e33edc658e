//! The round trip of one path, smoothed (RFC 6298).

use crate::limits::{PROBE_WAIT_FIRST, PROBE_WAIT_MAX, PROBE_WAIT_MIN};
use core::time::Duration;

/// What was measured.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rtt {
    /// The smoothed round trip and its variance, once one was measured.
    smoothed: Option<(Duration, Duration)>,
    /// The last three, the newest first.
    last: [Option<Duration>; 3],
}

impl Rtt {
    /// A round trip took so long.
    pub(super) fn measure(&mut self, took: Duration) {
        let [first, second, _] = self.last;
        self.last = [Some(took), first, second];
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

    /// LINK-36: what a round trip takes now, for those whose times follow it: the median of the
    /// last three. One that a busy computer held up changes nothing, two do at once.
    pub(super) fn trip(&self) -> Option<Duration> {
        match self.last {
            [Some(a), Some(b), Some(c)] => Some(a.min(b).max(a.max(b).min(c))),
            [Some(a), Some(b), None] => Some(a.min(b)),
            [one, ..] => one,
        }
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

#[cfg(test)]
mod tests {
    use super::Rtt;
    use core::time::Duration;

    #[test]
    fn link_36_one_late_answer_changes_nothing_and_two_do() {
        let ms = Duration::from_millis;
        let mut rtt = Rtt::default();
        let mut after = |took| {
            rtt.measure(ms(took));
            rtt.trip()
        };
        let trips = [1, 2, 300, 2, 2, 300, 310, 305].map(&mut after);
        assert_eq!(trips, [1, 1, 2, 2, 2, 2, 300, 305].map(|trip| Some(ms(trip))));
    }
}
