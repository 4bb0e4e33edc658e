//! Ordeals: cuts that last, and rosters that differ while rings form. After each, the simulator
//! looks whether everybody has found peace although the cuts are still there ([`crate::peace`]).
//!
//! They are drawn from a generator of their own, so the rest of a schedule stays as its seed draws
//! it.

use crate::rng::Rng;
use crate::schedule::{Hook, Schedule, Step, When};

/// How many of a million schedules have one.
const CHANCE: u32 = 250_000;

/// Where a cut hurts: while rings form, and while a newcomer's entry finds its place.
const MIDDLES: [Hook; 6] = [
    Hook { layer: "ring", word: "gather" },
    Hook { layer: "ring", word: "commit" },
    Hook { layer: "ring", word: "recover" },
    Hook { layer: "ring", word: "operational" },
    Hook { layer: "admission", word: "handed over" },
    Hook { layer: "link", word: "is a member now" },
];

/// Puts an ordeal into some schedules, anywhere after the first step, which lets the founders meet.
pub fn add(schedule: &mut Schedule) {
    let mut rng = Rng::new(schedule.seed, "ordeal", 0);
    if !rng.chance(CHANCE) {
        return;
    }
    let at = 1 + rng.below(schedule.steps.len());
    let steps = draw(schedule, &mut rng);
    schedule.steps.splice(at..at, steps);
}

/// One ordeal.
pub fn draw(schedule: &Schedule, rng: &mut Rng) -> Vec<(When, Step)> {
    let mut steps = match rng.weighted(&[6, 4]) {
        0 => cuts(schedule, rng),
        _ => rosters(schedule, rng),
    };
    steps.push((When::After(rng.range(0, 3_000_000)), Step::Endure));
    if rng.chance(500_000) {
        steps.push((When::After(0), Step::Heal));
    }
    steps
}

/// Pairs that do not reach each other, one way or both: never all, so that what is left is not a
/// clean split.
fn cuts(schedule: &Schedule, rng: &mut Rng) -> Vec<(When, Step)> {
    let pairs = usize::from(schedule.players) * (usize::from(schedule.players) - 1) / 2;
    let mut steps = vec![(When::After(0), Step::Heal), (When::After(rng.range(0, 2_000_000)), Step::Rest(0))];
    for _ in 0..1 + rng.below(pairs.div_ceil(2).min(5)) {
        let (a, b) = (player(schedule, rng), player(schedule, rng));
        let step = if rng.chance(600_000) { Step::Part(a, b) } else { Step::Cut(a, b) };
        steps.push((middle(rng), step));
    }
    steps
}

/// Somebody is admitted or expelled where not all can hear of it, and the others hear in the middle
/// of a gather.
fn rosters(schedule: &Schedule, rng: &mut Rng) -> Vec<(When, Step)> {
    let (who, by) = (player(schedule, rng), player(schedule, rng));
    let newcomer = schedule.founders
        + u8::try_from(rng.below(usize::from(schedule.players - schedule.founders))).unwrap_or(0);
    let mut steps = vec![(When::After(0), Step::Heal)];
    for _ in 0..1 + rng.below(3) {
        let other = player(schedule, rng);
        let of = if rng.chance(500_000) { newcomer } else { who };
        steps.push((When::After(rng.range(0, 100_000)), Step::Part(of % schedule.players, other)));
    }
    steps.push((When::After(rng.range(0, 2_500_000)), Step::Rest(0)));
    if newcomer < schedule.players {
        let who = newcomer - schedule.founders;
        steps.push((When::After(0), Step::Admit { who, contact: by, yes: 0xff }));
    } else {
        steps.push((When::After(0), Step::Expel { by, who, yes: 0xff }));
    }
    if rng.chance(700_000) {
        steps.push((middle(rng), Step::Heal));
        let (a, b) = (player(schedule, rng), player(schedule, rng));
        steps.push((middle(rng), Step::Part(a, b)));
    }
    steps
}

fn player(schedule: &Schedule, rng: &mut Rng) -> u8 {
    u8::try_from(rng.below(usize::from(schedule.players))).unwrap_or(0)
}

fn middle(rng: &mut Rng) -> When {
    let aimed = rng.chance(500_000);
    match rng.pick(&MIDDLES).filter(|_| aimed) {
        Some(hook) => When::On(*hook, rng.range(0, 2_500)),
        None => When::After(rng.range(0, 400_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_schedules_have_an_ordeal_and_all_are_their_seed() {
        let with = (0..400)
            .map(Schedule::draw)
            .filter(|schedule| schedule.steps.iter().any(|(_, step)| *step == Step::Endure));
        let with: Vec<Schedule> = with.collect();
        assert!((60..130).contains(&with.len()), "{} of 400", with.len());
        assert!(with.iter().all(|schedule| !schedule.calm && *schedule == Schedule::draw(schedule.seed)));
        let has =
            |wanted: fn(&Step) -> bool| with.iter().flat_map(|one| &one.steps).any(|(_, step)| wanted(step));
        assert!(has(|step| matches!(step, Step::Part(..))) && has(|step| matches!(step, Step::Cut(..))));
    }
}
