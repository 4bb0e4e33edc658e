//! Groups with a key of their own: the founders share it, as many as the charter says sign with it,
//! and a member that leaves has nothing. Method: real machines and transcripts on a perfect ordered
//! bus; members stop, restart from disk, and change in between.

mod coordinators;
mod kills;
mod repairs;
mod rules;
mod sharings;

use crate::common::signing::{Liar, Runs, call, say};
use crate::common::{Bus, Dice, NOW, change, person, vote};
use bytes::Bytes;
use folkmoot_admission::{
    AdmissionError, Closed, Command, Event, Input, OpenMessage, Phase, Purpose, SIGNER_LABEL, SignerBody,
};
use folkmoot_base::{Blob, Instant, MemberId, UnixTime, codec};
use folkmoot_identity::{CertificateError, Gmc, GmcBody, Scheme, Verdict};
use folkmoot_transcript::{Change, Effect, Item, ItemError, Signed, Unfit};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

const SCHEMES: [Scheme; 2] = [Scheme::TsDsa, Scheme::Frost];

/// Five founders of whom two admit; their key is shared.
fn founded(scheme: Scheme) -> Bus {
    let mut bus = Bus::of_scheme(scheme, 5, 2);
    bus.pass(12);
    assert_agreed(&bus);
    bus
}

fn assert_agreed(bus: &Bus) {
    let first = bus.players[0].transcript.roster().sharing().cloned();
    let errors: Vec<_> = bus.players.iter().map(|player| &player.errors).collect();
    assert!(first.is_some(), "no sharing: {:#?} {errors:?}", bus.traces);
    for player in bus.players.iter().filter(|player| player.up) {
        assert_eq!(player.transcript.roster().sharing().cloned(), first);
        assert!(player.errors.is_empty(), "{:?} {:#?}", player.errors, bus.traces);
    }
}

fn admit(bus: &mut Bus, name: &str, seed: u64) -> usize {
    admit_by(bus, name, seed, &[1, 2])
}

/// All of these must vote; the last vote admits.
fn admit_by(bus: &mut Bus, name: &str, seed: u64, voters: &[usize]) -> usize {
    let which = bus.stranger(name, seed, 0);
    for voter in voters {
        bus.pass(2);
        assert!(!bus.admitted(which), "fewer votes are not enough");
        vote(bus, *voter, which, true);
    }
    bus.pass(12);
    assert!(bus.admitted(which), "{:#?}", bus.traces);
    which
}

/// Messages of rounds do not arrive: every run stands still.
fn without_rounds(bus: &mut Bus) {
    bus.tamper = Some(Box::new(|_, payload| {
        !matches!(
            codec::decode(payload),
            Ok(OpenMessage::Signer { message: word }) if matches!(word.body, SignerBody::Round { .. })
        )
    }));
}

#[test]
fn founders_share_a_key_and_sign_with_it() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        let dora = admit(&mut bus, "dora", 40);
        assert_eq!(bus.strangers[dora].applicant.phase(), Phase::Admitted);
        let (transcript, member) = (&bus.players[3].transcript, bus.strangers[dora].identity.member());
        let gmc = Gmc::from_der(&transcript.certificate_of(&member).unwrap()).unwrap();
        let sharing = transcript.roster().sharing().unwrap();
        assert_eq!(gmc.check_issued(&sharing.facts.key), Ok(()));
        assert_eq!((gmc.issued(), gmc.votes().len()), (Some(sharing.facts.epoch), 0));
        for player in &bus.players {
            assert_eq!(player.disk.keys().filter(|key| key.table == "share").count(), 1);
            assert_eq!(player.admission.poll_timeout(), None, "something is still at work");
        }
    }
}

