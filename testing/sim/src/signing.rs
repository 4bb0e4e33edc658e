//! Groups whose voters sign together: a charter with that scheme, and events that start signing
//! sessions, each perhaps with a fault in the middle of one.
//!
//! Drawn from a generator of their own: what a seed draws for groups with plain votes stays as it
//! is. The drawn schedule goes on after these events, cut to [`REST_STEPS`], since shared keys cost
//! more than votes.

use crate::machine::Mute;
use crate::rng::Rng;
use crate::schedule::{CHANGES, CHANGES_DRAWN, Hook, Schedule, Step, When};
use folkmoot_identity::Scheme;

/// Schemes that schedules can be played with, as the command line names them.
pub const SCHEMES: [Scheme; 4] = [Scheme::Plain, Scheme::Asm, Scheme::TsDsa, Scheme::Frost];
/// Steps of the drawn schedule that are kept.
const REST_STEPS: usize = 10;
/// By then a person has voted and a signing session was started.
const SOON_MICROS: u64 = 900_000;
/// By then a signing session that stood still is over, and another was started.
const LONG_MICROS: u64 = 7_000_000;

/// Moments in the middle of signing sessions, by their trace lines.
const MIDDLES: [Hook; 15] = [
    Hook { layer: "admission", word: "starts a signing session: found" },
    Hook { layer: "admission", word: "starts a signing session: authority" },
    Hook { layer: "admission", word: "starts a signing session: certify" },
    Hook { layer: "admission", word: "starts a signing session: reshare" },
    Hook { layer: "admission", word: "starts a signing session: multi" },
    Hook { layer: "admission", word: "starts a signing session: revoke" },
    Hook { layer: "admission", word: "starts a signing session: repair" },
    Hook { layer: "admission", word: "speaks in a signing session" },
    Hook { layer: "admission", word: "takes part in a signing session: found" },
    Hook { layer: "admission", word: "takes part in a signing session: reshare" },
    Hook { layer: "admission", word: "takes part in a signing session" },
    Hook { layer: "admission", word: "signing session is done: reshare" },
    Hook { layer: "admission", word: "signing session is done: found" },
    Hook { layer: "admission", word: "new sharing" },
    Hook { layer: "admission", word: "handed over" },
];

/// Gives a schedule a charter of this scheme, and events for its signing sessions after its first
/// step. Plain: leaves it as it is.
pub fn take(schedule: &mut Schedule, scheme: Scheme) {
    if scheme == Scheme::Plain {
        return;
    }
    if schedule.bereft {
        return crate::shares::take(schedule, scheme);
    }
    let mut rng = Rng::new(schedule.seed, "tables", 0);
    schedule.scheme = scheme;
    schedule.players = 4 + small(&mut rng, 4);
    schedule.founders = 3 + small(&mut rng, schedule.players - 3);
    let most =
        (1..=3_u8).rev().find(|votes| scheme.signers(usize::from(*votes)) <= usize::from(schedule.founders));
    schedule.votes = 1 + small(&mut rng, most.unwrap_or(1));
    if !schedule.robbed {
        schedule.steps.truncate(1 + REST_STEPS);
    }
    let rounds = 2 + rng.below(4);
    let mut steps = Vec::new();
    if rng.chance(600_000) {
        // Else the faults begin while the founders meet and the key is founded.
        steps.push((When::After(rng.range(0, 3_000_000)), Step::Rest(0)));
    }
    for _ in 0..rounds {
        steps.extend(round(schedule, &mut rng));
    }
    let at = schedule.steps.len().min(1);
    schedule.steps.splice(at..at, steps);
}

