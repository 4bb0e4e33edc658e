//! The rules for this stack's own messages (docs/protocol/node.md), on a node alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use crate::message::{LOCATORS_MAX, Place, Sync};
use crate::{Config, HEADS_MAX, Node};
use attach::{Ground, GroundOutput};
use base::codec;
use base::{Blob, Entropy, EntryId, GroupName, Instant, Locator, NodeId, UnixTime};
use folkmoot_attach as attach;
use folkmoot_base as base;
use folkmoot_identity::{
    CharterDraft, Decision, Founder, Gmc, GmcBody, Identity, SignedCharter, Slot, Transcript, Verdict, Vote,
    VoteContent,
};
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

fn node() -> (Node, Identity) {
    let (ada, ben) = (identity("ada", 1), identity("ben", 2));
    let founders = [&ada, &ben].map(|who| Founder::from(who.certificate()));
    let name = GroupName::new("test").unwrap();
    let toml = CharterDraft::new(name, 2, founders.to_vec(), &mut Counting(3)).to_toml();
    let charter = SignedCharter::sign(&toml, &[&ada, &ben]).unwrap();
    let config = Config::new(ada, charter.der().to_vec().into(), Locator::Memory(1));
    (Node::new(config, &[], Instant(0), &mut Counting(4)).unwrap(), ben)
}

/// The refusal with which the node answers a frame, if any.
fn refusal(node: &mut Node, from: NodeId, frame: &[u8]) -> Option<String> {
    while node.poll_output().is_some() {}
    node.refused = 0;
    node.transcript_frame(Instant(1), from, frame);
    let said = std::iter::from_fn(|| node.poll_output());
    said.filter_map(|output| match output {
        GroundOutput::Trace(trace) => Some(trace.text),
        _ => None,
    })
    .find(|text| text.contains("NODE-"))
}

