//! Groups with a key of their own: members who were expelled stand on a list that the key signs,
//! and every member keeps it. Method: real machines and transcripts on a perfect ordered bus;
//! OpenSSL judges the result.

use crate::common::signing::{call, say as say_in};
use crate::common::{Bus, open, player, vote};
use bytes::Bytes;
use folkmoot_admission::{AdmissionError, Command, GuestMessage, Input, OpenMessage, Purpose, SignerBody};
use folkmoot_base::{MemberId, NodeId, UnixTime, codec};
use folkmoot_identity::{
    AuthorityCertificate, Gmc, GmcBody, REVOKED_TABLE, Request, RevocationBody, RevocationList, Scheme,
};
use folkmoot_transcript::{ItemError, Uncounted, admission};
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

const SCHEMES: [Scheme; 2] = [Scheme::TsDsa, Scheme::Frost];

fn admit(bus: &mut Bus, name: &str, seed: u64) -> usize {
    let which = bus.stranger(name, seed, 0);
    vote(bus, 1, which, true);
    vote(bus, 2, which, true);
    bus.pass(8);
    assert!(bus.admitted(which), "{:#?}", bus.traces);
    which
}

/// Five founders of whom two admit, their key, and two whom it has certified.
fn peopled(scheme: Scheme) -> (Bus, usize, usize) {
    let mut bus = Bus::of_scheme(scheme, 5, 2);
    bus.pass(12);
    let dora = admit(&mut bus, "dora", 40);
    let erik = admit(&mut bus, "erik", 50);
    (bus, dora, erik)
}

fn expel(bus: &mut Bus, member: MemberId) {
    for who in 0..3 {
        let _ = bus.command(who, Command::Expel(member));
    }
    bus.pass(0);
    assert!(!bus.players[0].transcript.roster().is_member(&member));
}

fn member(bus: &Bus, which: usize) -> MemberId {
    bus.strangers[which].identity.member()
}

fn certificate(bus: &Bus, member: MemberId) -> Gmc {
    Gmc::from_der(&bus.players[0].transcript.certificate_of(&member).unwrap()).unwrap()
}

fn authority(bus: &Bus) -> AuthorityCertificate {
    let sharing = bus.players[0].transcript.roster().sharing().unwrap();
    AuthorityCertificate::from_der(&sharing.authority).unwrap()
}

/// The list that every member that is up holds, in memory and on disk.
fn held(bus: &Bus) -> RevocationList {
    let first = bus.players[0].admission.revocations().unwrap_or_else(|| panic!("{:#?}", bus.traces)).clone();
    for player in bus.players.iter().filter(|player| player.up) {
        assert_eq!(player.admission.revocations(), Some(&first));
        let kept: Vec<&Bytes> = player
            .disk
            .iter()
            .filter(|(key, _)| key.table == REVOKED_TABLE)
            .map(|(_, value)| value)
            .collect();
        assert_eq!(kept, [first.der()]);
        assert!(player.errors.is_empty(), "{:?}", player.errors);
    }
    first
}

/// No message of a round arrives: no run comes to anything.
fn without_rounds(bus: &mut Bus) {
    bus.tamper = Some(Box::new(|_, payload| {
        !matches!(
            codec::decode(payload),
            Ok(OpenMessage::Signer { message: word }) if matches!(word.body, SignerBody::Round { .. })
        )
    }));
}

#[test]
fn who_is_expelled_stands_on_a_list_that_all_members_hold() {
    for scheme in SCHEMES {
        let (mut bus, dora, erik) = peopled(scheme);
        let people = [dora, erik].map(|which| member(&bus, which));
        assert!(bus.players.iter().all(|player| player.admission.revocations().is_none()));
        let mut serials = std::collections::BTreeSet::new();
        for (number, who) in people.into_iter().enumerate() {
            expel(&mut bus, who);
            bus.pass(3);
            serials.insert(certificate(&bus, who).body().serial);
            let list = held(&bus);
            assert_eq!(list.body().serials(), &serials);
            // The group's key was the first decision.
            assert_eq!(list.body().number(), number as u64 + 2);
            for player in &bus.players {
                assert_eq!(player.admission.poll_timeout(), None, "something is still at work");
            }
        }
        for who in 0..5 {
            bus.restart(who);
        }
        bus.pass(10);
        assert_eq!(held(&bus).body().serials(), &serials);
    }
}

