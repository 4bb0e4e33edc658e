//! What was proposed while nobody heard it is with the others soon after a restart.

use crate::distant::{FOUNDERS, until, world};
use folkmoot_sim::machine::{Command, Role};
use folkmoot_sim::record::Disk;
use folkmoot_sim::world::World;

/// How long the others may wait for it, from the restart on, in microseconds.
const LIMIT: u64 = 5_000_000;

/// Nothing leaves the first member any more, its person proposes, and it is killed.
#[test]
fn a_proposal_of_a_member_that_was_killed_at_once_is_shown_soon_after_its_restart() {
    for seed in 1..=20 {
        let mut world = world(100, seed, false, None);
        until(&mut world, &FOUNDERS, 0);
        world.play_until(world.now + 2_000_000);
        world.net.split(vec![0, 1, 1]);
        world.command(0, Command::Expel(2));
        world.play_until(world.now + 100_000);
        let shown = |world: &World, player| world.chair(player).unwrap().shown_proposals.contains(&2);
        assert!(!shown(&world, 1), "seed {seed}: nothing of it has left");
        world.crash(0, 0);
        world.net.heal();
        let started = world.now;
        world.boot(0, Role::Founder, Disk::Synced);
        while !shown(&world, 1) {
            assert!(world.now < started + LIMIT, "seed {seed}: the second member has not seen it");
            world.play_until(world.now + 10_000);
        }
        println!("seed {seed}: after {} ms", (world.now - started) / 1_000);
    }
}
