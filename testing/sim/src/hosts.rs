//! What the computers of a schedule are like: disks that take their time, wall clocks that differ,
//! processes that stand still for a while.
//!
//! They are drawn from a generator of their own, so the rest of a schedule stays as its seed draws
//! it.

use crate::rng::Rng;
use crate::schedule::{SEATS_MAX, Schedule, Step, When};

/// How many of a million schedules have slow disks.
const SLOW: u32 = 200_000;
/// How many have clocks that differ.
const SKEWED: u32 = 200_000;
/// How many have processes that stand still.
const STOPPED: u32 = 150_000;
/// How far a clock is from the true time, at most, in seconds. Two of them differ by less than what
/// voters allow one another (60 s).
const SKEW_SECONDS_MAX: i8 = 25;

/// The disks and clocks, by player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hosts {
    /// How long a commit to disk takes, in microseconds.
    pub disks: [u64; SEATS_MAX as usize],
    /// How far the wall clock is ahead, in seconds.
    pub clocks: [i8; SEATS_MAX as usize],
}

impl Hosts {
    /// Disks of 1 to 40 ms.
    pub(crate) fn slow(&mut self, rng: &mut Rng) {
        for disk in &mut self.disks {
            *disk = rng.pick(&[1_000, 10_000, 10_000, 40_000]).copied().unwrap_or_default();
        }
    }

    /// Clocks up to [`SKEW_SECONDS_MAX`] ahead or behind.
    pub(crate) fn skew(&mut self, rng: &mut Rng) {
        for clock in &mut self.clocks {
            let span = u64::try_from(2 * i64::from(SKEW_SECONDS_MAX) + 1).unwrap_or(1);
            *clock = i8::try_from(rng.range(0, span)).unwrap_or_default() - SKEW_SECONDS_MAX;
        }
    }
}

/// Gives some schedules other computers.
pub(crate) fn add(schedule: &mut Schedule) {
    let mut rng = Rng::new(schedule.seed, "hosts", 0);
    if rng.chance(SLOW) {
        schedule.hosts.slow(&mut rng);
    }
    if rng.chance(SKEWED) {
        schedule.hosts.skew(&mut rng);
    }
    if rng.chance(STOPPED) {
        for _ in 0..1 + rng.below(3) {
            let at = 1 + rng.below(schedule.steps.len());
            schedule.steps.insert(at, (When::After(rng.range(0, 5_000)), stop(&mut rng)));
        }
    }
}

/// For less than a link may be silent, or for more.
fn stop(rng: &mut Rng) -> Step {
    let micros =
        if rng.chance(500_000) { rng.range(50_000, 1_500_000) } else { rng.range(1_500_000, 6_000_000) };
    Step::Stop { who: u8::try_from(rng.below(SEATS_MAX.into())).unwrap_or(0), micros }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_schedules_have_other_computers_and_the_rest_are_as_before() {
        let drawn: Vec<Schedule> = (0..400).map(Schedule::draw).collect();
        let count = |has: fn(&Schedule) -> bool| drawn.iter().filter(|one| has(one)).count();
        let slow = count(|one| one.hosts.disks.iter().any(|disk| *disk >= 10_000));
        let skewed = count(|one| one.hosts.clocks.iter().any(|clock| *clock != 0));
        let stopped = count(|one| one.steps.iter().any(|(_, step)| matches!(step, Step::Stop { .. })));
        assert!(
            [slow, skewed, stopped].iter().all(|count| (30..130).contains(count)),
            "{slow} {skewed} {stopped}"
        );
        assert!(drawn.iter().all(|one| one.hosts.clocks.iter().all(|clock| clock.abs() <= SKEW_SECONDS_MAX)));
        assert!(count(|one| one.hosts == Hosts::default()) > 200);
    }
}
