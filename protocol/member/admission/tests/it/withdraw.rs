//! Names that nobody may have; requests and proposals that are taken back; and liars who take
//! back what is another's.

use crate::common::{Bus, change, open, vote};
use crate::renewal::with_dora;
use folkmoot_admission::{
    Admission, AdmissionError, Applicant, Closed, Command, Config, Event, GuestMessage, Input, OpenMessage,
    Reason, Withdrawal,
};
use folkmoot_base::{Blob, Danger, GroupId, Mutant, codec};
use folkmoot_identity::names::NameError;
use folkmoot_identity::{GmcBody, Request, Scheme};
use folkmoot_transcript::Effect;

const JOINER: &str = "an\u{200d}na";

fn with(danger: Option<Danger>) -> Config {
    Config { danger: Mutant::from(danger), ..Config::default() }
}

/// Four founders, three votes; what they do wrong.
fn founded(danger: Option<Danger>) -> Bus {
    let mut bus = Bus::new(4, 3);
    for player in &mut bus.players {
        player.admission = Admission::new(with(danger));
    }
    bus.pass(0);
    bus
}

fn closed(bus: &Bus, who: usize) -> Vec<Closed> {
    let why = |event: &Event| match event {
        Event::RequestClosed { why, .. } | Event::ProposalClosed { why, .. } => Some(*why),
        _ => None,
    };
    bus.players[who].events.iter().filter_map(why).collect()
}

fn proposals(bus: &Bus, who: usize) -> usize {
    bus.status(who).proposals.len()
}

#[test]
fn adm_90_nobody_comes_in_under_a_name_that_cannot_be_told() {
    for name in [JOINER, "anna\u{202e}", " ", "anna, ben", "anna:2"] {
        let mut bus = founded(None);
        let which = bus.stranger(name, 40, 0);
        assert_eq!(bus.request_of(0, which), None, "{name:?}");
        let refused = |event: &Event| matches!(event, Event::Refused { reason: Reason::Name, .. });
        assert!(bus.strangers[which].events.iter().any(refused), "{name:?}");
        assert!(bus.strangers[which].applicant.is_over(), "it does not ask again and again");
    }
    // The rule left out: the voters see a name that looks like another's.
    let mut bus = founded(Some(Danger::AdmissionAnyName));
    let which = bus.stranger(JOINER, 40, 0);
    assert!(bus.request_of(3, which).is_some());
}

#[test]
fn adm_90_no_member_brings_such_a_name() {
    let mut bus = founded(Some(Danger::AdmissionAnyName));
    let which = bus.stranger(JOINER, 40, 0);
    let it = &bus.strangers[which];
    let charter = it.transcript.roster().charter();
    let body = GmcBody::propose(charter, &it.identity, 4, bus.time, &mut crate::common::Dice(5));
    let body = body.over(bus.players[0].transcript.state().head());
    let cms = Blob::from(Request::sign(&it.identity, body).unwrap().der().to_vec());
    let message = OpenMessage::Request { cms, voucher: None, endorsement: None, instead: None };
    let sender = bus.players[0].identity.member();
    bus.restart(1);
    let heard = bus.input(1, Input::Open { sender, payload: open(&message) });
    assert!(matches!(heard, Err(AdmissionError::PeerName(_, NameError::Character(_)))), "{heard:?}");
}

#[test]
fn adm_91_a_stranger_takes_its_request_back() {
    let mut bus = founded(None);
    let which = bus.stranger("dora", 40, 0);
    vote(&mut bus, 1, which, true);
    let first = bus.request_of(2, which).unwrap();
    assert_eq!(bus.stranger_withdraws(which), Some(first));
    bus.settle();
    for who in 0..4 {
        assert_eq!((bus.request_of(who, which), closed(&bus, who)), (None, vec![Closed::Withdrawn]));
    }
    assert!(bus.strangers[which].events.contains(&Event::Withdrawn));
    assert!(bus.strangers[which].applicant.is_over() && bus.strangers[which].disk.is_empty());
    // Said once more, it is answered once more: the first answer may have been lost.
    bus.strangers[which].events.clear();
    assert_eq!(bus.stranger_withdraws(which), Some(first));
    bus.settle();
    assert_eq!(bus.strangers[which].events, [Event::Withdrawn]);
    // Who asks anew asks by another request, and the word on the first says nothing of it.
    bus.strangers[which].applicant = Applicant::default();
    bus.pass(11);
    bus.dial(which, 0);
    bus.pass(2);
    let second = bus.request_of(2, which).expect("it asks again");
    assert_ne!(first, second);
    let group = bus.players[0].transcript.group();
    let replayed = Withdrawal::sign(&group, first, &bus.strangers[which].identity.clone());
    let sender = bus.players[3].identity.member();
    bus.input(2, Input::Open { sender, payload: open(&OpenMessage::Withdrawn { withdrawal: replayed }) })
        .unwrap();
    assert_eq!(bus.request_of(2, which), Some(second));
}