/// A call takes effect when it comes back in the order. Whatever the contact hears in between, it
/// calls once. Once it has the signature, it does not call again until others tell it.
#[test]
fn a_session_is_called_once_for_each_request() {
    for scheme in [Scheme::TsDsa, Scheme::Frost, Scheme::Asm] {
        let mut bus = Bus::of_scheme(scheme, 5, 2);
        bus.pass(12);
        let said = Rc::new(Cell::new([0_u32; 2]));
        let count = said.clone();
        bus.tamper = Some(Box::new(move |_, payload| {
            if let Ok(OpenMessage::Signer { message: word }) = codec::decode(payload) {
                let [calls, players] = count.get();
                let (call, seated) = (
                    matches!(word.body, SignerBody::Start { .. }),
                    matches!(word.body, SignerBody::Participants { .. }),
                );
                count.set([calls + u32::from(call), players + u32::from(seated)]);
            }
            true
        }));
        let dora = bus.stranger("dora", 40, 0);
        let request = bus.request_of(0, dora).unwrap();
        for voter in [0, 1, 2, 3] {
            let vote = Command::Vote { motion: request, approve: true };
            bus.order(voter, vote).unwrap();
        }
        bus.settle();
        assert!(bus.admitted(dora), "{scheme:?}: {:#?}", bus.traces);
        assert_eq!(said.get(), [1, 1], "{scheme:?}: calls, players");
        bus.pass(2);
        assert!(bus.players.iter().all(|player| player.admission.poll_timeout().is_none()), "{scheme:?}");
    }
}

/// Messages of loaded machines come one after the other. A coordinator that has the first of them
/// does not leave out the rest, because all would have to make new shares again for them.
#[test]
fn a_coordinator_waits_for_signers_as_long_as_they_come() {
    for scheme in SCHEMES {
        let mut bus = Bus::silent(scheme, 6, 2);
        let late: Vec<MemberId> = (3..6).map(|who| bus.players[who].identity.member()).collect();
        let held = Rc::new(RefCell::new(Vec::new()));
        let keep = held.clone();
        bus.tamper = Some(Box::new(move |sender, payload| {
            let signer = match codec::decode(payload) {
                Ok(OpenMessage::Signer { message: word }) => word,
                _ => return true,
            };
            let holds = matches!(signer.body, SignerBody::Ready { .. }) && late.contains(&sender);
            if holds {
                keep.borrow_mut().push((sender, payload.clone()));
            }
            !holds
        }));
        bus.pass(0);
        bus.tamper = None;
        // A quorum of six is four: three are ready, and the others are so after 0.3, 0.6 and 0.9
        // seconds.
        let ready = core::mem::take(&mut *held.borrow_mut());
        assert_eq!(ready.len(), 3);
        for (sender, payload) in ready {
            bus.now = bus.now + core::time::Duration::from_millis(300);
            bus.everyone(&Input::Timeout);
            bus.settle();
            bus.everyone(&Input::Open { sender, payload });
            bus.settle();
        }
        bus.pass(20);
        assert_agreed(&bus);
        let facts = &bus.players[0].transcript.roster().sharing().unwrap().facts;
        assert_eq!(facts.holders.len(), 6, "{scheme:?}");
        let again = bus.traces.iter().filter(|(_, text)| text.contains("signing session: reshare")).count();
        assert_eq!(again, 0, "{scheme:?}: {:#?}", bus.traces);
    }
}

#[test]
fn who_is_expelled_takes_no_share_along() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        let before = bus.players[0].transcript.roster().sharing().cloned().unwrap();
        let gone = bus.players[4].identity.member();
        for who in 0..3 {
            let _ = bus.command(who, Command::Expel(gone));
        }
        bus.players[4].up = false;
        bus.pass(20);
        assert_agreed(&bus);
        let after = bus.players[0].transcript.roster().sharing().cloned().unwrap();
        assert_ne!(after.facts.epoch, before.facts.epoch);
        assert_eq!((&after.facts.key, &after.authority), (&before.facts.key, &before.authority));
        assert!(!after.facts.holders.contains(&gone));
        admit(&mut bus, "dora", 40);
    }
}

#[test]
fn the_threshold_moves_and_the_key_stays() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        let key = bus.players[0].transcript.roster().sharing().unwrap().facts.key.clone();
        for threshold in ["3", "1", "2"] {
            let effect = change("threshold", threshold);
            for who in 0..3 {
                bus.command(who, Command::Propose(effect.clone())).unwrap();
            }
            bus.pass(25);
            assert_agreed(&bus);
            let facts = bus.players[0].transcript.roster().sharing().unwrap().facts.clone();
            assert_eq!((facts.threshold.to_string().as_str(), &facts.key), (threshold, &key));
        }
        admit(&mut bus, "dora", 40);
    }
}

