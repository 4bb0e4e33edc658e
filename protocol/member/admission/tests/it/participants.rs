//! A coordinator that names participants as no charter has it: nobody takes part. Method: real
//! machines on a perfect ordered bus; one of them says what its machine would not.

use crate::common::signing::{Liar, Runs, call, say, say_as};
use crate::common::{Bus, change, vote};
use folkmoot_admission::{
    AdmissionError, Command, Event, Input, OpenMessage, Purpose, SignerBody, SignerMessage,
};
use folkmoot_base::{Blob, Digest, MemberId, codec};
use folkmoot_identity::{Identity, Scheme};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

const SCHEMES: [Scheme; 2] = [Scheme::TsDsa, Scheme::Frost];
/// The coordinator that does wrong.
const COORDINATOR: usize = 1;

/// Of the messages of sessions only Ready arrives.
fn only_ready(bus: &mut Bus) {
    bus.tamper = Some(Box::new(|_, payload| match codec::decode(payload) {
        Ok(OpenMessage::Signer { message: word }) => matches!(word.body, SignerBody::Ready { .. }),
        _ => true,
    }));
}

fn sorted(signers: &[MemberId]) -> Vec<MemberId> {
    let mut signers = signers.to_vec();
    signers.sort();
    signers
}

fn ids(bus: &Bus, signers: &[usize]) -> Vec<MemberId> {
    sorted(&signers.iter().map(|who| bus.players[*who].identity.member()).collect::<Vec<_>>())
}

/// Calls a session in which the coordinator's friend is ready too.
fn set(bus: &mut Bus, purpose: &Purpose, attempt: u32, friend: Option<&Identity>) -> Digest {
    let (session, convene) = call(bus, COORDINATOR, purpose.clone(), attempt);
    let called = say(bus, COORDINATOR, session, convene);
    bus.everyone(&called);
    bus.settle();
    if let Some(friend) = friend {
        let ready = say_as(bus, friend, session, SignerBody::Ready { key: Blob::from(vec![9; 32]) });
        bus.everyone(&ready);
        bus.settle();
    }
    session
}

/// The coordinator names these participants; what the others say to that.
fn player(
    bus: &mut Bus,
    session: Digest,
    givers: &[MemberId],
    takers: &[MemberId],
) -> Vec<Option<&'static str>> {
    let players = SignerBody::Participants { givers: givers.to_vec(), takers: takers.to_vec() };
    let players = say(bus, COORDINATOR, session, players);
    let others: Vec<usize> =
        (0..bus.players.len()).filter(|who| *who != COORDINATOR && bus.players[*who].up).collect();
    let said = others.into_iter().map(|who| match bus.input(who, players.clone()) {
        Ok(()) => None,
        Err(AdmissionError::PeerSigner(_, why)) => Some(why),
        Err(other) => panic!("{other}"),
    });
    said.collect()
}

fn sits(bus: &Bus, what: &str) -> bool {
    bus.traces
        .iter()
        .any(|(who, text)| *who != COORDINATOR && *text == format!("takes part in a signing session: {what}"))
}

/// A founded group of five of whom two sign, and a member without a vote.
fn with_friend(scheme: Scheme) -> (Bus, Identity) {
    let mut bus = Bus::of_scheme(scheme, 5, 2);
    bus.pass(12);
    let dora = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    bus.pass(12);
    assert!(bus.admitted(dora), "{:#?}", bus.traces);
    let friend = crate::common::person("dora", 40);
    assert!(bus.players[0].transcript.roster().is_member(&friend.member()));
    assert!(!bus.players[0].transcript.roster().may_vote(&friend.member()));
    (bus, friend)
}

fn wanting(bus: &mut Bus, threshold: &str) {
    only_ready(bus);
    for who in 0..3 {
        bus.command(who, Command::Propose(change("threshold", threshold))).unwrap();
    }
    bus.pass(1);
    bus.traces.clear();
}

