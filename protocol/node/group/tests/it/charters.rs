//! Tables of charters that a ring carries beside its own: each has its one group, and nobody has a
//! part in them whose node does not carry the charter. The test plays the ring for one node.

use crate::bus::{RING, declared_for, joined_at, said};
use bytes::{Bytes, BytesMut};
use folkmoot_base::limits::CHARTERS_MAX;
use folkmoot_base::{
    ConfigurationId, Danger, Framed, GroupId, Indication, Join, JoinRefusal, Lead, MemberId, NodeId, Party,
    Says, Service, digest,
};
use folkmoot_group::message::{
    self, Control, Declaration, GroupState, Stamp, State, Tables, data_lead, handle_of, tables_of,
};
use folkmoot_group::{Config, Group, GroupError, Mark, Output, PACKAGE_BYTES_MAX};
use proptest::prelude::*;
use std::collections::BTreeSet;

const ME: NodeId = NodeId([1; 32]);
const OTHER: NodeId = NodeId([2; 32]);
const ID: ConfigurationId = ConfigurationId { ring_seq: 1, representative: ME, nonce: [0; 16] };
const CHARTER: GroupId = GroupId([7; 32]);
const OPEN: GroupId = GroupId([8; 32]);

fn all(_: MemberId) -> bool {
    true
}

fn anna() -> Party {
    MemberId([5; 32]).into()
}

fn ring(danger: Option<Danger>) -> Config {
    crate::bus::config(ME, danger)
}

fn of(charter: GroupId, danger: Option<Danger>) -> Config {
    Config { of: Some(charter), ..ring(danger) }
}

struct Fed {
    group: Group,
    /// The group of the charter of these tables.
    tables: GroupId,
    place: u64,
}

impl Fed {
    fn new(config: Config) -> Self {
        let tables = config.of.unwrap_or(RING);
        let mut group = Group::new(config);
        group.attach(anna()).unwrap();
        group.regular(ID, &[ME, OTHER], &all);
        Self { group, tables, place: 0 }
    }

    fn control(&mut self, from: NodeId, control: Control) -> Result<(), GroupError> {
        self.place += 1;
        let bytes = message::encode(&control);
        self.group.deliver(ID, Some(self.place), from, Service::Agreed, bytes, &all)
    }

    fn state(
        &mut self,
        from: NodeId,
        charters: Vec<GroupId>,
        groups: Vec<GroupState>,
    ) -> Result<(), GroupError> {
        let state = State { configuration: ID, mark: Mark::default(), charters, groups };
        let tables = self.tables;
        self.control(from, declared_for(tables, from, Declaration::State(state)))
    }

    fn join(&mut self, group: GroupId) -> Vec<Indication> {
        self.outputs();
        self.control(ME, joins(ME, anna(), group)).unwrap();
        let indications = self.outputs().into_iter().filter_map(|output| match output {
            Output::Member { to, indication } if to == anna() => Some(indication),
            _ => None,
        });
        indications.collect()
    }

    fn outputs(&mut self) -> Vec<Output> {
        core::iter::from_fn(|| self.group.poll_output()).collect()
    }
}

/// `party` joins at `node`.
fn joins(node: NodeId, party: Party, group: GroupId) -> Control {
    let says = Says::Join(Join { group, node, configuration: ID });
    Control::Party(said(party, 9, says))
}

fn hosting(node: NodeId, group: GroupId, party: Party) -> GroupState {
    let members = vec![joined_at(node, party, group, Stamp { ring_seq: 0, order: 1 })];
    GroupState { group, noticed: None, stood: Vec::new(), members }
}

fn refused(group: GroupId) -> Vec<Indication> {
    vec![Indication::Refused { group, refusal: JoinRefusal::OtherCharter }]
}

fn is_in(said: &[Indication]) -> bool {
    matches!(said, [Indication::Notice { members, .. }] if *members == [anna()])
}

