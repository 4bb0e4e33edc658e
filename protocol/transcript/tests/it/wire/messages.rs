//! Signed messages: what a member shows of itself, and whether a sender is, or was, a member.

use super::{Group, person, remove};
use folkmoot_base::{ConfigurationId, GroupId, GroupName, MemberId, NodeId, Service, ViewId};
use folkmoot_identity::{Identity, MessageError, SignedMessage, SignerCertificate, Stamp};

fn stamp(group: GroupId, sender: MemberId) -> Stamp {
    let configuration = ConfigurationId { ring_seq: 4, representative: NodeId([1; 32]), nonce: [2; 16] };
    let view = ViewId { configuration, order: 9, group };
    Stamp { view, epoch: [3; 8], sender: sender.into(), number: 5, service: Service::Agreed }
}

fn said(group: GroupId, who: &Identity, shown: SignerCertificate) -> SignedMessage {
    let stamp = stamp(group, who.member());
    SignedMessage::assemble(stamp, "yes".into(), &stamp.sign(who.key(), b"yes"), shown).unwrap()
}

#[test]
fn id_62_the_sender_is_or_was_a_member_by_transcript() {
    let mut group = Group::new(3, 2);
    let stranger = person(10);
    let home = group.first().group();
    let founder = SignerCertificate::Founder(Box::new(group.people[0].certificate().clone()));
    let by_founder = said(home, &group.people[0], founder);
    assert_eq!(group.first().check_sender(&by_founder, None), Ok(()));
    assert_eq!(group.first().shown_by(&stranger.member()), None);
    let item = group.admit(&stranger, &group.request(&stranger), &[0, 2]);
    let before = group.first().clone();
    group.all_take(&item);
    let shown = group.first().shown_by(&stranger.member()).unwrap();
    assert!(matches!(shown, SignerCertificate::Admitted(_)));
    assert!(matches!(group.first().shown_by(&group.id(0)), Some(SignerCertificate::Founder(_))));
    let by_newcomer = said(home, &stranger, shown);
    let unknown = Err(MessageError::PeerNotMember(stranger.member()));
    assert_eq!(before.check_sender(&by_newcomer, None), unknown);
    assert_eq!(group.first().check_sender(&by_newcomer, None), Ok(()));
    // Expelled since: it has said it all the same.
    group.pass(&remove(stranger.member()), &[0, 2]);
    assert!(!group.first().roster().is_member(&stranger.member()));
    assert_eq!(group.first().check_sender(&by_newcomer, None), Ok(()));
    assert!(group.first().shown_by(&stranger.member()).is_some());
}

#[test]
fn id_62_it_was_said_in_this_group_or_in_the_one_that_is_named() {
    let group = Group::new(3, 2);
    let (anna, home) = (&group.people[0], group.first().group());
    let shown = || SignerCertificate::Founder(Box::new(anna.certificate().clone()));
    let log = GroupName::new("log").unwrap();
    let under = said(GroupId::of_name(&home, &log), anna, shown());
    let other = Err(MessageError::PeerOtherGroup);
    assert_eq!(group.first().check_sender(&under, Some(&log)), Ok(()));
    assert_eq!(group.first().check_sender(&under, None), other);
    assert_eq!(group.first().check_sender(&said(home, anna, shown()), Some(&log)), other);
}
