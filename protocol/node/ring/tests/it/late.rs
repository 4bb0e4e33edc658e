//! RING-13, RING-50: JOINs that come late.

use crate::harness::node;
use crate::pair::{ME, PEER, Pair, join, picture};
use folkmoot_base::{ConfigurationId, Danger, Mutant};
use folkmoot_ring::Phase;
use folkmoot_ring::message::{Control, Join, OldRing};

#[test]
fn ring_13_a_join_older_than_one_heard_is_stale() {
    let mut pair = Pair::alone();
    pair.takes(Control::Join(join(5, &[PEER, ME])));
    assert_eq!(pair.ring.status().phase, Phase::Gather);
    let older = join(4, &[PEER]);
    pair.ignores(Control::Join(older.clone()));
    // A new process behind the link counts afresh.
    pair.ring.peer(pair.now, node(PEER), false);
    pair.ring.peer(pair.now, node(PEER), true);
    pair.outputs();
    let before = picture(&pair.ring);
    pair.takes(Control::Join(older));
    assert_ne!(picture(&pair.ring), before);
}

/// In a ring that the peer came to from its configuration 7, or recovering for it.
fn came_from_seven(installs: bool, danger: Mutant) -> Pair {
    let mut pair = Pair::alone_with(danger);
    pair.takes(Control::Join(join(1, &[PEER, ME])));
    pair.recover(OldRing { id: Some(configuration(7)), ..OldRing::default() });
    if installs {
        pair.install();
    }
    pair
}

fn configuration(ring_seq: u64) -> ConfigurationId {
    ConfigurationId { ring_seq, representative: node(PEER), nonce: [ring_seq as u8; 16] }
}

/// Whether a JOIN of the peer with these ring numbers, and a higher number than any that has come,
/// ends what stands.
fn ends(installs: bool, ring_seq: u64, current: Option<u64>, danger: Option<Danger>) -> bool {
    let mut pair = came_from_seven(installs, danger.into());
    let late = Join { ring_seq, current: current.map(configuration), ..join(9, &[PEER, ME]) };
    pair.takes(Control::Join(late));
    pair.ring.status().phase == Phase::Gather
}

/// The JOINs came over a long path, and several configurations of the peer passed meanwhile.
#[test]
fn ring_50_a_join_from_before_the_ring_ends_nothing_however_late_it_comes() {
    for installs in [false, true] {
        for current in [None, Some(3), Some(7)] {
            assert!(!ends(installs, 7, current, None), "{current:?}");
        }
        assert!(ends(installs, 7, Some(3), Some(Danger::RingOldJoinEnds)));
        assert!(!ends(installs, 7, Some(7), Some(Danger::RingOldJoinEnds)));
    }
}

/// The peer took part in the ring and left it, or went elsewhere in place of it.
#[test]
fn ring_50_a_join_from_after_the_ring_ends_it() {
    for installs in [false, true] {
        assert!(ends(installs, 100, Some(7), None));
        assert!(ends(installs, 50, Some(50), None));
        assert!(ends(installs, 101, Some(100), None));
    }
}
