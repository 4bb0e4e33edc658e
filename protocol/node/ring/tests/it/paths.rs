//! RING-26, RING-27: the packets of a configuration fit the smallest path of any of its members.

use crate::harness::{Rng, node};
use crate::is_data;
use crate::pair::{ME, PEER, Pair, picture};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Lead, Service};
use folkmoot_ring::message::{CommitToken, Control, OldRing};
use folkmoot_ring::{Cause, Output, Phase};

/// What the link puts around a frame.
const SEALED: usize = 33;

/// In a configuration of which the peer said `theirs` of its paths, and whose own path carries
/// `ours`.
fn together(theirs: u16, ours: u16) -> Pair {
    let mut pair = Pair::alone();
    pair.ring.path(pair.now, node(PEER), ours);
    pair.paths = [theirs, ours];
    pair.takes(Control::Join(crate::pair::join(1, &[PEER, ME])));
    assert_eq!(pair.ring.status().phase, Phase::Gather);
    pair.recover(OldRing::default());
    pair.install();
    pair
}

/// The datagrams that long and short messages of this node make.
fn datagrams(pair: &mut Pair) -> Vec<usize> {
    for length in [1_350, 30_000, 10, 700, 900] {
        let payload = Bytes::from(vec![7; length]);
        pair.ring.submit(pair.now, (0, 0), Service::Agreed, (Lead::NONE, payload)).unwrap();
    }
    let token = pair.token();
    pair.token_seq += 2;
    pair.takes_quietly(Control::Token(token));
    let frame = |output| match output {
        Output::Multicast { frame, .. } if is_data(&frame) => Some(frame.len() + SEALED),
        _ => None,
    };
    pair.outputs().into_iter().filter_map(frame).collect()
}

#[test]
fn ring_26_packets_fit_the_smallest_path_of_any_member_recovered_too() {
    for (theirs, ours) in [(1_452, 1_452), (1_372, 1_452), (1_452, 1_372), (1_232, 1_252), (1_200, 1_200)] {
        let mut pair = together(theirs, ours);
        let most = usize::from(theirs.min(ours));
        assert_eq!(pair.ring.status().mtu, Some(theirs.min(ours)));
        let longest = datagrams(&mut pair).into_iter().max().unwrap();
        // Ten bytes more are for the header of its recovered form.
        assert_eq!(longest, most - 10, "{theirs} {ours}");
    }
}

/// A member that says too little or too much of its paths makes packets neither shorter than any
/// path needs nor longer than a datagram may be.
#[test]
fn ring_26_who_lies_about_its_paths_does_not_make_packets_tiny_or_huge() {
    for (lie, most) in [(0, 1_200), (1, 1_200), (1_199, 1_200), (1_453, 1_452), (u16::MAX, 1_452)] {
        let mut pair = together(lie, 1_452);
        let longest = datagrams(&mut pair).into_iter().max().unwrap();
        assert_eq!(longest, most - 10, "{lie}");
    }
}

#[test]
fn ring_26_what_we_said_of_our_paths_comes_back_unchanged() {
    let mut pair = Pair::agreed();
    let mine = pair.committed(OldRing::default());
    let good = pair.commit(vec![OldRing::default(), mine], 2);
    for mtus in [vec![1_452, 1_451], vec![1_452, 0]] {
        pair.ignores(Control::Commit(CommitToken { mtus, ..good.clone() }));
    }
    for mtus in [vec![], vec![1_452], vec![1_452; 3]] {
        let frame = Control::Commit(CommitToken { mtus, ..good.clone() }).encode();
        let before = picture(&pair.ring);
        assert!(pair.ring.frame(pair.now, node(PEER), frame, &mut Rng(1)).is_err());
        assert_eq!(picture(&pair.ring), before);
    }
    pair.takes(Control::Commit(good));
    assert_eq!(pair.ring.status().phase, Phase::Recover);
}

#[test]
fn ring_27_a_ring_whose_packets_a_path_no_longer_carries_is_left() {
    let mut pair = together(1_372, 1_452);
    pair.ring.path(pair.now, node(PEER), 1_372);
    pair.now = pair.now + Duration::from_millis(30);
    pair.ring.timeout(pair.now, &mut Rng(1));
    assert_eq!(pair.ring.status().phase, Phase::Operational, "it still carries them");
    pair.ring.path(pair.now, node(PEER), 1_352);
    pair.now = pair.now + Duration::from_millis(30);
    pair.outputs();
    pair.ring.timeout(pair.now, &mut Rng(1));
    let left = |output: &Output| matches!(output, Output::Trace(change) if change.cause == Cause::PacketsTooLong(node(PEER)));
    assert!(pair.outputs().iter().any(left));
}

/// Nothing is shorter than any path needs: what carries less than that is the links' to cut.
#[test]
fn ring_27_a_path_below_the_base_ends_no_ring_of_the_base() {
    let mut pair = together(1_200, 1_452);
    for mtu in [1_200, 640, 0] {
        pair.ring.path(pair.now, node(PEER), mtu);
        pair.now = pair.now + Duration::from_millis(30);
        pair.ring.timeout(pair.now, &mut Rng(1));
        assert_eq!(pair.ring.status().phase, Phase::Operational, "{mtu}");
    }
}

/// A path that carries more ends no ring: the next configuration uses it.
#[test]
fn ring_27_a_path_that_carries_more_is_no_reason_to_leave() {
    let mut pair = together(1_452, 1_232);
    pair.ring.path(pair.now, node(PEER), 1_452);
    pair.now = pair.now + Duration::from_millis(30);
    pair.ring.timeout(pair.now, &mut Rng(1));
    assert_eq!(pair.ring.status().phase, Phase::Operational);
    assert_eq!(pair.ring.status().mtu, Some(1_232));
}
