//! What is said in a session and by whom, rule by rule.

use super::*;

#[test]
fn adm_46_a_session_that_stands_still_is_over_and_the_old_shares_stay_in_use() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        let before = bus.players[0].transcript.roster().sharing().cloned().unwrap();
        without_rounds(&mut bus);
        for who in 0..3 {
            bus.command(who, Command::Propose(change("threshold", "3"))).unwrap();
        }
        bus.pass(12);
        assert_eq!(bus.players[0].transcript.roster().sharing(), Some(&before));
        for who in 0..5 {
            bus.restart(who);
        }
        // The first of them is away, so that nobody reshares at once: four hold the old shares,
        // three must vote.
        bus.tamper = None;
        let dora = bus.stranger("dora", 40, 1);
        for who in [1, 2, 3] {
            vote(&mut bus, who, dora, true);
        }
        bus.pass(25);
        assert!(bus.admitted(dora), "{:#?}", bus.traces);
        let after = bus.players[0].transcript.roster().sharing().cloned().unwrap();
        assert_eq!((after.facts.threshold, &after.facts.key), (3, &before.facts.key));
    }
}

#[test]
fn adm_42_sessions_are_bounded_and_called_from_one_past() {
    let mut bus = founded(Scheme::Frost);
    let purpose = |number| Purpose::Certify { request: [number; 32] };
    for number in 0..16 {
        let (session, convene) = call(&bus, 1, purpose(number), u32::from(number));
        let input = say(&bus, 1, session, convene);
        assert_eq!(bus.input(0, input), Ok(()));
    }
    let (session, convene) = call(&bus, 1, purpose(16), 16);
    let input = say(&bus, 1, session, convene);
    assert!(matches!(
        bus.input(0, input),
        Err(AdmissionError::PeerSigner(_, "too many signing sessions are open"))
    ));
    let (_, convene) = call(&bus, 2, purpose(0), 0);
    let input = say(&bus, 2, [7; 32], convene);
    let elsewhere = "it starts from another transcript than ours";
    assert!(matches!(bus.input(0, input), Err(AdmissionError::PeerSigner(_, why)) if why == elsewhere));
}

#[test]
fn adm_43_nobody_is_ready_for_what_was_not_voted_or_is_not_wanted() {
    let mut bus = founded(Scheme::TsDsa);
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, true);
    let request = bus.request_of(0, dora).unwrap();
    let ready = Rc::new(Cell::new(0));
    let count = ready.clone();
    bus.tamper = Some(Box::new(move |_, payload| {
        if matches!(codec::decode(payload), Ok(OpenMessage::Signer { message: word }) if matches!(word.body, SignerBody::Ready { .. }))
        {
            count.set(count.get() + 1);
        }
        true
    }));
    let purposes = [
        Purpose::Certify { request },
        Purpose::Reshare { threshold: 2 },
        Purpose::Reshare { threshold: 1 },
        Purpose::Found { threshold: 2 },
    ];
    for (number, purpose) in purposes.into_iter().enumerate() {
        let (session, convene) = call(&bus, 3, purpose, number as u32);
        let input = say(&bus, 3, session, convene);
        bus.everyone(&input);
        bus.pass(1);
    }
    assert_eq!(ready.get(), 0);
    // One more vote, and as many are ready as sign.
    vote(&mut bus, 2, dora, true);
    bus.pass(10);
    assert!(bus.admitted(dora));
    assert_eq!(ready.get(), 3);
}

#[test]
fn adm_44_participants_are_the_coordinators_to_give_to_signers_that_are_ready() {
    let mut bus = founded(Scheme::Frost);
    let (session, convene) = call(&bus, 1, Purpose::Certify { request: [1; 32] }, 1);
    let input = say(&bus, 1, session, convene);
    bus.everyone(&input);
    let mut signers: Vec<MemberId> = [2, 3].map(|who| bus.players[who].identity.member()).to_vec();
    signers.sort();
    for (who, givers) in [(2, signers.clone()), (1, signers), (1, Vec::new())] {
        let input = say(&bus, who, session, SignerBody::Participants { givers, takers: Vec::new() });
        assert!(matches!(bus.input(0, input), Err(AdmissionError::PeerSigner(..))));
    }
}

