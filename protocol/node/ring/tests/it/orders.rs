//! Streams and records, one scenario for each rule (docs/protocol/order.md); the random schedules
//! are in schedules.rs.

use crate::calm::{HOP, delivered, is_token, whole_with};
use crate::harness::{World, check, index};
use crate::{is_data, is_record};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Danger, Service};
use folkmoot_ring::Phase;
use folkmoot_ring::message::{Control, Frame};

fn whole(n: usize, seed: u64) -> World {
    whole_with(n, seed, None)
}

fn is_hurry(bytes: &Bytes) -> bool {
    matches!(Frame::decode(bytes.clone()), Ok(Frame::Control(Control::Hurry(_))))
}

/// However many members a ring has that rests: the packet goes to the holder, the token to the
/// sender, the record to everybody.
#[test]
fn ord_04_a_lone_message_is_everywhere_after_three_hops() {
    for n in [3, 8] {
        for sender in 0..n {
            let mut world = whole(n, 40 + sender as u64);
            let start = world.now;
            world.submit(sender, Service::Agreed, 100);
            while (0..n).any(|i| delivered(&world, i).is_empty()) && world.now < start + 1_000_000 {
                world.run(Duration::from_micros(10));
            }
            let took = world.now - start;
            let hops = if sender == 0 { 1 } else { 3 };
            assert!(took <= hops * HOP + 20, "n{sender} of {n}: {took} us");
        }
    }
}

/// The token rests with the member that sent last. So the first message of another one takes three
/// hops, and its next ones take one.
#[test]
fn ord_04_who_sends_alone_has_the_token() {
    let mut world = whole(4, 44);
    for (sender, hops) in [(2, 3), (2, 1), (2, 1), (0, 3), (0, 1), (2, 3)] {
        let (start, before) = (world.now, delivered(&world, 3).len());
        world.submit(sender, Service::Agreed, 100);
        while (0..4).any(|i| delivered(&world, i).len() == before) && world.now < start + 1_000_000 {
            world.run(Duration::from_micros(10));
        }
        let took = world.now - start;
        assert!(((hops - 1) * HOP..=hops * HOP + 20).contains(&took), "n{sender}: {took} us");
        world.ms(20);
    }
}

/// Packets that leave early, and are lost on the way to the holder, get their places all the same:
/// their sender asks for the token.
#[test]
fn ord_04_a_packet_that_the_holder_never_had_gets_its_place() {
    let mut world = whole(3, 50);
    world.drop_frame = Some(|from, to, bytes| from == 2 && to == 0 && is_data(bytes) && !is_record(bytes));
    world.submit(2, Service::Agreed, 100);
    world.ms(100);
    assert_eq!((delivered(&world, 1).len(), delivered(&world, 2).len()), (1, 1));
    world.drop_frame = None;
    world.ms(500);
    assert_eq!(delivered(&world, 0).len(), 1);
    check::all(&world).unwrap();
}

/// The last packet of a burst is lost at one member, over and over. Until that has it, the token
/// does not rest.
#[test]
fn ord_05_the_token_does_not_rest_while_a_member_lacks_something() {
    let took = |danger| {
        let mut world = whole_with(4, 55, danger);
        world.drop_frame = Some(|_, to, bytes| to == 2 && is_data(bytes));
        world.submit(0, Service::Agreed, 100);
        world.ms(20);
        let start = world.now;
        world.drop_frame = None;
        while delivered(&world, 2).is_empty() && world.now < start + 1_000_000 {
            world.run(Duration::from_micros(10));
        }
        world.now - start
    };
    assert!(took(None) <= 10 * HOP, "{}", took(None));
    let rests = took(Some(Danger::RingRestsAnyway));
    assert!(rests > 50 * HOP, "{rests}");
}

