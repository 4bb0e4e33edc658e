//! RING-34, RING-35, RING-48: what distant members save.

use crate::harness::{Rng, World, check, node};
use crate::pair::{ME, PEER, Pair, begun, join};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Danger, Lead, Mutant, Service};
use folkmoot_ring::data::{Class, Part, put_piece};
use folkmoot_ring::message::{Control, Frame, OldRing, Token};
use folkmoot_ring::{Output, Phase};
use std::cell::Cell;

/// One way, in microseconds.
const HOP: u64 = 200_000;

fn world(n: usize, seed: u64, danger: Option<Danger>) -> World {
    let mut world = World::new(n, seed, danger);
    world.delay = (HOP, HOP);
    world.detect = (1_000, 1_000);
    world
}

/// How many round trips nodes that never met need until they are in one ring, and how many packets
/// came to somebody who had no keys for them.
fn trips(n: usize, drop: Option<fn(usize, usize, &Bytes) -> bool>, danger: Option<Danger>) -> (u64, u64) {
    let mut world = world(n, 7, danger);
    world.drop_frame = drop;
    for i in 0..n {
        world.start(i);
        world.submit(i, Service::Agreed, 100);
    }
    let began = world.now;
    // While they gather.
    world.ms(500);
    (0..n).for_each(|i| _ = world.submit(i, Service::Agreed, 100));
    world.settle(Duration::from_secs(60)).expect("one ring");
    world.ms(3_000);
    assert_eq!(check::all(&world), Ok(()));
    ((world.now - began - 3_000_000) / (2 * HOP), world.keys.lost)
}

/// JOIN, its answer, COMMIT, and a rotation of the token; two more for messages that all have.
#[test]
fn ring_34_nodes_that_never_met_exchange_nothing() {
    let took = trips(3, None, None);
    assert!(took.0 <= 7, "{took:?}");
}

thread_local! {
    static DROPPED: Cell<u32> = const { Cell::new(0) };
}

/// The same, if the first three of the second COMMITs are lost.
fn late(danger: Option<Danger>) -> (u64, u64) {
    DROPPED.set(0);
    let drop = |_: usize, _: usize, bytes: &Bytes| {
        let commit = |frame| matches!(frame, Frame::Control(Control::Commit(token)) if token.rotation == 2);
        let lost = Frame::decode(bytes.clone()).is_ok_and(commit) && DROPPED.get() < 3;
        DROPPED.set(DROPPED.get() + u32::from(lost));
        lost
    };
    let late = trips(3, Some(drop), danger);
    assert_eq!(DROPPED.get(), 3);
    late
}

#[test]
fn ring_34_the_second_commit_is_repeated_by_those_that_have_installed() {
    assert!(late(None).0 <= 9, "{:?}", late(None));
}

#[test]
fn ring_34_until_the_token_has_been_round_packets_need_no_keys() {
    assert_eq!(late(None).1, 0);
    assert!(late(Some(Danger::RingSealsFirstRound)).1 > 0);
}

thread_local! {
    static HELD: Cell<u32> = const { Cell::new(0) };
}

/// How many HELDs so many distant nodes say for a safe message of each.
fn helds(n: usize, danger: Option<Danger>) -> u32 {
    HELD.set(0);
    let mut world = world(n, 7, danger);
    world.drop_frame = Some(|_, _, bytes| {
        let held = matches!(Frame::decode(bytes.clone()), Ok(Frame::Control(Control::Held(_))));
        HELD.set(HELD.get() + u32::from(held));
        false
    });
    (0..n).for_each(|i| world.start(i));
    world.settle(Duration::from_secs(60)).expect("one ring");
    (0..n).for_each(|i| _ = world.submit(i, Service::Safe, 100));
    world.ms(20_000);
    assert_eq!(check::all(&world), Ok(()));
    HELD.get()
}

#[test]
fn ring_45_many_members_leave_it_to_the_token_to_say_what_all_hold() {
    assert!(helds(3, None) > 0);
    assert_eq!(helds(9, None), 0);
    let many = helds(9, Some(Danger::RingHeldByMany));
    assert!(many > 9 * 8 * 2, "{many}");
}

