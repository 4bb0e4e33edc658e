//! Unreliable messages (ORD-16): what they do not wait for, and what nobody does for them.

use crate::calm::{HOP, delivered, is_token, whole_with};
use crate::harness::{World, check, index, node};
use crate::is_unreliable;
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::limits::UNRELIABLE_BYTES_MAX;
use folkmoot_base::{Danger, Instant, Service};
use folkmoot_ring::{Counters, Phase};
use std::cell::RefCell;

fn got(world: &World, i: usize, from: usize) -> usize {
    let all = delivered(world, i);
    let got = all.iter().filter(|d| d.service == Service::Unreliable && index(&d.sender) == from);
    got.inspect(|delivery| assert_eq!(delivery.order, None)).count()
}

fn counters(world: &World, i: usize) -> Counters {
    world.nodes[i].ring.as_ref().unwrap().counters()
}

/// No token goes anywhere, and a safe message in front waits for ever.
#[test]
fn ord_16_unreliable_waits_for_nothing() {
    let mut world = whole_with(4, 80, None);
    world.drop_frame = Some(|_, _, bytes| is_token(bytes));
    world.submit(2, Service::Safe, 100);
    world.submit(2, Service::Unreliable, 100);
    assert_eq!(got(&world, 2, 2), 1, "its sender has it at once");
    world.run(Duration::from_micros(HOP + 10));
    assert!((0..4).all(|i| got(&world, i, 2) == 1));
    check::all(&world).unwrap();
}

/// It is lost on its way to one member. Nothing behind it waits, nobody asks for it, and the ring
/// rests.
#[test]
fn ord_16_what_is_lost_stays_lost_and_holds_nothing_up() {
    let mut world = whole_with(3, 81, None);
    world.drop_frame = Some(|_, to, bytes| to == 1 && is_unreliable(bytes));
    let before = counters(&world, 1);
    world.submit(0, Service::Unreliable, 100);
    world.submit(0, Service::Fifo, 100);
    world.run(Duration::from_micros(HOP + 10));
    assert_eq!(delivered(&world, 1).len(), 1, "the FIFO message");
    world.drop_frame = None;
    world.ms(5_000);
    assert_eq!((got(&world, 0, 0), got(&world, 1, 0), got(&world, 2, 0)), (1, 0, 1));
    let after = counters(&world, 1);
    assert_eq!((after.asked, after.installed), (before.asked, before.installed));
    assert_eq!(world.unreliable.len(), 1);
    check::all(&world).unwrap();
}

/// It takes no place and no number of the stream.
#[test]
fn ord_16_unreliable_has_no_place_and_no_number_in_its_stream() {
    let mut world = whole_with(3, 82, None);
    let before = counters(&world, 0);
    (0..200).for_each(|_| assert!(world.submit(0, Service::Unreliable, 500)));
    world.ms(1_000);
    assert_eq!(counters(&world, 0).numbered, before.numbered);
    assert_eq!(got(&world, 1, 0), 200);
    assert_eq!(world.unreliable.len(), 200);
    check::all(&world).unwrap();
}

/// Of a message in many packets, whatever order they come in, one is lost on its way to one member.
#[test]
fn ord_16_a_large_message_comes_whole_or_not_at_all() {
    let mut world = whole_with(3, 83, None);
    world.delay = (HOP, 50 * HOP);
    world.drop_frame = Some(|_, to, bytes| to == 1 && is_unreliable(bytes) && bytes[9] % 200 == 7);
    for _ in 0..2 {
        world.submit(0, Service::Unreliable, 100_000);
    }
    world.submit(0, Service::Unreliable, 1_300);
    world.ms(200);
    assert!(world.unreliable.len() > 150, "{}", world.unreliable.len());
    assert_eq!((got(&world, 0, 0), got(&world, 2, 0)), (3, 3));
    assert_eq!(got(&world, 1, 0), 2, "one lacks a packet");
    check::all(&world).unwrap();
}

/// The longest one passes, and the next byte is refused.
#[test]
fn ord_16_the_longest_message_passes() {
    let mut world = whole_with(3, 84, None);
    assert!(!world.submit(0, Service::Unreliable, UNRELIABLE_BYTES_MAX + 4 * 1024 + 1));
    assert!(world.submit(0, Service::Unreliable, UNRELIABLE_BYTES_MAX + 4 * 1024));
    world.ms(100);
    assert_eq!((got(&world, 0, 0), got(&world, 1, 0)), (1, 1));
}

