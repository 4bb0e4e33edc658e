//! Requests by CSR: a member hands one in for a holder who is not there, the voters vote, the
//! group's key signs, the sponsor enters it. Method: real machines and transcripts on a perfect
//! ordered bus; members stop, restart from disk, and change in between.

use crate::common::{Bus, NOW, change, open, person};
use bytes::Bytes;
use folkmoot_admission::{AdmissionError, Closed, Command, Event, GuestMessage, Input, OpenMessage, Phase};
use folkmoot_base::{Blob, Digest, MemberId, UnixTime, codec};
use folkmoot_identity::{Csr, CsrError, Gmc, GmcBody, Request, Scheme};
use folkmoot_transcript::{ItemError, Uncounted};

const SHARED: [Scheme; 2] = [Scheme::TsDsa, Scheme::Frost];

fn csr(name: &str, seed: u64) -> Csr {
    Csr::sign(person(name, seed).key(), name).unwrap()
}

/// Five founders of whom two admit; their key is shared.
fn founded(scheme: Scheme) -> Bus {
    let mut bus = Bus::of_scheme(scheme, 5, 2);
    bus.pass(12);
    assert!(
        bus.players.iter().all(|player| player.transcript.roster().sharing().is_some()),
        "{:#?}",
        bus.traces
    );
    bus
}

fn submit(bus: &mut Bus, who: usize, csr: &Csr) -> Result<(), AdmissionError> {
    bus.command(who, Command::Submit(Bytes::copy_from_slice(csr.der())))
}

/// The request that is open for this key at the desk of `who`.
fn request(bus: &Bus, who: usize, member: &MemberId) -> Option<Digest> {
    let player = &bus.players[who];
    let status = player.admission.status(&player.transcript, &player.identity);
    status.requests.iter().find(|one| one.member == *member).map(|one| one.request)
}

fn vote(bus: &mut Bus, who: usize, member: &MemberId, approve: bool) {
    let motion = request(bus, who, member).expect("the request is open");
    bus.command(who, Command::Vote { motion, approve }).unwrap();
}

fn is_member(bus: &Bus, who: usize, member: &MemberId) -> bool {
    bus.players[who].transcript.roster().is_member(member)
}

fn held(bus: &Bus, member: &MemberId) -> Gmc {
    Gmc::from_der(&bus.players[0].transcript.certificate_of(member).unwrap()).unwrap()
}

/// Another proposal for the same CSR, as a member's message to the members.
fn proposal(bus: &Bus, csr: &Csr) -> OpenMessage {
    let roster = bus.players[0].transcript.roster();
    let body = GmcBody::propose_csr(roster.charter(), csr, 9, bus.time).over(roster.head());
    OpenMessage::Request {
        cms: Blob::from(Request::by_csr(csr.clone(), body).unwrap().der().to_vec()),
        voucher: None,
        endorsement: None,
        instead: None,
    }
}

fn hear(bus: &mut Bus, sender: usize, message: &OpenMessage) -> Result<(), AdmissionError> {
    let sender = bus.players[sender].identity.member();
    bus.input(3, Input::Open { sender, payload: open(message) })
}

#[test]
fn who_is_not_there_is_admitted_by_its_csr() {
    for scheme in SHARED {
        let (mut bus, erik) = (founded(scheme), csr("erik", 50));
        submit(&mut bus, 0, &erik).unwrap();
        assert!((0..5).all(|who| request(&bus, who, &erik.member()).is_some()), "everybody may vote");
        for voter in [1, 2] {
            bus.pass(2);
            assert!(!is_member(&bus, 0, &erik.member()), "fewer votes are not enough");
            vote(&mut bus, voter, &erik.member(), true);
        }
        bus.pass(12);
        for who in 0..5 {
            assert!(is_member(&bus, who, &erik.member()), "{:#?}", bus.traces);
            assert_eq!(request(&bus, who, &erik.member()), None);
            let left =
                bus.players[who].disk.keys().filter(|key| key.table == "request" || key.table == "vote");
            assert_eq!(left.count(), 0, "nothing is kept of it");
            assert_eq!(bus.players[who].admission.poll_timeout(), None, "something is still at work");
        }
        let gmc = held(&bus, &erik.member());
        assert_eq!((gmc.name(), gmc.key()), ("erik", erik.key()));
        assert_eq!((gmc.body().serial, gmc.body().membership.nonce), (erik.serial(), erik.nonce()));
        let sharing = bus.players[4].transcript.roster().sharing().unwrap();
        assert_eq!(gmc.check_issued(&sharing.facts.key), Ok(()));
    }
}

