//! RING-29: the times of a ring follow the round trips that its members have measured.
//!
//! ```text
//!  links measure --> each member names its longest round trip in COMMIT --> the second longest named
//!                                                                              |  trip, at most TRIP_MAX
//!        times that are set (Timing): the least  ----------------------------> over() --> all states
//! ```
//! All members of a configuration have the same times, since COMMIT is the same for all. A path
//! that is slow has two ends, and both name it. So one member alone that names a long time changes
//! nothing. Several change no more than [`TRIP_MAX`] does. In a gather each member goes by what it
//! has measured itself, and if its own paths become slower, it waits longer in a ring as well.

use crate::config::Timing;
use core::time::Duration;
use folkmoot_base::limits::PATIENCE_MAX;

/// Longer round trips count as this.
pub const TRIP_MAX: Duration = Duration::from_millis(1_500);
/// In a ring of more members than this, each more has the token for a while.
const FEW: u32 = 4;
/// How long a member on a busy computer may have the token.
const VISIT: Duration = Duration::from_millis(20);
/// For each member the token of an idle ring is kept for so long at most: its rotation wakes them
/// all, and there is no hurry to miss one of many a little earlier.
const IDLE: Duration = Duration::from_millis(10);

/// The time that the times of a configuration follow, in milliseconds: the second longest of those
/// that its members name.
pub(crate) fn second_longest(named: &[u16]) -> Duration {
    let mut sorted = named.to_vec();
    sorted.sort_unstable();
    Duration::from_millis(sorted.iter().rev().nth(1).copied().unwrap_or(0).into())
}

impl Timing {
    /// The times of a ring of so many members in which a round trip takes `trip`.
    pub(crate) fn over(&self, trip: Duration, members: usize) -> Self {
        let trip = trip.min(TRIP_MAX);
        let members = u32::try_from(members).unwrap_or(u32::MAX);
        let rotation = trip.saturating_mul(members) / 2;
        let many = VISIT.saturating_mul(members.saturating_sub(FEW));
        Self {
            trip: self.trip.max(trip),
            token_loss: (self.token_loss + many).max(rotation + trip * 3 / 2),
            idle_hold_max: self.idle_hold_max.max(IDLE.saturating_mul(members)),
            // An answer takes a round trip, and what is lost is asked once more.
            ask: self.ask.max(trip * 5 / 4),
            token_repeat: self.token_repeat.max(trip / 8),
            join_repeat: self.join_repeat.max(trip / 4),
            consensus: self.consensus.max(trip * 4),
            alone: self.alone.max(trip),
            commit_repeat: self.commit_repeat.max(trip / 2),
            commit: self.commit.max(rotation * 2 + trip * 2),
            report_repeat: self.report_repeat.max(trip),
            split_delay: self.split_delay.max(trip * 2),
            stall: self.stall.max(progress(trip, members)),
            ..*self
        }
    }
}

/// How long it takes at most until something has reached all members of a ring that stands, and
/// all know it: four rotations of the token, and two round trips for what is lost.
fn progress(trip: Duration, members: u32) -> Duration {
    trip.saturating_mul(members) / 2 * 4 + trip * 2
}

/// How long the layers above a ring of so many members wait for one another: next to no time where
/// round trips take none, and [`PATIENCE_MAX`] at most, whatever two liars name.
pub(crate) fn patience(trip: Duration, members: usize) -> Duration {
    progress(trip.min(TRIP_MAX), u32::try_from(members).unwrap_or(u32::MAX)).min(PATIENCE_MAX)
}

#[cfg(test)]
mod tests {
    use super::{PATIENCE_MAX, TRIP_MAX, patience, second_longest};
    use crate::Timing;
    use core::time::Duration;

    #[test]
    fn ring_29_one_member_alone_makes_nothing_longer() {
        let ms = Duration::from_millis;
        assert_eq!(second_longest(&[10, 10, u16::MAX, 12]), ms(12));
        assert_eq!(second_longest(&[1, 600, 600]), ms(600));
        assert_eq!(second_longest(&[600, 1]), ms(1));
        assert_eq!(second_longest(&[600]), ms(0));
    }

    #[test]
    fn ring_33_patience_has_a_ceiling() {
        let hour = Duration::from_secs(3_600);
        assert_eq!(patience(hour, 3), patience(TRIP_MAX, 3));
        assert_eq!(patience(hour, 64), PATIENCE_MAX);
        assert!(patience(Duration::from_millis(600), 3) > Duration::from_secs(3));
        assert_eq!(patience(Duration::ZERO, 64), Duration::ZERO);
    }

    #[test]
    fn ring_29_the_times_have_a_floor_and_a_ceiling() {
        let usual = Timing::default();
        assert_eq!(usual.over(Duration::ZERO, 3), usual);
        assert_eq!(usual.over(Duration::from_secs(3_600), 5), usual.over(TRIP_MAX, 5));
        let held = |members| usual.over(Duration::ZERO, members).idle_hold_max;
        assert_eq!((held(16), held(32)), (usual.idle_hold_max, usual.idle_hold_max * 2));
        let far = usual.over(Duration::from_millis(600), 3);
        assert!(far.token_loss >= Duration::from_millis(3 * 300 + 600) && far.token_loss > far.ask);
        assert!(far.ask > Duration::from_millis(600) && far.consensus > far.ask);
    }
}
