//! LINK-24: links inside one configuration rest while the ring is heard, and no longer.

use crate::common::{Net, config, node_of, place};
use core::time::Duration;
use folkmoot_base::NodeId;
use folkmoot_link::{Channel, DownCause, Input, Output, limits};
use std::collections::BTreeSet;

/// Nodes with links to each other, all in one configuration.
fn ring(count: u8) -> Net {
    let mut net = Net::new(count);
    for from in 0..usize::from(count) {
        for to in 0..from {
            net.dial(from, to);
        }
        net.run_ms(20);
    }
    (0..count).for_each(|who| company(&mut net, usize::from(who), 1..=count));
    net
}

/// Node `who` is in a configuration with these.
fn company(net: &mut Net, who: usize, names: impl IntoIterator<Item = u8>) {
    let nodes: Vec<NodeId> =
        names.into_iter().filter(|name| usize::from(*name) != who + 1).map(node_of).collect();
    net.input(who, Input::Company { nodes }).unwrap();
}

/// A token goes round among `members` every 100 ms, for `ms`. Returns how many passes there were.
fn token(net: &mut Net, members: &[usize], ms: u64) -> usize {
    for _ in 0..ms / 100 {
        for (from, to) in members.iter().zip(members.iter().cycle().skip(1)) {
            let _ = net.send(*from, node_of(*to as u8 + 1), Channel::Ring, b"token");
        }
        net.run_ms(100);
    }
    (ms / 100) as usize * members.len()
}

fn gone(net: &Net, who: usize, name: u8) -> bool {
    net.parties[who].heard.contains(&Output::Down { node: node_of(name), cause: DownCause::Silent })
}

fn downs(net: &Net) -> usize {
    net.parties.iter().map(crate::common::Party::downs).sum()
}

#[test]
fn link_24_links_that_rest_cost_each_member_as_much_as_one_that_does_not() {
    for count in [2_u8, 3, 8, 24] {
        let mut net = ring(count);
        let members: Vec<usize> = (0..usize::from(count)).collect();
        token(&mut net, &members, 20_000);
        let before = net.log.len();
        let passes = token(&mut net, &members, 60_000);
        let each = (net.log.len() - before - passes) as f64 / 60.0 / f64::from(count);
        assert!(each <= 2.1, "{count} members: {each:.2} datagrams a second from each");
        assert_eq!(downs(&net), 0, "{count} members");
    }
}

#[test]
fn link_24_no_path_is_unused_for_longer_than_translators_of_addresses_allow() {
    let mut net = ring(3);
    // As if it were a large configuration.
    for who in 0..3 {
        company(&mut net, who, 1..=250);
    }
    let paths: BTreeSet<_> =
        (0..3).flat_map(|a| (0..3).filter(move |b| a != *b).map(move |b| (place(a), place(b)))).collect();
    for _ in 0..10 {
        let before = net.log.len();
        token(&mut net, &[0, 1, 2], (limits::REST_MAX * 5 / 4).as_millis() as u64 + 100);
        let used: BTreeSet<_> =
            net.log[before..].iter().map(|(to, from, _)| (from.clone(), to.clone())).collect();
        assert_eq!(used, paths);
    }
    assert_eq!(downs(&net), 0);
}

#[test]
fn link_24_when_the_ring_is_silent_who_is_gone_is_found_as_without_rest() {
    let mut net = ring(5);
    token(&mut net, &[0, 1, 2, 3, 4], 30_000);
    net.cut.extend((0..4).flat_map(|who| [(place(who), place(4)), (place(4), place(who))]));
    net.run(config().silence + Duration::from_millis(1));
    assert!((0..4).all(|who| gone(&net, who, 5)));
    assert_eq!((downs(&net), net.parties[4].downs()), (8, 4), "and nobody else");
}

#[test]
fn link_24_a_configuration_that_ends_wakes_its_links() {
    let mut net = ring(5);
    token(&mut net, &[0, 1, 2, 3, 4], 30_000);
    net.cut.extend((0..4).flat_map(|who| [(place(who), place(4)), (place(4), place(who))]));
    let before = net.log.len();
    company(&mut net, 0, []);
    net.run(config().silence / 3);
    let asked = |to: &usize| {
        let mut since = net.log[before..].iter();
        since.any(|(at, from, _)| (from.clone(), at.clone()) == (place(0), place(*to)))
    };
    assert_eq!((1..5).filter(asked).count(), 4, "all are asked");
    // The others still have their token.
    token(&mut net, &[0, 1, 2, 3], 1_600);
    assert!(gone(&net, 0, 5));
    assert_eq!(net.parties[0].downs(), 1);
}