#[test]
fn grp_30_tables_of_a_carried_charter_have_its_group_and_no_other() {
    let open = |danger| {
        let mut fed = Fed::new(of(CHARTER, danger));
        [ME, OTHER].into_iter().for_each(|node| fed.state(node, Vec::new(), Vec::new()).unwrap());
        fed
    };
    assert_eq!(open(None).join(OPEN), refused(OPEN));
    assert!(is_in(&open(None).join(CHARTER)));
    assert!(is_in(&open(Some(Danger::NodeAnyCharter)).join(OPEN)), "the liar succeeds without the check");

    let mut fed = Fed::new(of(CHARTER, None));
    let out_of_turn = Err(GroupError::PeerOutOfTurn(OTHER));
    assert_eq!(fed.state(OTHER, Vec::new(), vec![hosting(OTHER, OPEN, anna())]), out_of_turn);
    assert_eq!(fed.state(OTHER, vec![CHARTER], Vec::new()), out_of_turn, "only the ring's tables say so");
    assert_eq!(fed.state(OTHER, Vec::new(), vec![hosting(OTHER, CHARTER, anna())]), Ok(()));
}

/// What a node says that it carries is for the tables of those charters. Anybody may say so of any
/// id: it takes nothing from the ring's own tables.
#[test]
fn grp_31_what_a_node_says_that_it_carries_takes_no_group_from_the_ring() {
    let mut fed = Fed::new(ring(None));
    fed.state(OTHER, vec![CHARTER], Vec::new()).unwrap();
    fed.state(ME, Vec::new(), Vec::new()).unwrap();
    let told =
        |output: &Output| *output == Output::Carries { node: OTHER, place: 1, charters: vec![CHARTER] };
    assert!(fed.outputs().iter().any(told));
    assert!(is_in(&fed.join(CHARTER)));
}

#[test]
fn grp_31_charters_in_a_state_are_sorted_and_bounded() {
    let named = |count: usize| -> Vec<GroupId> {
        let ids: BTreeSet<GroupId> =
            (0..count).map(|number| GroupId(digest(&[&number.to_be_bytes()]))).collect();
        ids.into_iter().collect()
    };
    let said = |charters| Fed::new(ring(None)).state(OTHER, charters, Vec::new());
    assert_eq!(said(named(CHARTERS_MAX)), Ok(()));
    assert_eq!(said(named(CHARTERS_MAX + 1)), Err(GroupError::PeerTooLarge(OTHER)));
    assert_eq!(said(vec![OPEN, CHARTER]), Err(GroupError::PeerOutOfTurn(OTHER)));
    assert_eq!(said(vec![OPEN, OPEN]), Err(GroupError::PeerOutOfTurn(OTHER)));
}

#[test]
fn grp_32_who_does_not_carry_a_charter_is_not_waited_for_and_has_no_part_in_it() {
    let mut fed = Fed::new(of(CHARTER, None));
    fed.state(ME, Vec::new(), vec![hosting(ME, CHARTER, anna())]).unwrap();
    assert!(!fed.group.is_settled());
    assert_eq!((fed.group.awaited(), fed.group.silent()), (vec![OTHER], vec![OTHER]));
    fed.group.without(OTHER, 9, &all);
    assert!(fed.group.is_settled());
    let notice = fed.outputs().into_iter().find_map(|output| match output {
        Output::Member { indication: Indication::Notice { view, members, .. }, .. } => Some((view, members)),
        _ => None,
    });
    let (view, members) = notice.expect("a notice of the merge");
    assert_eq!((view.order, members), (9, vec![anna()]), "at the place at which the node said so");

    let strange = Err(GroupError::PeerNotInConfiguration(OTHER));
    let item = Control::Item { item: vec![1].into() };
    assert_eq!(fed.control(OTHER, item), strange);
    assert_eq!(fed.control(OTHER, joins(OTHER, MemberId([6; 32]).into(), CHARTER)), strange);

    // What it said before goes with it.
    let mut fed = Fed::new(of(CHARTER, None));
    fed.state(OTHER, Vec::new(), vec![hosting(OTHER, CHARTER, MemberId([6; 32]).into())]).unwrap();
    fed.group.without(OTHER, 2, &all);
    assert!(!fed.group.is_settled(), "our own State is awaited");
    fed.state(ME, Vec::new(), Vec::new()).unwrap();
    assert!(fed.group.is_settled() && fed.group.members(CHARTER).is_empty());
    // Once the tables are merged, all have heard who carries the charter.
    fed.group.without(ME, 20, &all);
    assert_eq!(fed.control(ME, joins(ME, anna(), CHARTER)), Ok(()));
    assert_eq!(fed.group.members(CHARTER), [anna()]);
}

