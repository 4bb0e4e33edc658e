//! What a ring costs in which nobody says anything, and what it finds out all the same.

use crate::net::{Net, person, seconds};
use folkmoot_base::Locator;

/// Datagrams that one member sends in a second, on average, while nobody says anything.
fn idle_rate(members: usize) -> f64 {
    let all: Vec<usize> = (0..members).collect();
    let mut net = Net::of(members, 7_000 + members as u64);
    net.until(seconds(20), |net| net.together(&all)).expect("one ring");
    net.ms(seconds(30));
    let sent = |net: &Net| -> u64 {
        all.iter().map(|from| all.iter().map(|to| net.sent(*from, *to)).sum::<u64>()).sum()
    };
    let (before, installed) = (sent(&net), net.installed());
    net.ms(seconds(60));
    assert_eq!(net.installed(), installed, "{}", net.told());
    (sent(&net) - before) as f64 / 60.0 / members as f64
}

/// Most of it is the token, which goes round 5.6 times a second; the links add two at most.
#[test]
fn link_24_an_idle_ring_costs_each_member_the_same_whatever_its_size() {
    for members in [5, 32] {
        let rate = idle_rate(members);
        assert!(rate <= 10.0, "{members} members: {rate:.1} datagrams a second from each");
    }
}

/// A ring of so many that nobody has disturbed for a while.
fn idle(members: usize) -> Net {
    let all: Vec<usize> = (0..members).collect();
    let mut net = Net::of(members, 7_500 + members as u64);
    net.until(seconds(20), |net| net.together(&all)).expect("one ring");
    net.ms(seconds(30));
    net
}

#[test]
fn link_24_whoever_is_lost_costs_one_configuration() {
    for lost in [0, 3, 7] {
        let mut net = idle(8);
        net.players.remove(&lost);
        let before = net.installed();
        let rest: Vec<usize> = (0..8).filter(|who| *who != lost).collect();
        let took = net.until(seconds(3), |net| net.together(&rest));
        assert!(took.is_some_and(|took| took <= 1_400), "{lost}\n{}", net.told());
        net.ms(seconds(30));
        assert_eq!(net.installed(), before + 7, "{lost}\n{}", net.told());
    }
}

/// Between two that are no neighbours in the ring the token does not go, in neither direction.
#[test]
fn link_24_a_cut_in_one_direction_is_found_in_an_idle_ring() {
    for (a, b) in [(0, 1), (0, 2), (0, 3), (0, 4), (1, 0), (2, 0), (3, 0), (4, 0)] {
        let mut net = idle(5);
        net.cut.insert((a, b));
        let apart = |net: &Net| {
            !(0..5).any(|who| net.ring(who).is_none_or(|ring| [a, b].iter().all(|one| ring.contains(one))))
        };
        let took = net.until(seconds(8), apart);
        assert!(took.is_some(), "{a} to {b}\n{}", net.told());
        net.cut.clear();
        net.until(seconds(10), |net| net.together(&[0, 1, 2, 3, 4])).expect("one ring again");
    }
}

#[test]
fn link_24_a_member_that_moves_stays_in_the_ring() {
    for who in 0..5 {
        let mut net = idle(5);
        let before = net.installed();
        net.moved.insert(who, Locator::memory(77));
        net.ms(seconds(30));
        let found = |other: usize| net.node(other).locator(&person(who).node());
        assert!((0..5).all(|other| other == who || found(other) == Some(Locator::memory(77))));
        assert_eq!(net.installed(), before, "{who}\n{}", net.told());
    }
}

/// If tokens are lost, the ring does not rest: they are repeated as soon as in one that is at work.
#[test]
fn an_idle_ring_stands_though_every_twentieth_datagram_is_lost() {
    let mut net = idle(16);
    net.loss = 13;
    let before = net.installed();
    net.ms(seconds(60));
    assert_eq!(net.installed(), before, "{}", net.told());
}
