//! Coordinators: what counts before the chosen signers have their place in the order, whom a
//! coordinator chooses, and which session it calls after it was stopped.

use super::*;

fn number_of(bus: &Bus, member: &MemberId) -> usize {
    bus.players.iter().position(|player| player.identity.member() == *member).unwrap()
}

/// The coordinator knows the participants before they have their place in the order. What a signer
/// says of the run before that counts nowhere, not even at itself. Otherwise one that sends another
/// message afterwards would have honest signers name each other.
#[test]
fn a_message_before_the_participants_are_ordered_counts_nowhere() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        let (held, coordinator) = (Rc::new(RefCell::new(Vec::new())), bus.players[0].identity.member());
        let runs = Rc::new(RefCell::new(Runs::default()));
        let (keep, all) = (held.clone(), runs.clone());
        bus.tamper = Some(Box::new(move |sender, payload| {
            let Ok(OpenMessage::Signer { message: word }) = codec::decode(payload) else { return true };
            all.borrow_mut().note(sender, &word);
            let mut held = keep.borrow_mut();
            // From its Participants on, whatever the coordinator says.
            let holds = sender == coordinator
                && (!held.is_empty() || matches!(word.body, SignerBody::Participants { .. }));
            if holds {
                held.push((word, Input::Open { sender, payload: payload.clone() }));
            }
            !holds
        }));
        let dora = bus.stranger("dora", 40, 0);
        vote(&mut bus, 1, dora, true);
        vote(&mut bus, 2, dora, true);
        bus.tamper = None;
        let held = held.take();
        let SignerBody::Participants { givers, .. } = &held[0].0.body else { panic!("no players") };
        let early = givers.iter().map(|signer| number_of(&bus, signer)).find(|who| *who != 0).unwrap();
        let word = SignerBody::Round { round: 0, to_all: Blob::from(vec![7; 99]), to_each: Vec::new() };
        let (early, group) = (&bus.players[early].identity, bus.players[0].transcript.group());
        let payload = runs.borrow().say(early, group, held[0].0.session, word);
        let word = Input::Open { sender: early.member(), payload };
        bus.everyone(&word);
        for (_, input) in &held {
            bus.everyone(input);
        }
        bus.settle();
        assert!(bus.admitted(dora), "{scheme:?}: {:#?}", bus.traces);
        let lied = |event: &Event| matches!(event, Event::SignerLied { .. });
        assert!(!bus.players.iter().any(|player| player.events.iter().any(lied)), "{scheme:?}");
    }
}

/// Others may still have a session from before a stop.
#[test]
fn a_coordinator_that_was_stopped_calls_to_other_tables() {
    let mut bus = founded(Scheme::TsDsa);
    let calls = Rc::new(RefCell::new(Vec::new()));
    let keep = calls.clone();
    bus.tamper = Some(Box::new(move |_, payload| {
        let Ok(OpenMessage::Signer { message: word }) = codec::decode(payload) else { return true };
        if let SignerBody::Start { .. } = word.body {
            keep.borrow_mut().push(word.session);
        }
        !matches!(word.body, SignerBody::Round { .. })
    }));
    let dora = bus.stranger("dora", 40, 3);
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    bus.restart(3);
    bus.dial(dora, 0);
    bus.dial(dora, 3);
    bus.pass(20);
    let of_first = calls.take();
    let mut once = of_first.clone();
    once.sort();
    once.dedup();
    assert!(of_first.len() > 1 && once.len() == of_first.len(), "{of_first:?}");
}

/// A signer that knows that one lies does not take part beside it, and says nothing. The
/// coordinator cannot tell which of the two spoils a session, so it tries others first.
#[test]
fn a_coordinator_tries_others_before_those_who_sat_in_vain() {
    let mut bus = founded(Scheme::TsDsa);
    let players = Rc::new(RefCell::new(Vec::<Vec<MemberId>>::new()));
    let (keep, coordinator) = (players.clone(), bus.players[0].identity.member());
    bus.tamper = Some(Box::new(move |sender, payload| {
        let Ok(OpenMessage::Signer { message: word }) = codec::decode(payload) else { return true };
        let mut players = keep.borrow_mut();
        match word.body {
            SignerBody::Participants { givers, .. } => players.push(givers),
            // In the first session the last of them is silent.
            SignerBody::Round { .. } => {
                return players.len() > 1
                    || players[0].iter().rfind(|signer| **signer != coordinator) != Some(&sender);
            }
            _ => {}
        }
        true
    }));
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    for _ in 0..80 {
        bus.now = Instant(bus.now.0 + 100_000);
        bus.pass(0);
    }
    let players = players.take();
    assert!(bus.admitted(dora), "{:#?}", bus.traces);
    assert_eq!(players.len(), 2, "{players:?}");
    let again: Vec<_> = players[1].iter().filter(|signer| players[0].contains(signer)).collect();
    assert_eq!(again, [&coordinator], "{players:?}");
}
