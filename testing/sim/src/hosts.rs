//! What the computers of a schedule are like: disks that take their time, wall clocks that differ,
//! processes that stand still for a while, applications that take no events, and folders that are
//! copied and run twice.
//!
//! They are drawn from a generator of their own, so the rest of a schedule stays as its seed draws
//! it.

use crate::net::TRIP_MICROS_MAX;
use crate::rng::Rng;
use crate::schedule::{Hook, SEATS_MAX, Schedule, Slander, Step, When};
use folkmoot_base::Service;

/// How many of a million schedules have slow disks.
const SLOW: u32 = 200_000;
/// How many have players that are far from each other.
const FAR: u32 = 150_000;
/// How many have clocks that differ.
const SKEWED: u32 = 200_000;
/// How many have processes that stand still.
const STOPPED: u32 = 150_000;
/// How many have an application that takes no events.
const DEAF: u32 = 100_000;
/// How many have a player that runs twice.
const TWICE: u32 = 100_000;
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
    if Rng::new(schedule.seed, "far", 0).chance(FAR) {
        schedule.far = TRIP_MICROS_MAX;
    }
    if rng.chance(STOPPED) {
        for _ in 0..1 + rng.below(3) {
            let at = 1 + rng.below(schedule.steps.len());
            schedule.steps.insert(at, (When::After(rng.range(0, 5_000)), stop(&mut rng)));
        }
    }
    for (chance, draw) in [(DEAF, readers as fn(&mut Rng) -> _), (TWICE, twice)] {
        if rng.chance(chance) {
            let at = 1 + rng.below(schedule.steps.len());
            schedule.steps.splice(at..at, draw(&mut rng));
        }
    }
}

/// An application takes no events for a while, and everybody speaks.
pub(crate) fn readers(rng: &mut Rng) -> Vec<(When, Step)> {
    let micros = rng.range(100_000, 8_000_000);
    let room = [4, 20, 60, 1_000].get(rng.below(4)).copied().unwrap_or(20);
    let mut steps = vec![(When::After(rng.range(0, 1_000_000)), Step::Deaf { who: seat(rng), micros, room })];
    for _ in 0..rng.range(3, 9) {
        let service = if rng.chance(300_000) { Service::Unreliable } else { Service::Agreed };
        let send = Step::Send { who: seat(rng), service, bytes: 64, count: 4 };
        let step = if rng.chance(500_000) { send } else { Step::Chorus(Service::Safe) };
        steps.push((When::After(rng.range(0, 400_000)), step));
    }
    steps
}

/// A second process of somebody starts, often while some cannot hear others; then both are tried.
pub(crate) fn twice(rng: &mut Rng) -> Vec<(When, Step)> {
    let (who, skew) = (seat(rng), i8::try_from(rng.range(0, 51)).unwrap_or_default() - SKEW_SECONDS_MAX);
    let mut steps = Vec::new();
    if rng.chance(500_000) {
        let split = Step::Split(u8::try_from(rng.range(1, 127)).unwrap_or(1));
        let apart = if rng.chance(500_000) { split } else { Step::Part(seat(rng), seat(rng)) };
        steps.push((When::After(rng.range(0, 1_000_000)), apart));
    }
    steps.push((middle(rng), Step::Copy { who, skew }));
    for _ in 0..rng.below(4) {
        let step = match rng.weighted(&[4, 2, 2, 2, 1, 1]) {
            0 => Step::Chorus(Service::Agreed),
            1 => Step::Crash { who: seat(rng), after: None },
            2 => Step::Restart(seat(rng)),
            3 => Step::Copy { who: seat(rng), skew },
            4 => Step::Leave(seat(rng)),
            _ => slander(rng),
        };
        steps.push((middle(rng), step));
    }
    steps.push((When::After(rng.range(0, 4_000_000)), Step::Heal));
    steps.push((When::After(rng.range(0, 4_000_000)), Step::Chorus(Service::Safe)));
    steps
}

fn slander(rng: &mut Rng) -> Step {
    let how = rng.pick(&[Slander::Own, Slander::Later, Slander::Other]).copied();
    Step::Slander { who: seat(rng), how: how.unwrap_or(Slander::Later) }
}

fn middle(rng: &mut Rng) -> When {
    let hooks = ["gather", "commit", "recover", "operational"].map(|word| Hook { layer: "ring", word });
    let hook = rng.pick(&hooks).filter(|_| rng.chance(300_000));
    let within = rng.range(0, 3_000);
    hook.map_or_else(|| When::After(rng.range(0, 2_000_000)), |hook| When::On(*hook, within))
}

fn seat(rng: &mut Rng) -> u8 {
    u8::try_from(rng.below(SEATS_MAX.into())).unwrap_or(0)
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
    fn some_schedules_have_slow_readers_and_copied_folders() {
        let drawn: Vec<Schedule> = (0..400).map(Schedule::draw).collect();
        let count = |is: fn(&Step) -> bool| {
            drawn.iter().filter(|one| one.steps.iter().any(|(_, step)| is(step))).count()
        };
        let deaf = count(|step| matches!(step, Step::Deaf { .. }));
        let copied = count(|step| matches!(step, Step::Copy { .. }));
        assert!([deaf, copied].iter().all(|count| (20..80).contains(count)), "{deaf} {copied}");
    }

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
