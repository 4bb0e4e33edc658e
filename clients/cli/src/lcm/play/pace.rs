//! When each message of a log is due.

use std::time::Duration;
use tokio::time::Instant;

/// So long after the one before it as in the log, by the factor.
#[derive(Debug)]
pub(super) struct Pace {
    speed: f64,
    /// The last message's time in the log, and when it is due.
    last: Option<(i64, Instant)>,
}

impl Pace {
    /// At this speed; 0: nothing waits.
    pub(super) fn new(speed: f64) -> Self {
        Self { speed, last: None }
    }

    /// The next message has this time in the log. Where the clock of a log goes back there is no
    /// pause, and those after it are as they were. `None`: it is due at once.
    pub(super) fn next(&mut self, time: i64) -> Option<Instant> {
        if self.speed == 0.0 {
            return None;
        }
        let (before, start) = *self.last.get_or_insert_with(|| (time, Instant::now()));
        let micros = u64::try_from(time.saturating_sub(before)).unwrap_or(0);
        let pause = Duration::from_micros(micros).as_secs_f64() / self.speed;
        let due = start.checked_add(Duration::try_from_secs_f64(pause).ok()?)?;
        self.last = Some((time, due));
        Some(due)
    }

    /// The log begins anew: its first message is due at once.
    pub(super) fn rewind(&mut self) {
        self.last = None;
    }

    /// When the message is due that was the next one.
    pub(super) fn due(&self) -> Option<Instant> {
        self.last.map(|(_, due)| due)
    }

    /// Nothing was played for so long: all that follows is due later by that.
    pub(super) fn rest(&mut self, pause: Duration) {
        if let Some((_, due)) = &mut self.last {
            *due = due.checked_add(pause).unwrap_or(*due);
        }
    }

    /// Where in the log this moment is, if the message at `at` is the next one.
    pub(super) fn position(&self, at: Duration) -> Duration {
        let left = self.due().map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now()));
        let left = Duration::try_from_secs_f64(left.as_secs_f64() * self.speed).unwrap_or(at);
        at.saturating_sub(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(speed: f64, times: &[i64]) -> Vec<f64> {
        let mut pace = Pace::new(speed);
        let due: Vec<Instant> = times.iter().map(|time| pace.next(*time).unwrap()).collect();
        due.iter().map(|one| one.duration_since(due[0]).as_secs_f64()).collect()
    }

    #[test]
    fn pauses_are_those_of_the_log() {
        assert_eq!(due(2.0, &[5_000_000, 6_000_000, 9_000_000]), [0.0, 0.5, 2.0]);
        assert_eq!(Pace::new(0.0).next(5), None);
    }

    #[test]
    fn a_clock_that_goes_back_costs_that_pause_alone() {
        assert_eq!(due(1.0, &[9_000_000, 4_000_000, 5_000_000, 6_000_000]), [0.0, 0.0, 1.0, 2.0]);
        assert_eq!(due(1.0, &[0, i64::MIN, i64::MIN + 1_000_000]), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_time_far_ahead_is_far_ahead() {
        let far = due(0.001, &[i64::MIN, i64::MAX]);
        assert!(far[1] > 9e15, "{far:?}");
    }

    #[test]
    fn after_a_rest_the_pauses_are_as_before() {
        let mut pace = Pace::new(1.0);
        let first = pace.next(0).unwrap();
        pace.next(1_000_000);
        pace.rest(Duration::from_secs(60));
        assert_eq!(pace.due(), Some(first + Duration::from_secs(61)));
        assert_eq!(pace.next(3_000_000), Some(first + Duration::from_secs(63)));
        let at = pace.position(Duration::from_secs(100)).as_secs_f64();
        assert!((36.9..=37.1).contains(&at), "{at}");
    }
}