#[test]
fn adm_71_new_shares_are_for_voters_and_for_a_quorum_of_them() {
    for scheme in SCHEMES {
        let (mut bus, friend) = with_friend(scheme);
        let before = bus.players[0].transcript.roster().sharing().cloned();
        wanting(&mut bus, "3");
        let purpose = Purpose::Reshare { threshold: 3 };
        let all = ids(&bus, &[0, 1, 2, 3, 4]);
        let (two, three) = (ids(&bus, &[0, COORDINATOR]), ids(&bus, &[0, COORDINATOR, 2]));
        let own = bus.players[COORDINATOR].identity.member();
        let with_friend = |signers: &[MemberId]| sorted(&[signers, &[friend.member()]].concat());
        let no_vote = "a share would go to somebody who has no vote";
        let few = "too few would get shares, or no quorum would";
        let holders = "it names too many or too few signers, or some without a share";
        let tries = [
            (two.clone(), with_friend(&[own]), no_vote),
            (two.clone(), with_friend(&all), no_vote),
            (two.clone(), vec![own], few),
            (two.clone(), two.clone(), few),
            (vec![own], all.clone(), holders),
            (three, all.clone(), holders),
            (with_friend(&[own]), all.clone(), holders),
        ];
        for (attempt, (givers, takers, why)) in tries.into_iter().enumerate() {
            let session = set(&mut bus, &purpose, attempt as u32 + 1, Some(&friend));
            assert_eq!(player(&mut bus, session, &givers, &takers), [Some(why); 4], "{scheme:?}");
            assert!(!sits(&bus, "reshare"), "{scheme:?}");
            assert_eq!(player(&mut bus, session, &two, &all), [None; 4], "{scheme:?}: that session is over");
            assert!(!sits(&bus, "reshare"), "{scheme:?}");
        }
        let session = set(&mut bus, &purpose, 99, Some(&friend));
        assert_eq!(player(&mut bus, session, &two, &all), [None; 4], "{scheme:?}");
        assert!(sits(&bus, "reshare"), "{scheme:?}: {:#?}", bus.traces);
        assert_eq!(bus.players[0].transcript.roster().sharing().cloned(), before);
    }
}

#[test]
fn adm_71_founders_are_the_voters_who_get_shares() {
    for scheme in SCHEMES {
        let mut bus = Bus::silent(scheme, 5, 2);
        only_ready(&mut bus);
        bus.pass(0);
        let purpose = Purpose::Found { threshold: 2 };
        let all = ids(&bus, &[0, 1, 2, 3, 4]);
        let four = ids(&bus, &[0, 1, 2, 3]);
        let two = ids(&bus, &[0, 1]);
        let other = "the founders named are not those who get shares";
        let few = "too few would get shares, or no quorum would";
        let tries = [(four, all.clone(), other), (all.clone(), Vec::new(), other), (two.clone(), two, few)];
        for (attempt, (givers, takers, why)) in tries.into_iter().enumerate() {
            let session = set(&mut bus, &purpose, attempt as u32 + 1, None);
            assert_eq!(player(&mut bus, session, &givers, &takers), [Some(why); 4], "{scheme:?}");
        }
        let session = set(&mut bus, &purpose, 99, None);
        assert_eq!(player(&mut bus, session, &all, &all), [None; 4], "{scheme:?}");
        assert!(sits(&bus, "found"), "{scheme:?}: {:#?}", bus.traces);
    }
}

