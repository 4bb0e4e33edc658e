//! An item says that a term is over. No node whose clock says otherwise takes it, and all take it
//! when the time has come.

use crate::net::papers::{decision, end};
use crate::net::{NOW, Net, person, seconds};
use folkmoot_base::UnixTime;

const DAY: u64 = 86_400;
/// Seconds past the end of a term at which a node takes the word of another, and gives its own.
const TAKES: u64 = 61;
const SAYS: u64 = 121;

/// Three founders, and a member that was voted in: all four in one ring, three of them with clocks.
fn four() -> Net {
    let mut net = Net::of(3, 5);
    assert!(net.until(seconds(5), |net| net.together(&[0, 1, 2])).is_some(), "{}", net.told());
    net.start(3, 3, &[0]);
    net.ms(500);
    net.admit(3, 0);
    assert!(net.until(seconds(10), |net| net.together(&[0, 1, 2, 3])).is_some(), "{}", net.told());
    // A decision holds the fourth: until then its membership ends with the votes.
    let item = decision(net.node(0).transcript(), None, NOW);
    net.item(0, item);
    net.ms(1_000);
    [0, 1, 3].iter().for_each(|who| net.clock(*who, NOW));
    net
}

/// When the term of the fourth ends.
fn over(net: &Net) -> u64 {
    net.node(0).transcript().roster().member(&person(3).member()).unwrap().ends.0
}

/// The program of this member says that the term of the fourth is over.
fn say(net: &mut Net, who: usize) {
    let item = end(net.node(who).transcript(), person(3).member());
    net.item(who, item);
}

fn is_member(net: &Net, at: &[usize]) -> bool {
    at.iter().all(|who| net.is_member(*who, 3))
}

fn is_out(net: &Net, at: &[usize]) -> bool {
    at.iter().all(|who| !net.is_member(*who, 3))
}

#[test]
fn line_37_a_clock_that_goes_back_is_asked_again_at_once() {
    let mut net = four();
    let over = over(&net);
    net.clock(0, UnixTime(over + 2 * DAY));
    say(&mut net, 0);
    net.ms(seconds(3));
    assert!(is_out(&net, &[0]) && is_member(&net, &[1, 2, 3]), "{}", net.told());
    // No ring forms: alone it would wait for one for ever.
    net.clock(0, NOW);
    assert!(is_member(&net, &[0]), "{}", net.told());
}

#[test]
fn node_10_a_term_is_not_over_before_its_time() {
    let mut net = four();
    let over = over(&net);
    [0, 2].iter().for_each(|who| say(&mut net, *who));
    net.ms(seconds(3));
    assert!(is_member(&net, &[0, 1, 2, 3]), "neither by a clock nor without one");
    for time in [NOW.0 + DAY, over, over + SAYS - 1] {
        [0, 1, 3].iter().for_each(|who| net.clock(*who, UnixTime(time)));
        net.ms(seconds(3));
        assert!(is_member(&net, &[0, 1, 2, 3]), "{time}: {}", net.told());
    }
    [0, 1, 3].iter().for_each(|who| net.clock(*who, UnixTime(over + SAYS)));
    let gone = net.until(seconds(10), |net| is_out(net, &[0, 1, 3]));
    assert!(gone.is_some(), "what was said waits, and is ordered: {}", net.told());
    assert!(net.is_member(2, 3), "it has no clock, and no decision tells it the time");
    let item = decision(net.node(0).transcript(), None, UnixTime(over + SAYS));
    net.item(0, item);
    let together = net.until(seconds(30), |net| is_out(net, &[2]) && net.together(&[0, 1, 2]));
    assert!(together.is_some(), "{}", net.told());
}

#[test]
fn node_10_clocks_that_differ_by_less_than_a_minute_make_no_difference() {
    let mut net = four();
    let over = over(&net);
    for (who, late) in [(0, SAYS), (1, TAKES), (2, SAYS + 50), (3, TAKES + 20)] {
        net.clock(who, UnixTime(over + late));
    }
    say(&mut net, 0);
    net.ms(200);
    let mark = |net: &Net, who: usize| net.node(who).transcript().mark();
    assert!(is_out(&net, &[0, 1, 2]) && (1..3).all(|who| mark(&net, who) == mark(&net, 0)));
    net.until(seconds(10), |net| net.together(&[0, 1, 2])).unwrap_or_else(|| panic!("{}", net.told()));
}

