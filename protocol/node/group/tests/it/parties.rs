//! Several parties of one member in one group.

use crate::bus::joined_at;
use crate::limits::{Fed, GROUP, ID, ME, OTHER, member};
use bytes::Bytes;
use folkmoot_base::limits::PARTIES_MAX;
use folkmoot_base::{
    Cause, ConfigurationId, Danger, Indication, JoinRefusal, MemberId, NodeId, Party, Says, Service, ViewId,
};
use folkmoot_group::GroupError;
use folkmoot_group::message::{self, GroupState, Stamp};

/// Program `port` of the member with this number.
fn party(number: usize, port: u16) -> Party {
    Party::new(member(number).member, port)
}

/// The newest notice among what was said: its id, its parties, and who was removed.
fn notice(fed: &mut Fed) -> (ViewId, Vec<Party>, Vec<Party>, Cause) {
    let notice = |indication: Indication| match indication {
        Indication::Notice { view, members, removed, cause, .. } => Some((*view, members, removed, cause)),
        _ => None,
    };
    fed.indications().into_iter().filter_map(notice).next_back().unwrap()
}

/// A group in which one member of this node has two programs, and each of three others has one.
fn two_and_three() -> (Fed, ViewId) {
    let mut fed = Fed::open(&[party(1, 0), party(1, 7)]);
    fed.join(ME, party(1, 0), GROUP);
    fed.join(ME, party(1, 7), GROUP);
    for number in 2..=4 {
        fed.join(OTHER, party(number, 0), GROUP);
    }
    let (view, ..) = notice(&mut fed);
    (fed, view)
}

#[test]
fn grp_13_parties_of_one_member_come_speak_and_go_one_by_one() {
    let (mut fed, _) = two_and_three();
    assert_eq!(fed.group.members(GROUP).len(), 5);
    for speaker in [party(1, 0), party(1, 7)] {
        let lead = message::data_lead(ME, &GROUP, &speaker);
        fed.bytes(ME, Bytes::from([lead.as_slice(), b"word"].concat())).unwrap();
        let expected = Indication::Deliver {
            group: GROUP,
            sender: speaker,
            service: Service::Agreed,
            payload: Bytes::from_static(b"word").into(),
        };
        assert_eq!(fed.indications(), [expected.clone(), expected], "for each of the two that live here");
    }
    fed.say(ME, party(1, 7), Says::Leave { group: GROUP }).unwrap();
    let (_, now, removed, cause) = notice(&mut fed);
    assert_eq!((removed, cause), (vec![party(1, 7)], Cause::Leave));
    assert!(now.contains(&party(1, 0)));
}

/// The liar: a node speaks for a port of its member that is not in the group, or that lives
/// elsewhere.
#[test]
fn grp_13_nobody_speaks_for_another_port() {
    let (mut fed, _) = two_and_three();
    for (node, speaker) in [(ME, party(1, 9)), (OTHER, party(2, 1)), (OTHER, party(1, 7))] {
        let lead = message::data_lead(node, &GROUP, &speaker);
        let forged = Bytes::from([lead.as_slice(), b"forged"].concat());
        assert_eq!(fed.bytes(node, forged), Err(GroupError::PeerSpokeForNobody(node)), "{speaker}");
        let leave = fed.say(node, speaker, Says::Leave { group: GROUP });
        assert!(matches!(leave, Err(GroupError::PeerSpokeForAnother { .. })));
    }
    assert_eq!(fed.group.members(GROUP).len(), 5);
}

#[test]
fn grp_13_the_roster_removes_a_member_with_all_its_parties() {
    let (mut fed, _) = two_and_three();
    fed.group.roster_changed(&[(member(1).member, Cause::Expelled)]);
    let expelled = Indication::Removed { group: GROUP, cause: Cause::Expelled };
    assert_eq!(fed.indications(), [expelled.clone(), expelled]);
    assert_eq!(fed.group.members(GROUP).len(), 3);
}

/// The roster loses a member while the tables of a new configuration are not merged. What is
/// ordered behind is said to those who are left, and the member may never hear it.
#[test]
fn grp_17_who_is_struck_before_the_merge_is_lost_at_that_place() {
    for danger in [None, Some(Danger::GroupStruckUntold)] {
        let mut fed = Fed::broken(&[party(1, 0)], danger);
        fed.state(ME, Vec::new());
        fed.state(OTHER, Vec::new());
        fed.join(ME, party(1, 0), GROUP);
        fed.join(OTHER, party(2, 0), GROUP);
        fed.indications();
        let next = ConfigurationId { ring_seq: 2, ..ID };
        fed.group.transitional(&[ME, OTHER]);
        fed.group.regular(next, &[ME, OTHER], &|_: MemberId| true);
        fed.group.roster_changed(&[(member(2).member, Cause::Expelled)]);
        let lost = Indication::Transitional { group: GROUP, lost: vec![party(2, 0)] };
        let expected = if danger.is_none() { vec![lost] } else { Vec::new() };
        assert_eq!(fed.indications(), expected, "{danger:?}");
    }
}

