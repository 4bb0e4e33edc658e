//! Going over to another line: by a Rejoin of one's own, or because the person says so (NODE-15).

use crate::net::papers::rejoining;
use crate::net::{NOW, Net, seconds};
use crate::transcripts::{forked, head};
use folkmoot_attach::ToNode;
use folkmoot_base::{Head, UnixTime};

/// Lets both sides of a fork meet, until each has the evidence.
fn met(seed: u64) -> (Net, Head, Head) {
    let mut net = forked(seed);
    net.cut.clear();
    let knows = |net: &Net, who: usize| !net.node(who).transcript().line().forks().is_empty();
    let known = net.until(seconds(10), |net| (0..3).all(|who| knows(net, who)));
    assert!(known.is_some(), "{}", net.told());
    let (ours, theirs) = (head(&net, 2), head(&net, 0));
    (net, ours, theirs)
}

fn all_on(net: &mut Net, to: Head) {
    let over =
        net.until(seconds(30), |net| (0..3).all(|who| head(net, who) == to) && net.together(&[0, 1, 2]));
    let heads: Vec<String> = (0..3).map(|who| head(net, who).to_string()).collect();
    assert!(over.is_some(), "{heads:?}\n{}", net.told());
}

#[test]
fn node_15_a_person_goes_over_alone_and_the_disk_has_it() {
    let (mut net, _, theirs) = met(21);
    net.tell(2, ToNode::Resolve(net.group, theirs));
    all_on(&mut net, theirs);
    net.restart(4, 2, &[0]);
    assert_eq!(head(&net, 2), theirs);
    all_on(&mut net, theirs);
}

#[test]
fn node_15_two_who_share_a_ring_go_over_one_after_the_other() {
    let (mut net, theirs, _) = met(22);
    net.tell(0, ToNode::Resolve(net.group, theirs));
    let apart = net.until(seconds(20), |net| net.together(&[0, 2]) && net.together(&[1]));
    assert!(apart.is_some(), "{}", net.told());
    net.tell(1, ToNode::Resolve(net.group, theirs));
    all_on(&mut net, theirs);
}

#[test]
fn node_15_a_rejoin_takes_everybody_on_its_line_over() {
    let (mut net, theirs, ours) = met(23);
    let item = rejoining(net.node(0).transcript(), theirs, UnixTime(NOW.0 + 1));
    assert_eq!(ours, head(&net, 0));
    net.item(0, item);
    all_on(&mut net, theirs);
}

/// Both lines go over to each other: the one with the lower digest stays, and goes on. Its members
/// may hear of this before the others have come, or after that from one of them.
#[test]
fn node_15_of_two_lines_that_pass_each_other_one_stays() {
    (0..24).for_each(pass_each_other);
}

fn pass_each_other(seed: u64) {
    let (mut net, two, zero) = met(seed);
    let rejoins: Vec<_> = [(0, two), (2, zero)]
        .map(|(who, to)| (who, rejoining(net.node(who).transcript(), to, UnixTime(NOW.0 + 1))))
        .into();
    net.part(2, 0);
    net.part(2, 1);
    for (who, item) in rejoins {
        net.item(who, item);
    }
    net.until(seconds(5), |net| (0..3).all(|who| head(net, who).number == 2)).expect("both are decided");
    net.cut.clear();
    let stays = if zero.digest < two.digest { head(&net, 0) } else { head(&net, 2) };
    all_on(&mut net, stays);
    let goes_on = |net: &Net, who: usize| {
        let transcript = net.node(who).transcript();
        transcript.set().goes_on(transcript.state())
    };
    let on = net.until(seconds(10), |net| (0..3).all(|who| goes_on(net, who)));
    assert!(on.is_some(), "seed {seed}\n{}", net.told());
}

/// Nobody is moved by a line that nobody asked for, or by a head that no line has.
#[test]
fn node_15_unasked_nobody_goes_over() {
    let (mut net, ours, theirs) = met(25);
    net.tell(2, ToNode::Resolve(net.group, Head { number: theirs.number, digest: [7; 32] }));
    let moved = net.until(seconds(20), |net| head(net, 2) != ours || head(net, 0) != theirs);
    assert!(moved.is_none(), "{}", net.told());
    assert!(net.players[&2].trace.iter().any(|line| line.contains("LINE-74")), "{}", net.told());
}

/// A newcomer whose person knows a head hears of another line first.
#[test]
fn a_newcomer_that_knows_a_head_follows_no_other_line() {
    let (mut net, _, theirs) = met(26);
    net.start_knowing(4, 4, &[2], theirs);
    net.part(4, 0);
    net.part(4, 1);
    let led = net.until(seconds(15), |net| head(net, 4).number > 0);
    assert!(led.is_none(), "{}", net.told());
    assert!(net.players[&4].trace.iter().any(|line| line.contains("LINE-88")), "{}", net.told());
    net.cut.clear();
    net.tell(4, ToNode::Dial(crate::net::locator(0)));
    let led = net.until(seconds(15), |net| head(net, 4) == theirs);
    assert!(led.is_some(), "{}", net.told());
}