/// One matter, perhaps a second beside it, and what goes wrong meanwhile.
fn round(schedule: &Schedule, rng: &mut Rng) -> Vec<(When, Step)> {
    let mut steps = vec![(When::After(rng.range(0, 1_500_000)), matter(schedule, rng))];
    if rng.chance(350_000) {
        steps.push((When::After(rng.range(0, 400_000)), matter(schedule, rng)));
    }
    if schedule.calm {
        steps.push((When::After(LONG_MICROS), Step::Rest(0)));
        return steps;
    }
    for _ in 0..rng.below(4) {
        steps.push((When::After(rng.range(0, SOON_MICROS)), Step::Rest(0)));
        steps.push((middle(rng), trouble(schedule, rng)));
    }
    if rng.chance(600_000) {
        steps.push((When::After(rng.range(0, LONG_MICROS)), Step::Heal));
        steps.push((When::After(rng.range(0, SOON_MICROS)), Step::Restart(player(schedule, rng))));
    }
    if rng.chance(300_000) {
        // A holder loses its disk.
        let who = player(schedule, rng);
        steps.push((When::After(rng.range(0, SOON_MICROS)), Step::Crash { who, after: None }));
        steps.push((When::After(rng.range(0, SOON_MICROS)), Step::RestartOld { who, back: 100 }));
    }
    if rng.chance(400_000) {
        steps.push((When::After(rng.range(0, 2 * LONG_MICROS)), Step::Rest(0)));
    }
    steps
}

fn matter(schedule: &Schedule, rng: &mut Rng) -> Step {
    let (who, by, yes) = (player(schedule, rng), player(schedule, rng), mask(rng));
    match rng.weighted(&[6, 4, 4, 4, 2]) {
        0 => Step::Admit { who, contact: by, yes },
        1 => Step::Expel { by, who, yes },
        2 => {
            let thresholds = u8::try_from(CHANGES.len().saturating_sub(CHANGES_DRAWN)).unwrap_or(1);
            let first = u8::try_from(CHANGES_DRAWN).unwrap_or(0);
            Step::Change { by, what: first + small(rng, thresholds) }
        }
        3 => Step::Electorate { by, voters: u8::try_from(rng.range(1, 128)).unwrap_or(0x7f) },
        _ => Step::Again(who),
    }
}

fn trouble(schedule: &Schedule, rng: &mut Rng) -> Step {
    let who = player(schedule, rng);
    match rng.weighted(&[7, 5, 3, 2, 3, 1]) {
        0 => Step::Crash { who, after: rng.chance(700_000).then(|| small(rng, 12)) },
        1 => Step::Split(u8::try_from(rng.range(1, 127)).unwrap_or(1)),
        2 => Step::Part(who, player(schedule, rng)),
        3 => Step::Mute { who, step: Mute::Admission, micros: rng.range(500_000, 12_000_000) },
        4 => Step::Restart(who),
        _ => Step::Leave(who),
    }
}

fn middle(rng: &mut Rng) -> When {
    match rng.pick(&MIDDLES) {
        Some(hook) if rng.chance(800_000) => When::On(*hook, rng.range(0, 4_000)),
        _ => When::After(rng.range(0, 300_000)),
    }
}

fn mask(rng: &mut Rng) -> u8 {
    if rng.chance(750_000) { 0xff } else { u8::try_from(rng.range(0, 256)).unwrap_or(0xff) }
}

fn player(schedule: &Schedule, rng: &mut Rng) -> u8 {
    small(rng, schedule.players)
}

fn small(rng: &mut Rng, below: u8) -> u8 {
    u8::try_from(rng.range(0, u64::from(below.max(1)))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_gives_a_schedule_what_it_needs_and_plain_votes_nothing() {
        for seed in 0..300 {
            let drawn = Schedule::draw(seed);
            for scheme in SCHEMES {
                let mut schedule = drawn.clone();
                take(&mut schedule, scheme);
                if scheme == Scheme::Plain {
                    assert_eq!(schedule, drawn);
                    continue;
                }
                assert!(scheme.signers(schedule.votes.into()) <= schedule.founders.into());
                assert!(
                    schedule.founders < schedule.players && schedule.players <= crate::schedule::SEATS_MAX
                );
                assert!(schedule.steps.len() > 3);
            }
        }
    }
}