#[test]
fn adm_50_where_the_holder_signs_a_csr_is_refused_at_every_door() {
    let erik = csr("erik", 50);
    for scheme in [Scheme::Plain, Scheme::Asm] {
        let mut bus = Bus::of_scheme(scheme, 5, 2);
        assert_eq!(submit(&mut bus, 0, &erik), Err(AdmissionError::LocalHolderSigns));
        let foreign = proposal(&bus, &erik);
        assert_eq!(hear(&mut bus, 1, &foreign), Err(AdmissionError::PeerHolderSigns(erik.member())));
        assert!((0..5).all(|who| request(&bus, who, &erik.member()).is_none()));
    }
}

#[test]
fn what_is_no_csr_is_refused_where_it_is_handed_in() {
    let mut bus = founded(Scheme::Frost);
    let mut forged = csr("erik", 50).der().to_vec();
    *forged.last_mut().unwrap() ^= 1;
    for wrong in [Bytes::new(), Bytes::from_static(b"-----BEGIN CERTIFICATE REQUEST-----"), forged.into()] {
        assert!(matches!(bus.command(0, Command::Submit(wrong)), Err(AdmissionError::LocalCsr(_))));
    }
    let long = Bytes::from(vec![0x30; 100_000]);
    let refused = bus.command(0, Command::Submit(long));
    assert_eq!(refused, Err(AdmissionError::LocalCsr(CsrError::WireTooLong(100_000))));
    assert_eq!(bus.players[0].disk.keys().filter(|key| key.table == "request").count(), 0);
}

#[test]
fn adm_51_a_csr_admits_once_whatever_is_proposed_for_it() {
    let (mut bus, erik) = (founded(Scheme::Frost), csr("erik", 50));
    submit(&mut bus, 0, &erik).unwrap();
    [1, 2].into_iter().for_each(|voter| vote(&mut bus, voter, &erik.member(), true));
    bus.pass(12);
    assert!(is_member(&bus, 0, &erik.member()));
    let used = Err(AdmissionError::PeerUsed(erik.member()));
    assert_eq!(submit(&mut bus, 0, &erik), used);
    assert_eq!(submit(&mut bus, 4, &erik), used);
    let another = proposal(&bus, &erik);
    assert_eq!(hear(&mut bus, 1, &another), used);

    // A holder who was expelled does not come back by it, nor does the mirrored signature make
    // another request of it.
    bus.command(1, Command::Expel(erik.member())).unwrap();
    for voter in [0, 2] {
        let player = &bus.players[voter];
        let motion = player.admission.status(&player.transcript, &player.identity).proposals[0].proposal;
        bus.command(voter, Command::Vote { motion, approve: true }).unwrap();
    }
    bus.pass(3);
    assert!(!is_member(&bus, 0, &erik.member()));
    assert_eq!(submit(&mut bus, 0, &erik), used);
    let anew = Csr::sign(person("erik", 50).key(), "erik again").unwrap();
    submit(&mut bus, 0, &anew).unwrap();
    assert!(request(&bus, 3, &erik.member()).is_some(), "a new wish is heard");
}

