//! What the group layer promises: the same tables at the same places, and one notice of each change
//! for each member of the group.

mod schedules;

mod handles;

use crate::bus::{Bus, Call, GROUP, Upper, config, declared, item, joined_at, member, node, removal, said};
use bytes::Bytes;
use folkmoot_base::{
    Cause, ConfigurationId, Danger, GroupId, Indication, Instant, JoinRefusal, MemberId, NodeId, Party, Says,
    Service, ViewId,
};
use folkmoot_group::message::{self, Control, Declaration, GroupState, Stamp, State};
use folkmoot_group::{Group, GroupError, MARK_NAMES_MAX, Mark, Output};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A member that writes down what it hears.
#[derive(Default)]
struct Scribe {
    indications: Vec<Indication>,
    calls: Vec<Call>,
}

impl Upper for Scribe {
    fn indication(&mut self, _: Instant, indication: Indication) {
        self.indications.push(indication);
    }

    fn calls(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.calls)
    }
}

impl Scribe {
    fn notices(&self) -> Vec<(ViewId, Vec<Party>, Vec<Party>, Cause)> {
        let notice = |indication: &Indication| match indication {
            Indication::Notice { view, members, removed, cause, .. } => {
                Some((**view, members.clone(), removed.clone(), *cause))
            }
            _ => None,
        };
        self.indications.iter().filter_map(notice).collect()
    }

    fn newest(&self) -> (ViewId, Vec<Party>, Vec<Party>, Cause) {
        self.notices().pop().expect("a notice")
    }

    fn heard(&self) -> Vec<Bytes> {
        let payload = |indication: &Indication| match indication {
            Indication::Deliver { payload, .. } => Some(payload.clone().freeze()),
            _ => None,
        };
        self.indications.iter().filter_map(payload).collect()
    }
}

fn bus(count: usize) -> Bus<Scribe> {
    Bus::new(count, None, |_| Scribe::default())
}

fn joined(count: usize) -> Bus<Scribe> {
    let mut bus = bus(count);
    bus.settle();
    for index in 0..count {
        bus.hosts[index].upper.calls.push(Call::Join);
        bus.settle();
    }
    bus
}

fn members(indices: &[usize]) -> Vec<Party> {
    indices.iter().map(|index| member(*index)).collect()
}

#[test]
fn a_join_is_one_ordered_message_and_one_notice_for_each_member() {
    let bus = joined(3);
    let counts: Vec<usize> = bus.hosts.iter().map(|host| host.upper.notices().len()).collect();
    assert_eq!(counts, [3, 2, 1]);
    let newest: BTreeSet<_> =
        bus.hosts.iter().map(|host| host.upper.newest()).map(|it| (it.0, it.1)).collect();
    assert_eq!(newest.len(), 1);
    assert_eq!(bus.hosts[0].upper.newest().1, members(&[0, 1, 2]));
    assert_eq!(bus.hosts[0].upper.newest().3, Cause::Join);
}

#[test]
fn a_leave_names_who_left() {
    let mut bus = joined(3);
    bus.hosts[1].upper.calls.push(Call::Leave);
    bus.settle();
    let (_, now, removed, cause) = bus.hosts[0].upper.newest();
    assert_eq!((now, removed, cause), (members(&[0, 2]), members(&[1]), Cause::Leave));
    assert_eq!(
        bus.hosts[1].upper.indications.last(),
        Some(&Indication::Removed { group: GROUP, cause: Cause::Leave })
    );
}

#[test]
fn grp_02_a_detach_takes_the_member_out_and_silences_it_at_once() {
    let mut bus = joined(3);
    let heard = bus.hosts[1].upper.indications.len();
    bus.hosts[1].group.detach(member(1)).unwrap();
    bus.hosts[1].group.attach(member(1)).unwrap();
    bus.settle();
    assert_eq!(bus.hosts[1].upper.indications.len(), heard);
    assert_eq!(bus.hosts[0].upper.newest().3, Cause::Detach);
    bus.hosts[1].upper.calls.push(Call::Join);
    bus.settle();
    assert_eq!(bus.hosts[1].upper.newest().1, members(&[0, 1, 2]));
}

#[test]
fn a_split_signals_then_notices_and_a_merge_names_those_who_were_gone() {
    let mut bus = joined(3);
    bus.reconfigure(&[0, 0, 1], 0);
    bus.settle();
    assert!(
        bus.hosts[0]
            .upper
            .indications
            .contains(&Indication::Transitional { group: GROUP, lost: members(&[2]) })
    );
    let (_, now, removed, cause) = bus.hosts[0].upper.newest();
    assert_eq!((now, removed, cause), (members(&[0, 1]), members(&[2]), Cause::Network));
    assert_eq!(bus.hosts[2].upper.newest().1, members(&[2]));
    bus.reconfigure(&[0, 0, 0], 0);
    bus.settle();
    let ids: BTreeSet<ViewId> = bus.hosts.iter().map(|host| host.upper.newest().0).collect();
    assert_eq!((ids.len(), bus.hosts[0].upper.newest().1), (1, members(&[0, 1, 2])));
}

