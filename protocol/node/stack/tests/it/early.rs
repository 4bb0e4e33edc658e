//! An entry says that a term ended before its time. No node whose clock says otherwise accepts it,
//! and all accept it when the time has come.

use crate::net::{NOW, Net, person, seconds};
use folkmoot_attach::ToNode;
use folkmoot_base::UnixTime;

const DAY: u64 = 86_400;

/// Three founders, and a member that was voted in: all four in one ring, three of them with clocks.
fn four() -> Net {
    let mut net = Net::of(3, 5);
    assert!(net.until(seconds(5), |net| net.together(&[0, 1, 2])).is_some(), "{}", net.told());
    net.start(3, 3, &[0]);
    net.ms(500);
    net.admit(3, 0);
    assert!(net.until(seconds(10), |net| net.together(&[0, 1, 2, 3])).is_some(), "{}", net.told());
    [0, 1, 3].iter().for_each(|who| net.clock(*who, NOW));
    net
}

/// The third member, whose program knows no clock, says that the term of the fourth was over at
/// this time.
fn end_of_term(net: &mut Net, time: UnixTime) {
    let transcript = net.node(2).transcript();
    let held = transcript.roster().member(&person(3).member()).unwrap();
    let entry = transcript.make_expire(held.member, held.entry, time, person(2)).unwrap();
    net.tell(2, ToNode::Entry(entry));
}

#[test]
fn node_10_a_term_is_not_over_before_its_time() {
    let mut net = four();
    let over = net.node(0).transcript().roster().member(&person(3).member()).unwrap().not_after;
    end_of_term(&mut net, UnixTime(over.0 + 1));
    net.ms(seconds(3));
    assert!(!net.is_member(2, 3), "who said so believes it");
    for who in [0, 1, 3] {
        net.clock(who, UnixTime(NOW.0 + DAY));
    }
    net.ms(seconds(3));
    assert!([0, 1, 3].iter().all(|who| net.is_member(*who, 3)), "{}", net.told());
    for who in [0, 1, 3] {
        net.clock(who, UnixTime(over.0 + 1));
    }
    let gone = net.until(seconds(30), |net| [0, 1, 2, 3].iter().all(|who| !net.is_member(*who, 3)));
    assert!(gone.is_some(), "{}", net.told());
    let together = net.until(seconds(30), |net| net.together(&[0, 1, 2]));
    assert!(together.is_some(), "{}", net.told());
}

/// Entries that follow it wait with it, and everything else goes on.
#[test]
fn node_10_what_waits_holds_up_nothing_else() {
    let mut net = four();
    let over = net.node(0).transcript().roster().member(&person(3).member()).unwrap().not_after;
    end_of_term(&mut net, UnixTime(over.0 + 1));
    net.ms(seconds(1));
    net.admit(4, 0);
    net.ms(seconds(3));
    for who in [0, 1, 3] {
        assert!(net.is_member(who, 3) && net.is_member(who, 4), "{who}: {}", net.told());
    }
    // A newcomer that hears all of it from a node that accepted it early.
    net.start(3, 4, &[2]);
    net.clock(4, NOW);
    [0, 1, 3].iter().for_each(|who| net.part(4, *who));
    net.ms(seconds(5));
    assert!(net.is_member(4, 4) && net.is_member(4, 3), "{}", net.told());
    let asked = |net: &Net| net.sent(4, 2);
    let before = asked(&net);
    net.ms(seconds(5));
    assert!(asked(&net) - before < 200, "it does not ask again and again: {}", asked(&net) - before);
}

#[test]
fn node_10_a_time_that_never_comes_is_taken_by_nobody() {
    let mut net = four();
    end_of_term(&mut net, UnixTime(u64::MAX));
    net.ms(seconds(3));
    assert!([0, 1, 2, 3].iter().all(|who| net.is_member(*who, 3)), "not by who has no clock either");
}

#[test]
fn node_10_a_clock_that_nobody_has_set_is_none() {
    let mut net = four();
    net.clock(1, UnixTime(5));
    let over = net.node(0).transcript().roster().member(&person(3).member()).unwrap().not_after;
    for who in [0, 3] {
        net.clock(who, UnixTime(over.0 + 1));
    }
    end_of_term(&mut net, UnixTime(over.0 + 1));
    let gone = net.until(seconds(10), |net| [0, 1, 2].iter().all(|who| !net.is_member(*who, 3)));
    assert!(gone.is_some(), "{}", net.told());
}

/// A member says itself that its term is over, where nobody hears it; the others say so, too. What
/// it brings as a guest is nothing new (NODE-11). Once it is a member again, that entry is ordered
/// too, and all have the same.
#[test]
fn node_11_who_comes_back_brings_its_own_word_along() {
    let mut net = four();
    let held = net.node(0).transcript().roster().member(&person(3).member()).unwrap().clone();
    (0..3).for_each(|who| net.part(3, who));
    net.ms(seconds(8));
    for who in [0, 1, 3] {
        net.clock(who, UnixTime(held.not_after.0 + 100));
    }
    for (author, after) in [(0, 1), (3, 2)] {
        let time = UnixTime(held.not_after.0 + after);
        let entry = net.node(author).transcript().make_expire(held.member, held.entry, time, person(author));
        net.tell(author, ToNode::Entry(entry.unwrap()));
    }
    net.ms(seconds(2));
    net.cut.clear();
    net.ms(seconds(5));
    assert!((0..3).all(|who| !net.is_member(who, 3)), "{}", net.told());
    net.admit(3, 0);
    let together = net.until(seconds(30), |net| net.together(&[0, 1, 2, 3]));
    assert!(together.is_some(), "{}", net.told());
}
