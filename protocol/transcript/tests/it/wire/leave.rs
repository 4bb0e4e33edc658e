//! Who left for good by its own wish, and who was expelled: neither can be taken for the other.

use super::{Group, LATER, NOW, remove};
use folkmoot_base::{Danger, Mutant, UnixTime};
use folkmoot_identity::Identity;
use folkmoot_transcript::{
    Approved, BallotMessage, Change, Effect, Item, ItemError, Leave, Transcript, Unfit,
};

fn wish(of: &Identity, group: &Group) -> Leave {
    Leave::sign(of.key(), group.first().group(), group.first().state().head().number, LATER)
}

fn effect(leave: Leave) -> Effect {
    Change::Leave(leave).into()
}

/// What stood, by which decision, of whoever went.
fn departures(transcript: &Transcript) -> Vec<Change> {
    let all = transcript.line().decisions().values();
    let effects = all.flat_map(|standing| &standing.proposal.decision.effects);
    effects.map(|approved| approved.effect.change.clone()).filter(|change| change.goes().is_some()).collect()
}

#[test]
fn line_93_a_member_leaves_over_its_own_signature() {
    let mut group = Group::new(4, 2);
    let leave = effect(wish(&group.people[3], &group));
    assert_eq!(group.first().would_stand(&leave), Ok(()));
    group.approve(&leave, &[0, 1]);
    let stood = group.decide(&[0, 1, 2]);
    assert!(!stood.is_empty());
    let transcript = group.first();
    assert!(!transcript.roster().is_member(&group.id(3)));
    assert_eq!(departures(transcript), core::slice::from_ref(&leave.change));
    // As an expelled one, it comes back by an admission alone.
    assert_eq!(transcript.state().removed_at(&group.id(3)), 1);
    assert_eq!(
        transcript.would_stand(&leave),
        Err(Unfit::Leave("it is from before that member was admitted again"))
    );
}

/// A voter says of somebody whom it wants out that it asked to leave.
fn claims_a_wish(danger: Option<Danger>) -> bool {
    let group = Group::new(4, 2);
    let mut transcript = group.first().clone();
    transcript.endanger(Mutant::from(danger));
    let of_liar = wish(&group.people[0], &group);
    let lie = effect(Leave { member: group.id(3), ..of_liar });
    let approval = group.approval(0, lie.subject(), 0, folkmoot_identity::Verdict::Approve);
    transcript.take(&Item::Approval(approval).encode(), Some(NOW)).unwrap();
    let (shown, taken) =
        (transcript.would_stand(&lie), transcript.take(&Item::Effect(lie).encode(), Some(NOW)));
    assert_eq!(shown.is_ok(), taken.is_ok());
    match taken {
        Ok(taken) => taken.new,
        Err(error) => {
            assert_eq!(error, ItemError::Signature(group.id(3)));
            false
        }
    }
}

#[test]
fn line_93_nobody_says_of_another_that_it_left() {
    assert!(!claims_a_wish(None));
    assert!(claims_a_wish(Some(Danger::LineAnyLeave)), "the rule is off, and the liar succeeds");
    let group = Group::new(4, 2);
    let good = wish(&group.people[3], &group);
    let longer = Leave { until: UnixTime(LATER.0 + 1), ..good.clone() };
    let later = Leave { since: good.since + 1, ..good.clone() };
    let of_ben = wish(&group.people[1], &group);
    let mixed = Leave { proof: of_ben.proof, ..good.clone() };
    let foreign = Leave::sign(group.people[3].key(), folkmoot_base::GroupId([7; 32]), good.since, LATER);
    for bad in [longer, later, mixed, foreign] {
        assert!(!bad.is_signed(&group.first().group()));
        let refused = group.first().clone().take(&Item::Effect(effect(bad)).encode(), Some(NOW));
        assert_eq!(refused, Err(ItemError::Signature(group.id(3))));
    }
    assert!(good.is_signed(&group.first().group()));
}

/// Approvals do not cover the signature: the owner of a ballot could leave it out.
#[test]
fn line_93_a_decision_carries_the_word_of_whoever_leaves() {
    let mut group = Group::new(4, 2);
    let before = group.first().clone();
    let good = effect(wish(&group.people[3], &group));
    group.approve(&good, &[0, 1]);
    let stood = group.decide(&[0, 1, 2]);
    let Item::Decision(standing) = &stood[0] else { panic!() };
    let mut bad = standing.clone();
    let Change::Leave(leave) = &mut bad.proposal.decision.effects[0].effect.change else { panic!() };
    leave.proof = wish(&group.people[0], &group).proof;
    let refused = before
        .check_message(&BallotMessage::Proposal { proposal: bad.proposal.clone(), judgements: Vec::new() })
        .unwrap_err();
    assert_eq!(refused, ItemError::Signature(group.id(3)));
    assert!(before.clone().take(&Item::Decision(bad).encode(), Some(NOW)).is_err());
    assert!(before.clone().take(&stood[0].encode(), Some(NOW)).unwrap().advanced);
}

/// The other way round: what was approved as a departure is decided as an expulsion, or an
/// expulsion as a departure. The approvals name what their voters saw.
#[test]
fn line_93_a_departure_is_not_decided_as_an_expulsion_nor_the_other_way_round() {
    let mut group = Group::new(4, 2);
    let before = group.first().clone();
    let (leave, expel) = (effect(wish(&group.people[3], &group)), remove(group.id(3)));
    assert_ne!(leave.subject(), expel.subject());
    group.approve(&leave, &[0, 1]);
    let stood = group.decide(&[0, 1, 2]);
    let Item::Decision(standing) = &stood[0] else { panic!() };
    let mut turned = standing.clone();
    let proofs = turned.proposal.decision.effects[0].proofs.clone();
    turned.proposal.decision.effects = vec![Approved { effect: expel.clone(), proofs }];
    assert!(before.clone().take(&Item::Decision(turned).encode(), Some(NOW)).is_err());

    let mut group = Group::new(4, 2);
    group.approve(&expel, &[0, 1]);
    let stood = group.decide(&[0, 1, 2]);
    let Item::Decision(standing) = &stood[0] else { panic!() };
    let mut turned = standing.clone();
    let proofs = turned.proposal.decision.effects[0].proofs.clone();
    turned.proposal.decision.effects = vec![Approved { effect: leave, proofs }];
    assert!(before.clone().take(&Item::Decision(turned).encode(), Some(NOW)).is_err());
    assert_eq!(departures(group.first()), [expel.change]);
}

#[test]
fn a_file_with_a_departure_reads_back() {
    let mut group = Group::new(4, 2);
    let leave = effect(wish(&group.people[3], &group));
    group.approve(&leave, &[0]);
    let of_ben = effect(wish(&group.people[2], &group));
    group.approve(&of_ben, &[0, 1]);
    group.decide(&[0, 1, 3]);
    assert!(!group.first().roster().is_member(&group.id(2)));
    assert_eq!(group.first().set().effect(&leave.subject()), Some(&leave));
    let file = group.first().file();
    let read = super::file::read(&super::file::charter(&group), Vec::new(), &file, 9_999).unwrap();
    assert_eq!(read.mark(), group.first().mark());
}
