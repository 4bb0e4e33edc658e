//! A carrier that forges packets: words in the name of others, and words that come again. Each test
//! plays the liar with the rule on, and with the rule off.

use crate::bus::{Bus, Call, GROUP, Upper, declared, joined_at, member, node, said, signed_by};
use crate::limits::{self, Fed, ID, ME, OTHER};
use bytes::Bytes;
use folkmoot_base::{
    Cause, ConfigurationId, Danger, GroupId, Indication, Instant, Join, MemberId, NodeId, Party, Says,
    Service, ViewId,
};
use folkmoot_group::message::{self, Control, Declaration, GroupState, Message, Stamp, State};
use folkmoot_group::{GroupError, Mark, Output};

/// A member that only asks.
#[derive(Default)]
pub(crate) struct Quiet {
    calls: Vec<Call>,
    newest: Option<(ViewId, Vec<Party>)>,
}

impl Upper for Quiet {
    fn indication(&mut self, _: Instant, indication: Indication) {
        if let Indication::Notice { view, members, .. } = indication {
            self.newest = Some((*view, members));
        }
    }

    fn calls(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.calls)
    }
}

pub(crate) fn joined(count: usize, danger: Option<Danger>) -> Bus<Quiet> {
    let mut bus = Bus::new(count, danger, |_| Quiet::default());
    bus.settle();
    for index in 0..count {
        call(&mut bus, index, Call::Join);
    }
    bus
}

fn call(bus: &mut Bus<Quiet>, index: usize, call: Call) {
    bus.hosts[index].upper.calls.push(call);
    bus.settle();
}

/// How many are in the group at node 0; all nodes must have the same.
pub(crate) fn size(bus: &Bus<Quiet>) -> usize {
    let all = bus.hosts.iter().map(|host| host.group.members(GROUP));
    let first = bus.hosts[0].group.members(GROUP);
    assert!(all.into_iter().all(|members| members == first), "one table");
    first.len()
}

/// Has this ordered in the name of node `victim`, and returns how many are in the group then.
pub(crate) fn after(mut bus: Bus<Quiet>, victim: usize, control: &Control) -> usize {
    bus.forge(victim, control);
    bus.settle();
    size(&bus)
}

/// The words of parties in the order of the ring of node 0.
fn words(bus: &Bus<Quiet>, which: impl Fn(&Says) -> bool) -> Vec<Control> {
    let control = |bytes: Bytes| match message::decode(node(0), bytes) {
        Ok(Message::Control(control)) => Some(*control),
        _ => None,
    };
    let wanted = |control: &Control| matches!(control, Control::Party(said) if which(&said.word.says));
    bus.log(0).into_iter().filter_map(control).filter(wanted).collect()
}

fn by(liar: usize, victim: usize, number: u64, says: Says) -> Control {
    Control::Party(signed_by(member(liar).member, member(victim), number, says))
}

pub(crate) const ANYONE: Option<Danger> = Some(Danger::GroupBelievesAnyone);
pub(crate) const AGAIN: Option<Danger> = Some(Danger::GroupHearsAgain);

/// Carl's node (2) has words ordered in the name of Ben's (1): they are signed by Carl at best.
#[test]
fn grp_20_a_word_that_its_party_did_not_sign_is_refused() {
    for (danger, left) in [(None, 3), (ANYONE, 2)] {
        let leave = by(2, 1, 900, Says::Leave { group: GROUP });
        assert_eq!(after(joined(3, danger), 1, &leave), left, "leave");

        let mut bus = joined(3, danger);
        let configuration = bus.configuration(0);
        let view = bus.hosts[0].upper.newest.clone().unwrap().0;
        for accuser in [0, 1] {
            let complaint = Says::Complain { configuration, view, suspect: member(2) };
            bus.forge(accuser, &by(2, accuser, 900, complaint));
        }
        bus.settle();
        assert_eq!(size(&bus), left, "complaints");

        let mut bus = joined(3, danger);
        let newest = bus.hosts[0].upper.newest.clone();
        let view = newest.clone().unwrap().0;
        bus.forge(1, &by(2, 1, 900, Says::Refresh { view }));
        bus.settle();
        assert_eq!(bus.hosts[0].upper.newest == newest, danger.is_none(), "refresh");
    }
    for (danger, there) in [(None, 2), (ANYONE, 3)] {
        let mut bus = joined(3, danger);
        call(&mut bus, 1, Call::Leave);
        let configuration = bus.configuration(1);
        let join = Says::Join(Join { group: GROUP, node: node(1), configuration });
        assert_eq!(after(bus, 1, &by(2, 1, 900, join)), there, "join");
    }
}

