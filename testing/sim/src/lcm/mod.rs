//! Discovery and keys of publish and subscribe, in virtual time: the machine that ships, on a
//! network that delays, loses, repeats and splits, with clocks that disagree.
//!
//! ```text
//! seed --> Plan --> World { nodes: machine, disk, clock } --events--> Record --> checkers
//! ```
//! Each node has two machines, one for the group's key and one for a channel's, as LCMsec has.

mod chart;
pub mod check;
pub mod churn;
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
pub const MUTANTS: [Caught; 9] = [
    Caught { danger: Danger::KeepsFirst, checker: "one_group", story: Story::Start },
    Caught { danger: Danger::FixedTimes, checker: "one_group", story: Story::Start },
    Caught { danger: Danger::InstallsEarly, checker: "all_confirmed", story: Story::Start },
    Caught { danger: Danger::NumbersStay, checker: "one_key_a_number", story: Story::Start },
    Caught { danger: Danger::JoinsAgain, checker: "joins", story: Story::Start },
    Caught { danger: Danger::ExcludesNobody, checker: "excluded_deaf", story: Story::Exclude },
    Caught { danger: Danger::ForgetsInstances, checker: "replays_start_nothing", story: Story::Replay },
    Caught { danger: Danger::ForgetsInstances, checker: "replays_refused", story: Story::Replay },
    Caught { danger: Danger::HidesFormer, checker: "one_group", story: Story::Renew },
];

/// Mutants that show in hours of churn, and the checker that must catch them.
pub const CHURN_MUTANTS: [(Danger, &str); 4] = [
    (Danger::CountsStrangers, "one_group"),
    (Danger::NeverForgets, "bounded"),
    (Danger::HidesFormer, "one_group"),
    (Danger::StaysBehind, "one_group"),
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

    /// Runs of one story, beside those that are drawn.
    fn hold(story: Story) {
        for seed in 100..106 {
            assert_eq!(play(&Plan::of(seed, story), None).1, [], "seed {seed}");
        }
    }

    #[test]
    fn whoever_crashes_rejoins() {
        hold(Story::Crash);
    }

    #[test]
    fn another_certificate_counts_for_those_who_were_away_too() {
        hold(Story::Renew);
    }

    #[test]
    fn groups_of_three_and_five_merge() {
        for seed in 1..6 {
            let plan = Plan { loss: 0, old: 0, new: 8, ..Plan::of(seed, Story::Heal) };
            let mut world = World::new(&plan, None);
            for _ in 0..8 {
                world.add();
            }
            world.nodes.iter_mut().skip(3).for_each(|node| node.side = 1);
            (0..8).for_each(|node| world.start(node));
            world.run(world.now + 10_000_000);
            let sizes = |world: &World| -> Vec<usize> {
                let keys = world.nodes.iter().filter_map(|node| node.seats.first()?.keys.last());
                keys.map(|(_, epoch)| epoch.members.len()).collect()
            };
            assert_eq!(sizes(&world), [3, 3, 3, 5, 5, 5, 5, 5], "seed {seed}");
            world.nodes.iter_mut().for_each(|node| node.side = 0);
            assert!(world.run_until(plan::PATIENCE, World::is_one), "seed {seed}");
            assert_eq!(sizes(&world), [8; 8]);
        }
    }

    #[test]
    fn replays_are_refused_and_counted() {
        let mut refused = 0;
        for seed in 1..5 {
            let (world, found) = play(&Plan::of(seed, Story::Replay), None);
            assert_eq!(found, [], "seed {seed}");
            refused += world.refused_again;
        }
        assert!(refused > 1_000, "{refused}");
    }

    #[test]
    fn the_checkers_catch_what_shows_in_every_run() {
        let quick = |mutant: &&Caught| mutant.story != Story::Replay;
        // Two of the mutants show in few runs; these two runs show them.
        let seeds = || [11, 6].into_iter().chain(1..40);
        for mutant in MUTANTS.iter().filter(quick) {
            let caught = seeds().any(|seed| {
                let found = play(&Plan::of(seed, mutant.story), Some(mutant.danger)).1;
                found.iter().any(|one| one.checker == mutant.checker)
            });
            assert!(caught, "{mutant:?}");
        }
    }
}
