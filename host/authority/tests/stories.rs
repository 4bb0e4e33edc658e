//! Single schedules that matter, step by step.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod world;

use folkmoot_authority::replicas::Danger;
use world::World;

/// The first replica alone has a record on its disk; it parts, the other two log another one for the same request, and it comes back.
fn stale(seed: u64, danger: Option<Danger>) -> World {
    let mut world = World::new(seed, 3, danger);
    world.change(&[vec![0, 1, 2]]);
    world.settle();
    let request = [5; 32];
    world.ask(0, request);
    assert!(world.seal(0) && world.deliver(0) && world.write(0, true));
    world.crash(0);
    world.change(&[vec![1, 2]]);
    world.settle();
    world.ask(1, request);
    world.settle();
    world
}

#[test]
fn auth_10_a_record_that_was_never_handed_back_gives_way() {
    let (mut gave_way, mut caught) = (0, 0);
    for seed in 0..16 {
        let mut world = stale(seed, None);
        assert_eq!(world.handed_back(), 1);
        let stands = world.all[1].issued[&[5; 32]].clone();
        let kept = world.on_disk(0, 1);
        world.heal();
        assert!(world.caught.is_empty(), "{:?}", world.caught);
        assert_eq!(world.all[0].issued[&[5; 32]], stands, "the one that was handed back");
        gave_way += usize::from(kept.unwrap() != stands);
        let mut broken = stale(seed, Some(Danger::LongestLog));
        broken.heal();
        caught += usize::from(broken.caught.contains_key("blame"));
    }
    // On the other schedules the ring still brought the first record to the others.
    assert!(gave_way > 3 && gave_way == caught, "{gave_way} {caught}");
}
