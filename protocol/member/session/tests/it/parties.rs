//! Two parties of one member in an epoch: one identity key and one member, and yet two senders.
//! Both number their messages from zero. Somebody who carries messages tries to make what one of
//! them said pass for what the other said.

use crate::common::{AES, GROUP, Hears, Texts, config, key, message, party, view};
use crate::signed::{PEOPLE, verify};
use bytes::Bytes;
use folkmoot_base::{Party, Service, codec, digest};
use folkmoot_identity::{Signature, Stamp};
use folkmoot_session::{OpenError, Opened, Session, SessionError, WINDOW};
use sha2::Sha256;

/// Programs 0 and 2 of member 1, and member 2.
const SEATS: [(u8, u16); 3] = [(1, 0), (1, 2), (2, 0)];

fn seats() -> Vec<Party> {
    SEATS.map(|(number, port)| party(number, port)).into()
}

fn sessions() -> Vec<Session> {
    let open = |me: Party| {
        let mut session = Session::new(me, GROUP, config(None));
        session.open_epoch(view(1), &seats(), &key(1), AES).unwrap();
        session
    };
    seats().into_iter().map(open).collect()
}

#[test]
fn ses_02_what_one_party_sealed_does_not_open_as_its_members_others() {
    let mut sessions = sessions();
    let (zero, two) = (party(1, 0), party(1, 2));
    let of_zero = sessions[0].text(b"of zero").unwrap();
    let of_two = sessions[1].text(b"of two").unwrap();
    for session in &mut sessions {
        assert_eq!(session.hear(two, of_zero.clone()), Err(OpenError::WireForged));
        assert_eq!(session.hear(zero, of_two.clone()), Err(OpenError::WireForged));
        let absent = party(1, 1);
        assert_eq!(session.hear(absent, of_zero.clone()), Err(OpenError::PeerNotSender(absent)));
        assert_eq!(message(session.hear(zero, of_zero.clone()).unwrap())[..], b"of zero"[..]);
        assert_eq!(message(session.hear(two, of_two.clone()).unwrap())[..], b"of two"[..]);
    }
}

/// An own message comes back without being opened. One of our member's other party, with the number
/// of one of ours, is none of ours.
#[test]
fn ses_02_a_message_of_our_members_other_party_is_not_our_own() {
    let mut sessions = sessions();
    let mine = sessions[0].text(b"mine").unwrap();
    assert_eq!(sessions[0].hear(party(1, 2), mine.clone()), Err(OpenError::WireForged));
    let others = sessions[1].text(b"others").unwrap();
    assert_eq!(message(sessions[0].hear(party(1, 2), others).unwrap())[..], b"others"[..]);
    assert_eq!(sessions[0].counters().opened, 1);
    assert_eq!(message(sessions[0].hear(party(1, 0), mine).unwrap())[..], b"mine"[..]);
    assert_eq!(sessions[0].counters().opened, 1, "our own, and not opened");
}

#[test]
fn ses_03_the_same_members_through_other_ports_have_other_keys() {
    let sealed = sessions()[0].text(b"here only").unwrap();
    let lists: [&[Party]; 5] = [
        &[party(1, 0), party(1, 1), party(2, 0)],
        &[party(1, 0), party(1, 2), party(2, 1)],
        &[party(1, 0), party(2, 0)],
        &[party(1, 0), party(1, 512), party(2, 0)],
        &[party(1, 0), party(1, 2), party(2, 0), party(2, 1)],
    ];
    for list in lists {
        let mut other = Session::new(party(1, 0), GROUP, config(None));
        other.open_epoch(view(1), list, &key(1), AES).unwrap();
        assert_eq!(other.hear(party(1, 0), sealed.clone()), Ok(Opened::Held), "another epoch: {list:?}");
        let mut disguised = sealed.to_vec();
        disguised[..8].copy_from_slice(&other.text(b"").unwrap()[..8]);
        assert_eq!(other.hear(party(1, 0), disguised.into()), Err(OpenError::WireForged), "{list:?}");
    }
}

