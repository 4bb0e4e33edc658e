//! Which items of guests are passed on, and what is provided to others, on a node alone.

use super::{Counting, identity, link, node, refusal};
use crate::Node;
use crate::message::Sync;
use base::{Blob, Locator, NodeId, UnixTime, codec};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_group::Mark;
use folkmoot_group::message::{Control, Message, decode};
use folkmoot_identity::{Gmc, GmcBody, Identity, Signature, Verdict, VoteProof};
use folkmoot_transcript::{Item, Subject, Transcript, admission};
use std::collections::BTreeSet;

const BEGIN: UnixTime = UnixTime(1_800_000_000);
const LATER: UnixTime = UnixTime(1_801_000_000);

/// An admission with the votes of these.
fn admit(t: &Transcript, who: &Identity, voters: &[&Identity], salt: u64) -> (Bytes, Subject) {
    let body =
        GmcBody::propose(t.roster().charter(), who, 2, BEGIN, &mut Counting(salt)).over(t.state().head());
    let subject = admission(body.request_digest().unwrap());
    let vote = |voter: &&Identity| {
        let signed = t.approve(voter, subject, Verdict::Approve, LATER);
        let said = signed.approval;
        let signature = Signature::from_wire(&signed.signature).unwrap();
        VoteProof { voter: said.voter, base: said.base, turn: said.turn, expires: said.expires, signature }
    };
    let votes: Vec<VoteProof> = voters.iter().map(vote).collect();
    let gmc = Gmc::compose(&body, &votes, who).unwrap();
    let item = Item::Admit { certificate: Blob(gmc.der().clone()), approvals: Vec::new() };
    (item.encode().into(), subject)
}

fn yes(t: &Transcript, voter: &Identity, subject: Subject) -> Bytes {
    Item::Approval(t.approve(voter, subject, Verdict::Approve, LATER)).encode().into()
}

fn brings(node: &mut Node, from: NodeId, items: &[&Bytes]) -> Option<String> {
    let items = items.iter().map(|item| Blob((*item).clone())).collect();
    refusal(node, from, &codec::encode(&Sync::Items(items)))
}

fn reconcile(node: &mut Node, behind: &[Mark]) {
    let (records, mut orders) = node.ordering();
    records.reconcile(behind, &mut orders);
}

/// What the node has handed to the ring since the last call.
fn ordered(node: &mut Node) -> Vec<Bytes> {
    let me = node.id();
    let mut items = Vec::new();
    while let Some(output) = node.group.poll_output() {
        let folkmoot_group::Output::Submit { payload, .. } = output else { continue };
        if let Ok(Message::Control(control)) = decode(me, &payload)
            && let Control::Item { item } = *control
        {
            items.push(item.0);
        }
    }
    items
}

#[test]
fn node_11_what_does_not_count_and_comes_from_a_guest_is_not_passed_on() {
    let (mut node, ben) = node();
    let (ada, eve, frank) = (node.config.identity.clone(), identity("eve", 9), identity("frank", 10));
    let t = node.transcript().clone();
    let (late, subject) = admit(&t, &frank, &[&ada], 20);
    link(&mut node, eve.node(), &Locator::memory(9));
    for _ in 0..3 {
        assert!(brings(&mut node, eve.node(), &[&late]).unwrap().contains("NODE-11"));
        assert!(ordered(&mut node).is_empty() && node.records.is_unstaged());
    }
    // Nor with what it says beside: but what a voter says by itself is passed on, and with it the
    // admission counts.
    let approvals = [&ada, &ben].map(|voter| yes(&t, voter, subject));
    assert_eq!(brings(&mut node, eve.node(), &[&approvals[0], &approvals[1]]), None);
    assert_eq!(brings(&mut node, eve.node(), &[&late]), None);
    assert_eq!(ordered(&mut node), [approvals[0].clone(), approvals[1].clone(), late]);
    assert!(node.records.known().roster().is_member(&frank.member()));
}

#[test]
fn node_11_what_counts_is_passed_on_and_so_is_what_a_member_brings() {
    let (mut node, ben) = node();
    let (ada, eve, frank) = (node.config.identity.clone(), identity("eve", 9), identity("frank", 10));
    let t = node.transcript().clone();
    let (counts, _) = admit(&t, &eve, &[&ada, &ben], 20);
    let (late, _) = admit(&t, &frank, &[&ada], 21);
    let (alone, _) = admit(&t, &identity("greta", 11), &[], 22);
    assert!(brings(&mut node, eve.node(), &[&late, &alone]).is_some());
    assert!(ordered(&mut node).is_empty());
    // Its own admission makes it a member, and then it brings what it likes.
    assert_eq!(brings(&mut node, eve.node(), &[&counts, &late]), None);
    assert_eq!(ordered(&mut node), [counts, late]);
    assert_eq!(brings(&mut node, ben.node(), &[&alone]), None);
    assert_eq!(ordered(&mut node), [alone]);
}

