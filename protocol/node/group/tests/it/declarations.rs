//! What a node says of itself, in the mouth of a carrier that forges packets.

use crate::bus::{Bus, GROUP, RING, declared, joined_at, member, node};
use crate::limits::{self, Fed, ID, ME, OTHER};
use crate::words::{AGAIN, ANYONE, Quiet, after, joined, size};
use bytes::Bytes;
use folkmoot_base::{
    ConfigurationId, Digest, GroupId, Head, MemberId, Proof, Service, Signatures, ToySignatures,
};
use folkmoot_group::message::{
    self, Control, Declaration, Declared, GroupState, Message, Scope, Stamp, State,
};
use folkmoot_group::{Config, Group, Mark, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SCOPE: Scope = Scope { ring: RING, tables: RING };

/// What a node says of itself nobody says for it: a Detach, a State, a Mark.
#[test]
fn grp_24_what_a_node_says_of_itself_it_signs() {
    let liar = |says: Declaration| Control::Node(Declared::sign(says, SCOPE, &ToySignatures(node(2).0)));
    for (danger, left) in [(None, 3), (ANYONE, 2)] {
        let detach = liar(Declaration::Detach { party: member(1), number: 900 });
        assert_eq!(after(joined(3, danger), 1, &detach), left, "detach");

        // Before Ben's own State comes one that says that nobody lives on his node.
        let mut bus = joined(3, danger);
        bus.reconfigure(&[0; 3], 0);
        let configuration = bus.configuration(1);
        let empty = State { configuration, mark: bus_mark(&bus), charters: Vec::new(), groups: Vec::new() };
        bus.forge(1, &liar(Declaration::State(empty)));
        bus.settle();
        assert_eq!(size(&bus), left, "state");
    }
    // For one ring, and its own tables: a node may be on several, and have others.
    let detach = Declaration::Detach { party: member(1), number: 900 };
    for scope in [Scope { ring: GroupId([1; 32]), ..SCOPE }, Scope { tables: GROUP, ..SCOPE }] {
        let elsewhere = Declared::sign(detach.clone(), scope, &ToySignatures(node(1).0));
        assert_eq!(after(joined(3, None), 1, &Control::Node(elsewhere)), 3);
    }
}

/// The mark of a transcript without items.
fn bus_mark(bus: &Bus<Quiet>) -> Mark {
    let state = |bytes: &Bytes| match message::decode(node(0), bytes.clone()) {
        Ok(Message::Control(control)) => match *control {
            Control::Node(Declared { says: Declaration::State(state), .. }) => Some(state.mark),
            _ => None,
        },
        _ => None,
    };
    let first = bus.first_log();
    first.iter().find_map(state).unwrap()
}

/// The liar shows an old mark of a node again, so that transcripts seem to be equal that are not.
#[test]
fn grp_24_an_earlier_mark_does_not_replace_a_later_one() {
    for (danger, settled) in [(None, false), (AGAIN, true)] {
        let mut fed = Fed::broken(&[], danger);
        let mark = |number: u8| Mark::new(Head { number: 0, digest: [0; 32] }, [number; 32], []);
        let says = |number: u32, mark| Declaration::Mark { configuration: ID, number, mark };
        fed.control(ME, &limits::state(ME, Vec::new())).unwrap();
        let first = State { configuration: ID, mark: mark(1), charters: Vec::new(), groups: Vec::new() };
        fed.control(OTHER, &declared(OTHER, Declaration::State(first))).unwrap();
        // Both go to 2, and the other one on to 3.
        let same = declared(OTHER, says(1, mark(2)));
        fed.control(OTHER, &same).unwrap();
        fed.control(OTHER, &declared(OTHER, says(2, mark(3)))).unwrap();
        fed.control(ME, &declared(ME, says(1, mark(2)))).unwrap();
        assert!(!fed.group.is_settled());
        assert_eq!(fed.control(OTHER, &same).is_ok(), settled);
        assert_eq!(fed.group.is_settled(), settled);
    }
}

/// A node cannot list a party that did not join at it: not in its own State either.
#[test]
fn grp_24_a_state_shows_the_join_of_each_party() {
    let party = limits::member(3);
    for (danger, there) in [(None, 0), (ANYONE, 1)] {
        let mut fed = Fed::broken(&[], danger);
        let mut joined = joined_at(OTHER, party, GROUP, Stamp { ring_seq: 0, order: 0 });
        joined.join.proof = ToySignatures(OTHER.0).sign(b"folkmoot party word v1", b"mine");
        let groups =
            vec![GroupState { group: GROUP, noticed: None, stood: Vec::new(), members: vec![joined] }];
        fed.control(ME, &limits::state(ME, Vec::new())).unwrap();
        let _ = fed.control(OTHER, &limits::state(OTHER, groups));
        assert_eq!(fed.group.members(GROUP).len(), there);
    }
}

/// Signatures that are counted.
#[derive(Debug)]
struct Counted(ToySignatures, AtomicUsize);

impl Signatures for Counted {
    fn sign(&self, label: &'static [u8], message: &[u8]) -> Proof {
        self.0.sign(label, message)
    }

    fn verify(&self, signer: &Digest, label: &'static [u8], message: &[u8], proof: &Proof) -> bool {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.verify(signer, label, message, proof)
    }
}

/// A join is verified once: not again when the next State shows it.
#[test]
fn grp_24_nothing_is_verified_twice() {
    let counted = Arc::new(Counted(ToySignatures(ME.0), AtomicUsize::new(0)));
    let signatures: Arc<dyn Signatures> = counted.clone();
    let group = Group::new(Config { signatures, ..crate::bus::config(ME, None) });
    let mut fed = Fed::of(group);
    let of = |node| {
        let joined = |number| joined_at(node, limits::member(number), GROUP, Stamp { ring_seq: 0, order: 0 });
        let mut members: Vec<_> = (1..=10).map(joined).collect();
        members.sort_unstable_by_key(|joined| joined.party);
        vec![GroupState { group: GROUP, noticed: None, stood: Vec::new(), members }]
    };
    fed.state(ME, Vec::new());
    fed.state(OTHER, of(OTHER));
    assert_eq!(counted.1.load(Ordering::Relaxed), 12, "two States, ten joins");
    let next = ConfigurationId { ring_seq: 2, ..ID };
    fed.group.regular(next, &[ME, OTHER], &|_: MemberId| true);
    let state = State { configuration: next, mark: Mark::default(), charters: Vec::new(), groups: of(OTHER) };
    let state = message::encode(&declared(OTHER, Declaration::State(state)));
    fed.group.deliver(next, Some(0), OTHER, Service::Agreed, state, &|_: MemberId| true).unwrap();
    assert_eq!(counted.1.load(Ordering::Relaxed), 13, "one State more");
    while let Some(output) = fed.group.poll_output() {
        assert!(!matches!(output, Output::Item(_)));
    }
}