#[test]
fn adm_71_where_a_signature_is_made_nobody_gets_a_share() {
    for scheme in SCHEMES {
        let (mut bus, friend) = with_friend(scheme);
        let emil = bus.stranger("emil", 41, 0);
        only_ready(&mut bus);
        vote(&mut bus, 1, emil, true);
        vote(&mut bus, 2, emil, true);
        let request = bus.request_of(0, emil).unwrap();
        bus.traces.clear();
        let purpose = Purpose::Certify { request };
        let signers = scheme.signers(2);
        let right = ids(&bus, &[0, 1, 2][..signers]);
        let more = ids(&bus, &[0, 1, 2, 3][..signers + 1]);
        let with_friend = sorted(&[&right[1..], &[friend.member()]].concat());
        let holders = "it names too many or too few signers, or some without a share";
        let shares = "it names holders of new shares, but only a signature is made";
        let tries = [
            (right.clone(), right.clone(), shares),
            (more, Vec::new(), holders),
            (with_friend, Vec::new(), holders),
        ];
        for (attempt, (givers, takers, why)) in tries.into_iter().enumerate() {
            let session = set(&mut bus, &purpose, attempt as u32 + 1, Some(&friend));
            bus.pass(1);
            assert_eq!(player(&mut bus, session, &givers, &takers), [Some(why); 4], "{scheme:?}");
            assert!(!sits(&bus, "certify"), "{scheme:?}");
        }
        let session = set(&mut bus, &purpose, 99, None);
        bus.pass(1);
        assert_eq!(player(&mut bus, session, &right, &[]), [None; 4], "{scheme:?}");
        assert!(sits(&bus, "certify"), "{scheme:?}: {:#?}", bus.traces);
    }
}

fn signer(payload: &[u8]) -> Option<SignerMessage> {
    match codec::decode(payload) {
        Ok(OpenMessage::Signer { message: word }) => Some(word),
        _ => None,
    }
}

fn holders(bus: &Bus) -> Vec<MemberId> {
    bus.players[0].transcript.roster().sharing().map(|now| now.facts.holders.clone()).unwrap_or_default()
}

/// If three of five decide, as many as sign, none of the five can be missed: two may be corrupt. If
/// two of five decide, three are enough.
#[test]
fn adm_72_of_few_no_voter_who_is_ready_is_left_without_a_share() {
    for (threshold, fits) in [(3, false), (2, true)] {
        let mut bus = Bus::silent(Scheme::Frost, 5, threshold);
        only_ready(&mut bus);
        bus.pass(0);
        let purpose = Purpose::Found { threshold };
        let (three, all) = (ids(&bus, &[0, COORDINATOR, 2]), ids(&bus, &[0, 1, 2, 3, 4]));
        let session = set(&mut bus, &purpose, 1, None);
        let why = (!fits).then_some("it leaves out a voter who is ready, although it names so few");
        assert_eq!(player(&mut bus, session, &three, &three), [why; 4]);
        assert_eq!(sits(&bus, "found"), fits);
        let session = set(&mut bus, &purpose, 2, None);
        assert_eq!(player(&mut bus, session, &all, &all), [None; 4]);
        assert!(sits(&bus, "found"));
    }
    // A signer that is away is not missed; nor is one in whose name another says that it is ready.
    let mut bus = Bus::silent(Scheme::Frost, 5, 3);
    only_ready(&mut bus);
    bus.players[4].up = false;
    bus.pass(0);
    let four = ids(&bus, &[0, 1, 2, 3]);
    let session = set(&mut bus, &Purpose::Found { threshold: 3 }, 1, None);
    let ready = SignerBody::Ready { key: Blob::from(vec![9; 32]) };
    let Input::Open { payload, .. } = say(&bus, COORDINATOR, session, ready) else { panic!("no word") };
    bus.everyone(&Input::Open { sender: bus.players[4].identity.member(), payload });
    assert_eq!(player(&mut bus, session, &four, &four), [None; 3]);
    assert!(sits(&bus, "found"));
}