#[test]
fn adm_52_a_sponsor_that_stops_and_comes_again_brings_it_still() {
    for heard in [0, 1] {
        let (mut bus, erik) = (founded(Scheme::Frost), csr("erik", 50));
        submit(&mut bus, 0, &erik).unwrap();
        [1, 2].into_iter().take(heard).for_each(|voter| vote(&mut bus, voter, &erik.member(), true));
        bus.players[0].up = false;
        [1, 2].into_iter().skip(heard).for_each(|voter| vote(&mut bus, voter, &erik.member(), true));
        bus.pass(30);
        assert!(!is_member(&bus, 1, &erik.member()), "nobody else brings it");
        bus.restart(0);
        bus.merge();
        bus.pass(70);
        assert!(is_member(&bus, 1, &erik.member()), "{:#?}", bus.traces);
    }
}

#[test]
fn adm_52_handed_in_at_another_member_too_it_is_one_request_and_either_brings_it() {
    let (mut bus, erik) = (founded(Scheme::Frost), csr("erik", 50));
    submit(&mut bus, 0, &erik).unwrap();
    vote(&mut bus, 1, &erik.member(), true);
    let first = request(&bus, 3, &erik.member());
    bus.pass(2);
    submit(&mut bus, 4, &erik).unwrap();
    submit(&mut bus, 4, &erik).unwrap();
    assert_eq!(request(&bus, 3, &erik.member()), first, "the votes on it stand");
    bus.players[0].up = false;
    bus.restart(4);
    vote(&mut bus, 2, &erik.member(), true);
    bus.pass(12);
    assert!(is_member(&bus, 1, &erik.member()), "{:#?}", bus.traces);
    let left = bus.players[4].disk.keys().filter(|key| key.table == "request");
    assert_eq!(left.count(), 0, "nothing is kept of it");
}

#[test]
fn adm_52_an_entry_that_is_lost_is_made_again() {
    let (mut bus, erik) = (founded(Scheme::Frost), csr("erik", 50));
    submit(&mut bus, 0, &erik).unwrap();
    vote(&mut bus, 1, &erik.member(), true);
    let before = bus.items;
    // Votes and the session's messages come; the entry that follows is taken off the bus.
    bus.lose_items = true;
    vote(&mut bus, 2, &erik.member(), true);
    bus.pass(10);
    assert!(!is_member(&bus, 0, &erik.member()) && bus.items > before);
    bus.lose_items = false;
    bus.pass(70);
    assert!(is_member(&bus, 0, &erik.member()), "{:#?}", bus.traces);
}

#[test]
fn adm_53_a_guest_does_not_ask_by_csr() {
    let mut bus = founded(Scheme::Frost);
    let dora = bus.stranger("dora", 40, 0);
    let node = bus.strangers[dora].identity.node();
    let wish = Csr::sign(bus.strangers[dora].identity.key(), "dora").unwrap();
    let OpenMessage::Request { cms, .. } = proposal(&bus, &wish) else { panic!("a request") };
    let payload = codec::encode(&GuestMessage::Request { cms, voucher: None, endorsement: None }).into();
    let refused = bus.input(0, Input::Guest { from: node, payload });
    assert_eq!(refused, Err(AdmissionError::PeerGuestCsr(node)));
}

#[test]
fn adm_54_who_is_a_member_already_is_not_voted_on_again() {
    let (mut bus, erik) = (founded(Scheme::Frost), csr("erik", 50));
    submit(&mut bus, 0, &erik).unwrap();
    [1, 2].into_iter().for_each(|voter| vote(&mut bus, voter, &erik.member(), true));
    bus.pass(12);
    // It comes itself, with its key: its own machine asks before it has read the transcript.
    let identity = person("erik", 50);
    let (charter, head) = {
        let roster = bus.players[0].transcript.roster();
        (roster.charter().clone(), roster.head())
    };
    let ask = |bus: &mut Bus, at: UnixTime| {
        let body = GmcBody::propose(&charter, &identity, 3, at, &mut crate::common::Dice(5 + at.0));
        let body = body.over(head);
        let cms = Blob::from(Request::sign(&identity, body).unwrap().der().to_vec());
        let payload = codec::encode(&GuestMessage::Request { cms, voucher: None, endorsement: None }).into();
        let said = bus.input(0, Input::Guest { from: identity.node(), payload });
        bus.settle();
        said
    };
    let now = bus.time;
    ask(&mut bus, now).unwrap();
    assert!((0..5).all(|who| request(&bus, who, &erik.member()).is_none()));
    let which = bus.stranger("erik", 50, 0);
    assert_eq!(bus.strangers[which].applicant.phase(), Phase::Admitted);
    // In the last half of its term it may ask to go on.
    let late = UnixTime(NOW.0 + 200 * 86_400);
    bus.time = late;
    bus.everyone(&Input::Clock(late));
    ask(&mut bus, late).unwrap();
    assert!((0..5).all(|who| request(&bus, who, &erik.member()).is_some()));
}

