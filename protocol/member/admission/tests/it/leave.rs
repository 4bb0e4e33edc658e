//! A member asks to be let go for good, with a vote or without; and whoever speaks in its name.

use crate::common::{Bus, open};
use crate::renewal::with_dora;
use folkmoot_admission::{AdmissionError, Command, Input, OpenMessage};
use folkmoot_base::{MemberId, UnixTime};
use folkmoot_identity::Scheme;
use folkmoot_transcript::{Change, Effect, Force, Leave, Unfit};

/// Who is open to be let go, and whether by its own word.
fn goes(bus: &Bus, who: usize) -> Vec<(MemberId, bool)> {
    let open = bus.status(who).proposals;
    let change = |one: &folkmoot_admission::ProposalStatus| {
        let own = matches!(one.effect.change, Change::Leave(_));
        one.effect.change.goes().map(|member| (*member, own))
    };
    open.iter().filter_map(change).collect()
}

/// How somebody went, as the line has it.
fn went(bus: &Bus, who: usize, member: &MemberId) -> Option<bool> {
    let decisions = bus.players[who].transcript.line().decisions().values();
    let mut effects = decisions.flat_map(|standing| &standing.proposal.decision.effects);
    let change = effects.find(|one| one.effect.change.goes() == Some(member))?;
    Some(matches!(change.effect.change, Change::Leave(_)))
}

#[test]
fn adm_95_a_member_without_a_vote_leaves_by_its_own_word() {
    let (mut bus, dora) = with_dora(Scheme::Plain);
    let member = bus.players[dora].identity.member();
    bus.command(dora, Command::Leave(Force::No)).unwrap();
    bus.pass(2);
    assert_eq!(goes(&bus, 1), [(member, true)], "{:#?}", bus.traces);
    // Said again, it is the same.
    bus.command(dora, Command::Leave(Force::No)).unwrap();
    bus.pass(2);
    assert_eq!(goes(&bus, 1).len(), 1);
    let motion = bus.status(1).proposals[0].proposal;
    bus.restart(2);
    for who in 0..4 {
        if went(&bus, 0, &member).is_none() {
            bus.command(who, Command::Vote { motion, approve: true }).unwrap();
            bus.pass(5);
        }
    }
    for who in 0..4 {
        assert!(!bus.players[who].transcript.roster().is_member(&member));
        assert_eq!((went(&bus, who, &member), goes(&bus, who)), (Some(true), Vec::new()));
    }
    assert_eq!(bus.command(dora, Command::Leave(Force::No)), Err(AdmissionError::LocalNotMember(member)));
}

#[test]
fn adm_95_whoever_asked_to_leave_takes_it_back_and_an_expulsion_stays_one() {
    let (mut bus, dora) = with_dora(Scheme::Plain);
    let member = bus.players[dora].identity.member();
    bus.command(dora, Command::Leave(Force::No)).unwrap();
    bus.pass(2);
    let motion = bus.status(1).proposals[0].proposal;
    bus.command(dora, Command::Withdraw(motion)).unwrap();
    bus.pass(2);
    assert!((0..=dora).all(|who| goes(&bus, who).is_empty()));
    bus.command(0, Command::Expel(member)).unwrap();
    bus.pass(2);
    assert_eq!(goes(&bus, 1), [(member, false)]);
    let motion = bus.status(1).proposals[0].proposal;
    for who in 1..4 {
        if went(&bus, 0, &member).is_none() {
            bus.command(who, Command::Vote { motion, approve: true }).unwrap();
            bus.pass(5);
        }
    }
    assert_eq!(went(&bus, 3, &member), Some(false));
}

/// A voter wants dora out, and tells the others that she asked for it.
#[test]
fn adm_95_nobody_asks_to_leave_for_another() {
    let (mut bus, dora) = with_dora(Scheme::Plain);
    let (liar, member) = (bus.players[1].identity.clone(), bus.players[dora].identity.member());
    let transcript = &bus.players[1].transcript;
    let (group, since) = (transcript.group(), transcript.state().head().number);
    let until = UnixTime(bus.time.0 + 3_600);
    let of_liar = Leave::sign(liar.key(), group, since, until);
    let lie: Effect = Change::Leave(Leave { member, ..of_liar }).into();
    let unsigned = Unfit::Leave("that member has not signed it");
    let refused = bus.command(1, Command::Propose(lie.clone()));
    assert_eq!(refused, Err(AdmissionError::LocalDecision(unsigned.clone())));
    let payload = open(&OpenMessage::Proposal { effect: lie });
    for who in [0, 2, 3] {
        let heard = bus.input(who, Input::Open { sender: liar.member(), payload: payload.clone() });
        assert_eq!(heard, Err(AdmissionError::PeerDecision(unsigned.clone())));
    }
    bus.pass(5);
    assert!((0..=dora).all(|who| goes(&bus, who).is_empty()));
    // Her own word, but from another group, or of a time that is over.
    let key = bus.players[dora].identity.key().clone();
    let foreign = Leave::sign(&key, folkmoot_base::GroupId([1; 32]), since, until);
    let over = Leave::sign(&key, group, since, UnixTime(1));
    for leave in [foreign, over] {
        let payload = open(&OpenMessage::Proposal { effect: Change::Leave(leave).into() });
        let heard = bus.input(0, Input::Open { sender: liar.member(), payload });
        assert!(matches!(heard, Err(AdmissionError::PeerDecision(Unfit::Leave(_)))), "{heard:?}");
    }
}