/// A program says more than may leave at once: what is too much is given up by its sender, and
/// counted. Its other messages do not wait for it.
#[test]
fn ord_16_a_flood_is_given_up_at_its_sender() {
    let mut world = whole_with(3, 85, None);
    (0..3_000).for_each(|_| assert!(world.submit(0, Service::Unreliable, 100)));
    let given_up = counters(&world, 0).given_up;
    assert_eq!(given_up, 3_000 - 1_024);
    assert_eq!(got(&world, 0, 0), 1_024, "what is not sent is not delivered here either");
    world.submit(0, Service::Agreed, 100);
    world.run(Duration::from_micros(4 * HOP + 50));
    assert!((0..3).all(|i| delivered(&world, i).iter().any(|d| d.service == Service::Agreed)));
    world.ms(20);
    (0..1_000).for_each(|_| assert!(world.submit(0, Service::Unreliable, 100)));
    assert_eq!(counters(&world, 0).given_up, given_up, "the pause made room");
    check::all(&world).unwrap();
}

thread_local! {
    static CAUGHT: RefCell<Option<Bytes>> = const { RefCell::new(None) };
}

fn catch(world: &mut World) -> Bytes {
    world.drop_frame = Some(|_, to, bytes| {
        if is_unreliable(bytes) {
            CAUGHT.with_borrow_mut(|caught| *caught = Some(bytes.clone()));
        }
        is_unreliable(bytes) && to == 2
    });
    world.submit(0, Service::Unreliable, 100);
    world.ms(5);
    world.drop_frame = None;
    CAUGHT.take().expect("it was sent")
}

/// Somebody on the way sends the datagram again.
fn a_packet_counts_once(danger: Option<Danger>) -> Result<(), String> {
    let mut world = whole_with(3, 86, danger);
    let packet = catch(&mut world);
    world.take(Instant(world.now), 1, node(0), packet.clone());
    world.take(Instant(world.now), 2, node(0), packet.clone());
    world.take(Instant(world.now), 2, node(0), packet);
    assert_eq!(got(&world, 0, 0), 1);
    check::all(&world)
}

#[test]
fn ring_31_an_unreliable_packet_counts_once() {
    a_packet_counts_once(None).unwrap();
    let why = a_packet_counts_once(Some(Danger::RingTakesUnreliableAgain)).unwrap_err();
    assert!(why.starts_with("EVS 1d"), "{why}");
}

/// Nobody repeats such packets, so another member that says one lies.
#[test]
fn ring_31_an_unreliable_packet_comes_from_its_sender() {
    let mut world = whole_with(3, 87, None);
    let packet = catch(&mut world);
    world.take(Instant(world.now), 2, node(1), packet.clone());
    assert_eq!(world.errors.len(), 1);
    assert!(world.errors[0].contains("RING-31"), "{:?}", world.errors);
    assert_eq!(got(&world, 2, 0), 0);
    world.errors.clear();
    world.take(Instant(world.now), 2, node(0), packet);
    assert_eq!(got(&world, 2, 0), 1, "it left room for the genuine one");
    check::all(&world).unwrap();
}

/// What comes after its configuration has ended is dropped, in the gather, in recovery and in the
/// next configuration.
#[test]
fn ord_16_nothing_is_delivered_in_another_configuration() {
    let mut world = whole_with(3, 88, None);
    let packet = catch(&mut world);
    world.crash(0);
    let phase = |world: &World| world.nodes[2].ring.as_ref().map(|ring| ring.status().phase);
    for during in [Phase::Gather, Phase::Commit, Phase::Recover, Phase::Operational] {
        while phase(&world) != Some(during) {
            world.run(Duration::from_micros(10));
        }
        world.take(Instant(world.now), 2, node(1), packet.clone());
        if during != Phase::Operational {
            world.submit(2, Service::Unreliable, 100);
        }
    }
    world.ms(1_000);
    assert_eq!(got(&world, 2, 0), 0);
    assert_eq!((got(&world, 2, 2), counters(&world, 2).given_up), (0, 3), "no configuration stood");
    check::all(&world).unwrap();
}

/// What a node alone says, it alone hears.
#[test]
fn ord_16_a_member_alone_hears_itself() {
    let mut world = whole_with(1, 89, None);
    world.submit(0, Service::Unreliable, 30_000);
    world.submit(0, Service::Unreliable, 30);
    assert_eq!(got(&world, 0, 0), 2);
    assert!(world.unreliable.is_empty());
    check::all(&world).unwrap();
}
