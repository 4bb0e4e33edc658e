//! Thousands of schedules: crashes at every point, splits, merges, restarts; and mutants, each of
//! which its checker catches.

use crate::world::World;
use folkmoot_authority::replicas::Danger;
use std::collections::BTreeMap;

const STEPS: usize = 800;

fn run(seed: u64, replicas: usize, danger: Option<Danger>) -> World {
    let mut world = World::new(seed, replicas, danger);
    let storm = [4, 15, 40, 100][world.dice.below(4)];
    world.change(&[(0..replicas).collect()]);
    for _ in 0..STEPS {
        world.step(storm);
    }
    world.heal();
    world
}

fn runs(replicas: usize, seeds: u64) {
    let (mut handed, mut most) = (0, 0);
    for seed in 0..seeds {
        let world = run(seed, replicas, None);
        assert!(world.caught.is_empty(), "{replicas} replicas, seed {seed}: {:?}", world.caught);
        handed += world.handed_back();
        most = most.max(world.handed_back());
    }
    assert!(handed as u64 > seeds && most > 8, "the schedules issue something: {handed}, at most {most}");
}

#[test]
fn two_replicas_issue_nothing_twice_and_lose_nothing() {
    runs(2, 3_000);
}

#[test]
fn three_replicas_issue_nothing_twice_and_lose_nothing() {
    runs(3, 3_000);
}

#[test]
fn four_and_five_replicas_issue_nothing_twice_and_lose_nothing() {
    runs(4, 700);
    runs(5, 700);
}

/// Of two the first is lost for good, at a moment when the other has all that was handed back, and
/// is set up anew with the other's log.
#[test]
fn two_replicas_of_which_one_took_the_others_log_issue_nothing_twice_and_lose_nothing() {
    let mut alone = 0;
    for seed in 0..1_000 {
        let mut world = World::new(seed, 2, None);
        let storm = [4, 15, 40][world.dice.below(3)];
        world.change(&[vec![0, 1]]);
        (0..STEPS / 2).for_each(|_| world.step(storm));
        world.heal();
        world.lose_disk(0);
        world.crash(1);
        world.take_log(0, 1, true);
        world.start(0);
        if world.dice.chance(60) {
            // It goes on alone before the other is back.
            let before = world.handed_back();
            world.change(&[vec![0]]);
            (0..STEPS / 8).for_each(|_| world.step(0));
            alone += world.handed_back() - before;
        }
        (0..STEPS / 2).for_each(|_| world.step(storm));
        world.heal();
        assert!(world.caught.is_empty(), "seed {seed}: {:?}", world.caught);
    }
    assert!(alone > 200, "it issues something alone: {alone}");
}

#[test]
fn every_checker_catches_its_mutant() {
    let table: [(Danger, &[&str]); 9] = [
        (Danger::KeepsTwo, &["once", "disk"]),
        (Danger::SaysKeptEarly, &["durable"]),
        (Danger::HandsBackUnkept, &["durable", "order"]),
        (Danger::MinorityToo, &["quorum", "once", "order"]),
        (Danger::LongestLog, &["blame"]),
        (Danger::OwnLog, &["blame"]),
        (Danger::AfterSignal, &["blame"]),
        (Danger::ProposesOnce, &["liveness"]),
        (Danger::NewCount, &["durable", "order"]),
    ];
    let mut missed = Vec::new();
    for (danger, checkers) in table {
        let mut caught: BTreeMap<&str, u64> = BTreeMap::new();
        for seed in 0..1_500 {
            run(seed, 3, Some(danger)).caught.keys().for_each(|name| *caught.entry(name).or_default() += 1);
        }
        println!("{danger:?}: {caught:?}");
        let uncaught = checkers.iter().filter(|checker| !caught.contains_key(*checker));
        missed.extend(uncaught.map(|checker| format!("{danger:?}, {checker}: {caught:?}")));
    }
    assert!(missed.is_empty(), "{missed:?}");
}