fn messages() -> impl Strategy<Value = Sync> {
    let ids = || prop::collection::vec(any::<[u8; 32]>().prop_map(EntryId), 0..5);
    let blobs = prop::collection::vec(any::<Vec<u8>>().prop_map(Blob::from), 0..4);
    let places = prop::collection::vec((any::<[u8; 32]>(), any::<Vec<u8>>()), 0..4).prop_map(|places| {
        places.into_iter().map(|(node, at)| Place { node: NodeId(node), at: at.into() }).collect()
    });
    prop_oneof![
        ids().prop_map(Sync::Heads),
        ids().prop_map(Sync::Fetch),
        blobs.prop_map(Sync::Entries),
        places.prop_map(Sync::Locators),
        prop::collection::vec(any::<[u8; 32]>().prop_map(NodeId), 0..5).prop_map(Sync::Seek),
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
    for frame in [&b""[..], &[9], &[1], &[1, 7, 0], &[1, 1, 0x40]] {
        assert!(refusal(&mut node, ben.node(), frame).unwrap().contains("NODE-01"), "{frame:?}");
    }
}

#[test]
fn node_02_messages_above_their_bounds_are_refused() {
    let (mut node, ben) = node();
    let heads = Sync::Heads((0..=HEADS_MAX).map(|n| EntryId(base::digest(&[&n.to_be_bytes()]))).collect());
    let place = Place { node: ben.node(), at: b"memory/2".to_vec().into() };
    let places = Sync::Locators(vec![place; LOCATORS_MAX + 1]);
    let seek = Sync::Seek(vec![ben.node(); LOCATORS_MAX + 1]);
    for message in [heads, places, seek] {
        assert!(refusal(&mut node, ben.node(), &codec::encode(&message)).unwrap().contains("NODE-02"));
    }
}

#[test]
fn node_03_entries_that_do_not_stand_are_refused() {
    let (mut node, ben) = node();
    let before = node.transcript().heads().clone();
    let message = Sync::Entries(vec![Blob::from(vec![1, 2, 3])]);
    assert!(refusal(&mut node, ben.node(), &codec::encode(&message)).unwrap().contains("NODE-03"));
    assert_eq!(node.transcript().heads(), &before);
}

#[test]
fn node_11_what_a_former_member_repeats_is_not_ordered() {
    let (mut node, ben) = node();
    let mut t = node.transcript().clone();
    let ada = node.config.identity.clone();
    let eve = identity("eve", 9);
    let frank = identity("frank", 10);
    let admit_by = |t: &Transcript, who: &Identity, salt: u64| {
        let charter = t.roster().charter();
        let body = GmcBody::propose(charter, who, 2, UnixTime(1_800_000_000), &mut Counting(salt));
        let motion = body.motion().unwrap();
        let content = VoteContent { motion, verdict: Verdict::Approve, expires: UnixTime(1_900_000_000) };
        let votes = [&ada, &ben].map(|voter| Vote::sign(voter, content).unwrap().proof());
        Gmc::compose(&body, &votes, who).unwrap()
    };
    let admit = |t: &Transcript, salt: u64| admit_by(t, &eve, salt);
    let (first, second) = (admit(&t, 20), admit(&t, 21));
    let entries = [t.make_admit(first.der(), &ada).unwrap()];
    let admitted = t.append(&entries[0]).unwrap().id;
    let before = t.clone();
    let decision = Decision::Remove { member: eve.member(), admission: admitted };
    let slot = Slot { serial: 0, ballot: 0 };
    let motion = decision.motion(t.group(), t.roster().charter().digest(), slot);
    let content = VoteContent { motion, verdict: Verdict::Approve, expires: UnixTime(1_900_000_000) };
    let votes = [&ada, &ben].map(|voter| Vote::sign(voter, content).unwrap().proof());
    let removal = t.make_decision(&decision, slot, &votes, &ada).unwrap();
    let all = Sync::Entries([&entries[0], &removal].map(|entry| Blob(entry.clone())).to_vec());
    assert_eq!(refusal(&mut node, ben.node(), &codec::encode(&all)), None);
    // Its own renewal, and its removal once more, written as if it were still a member.
    let back = before.make_admit(second.der(), &eve).unwrap();
    let again = before.make_decision(&decision, slot, &votes, &eve).unwrap();
    for entry in [&back, &again] {
        let message = codec::encode(&Sync::Entries(vec![Blob(entry.clone())]));
        assert!(refusal(&mut node, eve.node(), &message).unwrap().contains("NODE-11"));
        assert_eq!(refusal(&mut node, eve.node(), &message), None, "nothing of it is new there");
    }
    // On a side that had not heard, somebody was admitted by an entry that follows it: with that
    // entry it is ordered.
    let mut side = before.clone();
    side.append(&back).unwrap();
    let news = side.make_admit(admit_by(&side, &frank, 30).der(), &eve).unwrap();
    let message = codec::encode(&Sync::Entries(vec![Blob(news)]));
    let known = |node: &Node| node.staged.as_ref().is_some_and(|t| t.roster().is_member(&frank.member()));
    assert!(!known(&node));
    assert_eq!(refusal(&mut node, eve.node(), &message), None);
    assert!(known(&node));
    let message = codec::encode(&Sync::Entries(vec![Blob(again)]));
    assert_eq!(refusal(&mut node, ben.node(), &message), None, "a member brings what it has");
}

#[test]
fn node_04_a_guests_word_of_a_place_counts_only_where_there_is_no_other() {
    let (mut node, ben) = node();
    let (guest, stranger) = (NodeId([7; 32]), NodeId([8; 32]));
    let says = |who, at: &str| {
        codec::encode(&Sync::Locators(vec![Place { node: who, at: at.as_bytes().to_vec().into() }]))
    };
    node.transcript_frame(Instant(1), guest, &says(stranger, "memory/9"));
    assert!(dialled(&mut node).is_empty(), "nobody here has to find a stranger");
    node.transcript_frame(Instant(1), guest, &says(ben.node(), "memory/2"));
    node.transcript_frame(Instant(1), guest, &says(ben.node(), "memory/3"));
    assert_eq!(dialled(&mut node), [Locator::Memory(2)], "the first word, as long as it may be true");
    let kept = |node: &mut Node| {
        let all = std::iter::from_fn(|| node.poll_output()).collect::<Vec<_>>();
        all.iter().any(|out| matches!(out, GroundOutput::Persist(persist) if persist.key.table == "locator"))
    };
    assert!(!kept(&mut node), "and not on disk");
    node.transcript_frame(Instant(1), ben.node(), &says(ben.node(), "memory/4"));
    assert!(kept(&mut node), "a member's word replaces it");
    assert!(dialled(&mut node).contains(&Locator::Memory(4)));
    node.transcript_frame(Instant(1), guest, &says(ben.node(), "memory/5"));
    assert!(!dialled(&mut node).contains(&Locator::Memory(5)));
}

/// The locators that the node dials when its look-up is due.
fn dialled(node: &mut Node) -> Vec<Locator> {
    node.timeout(Instant(2_000_000), &mut Counting(5));
    let said = std::iter::from_fn(|| node.poll_output());
    let to = said.filter_map(|output| match output {
        GroundOutput::Transmit(to, _) => Some(to),
        _ => None,
    });
    to.collect()
}

#[test]
fn node_05_what_is_no_locator_is_refused() {
    let (mut node, ben) = node();
    let place = Place { node: ben.node(), at: b"carrier pigeon".to_vec().into() };
    let message = codec::encode(&Sync::Locators(vec![place]));
    assert!(refusal(&mut node, ben.node(), &message).unwrap().contains("NODE-05"));
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
