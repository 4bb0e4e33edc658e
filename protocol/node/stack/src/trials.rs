//! The rules for this stack's own messages (docs/protocol/node.md), on a node alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod items;
mod locators;
mod names;
mod pieces;

use crate::message::{LOCATORS_MAX, PIECE_BYTES, PIECES_MAX, Place, Sync};
use crate::{Config, ITEMS_BATCH_MAX, Node};
use attach::{Ground, GroundOutput};
use base::codec;
use base::{Blob, Digest, Entropy, GroupName, Head, Instant, Locator, NodeId, StoreKey, UnixTime, digest};
use bytes::Bytes;
use folkmoot_attach as attach;
use folkmoot_base as base;
use folkmoot_identity::{CharterDraft, Contact, Founder, Identity, SignedCharter};
use folkmoot_transcript::{Have, NAMES_MAX};
use proptest::prelude::*;

struct Counting(u64);

impl Entropy for Counting {
    fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = self.0.to_be_bytes()[0];
        }
    }
}

fn identity(name: &str, seed: u64) -> Identity {
    Identity::new(name, &mut Counting(seed), UnixTime(1_700_000_000), UnixTime(2_000_000_000)).unwrap()
}

/// Whoever is told of others, and is linked nowhere.
const OTHER: NodeId = NodeId([99; 32]);

fn node() -> (Node, Identity) {
    node_with(&[], Locator::memory(1), &[], &[])
}

fn node_with(
    contacts: &[&str],
    at: Locator,
    seeds: &[Locator],
    stored: &[(StoreKey, Bytes)],
) -> (Node, Identity) {
    let (ada, ben) = (identity("ada", 1), identity("ben", 2));
    let founders = [&ada, &ben].map(|who| Founder::from(who.certificate()));
    let name = GroupName::new("test").unwrap();
    let mut draft = CharterDraft::new(name, 2, founders.to_vec(), &mut Counting(3));
    draft.contacts = contacts.iter().map(|text| Contact::read(text).unwrap()).collect();
    let charter = SignedCharter::sign(&draft.to_toml(), &[&ada, &ben]).unwrap();
    let mut config = Config::new(ada, charter.der().to_vec().into(), at);
    config.seeds = seeds.to_vec();
    (Node::new(config, stored, Instant(0), &mut Counting(4)).unwrap(), ben)
}

/// The parts hear of a link, as if one had come up.
fn link(node: &mut Node, peer: NodeId, at: &Locator) {
    node.peers.up(peer, at.clone());
    node.syncing.up(peer);
}

/// The refusal with which the node answers a frame, if any.
fn refusal(node: &mut Node, from: NodeId, frame: &[u8]) -> Option<String> {
    refusal_at(node, Instant(1), from, frame)
}

fn refusal_at(node: &mut Node, now: Instant, from: NodeId, frame: &[u8]) -> Option<String> {
    while node.poll_output().is_some() {}
    node.out.count_anew();
    node.transcript_frame(now, from, frame);
    let said = std::iter::from_fn(|| node.poll_output());
    said.filter_map(|output| match output {
        GroundOutput::Trace(trace) => Some(trace.text),
        _ => None,
    })
    .find(|text| text.contains("NODE-"))
}

fn name(number: usize) -> Digest {
    digest(&[&number.to_be_bytes()])
}