/// If everybody takes part, a participant that is silent or lies has shown it to everybody, and the
/// next session is formed without it.
#[test]
fn adm_72_whom_all_saw_to_be_silent_is_left_out_by_all() {
    for scheme in SCHEMES {
        let mut bus = Bus::silent(scheme, 5, if scheme == Scheme::Frost { 3 } else { 2 });
        let gone = bus.players[3].identity.member();
        bus.tamper = Some(Box::new(move |sender, payload| {
            let round = signer(payload).is_some_and(|word| matches!(word.body, SignerBody::Round { .. }));
            !(round && sender == gone)
        }));
        bus.pass(30);
        assert_eq!(holders(&bus), ids(&bus, &[0, 1, 2, 4]), "{scheme:?}: {:#?}", bus.traces);
        let found =
            bus.traces.iter().filter(|(_, text)| text.contains("starts a signing session: found")).count();
        assert_eq!(found, 2, "{scheme:?}: {:#?}", bus.traces);
    }
}

/// A participant that says everything except its message of a round coordinates sessions for new
/// shares too, and calls again before another can. As soon as all saw it silent, nobody takes part
/// in its sessions.
#[test]
fn adm_72_one_that_was_silent_does_not_lead_on_and_on() {
    let mut bus = Bus::silent(Scheme::Frost, 5, 3);
    let (silent, late) = (bus.players[3].identity.member(), bus.players[4].identity.member());
    let away = Rc::new(Cell::new(true));
    let is_away = away.clone();
    bus.tamper = Some(Box::new(move |sender, payload| {
        let Some(word) = signer(payload) else { return true };
        let round = matches!(word.body, SignerBody::Round { .. });
        !(round && sender == silent || is_away.get() && sender == late)
    }));
    let stood_still = |bus: &Bus| bus.traces.iter().any(|(_, text)| text.contains("stood still"));
    for _ in 0..30 {
        if !stood_still(&bus) {
            bus.pass(1);
        }
    }
    assert!(stood_still(&bus));
    away.set(false);
    bus.pass(60);
    assert_eq!(holders(&bus), ids(&bus, &[0, 1, 2, 4]), "{:#?}", bus.traces);
}

/// The one voter without a share was silent once, because it was cut off. It alone wants new
/// shares, so nothing comes without it. Once nobody has come to a session of its own, it may lead
/// again.
#[test]
fn adm_72_one_that_was_silent_leads_again_if_nobody_leads_without_it() {
    let mut bus = Bus::silent(Scheme::Frost, 4, 1);
    bus.players[3].up = false;
    bus.pass(12);
    assert_eq!(holders(&bus), ids(&bus, &[0, 1, 2]), "{:#?}", bus.traces);
    let cut_off = bus.players[3].identity.member();
    bus.tamper = Some(Box::new(move |sender, payload| {
        let round = signer(payload).is_some_and(|word| matches!(word.body, SignerBody::Round { .. }));
        !(round && sender == cut_off)
    }));
    bus.players[3].up = true;
    bus.merge();
    let stood_still = |bus: &Bus| {
        let others = bus.traces.iter().filter(|(who, _)| *who != 3);
        others.clone().any(|(_, text)| text.contains("stood still") && text.contains("Reshare"))
    };
    for _ in 0..30 {
        if !stood_still(&bus) {
            bus.pass(1);
        }
    }
    assert!(stood_still(&bus), "{:#?}", bus.traces);
    bus.tamper = None;
    bus.pass(40);
    assert_eq!(holders(&bus), ids(&bus, &[0, 1, 2, 3]), "{:#?}", bus.traces);
}

/// One that only two know to lie takes part all the same if none can be missed: anyone who does not
/// know it would miss it.
#[test]
fn adm_72_whom_some_know_to_lie_sits_where_none_can_be_missed() {
    let mut bus = Bus::of_scheme(Scheme::Frost, 5, 2);
    bus.pass(12);
    let lied = Rc::new(Cell::new(false));
    let (lies, group) = (lied.clone(), bus.players[0].transcript.group());
    let mut liar = Liar::new(crate::common::person("founder4", 4), group, 1);
    let who = liar.signer.member();
    bus.tamper = Some(Box::new(move |sender, payload| {
        lies.set(liar.lie(sender, payload) || lies.get());
        true
    }));
    let dora = bus.stranger("dora", 40, 3);
    vote(&mut bus, 1, dora, true);
    vote(&mut bus, 2, dora, true);
    bus.pass(20);
    assert!(lied.get());
    let knows =
        |bus: &Bus, player: usize| bus.players[player].events.contains(&Event::SignerLied { member: who });
    let known = (0..5).filter(|player| *player != 3 && knows(&bus, *player)).count();
    assert!((1..4).contains(&known), "some know it and some do not: {known}");
    bus.tamper = None;
    for player in 0..3 {
        bus.command(player, Command::Propose(change("threshold", "3"))).unwrap();
    }
    bus.pass(6);
    assert_eq!(bus.players[0].transcript.roster().sharing().unwrap().facts.threshold, 3, "{:#?}", bus.traces);
    assert_eq!(holders(&bus), ids(&bus, &[0, 1, 2, 3, 4]));
}