#[test]
fn adm_91_nobody_withdraws_for_another() {
    for danger in [Some(Danger::AdmissionBelievesWithdrawals), None] {
        let mut bus = founded(danger);
        let (dora, eve) = (bus.stranger("dora", 40, 0), bus.stranger("eve", 41, 0));
        let request = bus.request_of(2, dora).unwrap();
        let group = bus.players[0].transcript.group();
        let (hers, liar) = (bus.strangers[dora].identity.clone(), bus.players[3].identity.clone());
        // A guest that names another's request.
        let withdrawal = Withdrawal::sign(&group, request, &bus.strangers[eve].identity.clone());
        let payload = codec::encode(&GuestMessage::Withdraw { withdrawal }).into();
        let from = bus.strangers[eve].identity.node();
        assert_eq!(bus.input(0, Input::Guest { from, payload }), Err(AdmissionError::PeerNotHolder(from)));
        // A member that wants to be rid of it; and her own word, but for another group.
        let lies =
            [Withdrawal::sign(&group, request, &liar), Withdrawal::sign(&GroupId([1; 32]), request, &hers)];
        for withdrawal in lies {
            let sender = liar.member();
            let heard =
                bus.input(2, Input::Open { sender, payload: open(&OpenMessage::Withdrawn { withdrawal }) });
            match danger {
                Some(_) => assert_eq!((heard, bus.request_of(2, dora)), (Ok(()), None)),
                None => {
                    assert_eq!(heard, Err(AdmissionError::PeerWithdrawal));
                    assert_eq!(bus.request_of(2, dora), Some(request));
                }
            }
        }
    }
}

#[test]
fn adm_92_a_proposer_takes_back_its_own() {
    let mut bus = founded(None);
    let effect: Effect = change("request_hours", "24");
    let motion = effect.subject().digest;
    bus.command(0, Command::Propose(effect.clone())).unwrap();
    assert_eq!(bus.command(1, Command::Withdraw(motion)), Err(AdmissionError::LocalNotOurs));
    // One is away: it learns of it by the transcript alone.
    bus.cut = Some(3);
    bus.command(0, Command::Withdraw(motion)).unwrap();
    assert_eq!([0, 1, 2, 3].map(|who| proposals(&bus, who)), [0, 0, 0, 1]);
    bus.merge();
    for who in 0..4 {
        assert_eq!((proposals(&bus, who), closed(&bus, who)), (0, vec![Closed::Withdrawn]), "{who}");
    }
    // It changes its mind once more.
    bus.command(0, Command::Propose(effect)).unwrap();
    assert_eq!([0, 1, 2, 3].map(|who| proposals(&bus, who)), [1; 4]);
    bus.restart(2);
    assert_eq!((proposals(&bus, 2), bus.status(2).proposals[0].have), (1, 1));
}

#[test]
fn adm_92_what_others_approve_goes_on_without_its_proposer() {
    let mut bus = founded(None);
    let effect: Effect = change("request_hours", "24");
    let motion = effect.subject().digest;
    bus.command(0, Command::Propose(effect)).unwrap();
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    bus.command(0, Command::Withdraw(motion)).unwrap();
    let status = bus.status(3).proposals[0].clone();
    assert_eq!((status.have, status.rejected), (1, vec![bus.players[0].identity.member()]));
    for who in [2, 3] {
        bus.command(who, Command::Vote { motion, approve: true }).unwrap();
    }
    bus.pass(12);
    assert_eq!(bus.players[0].transcript.roster().charter().request_hours(), 24, "three of four want it");
    assert!(closed(&bus, 0).ends_with(&[Closed::Granted]));
}

#[test]
fn adm_92_who_has_no_vote_takes_back_what_it_proposed_and_nobody_else_does() {
    let (mut bus, dora) = with_dora(Scheme::Plain);
    let effect: Effect = change("request_hours", "24");
    let motion = effect.subject().digest;
    bus.command(dora, Command::Propose(effect.clone())).unwrap();
    let taken_back = open(&OpenMessage::TakenBack { proposal: motion });
    let sender = bus.players[1].identity.member();
    let heard = bus.input(2, Input::Open { sender, payload: taken_back });
    assert_eq!((heard, proposals(&bus, 2)), (Err(AdmissionError::PeerNotProposer(sender)), 1));
    bus.command(dora, Command::Withdraw(motion)).unwrap();
    assert!((0..=dora).all(|who| proposals(&bus, who) == 0));
    // Once a voter wants it, it is no longer dora's alone.
    bus.command(dora, Command::Propose(effect)).unwrap();
    bus.command(1, Command::Vote { motion, approve: true }).unwrap();
    bus.command(dora, Command::Withdraw(motion)).unwrap();
    assert!((0..=dora).all(|who| proposals(&bus, who) == 1));
}

#[test]
fn adm_92_what_another_decision_has_changed_is_over() {
    let mut bus = founded(None);
    let [one, other, third] = [("request_hours", "24"), ("request_hours", "48"), ("certificate_days", "30")]
        .map(|(field, value)| change(field, value));
    for (who, effect) in [&one, &other, &third].into_iter().enumerate() {
        bus.command(who, Command::Propose(effect.clone())).unwrap();
    }
    for who in 1..3 {
        bus.command(who, Command::Vote { motion: one.subject().digest, approve: true }).unwrap();
    }
    bus.pass(12);
    for who in 0..4 {
        assert_eq!(closed(&bus, who), [Closed::Granted, Closed::Overtaken], "{who}");
        let open = bus.status(who).proposals;
        assert_eq!((open.len(), open[0].proposal, open[0].have), (1, third.subject().digest, 1));
    }
}

#[test]
fn a_renewal_is_told_as_one_and_taken_back() {
    let (mut bus, dora) = with_dora(Scheme::Plain);
    let which = bus.stranger("eve", 41, 0);
    bus.command(dora, Command::Renew).unwrap();
    let member = bus.players[dora].identity.member();
    let status = bus.status(1).requests;
    for one in &status {
        assert_eq!((one.renews, one.voters), (one.member == member, 4));
    }
    let motion = status.iter().find(|one| one.renews).unwrap().request;
    assert_eq!(bus.command(1, Command::Withdraw(motion)), Err(AdmissionError::LocalNotOurs));
    bus.command(dora, Command::Withdraw(motion)).unwrap();
    assert!((0..=dora).all(|who| bus.status(who).requests.iter().all(|one| !one.renews)));
    assert!(bus.request_of(1, which).is_some(), "eve's stays");
}