/// The signature covers all of a word: nothing in it can be changed.
#[test]
fn grp_20_a_word_is_of_one_party_group_and_subject() {
    let (open, view) = two();
    let join = |group, node| Says::Join(Join { group, node, configuration: ID });
    let other = GroupId([9; 32]);
    let suspect = limits::member(1);
    let complain = |view: ViewId, suspect| Says::Complain { configuration: ID, view, suspect };
    let changes = [
        (join(other, OTHER), join(GROUP, OTHER)),
        (Says::Leave { group: other }, Says::Leave { group: GROUP }),
        (complain(ViewId { order: 99, ..view }, suspect), complain(view, suspect)),
        (complain(view, limits::member(3)), complain(view, suspect)),
        (Says::Refresh { view: ViewId { order: 99, ..view } }, Says::Refresh { view }),
    ];
    drop(open);
    for (signed, shown) in changes {
        let (mut fed, _) = two();
        let mut word = said(limits::member(2), 900, signed);
        word.word.says = shown;
        assert_eq!(fed.control(OTHER, &Control::Party(word)), Err(GroupError::PeerForged(OTHER)));
    }
    // Another port, another number.
    let leave = said(Party::new(limits::member(2).member, 1), 900, Says::Leave { group: GROUP });
    for change in 0..2 {
        let (mut fed, _) = two();
        let mut word = leave.clone();
        match change {
            0 => word.word.party = limits::member(2),
            _ => word.word.number = 901,
        }
        assert_eq!(fed.control(OTHER, &Control::Party(word)), Err(GroupError::PeerForged(OTHER)));
    }
}

/// Party 1 lives here and party 2 on the other node; both are in the group.
pub(crate) fn two() -> (Fed, ViewId) {
    two_with(None)
}

fn two_with(danger: Option<Danger>) -> (Fed, ViewId) {
    let mut fed = Fed::broken(&[limits::member(1)], danger);
    fed.state(ME, Vec::new());
    fed.state(OTHER, Vec::new());
    fed.join(ME, limits::member(1), GROUP);
    fed.join(OTHER, limits::member(2), GROUP);
    let view = fed.newest();
    (fed, view)
}

/// Ben joins, leaves, and does not come back. His join counts no more, neither in this
/// configuration nor in the next.
#[test]
fn grp_21_a_join_counts_once_and_in_its_configuration() {
    for (danger, there) in [(None, 2), (AGAIN, 3)] {
        for later in [false, true] {
            let mut bus = joined(3, danger);
            let joins = words(&bus, |says| matches!(says, Says::Join(_)));
            let bens = joins.into_iter().find(|control| is_of(control, member(1))).unwrap();
            call(&mut bus, 1, Call::Leave);
            if later {
                bus.reconfigure(&[0; 3], 0);
                bus.settle();
            }
            assert_eq!(after(bus, 1, &bens), there, "in a later configuration: {later}");
        }
    }
}

fn is_of(control: &Control, party: Party) -> bool {
    matches!(control, Control::Party(said) if said.word.party == party)
}

/// A complaint counts once, and in the configuration in which it was made. Party 2 was slow once.
#[test]
fn grp_21_a_complaint_counts_once_and_in_its_configuration() {
    for (danger, left) in [(None, 4), (AGAIN, 3)] {
        let mut bus = joined(4, danger);
        let view = bus.hosts[0].upper.newest.clone().unwrap().0;
        // Two of four are not enough, and the suspect goes on.
        for accuser in [0, 1] {
            call(&mut bus, accuser, Call::Complain(view, member(3)));
        }
        let complaints = words(&bus, |says| matches!(says, Says::Complain { .. }));
        assert_eq!((complaints.len(), size(&bus)), (2, 4));
        // Later, one who never was slow complains of it by mistake, and the liar adds the two.
        bus.reconfigure(&[0; 4], 0);
        bus.settle();
        call(&mut bus, 2, Call::Complain(view, member(3)));
        for (accuser, complaint) in complaints.iter().enumerate() {
            bus.forge(accuser, complaint);
        }
        bus.settle();
        assert_eq!(size(&bus), left);
    }
}