#[test]
fn adm_45_a_word_out_of_its_round_is_refused() {
    let mut bus = Bus::silent(Scheme::Frost, 5, 2);
    let (who, group) = (person("founder4", 4), bus.players[0].transcript.group());
    bus.tamper = Some(Box::new(move |sender, payload| {
        let Ok(OpenMessage::Signer { message: mut word }) = codec::decode(payload) else { return true };
        let SignerBody::Round { round, .. } = &mut word.body else { return true };
        if sender == who.member() {
            *round += 1;
            let covered = [&group.0[..], &sender.0, &word.session, &codec::encode(&word.body)].concat();
            word.signature = who.key().sign_wire(SIGNER_LABEL, &covered);
            *payload = codec::encode(&OpenMessage::Signer { message: word }).into();
        }
        true
    }));
    bus.pass(30);
    let refused = |error: &AdmissionError| {
        matches!(error, AdmissionError::PeerSigner(_, "it does not belong to this round"))
    };
    assert!(bus.players[0].errors.iter().any(refused), "{:?}", bus.players[0].errors);
    // Silent in its round, it is left out.
    assert!(bus.players[0].transcript.roster().sharing().is_some(), "{:#?}", bus.traces);
}

#[test]
fn adm_41_words_that_are_not_signed_by_their_sender_are_refused() {
    let mut bus = Bus::silent(Scheme::Frost, 3, 2);
    bus.tamper = Some(Box::new(|_, payload| {
        let Ok(OpenMessage::Signer { message: mut word }) = codec::decode(payload) else { return true };
        word.signature = [9; 64].into();
        *payload = codec::encode(&OpenMessage::Signer { message: word }).into();
        true
    }));
    bus.pass(5);
    assert!(bus.players[0].transcript.roster().sharing().is_none());
    for player in &bus.players {
        assert!(player.errors.iter().any(|error| matches!(error, AdmissionError::PeerSigner(..))));
    }
}

/// Each of the chosen signers verifies the others' messages. What was said in a signer's name
/// before it does not take its place.
#[test]
fn adm_41_who_speaks_in_a_signers_name_before_it_does_not_take_its_place() {
    let mut bus = founded(Scheme::Frost);
    let coordinator = bus.players[0].identity.member();
    let held = Rc::new(RefCell::new(None));
    let keep = held.clone();
    bus.tamper = Some(Box::new(move |sender, payload| {
        let Ok(OpenMessage::Signer { message: mut word }) = codec::decode(payload) else { return true };
        if sender == coordinator || !matches!(word.body, SignerBody::Ready { .. }) || keep.borrow().is_some()
        {
            return true;
        }
        *keep.borrow_mut() = Some(Input::Open { sender, payload: payload.clone() });
        word.body = SignerBody::Ready { key: Blob::from(vec![9; 32]) };
        *payload = codec::encode(&OpenMessage::Signer { message: word }).into();
        true
    }));
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    let refused = |error: &AdmissionError| {
        matches!(error, AdmissionError::PeerSigner(_, "it is not signed by its sender"))
    };
    assert!(bus.players[0].errors.iter().any(refused), "the coordinator verifies at once");
    assert!(!bus.admitted(dora), "and waits for another");
    let own = held.take().unwrap();
    bus.everyone(&own);
    bus.settle();
    assert!(bus.admitted(dora), "{:#?}", bus.traces);
}

#[test]
fn adm_46_nobody_keeps_a_session_open_nor_ends_one_by_saying_things_again() {
    let mut bus = founded(Scheme::Frost);
    let (session, convene) = call(&bus, 1, Purpose::Certify { request: [1; 32] }, 1);
    let input = say(&bus, 1, session, convene);
    bus.input(0, input).unwrap();
    let ready = |bus: &Bus| say(bus, 3, session, SignerBody::Ready { key: Blob::from(vec![9; 32]) });
    let signed = |bus: &Bus| {
        say(bus, 3, session, SignerBody::Signed { request: [1; 32], signature: Blob::from(vec![1; 64]) })
    };
    for _ in 0..2 {
        for input in [ready(&bus), signed(&bus)] {
            bus.input(0, input).unwrap();
        }
        bus.pass(1);
    }
    let stood_still =
        |bus: &Bus| bus.traces.iter().any(|(who, text)| *who == 0 && text.contains("stood still"));
    assert!(!stood_still(&bus), "what proves nothing ends no session");
    bus.pass(1);
    assert!(stood_still(&bus), "the first word alone moves it");
}