/// The member that holds the token hears neither packets nor HURRY of another. The token goes round
/// by itself, so the other one's packet gets its place, and the ring stands.
#[test]
fn ord_06_the_token_that_is_held_goes_round_by_itself() {
    let stands = |danger| {
        let mut world = whole_with(3, 56, danger);
        let before = world.installed();
        world.drop_frame =
            Some(|from, to, bytes| from == 2 && to == 0 && (is_data(bytes) || is_hurry(bytes)));
        world.submit(2, Service::Agreed, 100);
        world.ms(2_000);
        let there = delivered(&world, 1).len() == 1 && world.installed() == before;
        world.drop_frame = None;
        world.settle(Duration::from_secs(10)).expect("they are together");
        check::all(&world).unwrap();
        there && world.installed() == before
    };
    assert!(stands(None));
    assert!(!stands(Some(Danger::RingRestsForGood)));
}

/// A record that is lost to everybody but the next member is known with the token.
#[test]
fn ord_02_a_lost_record_comes_with_the_token() {
    let mut world = whole(4, 51);
    world.drop_frame = Some(|_, _, bytes| is_record(bytes));
    world.submit(1, Service::Agreed, 100);
    world.submit(3, Service::Safe, 100);
    world.ms(20);
    assert!((0..4).all(|i| delivered(&world, i).len() == 2), "without any request");
    check::all(&world).unwrap();
}

/// The token is lost, so what two members have sent has no place when the ring ends. All survive:
/// all deliver it behind the signal, by sender and number, at places of their own.
#[test]
fn ord_11_what_has_no_place_comes_behind_by_sender_and_number() {
    let mut world = whole(3, 52);
    world.drop_frame = Some(|_, _, bytes| is_token(bytes));
    world.submit(2, Service::Agreed, 100);
    world.submit(1, Service::Agreed, 3_000);
    world.ms(5);
    assert!((0..3).all(|i| delivered(&world, i).is_empty()));
    world.ms(500);
    world.drop_frame = None;
    world.settle(Duration::from_secs(10)).expect("they meet again");
    for i in 0..3 {
        let got = delivered(&world, i);
        let senders: Vec<usize> = got.iter().map(|delivery| index(&delivery.sender)).collect();
        assert_eq!(senders, [1, 2]);
        assert!(got.iter().all(|delivery| delivery.transitional && delivery.order >= Some(1 << 60)));
    }
    check::all(&world).unwrap();
}

/// The same, but the sender does not survive, and nobody can know whether it sent more: nobody
/// delivers it.
#[test]
fn ord_11_what_has_no_place_of_a_sender_that_is_gone_is_not_delivered() {
    let mut world = whole(3, 53);
    world.drop_frame = Some(|_, _, bytes| is_token(bytes));
    world.submit(2, Service::Agreed, 100);
    world.ms(5);
    world.crash(2);
    world.drop_frame = None;
    world.settle(Duration::from_secs(10)).expect("the others go on");
    assert!((0..2).all(|i| delivered(&world, i).is_empty()));
    check::all(&world).unwrap();
}

/// A packet has its place, and nobody but its sender has the packet. The sender is gone. Then the
/// packet arrives at one of the others, behind its commit entry: it has said what it holds, so it
/// leaves the packet to recovery.
#[test]
fn ord_09_what_comes_after_the_commit_entry_is_left_to_recovery() {
    for danger in [None, Some(Danger::RingTakesLate)] {
        let mut world = whole_with(4, 54, danger);
        world.detect = (5_000_000, 5_000_000);
        world.hold_frame =
            Some(|from, to, bytes| from == 3 && to == 0 && is_data(bytes) && !is_record(bytes));
        world.drop_frame =
            Some(|from, to, bytes| from == 3 && to != 0 && is_data(bytes) && !is_record(bytes));
        world.submit(3, Service::Agreed, 100);
        world.ms(100);
        assert_eq!(delivered(&world, 3).len(), 1, "it has its place");
        world.crash(3);
        let recovers = |world: &World| world.nodes[0].ring.as_ref().unwrap().status().phase == Phase::Recover;
        while !recovers(&world) && world.now < 60_000_000 {
            world.run(Duration::from_micros(10));
        }
        world.release();
        world.settle(Duration::from_secs(10)).expect("the others go on");
        let all = check::all(&world);
        match danger {
            None => all.unwrap(),
            Some(_) => assert!(all.unwrap_err().starts_with("EVS 4"), "one of three delivers it"),
        }
        assert_eq!(delivered(&world, 1).len(), 0, "a hole");
    }
}
