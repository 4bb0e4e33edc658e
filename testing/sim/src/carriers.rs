//! Schedules in which the players' nodes are carriers: they have keys and a charter of their own,
//! and carry the players' group beside another one.
//!
//! They are drawn from a generator of their own, so the rest of a schedule stays as its seed draws
//! it. Some schedules do not fit. A newcomer asks for admission over a link to a member's node, or
//! inside one, and here everybody is at a carrier alone. And what members' nodes tell one another
//! over links, carriers say in the order of their ring only. So a line that forks, because
//! somebody's disk was put back, stays forked for the group's people to see to; and two rings of
//! one ordeal do not hear of each other's roster.

use crate::rng::Rng;
use crate::schedule::{Schedule, Step};
use folkmoot_identity::Scheme;

/// How many of a million schedules have carriers, of those that fit.
const CHANCE: u32 = 250_000;

/// Gives some schedules carriers.
pub(crate) fn add(schedule: &mut Schedule) {
    schedule.carriers = Rng::new(schedule.seed, "carriers", 0).chance(CHANCE);
}

/// Whether the nodes of this schedule are carriers.
pub fn fits(schedule: &Schedule) -> bool {
    schedule.carriers
        && schedule.founders == schedule.players
        && schedule.scheme == Scheme::Plain
        && !schedule.robbed
        && !schedule.steps.iter().any(|(_, step)| is_apart(step))
}

/// Whether a schedule with this step does not fit.
pub(crate) fn is_apart(step: &Step) -> bool {
    matches!(step, Step::RestartOld { .. } | Step::Copy { .. } | Step::Endure | Step::Lie { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_schedules_have_carriers() {
        let fit = (0..1_000).map(Schedule::draw).filter(fits).count();
        assert!((30..150).contains(&fit), "{fit} of 1,000");
    }
}
