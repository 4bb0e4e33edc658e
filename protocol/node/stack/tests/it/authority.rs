//! The authority's node: linked to all members as a member's node would be, but on no ring.

use crate::net::hollow::Hollow;
use crate::net::{Dice, Net, charter_under, person, seconds};
use folkmoot_base::Instant;

/// Three founders, and the authority, which knows only the first.
fn group(seed: u64) -> Net {
    let mut net = Net::new(3, seed);
    net.authority = Some(4);
    (0..3).for_each(|who| net.start(3, who, &(0..who).collect::<Vec<_>>()));
    net.start(3, 4, &[0]);
    net
}

fn linked(net: &Net, a: usize, b: usize) -> bool {
    net.node(a).locator(&person(b).node()).is_some() && net.node(b).locator(&person(a).node()).is_some()
}

#[test]
fn node_08_the_authoritys_node_finds_all_members_and_is_on_no_ring() {
    let mut net = group(7_000);
    let all = |net: &Net| (0..3).all(|who| linked(net, who, 4));
    assert!(net.until(seconds(4), all).is_some(), "{}", net.told());
    net.until(seconds(4), |net| net.together(&[0, 1, 2])).expect("the members meet");
    net.ms(seconds(10));
    assert!(net.together(&[0, 1, 2]), "and stay so: {}", net.told());
    assert_eq!(net.ring(4), Some(vec![4]), "alone");
    // Its links carry what a member's links carry: none of its frames was out of turn or too much.
    for who in 0..3 {
        let counters = net.node(who).counters().link;
        assert_eq!((counters.out_of_turn, counters.too_much), (0, 0));
    }
}

/// A stranger is admitted through a contact that the authority was not told of. The authority
/// follows the transcript, and finds the newcomer.
#[test]
fn node_08_it_follows_the_transcript_and_finds_who_is_admitted() {
    let mut net = group(7_100);
    net.until(seconds(6), |net| net.together(&[0, 1, 2]) && linked(net, 2, 4)).expect("all meet");
    net.start(3, 3, &[2]);
    net.ms(1_000);
    assert!(!linked(&net, 3, 4), "a stranger is told of nobody");
    net.admit(3, 0);
    let took = net.until(seconds(6), |net| net.together(&[0, 1, 2, 3]) && linked(net, 3, 4));
    assert!(took.is_some(), "{}", net.told());
    net.ms(1_000);
    assert_eq!(net.node(4).transcript().mark(), net.node(0).transcript().mark());
}

#[test]
fn node_08_members_find_the_authority_again_wherever_it_is_known() {
    let mut net = group(7_200);
    net.until(seconds(6), |net| (0..3).all(|who| linked(net, who, 4))).expect("all meet");
    // It is started again and knows nobody; a member dials it.
    net.start(3, 4, &[]);
    let took = net.until(seconds(8), |net| (0..3).all(|who| linked(net, who, 4)));
    assert!(took.is_some(), "{}", net.told());
}

/// The authority's own software sends no such frame; this one treats the members as its ring.
#[test]
fn node_09_frames_of_the_ring_are_taken_from_the_rostered_alone() {
    let mut net = Net::new(3, 7_300);
    net.authority = Some(4);
    (0..3).for_each(|who| net.start(3, who, &(0..who).collect::<Vec<_>>()));
    let hollow = Hollow::under(&charter_under(3, 4), 4, &[0, 1, 2], Instant(0), &mut Dice(1));
    net.sit(4, Box::new(hollow));
    net.until(seconds(6), |net| net.together(&[0, 1, 2])).expect("the members meet");
    net.ms(seconds(5));
    assert!(net.together(&[0, 1, 2]), "{}", net.told());
    for who in 0..3 {
        assert!(net.node(who).locator(&person(4).node()).is_some(), "linked");
        let refused = net.players[&who].trace.iter().any(|line| line.contains("NODE-09"));
        assert!(refused, "{}", net.told());
    }
}
