//! Whose word on the next decision is heard. Method: as in `deciding.rs`.

use crate::common::{Bus, change};
use crate::deciding::{approve, judged, number, proposed, say, sign, told, without_proposals};
use folkmoot_admission::{AdmissionError, Input};
use folkmoot_base::{Head, MemberId, digest};
use folkmoot_identity::Identity;
use folkmoot_transcript::{
    BallotMessage, Change, Commit, ItemError, Promise, Proposal, Report, Stage, Statement, Unproposed,
};

/// What somebody would say about the decision after this head.
fn words(bus: &Bus, who: &Identity, parent: Head, proposal: &Proposal) -> Vec<BallotMessage> {
    let (voter, report) = (who.member(), Report { ballot: 0, decision: proposal.decision.digest() });
    let promise = Statement::Promise { parent, ballot: 1, report: None };
    let promise = Promise { voter, report: None, signature: sign(bus, who, &promise) };
    let commit = Statement::Commit { parent, ballot: 0, decision: report.decision };
    let commit = Commit { voter, signature: sign(bus, who, &commit) };
    let none = digest(&[b"folkmoot promises v1\0"]);
    let own = Statement::Propose { parent, ballot: 0, decision: report.decision, promises: none };
    let stage = Stage { ballot: 0, promises: Vec::new(), signature: sign(bus, who, &own) };
    vec![
        BallotMessage::Promise { parent, ballot: 1, promise, report: None, judgements: Vec::new() },
        BallotMessage::Commit { parent, report, commit },
        told(Proposal { stages: vec![stage], ..proposal.clone() }),
        judged(bus, who, proposal),
    ]
}

/// Enough approve of something, and nobody hears what the owner proposes.
fn about_to_decide(bus: &mut Bus) -> Proposal {
    let said = without_proposals(bus);
    approve(bus, &[0, 1], &change("certificate_days", "40"));
    proposed(&said, 0)
}

fn refused(bus: &mut Bus, who: usize, input: Input) -> Unproposed {
    match bus.input(who, input) {
        Err(AdmissionError::PeerBallot(ItemError::Decision(why))) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn adm_35_a_former_voter_is_not_heard_on_the_next_decision() {
    let mut bus = Bus::new(4, 2);
    let members: Vec<MemberId> = bus.players.iter().map(|player| player.identity.member()).collect();
    let three = Change::Electorate { voters: members[..3].to_vec() };
    approve(&mut bus, &[0, 1], &three.into());
    assert!((0..4).all(|who| number(&bus, who) == 1));
    let proposal = about_to_decide(&mut bus);
    let dan = crate::common::person("founder4", 4);
    assert!(bus.players[2].transcript.roster().is_member(&dan.member()), "a member still");
    let owner = bus.players[2].transcript.state().owner(0);
    let parent = bus.players[2].transcript.state().head();
    for message in words(&bus, &dan, parent, &proposal) {
        let claimed = if matches!(message, BallotMessage::Proposal { .. }) { owner } else { dan.member() };
        assert_eq!(refused(&mut bus, 2, say(&dan, message)), Unproposed::Signature(claimed));
    }
    // Of an expelled one not even the message is opened.
    bus.tamper = None;
    bus.pass(5);
    approve(&mut bus, &[0, 1], &Change::Remove { member: dan.member() }.into());
    bus.pass(5);
    let parent = bus.players[2].transcript.state().head();
    for message in words(&bus, &dan, parent, &proposal) {
        assert_eq!(bus.input(2, say(&dan, message)), Err(AdmissionError::PeerNotMember(dan.member())));
    }
}

#[test]
fn adm_35_a_forged_ballot_message_is_refused() {
    let mut bus = Bus::new(3, 2);
    let proposal = about_to_decide(&mut bus);
    let parent = proposal.parent();
    let [anna, ben] = [1, 2].map(|seed| crate::common::person(&format!("founder{seed}"), seed));
    let carl = bus.players[2].identity.member();
    for message in words(&bus, &ben, parent, &proposal) {
        let (mut forged, mut named) = (message, anna.member());
        match &mut forged {
            BallotMessage::Promise { promise, .. } => promise.voter = anna.member(),
            BallotMessage::Commit { commit, .. } => commit.voter = anna.member(),
            // Anna's own has been heard, and another of it says no more.
            BallotMessage::Judgement { judgement, .. } => {
                named = carl;
                judgement.voter = named;
            }
            BallotMessage::Proposal { .. } => {}
        }
        assert_eq!(refused(&mut bus, 2, say(&ben, forged)), Unproposed::Signature(named));
    }
    // The owner's own proposal, with an approval that its voter has not given so.
    let mut altered = words(&bus, &anna, parent, &proposal).remove(2);
    let BallotMessage::Proposal { proposal: inner, .. } = &mut altered else { panic!("a proposal") };
    inner.decision.effects[0].proofs[0].expires.0 += 1;
    let statement = Statement::Propose {
        parent,
        ballot: 0,
        decision: inner.report().decision,
        promises: digest(&[b"folkmoot promises v1\0"]),
    };
    inner.stages[0].signature = sign(&bus, &anna, &statement);
    let voter = inner.decision.effects[0].proofs[0].voter;
    let heard = bus.input(2, say(&anna, altered));
    assert_eq!(heard, Err(AdmissionError::PeerBallot(ItemError::Signature(voter))));
    // Unaltered it is heard, and the decision is made.
    bus.tamper = None;
    bus.everyone(&say(&anna, told(proposal)));
    bus.settle();
    assert_eq!(number(&bus, 2), 1);
}

#[test]
fn adm_35_what_was_heard_is_not_verified_again() {
    let mut bus = Bus::new(3, 2);
    let proposal = about_to_decide(&mut bus);
    let (parent, ben) = (proposal.parent(), crate::common::person("founder2", 2));
    let forged = say(&ben, words(&bus, &ben, parent, &proposal).remove(2));
    assert!(bus.input(2, forged.clone()).is_err());
    bus.input(2, say(&ben, told(proposal))).unwrap();
    assert_eq!(bus.input(2, forged), Ok(()));
}