/// As many signers as five shares of each scheme take; the newcomer's certificate is made under
/// each threshold.
#[test]
fn the_threshold_goes_from_3_to_5_to_2() {
    for (scheme, founders) in [(Scheme::Frost, 5), (Scheme::TsDsa, 9)] {
        let mut bus = Bus::silent(scheme, founders, 3);
        bus.pass(40);
        let facts = |bus: &Bus| bus.players[0].transcript.roster().sharing().unwrap().facts.clone();
        let (key, mut epochs) = (facts(&bus).key, vec![facts(&bus).epoch]);
        for (threshold, seed) in [("5", 40), ("2", 41)] {
            let effect = change("threshold", threshold);
            let need = bus.players[0].transcript.roster().decision_need().max(founders as usize / 2 + 1);
            for who in 0..need {
                bus.command(who, Command::Propose(effect.clone())).unwrap();
            }
            bus.pass(25);
            assert_agreed(&bus);
            let now = facts(&bus);
            assert_eq!((now.threshold.to_string().as_str(), &now.key), (threshold, &key));
            assert!(!epochs.contains(&now.epoch));
            epochs.push(now.epoch);
            let voters: &[usize] = if threshold == "5" { &[0, 1, 2, 3, 4] } else { &[0, 1] };
            admit_by(&mut bus, &format!("guest{seed}"), seed, voters);
        }
    }
}

#[test]
fn who_lies_is_named_and_sits_no_more() {
    for scheme in SCHEMES {
        for round in 0..3 {
            let mut bus = Bus::silent(scheme, 5, 2);
            let (liar, group) = (person("founder4", 4), bus.players[0].transcript.group());
            let who = liar.member();
            let lied = Rc::new(Cell::new(false));
            let lies = lied.clone();
            let mut liar = Liar::new(liar, group, round);
            bus.tamper = Some(Box::new(move |sender, payload| {
                if liar.lie(sender, payload) {
                    lies.set(true);
                }
                true
            }));
            bus.pass(40);
            if !lied.get() {
                // A round in which there is nothing to say to all, unless there is somebody to
                // accuse.
                assert!((scheme, round) == (Scheme::Frost, 2), "{scheme:?} {round}");
                continue;
            }
            let named = Event::SignerLied { member: who };
            for player in [0, 1, 2, 4] {
                assert!(bus.players[player].events.contains(&named), "{scheme:?} {round}: {:#?}", bus.traces);
            }
            let sharing = bus.players[0].transcript.roster().sharing().expect("a sharing without the liar");
            assert!(!sharing.facts.holders.contains(&who));
            bus.tamper = None;
            admit(&mut bus, "dora", 40);
        }
    }
}

/// A coordinator says with the call that it is ready, with a key that it does not keep for ever. If
/// it hears the call of a session later than that, nothing comes of the session: nobody can open
/// what is sealed to that key.
#[test]
fn a_session_whose_call_comes_too_late_is_not_set() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        let (held, players) = (Rc::new(RefCell::new(Vec::new())), Rc::new(Cell::new(0)));
        let (keep, count, slow) = (held.clone(), players.clone(), Rc::new(Cell::new(true)));
        let (coordinator, is_slow) = (bus.players[0].identity.member(), slow.clone());
        bus.tamper = Some(Box::new(move |sender, payload| {
            let Ok(OpenMessage::Signer { message: word }) = codec::decode(payload) else { return true };
            count.set(count.get() + u32::from(matches!(word.body, SignerBody::Participants { .. })));
            let holds = sender == coordinator && is_slow.get();
            if holds {
                keep.borrow_mut().push(Input::Open { sender, payload: payload.clone() });
            }
            !holds
        }));
        let dora = bus.stranger("dora", 40, 0);
        vote(&mut bus, 1, dora, true);
        vote(&mut bus, 2, dora, true);
        bus.pass(6);
        slow.set(false);
        let late: Vec<Input> = held.take();
        assert_eq!(late.len(), 4, "{scheme:?}: two calls, and twice ready");
        for word in &late {
            bus.everyone(word);
        }
        bus.pass(1);
        assert!(bus.admitted(dora), "{scheme:?}: {:#?}", bus.traces);
        assert_eq!(players.get(), 1, "{scheme:?}: the second session's alone");
        assert!(bus.traces.iter().any(|(who, text)| *who == 0 && text.contains("too late")), "{scheme:?}");
        let lied = |event: &Event| matches!(event, Event::SignerLied { .. });
        assert!(!bus.players.iter().any(|player| player.events.iter().any(lied)), "{scheme:?}");
    }
}

