//! Bounds, and the places at which every node refuses alike. The test plays the ring for one node.

use crate::bus::{config, declared, joined_at, said};
use bytes::Bytes;
use folkmoot_base::limits::{GROUPS_MAX, MEMBERS_MAX};
use folkmoot_base::{
    ConfigurationId, Danger, GroupId, Indication, Join, JoinRefusal, MemberId, NodeId, Party, Says, Service,
    ViewId, digest,
};
use folkmoot_group::message::{self, Control, Declaration, GroupState, Joined, Stamp, State};
use folkmoot_group::{Group, GroupError, ITEM_BYTES_MAX, MEMBERSHIPS_MAX, Mark, Output};

pub(crate) const ME: NodeId = NodeId([1; 32]);
pub(crate) const OTHER: NodeId = NodeId([2; 32]);
pub(crate) const ID: ConfigurationId = ConfigurationId { ring_seq: 1, representative: ME, nonce: [0; 16] };
pub(crate) const GROUP: GroupId = GroupId([7; 32]);

pub(crate) fn member(number: usize) -> Party {
    MemberId(digest(&[&number.to_be_bytes()])).into()
}

fn group_id(number: usize) -> GroupId {
    GroupId(digest(&[b"group", &number.to_be_bytes()]))
}

fn all(_: MemberId) -> bool {
    true
}

/// The State of `from`.
pub(crate) fn state(from: NodeId, groups: Vec<GroupState>) -> Control {
    declared(
        from,
        Declaration::State(State { configuration: ID, mark: Mark::default(), charters: Vec::new(), groups }),
    )
}

pub(crate) struct Fed {
    pub(crate) group: Group,
    place: u64,
    /// The number of the last word of any party.
    pub(crate) number: u64,
}

impl Fed {
    /// A node that has `members` attached, in a configuration with another one.
    pub(crate) fn new(members: &[Party]) -> Self {
        Self::broken(members, None)
    }

    /// The same, with something that it does wrong.
    pub(crate) fn broken(members: &[Party], danger: Option<Danger>) -> Self {
        let mut group = Group::new(config(ME, danger));
        for member in members {
            group.attach(*member).unwrap();
        }
        Self::of(group)
    }

    /// The same, with a group layer that somebody else made.
    pub(crate) fn of(mut group: Group) -> Self {
        group.regular(ID, &[ME, OTHER], &all);
        Self { group, place: 0, number: 0 }
    }

    /// The id of the newest notice that somebody here was told of.
    pub(crate) fn newest(&mut self) -> ViewId {
        let notice = |indication| match indication {
            Indication::Notice { view, .. } => Some(*view),
            _ => None,
        };
        self.indications().into_iter().rev().find_map(notice).unwrap()
    }

    /// The same, its tables merged.
    pub(crate) fn open(members: &[Party]) -> Self {
        let mut fed = Self::new(members);
        fed.state(ME, Vec::new());
        fed.state(OTHER, Vec::new());
        assert!(fed.group.is_settled());
        fed.indications();
        fed
    }

    pub(crate) fn state(&mut self, from: NodeId, groups: Vec<GroupState>) {
        self.control(from, &state(from, groups)).unwrap();
    }

    /// `party` says this, through `from`.
    pub(crate) fn say(&mut self, from: NodeId, party: Party, says: Says) -> Result<(), GroupError> {
        self.number += 1;
        self.control(from, &Control::Party(said(party, self.number, says)))
    }

    pub(crate) fn complain(
        &mut self,
        from: NodeId,
        party: Party,
        view: ViewId,
        suspect: Party,
    ) -> Result<(), GroupError> {
        self.say(from, party, Says::Complain { configuration: ID, view, suspect })
    }

    pub(crate) fn control(&mut self, from: NodeId, control: &Control) -> Result<(), GroupError> {
        self.bytes(from, message::encode(control))
    }

    pub(crate) fn bytes(&mut self, from: NodeId, bytes: Bytes) -> Result<(), GroupError> {
        self.place += 1;
        self.group.deliver(ID, Some(self.place), from, Service::Agreed, bytes, &all)
    }