#[test]
fn grp_09_a_configuration_that_changes_nothing_gives_no_notice() {
    let mut bus = joined(3);
    let before: Vec<usize> = bus.hosts.iter().map(|host| host.upper.indications.len()).collect();
    bus.reconfigure(&[0, 0, 0], 0);
    bus.settle();
    let after: Vec<usize> = bus.hosts.iter().map(|host| host.upper.indications.len()).collect();
    assert_eq!(before, after);
}

#[test]
fn grp_09_who_was_lost_and_is_back_before_a_notice_is_both_removed_and_member() {
    let mut bus = joined(3);
    bus.reconfigure(&[0, 0, 1], 0);
    bus.reconfigure(&[0, 0, 0], 0);
    bus.settle();
    let (_, now, removed, _) = bus.hosts[0].upper.newest();
    assert_eq!((now, removed), (members(&[0, 1, 2]), members(&[2])));
    let (_, now, removed, _) = bus.hosts[2].upper.newest();
    assert_eq!((now, removed), (members(&[0, 1, 2]), members(&[0, 1])));
}

#[test]
fn grp_10_a_merge_waits_for_equal_transcripts() {
    let mut bus = joined(4);
    bus.reconfigure(&[0, 0, 1, 1], 0);
    bus.settle();
    bus.hosts[0].group.item(&item(1)).unwrap();
    bus.hosts[3].group.item(&item(2)).unwrap();
    bus.hosts[3].group.item(&item(3)).unwrap();
    bus.settle();
    bus.reconfigure(&[0, 0, 0, 0], 0);
    bus.settle();
    for host in &bus.hosts {
        assert_eq!(host.items.len(), 3);
        assert!(host.group.is_settled());
        assert_eq!(host.upper.newest().1, members(&[0, 1, 2, 3]));
    }
}

/// Each is asked once for each pair of marks, and nobody for a mark that an earlier node shows too.
#[test]
fn grp_10_the_first_that_shows_a_mark_provides() {
    let mut bus = joined(4);
    bus.reconfigure(&[0, 0, 1, 1], 0);
    bus.settle();
    bus.hosts[2].group.item(&item(1)).unwrap();
    bus.settle();
    bus.reconfigure(&[0, 0, 0, 0], 0);
    bus.settle();
    assert!(bus.hosts.iter().all(|host| host.group.is_settled() && host.items.len() == 1));
    let asked: Vec<usize> = bus.hosts.iter().map(|host| host.asked).collect();
    assert_eq!((asked[2], asked[3]), (1, 0), "{asked:?}");
    assert!(asked.iter().all(|asked| *asked <= 2), "{asked:?}");
}

/// The ring goes on, and whom it waits for is said: the layer above leaves them out.
#[test]
fn grp_10_transcripts_on_two_lines_are_never_merged() {
    let mut bus = joined(4);
    bus.reconfigure(&[0, 0, 0, 1], 0);
    bus.settle();
    bus.fork(3, 1);
    bus.hosts[0].group.item(&item(1)).unwrap();
    bus.settle();
    bus.reconfigure(&[0, 0, 0, 0], 0);
    bus.settle();
    assert!(bus.hosts.iter().all(|host| !host.group.is_settled()));
    assert_eq!(bus.hosts[0].group.awaited(), [node(3)]);
    assert_eq!(bus.hosts[3].group.awaited(), [node(0), node(1), node(2)]);
    assert_eq!(bus.hosts[0].upper.newest().1, members(&[0, 1, 2]), "no notice lists both");
    bus.reconfigure(&[0, 0, 0, 1], 0);
    bus.settle();
    assert!(bus.hosts.iter().all(|host| host.group.is_settled()), "each line has its ring");
}

#[test]
fn grp_05_joins_of_the_unrostered_are_refused_by_every_node() {
    let mut bus = bus(3);
    bus.settle();
    bus.hosts[0].group.item(&removal(2)).unwrap();
    bus.settle();
    for index in 0..3 {
        bus.hosts[index].upper.calls.push(Call::Join);
    }
    bus.settle();
    let refused = Indication::Refused { group: GROUP, refusal: JoinRefusal::NotRostered };
    assert_eq!(bus.hosts[2].upper.indications, [refused]);
    assert_eq!(bus.hosts[0].group.members(GROUP), members(&[0, 1]));
}

