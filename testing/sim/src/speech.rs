//! What programs say: messages of all services, one behind the other, and second programs.
//!
//! They are drawn from a generator of their own, so the rest of a schedule stays as its seed draws
//! it.

use crate::payload::SERVICES;
use crate::rng::Rng;
use crate::schedule::{SEATS_MAX, Schedule, Second, Step, When};
use folkmoot_base::Service;

/// How many of a million schedules have medleys.
const MEDLEYS: u32 = 400_000;
/// How many have players with a second program.
const SECONDS: u32 = 250_000;

/// The services of a medley.
pub(crate) fn services(mix: u64, count: u8) -> Vec<Service> {
    let mut rng = Rng::new(mix, "medley", 0);
    (0..count).filter_map(|_| rng.pick(&SERVICES).copied()).collect()
}

/// Gives some schedules medleys and second programs.
pub(crate) fn add(schedule: &mut Schedule) {
    let mut rng = Rng::new(schedule.seed, "speech", 0);
    if rng.chance(MEDLEYS) {
        for _ in 0..1 + rng.below(4) {
            let medley = medley(&mut rng);
            put(schedule, &mut rng, medley);
        }
    }
    if rng.chance(SECONDS) {
        schedule.seconds = u8::try_from(rng.range(1, 1 << SEATS_MAX)).unwrap_or(1);
        for _ in 0..rng.below(6) {
            let step = second(&mut rng);
            put(schedule, &mut rng, step);
        }
    }
}

fn put(schedule: &mut Schedule, rng: &mut Rng, step: Step) {
    let at = 1 + rng.below(schedule.steps.len());
    schedule.steps.insert(at, (When::After(rng.range(0, 100_000)), step));
}

/// Somebody says much at once.
pub(crate) fn medley(rng: &mut Rng) -> Step {
    let count = u8::try_from(rng.range(2, 24)).unwrap_or(2);
    Step::Medley { who: seat(rng), count, mix: rng.number() }
}

fn second(rng: &mut Rng) -> Step {
    let what = match rng.weighted(&[6, 1, 2]) {
        0 => Second::Sends(rng.pick(&SERVICES).copied().unwrap_or(Service::Agreed)),
        1 => Second::Leaves,
        _ => Second::Joins,
    };
    Step::Second { who: seat(rng), what }
}

fn seat(rng: &mut Rng) -> u8 {
    u8::try_from(rng.below(SEATS_MAX.into())).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_schedules_have_medleys_of_all_services_and_second_programs() {
        let drawn: Vec<Schedule> = (0..400).map(Schedule::draw).collect();
        let medley = |one: &&Schedule| one.steps.iter().any(|(_, step)| matches!(step, Step::Medley { .. }));
        let medleys = drawn.iter().filter(medley).count();
        let seconds = drawn.iter().filter(|one| one.seconds != 0).count();
        assert!((100..220).contains(&medleys) && (60..140).contains(&seconds), "{medleys} {seconds}");
        assert_eq!(services(7, 24), services(7, 24));
        assert!(SERVICES.iter().all(|service| services(7, 60).contains(service)));
    }
}
