//! Signed messages as files: what they prove, and under what.

use crate::common::{Seed, World, person, stamp};
use folkmoot_base::{GroupId, GroupName, MemberId, Party, Service};
use folkmoot_identity::{
    CertificateError, CharterDraft, CmsError, MessageError, SignedCharter, SignedMessage, SignerCertificate,
    Stamp, Vote,
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_message_reads_back_as_it_was_put_together(
        text in prop::collection::vec(any::<u8>(), 0..600), port: u16, number: u64, epoch: [u8; 8],
        safe: bool,
    ) {
        let world = World::new();
        let alice = &world.founders[0];
        let service = if safe { Service::Safe } else { Service::Agreed };
        let sender = Party::new(alice.member(), port);
        let stamp = Stamp { sender, number, epoch, service, ..stamp(world.charter().group(), alice.member()) };
        let record = stamp.record(&text);
        prop_assert_eq!(Stamp::from_record(&record), Ok((stamp, &text[..])));
        let shown = SignerCertificate::Founder(Box::new(alice.certificate().clone()));
        let signature = stamp.sign(alice.key(), &text);
        let made = SignedMessage::assemble(stamp, text.clone().into(), &signature, shown).unwrap();
        let read = SignedMessage::from_der(made.der()).unwrap();
        prop_assert_eq!(&read, &made);
        prop_assert_eq!((read.stamp(), &read.text()[..]), (&stamp, &text[..]));
    }
}

#[test]
fn id_60_a_signature_is_of_this_message_by_its_sender() {
    let world = World::new();
    let (alice, bob) = (&world.founders[0], &world.founders[1]);
    let stamp = stamp(world.charter().group(), alice.member());
    let good = stamp.sign(alice.key(), b"yes");
    assert_eq!(stamp.sign(alice.key(), b"yes"), good, "deterministic");
    assert_eq!(stamp.verify(alice.key().verifying_key(), b"yes", &good), Ok(()));
    let refused = Err(MessageError::PeerSignature(stamp.sender));
    assert_eq!(stamp.verify(alice.key().verifying_key(), b"no", &good), refused);
    assert_eq!(
        stamp.verify(bob.key().verifying_key(), b"yes", &good),
        Err(MessageError::PeerNotSender(stamp.sender))
    );
    let mut view = stamp.view;
    view.group = GroupId([9; 32]);
    let mut later = stamp.view;
    later.order += 1;
    let others = [
        Stamp { view, ..stamp },
        Stamp { view: later, ..stamp },
        Stamp { epoch: [4; 8], ..stamp },
        Stamp { number: 6, ..stamp },
        Stamp { service: Service::Safe, ..stamp },
    ];
    for other in others {
        assert_eq!(other.verify(alice.key().verifying_key(), b"yes", &good), refused, "{other:?}");
    }
    assert!(
        alice.key().verifying_key().verify_raw(&stamp.record(b"yes"), &good).is_err(),
        "under its attributes"
    );
}

/// Two programs of Alice sign with one key and count from zero, each for itself: whatever differs
/// between two of their messages, the signature of the one is not the other's.
#[test]
fn id_60_a_signature_of_one_party_is_not_its_members_other_partys() {
    let world = World::new();
    let alice = &world.founders[0];
    let by = |port| Stamp {
        sender: Party::new(alice.member(), port),
        ..stamp(world.charter().group(), alice.member())
    };
    let key = alice.key().verifying_key();
    let shown = || SignerCertificate::Founder(Box::new(alice.certificate().clone()));
    for (said, shown_as) in [(0, 2), (2, 0), (0, 256), (1, 256), (258, u16::MAX)] {
        let signature = by(said).sign(alice.key(), b"yes");
        assert_eq!(by(said).verify(key, b"yes", &signature), Ok(()));
        let refused = MessageError::PeerSignature(Party::new(alice.member(), shown_as));
        assert_eq!(by(shown_as).verify(key, b"yes", &signature), Err(refused.clone()));
        let made = SignedMessage::assemble(by(shown_as), "yes".into(), &signature, shown());
        assert_eq!(made, Err(refused), "nor as a file");
        let true_one = SignedMessage::assemble(by(said), "yes".into(), &signature, shown()).unwrap();
        assert_eq!(true_one.check_charter(world.charter(), None), Ok(()), "a member through any port");
    }
}