/// In one ring with a peer that is 100 ms away, with the first token.
fn first(danger: Mutant) -> Pair {
    let mut pair = Pair::alone_with(danger);
    pair.trips = [100; 2];
    pair.ring.trip(node(PEER), Duration::from_millis(100));
    pair.takes(Control::Join(join(1, &[PEER, ME])));
    pair.recover(OldRing::default());
    pair.passes();
    assert_eq!(pair.ring.status().phase, Phase::Operational);
    pair
}

/// The token has gone.
pub fn gone(danger: Mutant) -> Pair {
    let mut pair = first(danger);
    while turn(&mut pair).is_none() {}
    pair
}

/// A token of the peer has brought a safe message.
pub fn brought() -> Pair {
    let mut pair = gone(Mutant::NONE);
    let mut frame = begun(pair.head(), Class::Safe);
    put_piece(&mut frame, Part { first: true, last: true, message: 7 }, &[b"?"]);
    assert!(pair.sends(frame.freeze()).is_empty());
    assert_eq!(pair.passes().len(), 1);
    pair
}

/// So much later, with all that was due meanwhile done.
pub fn later(pair: &mut Pair, span: Duration) {
    let until = pair.now + span;
    while let Some(at) = pair.ring.poll_timeout().filter(|at| *at <= until) {
        pair.ring.timeout(at, &mut Rng(1));
    }
    pair.now = until;
    pair.outputs();
}

/// The timer that is due, and the token, if it left.
pub fn turn(pair: &mut Pair) -> Option<Token> {
    assert_eq!(pair.ring.poll_timeout(), Some(pair.now), "the token waits for no time");
    pair.ring.timeout(pair.now, &mut Rng(1));
    pair.outputs().into_iter().find_map(|output| match output {
        Output::Send { frame, .. } => match Frame::decode(frame) {
            Ok(Frame::Control(Control::Token(token))) => {
                (pair.records, pair.places) = (token.records, token.places);
                Some(token)
            }
            _ => None,
        },
        _ => None,
    })
}

fn say(pair: &mut Pair) {
    say_as(pair, 0, Service::Agreed);
}

fn say_as(pair: &mut Pair, party: u16, service: Service) {
    let message = (Lead::NONE, Bytes::from_static(b"!"));
    pair.ring.submit(pair.now, (party, 0), service, message).unwrap();
}

#[test]
fn ring_35_the_answer_to_what_the_token_brought_goes_with_it() {
    let mut pair = brought();
    let places = pair.places;
    say(&mut pair);
    assert_eq!(turn(&mut pair), None, "what was ordered now may be answered, too");
    let token = turn(&mut pair).expect("no more answers");
    assert_eq!(token.places, places + 1);
}

#[test]
fn ring_35_who_answers_without_end_keeps_the_token_for_six_turns() {
    let mut pair = brought();
    let places = pair.places;
    let mut said = 0;
    let token = loop {
        say(&mut pair);
        said += 1;
        if let Some(token) = turn(&mut pair) {
            break token;
        }
    };
    assert_eq!((said, token.places), (6, places + 6));
}

/// How many places the first visit gives, and the next one, if two parties say something: one
/// something safe, and the other then something agreed.
fn places(danger: Mutant) -> [u64; 2] {
    let mut pair = first(danger);
    say_as(&mut pair, 1, Service::Safe);
    say_as(&mut pair, 2, Service::Agreed);
    while turn(&mut pair).is_none() {}
    let first = pair.places;
    later(&mut pair, Duration::from_millis(100));
    pair.passes();
    while pair.ring.poll_timeout() == Some(pair.now) {
        turn(&mut pair);
    }
    [first, pair.places - first]
}

#[test]
fn ring_48_a_safe_message_holds_up_nothing_of_what_members_say_when_they_meet() {
    assert_eq!(places(Mutant::NONE), [1, 1]);
    assert_eq!(places(Some(Danger::RingSafeAtOnce).into()), [2, 0]);
}