    pub(crate) fn join(&mut self, from: NodeId, member: Party, group: GroupId) {
        self.say(from, member, Says::Join(Join { group, node: from, configuration: ID })).unwrap();
    }

    pub(crate) fn indications(&mut self) -> Vec<Indication> {
        let indication = |output: Output| match output {
            Output::Member { indication, .. } => Some(indication),
            _ => None,
        };
        std::iter::from_fn(|| self.group.poll_output()).filter_map(indication).collect()
    }

    pub(crate) fn refusals(&mut self) -> Vec<JoinRefusal> {
        let refusal = |indication: Indication| match indication {
            Indication::Refused { refusal, .. } => Some(refusal),
            _ => None,
        };
        self.indications().into_iter().filter_map(refusal).collect()
    }
}

#[test]
fn grp_06_a_member_lives_on_one_node() {
    let mut fed = Fed::open(&[member(1)]);
    fed.join(OTHER, member(1), GROUP);
    fed.join(ME, member(1), GROUP);
    assert_eq!(fed.refusals(), [JoinRefusal::Busy]);
    // If two States claim it by joins of one number, the first node in order has it.
    let stamp = Stamp { ring_seq: 0, order: 0 };
    let claim = |node: NodeId| {
        let members = vec![joined_at(node, member(1), GROUP, stamp)];
        vec![GroupState { group: GROUP, noticed: None, stood: Vec::new(), members }]
    };
    let mut fed = Fed::new(&[member(1)]);
    fed.state(OTHER, claim(OTHER));
    fed.state(ME, claim(ME));
    assert!(matches!(fed.indications()[..], [Indication::Notice { .. }]));
    let from_other =
        Bytes::from([message::data_lead(OTHER, &GROUP, &member(1)).as_slice(), b"mine?"].concat());
    assert_eq!(fed.bytes(OTHER, from_other), Err(GroupError::PeerSpokeForNobody(OTHER)));
}

#[test]
fn grp_07_a_group_has_bounded_members() {
    let mut fed = Fed::open(&[member(0)]);
    for number in 1..=MEMBERS_MAX {
        fed.join(OTHER, member(number), GROUP);
    }
    fed.join(ME, member(0), GROUP);
    assert_eq!(fed.refusals(), [JoinRefusal::GroupFull]);
    assert_eq!(fed.group.members(GROUP).len(), MEMBERS_MAX);
}

#[test]
fn grp_07_a_ring_has_bounded_groups() {
    let mut fed = Fed::open(&[member(0)]);
    for number in 0..GROUPS_MAX {
        fed.join(OTHER, member(1), group_id(number));
    }
    fed.join(ME, member(0), GROUP);
    assert_eq!(fed.refusals(), [JoinRefusal::TooManyGroups]);
    fed.join(ME, member(0), group_id(3));
    assert_eq!(fed.group.members(group_id(3)).len(), 2);
}

#[test]
fn grp_07_a_merge_keeps_the_bounds() {
    let stamp = Stamp { ring_seq: 0, order: 0 };
    let half = |node: NodeId, from: usize| {
        let numbers = from..from + MEMBERS_MAX * 2 / 3;
        let mut members: Vec<Joined> =
            numbers.map(|number| joined_at(node, member(number), GROUP, stamp)).collect();
        members.sort_unstable_by_key(|joined| joined.party);
        vec![GroupState { group: GROUP, noticed: None, stood: Vec::new(), members }]
    };
    let mut fed = Fed::new(&[]);
    fed.state(ME, half(ME, 0));
    fed.state(OTHER, half(OTHER, MEMBERS_MAX));
    assert_eq!(fed.group.members(GROUP).len(), MEMBERS_MAX);
}

#[test]
fn grp_07_a_node_has_bounded_memberships() {
    let mut fed = Fed::open(&[]);
    for number in 0..MEMBERSHIPS_MAX + 10 {
        fed.join(OTHER, member(number / 1_000), group_id(number % 1_000));
    }
    let held: usize = (0..1_000).map(|number| fed.group.members(group_id(number)).len()).sum();
    assert_eq!(held, MEMBERSHIPS_MAX);
}