/// A signer says that it is ready after the coordinator chose and before the participants have
/// their place: nobody takes part, and the coordinator calls again at once.
#[test]
fn adm_72_whoever_is_ready_before_the_participants_are_ordered_is_waited_for() {
    let mut bus = Bus::silent(Scheme::Frost, 5, 3);
    let late = bus.players[4].identity.member();
    let held = Rc::new(RefCell::new((None, None)));
    let keep = held.clone();
    bus.tamper = Some(Box::new(move |sender, payload| {
        let Some(word) = signer(payload) else { return true };
        let mut held = keep.borrow_mut();
        let input = Input::Open { sender, payload: payload.clone() };
        match word.body {
            SignerBody::Ready { .. } if sender == late && held.0.is_none() => held.0 = Some(input),
            SignerBody::Participants { .. } if held.1.is_none() => held.1 = Some(input),
            _ => return true,
        }
        false
    }));
    bus.pass(0);
    bus.now = bus.now + core::time::Duration::from_millis(500);
    bus.everyone(&Input::Timeout);
    bus.settle();
    let (ready, players) = held.take();
    bus.tamper = None;
    bus.everyone(&ready.expect("ready"));
    bus.settle();
    bus.everyone(&players.expect("players"));
    bus.settle();
    assert!(
        bus.traces.iter().any(|(_, text)| text.contains("participants that fit no more")),
        "{:#?}",
        bus.traces
    );
    let missed = AdmissionError::PeerSigner(
        bus.players[0].identity.member(),
        "it leaves out a voter who is ready, although it names so few",
    );
    assert!(bus.players[1..].iter().all(|player| player.errors.contains(&missed)), "{:#?}", bus.traces);
    bus.pass(2);
    assert_eq!(holders(&bus).len(), 5, "{:#?}", bus.traces);
    assert!(!bus.traces.iter().any(|(_, text)| text.contains("stood still")), "{:#?}", bus.traces);
}

fn named(bus: &Bus) -> bool {
    bus.players
        .iter()
        .any(|player| player.events.iter().any(|event| matches!(event, Event::SignerLied { .. })))
}

fn done(bus: &Bus, signer: usize) -> bool {
    bus.traces.contains(&(signer, "a signing session is done: certify".to_owned()))
}

