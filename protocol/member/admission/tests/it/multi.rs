//! Groups whose voters sign certificates together, each with its own key: as many of those who said
//! yes as are needed sign, and are named. Method: real machines and transcripts on a perfect
//! ordered bus.

use crate::common::signing::{Liar, call, say};
use crate::common::{Bus, NOW, change, person, vote};
use folkmoot_admission::{
    AdmissionError, Command, Config, Event, Input, OpenMessage, Phase, Purpose, SignerBody, Wording,
};
use folkmoot_base::{Danger, Head, MemberId, Mutant, UnixTime, codec};
use folkmoot_identity::{Gmc, Scheme};
use folkmoot_transcript::Change;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Five founders of whom two admit.
fn founded() -> Bus {
    Bus::of_scheme(Scheme::Asm, 5, 2)
}

fn certificate(bus: &Bus, which: usize) -> Gmc {
    let member = bus.strangers[which].identity.member();
    Gmc::from_der(&bus.players[0].transcript.certificate_of(&member).unwrap()).unwrap()
}

fn signers(bus: &Bus, which: usize) -> BTreeSet<MemberId> {
    certificate(bus, which).multi().unwrap().signers().iter().copied().collect()
}

fn ids(bus: &Bus, who: &[usize]) -> BTreeSet<MemberId> {
    who.iter().map(|who| bus.players[*who].identity.member()).collect()
}

fn without_errors(bus: &Bus) {
    for player in bus.players.iter().filter(|player| player.up) {
        assert!(player.errors.is_empty(), "{:?} {:#?}", player.errors, bus.traces);
    }
}

#[test]
fn who_said_yes_signs_and_is_named() {
    let mut bus = founded();
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, true);
    bus.pass(2);
    assert!(!bus.admitted(dora), "one vote is not enough");
    vote(&mut bus, 4, dora, false);
    vote(&mut bus, 2, dora, true);
    // Neither waiting nor turns: the contact, which has not voted, takes what it hears.
    assert!(bus.admitted(dora), "{:#?}", bus.traces);
    assert_eq!(bus.strangers[dora].applicant.phase(), Phase::Admitted);
    assert_eq!(signers(&bus, dora), ids(&bus, &[1, 2]));
    assert!(certificate(&bus, dora).votes().is_empty());
    bus.pass(2);
    without_errors(&bus);
    for player in &bus.players {
        assert_eq!(player.admission.poll_timeout(), None, "something is still at work");
        assert!(player.disk.keys().all(|key| key.table != "share"));
    }
}

#[test]
fn one_who_came_by_a_multisignature_signs_the_next_one() {
    let mut bus = founded();
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    assert!(bus.admitted(dora));
    let mut voters = bus.players[0].transcript.roster().electorate().to_vec();
    voters.push(bus.strangers[dora].identity.member());
    for who in 0..3 {
        let _ = bus.command(who, Command::Propose(Change::Electorate { voters: voters.clone() }.into()));
    }
    bus.pass(2);
    let stranger = bus.strangers.remove(dora);
    let mut player = crate::common::player(stranger.identity, &bus.charter());
    player.transcript = stranger.transcript;
    bus.players.push(player);
    bus.pass(0);
    let erik = bus.stranger("erik", 41, 3);
    vote(&mut bus, 5, erik, true);
    vote(&mut bus, 4, erik, true);
    assert!(bus.admitted(erik), "{:#?}", bus.traces);
    assert_eq!(signers(&bus, erik), ids(&bus, &[4, 5]));
}

