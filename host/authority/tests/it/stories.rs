//! Single schedules that matter, step by step.

use crate::world::{World, record};
use folkmoot_authority::replicas::{BATCH_BYTES_MAX, Danger, Input, Standing};

/// The first replica alone has a record on its disk; it parts, the other two log another one for
/// the same request, and it comes back.
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

/// Two replicas log more than five batches; the third comes, and goes in the middle, and comes
/// again.
#[test]
fn auth_12_who_lacks_much_goes_on_where_it_broke_off() {
    const RECORD: usize = 24 * 1024;
    let count = 5 * BATCH_BYTES_MAX / RECORD;
    let mut world = World::new(3, 3, None);
    world.change(&[vec![0, 1, 2]]);
    world.settle();
    world.change(&[vec![0, 1], vec![2]]);
    world.settle();
    for number in 0..count {
        world.hand(0, Input::Record(record([number as u8; 32], &vec![number as u8; RECORD])));
    }
    world.settle();
    assert_eq!(world.handed_back(), count);
    world.change(&[vec![0, 1, 2]]);
    // Word by word, until some have come.
    while world.status(2).length < count as u64 / 3 {
        for one in 0..3 {
            let _ = world.deliver(one) || world.write(one, true) || world.seal(one);
        }
    }
    let standing = world.status(2).standing;
    assert!(matches!(standing, Standing::CatchingUp { records: Some(_), .. }), "{standing:?}");
    while world.write(2, true) {}
    let come = world.status(2).length;
    assert!(come < count as u64);
    world.crash(2);
    world.change(&[vec![0, 1]]);
    world.settle();
    world.start(2);
    assert_eq!(world.status(2).length, come, "what came is on disk");
    world.change(&[vec![0, 1, 2]]);
    let before = world.sent;
    world.settle();
    assert!(world.sent - before < (count - come as usize + 2) * (RECORD + 500), "and is not sent again");
    world.heal();
    assert!(world.caught.is_empty(), "{:?}", world.caught);
    assert_eq!(world.all[2].issued.len(), count);
}

/// All begin together; afterwards those who know the log are the quorum, and one that is set up
/// anew is filled by them and counts again.
#[test]
fn auth_14_who_knows_nothing_of_the_log_makes_no_quorum() {
    let mut world = World::new(5, 3, None);
    world.change(&[vec![0, 1], vec![2]]);
    world.settle();
    world.ask(0, [1; 32]);
    world.settle();
    assert_eq!((world.handed_back(), world.status(0).standing), (0, Standing::FewKnow { know: 0 }));
    assert_eq!(world.status(2).standing, Standing::NoQuorum);
    world.change(&[vec![0, 1, 2]]);
    world.settle();
    world.again(0);
    world.settle();
    assert_eq!(world.handed_back(), 1, "all begin together");
    world.change(&[vec![0, 1], vec![2]]);
    world.settle();
    world.ask(1, [2; 32]);
    world.settle();
    assert_eq!(world.handed_back(), 2, "two of three go on");
    // One of these two is lost with its disk: the one that was away and the new one are two of
    // three, and know nothing of the second record.
    world.crash(1);
    world.lose_disk(0);
    world.start(0);
    world.change(&[vec![0, 2]]);
    world.ask(2, [2; 32]);
    world.settle();
    assert_eq!((world.handed_back(), world.status(2).standing), (2, Standing::FewKnow { know: 1 }));
    assert!(!world.status(0).knows && world.status(2).knows);
    world.start(1);
    world.change(&[vec![0, 1, 2]]);
    world.settle();
    assert_eq!(world.on_disk(0, 2), world.on_disk(1, 2), "filled");
    assert_eq!(world.all[0].issued.len(), 2, "and its authority has all of it");
    world.change(&[vec![0, 2], vec![1]]);
    world.settle();
    assert!(world.status(0).is_ready(), "it counts again");
    world.heal();
    assert!(world.caught.is_empty(), "{:?}", world.caught);
}