/// As many certificates as anybody likes to make: no memory, and no message of the ring.
#[test]
fn node_11_a_flood_of_a_guest_leaves_a_bounded_rest() {
    let (mut node, _) = node();
    let (eve, t) = (identity("eve", 9), node.transcript().clone());
    link(&mut node, eve.node(), &Locator::memory(9));
    let flood: Vec<Bytes> = (0..300).map(|salt| admit(&t, &eve, &[], 1_000 + salt).0).collect();
    for batch in flood.chunks(20) {
        brings(&mut node, eve.node(), &batch.iter().collect::<Vec<_>>());
    }
    assert!(ordered(&mut node).is_empty() && node.records.is_unstaged());
    let requests: Vec<_> = flood.iter().map(|item| Item::decode(item).unwrap().name().unwrap()).collect();
    assert_eq!(node.syncing.rest(&eve.node(), &requests), (128, 300));
}

/// A node that is itself a guest cannot know who is a member: it takes all, within the bounds of
/// the set.
#[test]
fn node_11_a_guest_takes_what_a_guest_brings() {
    let (founder, _) = node();
    let (eve, frank) = (identity("eve", 9), identity("frank", 10));
    let config = crate::Config { identity: eve, ..founder.config.clone() };
    let mut node = Node::new(config, &[], base::Instant(0), &mut Counting(4)).unwrap();
    let (late, _) = admit(founder.transcript(), &frank, &[], 20);
    assert_eq!(brings(&mut node, NodeId([7; 32]), &[&late]), None);
    assert_eq!(ordered(&mut node), [late]);
}

fn with_approvals(count: u64) -> (Node, Vec<Bytes>) {
    let (mut node, ben) = node();
    let t = node.transcript().clone();
    let subject = |number: u64| admission(base::digest(&[&number.to_be_bytes()]));
    let items: Vec<Bytes> = (0..count).map(|number| yes(&t, &ben, subject(number))).collect();
    for item in &items {
        assert!(node.records.take(item, &mut node.out).unwrap().new);
    }
    (node, items)
}

#[test]
fn grp_10_what_a_mark_lacks_is_provided_once_in_a_configuration() {
    let (mut node, _) = with_approvals(300);
    let (head, set) = node.transcript().mark();
    let names: Vec<_> = node.transcript().have().into_iter().collect();
    let behind = Mark::new(head, [0; 32], names.iter().skip(7).copied());
    let further = Mark::new(head, [1; 32], names.iter().skip(9).copied());
    reconcile(&mut node, &[behind.clone(), further]);
    let provided: BTreeSet<_> =
        ordered(&mut node).iter().map(|item| Item::decode(item).unwrap().name().unwrap()).collect();
    assert_eq!(provided, names[..9].iter().copied().collect());
    reconcile(&mut node, std::slice::from_ref(&behind));
    assert!(ordered(&mut node).is_empty(), "they are on their way");
    node.regular(
        base::Instant(1),
        base::ConfigurationId { ring_seq: 1, representative: node.id(), nonce: [0; 16] },
        vec![node.id()],
    );
    ordered(&mut node);
    reconcile(&mut node, &[behind]);
    assert_eq!(ordered(&mut node).len(), 7, "in the next configuration again");
    reconcile(&mut node, &[Mark::new(head, set, [])]);
    assert_eq!(ordered(&mut node).len(), 293);
}

/// Of what is beyond the last name of a full mark nothing is known: it is provided, although most
/// of it is there.
#[test]
fn grp_10_what_a_full_mark_says_nothing_of_is_provided() {
    let (mut node, _) = with_approvals(2_500);
    let head = node.transcript().mark().0;
    let names: Vec<_> = node.transcript().have().into_iter().collect();
    let behind = Mark::new(head, [0; 32], names[..2_499].iter().copied());
    reconcile(&mut node, &[behind]);
    assert_eq!(ordered(&mut node).len(), 2_500 - folkmoot_group::MARK_NAMES_MAX);
}

#[test]
fn a_mark_on_another_line_or_ahead_is_provided_nothing() {
    let (mut node, _) = with_approvals(3);
    for (number, digest) in [(0, [9; 32]), (1, [9; 32])] {
        reconcile(&mut node, &[Mark::new(base::Head { number, digest }, [0; 32], [])]);
        assert!(ordered(&mut node).is_empty());
    }
}