#[test]
fn who_lies_is_named_and_signs_no_more() {
    for round in 0..3 {
        // The contact votes itself, or only listens: it must know either way.
        for contact in [0, 1] {
            let mut bus = founded();
            let (liar, group) = (person("founder4", 4), bus.players[0].transcript.group());
            let who = liar.member();
            let mut liar = Liar::new(liar, group, round);
            bus.tamper = Some(Box::new(move |sender, payload| {
                liar.lie(sender, payload);
                true
            }));
            let dora = bus.stranger("dora", 40, contact);
            vote(&mut bus, 3, dora, true);
            vote(&mut bus, 1, dora, true);
            bus.pass(12);
            assert!(!bus.admitted(dora), "with a liar there is no signature");
            for player in [contact, 1] {
                let named = Event::SignerLied { member: who };
                assert!(bus.players[player].events.contains(&named), "{round} {contact}: {:#?}", bus.traces);
            }
            vote(&mut bus, 2, dora, true);
            bus.pass(2);
            assert!(bus.admitted(dora), "{round} {contact}: {:#?}", bus.traces);
            assert_eq!(signers(&bus, dora), ids(&bus, &[1, 2]));
        }
    }
}

#[test]
fn a_silent_signer_is_left_out() {
    for silent_in in [0, 1, 2] {
        let mut bus = founded();
        let silent = bus.players[0].identity.member();
        bus.tamper = Some(Box::new(move |sender, payload| {
            let Ok(OpenMessage::Signer { message: word }) = codec::decode(payload) else { return true };
            let lost = matches!(word.body, SignerBody::Round { round, .. } if round == silent_in);
            sender != silent || !lost
        }));
        let dora = bus.stranger("dora", 40, 4);
        // The first listed voter is chosen first of all.
        for voter in [0, 1] {
            vote(&mut bus, voter, dora, true);
        }
        vote(&mut bus, 2, dora, true);
        bus.pass(3);
        assert!(!bus.admitted(dora), "{silent_in}");
        bus.pass(8);
        assert!(bus.admitted(dora), "{silent_in}: {:#?}", bus.traces);
        assert_eq!(signers(&bus, dora), ids(&bus, &[1, 2]));
    }
}

#[test]
fn twenty_at_once_each_get_a_signature_of_their_own() {
    let mut bus = founded();
    let all: Vec<usize> =
        (0..20).map(|n| bus.stranger(&format!("guest{n}"), 50 + n, n as usize % 5)).collect();
    // The first yes of each, then the messages of all sessions, mixed.
    for which in &all {
        vote(&mut bus, which % 5, *which, true);
    }
    for which in &all {
        vote(&mut bus, (which + 2) % 5, *which, true);
    }
    bus.pass(30);
    for which in all {
        assert!(bus.admitted(which), "{which}: {:#?}", bus.traces);
        assert_eq!(signers(&bus, which), ids(&bus, &[which % 5, (which + 2) % 5]));
    }
}

#[test]
fn a_contact_that_is_lost_is_replaced_by_another() {
    let mut bus = founded();
    let dora = bus.stranger("dora", 40, 0);
    bus.strangers[dora].contact = None;
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    bus.pass(2);
    assert!(!bus.admitted(dora));
    bus.players[0].up = false;
    bus.strangers[dora].contact = Some(bus.players[0].identity.node());
    bus.dial(dora, 3);
    bus.pass(3);
    assert!(bus.admitted(dora), "{:#?}", bus.traces);
}

#[test]
fn a_signer_who_goes_before_the_entry_is_replaced() {
    let mut bus = founded();
    let dora = bus.stranger("dora", 40, 0);
    bus.strangers[dora].contact = None;
    for voter in [1, 4] {
        vote(&mut bus, voter, dora, true);
    }
    let gone = bus.players[4].identity.member();
    for who in 0..3 {
        let _ = bus.command(who, Command::Expel(gone));
    }
    bus.pass(3);
    assert!(!bus.players[0].transcript.roster().is_member(&gone));
    bus.players[4].up = false;
    vote(&mut bus, 3, dora, true);
    bus.dial(dora, 0);
    bus.pass(12);
    assert!(bus.admitted(dora), "{:#?}", bus.traces);
    assert_eq!(signers(&bus, dora), ids(&bus, &[1, 3]));
}

