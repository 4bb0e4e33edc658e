//! Schedules in which the holders of the group's key are gone for good while new shares are made,
//! or lose their disks: the group signs all the same.
//!
//! ```text
//! gone   five hold shares, and one more is expelled; in the middle of the resharing that follows, all that are not
//!        needed to sign die for good, perhaps the others too, who start again; then a stranger asks
//! lost   as many lose their disks as leave enough to repair a share; then a stranger asks
//! ```
//! Drawn from a generator of their own.

use crate::net::CALM;
use crate::rng::Rng;
use crate::schedule::{Hook, Schedule, Step, When};
use folkmoot_identity::Scheme;

/// Whoever shares the key; the last is expelled.
const FOUNDERS: u8 = 6;
/// Those who hold shares after that.
const HOLDERS: u8 = 5;
/// By then the founders have a key.
const FOUNDED_MICROS: u64 = 20_000_000;
/// By then persons have voted.
const VOTED_MICROS: u64 = 900_000;
/// By then a resharing is decided, if nothing goes wrong.
const SHARED_MICROS: u64 = 4_000_000;

/// The middle of a resharing.
const MIDDLES: [Hook; 6] = [
    Hook { layer: "admission", word: "starts a signing session: reshare" },
    Hook { layer: "admission", word: "takes part in a signing session: reshare" },
    Hook { layer: "admission", word: "speaks in a signing session" },
    Hook { layer: "admission", word: "signing session is done: reshare" },
    Hook { layer: "admission", word: "new sharing" },
    Hook { layer: "admission", word: "entry of a decision handed over" },
];

/// Makes a schedule one of these, with this scheme.
pub fn take(schedule: &mut Schedule, scheme: Scheme) {
    let mut rng = Rng::new(schedule.seed, "shares", 0);
    let rng = &mut rng;
    schedule.bereft = true;
    (schedule.scheme, schedule.calm, schedule.carriers) = (scheme, false, false);
    (schedule.seconds, schedule.far, schedule.forger) = (0, 0, None);
    (schedule.players, schedule.founders) = (FOUNDERS + 1, FOUNDERS);
    // Nobody is slower than what the others wait for (LINE-69).
    schedule.weather = CALM;
    schedule.votes = if scheme == Scheme::Frost && rng.chance(500_000) { 3 } else { 2 };
    schedule.steps.truncate(1);
    schedule.steps.push((When::After(FOUNDED_MICROS), Step::Rest(0)));
    let steps = if rng.chance(650_000) { gone(schedule, rng) } else { lost(schedule, rng) };
    schedule.steps.extend(steps);
    let admit = Step::Admit { who: 0, contact: below(rng, HOLDERS), yes: 0xff };
    schedule.steps.push((When::After(rng.range(0, SHARED_MICROS)), admit));
    schedule.steps.push((When::After(SHARED_MICROS), Step::Rest(0)));
}

/// How many of the holders sign.
fn signers(schedule: &Schedule) -> u8 {
    let signers = schedule.scheme.signers(usize::from(schedule.votes));
    u8::try_from(signers).unwrap_or(HOLDERS).min(HOLDERS)
}

fn gone(schedule: &Schedule, rng: &mut Rng) -> Vec<(When, Step)> {
    let expel = Step::Expel { by: below(rng, HOLDERS), who: FOUNDERS - 1, yes: 0xff };
    let mut steps = vec![(When::After(rng.range(0, 1_000_000)), expel)];
    match rng.pick(&MIDDLES) {
        Some(hook) if rng.chance(600_000) => {
            steps.push((When::After(rng.range(0, VOTED_MICROS)), Step::Rest(0)));
            steps.push((When::On(*hook, rng.range(0, 8_000)), Step::Rest(0)));
        }
        _ => steps.push((When::After(rng.range(0, SHARED_MICROS)), Step::Rest(0))),
    }
    let (spared, all) = (HOLDERS - signers(schedule), rng.chance(500_000));
    let doomed = if rng.chance(700_000) { spared } else { 1 + below(rng, spared) };
    let order = shuffled(rng);
    for (place, who) in (0..).zip(&order) {
        if place < doomed {
            steps.push((When::After(0), Step::Die(*who)));
        } else if all {
            steps.push((When::After(0), Step::Kill(*who)));
        }
    }
    for _ in order.iter().filter(|_| all) {
        steps.push((When::After(rng.range(0, 500_000)), Step::Restart(below(rng, HOLDERS))));
    }
    steps
}

fn lost(schedule: &Schedule, rng: &mut Rng) -> Vec<(When, Step)> {
    // As many as the threshold keep theirs.
    let most = HOLDERS.saturating_sub(schedule.votes).max(1);
    let order = shuffled(rng);
    let losers = order.iter().take(usize::from(1 + below(rng, most)));
    let mut steps: Vec<(When, Step)> = losers.map(|who| (When::After(0), Step::Kill(*who))).collect();
    for _ in 0..steps.len() {
        let old = Step::RestartOld { who: below(rng, HOLDERS), back: 100 };
        steps.push((When::After(rng.range(0, 500_000)), old));
    }
    steps
}

fn shuffled(rng: &mut Rng) -> Vec<u8> {
    let mut order: Vec<u8> = (0..HOLDERS).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, rng.below(place + 1));
    }
    order
}

fn below(rng: &mut Rng, count: u8) -> u8 {
    u8::try_from(rng.range(0, u64::from(count.max(1)))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_sign_are_left_and_as_many_as_repair_keep_their_disks() {
        let (mut gone, mut lost) = (0, 0);
        for seed in 0..300 {
            for scheme in [Scheme::Frost, Scheme::TsDsa] {
                let mut schedule = Schedule::draw(seed);
                take(&mut schedule, scheme);
                let count =
                    |is: fn(&Step) -> bool| schedule.steps.iter().filter(|(_, step)| is(step)).count();
                let died = count(|step| matches!(step, Step::Die(_)));
                let rewound = count(|step| matches!(step, Step::RestartOld { .. }));
                assert!(died <= usize::from(HOLDERS - signers(&schedule)));
                assert!(rewound <= usize::from(HOLDERS - schedule.votes));
                (gone, lost) = (gone + died, lost + rewound);
            }
        }
        assert!(gone > 300 && lost > 100);
    }
}
