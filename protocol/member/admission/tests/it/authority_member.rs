//! The authority as members, guests and a lying authority see each other: the rules on its messages
//! by number, and what comes late, twice or not at all. Method: real members, transcripts and
//! desks; messages that nobody would send are written by the test.

use crate::common::HOST;
use crate::common::town::{Plan, Town, forged, grant, granted, office, plan};
use crate::common::{Dice, NOW, change, open, person};
use bytes::Bytes;
use folkmoot_admission::{
    AdmissionError, Applicant, AuthorityMessage, Closed, Command, Event, GuestMessage, Heartbeat, Input,
    Office, OpenMessage, Output, Phase, Reason, WireGrounds,
};
use folkmoot_base::{Blob, Digest, Instant, UnixTime, codec};
use folkmoot_identity::{Gmc, Grounds, Request, Scheme};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Five founders of whom two admit. The desk answers the first of them, and its answers go nowhere
/// by themselves.
fn apart() -> Town {
    let mut town = Town::found(&Plan { links: 0, ..plan(Scheme::Plain) }, |_| {});
    let first = town.bus.players[0].identity.node();
    town.desk_input(0, Input::LinkUp { node: first, host: HOST }).unwrap();
    town
}

fn say(request: &Request, der: &Bytes) -> AuthorityMessage {
    AuthorityMessage::Granted { request: request.digest(), der: Blob(der.clone()) }
}

/// How many messages the members have sent each other from now on.
fn opens(town: &mut Town) -> Rc<Cell<usize>> {
    let count = Rc::new(Cell::new(0));
    let counts = count.clone();
    town.bus.tamper = Some(Box::new(move |_, _| {
        counts.set(counts.get() + 1);
        true
    }));
    count
}

fn payload(word: &AuthorityMessage) -> Bytes {
    codec::encode(word).into()
}

#[test]
fn adm_56_members_hear_the_authority_and_nobody_in_its_place() {
    let mut town = apart();
    let request = town.request(40, |_| {});
    town.ask_at(0, &request);
    town.approve(&request, &[1, 2]);
    let good = say(&request, &granted(&town.ask(&request, town.votes(&request, &[1, 2]))));
    let unsigned = AuthorityMessage::Denied { request: request.digest(), reason: Reason::Votes };
    let lists = AuthorityMessage::Revocations { der: Blob::from(vec![1, 2]) };
    // A stranger, the guest itself, a member, and one that has the office's key but not a node's.
    let members = town.bus.players[1].identity.node();
    let before = town.heard(&request).len();
    for from in [person("x", 70).node(), request.member().node(), members, person("desk1", 3_001).node()] {
        for word in [&good, &unsigned, &lists] {
            let heard = town.bus.input(0, Input::Guest { from, payload: payload(word) });
            assert!(matches!(heard, Err(AdmissionError::WireMalformed(_))), "{heard:?}");
        }
    }
    town.settle();
    assert_eq!((town.heard(&request).len(), town.issued(&request).len()), (before, 0));
    assert_eq!(town.bus.players[0].admission.authority(town.transcript()).unwrap(), (Vec::new(), None));
    // It does not say what a member would say to it, nor what a guest would.
    let group = town.transcript().group();
    let beat = Heartbeat::sign(&group, &town.desks[0].identity, NOW, 3);
    let deal = AuthorityMessage::Deal { session: [1; 32], threshold: 2, ready: Vec::new() };
    let none = grant(&request, WireGrounds::Votes(Vec::new()));
    let desk = town.desks[0].identity.node();
    for word in [AuthorityMessage::Heartbeat { beat }, deal, none] {
        assert_eq!(town.tell(0, 0, &word), Err(AdmissionError::PeerOutOfTurn(desk)));
    }
    let asks =
        GuestMessage::Request { cms: Blob::from(request.der().to_vec()), voucher: None, endorsement: None };
    let heard = town.bus.input(0, Input::Guest { from: desk, payload: codec::encode(&asks).into() });
    assert!(matches!(heard, Err(AdmissionError::WireMalformed(_))));
    // Its message belongs to its own link.
    assert_eq!(town.tell(0, 0, &good), Ok(()));
    town.settle();
    assert_eq!(town.issued(&request).len(), 1);
}