/// One clock is hours ahead. The ring that stands goes on, and a new configuration leaves that node
/// out and is not held up. When the other clocks have come there, all are together again.
#[test]
fn node_10_a_clock_that_is_ahead_splits_no_ring_and_blocks_none() {
    let mut net = four();
    let over = over(&net);
    net.players.remove(&3);
    net.until(seconds(8), |net| net.together(&[0, 1, 2])).expect("the fourth is gone");
    (0..3).for_each(|who| net.join(who));
    net.ms(seconds(1));
    net.clock(2, NOW);
    net.clock(0, UnixTime(over + SAYS));
    say(&mut net, 0);
    let before = net.installed();
    net.ms(seconds(20));
    assert!(is_out(&net, &[0]) && is_member(&net, &[1, 2]), "{}", net.told());
    assert!(net.together(&[0, 1, 2]) && net.installed() == before, "the ring stands: {}", net.told());
    // Something happens, and the nodes gather anew.
    net.part(1, 2);
    net.ms(seconds(8));
    net.cut.clear();
    let settled = |net: &Net| {
        let two = [1, 2].iter().all(|who| net.players[who].notice == [1, 2].into());
        two && net.together(&[1, 2]) && net.together(&[0])
    };
    assert!(net.until(seconds(60), settled).is_some(), "{}", net.told());
    net.ms(seconds(70));
    assert!(settled(&net), "and stay so: {}", net.told());
    for who in [1, 2] {
        net.clock(who, UnixTime(over + SAYS));
    }
    let all = |net: &Net| (0..3).all(|who| net.players[&who].notice == [0, 1, 2].into());
    let took = net.until(seconds(70), |net| net.together(&[0, 1, 2]) && is_out(net, &[0, 1, 2]) && all(net));
    if took.is_none() {
        // They take it from each other once their clocks say it themselves, at the latest.
        panic!("{}", net.told());
    }
}

/// Everything else goes on.
#[test]
fn node_10_what_waits_holds_up_nothing_else() {
    let mut net = four();
    let over = over(&net);
    net.clock(0, UnixTime(over + SAYS));
    say(&mut net, 0);
    net.ms(seconds(1));
    net.admit(4, 1);
    net.ms(seconds(3));
    for who in [1, 2, 3] {
        assert!(net.is_member(who, 3) && net.is_member(who, 4), "{who}: {}", net.told());
    }
    // A newcomer that hears all of it from a node that has taken it early.
    net.start(3, 4, &[0]);
    net.clock(4, NOW);
    [1, 2, 3].iter().for_each(|who| net.part(4, *who));
    net.ms(seconds(5));
    assert!(net.is_member(4, 4) && net.is_member(4, 3), "{}", net.told());
    let before = net.sent(4, 0);
    net.ms(seconds(5));
    assert!(net.sent(4, 0) - before < 200, "it does not ask again and again: {}", net.sent(4, 0) - before);
}

#[test]
fn node_10_a_clock_that_nobody_has_set_is_none() {
    let mut net = four();
    let over = over(&net);
    net.clock(1, UnixTime(5));
    for who in [0, 3] {
        net.clock(who, UnixTime(over + SAYS));
    }
    say(&mut net, 0);
    net.ms(seconds(2));
    assert!(is_out(&net, &[0, 3]) && is_member(&net, &[1, 2]), "{}", net.told());
    // A decision tells the time.
    let item = decision(net.node(0).transcript(), None, UnixTime(over + SAYS));
    net.item(0, item);
    let gone = net.until(seconds(30), |net| is_out(net, &[0, 1, 2]) && net.together(&[0, 1, 2]));
    assert!(gone.is_some(), "{}", net.told());
}