#[test]
fn no_more_answer_a_call_than_sign_unless_one_of_them_does_not() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        let (said, deaf) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
        let (count, drops) = (said.clone(), deaf.clone());
        let coordinator = bus.players[0].identity.member();
        bus.tamper = Some(Box::new(move |sender, payload| {
            let ready = matches!(codec::decode(payload), Ok(OpenMessage::Signer { message: word }) if matches!(word.body, SignerBody::Ready { .. }));
            count.set(count.get() + u32::from(ready));
            !(ready && sender != coordinator && drops.replace(false))
        }));
        let signers = u32::try_from(scheme.signers(2)).unwrap();
        let dora = bus.stranger("dora", 40, 0);
        vote(&mut bus, 1, dora, true);
        vote(&mut bus, 2, dora, true);
        assert!(bus.admitted(dora), "{scheme:?}: no time has passed");
        assert_eq!(said.replace(0), signers, "{scheme:?}");
        deaf.set(true);
        let emil = bus.stranger("emil", 41, 0);
        vote(&mut bus, 1, emil, true);
        vote(&mut bus, 2, emil, true);
        assert!(!bus.admitted(emil) && said.get() == signers, "{scheme:?}: one of them is not heard");
        bus.pass(1);
        assert!(bus.admitted(emil), "{scheme:?}: {:#?}", bus.traces);
        assert_eq!(said.get(), 5, "{scheme:?}: the others");
    }
}

/// A step that takes long waits for the end of the turn, so that messages go out before it. What is
/// ordered behind it is heard after it.
#[test]
fn a_step_that_takes_long_lets_words_go_out_first_and_none_overtake_it() {
    for (scheme, at_once) in [(Scheme::TsDsa, false), (Scheme::Frost, true)] {
        let mut bus = founded(scheme);
        let held = Rc::new(RefCell::new(None));
        let keep = held.clone();
        bus.tamper = Some(Box::new(move |sender, payload| {
            let Ok(OpenMessage::Signer { message: word }) = codec::decode(payload) else { return true };
            let SignerBody::Participants { givers, .. } = word.body else { return true };
            *keep.borrow_mut() = Some((givers, Input::Open { sender, payload: payload.clone() }));
            false
        }));
        bus.traces.clear();
        let dora = bus.stranger("dora", 40, 0);
        vote(&mut bus, 1, dora, true);
        vote(&mut bus, 2, dora, true);
        let (givers, players) = held.take().expect("somebody has given players");
        let signers: Vec<usize> =
            (0..5).filter(|who| givers.contains(&bus.players[*who].identity.member())).collect();
        let spoken = |bus: &Bus, who| bus.traces.contains(&(who, "speaks in a signing session".to_owned()));
        let due = |bus: &Bus, who: usize| bus.players[who].admission.poll_timeout() == Some(bus.now);
        for who in &signers {
            bus.input(*who, players.clone()).unwrap();
            assert_eq!(
                (spoken(&bus, *who), due(&bus, *who)),
                (at_once, !at_once),
                "{scheme:?} {who} {signers:?} {:?}",
                bus.traces
            );
        }
        bus.input(signers[0], Input::Timeout).unwrap();
        assert!(spoken(&bus, signers[0]) && !due(&bus, signers[0]), "{scheme:?}");
        let another =
            say(&bus, 4, [9; 32], SignerBody::Participants { givers: Vec::new(), takers: Vec::new() });
        bus.input(signers[1], another).unwrap();
        assert!(spoken(&bus, signers[1]) && !due(&bus, signers[1]), "{scheme:?}: before what comes behind");
        bus.settle();
        // In the other scheme the coordinator's message went out before its Participants were heard
        // here.
        assert!(at_once || bus.admitted(dora), "{scheme:?} {:#?}", bus.traces);
    }
}

#[test]
fn a_share_that_is_over_is_erased_though_its_holder_was_stopped_before_it_could() {
    for scheme in SCHEMES {
        let mut bus = founded(scheme);
        let shares = |bus: &Bus| -> Vec<_> {
            let disk = bus.players[1].disk.iter().filter(|(key, _)| key.table == "share");
            disk.map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        let old = shares(&bus);
        for who in 0..3 {
            bus.command(who, Command::Propose(change("threshold", "3"))).unwrap();
        }
        bus.pass(25);
        assert_agreed(&bus);
        // The disk as it is when it has the decision and nothing that follows from it.
        bus.players[1].disk.extend(old);
        assert_eq!(shares(&bus).len(), 2);
        bus.restart(1);
        bus.pass(1);
        assert_eq!(shares(&bus).len(), 1);
        admit_by(&mut bus, "dora", 40, &[1, 2, 3]);
    }
}