#[test]
fn adm_57_what_the_authority_has_not_signed_is_not_passed_on() {
    let mut town = apart();
    let (request, other) = (town.request(40, |_| {}), town.request(41, |_| {}));
    town.ask_at(0, &request);
    town.approve(&request, &[1, 2]);
    let der = granted(&town.ask(&request, town.votes(&request, &[1, 2])));
    let grounds = Gmc::from_der(&der).unwrap().body().grounds().unwrap();
    let another = Office::draw("moot", Scheme::Plain, NOW, &mut Dice(9)).unwrap();
    let theirs = forged(&another, &request, &grounds);
    let mut changed = der.to_vec();
    *changed.last_mut().unwrap() ^= 1;
    let elsewhere = Town::found(&plan(Scheme::Plain), |draft| draft.request_hours = 9).request(40, |_| {});
    let elsewhere = forged(&office(Scheme::Plain), &elsewhere, &Grounds::Votes(Vec::new()));
    let not_open = granted(&town.ask(&other, town.votes(&other, &[1, 2])));
    let words = opens(&mut town);
    for bad in [theirs.der().clone(), changed.into(), elsewhere.der().clone()] {
        let request = Gmc::from_der(&bad).ok().and_then(|gmc| gmc.body().request_digest().ok());
        let request = request.unwrap_or(crate::common::town::named(&other));
        let word = AuthorityMessage::Granted { request, der: Blob(bad.clone()) };
        assert!(matches!(town.tell(0, 0, &word), Err(AdmissionError::PeerCertificate(_))));
        let sender = town.bus.players[1].identity.member();
        let word = open(&OpenMessage::Granted { der: Blob(bad) });
        let heard = town.bus.input(0, Input::Open { sender, payload: word });
        assert!(matches!(heard, Err(AdmissionError::PeerCertificate(_))), "{heard:?}");
    }
    let swapped = AuthorityMessage::Granted { request: request.digest(), der: Blob(not_open.clone()) };
    assert_eq!(town.tell(0, 0, &swapped), Err(AdmissionError::PeerNotGranted));
    // Signed, and of a request that is not open, or was: nobody is told.
    assert_eq!(town.tell(0, 3, &say(&other, &not_open)), Ok(()));
    town.settle();
    assert_eq!((words.get(), town.issued(&request), town.issued(&other)), (0, Vec::new(), Vec::new()));
    // Another member hears the true one: it is passed on, once, and the guest has it from its
    // contact.
    assert_eq!(town.tell(0, 3, &say(&request, &der)), Ok(()));
    town.settle();
    assert_eq!(town.issued(&request), core::slice::from_ref(&der));
    assert_eq!(words.get(), 1);
    for who in [3, 0, 4] {
        assert_eq!(town.tell(0, who, &say(&request, &der)), Ok(()));
    }
    town.settle();
    assert_eq!((words.get(), town.issued(&request).len()), (1, 1));
    // Nor does a guest take from its contact what the charter's authority has not signed.
    let (which, asked) = overheard(&mut town, "dora", 50);
    let contact = town.bus.players[0].identity.node();
    let lie = forged(&another, &asked, &Grounds::Votes(Vec::new()));
    let word = GuestMessage::Issued { request: asked.digest(), der: Blob(lie.der().clone()) };
    town.bus.stranger_input(which, Input::Guest { from: contact, payload: codec::encode(&word).into() });
    assert!(town.bus.strangers[which].applicant.certificate().is_none());
}

/// A stranger linked with the first member, and its request, as all members hear it.
fn overheard(town: &mut Town, name: &str, seed: u64) -> (usize, Request) {
    let heard: Rc<RefCell<Vec<Bytes>>> = Rc::default();
    let keeps = heard.clone();
    town.bus.tamper = Some(Box::new(move |_, payload| {
        if let Ok(OpenMessage::Request { cms, .. }) = codec::decode(payload) {
            keeps.borrow_mut().push(cms.0);
        }
        true
    }));
    let which = town.stranger(name, seed, 0);
    town.bus.tamper = None;
    let member = town.bus.strangers[which].identity.member();
    let all = heard.borrow().iter().map(|cms| Request::from_der(cms).unwrap()).collect::<Vec<_>>();
    (which, all.into_iter().find(|request| request.member() == member).expect("it asks"))
}