/// What is said while tables are not merged is decided with the merge, and never later.
#[test]
fn grp_21_a_complaint_from_before_the_merge_does_not_count_after_it() {
    for (danger, left) in [(None, 2), (AGAIN, 1)] {
        let (mut fed, view) = two_with(danger);
        let next = ConfigurationId { ring_seq: 2, ..ID };
        let all = |_: MemberId| true;
        fed.group.regular(next, &[ME, OTHER], &all);
        let Some(Output::Submit { payload: mine, .. }) = fed.group.poll_output() else { panic!("no State") };
        // The other node stood by the same notices.
        let stood = vec![message::label_of(&view)];
        let members = vec![joined_at(OTHER, limits::member(2), GROUP, Stamp { ring_seq: 1, order: 4 })];
        let groups = vec![GroupState { group: GROUP, noticed: None, stood, members }];
        let theirs = State { configuration: next, mark: Mark::default(), charters: Vec::new(), groups };
        let theirs = message::encode(&declared(OTHER, Declaration::State(theirs)));
        let complaint = Says::Complain { configuration: next, view, suspect: limits::member(1) };
        let complaint = Control::Party(said(limits::member(2), 900, complaint));
        let complaint = message::encode(&complaint);
        let order = [(OTHER, complaint.clone()), (ME, mine), (OTHER, theirs), (OTHER, complaint)];
        for (place, (from, bytes)) in (0..).zip(order) {
            let _ = fed.group.deliver(next, Some(place), from, Service::Agreed, bytes, &all);
        }
        assert!(fed.group.is_settled());
        assert_eq!(fed.group.members(GROUP).len(), left);
    }
}

/// A member has so many ports, and no more, in a configuration. A stranger leaves nothing.
#[test]
fn grp_21_what_is_known_of_speakers_is_bounded() {
    let mut fed = Fed::open(&[]);
    let of = |port| Party::new(limits::member(1).member, port);
    let mut refused = 0;
    for port in 0..1_030 {
        let group = GroupId([u8::try_from(port / 60).unwrap(); 32]);
        let join = Says::Join(Join { group, node: OTHER, configuration: ID });
        refused += usize::from(fed.say(OTHER, of(port), join).is_err());
    }
    assert_eq!(refused, 6);
}

/// A join is for one node. A former host cannot have its party join again, nor say that the party
/// is there; and if it said so first, the party comes back all the same.
#[test]
fn grp_22_a_former_host_does_not_keep_its_party() {
    let (party, stamp) = (limits::member(1), Stamp { ring_seq: 0, order: 0 });
    // A join for one node is none for another.
    let mut fed = Fed::open(&[party]);
    let join = Says::Join(Join { group: GROUP, node: ME, configuration: ID });
    let stolen = Control::Party(said(party, 7, join));
    assert!(matches!(fed.control(OTHER, &stolen), Err(GroupError::PeerSpokeForAnother { .. })));
    assert_eq!(fed.group.members(GROUP), []);
    // The State of a node cannot show another node's join.
    let state = |node: NodeId, from: NodeId, order: u64| {
        let mut joined = joined_at(node, party, GROUP, Stamp { order, ..stamp });
        joined.join.configuration = ConfigurationId { ring_seq: 0, ..ID };
        let word = Says::Join(Join { group: GROUP, node, configuration: joined.join.configuration });
        joined.join.proof = said(party, joined.join.number, word).proof;
        let groups =
            vec![GroupState { group: GROUP, noticed: None, stood: Vec::new(), members: vec![joined] }];
        limits::state(from, groups)
    };
    let mut fed = Fed::new(&[party]);
    assert_eq!(fed.control(OTHER, &state(ME, OTHER, 1)), Err(GroupError::PeerForged(OTHER)));
    // Of two nodes that show a join of their own the later join counts, whichever node is first.
    for (mine, theirs, at) in [(2, 1, ME), (1, 2, OTHER)] {
        let mut fed = Fed::new(&[party]);
        fed.control(ME, &state(ME, ME, mine)).unwrap();
        fed.control(OTHER, &state(OTHER, OTHER, theirs)).unwrap();
        let lead = message::data_lead(at, &GROUP, &party);
        assert_eq!(fed.bytes(at, Bytes::copy_from_slice(lead.as_slice())), Ok(()));
    }
    // It said so although the party had left. The party joins elsewhere, once in a configuration.
    let mut fed = Fed::new(&[party]);
    fed.control(ME, &limits::state(ME, Vec::new())).unwrap();
    fed.control(OTHER, &state(OTHER, OTHER, 1)).unwrap();
    fed.number = 10;
    fed.indications();
    fed.join(ME, party, GROUP);
    let told = fed.indications();
    assert!(
        told.iter().any(|said| matches!(said, Indication::Notice { members, removed, cause, .. }
            if *members == [party] && *removed == [party] && *cause == Cause::Join)),
        "{told:?}"
    );
    fed.join(OTHER, party, GROUP);
    let lead = message::data_lead(ME, &GROUP, &party);
    assert_eq!(fed.bytes(ME, Bytes::copy_from_slice(lead.as_slice())), Ok(()), "it stays here");
}