#[test]
fn grp_05_an_expulsion_during_a_split_holds_after_the_merge() {
    let mut bus = joined(4);
    bus.reconfigure(&[0, 0, 1, 1], 0);
    bus.settle();
    bus.hosts[0].group.item(&removal(3)).unwrap();
    bus.settle();
    bus.reconfigure(&[0, 0, 0, 0], 0);
    bus.settle();
    assert_eq!(bus.hosts[0].upper.newest().1, members(&[0, 1, 2]));
    let removed = Indication::Removed { group: GROUP, cause: Cause::Expelled };
    assert_eq!(bus.hosts[3].upper.indications.iter().filter(|indication| **indication == removed).count(), 1);
    assert!(bus.hosts.iter().all(|host| host.group.members(GROUP) == members(&[0, 1, 2])));
}

#[test]
fn the_expelled_are_out_at_the_place_of_the_item() {
    let mut bus = joined(3);
    bus.hosts[0].group.item(&removal(2)).unwrap();
    bus.hosts[2].upper.calls.push(Call::Send(Service::Agreed, Bytes::from_static(b"late")));
    bus.settle();
    let (_, now, removed, cause) = bus.hosts[0].upper.newest();
    assert_eq!((now, removed, cause), (members(&[0, 1]), members(&[2]), Cause::Expelled));
    assert!(bus.hosts[0].upper.heard().is_empty());
}

fn complain(bus: &mut Bus<Scribe>, by: usize, about: usize, view: ViewId) {
    bus.hosts[by].upper.calls.push(Call::Complain(view, member(about)));
    bus.settle();
}

#[test]
fn grp_12_more_than_half_of_the_view_set_a_silent_member_aside() {
    let mut bus = joined(4);
    let view = bus.hosts[0].upper.newest().0;
    complain(&mut bus, 0, 3, view);
    complain(&mut bus, 0, 3, view);
    complain(&mut bus, 1, 3, view);
    assert_eq!(bus.hosts[0].upper.newest().0, view, "one vote each, and two of four are not enough");
    complain(&mut bus, 2, 3, view);
    let (_, now, removed, cause) = bus.hosts[0].upper.newest();
    assert_eq!((now, removed, cause), (members(&[0, 1, 2]), members(&[3]), Cause::Complaint));
    bus.hosts[3].upper.calls.push(Call::Join);
    bus.settle();
    let refused = Indication::Refused { group: GROUP, refusal: JoinRefusal::SetAside };
    assert_eq!(bus.hosts[3].upper.indications.last(), Some(&refused));
    for _ in 0..32 {
        bus.hosts[0].upper.calls.push(Call::Send(Service::Agreed, Bytes::new()));
    }
    bus.settle();
    bus.hosts[3].upper.calls.push(Call::Join);
    bus.settle();
    assert_eq!(bus.hosts[0].upper.newest().1, members(&[0, 1, 2, 3]));
}

#[test]
fn grp_12_complaints_count_among_those_of_the_view_they_name() {
    let mut bus = joined(3);
    let old = bus.hosts[0].upper.newest().0;
    let mut bus = {
        bus.say(0, Says::Leave { group: GROUP });
        bus.settle();
        bus
    };
    // Two of the three members of `old` are left: one complaint about the other is enough, as in a
    // view of two.
    complain(&mut bus, 1, 2, old);
    assert_eq!(bus.hosts[1].upper.newest().1, members(&[1]));
    let mut bus = joined(4);
    let all = bus.hosts[0].upper.newest().0;
    let three = bus.hosts[0].upper.notices()[2].0;
    complain(&mut bus, 3, 0, three);
    assert_eq!(bus.hosts[0].upper.newest().0, all, "the fourth is not of the view that it names");
    complain(&mut bus, 1, 2, three);
    complain(&mut bus, 0, 2, three);
    assert_eq!(bus.hosts[0].upper.newest().1, members(&[0, 1, 3]));
}

/// A case from a simulated run (seed 11707 of its day): keying still runs in a view from before the
/// newest notice. The configuration changes although nobody comes or goes, so the notice is kept.
/// All members of that view wait for one another.
#[test]
fn grp_12_a_view_from_before_a_merge_that_kept_the_notice_counts_as_the_newest() {
    let mut bus = joined(4);
    let (newest, earlier) = (bus.hosts[0].upper.newest().0, bus.hosts[0].upper.notices()[2].0);
    bus.reconfigure(&[0, 0, 0, 0], 0);
    bus.settle();
    assert_eq!(bus.hosts[0].upper.newest().0, newest, "nobody came or went");
    for complainer in [0, 1, 2] {
        complain(&mut bus, complainer, 3, earlier);
    }
    assert_eq!(bus.hosts[0].upper.newest().1, members(&[0, 1, 2]));
}