#[test]
fn adm_59_an_authority_that_speaks_too_often_is_not_heard() {
    let mut town = apart();
    let desk = town.desks[0].identity.node();
    let word = AuthorityMessage::Denied { request: [9; 32], reason: Reason::Full };
    let words = opens(&mut town);
    for number in 0..300 {
        let heard = town.tell(0, 0, &word);
        let most = Err(AdmissionError::PeerAuthorityTooMuch(desk));
        assert_eq!(heard, if number < 256 { Ok(()) } else { most }, "{number}");
    }
    town.settle();
    assert_eq!(words.get(), 0, "nothing comes of it");
    town.pass(2);
    assert_eq!(town.tell(0, 0, &word), Ok(()));
    // One refusal again and again is told to the guest once.
    let request = town.request(40, |_| {});
    town.ask_at(0, &request);
    town.approve(&request, &[1, 2]);
    let before = town.heard(&request).len();
    for _ in 0..20 {
        let word = AuthorityMessage::Denied { request: request.digest(), reason: Reason::Full };
        assert_eq!(town.tell(0, 0, &word), Ok(()));
    }
    town.settle();
    assert_eq!(town.heard(&request).len(), before + 1);
}

#[test]
fn an_authority_cannot_send_a_guest_away_for_good() {
    let mut town = apart();
    let (which, asked) = overheard(&mut town, "dora", 50);
    for voter in [1, 2] {
        town.vote(voter, which, true);
    }
    for reason in [Reason::Objected, Reason::NotListed] {
        let word = AuthorityMessage::Denied { request: asked.digest(), reason };
        assert_eq!(town.tell(0, 0, &word), Ok(()));
        town.settle();
        assert!(!town.bus.strangers[which].applicant.is_over(), "{reason:?}");
    }
    town.link(0, 0);
    town.pass(20);
    assert!(town.bus.admitted(which), "{:#?}", town.bus.traces);
}

#[test]
fn a_certificate_that_does_not_stand_gives_way_to_one_that_does() {
    let mut town = apart();
    let request = town.request(40, |_| {});
    town.ask_at(0, &request);
    // Nobody's vote is among the members: only what a certificate carries counts.
    let bare = forged(&office(Scheme::Plain), &request, &Grounds::Votes(Vec::new()));
    let good = granted(&town.ask(&request, town.votes(&request, &[1, 2])));
    let grounds = town.votes(&request, &[3, 4]).read().unwrap();
    let second = forged(&office(Scheme::Plain), &request, &grounds);
    for der in [bare.der(), &good, second.der(), bare.der()] {
        assert_eq!(town.tell(0, 0, &say(&request, der)), Ok(()));
    }
    town.settle();
    assert_eq!(town.issued(&request), [bare.der().clone(), good.clone()]);
    // Handed in, the first admits nobody; nor does the second in another's hands.
    let hand_in = |town: &mut Town, from: &Request, der: &Bytes| {
        let word = GuestMessage::Certificate { der: Blob(der.clone()) };
        let from = from.member().node();
        town.bus.input(0, Input::Guest { from, payload: codec::encode(&word).into() })
    };
    assert!(matches!(hand_in(&mut town, &request, bare.der()), Err(AdmissionError::PeerItem(_))));
    let thief = town.request(41, |_| {});
    town.ask_at(0, &thief);
    let stolen = hand_in(&mut town, &thief, &good);
    assert!(matches!(stolen, Err(AdmissionError::PeerNotHolder(who)) if who == thief.member().node()));
    assert!(!town.transcript().roster().is_member(&request.member()));
    assert_eq!(hand_in(&mut town, &request, &good), Ok(()));
    town.settle();
    assert!(town.transcript().roster().is_member(&request.member()));
    assert!(!town.transcript().roster().is_member(&thief.member()));
}

#[test]
fn a_guest_whose_certificate_stands_on_nothing_asks_anew() {
    let mut town = apart();
    let (which, asked) = overheard(&mut town, "dora", 50);
    let bare = forged(&office(Scheme::Plain), &asked, &Grounds::Votes(Vec::new()));
    assert_eq!(town.tell(0, 0, &say(&asked, bare.der())), Ok(()));
    town.pass(20);
    assert!(!town.bus.admitted(which));
    assert_ne!(town.bus.request_of(0, which), Some(asked.digest()), "another request");
    town.link(0, 0);
    for voter in [1, 2] {
        town.vote(voter, which, true);
    }
    town.pass(8);
    assert!(town.bus.admitted(which), "{:#?}", town.bus.traces);
}