/// The liar: a member complains with each of its programs. Members are counted, so one of four
/// removes nobody however many programs it runs; three of four do.
#[test]
fn grp_13_many_programs_are_one_voice_in_complaints() {
    let mut fed = Fed::open(&[party(1, 0)]);
    fed.join(ME, party(1, 0), GROUP);
    for port in 0..20 {
        fed.join(OTHER, party(2, port), GROUP);
    }
    fed.join(OTHER, party(3, 0), GROUP);
    fed.join(OTHER, party(4, 0), GROUP);
    let (view, ..) = notice(&mut fed);
    let mut complain = |complainer| fed.complain(OTHER, complainer, view, party(1, 0));
    complain(party(2, 0)).unwrap();
    for port in 1..20 {
        assert_eq!(complain(party(2, port)), Err(GroupError::PeerComplaint(party(2, port))));
    }
    complain(party(3, 0)).unwrap();
    assert_eq!(fed.group.members(GROUP).len(), 23);
    fed.complain(OTHER, party(4, 0), view, party(1, 0)).unwrap();
    assert_eq!(fed.group.members(GROUP).len(), 22, "three of four members complained");
}

/// A program that is silent is set aside alone. No other port of its member is a way round, and its
/// member's other programs may complain of it like anybody.
#[test]
fn grp_13_a_silent_party_is_set_aside_and_comes_back_under_no_other_port() {
    let mut fed = Fed::open(&[party(1, 0), party(1, 7)]);
    fed.join(ME, party(1, 0), GROUP);
    fed.join(ME, party(1, 7), GROUP);
    let (view, ..) = notice(&mut fed);
    fed.complain(ME, party(1, 0), view, party(1, 7)).unwrap();
    assert_eq!(fed.group.members(GROUP), [party(1, 0)]);
    fed.indications();
    fed.join(ME, party(1, 7), GROUP);
    assert_eq!(fed.refusals(), [JoinRefusal::SetAside]);
    fed.join(OTHER, party(1, 8), GROUP);
    assert_eq!(fed.group.members(GROUP), [party(1, 0)]);
}

/// The liar: a member is silent with one program after the other. The second one that is set aside
/// takes all of its member along, so sixty programs delay the others by two deadlines, not by
/// sixty. Once the member is in again, it begins anew.
#[test]
fn grp_14_the_second_silent_party_takes_all_of_its_member_along() {
    let mut fed = Fed::open(&[party(1, 0)]);
    fed.join(ME, party(1, 0), GROUP);
    for port in 0..60 {
        fed.join(OTHER, party(2, port), GROUP);
    }
    fed.join(OTHER, party(3, 0), GROUP);
    let silent = |fed: &mut Fed, port: u16| {
        let (view, ..) = notice(fed);
        for (node, complainer) in [(ME, party(1, 0)), (OTHER, party(3, 0))] {
            fed.complain(node, complainer, view, party(2, port)).unwrap();
        }
        fed.group.members(GROUP).len()
    };
    assert_eq!(silent(&mut fed, 7), 61, "one program alone");
    assert_eq!(silent(&mut fed, 8), 2, "all that were left");
    let (_, now, removed, cause) = notice(&mut fed);
    assert_eq!((now.len(), removed.len(), cause), (2, 59, Cause::Complaint), "in one notice");
    for _ in 0..40 {
        fed.join(OTHER, party(2, 0), GROUP);
        fed.join(OTHER, party(2, 1), GROUP);
    }
    assert_eq!(silent(&mut fed, 0), 3, "one program alone again");
}

#[test]
fn grp_13_no_member_fills_a_group_alone() {
    let most = u16::try_from(PARTIES_MAX).unwrap();
    let mut fed = Fed::open(&[party(1, most)]);
    for port in 0..most {
        fed.join(OTHER, party(1, port), GROUP);
    }
    fed.join(ME, party(1, most), GROUP);
    assert_eq!(fed.refusals(), [JoinRefusal::TooManyParties]);
    fed.join(OTHER, party(2, 0), GROUP);
    assert_eq!(fed.group.members(GROUP).len(), PARTIES_MAX + 1);
    // Nor when two sides meet, each with as many as there may be.
    let side = |node: NodeId, from: u16| {
        let stamp = Stamp { ring_seq: 0, order: 0 };
        let joined = |port| joined_at(node, party(1, port), GROUP, stamp);
        let members = (from..from + most).map(joined).collect();
        vec![GroupState { group: GROUP, noticed: None, stood: Vec::new(), members }]
    };
    let mut fed = Fed::new(&[]);
    fed.state(ME, side(ME, 0));
    fed.state(OTHER, side(OTHER, 1_000));
    assert_eq!(fed.group.members(GROUP).len(), PARTIES_MAX);
}