/// A case from a simulated run (seed 14904 of its day): two sides of two, each with a member that
/// is silent in keying, come to one notice with a fifth. Only the member that waits for a silent
/// one can complain of it. Nobody had more than half of all.
#[test]
fn grp_12_a_view_from_before_a_merge_counts_among_those_who_were_in_it() {
    for between in 0..3 {
        let mut bus = joined(5);
        bus.reconfigure(&[0, 0, 1, 1, 2], 0);
        bus.settle();
        let (left, right) = (bus.hosts[0].upper.newest().0, bus.hosts[2].upper.newest().0);
        // The silent members stay silent over more merges: the notices whose views they are in are
        // not forgotten.
        for _ in 0..=between {
            bus.reconfigure(&[0; 5], 0);
            bus.settle();
        }
        assert_eq!(bus.hosts[0].upper.newest().1, members(&[0, 1, 2, 3, 4]));
        complain(&mut bus, 4, 0, left);
        complain(&mut bus, 2, 0, left);
        assert_eq!(bus.hosts[4].upper.newest().1, members(&[0, 1, 2, 3, 4]), "neither was in that view");
        complain(&mut bus, 1, 0, left);
        assert_eq!(bus.hosts[4].upper.newest().1, members(&[1, 2, 3, 4]), "after {between} more");
        complain(&mut bus, 2, 3, right);
        assert_eq!(bus.hosts[1].upper.newest().1, members(&[1, 2, 4]));
    }
}

#[test]
fn a_refresh_is_a_notice_with_the_same_members() {
    let mut bus = joined(2);
    let view = bus.hosts[0].upper.newest().0;
    bus.say(0, Says::Refresh { view });
    bus.settle();
    let (_, now, removed, cause) = bus.hosts[1].upper.newest();
    assert_eq!((now, removed, cause), (members(&[0, 1]), Vec::new(), Cause::Refresh));
}

#[test]
fn changes_during_a_state_exchange_become_one_notice() {
    let mut bus = joined(3);
    let before = bus.hosts[0].upper.notices().len();
    bus.reconfigure(&[0, 0, 0], 0);
    bus.hosts[2].upper.calls.push(Call::Leave);
    bus.hosts[1].upper.calls.push(Call::Leave);
    bus.settle();
    assert_eq!(bus.hosts[0].upper.newest().1, members(&[0]));
    assert!(bus.hosts[0].upper.notices().len() <= before + 2);
}

#[test]
fn the_mutant_keeps_the_lost() {
    let mut bus = Bus::new(2, Some(Danger::GroupKeepsLost), |_| Scribe::default());
    bus.settle();
    for index in 0..2 {
        bus.hosts[index].upper.calls.push(Call::Join);
    }
    bus.settle();
    bus.reconfigure(&[0, 1], 0);
    bus.settle();
    assert_eq!(bus.hosts[0].group.members(GROUP), members(&[0, 1]));
}

// --- one node; the test plays the ring ---

const ID: ConfigurationId = ConfigurationId { ring_seq: 1, representative: NodeId([1; 32]), nonce: [0; 16] };

fn fed(state: State) -> (Group, Result<(), GroupError>) {
    let mut group = Group::new(config(node(0), None));
    let all = |_: MemberId| true;
    group.regular(ID, &[node(0), node(1)], &all);
    let bytes = message::encode(&declared(node(1), Declaration::State(state)));
    let result = group.deliver(ID, Some(0), node(1), Service::Agreed, bytes, &all);
    (group, result)
}

fn state(groups: Vec<GroupState>) -> State {
    State { configuration: ID, mark: Mark::default(), charters: Vec::new(), groups }
}

fn one(group: u8, who: &[usize]) -> GroupState {
    let stamp = Stamp { ring_seq: 0, order: 0 };
    let group = GroupId([group; 32]);
    let members = who.iter().map(|index| joined_at(node(1), member(*index), group, stamp)).collect();
    GroupState { group, noticed: None, stood: Vec::new(), members }
}

