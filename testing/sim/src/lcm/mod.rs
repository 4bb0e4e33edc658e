//! Discovery and keys of publish and subscribe, in virtual time: the machine that ships, on a
//! network that delays, loses, repeats and splits, with clocks that disagree.
//!
//! ```text
//! seed --> Plan --> World { nodes: machine, disk, clock } --events--> Record --> checkers
//! ```
//! Each node has two machines, one for the group's key and one for a channel's, as LCMsec has.

mod chart;
pub mod check;
pub mod insiders;
pub mod papers;
pub mod plan;
pub mod table;
pub mod world;

pub use check::{Violation, judge};
pub use plan::{Plan, Story};
pub use world::World;

use folkmoot_pubsub::discovery::Danger;

/// A mutant and the checker that must catch it.
#[derive(Debug, Clone, Copy)]
pub struct Caught {
    /// What is broken.
    pub danger: Danger,
    /// Whose checker.
    pub checker: &'static str,
    /// In which stories it can show.
    pub story: Story,
}

/// Every mutant.
pub const MUTANTS: [Caught; 7] = [
    Caught { danger: Danger::KeepsFirst, checker: "one_group", story: Story::Start },
    Caught { danger: Danger::FixedTimes, checker: "one_group", story: Story::Start },
    Caught { danger: Danger::InstallsEarly, checker: "all_confirmed", story: Story::Start },
    Caught { danger: Danger::NumbersStay, checker: "one_key_a_number", story: Story::Start },
    Caught { danger: Danger::JoinsAgain, checker: "joins", story: Story::Start },
    Caught { danger: Danger::ExcludesNobody, checker: "excluded_deaf", story: Story::Exclude },
    Caught { danger: Danger::ForgetsInstances, checker: "replays_start_nothing", story: Story::Replay },
];

/// Plays one plan, and says what it broke.
pub fn play(plan: &Plan, danger: Option<Danger>) -> (World, Vec<Violation>) {
    let mut world = World::new(plan, danger);
    plan.play(&mut world);
    let violations = judge(plan, &world);
    (world, violations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_runs_break_nothing() {
        for seed in 1..40 {
            assert_eq!(play(&Plan::draw(seed), None).1, [], "seed {seed}");
        }
    }

    #[test]
    fn whoever_splits_and_meets_again_is_one() {
        for seed in [1_048, 5, 6, 7, 8, 9] {
            assert_eq!(play(&Plan::of(seed, Story::Heal), None).1, [], "seed {seed}");
        }
    }

    #[test]
    fn the_checkers_catch_what_shows_in_every_run() {
        let quick = |mutant: &&Caught| mutant.story != Story::Replay;
        for mutant in MUTANTS.iter().filter(quick) {
            let caught = (1..40).any(|seed| {
                let found = play(&Plan::of(seed, mutant.story), Some(mutant.danger)).1;
                found.iter().any(|one| one.checker == mutant.checker)
            });
            assert!(caught, "{mutant:?}");
        }
    }
}