#[test]
fn a_founder_has_no_certificate_of_the_key_to_revoke() {
    let (mut bus, ..) = peopled(Scheme::Frost);
    let gone = bus.players[4].identity.member();
    expel(&mut bus, gone);
    bus.players[4].up = false;
    bus.pass(20);
    assert!(bus.players.iter().all(|player| player.admission.revocations().is_none()));
}

#[test]
fn who_was_away_or_came_later_is_told() {
    for scheme in SCHEMES {
        let (mut bus, dora, erik) = peopled(scheme);
        let dora = member(&bus, dora);
        // The first voter is away; it would be its turn when it comes back.
        bus.players[0].up = false;
        for who in 1..4 {
            let _ = bus.command(who, Command::Expel(dora));
        }
        bus.pass(5);
        let list = bus.players[1].admission.revocations().cloned().unwrap();
        assert!(bus.players[0].admission.revocations().is_none());
        // It catches up, and erik, who has no vote and no share, begins.
        let mut newcomer = player(crate::common::person("erik", 50), &bus.charter());
        let none = newcomer.transcript.have();
        let founding = newcomer.transcript.state().head();
        for item in bus.players[1].transcript.lacking(founding, &none, usize::MAX) {
            let _ = bus.players[0].transcript.take(&item, Some(bus.time));
            let _ = newcomer.transcript.take(&item, Some(bus.time));
        }
        assert_eq!(bus.players[0].transcript.mark(), newcomer.transcript.mark());
        assert_eq!(newcomer.identity.member(), member(&bus, erik));
        bus.players.push(newcomer);
        bus.restart(0);
        bus.pass(25);
        assert_eq!(held(&bus), list, "nobody signed another");
    }
}

#[test]
fn a_list_that_could_not_be_made_is_made_after_a_restart() {
    let (mut bus, dora, _) = peopled(Scheme::TsDsa);
    without_rounds(&mut bus);
    let dora = member(&bus, dora);
    expel(&mut bus, dora);
    bus.pass(8);
    assert!(bus.players.iter().all(|player| player.admission.revocations().is_none()));
    bus.tamper = None;
    for who in 0..5 {
        bus.restart(who);
    }
    bus.pass(8);
    assert_eq!(held(&bus).body().number(), 2);
}

#[test]
fn a_coordinator_that_goes_no_further_is_not_waited_for() {
    let (mut bus, dora, _) = peopled(Scheme::TsDsa);
    let (dora, first) = (member(&bus, dora), bus.players[0].identity.member());
    bus.tamper = Some(Box::new(move |sender, payload| {
        let players = |say: &SignerBody| matches!(say, SignerBody::Participants { .. });
        let Ok(OpenMessage::Signer { message: word }) = codec::decode(payload) else { return true };
        sender != first || !players(&word.body)
    }));
    expel(&mut bus, dora);
    bus.pass(12);
    assert_eq!(bus.players[1].admission.revocations().map(|list| list.body().number()), Some(2));
}

/// `who` starts a session for this list; how many are ready to sign it.
fn ready_for(bus: &mut Bus, who: usize, body: &RevocationBody, attempt: u32) -> usize {
    let (session, start) = call(bus, who, Purpose::Revoke { tbs: body.tbs().unwrap().into() }, attempt);
    let said = say_in(bus, who, session, start);
    let ready = Rc::new(Cell::new(0));
    let count = ready.clone();
    bus.tamper = Some(Box::new(move |_, payload| {
        let Ok(OpenMessage::Signer { message: word }) = codec::decode(payload) else { return true };
        if word.session == session && matches!(word.body, SignerBody::Ready { .. }) {
            count.set(count.get() + 1);
        }
        !matches!(word.body, SignerBody::Round { .. })
    }));
    bus.everyone(&said);
    bus.settle();
    ready.get()
}

#[test]
fn adm_47_a_list_is_signed_if_it_is_exactly_what_the_roster_says() {
    for scheme in SCHEMES {
        let (mut bus, dora, erik) = peopled(scheme);
        without_rounds(&mut bus);
        let (dora, erik) = (member(&bus, dora), member(&bus, erik));
        expel(&mut bus, dora);
        let (authority, now) = (authority(&bus), bus.time);
        let serial = certificate(&bus, dora).body().serial;
        let other = certificate(&bus, erik).body().serial;
        let body = |at: UnixTime, number, serials: &[[u8; 16]]| {
            RevocationBody::new(authority.clone(), at, number, serials.iter().copied().collect()).unwrap()
        };
        let lies = [
            body(now, 2, &[serial, other]),
            body(now, 2, &[]),
            body(now, 2, &[other]),
            body(now, 3, &[serial]),
            body(now, 1, &[serial]),
            body(now, 0, &[serial]),
            body(UnixTime(now.0 + 181), 2, &[serial]),
            body(UnixTime(now.0 - 181), 2, &[serial]),
        ];
        for (number, lie) in lies.iter().enumerate() {
            assert_eq!(ready_for(&mut bus, 3, lie, number as u32), 0, "{scheme:?} {number}");
        }
        let right = body(now, 2, &[serial]);
        assert_eq!(ready_for(&mut bus, 3, &right, 99), scheme.signers(2), "as many as sign");
        // If the list is there, nobody signs it again.
        bus.tamper = None;
        bus.pass(25);
        let _ = held(&bus);
        assert_eq!(ready_for(&mut bus, 3, &right, 100), 0);
    }
}