#[test]
fn grp_08_who_was_set_aside_may_not_join_for_32_places() {
    let mut fed = Fed::open(&[member(1)]);
    fed.join(ME, member(1), GROUP);
    fed.join(OTHER, member(2), GROUP);
    let Some(Indication::Notice { view, .. }) = fed.indications().pop() else { panic!("no notice") };
    fed.complain(OTHER, member(2), *view, member(1)).unwrap();
    assert!(fed.indications().iter().any(|indication| matches!(indication, Indication::Removed { .. })));
    for _ in 0..31 {
        fed.join(ME, member(1), GROUP);
    }
    assert_eq!(fed.refusals(), [JoinRefusal::SetAside; 31]);
    assert!(
        fed.complain(OTHER, member(2), *view, member(1)).is_err(),
        "the view is not of this suspect any more"
    );
    fed.join(ME, member(1), GROUP);
    assert!(matches!(fed.indications()[..], [Indication::Notice { .. }]));
}

#[test]
fn grp_11_the_other_side_is_heard_after_the_merge() {
    let stamp = Stamp { ring_seq: 0, order: 0 };
    let of = |node: NodeId, number: usize| {
        let members = vec![joined_at(node, member(number), GROUP, stamp)];
        vec![GroupState { group: GROUP, noticed: None, stood: Vec::new(), members }]
    };
    // A first configuration of our own, so that there is a member here to hear.
    let mut group = Group::new(config(ME, None));
    group.attach(member(1)).unwrap();
    let first = ConfigurationId { ring_seq: 0, ..ID };
    group.regular(first, &[ME], &all);
    let state =
        State { configuration: first, mark: Mark::default(), charters: Vec::new(), groups: of(ME, 1) };
    let state = message::encode(&declared(ME, Declaration::State(state)));
    group.deliver(first, Some(0), ME, Service::Agreed, state, &all).unwrap();
    group.transitional(&[ME]);
    group.regular(ID, &[ME, OTHER], &all);
    let mut fed = Fed { group, place: 0, number: 0 };
    fed.indications();
    fed.state(OTHER, of(OTHER, 2));
    let early = Bytes::from([message::data_lead(OTHER, &GROUP, &member(2)).as_slice(), b"early"].concat());
    let forged = Bytes::from([message::data_lead(OTHER, &GROUP, &member(3)).as_slice(), b"forged"].concat());
    assert_eq!((fed.bytes(OTHER, early), fed.bytes(OTHER, forged)), (Ok(()), Ok(())));
    assert_eq!(fed.indications(), []);
    fed.state(ME, of(ME, 1));
    let indications = fed.indications();
    let heard = |indication: &Indication| matches!(indication, Indication::Deliver { sender, .. } if *sender == member(2));
    assert_eq!(indications.len(), 2);
    assert!(matches!(indications[0], Indication::Notice { .. }) && heard(&indications[1]));
}

#[test]
fn a_node_refuses_what_its_members_may_not_ask() {
    let mut fed = Fed::open(&[member(1)]);
    let group = &mut fed.group;
    assert_eq!(group.attach(member(1)), Err(GroupError::LocalAttached(member(1))));
    assert_eq!(group.detach(member(2)), Err(GroupError::LocalNotAttached(member(2))));
    let join = Says::Join(Join { group: GROUP, node: ME, configuration: ID });
    let joins = group.say(said(member(2), 1, join));
    assert_eq!(joins, Err(GroupError::LocalNotAttached(member(2))));
    let send = group.send(member(1), GROUP, Service::Safe, Bytes::new(), 0);
    assert_eq!(send, Err(GroupError::LocalNotJoined(member(1), GROUP)));
    let view = ViewId { configuration: ID, order: 0, group: GROUP };
    let complaint = Says::Complain { configuration: ID, view, suspect: member(2) };
    assert!(group.say(said(member(1), 1, complaint)).is_err());
    assert!(group.say(said(member(1), 1, Says::Refresh { view })).is_err());
    let long = vec![0; ITEM_BYTES_MAX + 1];
    assert_eq!(group.item(&long), Err(GroupError::LocalTooLong(long.len())));
    assert!(group.poll_output().is_none());
}