/// The votes are among the members anyway: a certificate need not carry them.
#[test]
fn a_certificate_without_votes_stands_on_those_that_the_members_have() {
    let mut town = apart();
    let (which, asked) = overheard(&mut town, "dora", 50);
    let bare = forged(&office(Scheme::Plain), &asked, &Grounds::Votes(Vec::new()));
    for voter in [1, 2] {
        town.vote(voter, which, true);
    }
    assert_eq!(town.tell(0, 0, &say(&asked, bare.der())), Ok(()));
    town.settle();
    assert!(town.bus.admitted(which), "{:#?}", town.bus.traces);
}

#[test]
fn an_answer_that_comes_too_late_changes_nothing() {
    let mut town = apart();
    let request = town.request(40, |_| {});
    town.ask_at(0, &request);
    town.approve(&request, &[1, 2]);
    let der = granted(&town.ask(&request, town.votes(&request, &[1, 2])));
    // The charter allows shorter terms meanwhile: the request is closed, its guest told so.
    for who in 0..3 {
        let _ = town.command(who, Command::Propose(change("certificate_days", "40")));
    }
    town.pass(2);
    assert!(matches!(
        town.heard(&request).last(),
        Some(GuestMessage::Standing { reason: Reason::Stale, .. })
    ));
    let words = opens(&mut town);
    assert!(matches!(town.tell(0, 0, &say(&request, &der)), Err(AdmissionError::PeerCertificate(_))));
    let denied = AuthorityMessage::Denied { request: request.digest(), reason: Reason::Votes };
    assert_eq!(town.tell(0, 0, &denied), Ok(()));
    town.settle();
    assert_eq!((words.get(), town.issued(&request)), (0, Vec::new()));
}

/// What a member waits for lies ahead: a timer that is due and stays so would wake it without end.
fn nothing_is_overdue(town: &mut Town) {
    for who in 0..town.bus.players.len() {
        let _ = town.bus.input(who, Input::Timeout);
        let due = town.bus.players[who].admission.poll_timeout();
        let late = due.filter(|due| town.bus.players[who].up && *due <= town.bus.now);
        assert_eq!(late, None, "member {who} at {:?}", town.bus.now);
    }
}

#[test]
fn nothing_is_due_for_a_request_that_has_lost_its_grounds() {
    let mut town = Town::found(&plan(Scheme::Plain), |_| {});
    town.desks[0].up = false;
    let dora = town.stranger("dora", 40, 0);
    for voter in [3, 4] {
        town.vote(voter, dora, true);
    }
    town.pass(3);
    nothing_is_overdue(&mut town);
    let gone = town.bus.players[4].identity.member();
    for who in 0..3 {
        let _ = town.command(who, Command::Expel(gone));
    }
    town.bus.players[4].up = false;
    assert!(!town.transcript().roster().is_member(&gone));
    for _ in 0..8 {
        town.pass(7);
        nothing_is_overdue(&mut town);
    }
    // Nor for one that has not been told the time.
    let player = &mut town.bus.players[0];
    player.admission = folkmoot_admission::Admission::new(folkmoot_admission::Config::default());
    town.link(0, 0);
    nothing_is_overdue(&mut town);
}

/// The authority is away until the votes have run out. Nobody has to do anything but vote again.
#[test]
fn a_request_whose_grounds_ran_out_while_the_authority_was_away_is_asked_again_by_itself() {
    for days in [None, Some(1)] {
        let mut town = Town::found(&plan(Scheme::Plain), |draft| {
            draft.request_hours = 1;
            draft.policies.request_days = days;
        });
        town.desks[0].up = false;
        let dora = town.stranger("dora", 40, 0);
        for voter in [1, 2] {
            town.vote(voter, dora, true);
        }
        town.pass(3);
        let first = town.bus.request_of(0, dora).unwrap();
        town.bus.strangers[dora].events.clear();
        town.bus.time = UnixTime(town.bus.time.0 + days.map_or(3_700, |_| 86_500));
        town.pass(80);
        let why = |who: usize| {
            town.bus.players[who].events.iter().any(|event| {
            matches!(event, Event::RequestClosed { request, why: Closed::Expired, .. } if *request == first)
        })
        };
        assert!((0..5).all(why));
        let told = |event: &Event| matches!(event, Event::Refused { have: 0, need: 2, .. });
        assert!(town.bus.strangers[dora].events.iter().any(told), "{:?}", town.bus.strangers[dora].events);
        let second = town.bus.request_of(0, dora).expect("it asks again");
        assert_eq!(second == first, days.is_none(), "what its guest signed has run out, or the votes alone");
        // The authority is back, and does not find enough before the voters say so again.
        town.restart(0);
        town.pass(15);
        assert!(!town.bus.admitted(dora));
        for voter in [1, 2] {
            town.vote(voter, dora, true);
        }
        town.pass(15);
        assert!(town.bus.admitted(dora), "{:#?} {:?}", town.bus.traces, town.desks[0].errors);
    }
}