#[test]
fn packages_are_longer_than_items_and_bounded() {
    let mut group = Group::new(of(CHARTER, None));
    let long = vec![1; PACKAGE_BYTES_MAX + 1];
    assert_eq!(group.item(&long[1..]), Err(GroupError::LocalTooLong(PACKAGE_BYTES_MAX)));
    assert_eq!(group.package(&long[1..]), Ok(()));
    assert_eq!(group.package(&long), Err(GroupError::LocalTooLong(PACKAGE_BYTES_MAX + 1)));
}

/// What changes the tables of a carried charter says so before all else, and data does not.
#[test]
fn messages_say_which_tables_they_are_for() {
    let mut group = Group::new(of(CHARTER, None));
    group.attach(anna()).unwrap();
    group.item(b"item").unwrap();
    let Some(Output::Submit { lead, payload, .. }) = group.poll_output() else {
        panic!("an item is ordered")
    };
    let whole = Bytes::from([lead.as_slice(), &payload].concat());
    assert_eq!(whole[..9], [&[0xC1][..], &[7; 8]].concat());
    for mut message in [Framed { lead, rest: payload.clone().into() }, whole.clone().into()] {
        assert_eq!(tables_of(&mut message), Tables::Charter([7; 8]));
        assert_eq!((message.lead, &*message.rest), (Lead::NONE, &payload[..]));
    }
    for length in 0..9 {
        assert_eq!(tables_of(&mut whole.slice(..length).into()), Tables::Ring, "cut to {length}");
    }
    let data = data_lead(ME, &CHARTER, &anna());
    let whole: Bytes = [data.as_slice(), b"word"].concat().into();
    for message in [Framed { lead: data, rest: Bytes::from_static(b"word").into() }, whole.into()] {
        let mut read = message.clone();
        assert_eq!(tables_of(&mut read), Tables::Group(handle_of(&CHARTER.0)));
        assert_eq!(read, message, "data is left as it is");
    }
    let detach = Declaration::Detach { party: anna(), number: 1 };
    let control = message::encode(&declared_for(CHARTER, ME, detach));
    assert_eq!(tables_of(&mut control.into()), Tables::Ring);
}

proptest! {
    #[test]
    fn what_is_behind_the_head_is_read_as_it_is_and_no_bytes_are_lost(
        head in any::<[u8; 9]>(), rest in prop::collection::vec(any::<u8>(), 0..40), owned in any::<bool>(),
    ) {
        let whole = [&head[..], &rest].concat();
        let mut message: Framed = if owned { BytesMut::from(&whole[..]).into() } else { Bytes::from(whole.clone()).into() };
        let tables = tables_of(&mut message);
        match head[0] {
            0xC1 => {
                prop_assert_eq!(tables, Tables::Charter(head[1..].try_into().unwrap()));
                prop_assert_eq!(&*message.rest, &rest[..]);
            }
            _ => {
                prop_assert_eq!(matches!(tables, Tables::Ring), !matches!(head[0], 0xD1 | 0xE1));
                prop_assert_eq!(&*message.rest, &whole[..]);
            }
        }
    }
}