#[test]
fn adm_48_an_older_list_does_not_replace_a_newer() {
    for scheme in SCHEMES {
        let (mut bus, dora, erik) = peopled(scheme);
        let (dora, erik) = (member(&bus, dora), member(&bus, erik));
        expel(&mut bus, dora);
        bus.pass(3);
        let first = held(&bus);
        expel(&mut bus, erik);
        bus.pass(3);
        let second = held(&bus);
        assert!(second.supersedes(&first));
        let sender = bus.players[3].identity.member();
        let say = |der: &[u8]| Input::Open {
            sender,
            payload: open(&OpenMessage::Revocations { der: der.to_vec().into() }),
        };
        bus.everyone(&say(first.der()));
        assert_eq!(held(&bus), second);
        // A member that tells the older list is told the newer one, by one member, and not again
        // and again.
        let words = bus.words;
        bus.pass(12);
        bus.everyone(&say(first.der()));
        bus.everyone(&say(&[]));
        bus.pass(12);
        assert_eq!(bus.words - words, 2);
    }
}

#[test]
fn adm_48_a_list_that_the_groups_key_has_not_signed_or_says_more_than_the_transcript_is_refused() {
    let (mut bus, dora, _) = peopled(Scheme::Frost);
    let mut other = Bus::of_scheme(Scheme::Frost, 4, 2);
    other.pass(12);
    let theirs = admit(&mut other, "dora", 40);
    let dora = member(&bus, dora);
    // One who was not there when she was expelled.
    bus.players[4].up = false;
    expel(&mut bus, dora);
    bus.pass(3);
    let list = bus.players[0].admission.revocations().cloned().unwrap();
    bus.players[4].up = true;
    let sender = bus.players[1].identity.member();
    let say = |der: &[u8]| Input::Open {
        sender,
        payload: open(&OpenMessage::Revocations { der: der.to_vec().into() }),
    };
    assert_eq!(bus.input(4, say(list.der())), Err(AdmissionError::PeerRevocationsAhead(sender)));
    let gone = member(&other, theirs);
    expel(&mut other, gone);
    other.pass(3);
    let foreign = other.players[0].admission.revocations().cloned().unwrap();
    for der in [&foreign.der()[..], &list.der()[1..], b"x"] {
        assert!(matches!(bus.input(0, say(der)), Err(AdmissionError::PeerRevocations(..))));
    }
    // A group without such a key.
    let mut plain = Bus::new(3, 2);
    let sender = plain.players[1].identity.member();
    let payload = open(&OpenMessage::Revocations { der: list.der().to_vec().into() });
    assert!(matches!(plain.input(0, Input::Open { sender, payload }), Err(AdmissionError::PeerSigner(..))));
}

/// A guest who asks for a certificate of this serial number.
fn asking(bus: &Bus, name: &str, seed: u64, serial: [u8; 16]) -> (NodeId, Request) {
    let guest = crate::common::person(name, seed);
    let roster = bus.players[0].transcript.roster();
    let (begins, mut dice) = (crate::common::NOW, crate::common::Dice(seed));
    let mut body = GmcBody::propose(roster.charter(), &guest, 7, begins, &mut dice).over(roster.head());
    body.serial = serial;
    (guest.node(), Request::sign(&guest, body).unwrap())
}

fn ask(bus: &mut Bus, (from, request): &(NodeId, Request)) -> Result<(), AdmissionError> {
    let cms = request.der().to_vec().into();
    let payload = codec::encode(&GuestMessage::Request { cms, voucher: None, endorsement: None }).into();
    let answer = bus.input(0, Input::Guest { from: *from, payload });
    bus.settle();
    answer
}

