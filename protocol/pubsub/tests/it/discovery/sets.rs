//! Which sets the next key is for.

use super::net::{Net, read};
use folkmoot_pubsub::discovery::Danger;
use folkmoot_pubsub::discovery::message::Said;

fn is_join(said: &Said) -> bool {
    matches!(said, Said::Join(_))
}

fn is_response(said: &Said) -> bool {
    matches!(said, Said::Response(_))
}

#[test]
fn nodes_find_one_another_and_say_one_join_each() {
    for size in 1..12 {
        let net = Net::agreed(size, None);
        assert_eq!(net.sent(0, is_join).len(), usize::from(size));
    }
}

#[test]
fn one_who_comes_later_costs_three_speakers_and_itself() {
    let mut net = Net::new(9, None);
    (0..8).for_each(|node| net.start(node));
    net.run(3_000);
    net.assert_one(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let before = net.wire.len();
    net.start(8);
    net.run(1_000);
    net.assert_one(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let rounds = net.sent(before, |said| matches!(said, Said::Round(_)));
    let mut speakers: Vec<usize> = rounds.iter().map(|(from, _)| *from).collect();
    speakers.sort_unstable();
    speakers.dedup();
    assert_eq!(speakers, [0, 1, 7, 8], "first, second, last, and the joiner");
    assert_eq!(net.nodes[4].keys.len(), 2, "the listeners have the key too");
}

#[test]
fn pub_44_only_what_lists_this_process_counts() {
    let mut net = Net::agreed(3, None);
    let old: Vec<_> = net.sent(0, is_response);
    net.stop(2);
    net.restart(2);
    // The sets of before list the process of before.
    let before = net.wire.len();
    old.iter().filter(|(from, _)| *from != 2).for_each(|(_, bytes)| net.tell(2, bytes));
    net.stop(0);
    net.stop(1);
    net.run(500);
    let said = net.sent(before, |said| matches!(said, Said::Round(_)));
    assert!(said.iter().all(|(from, _)| *from != 2), "no share for what was");
    net.restart(0);
    net.restart(1);
    net.run(4_000);
    net.assert_one(&[1, 2, 3]);
}

#[test]
fn pub_45_a_larger_p_then_a_larger_j_wins_and_no_two_candidates_tie() {
    let mut net = Net::agreed(4, None);
    let before = net.wire.len();
    net.add(5, 0);
    net.add(6, 0);
    net.start(4);
    net.run(20);
    net.start(5);
    net.run(2_000);
    net.assert_one(&[1, 2, 3, 4, 5, 6]);
    assert!(net.sent(before, is_response).len() <= 3);
    let keeps = Net::new(6, Some(Danger::KeepsFirst));
    assert!(!settles(keeps), "without the rule the nodes stay apart");
    assert!(settles(Net::new(6, None)));
}

/// Somebody asks, and says no more. Whoever comes next is listed under a higher number: those who
/// still wait for the first go over to the second.
#[test]
fn pub_45_what_follows_a_failure_has_a_higher_number() {
    for danger in [None, Some(Danger::NumbersFall)] {
        let mut net = Net::agreed(4, danger);
        let before = net.wire.len();
        net.add(5, 0);
        net.start(4);
        net.stop(4);
        net.run(5_000);
        net.add(6, 0);
        net.start(5);
        net.run(5_000);
        let mut numbers: Vec<u64> = Vec::new();
        for (_, bytes) in net.sent(before, is_response) {
            if let Said::Response(response) = read(&bytes).said {
                numbers.push(response.number);
            }
        }
        // What one candidate is for is said again.
        numbers.dedup();
        assert_eq!(numbers.len() > 1, danger.is_none(), "{numbers:?}");
        assert!(numbers.is_sorted(), "{numbers:?}");
    }
}

/// Nodes that start one after another, so that several answer.
fn settles(mut net: Net) -> bool {
    net.delay = 60_000;
    for node in 0..6 {
        net.start(node);
        net.run(5);
    }
    net.run(1_200);
    let first = net.nodes[0].keys.last().map(|epoch| epoch.run);
    first.is_some() && net.nodes.iter().all(|node| node.keys.last().map(|epoch| epoch.run) == first)
}

#[test]
fn pub_49_a_join_that_was_recorded_draws_no_share_from_those_who_have_a_key() {
    // Node 9 speaks where nobody hears it; later the record is played to the group.
    let mut elsewhere = Net::new(9, None);
    elsewhere.start(8);
    let recorded = elsewhere.join_of(8);
    for (danger, shares) in [(None, 0), (Some(Danger::HoldersHurry), 3)] {
        let mut net = Net::agreed(4, danger);
        let (before, epoch) = (net.wire.len(), net.key(0).clone());
        (0..4).for_each(|to| net.tell(to, &recorded));
        net.run(10_000);
        let said = net.sent(before, |said| matches!(said, Said::Round(round) if round.share.is_some()));
        let mut speakers: Vec<_> = said.iter().map(|(from, _)| *from).collect();
        speakers.sort_unstable();
        speakers.dedup();
        assert_eq!(speakers.len(), shares);
        if danger.is_none() {
            assert_eq!(net.key(0), &epoch, "the key stays");
            let joins: Vec<_> = net.sent(before, is_join);
            assert!(joins.is_empty());
        }
    }
}

#[test]
fn a_node_that_crashed_comes_back_and_the_key_is_a_new_one() {
    let mut net = Net::agreed(5, None);
    let old = net.key(0).clone();
    net.stop(1);
    net.run(500);
    net.restart(1);
    net.run(4_000);
    net.assert_one(&[1, 2, 3, 4, 5]);
    assert_ne!(net.key(0).key, old.key);
    assert!(net.key(0).number > old.number);
}

#[test]
fn a_candidate_names_its_author_among_its_own() {
    let net = Net::agreed(5, None);
    for (from, bytes) in net.sent(0, is_response) {
        let Said::Response(response) = read(&bytes).said else { panic!("a response") };
        let listed = response.old.iter().chain(&response.new).map(|blob| read(&blob.0).sender);
        assert!(listed.into_iter().any(|uid| usize::from(uid) == from + 1));
    }
}