/// A coordinator that reuses the name of an earlier session, and has a signer's messages from then
/// replayed before its own.
#[test]
fn adm_73_a_word_of_another_run_counts_nowhere_and_nobody_is_named() {
    for scheme in SCHEMES {
        let mut bus = Bus::of_scheme(scheme, 5, 2);
        bus.pass(12);
        let dora = bus.stranger("dora", 40, 0);
        let words = Rc::new(RefCell::new(Vec::new()));
        let (keep, lost) = (words.clone(), Rc::new(Cell::new(true)));
        let loses = lost.clone();
        bus.tamper = Some(Box::new(move |sender, payload| {
            let Some(word) = signer(payload) else { return true };
            let round = matches!(word.body, SignerBody::Round { .. });
            if round && loses.get() {
                keep.borrow_mut().push(Input::Open { sender, payload: payload.clone() });
            }
            matches!(word.body, SignerBody::Ready { .. }) || (round && !loses.get())
        }));
        vote(&mut bus, 1, dora, true);
        vote(&mut bus, 2, dora, true);
        let purpose = Purpose::Certify { request: bus.request_of(0, dora).unwrap() };
        // Its machine would coordinate otherwise.
        bus.players[COORDINATOR].up = false;
        let signers = &[0, 2, 3][..scheme.signers(2)];
        let givers = ids(&bus, signers);
        for again in [false, true] {
            lost.set(!again);
            let session = set(&mut bus, &purpose, 5, None);
            bus.pass(1);
            player(&mut bus, session, &givers, &[]);
            if scheme == Scheme::TsDsa {
                signers.iter().for_each(|signer| bus.input(*signer, Input::Timeout).unwrap());
            }
            let old = words.borrow().clone();
            for word in old.iter().filter(|_| again) {
                bus.everyone(word);
            }
            bus.pass(if again { 2 } else { 7 });
            assert_eq!(words.borrow().len(), signers.len(), "{scheme:?}: {:#?}", bus.traces);
        }
        assert!(bus.traces.iter().any(|(_, text)| text == "a word of another run"), "{scheme:?}");
        assert!(!named(&bus), "{scheme:?}: {:#?}", bus.traces);
        assert!(signers.iter().all(|signer| done(&bus, *signer)), "{scheme:?}: {:#?}", bus.traces);
    }
}

/// One that tells two signers different things, which takes more than its own messages: neither
/// accepts from the other what follows from that.
#[test]
fn adm_73_one_that_tells_two_signers_different_things_sets_none_against_the_other() {
    let mut bus = Bus::of_scheme(Scheme::Frost, 5, 3);
    bus.pass(12);
    let coordinator = bus.players[0].identity.member();
    let (runs, held) = (Rc::new(RefCell::new(Runs::default())), Rc::new(RefCell::new(None)));
    let (all, keep) = (runs.clone(), held.clone());
    bus.tamper = Some(Box::new(move |sender, payload| {
        let Some(word) = signer(payload) else { return true };
        let mut held = keep.borrow_mut();
        let first = held.is_none()
            && sender != coordinator
            && matches!(word.body, SignerBody::Round { round: 0, .. });
        if first {
            *held = Some((sender, word));
        } else {
            all.borrow_mut().note(sender, &word);
        }
        !first
    }));
    let dora = bus.stranger("dora", 40, 0);
    for voter in 1..4 {
        vote(&mut bus, voter, dora, true);
    }
    let (liar, word) = held.borrow().clone().expect("three sit");
    let person = (1..=5).map(|seed| crate::common::person(&format!("founder{seed}"), seed));
    let identity = person.into_iter().find(|person| person.member() == liar).unwrap();
    let group = bus.players[0].transcript.group();
    let SignerBody::Round { to_all, to_each, .. } = word.body.clone() else { panic!("no word of a round") };
    // The two elements of a commitment, the other way round.
    let (tag, pair) = to_all.0.split_at(to_all.0.len() - 64);
    let turned = Blob::from([tag, &pair[32..], &pair[..32]].concat());
    let other = SignerBody::Round { round: 0, to_all: turned, to_each };
    let payloads =
        [word.body.clone(), other].map(|say| runs.borrow().say(&identity, group, word.session, say));
    runs.borrow_mut().note(liar, &word);
    for who in 0..5 {
        let heard = usize::from(bus.players[who].identity.member() != coordinator && who != 0);
        let own = bus.players[who].identity.member() == liar;
        let payload = payloads[if own { 0 } else { heard }].clone();
        let _ = bus.input(who, Input::Open { sender: liar, payload });
    }
    bus.pass(20);
    assert!(!named(&bus), "{:#?}", bus.traces);
    assert!(bus.traces.iter().any(|(_, text)| text == "a word of another run"), "{:#?}", bus.traces);
    assert!(bus.admitted(dora), "{:#?}", bus.traces);
}