#[test]
fn a_serial_number_is_not_issued_twice() {
    let (mut bus, dora, _) = peopled(Scheme::Frost);
    let serial = certificate(&bus, member(&bus, dora)).body().serial;
    assert!(bus.players[0].transcript.roster().has_issued(&serial));
    // A guest who wants another's number to be revoked with its own.
    let mallory = asking(&bus, "mallory", 60, serial);
    assert!(matches!(ask(&mut bus, &mallory), Err(AdmissionError::PeerCharter(_))));
    // Two at once, of whom neither is in yet: the key signs both, and the transcript takes one.
    let two = [("mallory", 61), ("oscar", 62)].map(|(name, seed)| asking(&bus, name, seed, [0x55; 16]));
    for guest in &two {
        ask(&mut bus, guest).unwrap();
        for who in [1, 2] {
            bus.command(who, Command::Vote { motion: guest.1.digest(), approve: true }).unwrap();
        }
    }
    bus.pass(8);
    let issued = [0, 1].map(|which| {
        let node = two[which].0;
        let issued = bus.lost.iter().find_map(|(to, payload)| match codec::decode(payload) {
            Ok(GuestMessage::Issued { der, .. }) if *to == node => Some(der.0),
            _ => None,
        });
        issued.expect("signed")
    });
    let admits = |bus: &Bus, who: usize| {
        let subject = admission(Gmc::from_der(&issued[who]).unwrap().body().request_digest().unwrap());
        let transcript = &bus.players[0].transcript;
        let by = [1, 2].map(|voter| bus.players[voter].identity.member());
        let words = by.map(|voter| transcript.set().approval(&subject, &voter).unwrap());
        transcript.make_admit(&issued[who], &words)
    };
    let items = [0, 1].map(|who| admits(&bus, who).expect("either would stand alone"));
    // Of two the lower request counts, whichever came first.
    let [lower, higher] = if two[0].1.digest() < two[1].1.digest() { [0, 1] } else { [1, 0] };
    for first in [lower, higher] {
        let mut transcript = bus.players[0].transcript.clone();
        transcript.take(&items[first], Some(bus.time)).unwrap();
        if first == lower {
            let refused = Err(ItemError::Late(Uncounted::SerialNumber));
            assert_eq!(transcript.check_admit(&items[higher]), refused);
        }
        transcript.take(&items[lower], Some(bus.time)).unwrap();
        transcript.take(&items[higher], Some(bus.time)).unwrap();
        let roster = transcript.roster();
        assert!(roster.is_member(&two[lower].1.member()) && !roster.is_member(&two[higher].1.member()));
    }
}

fn openssl(folder: &Path, arguments: &str) -> (bool, String) {
    let output = std::process::Command::new("openssl")
        .args(arguments.split(' '))
        .current_dir(folder)
        .output()
        .expect("the openssl command is needed: apt-get install openssl");
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn openssl_rejects_the_expelled_by_the_list_and_accepts_who_stays() {
    for scheme in SCHEMES {
        let (mut bus, dora, erik) = peopled(scheme);
        let (dora, erik) = (member(&bus, dora), member(&bus, erik));
        expel(&mut bus, dora);
        bus.pass(3);
        let list = held(&bus);
        let folder =
            std::env::temp_dir().join(format!("folkmoot-revoked-{}-{}", scheme.name(), std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("authority.pem"), authority(&bus).to_pem()).unwrap();
        std::fs::write(folder.join("dora.pem"), certificate(&bus, dora).to_pem()).unwrap();
        std::fs::write(folder.join("erik.pem"), certificate(&bus, erik).to_pem()).unwrap();
        std::fs::write(folder.join("revoked.crl"), list.der()).unwrap();
        std::fs::write(folder.join("revoked.pem"), list.to_pem()).unwrap();
        let verify = "verify -x509_strict -check_ss_sig -attime 1800000600 -crl_check -CAfile authority.pem";
        let (stays, _) = openssl(&folder, &format!("{verify} -CRLfile revoked.pem erik.pem"));
        let (gone, said) = openssl(&folder, &format!("{verify} -CRLfile revoked.pem dora.pem"));
        let (read, text) =
            openssl(&folder, "crl -inform DER -in revoked.crl -noout -text -CAfile authority.pem");
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(stays && !gone, "{scheme:?}: {said}");
        assert!(said.contains("error 23") && said.contains("certificate revoked"), "{said}");
        let serial: String =
            certificate(&bus, dora).body().serial.iter().map(|byte| format!("{byte:02X}")).collect();
        for part in ["verify OK", "Version 2", "Issuer: CN = moot", "X509v3 CRL Number", &serial] {
            assert!(read && text.contains(part), "{part}: {text}");
        }
    }
}