/// The context, byte for byte: each party is its member, then its port.
#[test]
fn ses_03_the_context_names_every_party_whole() {
    let sealed = sessions()[0].text(b"").unwrap();
    let list: Vec<u8> =
        SEATS.iter().flat_map(|(number, port)| [&[*number; 32][..], &port.to_be_bytes()].concat()).collect();
    let view = codec::encode(&view(1));
    let info = [b"epoch tag", &GROUP.0[..], &view[1..], &digest(&[&list]), AES.as_str().as_bytes()];
    let hkdf = hkdf::Hkdf::<Sha256>::new(Some(b"folkmoot session v1"), &[1; 32]);
    let mut tag = [0; 8];
    hkdf.expand_multi_info(&info, &mut tag).unwrap();
    assert_eq!(sealed[..8], tag);
}

#[test]
fn ses_05_an_epoch_has_a_party_once_and_a_member_more_than_once() {
    let twice = [party(1, 2), party(1, 0), party(1, 2)];
    let not_mine = [party(1, 0), party(2, 0)];
    let mut session = Session::new(party(1, 2), GROUP, config(None));
    for list in [&twice[..], &not_mine] {
        let refused = session.open_epoch(view(1), list, &key(1), AES);
        assert_eq!(refused, Err(SessionError::LocalMembers), "{list:?}");
    }
    assert_eq!(session.open_epoch(view(1), &seats(), &key(1), AES), Ok(()));
}

#[test]
fn ses_06_each_party_of_a_member_has_a_window_of_its_own() {
    let mut sessions = sessions();
    let (zero, two) = (party(1, 0), party(1, 2));
    let first = [(zero, sessions[0].text(b"0").unwrap()), (two, sessions[1].text(b"0").unwrap())];
    let mut last = Bytes::new();
    for _ in 0..2 * WINDOW {
        last = sessions[1].text(b"n").unwrap();
    }
    let hears = &mut sessions[2];
    // Far ahead, the window of party 2 leaves that of party 0 where it is.
    assert!(hears.hear(two, last).is_ok());
    let [(_, of_zero), (_, of_two)] = first;
    assert_eq!(hears.hear(two, of_two), Err(OpenError::PeerReplayed(two)), "behind its window");
    assert!(hears.hear(zero, of_zero.clone()).is_ok(), "the same number, of the other party");
    assert_eq!(hears.hear(zero, of_zero), Err(OpenError::PeerReplayed(zero)));
}

/// Anna's program 0 signs *yes* as its first message. Every party of the view holds all keys, so
/// anyone can seal that text with that signature under the key of Anna's program 2, as its first
/// message: everything but the port is alike. Nobody believes it.
#[test]
fn ses_14_a_signature_of_one_party_does_not_verify_as_its_members_others() {
    let [anna, ben] = [0, 1].map(|who: usize| PEOPLE[who].member());
    let (zero, two) = (Party::new(anna, 0), Party::new(anna, 2));
    let list = [zero, two, Party::new(ben, 0)];
    let session = |me: Party| {
        let mut session = Session::new(me, GROUP, config(None));
        session.open_epoch(view(1), &list, &key(1), AES).unwrap();
        session
    };
    let text = || Bytes::from_static(b"yes");
    let mut signed = None;
    let sealed = session(zero).seal_signed(&[], Service::Safe, text(), |stamp, text| {
        assert_eq!((stamp.sender, stamp.number), (zero, 0));
        signed.insert(stamp.sign(PEOPLE[0].key(), text)).clone()
    });
    let hear = |from, sealed: &Bytes, judge: &dyn Fn(&Stamp, &[u8], &Signature) -> bool| {
        session(list[2]).open(from, Service::Safe, sealed.clone(), judge)
    };
    let sealed = sealed.unwrap();
    assert!(matches!(hear(zero, &sealed, &verify), Ok(Opened::Message(_))));
    assert_eq!(hear(two, &sealed, &verify), Err(OpenError::WireForged), "carried on as it is");
    let again = session(two).seal_signed(&[], Service::Safe, text(), |_, _| signed.unwrap()).unwrap();
    assert_eq!(hear(two, &again, &verify), Err(OpenError::PeerSignature(two)), "sealed again");
    // The test of the test: only the port in the stamp is in the liar's way.
    let blind = |stamp: &Stamp, text: &[u8], signature: &Signature| {
        verify(&Stamp { sender: stamp.sender.member.into(), ..*stamp }, text, signature)
    };
    let Ok(Opened::Message(message)) = hear(two, &again, &blind) else { panic!("the port is not all") };
    assert!(message.origin.is_signed());
}
