//! Schedules in which one carrier forges: it says words in the names of parties and nodes, and says
//! old ones again (`stack/forger.rs`).
//!
//! They are drawn from a generator of their own, so all other schedules stay as their seeds draw
//! them.

use crate::carriers;
use crate::machine::Mute;
use crate::record::Player;
use crate::rng::Rng;
use crate::schedule::{Hook, SEATS_MAX, Schedule, Step, When};
use folkmoot_base::Service;
use folkmoot_identity::Scheme;

/// How many of a million schedules with carriers have a forger.
const CHANCE: u32 = 300_000;
/// By then a view has its key.
const LONG_MICROS: u64 = 1_200_000;
/// Shorter than a step may take.
const SILENT_MICROS: u64 = 2_600_000;

/// Gives some schedules a forger.
pub(crate) fn add(schedule: &mut Schedule) {
    let mut rng = Rng::new(schedule.seed, "forger", 0);
    schedule.forger = rng.chance(CHANCE).then(|| seat(&mut rng));
}

/// The player whose node forges, if this schedule has one.
pub fn of(schedule: &Schedule) -> Option<Player> {
    let players = schedule.players.max(1);
    schedule.forger.filter(|_| carriers::fits(schedule)).map(|forger| forger % players)
}

/// Makes the schedule one with carriers and a forger.
pub(crate) fn take(schedule: &mut Schedule, rng: &mut Rng) {
    schedule.carriers = true;
    schedule.founders = schedule.players;
    schedule.scheme = Scheme::Plain;
    schedule.robbed = false;
    schedule.steps.retain(|(_, step)| !carriers::is_apart(step));
    schedule.forger = Some(seat(rng));
}

/// The same, and the party at the forger's node is the one that leaves out its steps.
pub(crate) fn take_and_silence(schedule: &mut Schedule, rng: &mut Rng) {
    take(schedule, rng);
    // Somebody is silent, and is rightly complained of.
    schedule.calm = false;
    let seat = schedule.forger.unwrap_or(0) % schedule.players.max(1);
    for (_, step) in &mut schedule.steps {
        if let Step::Mute { who, .. } = step {
            *who = seat;
        }
    }
}

/// A party does not confirm the key of a change. Its time is not over when the forger speaks.
pub(crate) fn silences(round: u8, rng: &mut Rng) -> Vec<(When, Step)> {
    let silence = Step::Mute { who: 0, step: Mute::Confirm, micros: SILENT_MICROS };
    vec![
        (When::After(LONG_MICROS), silence),
        (When::After(rng.range(0, 10_000)), Step::Leave(round)),
        (When::After(SILENT_MICROS), Step::Join(0)),
        (When::After(LONG_MICROS), Step::Chorus(Service::Agreed)),
    ]
}

/// Members come and go and decide, so that there is something to say again, and views to wait for.
pub(crate) fn steps(round: u8, rng: &mut Rng) -> Vec<(When, Step)> {
    let (middle, change) = (Hook { layer: "flush", word: "" }, u8::try_from(rng.range(0, 10)).unwrap_or(0));
    vec![
        (When::After(rng.range(0, LONG_MICROS)), Step::Leave(round)),
        (When::On(middle, rng.range(0, 1_000)), Step::Change { by: seat(rng), what: change }),
        (When::After(rng.range(0, LONG_MICROS)), Step::Join(0)),
        (When::On(middle, rng.range(0, 1_000)), Step::Change { by: seat(rng), what: change }),
        (When::After(rng.range(0, LONG_MICROS)), Step::Chorus(Service::Agreed)),
    ]
}

fn seat(rng: &mut Rng) -> u8 {
    u8::try_from(rng.range(0, u64::from(SEATS_MAX))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aim::Aim;

    #[test]
    fn a_few_schedules_have_a_forger_and_aimed_ones_all() {
        let drawn = (0..2_000).map(Schedule::draw).filter(|schedule| of(schedule).is_some()).count();
        assert!((20..120).contains(&drawn), "{drawn} of 2,000");
        let aimed = (0..50).map(|seed| {
            let mut schedule = Schedule::draw(seed);
            Aim::Forger.take(&mut schedule);
            schedule
        });
        assert!(aimed.into_iter().all(|schedule| of(&schedule).is_some()));
    }
}