#[test]
fn grp_03_states_are_sorted_whole_and_said_once() {
    let refused = Err(GroupError::PeerOutOfTurn(node(1)));
    assert_eq!(fed(state(vec![one(2, &[1]), one(1, &[1])])).1, refused);
    assert_eq!(fed(state(vec![one(1, &[2, 1])])).1, refused);
    assert_eq!(fed(state(vec![one(1, &[])])).1, refused);
    let (mut group, first) = fed(state(vec![one(1, &[1])]));
    assert_eq!(first, Ok(()));
    let again = message::encode(&declared(node(1), Declaration::State(state(Vec::new()))));
    assert_eq!(group.deliver(ID, Some(1), node(1), Service::Agreed, again, &|_: MemberId| true), refused);
}

#[test]
fn grp_03_states_have_bounds() {
    let name = |number: usize| {
        let mut name = [0; 16];
        name[..8].copy_from_slice(&number.to_be_bytes());
        name
    };
    let with = |names: Vec<[u8; 16]>| {
        let mark = Mark { names, ..Mark::default() };
        fed(State { configuration: ID, mark, charters: Vec::new(), groups: Vec::new() }).1
    };
    assert_eq!(with((0..MARK_NAMES_MAX).map(name).collect()), Ok(()));
    let too_many = (0..=MARK_NAMES_MAX).map(name).collect();
    assert_eq!(with(too_many), Err(GroupError::PeerTooLarge(node(1))));
    assert_eq!(with(vec![name(2), name(1)]), Err(GroupError::PeerOutOfTurn(node(1))));
    assert_eq!(with(vec![name(1), name(1)]), Err(GroupError::PeerOutOfTurn(node(1))));
}

#[test]
fn a_mark_names_the_lowest_of_many() {
    let names = |count: usize| (0..count).map(|number| folkmoot_base::digest(&[&number.to_be_bytes()]));
    let head = Mark::default().head;
    let few = Mark::new(head, [1; 32], names(10));
    assert!(names(10).all(|name| few.has(&name)) && !few.has(&[0; 32]));
    let many = Mark::new(head, [1; 32], names(3_000));
    let mut sorted: Vec<_> = names(3_000).collect();
    sorted.sort_unstable();
    let known: Vec<bool> = sorted.iter().map(|name| many.has(name)).collect();
    assert!(known[..MARK_NAMES_MAX].iter().all(|known| *known));
    assert!(known[MARK_NAMES_MAX..].iter().all(|known| !known), "of those beyond nothing is said");
}

#[test]
fn grp_01_what_is_no_message_is_refused() {
    let mut group = Group::new(config(node(0), None));
    let all = |_: MemberId| true;
    group.regular(ID, &[node(0)], &all);
    for bytes in [&b""[..], b"\x09", b"\x01\x63", b"\xD1short"] {
        let result =
            group.deliver(ID, Some(0), node(0), Service::Agreed, Bytes::copy_from_slice(bytes), &all);
        assert!(matches!(result, Err(GroupError::PeerMalformed { .. })), "{bytes:?}");
    }
    let stranger = group.deliver(ID, Some(0), node(5), Service::Agreed, Bytes::new(), &all);
    assert_eq!(stranger, Err(GroupError::PeerNotInConfiguration(node(5))));
}

#[test]
fn grp_04_a_node_speaks_only_for_its_own() {
    let mut bus = joined(2);
    let id = bus.hosts[0].upper.newest().0.configuration;
    let host = &mut bus.hosts[0];
    let all = |_: MemberId| true;
    let forged =
        Bytes::from([message::data_lead(node(1), &GROUP, &member(0)).as_slice(), b"not mine"].concat());
    let result = host.group.deliver(id, Some(900), node(1), Service::Agreed, forged, &all);
    assert_eq!(result, Err(GroupError::PeerSpokeForNobody(node(1))));
    let leave = said(member(0), 900, Says::Leave { group: GROUP });
    let leave = message::encode(&Control::Party(leave));
    assert!(host.group.deliver(id, Some(901), node(1), Service::Agreed, leave, &all).is_err());
    assert!(host.group.poll_output().is_none());
}

#[test]
fn a_payload_is_a_slice_of_what_the_ring_delivered() {
    let mut bus = joined(1);
    let id = bus.hosts[0].upper.newest().0.configuration;
    let frame =
        Bytes::from([message::data_lead(node(0), &GROUP, &member(0)).as_slice(), b"payload"].concat());
    let range = frame.as_ptr_range();
    let host = &mut bus.hosts[0];
    host.group.deliver(id, Some(900), node(0), Service::Safe, frame.clone(), &|_: MemberId| true).unwrap();
    let Some(Output::Member { indication: Indication::Deliver { payload, service, .. }, .. }) =
        host.group.poll_output()
    else {
        panic!("no delivery");
    };
    assert_eq!((&payload[..], service), (&b"payload"[..], Service::Safe));
    assert!(range.contains(&payload.as_ptr()));
}

// --- whatever happens ---