/// The content of a signed message, byte for byte: the sender is the member, then the port.
#[test]
fn id_60_the_bytes_that_are_signed() {
    let stamp = stamp(GroupId([7; 32]), MemberId([0xA1; 32]));
    let expected = [
        &b"folkmoot message v1\0\x01"[..],
        &[0, 0, 0, 0, 0, 0, 0, 4],
        &[1; 32],
        &[2; 16],
        &[0, 0, 0, 0, 0, 0, 0, 9],
        &[7; 32],
        &[3; 8],
        &[0xA1; 32],
        &[1, 2],
        &[0, 0, 0, 0, 0, 0, 0, 5],
        &[Service::Agreed as u8],
        b"yes",
    ];
    assert_eq!(stamp.record(b"yes"), expected.concat());
    assert_eq!(stamp.record(b"").len(), 21 + 147);
}

#[test]
fn id_61_what_is_no_message_is_refused_as_one() {
    let world = World::new();
    for other in [world.vote(0).der(), world.signed.der(), world.request().der()] {
        assert!(SignedMessage::from_der(other).is_err());
    }
    assert_eq!(SignedMessage::from_der(world.vote(0).der()), Err(MessageError::WireDomain));
    let said = world.said_by_founder(b"yes");
    assert!(Vote::from_der(said.der()).is_err() && SignedCharter::from_der(said.der()).is_err());
    let record = said.stamp().record(said.text());
    assert_eq!(SignedMessage::from_der(&record), Err(CmsError::WireMalformed.into()), "not signed");
    assert_eq!(Stamp::from_record(&record[1..]), Err(MessageError::WireDomain));
    assert_eq!(Stamp::from_record(&record[..60]), Err(MessageError::WireDomain));
    let shown = SignerCertificate::Founder(Box::new(world.founders[1].certificate().clone()));
    let by_alice = said.stamp().sign(world.founders[0].key(), b"yes");
    let mixed = SignedMessage::assemble(*said.stamp(), said.text().clone(), &by_alice, shown);
    assert_eq!(mixed, Err(MessageError::PeerNotSender(said.stamp().sender)));
}

#[test]
fn id_62_the_sender_is_a_member_by_charter() {
    let world = World::new();
    for said in [world.said_by_founder(b"a"), world.said_by_newcomer(b"b")] {
        assert_eq!(said.check_charter(world.charter(), None), Ok(()));
    }
    // Somebody who certifies herself.
    let eve = person("eve", 7);
    let stamp = stamp(world.charter().group(), eve.member());
    let shown = SignerCertificate::Founder(Box::new(eve.certificate().clone()));
    let said = SignedMessage::assemble(stamp, "c".into(), &stamp.sign(eve.key(), b"c"), shown).unwrap();
    assert_eq!(said.check_charter(world.charter(), None), Err(MessageError::PeerNotMember(eve.member())));
    // Too few votes: one where two are asked for.
    let gmc = world.gmc_with(&[world.vote(0).proof()]);
    let stamp = crate::common::stamp(world.charter().group(), world.stranger.member());
    let shown = SignerCertificate::Admitted(Box::new(gmc));
    let said =
        SignedMessage::assemble(stamp, "d".into(), &stamp.sign(world.stranger.key(), b"d"), shown).unwrap();
    let refused = said.check_charter(world.charter(), None);
    assert!(matches!(
        refused,
        Err(MessageError::Certificate(CertificateError::PeerTooFewVotes { got: 1, need: 2 }))
    ));
    // In a group named under this one, and only by that name.
    let log = GroupName::new("log").unwrap();
    let stamp =
        crate::common::stamp(GroupId::of_name(&world.charter().group(), &log), world.founders[0].member());
    let shown = SignerCertificate::Founder(Box::new(world.founders[0].certificate().clone()));
    let signature = stamp.sign(world.founders[0].key(), b"e");
    let said = SignedMessage::assemble(stamp, "e".into(), &signature, shown).unwrap();
    assert_eq!(said.check_charter(world.charter(), Some(&log)), Ok(()));
    let other = GroupName::new("other").unwrap();
    for named in [None, Some(&other)] {
        assert_eq!(said.check_charter(world.charter(), named), Err(MessageError::PeerOtherGroup));
    }
    let home = world.said_by_founder(b"a").check_charter(world.charter(), Some(&log));
    assert_eq!(home, Err(MessageError::PeerOtherGroup));
    // The same people found another group.
    let named = world.founders.iter().map(|founder| founder.certificate().into()).collect();
    let draft = CharterDraft::new(GroupName::new("book club").unwrap(), 2, named, &mut Seed(98 << 32));
    let all: Vec<_> = world.founders.iter().collect();
    let other = SignedCharter::sign(&draft.to_toml(), &all).unwrap();
    let refused = world.said_by_founder(b"a").check_charter(other.charter(), None);
    assert_eq!(refused, Err(MessageError::PeerOtherGroup));
}