/// The contact is away when others get the certificate and tell it; it comes back, and does not
/// reach the authority.
#[test]
fn a_contact_that_missed_the_certificate_is_told_again() {
    let mut town = Town::found(&plan(Scheme::Plain), |_| {});
    let dora = town.stranger("dora", 40, 3);
    for voter in [1, 2] {
        town.vote(voter, dora, true);
    }
    town.bus.players[3].up = false;
    town.pass(12);
    assert_eq!(town.issued_on_disk(0).len(), 1, "{:#?}", town.bus.traces);
    town.bus.restart(3);
    // The authority is gone too: the members have what they need.
    town.desks[0].up = false;
    (0..2).for_each(|who| town.unlink(0, who));
    town.bus.dial(dora, 3);
    town.bus.everyone(&Input::Regrouped);
    town.pass(20);
    assert!(town.bus.admitted(dora), "{:#?}", town.bus.traces);
    assert_eq!(town.bus.strangers[dora].applicant.phase(), Phase::Admitted);
    assert!(town.bus.players.iter().all(|player| player.admission.poll_timeout().is_none()), "all is done");
}

/// It dies between certificate and item; the guest goes to the next, which knows as much.
#[test]
fn a_guest_with_its_certificate_goes_on_at_another_contact() {
    let mut town = Town::found(&plan(Scheme::Plain), |_| {});
    (0..2).for_each(|who| town.unlink(0, who));
    let dora = town.stranger("dora", 40, 0);
    for voter in [1, 2] {
        town.vote(voter, dora, true);
    }
    town.bus.lose_items = true;
    (0..2).for_each(|who| town.link(0, who));
    town.pass(6);
    assert_eq!(town.bus.strangers[dora].applicant.phase(), Phase::Certifying);
    town.bus.players[0].up = false;
    town.unlink(0, 0);
    town.bus.lose_items = false;
    town.bus.dial(dora, 4);
    town.pass(10);
    assert!(town.bus.admitted(dora), "{:#?}", town.bus.traces);
    let issued: Vec<Digest> =
        town.issued_on_disk(0).values().map(|der| folkmoot_base::digest(&[der])).collect();
    let member = town.bus.strangers[dora].identity.member();
    let held = town.bus.players[1].transcript.certificate_of(&member).unwrap();
    assert_eq!(issued, [folkmoot_base::digest(&[&held])]);
}

/// One that was a member is still linked with the authority, which answers no stranger: its request
/// does not wait for that.
#[test]
fn a_stranger_asks_members_and_not_the_authority() {
    let town = apart();
    let (authority, member) = (town.desks[0].identity.node(), town.bus.players[1].identity.node());
    let (dora, transcript) = (person("dora", 77), town.transcript());
    let mut applicant = Applicant::default();
    let mut dice = Dice(5);
    let mut asks = |input: Input| {
        applicant.handle(Instant(1), input, transcript, &dora, &mut dice).unwrap();
        let outputs = core::iter::from_fn(|| applicant.poll_output());
        let guests = outputs.filter_map(|output| match output {
            Output::Guest { to, .. } => Some(to),
            _ => None,
        });
        guests.collect::<Vec<_>>()
    };
    assert_eq!(asks(Input::Clock(NOW)), []);
    assert_eq!(asks(Input::LinkUp { node: authority, host: HOST }), []);
    assert_eq!(asks(Input::LinkUp { node: member, host: HOST }), [member]);
}