#[test]
fn link_24_two_that_do_not_hear_each_other_are_found_while_the_ring_goes_on() {
    for cut in [(0, 2), (2, 0)] {
        let mut net = ring(5);
        token(&mut net, &[0, 1, 2, 3, 4], 30_000);
        net.cut.insert((place(cut.0), place(cut.1)));
        // Four links: each rests for a third of `silence` times four, or a quarter more.
        token(&mut net, &[0, 1, 2, 3, 4], 2_500 + 1_500 + 100);
        assert!(gone(&net, cut.1, cut.0 as u8 + 1), "{cut:?}");
        assert!([1, 3, 4].iter().all(|who| net.parties[*who].downs() == 0), "{cut:?}");
    }
}

#[test]
fn link_24_a_member_that_moves_is_found_by_all_though_it_hears_nobody() {
    let mut net = ring(5);
    token(&mut net, &[0, 1, 2, 3, 4], 30_000);
    net.parties[2].at = place(77);
    net.run(config().silence / 2);
    for who in [0, 1, 3, 4] {
        assert_eq!(net.parties[who].links.locator(&node_of(3)), Some(place(77)));
    }
    assert_eq!(downs(&net), 0);
}

#[test]
fn link_24_whoever_is_not_in_the_configuration_is_asked_as_before() {
    let mut net = ring(3);
    for who in 0..2 {
        company(&mut net, who, [1, 2]);
    }
    company(&mut net, 2, []);
    net.cut.extend([(place(2), place(0)), (place(0), place(2))]);
    token(&mut net, &[0, 1], 1_600);
    assert!(gone(&net, 0, 3) && gone(&net, 2, 1));
    assert_eq!(downs(&net), 2);
}

/// Both sides dial at once, so that there are two associations, and then little is said.
#[test]
fn link_24_a_link_that_rests_keeps_the_keys_that_its_peer_uses() {
    for seed in 1..40_u64 {
        let mut net = Net::new(4);
        net.dice.0 = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (net.jitter_ms, net.loss) = (seed % 40, 10);
        (0..4).for_each(|from| (0..4).filter(|to| *to != from).for_each(|to| net.dial(from, to)));
        let all_up = |net: &Net| net.parties.iter().all(|party| party.links.peers().count() == 3);
        while !all_up(&net) {
            net.run_ms(1);
        }
        net.loss = 0;
        (0..4).for_each(|who| company(&mut net, who, 1..=4));
        token(&mut net, &[0, 1, 2, 3], 400 + seed * 200);
        net.parties.iter_mut().for_each(|party| party.heard.clear());
        for (from, to) in
            (0..4).flat_map(|from| (0..4).filter(move |to| *to != from).map(move |to| (from, to)))
        {
            net.send(from, node_of(to as u8 + 1), Channel::Ring, &[7]).unwrap();
        }
        net.run_ms(100);
        assert!(net.parties.iter().all(|party| party.frames().len() == 3), "seed {seed}");
    }
}

#[test]
fn link_36_a_path_that_becomes_slow_is_measured_and_its_peer_may_be_silent_for_longer() {
    let mut net = Net::pair();
    let trip = |net: &Net| net.parties[0].links.path(&node_of(2)).unwrap().trip;
    assert!(trip(&net) < Duration::from_millis(5));
    net.delay = 600_000;
    net.run_ms(5_000);
    assert!(trip(&net) >= Duration::from_millis(1_200), "{:?}", trip(&net));
    net.cut.extend([(place(0), place(1)), (place(1), place(0))]);
    net.run_ms(4_500);
    assert_eq!(downs(&net), 0);
    net.run_ms(2_000);
    assert_eq!(downs(&net), 2);
}

#[test]
fn link_36_all_are_measured_when_a_configuration_ends() {
    let mut net = ring(3);
    token(&mut net, &[0, 1, 2], 5_000);
    net.delay = 100_000;
    company(&mut net, 0, []);
    net.run_ms(450);
    for name in [2, 3] {
        assert!(net.parties[0].links.path(&node_of(name)).unwrap().trip >= Duration::from_millis(200));
    }
}
