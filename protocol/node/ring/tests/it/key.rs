//! RING-24 and RING-25: contributions, keys, and what is sealed under them.

use crate::harness::play::play;
use crate::harness::{World, node};
use crate::pair::{ME, OUTSIDER, PEER, PEERS, Pair, join, picture};
use core::time::Duration;
use folkmoot_base::{ConfigurationId, Service};
use folkmoot_ring::message::{CommitToken, Control, Join, OldRing};
use folkmoot_ring::{Contribution, KeyChange, Output, Phase, RingKeys};
use std::collections::BTreeSet;

/// Of the attempts that this node was told of.
fn attempts(outputs: Vec<Output>) -> Vec<RingKeys> {
    let keys = |output| match output {
        Output::Key(KeyChange::Attempt(keys)) => Some(keys),
        _ => None,
    };
    outputs.into_iter().filter_map(keys).collect()
}

/// A member before us in the second rotation lies.
#[test]
fn ring_24_our_contribution_comes_back_unchanged_or_the_commit_token_is_ignored() {
    let mut pair = Pair::agreed();
    let mine = pair.committed(OldRing::default());
    let good = pair.commit(vec![OldRing::default(), mine], 2);
    let theirs = Contribution::new(PEERS);
    for contributions in [
        vec![theirs.clone(), theirs.clone()],
        vec![pair.contribution.clone(), theirs.clone()],
        vec![theirs.clone(), Contribution::new([0; 32])],
    ] {
        pair.ignores(Control::Commit(CommitToken { contributions, ..good.clone() }));
    }
    pair.takes(Control::Commit(good));
    assert_eq!(pair.ring.status().phase, Phase::Recover);
}

/// A COMMIT has as many contributions as old rings.
#[test]
fn ring_24_a_commit_token_without_a_contribution_is_malformed() {
    let mut pair = Pair::agreed();
    let good = pair.commit(vec![OldRing::default()], 1);
    let before = picture(&pair.ring);
    for contributions in [vec![], vec![Contribution::new(PEERS); 2]] {
        let bad = Control::Commit(CommitToken { contributions, ..good.clone() });
        assert!(pair.ring.frame(pair.now, node(PEER), bad.encode(), &mut pair.rng).is_err());
    }
    assert_eq!(picture(&pair.ring), before);
}

/// Three nodes. The representative lies: it brings the same contribution to each attempt, and makes
/// each fail once we recover.
#[test]
fn ring_24_two_attempts_never_share_a_key() {
    let mut seen = BTreeSet::new();
    let mut contributed = BTreeSet::new();
    let mut pair = Pair::alone();
    pair.ring.peer(pair.now, node(OUTSIDER), true);
    pair.outputs();
    for attempt in 0..20_u8 {
        let hears = [PEER, ME, OUTSIDER];
        for from in [PEER, OUTSIDER] {
            let number = u64::from(attempt) + 1;
            let said = Join { ring_seq: 2_000 + u64::from(attempt), ..join(number, &hears) };
            let frame = Control::Join(said).encode();
            pair.ring.frame(pair.now, node(from), frame, &mut pair.rng).unwrap();
        }
        let id = ConfigurationId {
            ring_seq: 2_001 + u64::from(attempt),
            nonce: [2 * attempt + 2; 16],
            ..pair.next
        };
        let first = CommitToken {
            id,
            members: vec![node(PEER), node(ME), node(OUTSIDER)],
            old_rings: vec![OldRing::default()],
            contributions: vec![Contribution::new(PEERS)],
            mtus: vec![1_452],
            trips: vec![0],
            rotation: 1,
        };
        pair.outputs();
        pair.takes_quietly(Control::Commit(first.clone()));
        assert_eq!(pair.ring.status().phase, Phase::Commit, "attempt {attempt}");
        let mut token = commit(pair.outputs());
        assert!(contributed.insert(contributed_in(&token)), "a contribution twice");
        token.old_rings.push(OldRing::default());
        token.contributions.push(Contribution::new(PEERS));
        token.mtus.push(1_452);
        token.trips.push(0);
        token.rotation = 2;
        pair.takes_quietly(Control::Commit(token));
        let [keys] = &attempts(pair.outputs())[..] else { panic!("one attempt") };
        assert_eq!(keys.senders.len(), 3);
        for (_, key) in &keys.senders {
            assert!(seen.insert(*key.expose()), "a key twice");
        }
    }
}