/// Two sign while the voters decide that three admit. What comes of it is too little by then: it is
/// not handed to the guest, and three sign. With the rule off the guest is given it again and
/// again.
#[test]
fn what_was_signed_before_more_were_asked_for_is_signed_again() {
    for danger in [None, Some(Danger::AdmissionTakesAnyMulti)] {
        let mut bus = founded();
        let config = || Config { danger: Mutant::from(danger), ..Config::default() };
        (0..5).for_each(|who| bus.restart_as(who, config()));
        bus.pass(3);
        let dora = bus.stranger("dora", 40, 0);
        let held = Rc::new(RefCell::new(Vec::new()));
        let keep = held.clone();
        bus.tamper = Some(Box::new(move |sender, payload| {
            let rounds = matches!(codec::decode(payload), Ok(OpenMessage::Signer { message })
                if matches!(message.body, SignerBody::Round { .. }));
            if rounds {
                keep.borrow_mut().push((sender, payload.clone()));
            }
            !rounds
        }));
        [1, 2, 4].into_iter().for_each(|who| vote(&mut bus, who, dora, true));
        for who in 0..3 {
            let _ = bus.command(who, Command::Propose(change("threshold", "3")));
        }
        assert_eq!(bus.players[0].transcript.roster().threshold(), 3);
        while !held.borrow().is_empty() {
            for (sender, payload) in held.take() {
                bus.everyone(&Input::Open { sender, payload });
                bus.settle();
            }
        }
        bus.tamper = None;
        bus.pass(12);
        assert_eq!(bus.admitted(dora), danger.is_none(), "{:#?}", bus.traces);
        if danger.is_none() {
            assert_eq!(signers(&bus, dora), ids(&bus, &[1, 2, 4]));
        }
    }
}

#[test]
fn adm_49_a_signer_signs_only_what_its_own_vote_says_and_no_longer() {
    let mut bus = founded();
    let dora = bus.stranger("dora", 40, 0);
    // One has said no before, and says yes in its next turn.
    vote(&mut bus, 1, dora, false);
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, false);
    let request = bus.request_of(0, dora).unwrap();
    let ready = Rc::new(Cell::new(0));
    let count = ready.clone();
    bus.tamper = Some(Box::new(move |_, payload| {
        let heard = codec::decode(payload);
        if matches!(heard, Ok(OpenMessage::Signer { message: word }) if matches!(word.body, SignerBody::Ready { .. }))
        {
            count.set(count.get() + 1);
        }
        true
    }));
    let (hours, base) = (UnixTime(NOW.0 + 72 * 3600), bus.players[0].transcript.state().head());
    let wording = Wording { base, turn: 1, expires: hours };
    let elsewhere = Head { digest: [3; 32], ..base };
    let tries = [
        // Only the one who said yes; not a moment longer than its vote; in no turn that it has gone
        // beyond; over no decision that its line does not have; nothing that was not asked for;
        // nothing of other schemes.
        (Purpose::Multi { request, wording }, 1),
        (Purpose::Multi { request, wording: Wording { expires: UnixTime(hours.0 + 1), ..wording } }, 0),
        (Purpose::Multi { request, wording: Wording { turn: 0, ..wording } }, 0),
        (Purpose::Multi { request, wording: Wording { base: elsewhere, ..wording } }, 0),
        (Purpose::Multi { request: [3; 32], wording }, 0),
        (Purpose::Found { threshold: 2 }, 0),
        (Purpose::Reshare { threshold: 2 }, 0),
        (Purpose::Certify { request }, 0),
    ];
    for (purpose, signers) in tries {
        ready.set(0);
        let (session, convene) = call(&bus, 3, purpose.clone(), 7);
        let input = say(&bus, 3, session, convene);
        bus.everyone(&input);
        bus.settle();
        assert_eq!(ready.get(), signers, "{purpose:?}");
    }
    without_errors(&bus);
    // If everybody signs for itself, or a key of the group signs, nobody takes part in such a
    // session.
    for scheme in [Scheme::Plain, Scheme::Frost] {
        let mut bus = Bus::silent(scheme, 5, 2);
        let (session, convene) = call(&bus, 3, Purpose::Multi { request, wording }, 7);
        let input = say(&bus, 3, session, convene);
        let heard = bus.input(0, input);
        let refused = matches!(heard, Err(AdmissionError::PeerSigner(..)));
        assert_eq!(refused, scheme == Scheme::Plain, "{heard:?}");
    }
}