/// Ben leaves and joins again. Neither his old Leave nor his node's old Detach ends the new join.
#[test]
fn grp_23_what_ended_one_join_does_not_end_the_next() {
    for (danger, left) in [(None, 3), (AGAIN, 2)] {
        for later in [false, true] {
            let mut bus = joined(3, danger);
            call(&mut bus, 1, Call::Leave);
            let leave = words(&bus, |says| matches!(says, Says::Leave { .. })).pop().unwrap();
            call(&mut bus, 1, Call::Join);
            assert_eq!(size(&bus), 3);
            if later {
                bus.reconfigure(&[0; 3], 0);
                bus.settle();
            }
            assert_eq!(after(bus, 1, &leave), left, "leave; later: {later}");

            let mut bus = joined(3, danger);
            bus.hosts[1].group.detach(member(1)).unwrap();
            bus.hosts[1].group.attach(member(1)).unwrap();
            bus.settle();
            let number = bus.hosts[1].number;
            let detach = declared(node(1), Declaration::Detach { party: member(1), number });
            assert!(bus.log(0).contains(&message::encode(&detach)), "it is what the node said");
            call(&mut bus, 1, Call::Join);
            if later {
                bus.reconfigure(&[0; 3], 0);
                bus.settle();
            }
            assert_eq!(after(bus, 1, &detach), left, "detach; later: {later}");
        }
    }
}

/// Nothing is lost: a Leave that was said in one configuration and ordered in the next counts, and
/// so does a Detach.
#[test]
fn grp_23_what_is_ordered_late_still_ends_the_join() {
    for detaches in [false, true] {
        let mut bus = joined(3, None);
        if detaches {
            bus.hosts[1].group.detach(member(1)).unwrap();
        } else {
            bus.say(1, Says::Leave { group: GROUP });
        }
        bus.pump(1);
        bus.reconfigure(&[0; 3], 0);
        bus.settle();
        assert_eq!(size(&bus), 2);
    }
}

/// A refresh of a view that is not the newest is out of date.
#[test]
fn grp_23_a_refresh_counts_in_the_newest_notice() {
    for (danger, again) in [(None, false), (AGAIN, true)] {
        let mut bus = joined(2, danger);
        let view = bus.hosts[0].upper.newest.clone().unwrap().0;
        bus.say(0, Says::Refresh { view });
        bus.settle();
        let newest = bus.hosts[0].upper.newest.clone();
        assert_ne!(newest.clone().unwrap().0, view, "it is a new notice");
        let refresh = words(&bus, |says| matches!(says, Says::Refresh { .. })).pop().unwrap();
        bus.forge(0, &refresh);
        bus.settle();
        assert_eq!(bus.hosts[0].upper.newest != newest, again);
        // Said again with a new number it is as old as it was.
        let newest = bus.hosts[0].upper.newest.clone();
        bus.say(1, Says::Refresh { view });
        bus.settle();
        assert_eq!(bus.hosts[0].upper.newest != newest, again);
    }
}

/// While tables are merged, it counts if the hosts agree that this is the newest notice.
#[test]
fn grp_23_a_refresh_during_a_merge_counts_once() {
    let mut bus = joined(2, None);
    let view = bus.hosts[0].upper.newest.clone().unwrap().0;
    bus.reconfigure(&[0; 2], 0);
    bus.say(0, Says::Refresh { view });
    bus.settle();
    let newest = bus.hosts[0].upper.newest.clone().unwrap().0;
    assert_ne!(newest, view);
    bus.reconfigure(&[0; 2], 0);
    bus.say(0, Says::Refresh { view });
    bus.settle();
    assert_eq!(bus.hosts[0].upper.newest.clone().unwrap().0, newest, "nothing happened");
}