fn messages() -> impl Strategy<Value = Sync> {
    let head = || (any::<u64>(), any::<[u8; 32]>()).prop_map(|(number, digest)| Head { number, digest });
    let blobs = prop::collection::vec(any::<Vec<u8>>().prop_map(Blob::from), 0..4);
    let places = prop::collection::vec((any::<[u8; 32]>(), any::<Vec<u8>>()), 0..4).prop_map(|places| {
        places.into_iter().map(|(node, at)| Place { node: NodeId(node), at: at.into() }).collect()
    });
    let names = prop::collection::vec(any::<[u8; 32]>(), 0..5);
    let have = (head(), any::<[u8; 32]>(), any::<[u8; 32]>(), names)
        .prop_map(|(head, from, until, names)| Have { head, from, until, names });
    let piece = (any::<[u8; 32]>(), any::<u16>(), any::<u16>(), any::<Vec<u8>>());
    prop_oneof![
        (head(), any::<[u8; 32]>()).prop_map(|(head, set)| Sync::Mark { head, set }),
        have.prop_map(Sync::Fetch),
        blobs.prop_map(Sync::Items),
        places.prop_map(Sync::Locators),
        prop::collection::vec(any::<[u8; 32]>().prop_map(NodeId), 0..5).prop_map(Sync::Seek),
        piece.prop_map(|(name, of, index, bytes)| Sync::Piece { name, of, index, bytes: bytes.into() }),
        (any::<[u8; 32]>(), any::<u16>()).prop_map(|(name, index)| Sync::Want { name, index }),
        head().prop_map(|first| Sync::Side { first }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn messages_round_trip_and_refuse_what_is_cut_or_lengthened(message in messages(), extra in any::<u8>()) {
        let bytes = codec::encode(&message);
        prop_assert_eq!(codec::decode::<Sync>(&bytes).unwrap(), message);
        for end in 0..bytes.len() {
            prop_assert!(codec::decode::<Sync>(&bytes[..end]).is_err());
        }
        let longer = [bytes, vec![extra]].concat();
        prop_assert!(codec::decode::<Sync>(&longer).is_err());
    }

    #[test]
    fn flipped_bits_never_panic(message in messages(), place in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let mut bytes = codec::encode(&message);
        let place = place.index(bytes.len());
        bytes[place] ^= 1 << bit;
        if let Ok(other) = codec::decode::<Sync>(&bytes) {
            prop_assert_ne!(other, message);
        }
    }
}

#[test]
fn node_01_malformed_frames_are_refused() {
    let (mut node, ben) = node();
    for frame in [&b""[..], &[9], &[1], &[1, 9, 0], &[1, 1, 0x40]] {
        assert!(refusal(&mut node, ben.node(), frame).unwrap().contains("NODE-01"), "{frame:?}");
    }
}

#[test]
fn node_02_messages_above_their_bounds_are_refused() {
    let (mut node, ben) = node();
    let head = node.transcript().mark().0;
    let place = Place { node: ben.node(), at: b"memory/2".to_vec().into() };
    let have = |mut names: Vec<Digest>| {
        names.sort_unstable();
        Have { head, from: [0; 32], until: [0xff; 32], names }
    };
    let many = have((0..=NAMES_MAX).map(name).collect());
    let unsorted = Have { names: vec![[2; 32], [1; 32]], ..have(Vec::new()) };
    let outside = Have { until: [1; 32], ..have(vec![[2; 32]]) };
    let backwards = Have { from: [2; 32], until: [1; 32], ..have(Vec::new()) };
    let piece = |of: usize, index: u16, length: usize| {
        let of = u16::try_from(of).unwrap();
        Sync::Piece { name: [1; 32], of, index, bytes: vec![0; length].into() }
    };
    let bad = [
        Sync::Fetch(many),
        Sync::Fetch(unsorted),
        Sync::Fetch(outside),
        Sync::Fetch(backwards),
        Sync::Items(vec![Blob::default(); ITEMS_BATCH_MAX + 1]),
        Sync::Locators(vec![place; LOCATORS_MAX + 1]),
        Sync::Seek(vec![ben.node(); LOCATORS_MAX + 1]),
        piece(0, 0, 10),
        piece(PIECES_MAX + 1, 0, PIECE_BYTES),
        piece(2, 2, PIECE_BYTES),
        piece(2, 0, PIECE_BYTES - 1),
        piece(2, 1, PIECE_BYTES + 1),
        piece(2, 1, 0),
    ];
    for message in bad {
        assert!(refusal(&mut node, ben.node(), &codec::encode(&message)).unwrap().contains("NODE-02"));
    }
    let most = Sync::Fetch(have((0..NAMES_MAX).map(name).collect()));
    assert_eq!(refusal(&mut node, ben.node(), &codec::encode(&most)), None);
}

#[test]
fn node_03_items_that_do_not_stand_are_refused() {
    let (mut node, ben) = node();
    let before = node.transcript().mark();
    let message = Sync::Items(vec![Blob::from(vec![1, 2, 3])]);
    assert!(refusal(&mut node, ben.node(), &codec::encode(&message)).unwrap().contains("NODE-03"));
    assert_eq!((node.transcript().mark(), node.records.is_unstaged()), (before, true));
}

#[test]
fn node_06_guests_are_told_no_locators() {
    let (mut node, ben) = node();
    let message = codec::encode(&Sync::Seek(vec![ben.node()]));
    assert!(refusal(&mut node, NodeId([7; 32]), &message).unwrap().contains("NODE-06"));
    assert_eq!(refusal(&mut node, ben.node(), &message), None);
}

#[test]
fn a_store_with_a_damaged_ring_number_is_named() {
    let (node, _) = node();
    let config = node.config.clone();
    let key = base::StoreKey { table: "ring", key: b"ring_seq".to_vec().into() };
    let error = Node::new(config, &[(key, vec![1, 2].into())], Instant(0), &mut Counting(4)).unwrap_err();
    assert!(matches!(error, crate::NodeError::StoreRing(_)), "{error}");
}