/// Of two, the second is made anew whenever it is lost; the first alone knows what it issued alone.
#[test]
fn of_two_the_first_cannot_be_replaced_by_an_empty_one() {
    let mut world = World::new(6, 2, None);
    world.change(&[vec![0, 1]]);
    world.settle();
    world.lose_disk(1);
    world.start(1);
    world.change(&[vec![0, 1]]);
    world.settle();
    assert!(world.status(0).is_ready() && world.status(1).is_ready());
    world.lose_disk(0);
    world.start(0);
    world.change(&[vec![0], vec![1]]);
    world.settle();
    assert_eq!(
        world.status(0).standing,
        Standing::FewKnow { know: 0 },
        "alone it is a quorum that knows nothing"
    );
    world.change(&[vec![0, 1]]);
    world.settle();
    let words = world.status(1).words();
    assert_eq!(world.status(0).standing, Standing::FewKnow { know: 1 });
    assert!(words.contains("only 1 of 2 replicas know the log, and the others are new: too few"), "{words}");
    assert!(world.caught.is_empty(), "{:?}", world.caught);
}

/// Of two the first is lost, takes the other's log, and goes on alone; then the other comes. With
/// or without the ring's number.
fn taken(ring: bool) -> World {
    let mut world = World::new(8, 2, None);
    for _ in 0..4 {
        world.change(&[vec![0, 1]]);
        world.settle();
    }
    world.ask(0, [1; 32]);
    world.settle();
    assert_eq!(world.handed_back(), 1);
    world.lose_disk(0);
    world.crash(1);
    world.take_log(0, 1, ring);
    world.start(0);
    world.change(&[vec![0]]);
    world.settle();
    world.ask(0, [2; 32]);
    world.settle();
    world
}

#[test]
fn auth_15_a_log_that_was_taken_goes_on_from_the_views_it_knows() {
    let mut world = taken(true);
    assert_eq!(world.handed_back(), 2);
    world.heal();
    assert!(world.caught.is_empty(), "{:?}", world.caught);
    assert_eq!(world.on_disk(1, 2), world.on_disk(0, 2), "the other takes over what was issued alone");
    // From views before those of its log nothing goes on.
    let world = taken(false);
    assert!(world.caught["blame"].contains("AUTH-15"), "{:?}", world.caught);
    assert_eq!((world.handed_back(), world.on_disk(0, 2)), (1, None));
}

/// An office is set up anew beside a replica that was kept.
#[test]
fn auth_16_all_of_the_log_is_handed_back_after_each_start() {
    let mut world = World::new(9, 2, None);
    world.change(&[vec![0, 1]]);
    world.settle();
    for number in 1..4 {
        world.ask(0, [number; 32]);
    }
    world.settle();
    let issued = world.all[1].issued.clone();
    assert_eq!((issued.len(), world.status(1).handed), (3, 3));
    world.lose_office(1);
    world.start(1);
    world.change(&[vec![0, 1]]);
    world.settle();
    assert_eq!(world.all[1].issued, issued);
    // A view more hands nothing back again.
    world.all[1].issued.clear();
    world.change(&[vec![0, 1]]);
    world.settle();
    assert!(world.all[1].issued.is_empty());
    assert!(world.caught.is_empty(), "{:?}", world.caught);
}

/// What is handed back, and when: in a quorum's view alone, when every disk of it has it.
#[test]
fn auth_13_nothing_comes_back_before_every_disk_of_a_quorum_has_it() {
    let mut world = World::new(4, 2, None);
    world.change(&[vec![0, 1]]);
    world.settle();
    world.change(&[vec![1], vec![0]]);
    world.settle();
    world.ask(1, [1; 32]);
    world.settle();
    assert_eq!((world.handed_back(), world.status(1).standing), (0, Standing::NoQuorum));
    world.ask(0, [2; 32]);
    world.settle();
    assert_eq!(world.handed_back(), 1, "of two the first goes on alone");
    world.change(&[vec![0, 1]]);
    world.settle();
    assert_eq!(world.handed_back(), 1, "what waited was for the view before");
    world.again(1);
    world.settle();
    assert_eq!(world.handed_back(), 2, "what its authority says again comes too");
    world.ask(0, [3; 32]);
    // All but one disk.
    while world.deliver(0) || world.deliver(1) || world.seal(0) || world.seal(1) || world.write(0, true) {}
    assert_eq!(world.handed_back(), 2);
    world.settle();
    assert_eq!(world.handed_back(), 3);
    assert!(world.caught.is_empty(), "{:?}", world.caught);
}