fn commit(outputs: Vec<Output>) -> CommitToken {
    use folkmoot_ring::message::Frame;
    let sent = outputs.into_iter().find_map(|output| match output {
        Output::Send { frame, .. } => match Frame::decode(frame) {
            Ok(Frame::Control(Control::Commit(token))) => Some(token),
            _ => None,
        },
        _ => None,
    });
    sent.expect("it passes the commit token on")
}

/// Our contribution.
fn contributed_in(token: &CommitToken) -> Vec<u8> {
    use folkmoot_base::codec::Serialize as _;
    token.contribution(&node(ME)).unwrap().tls_serialize_detached().unwrap()
}

/// Whoever prints a ring prints no key and no contribution.
#[test]
fn ring_24_nothing_that_is_printed_shows_a_key() {
    let mut pair = Pair::agreed();
    pair.committed(OldRing::default());
    let shown = format!("{:?} {:?}", pair.ring, pair.commit(vec![OldRing::default()], 1));
    assert!(shown.contains("Secret(..)"), "{shown}");
    assert!(!shown.contains("7, 7, 7") && !shown.contains(r"\x07\x07"), "{shown}");
}

/// While nothing is lost, every packet with messages is sealed once, and all others open it. Small
/// rings have one receiver, and no key.
#[test]
fn ring_25_a_packet_is_handed_out_once_for_all() {
    for nodes in [1_usize, 2, 3, 6] {
        let mut world = World::new(nodes, 7, None);
        world.settle(Duration::from_secs(10)).unwrap();
        for i in 0..nodes {
            for _ in 0..20 {
                world.submit(i, Service::Agreed, 900);
            }
        }
        world.settle(Duration::from_secs(10)).unwrap();
        world.ms(1_000);
        assert_eq!(world.keys.breaches, Vec::<String>::new());
        let (sealed, opened) = world.keys.counts;
        if nodes < 3 {
            assert_eq!((sealed, opened), (0, 0), "{nodes} nodes");
        } else {
            assert!(sealed >= 10 * nodes as u64, "{sealed} packets");
            assert_eq!(opened, sealed * (nodes as u64 - 1), "{nodes} nodes");
        }
    }
}

/// A record goes in the frame of a packet before it that has room for it.
#[test]
fn ring_25_a_lone_message_and_its_record_are_sealed_at_once() {
    for (bytes, frames) in [(100, 1), (1_350, 2)] {
        let mut world = World::new(3, 7, None);
        world.settle(Duration::from_secs(10)).unwrap();
        world.submit(0, Service::Agreed, bytes);
        world.settle(Duration::from_secs(10)).unwrap();
        let before = world.keys.counts.0;
        // Who sent last has the token.
        world.submit(0, Service::Agreed, bytes);
        world.settle(Duration::from_secs(10)).unwrap();
        assert_eq!(world.keys.counts.0 - before, frames, "{bytes} bytes");
    }
}

/// Half of all frames are lost, so most packets go out more than once.
#[test]
fn ring_25_what_is_repeated_is_not_sealed_anew() {
    let mut world = World::new(4, 3, None);
    world.settle(Duration::from_secs(10)).unwrap();
    world.drop_frame = Some(|from, to, frame| {
        crate::is_data(frame) && (from + to) % 2 == 1 && frame.last().is_some_and(|byte| byte % 2 == 0)
    });
    for _ in 0..50 {
        for i in 0..4 {
            world.submit(i, Service::Safe, 700);
        }
        world.ms(20);
    }
    world.ms(1_000);
    let repaired: u64 = (0..4).map(|i| world.nodes[i].ring.as_ref().unwrap().counters().repaired).sum();
    assert!(repaired > 10, "{repaired} repeats");
    assert_eq!(world.keys.breaches, Vec::<String>::new());
}

/// A ring that ends tells so: no key of a failed attempt stays.
#[test]
fn ring_25_the_keys_of_an_attempt_that_fails_are_given_back() {
    let mut pair = Pair::recovering(OldRing::default());
    let again = Join { ring_seq: 100, ..join(2, &[PEER, ME]) };
    pair.takes_quietly(Control::Join(again));
    assert_eq!(pair.ring.status().phase, Phase::Gather);
    assert!(pair.outputs().contains(&Output::Key(KeyChange::Failed)));
}

/// In schedules with every fault, keys are installed by all who install the ring.
#[test]
fn ring_25_rings_of_three_and_more_seal_under_their_keys() {
    let sealed: u64 = (1..20).map(|seed| play(seed, None, false).0.keys.counts.0).sum();
    assert!(sealed > 100, "{sealed} packets");
}