/// A group in which two objections refuse for good.
fn objecting() -> Bus {
    let mut bus = founded(Scheme::Frost);
    bus.command(0, Command::Propose(change("objections", "2"))).unwrap();
    for voter in [1, 2] {
        let player = &bus.players[voter];
        let motion = player.admission.status(&player.transcript, &player.identity).proposals[0].proposal;
        bus.command(voter, Command::Vote { motion, approve: true }).unwrap();
    }
    bus.pass(2);
    assert_eq!(bus.players[4].transcript.roster().charter().policies().objections, Some(2));
    bus
}

#[test]
fn adm_51_a_csr_that_was_refused_for_good_is_not_opened_again() {
    let (mut bus, erik) = (objecting(), csr("erik", 50));
    submit(&mut bus, 0, &erik).unwrap();
    [3, 4].into_iter().for_each(|voter| vote(&mut bus, voter, &erik.member(), false));
    bus.pass(3);
    let refused = |event: &Event| matches!(event, Event::RequestClosed { why: Closed::Rejected, .. });
    assert!(bus.players.iter().all(|player| player.events.iter().any(refused)));
    bus.pass(100);
    assert_eq!(submit(&mut bus, 0, &erik), Err(AdmissionError::PeerRefused(erik.member())));
    let another = proposal(&bus, &erik);
    assert_eq!(hear(&mut bus, 1, &another), Err(AdmissionError::PeerRefused(erik.member())));
    let anew = Csr::sign(person("erik", 50).key(), "erik again").unwrap();
    submit(&mut bus, 1, &anew).unwrap();
}

#[test]
fn a_refused_csr_admits_nobody_whatever_was_proposed_for_it() {
    let erik = csr("erik", 50);
    // The same group twice, the same keys in it. In the one the CSR is granted, in the other a
    // later proposal for it is refused.
    let mut granted = objecting();
    let mut refused = objecting();
    submit(&mut granted, 0, &erik).unwrap();
    [1, 2].into_iter().for_each(|voter| vote(&mut granted, voter, &erik.member(), true));
    granted.pass(12);
    let admitted = granted.players[0].transcript.set().admits().next().unwrap().request;
    let item = granted.players[0].transcript.papers(&admitted).next().unwrap().clone();
    assert_eq!(refused.players[0].transcript.check_admit(&item), Ok(()), "it would stand now");

    refused.pass(5);
    submit(&mut refused, 0, &erik).unwrap();
    assert_ne!(request(&refused, 0, &erik.member()), Some(admitted));
    [3, 4].into_iter().for_each(|voter| vote(&mut refused, voter, &erik.member(), false));
    refused.pass(3);
    let transcript = &refused.players[2].transcript;
    assert!(transcript.set().refusals().any(|refusal| refusal.csr == Some(erik.serial())));
    assert_eq!(transcript.check_admit(&item), Err(ItemError::Late(Uncounted::Refused)));
    refused.pass(620);
    let transcript = &refused.players[2].transcript;
    assert!(transcript.state().head().number > granted.players[0].transcript.state().head().number);
    assert_eq!(transcript.check_admit(&item), Err(ItemError::Late(Uncounted::Refused)), "for good");
}
