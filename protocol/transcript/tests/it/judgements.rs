//! What is done by judgements, and nothing without those of a quorum.

use crate::ballots::{other, wanted, wanting};
use crate::group::{DAY, Group, field, fresh, remove};
use crate::judging::RULE_AND;
use crate::voter::{
    Voter, judged, judgements, promise, proposal, say_judgement, say_promise, say_promise_with, talk, told,
};
use folkmoot_base::{Danger, UnixTime};
use folkmoot_transcript::{
    Approval, BallotMessage, Batch, Decision, Effect, Proposal, Unproposed, admission,
};

#[test]
fn line_66_nobody_commits_before_a_quorum_has_judged() {
    for (danger, commits) in RULE_AND(Danger::LineNoJudgements) {
        let (group, effect) = wanting();
        let one = fresh(wanted(&group, &effect));
        let mut voter = Voter::from_disk(&group, 3, None, danger);
        voter.hear(&group, 0, &told(&group, &one)).unwrap();
        voter.hear(&group, 0, &say_judgement(&group, 1, one.report())).unwrap();
        assert_eq!((voter.judgements().len(), voter.commits().len()), (1, commits));
        voter.hear(&group, 0, &say_judgement(&group, 2, one.report())).unwrap();
        assert_eq!(voter.commits(), [one.report()], "three of four have, its own among them");
    }
}

/// Its own judgement may be the last that is missing: then it waits for nothing.
#[test]
fn line_66_whoever_makes_the_quorum_commits_at_once() {
    let (group, effect) = wanting();
    let one = fresh(wanted(&group, &effect));
    let mut voter = Voter::new(&group, 3);
    for person in [1, 2] {
        voter.hear(&group, 0, &say_judgement(&group, person, one.report())).unwrap();
    }
    voter.hear(&group, 0, &told(&group, &one)).unwrap();
    let said: Vec<bool> =
        voter.said.iter().map(|said| matches!(said, BallotMessage::Judgement { .. })).collect();
    assert_eq!((said, voter.commits()), (vec![true, false], vec![one.report()]));
}

#[test]
fn line_66_what_a_quorum_has_judged_is_committed_to_by_any_clock() {
    let (group, effect) = wanting();
    let one = fresh(wanted(&group, &effect));
    for seconds in [301, 90 * DAY] {
        let mut voter = Voter::new(&group, 3);
        voter.hear_judged(&group, seconds, &one);
        assert_eq!((voter.judgements().len(), voter.commits().len()), (0, 1));
    }
}

/// What it has judged may be decided by others for long, so it goes on with ballots, although
/// nothing is due any more.
#[test]
fn line_66_a_judgement_is_said_again_and_a_restart_forgets_none() {
    for (danger, rests) in RULE_AND(Danger::LineJudgedRests) {
        let (group, effect) = wanting();
        let one = fresh(wanted(&group, &effect));
        let mut voter = Voter::new(&group, 3);
        voter.hear(&group, 0, &told(&group, &one)).unwrap();
        assert_eq!(voter.record.as_ref().unwrap().judged, Some(one.report()));
        voter.resend(&group, 1);
        assert_eq!(voter.judgements(), [one.report(); 2]);
        let mut late = group.another();
        late.now += 40 * DAY;
        let mut again = Voter::from_disk(&late, 3, voter.record.clone(), danger);
        again.resend(&late, 1);
        assert_eq!(again.judgements(), [one.report()]);
        let mut idle = Voter::new(&late, 3);
        for voter in [&mut again, &mut idle] {
            voter.work(&late, 1);
            voter.work(&late, 5);
        }
        assert_eq!((again.promised().len(), idle.promised().len()), (1 - rests, 0));
    }
}

#[test]
fn line_66_a_flood_of_judgements_hides_none_and_makes_no_quorum() {
    let (group, effect) = wanting();
    let one = fresh(wanted(&group, &effect));
    let mut voter = Voter::new(&group, 3);
    for number in 0..200_u8 {
        let report = folkmoot_transcript::Report { ballot: u32::from(number % 4), decision: [number; 32] };
        voter.hear(&group, 0, &say_judgement(&group, 0, report)).unwrap();
        assert_eq!(voter.ballots.knows(&say_judgement(&group, 0, report)), number < 8, "two of a ballot");
    }
    voter.hear(&group, 0, &say_judgement(&group, 7, one.report())).unwrap();
    voter.hear(&group, 0, &told(&group, &one)).unwrap();
    voter.hear(&group, 0, &say_judgement(&group, 1, one.report())).unwrap();
    assert_eq!(voter.commits(), [], "one of the three has no vote");
    voter.hear(&group, 0, &say_judgement(&group, 2, one.report())).unwrap();
    assert_eq!(voter.commits(), [one.report()]);
}

#[test]
fn line_68_what_is_followed_comes_with_judgements_of_a_quorum() {
    let (group, effect) = wanting();
    let one = fresh(wanted(&group, &effect));
    let promises = vec![promise(0, Some(one.report())), promise(1, None), promise(2, None)];
    let follows = proposal(&one.decision, &[(0, vec![]), (1, promises)]);
    let hear = |message: &BallotMessage, danger| {
        let mut voter = Voter::from_disk(&group, 3, None, danger);
        let heard = voter.hear(&group, 0, message);
        (heard, voter.commits().len())
    };
    let said = |judgements| BallotMessage::Proposal { proposal: follows.clone(), judgements };
    let reported = |judgements| say_promise_with(&group, 0, 1, Some(&one), judgements);
    let mut twice = judgements(&[1, 2]);
    twice.push(twice[1].clone());
    let mut unsorted = judgements(&[0, 1, 2]);
    unsorted.reverse();
    for few in [Vec::new(), judgements(&[1, 2]), judgements(&[1, 2, 5]), twice, unsorted] {
        assert_eq!(hear(&said(few.clone()), None), (Err(Unproposed::Judgements), 0));
        assert_eq!(hear(&reported(few.clone()), None), (Err(Unproposed::Judgements), 0));
        assert_eq!(hear(&said(few.clone()), Some(Danger::LineNoJudgements)), (Ok(()), 1));
        assert_eq!(hear(&reported(few), Some(Danger::LineNoJudgements)), (Ok(()), 1));
    }
    assert_eq!(hear(&said(judgements(&[1, 2, 3])), None), (Ok(()), 1));
    assert_eq!(hear(&reported(judgements(&[0, 1])), None), (Ok(()), 1), "half, with the first");
    // What is fresh brings none, and a promise without a report neither.
    let fresh_with = BallotMessage::Proposal { proposal: one.clone(), judgements: judged(&group) };
    assert_eq!(hear(&fresh_with, None), (Err(Unproposed::Judgements), 0));
    let silent = say_promise_with(&group, 0, 1, None, judged(&group));
    assert_eq!(hear(&silent, None), (Err(Unproposed::Judgements), 0));
}

/// A voter that was stopped after it committed still shows by whose judgements.
#[test]
fn line_68_a_commit_is_shown_with_its_judgements_after_a_restart() {
    let (group, effect) = wanting();
    let one = fresh(wanted(&group, &effect));
    let mut first = Voter::new(&group, 3);
    first.hear_judged(&group, 0, &one);
    let mut again = Voter::from_disk(&group, 3, first.record.clone(), None);
    again.work(&group, 1);
    again.work(&group, 5);
    let promise = again.said.iter().find(|said| matches!(said, BallotMessage::Promise { .. })).unwrap();
    let mut owner = Voter::new(&group, 1);
    owner.work(&group, 1);
    owner.work(&group, 5);
    owner.hear(&group, 5, promise).unwrap();
    owner.hear(&group, 5, &say_promise(&group, 2, 1, None)).unwrap();
    let made = owner.said.iter().find(|said| matches!(said, BallotMessage::Proposal { .. })).unwrap();
    let mut third = Voter::new(&group, 2);
    third.hear(&group, 90 * DAY, made).unwrap();
    assert_eq!(third.commits().len(), 1);
}

/// The owner of ballot 0 signs a fresh proposal with the time of its choice, says that it has
/// committed to that, and judges it alone. Whether the others, who have known the set for a minute,
/// decide it.
fn is_followed(group: &Group, lie: &Decision, danger: Option<Danger>) -> bool {
    let lie = fresh(lie.clone());
    let mut all = [1, 2, 3].map(|person| Voter::from_disk(group, person, None, danger));
    for voter in &mut all {
        voter.work(group, 0);
        voter.work(group, 60);
        voter.hear(group, 60, &told(group, &lie)).unwrap();
        voter.hear(group, 60, &say_judgement(group, 0, lie.report())).unwrap();
        for ballot in 1..4 {
            let promise = say_promise_with(group, 0, ballot, Some(&lie), judgements(&[0]));
            let heard = voter.hear(group, 60, &promise);
            assert_eq!(heard.is_err(), danger.is_none(), "{heard:?}");
        }
    }
    talk(group, &mut all, 60, 60);
    let stood = all.iter().filter_map(|voter| voter.stands.as_ref());
    stood.map(|standing| &standing.proposal).any(|stood: &Proposal| stood.decision == lie.decision)
}

#[test]
fn line_68_votes_that_ran_out_expel_nobody_by_a_report() {
    let mut group = Group::new(4, 2);
    let effect = Effect::from(remove(3));
    group.want(&effect, &[0, 1, 2]);
    let approved = group.approved(&effect, &[0, 1, 2]);
    let time = UnixTime(approved.proofs[0].expires.0);
    group.now = time.0 + 30 * DAY;
    let lie = group.decide(Batch { time, effects: vec![approved], ..Batch::default() }).unwrap();
    assert!(!is_followed(&group, &lie, None));
    assert!(is_followed(&group, &lie, Some(Danger::LineNoJudgements)));
}

#[test]
fn line_68_nobody_leaves_out_its_own_expulsion_by_a_report() {
    let mut group = Group::new(4, 2);
    group.want(&Effect::from(remove(0)), &[1, 2, 3]);
    group.now += 60;
    let lie = other(&mut group);
    group.now -= 60;
    assert!(!is_followed(&group, &lie, None));
    assert!(is_followed(&group, &lie, Some(Danger::LineNoJudgements)));
}

#[test]
fn line_68_a_no_that_was_taken_back_refuses_nobody_by_a_report() {
    let mut group = crate::admissions::with_objections(2);
    let admit = group.ask(5);
    group.welcome(&admit, &[1, 2]);
    let refusals = vec![group.refused(admit.request, &[1, 2])];
    for person in [1, 2] {
        let yes = group.yes(person, admission(admit.request));
        assert!(group.take(Approval { turn: 1, ..yes }), "it was a no before");
    }
    let time = UnixTime(group.now + 60);
    let lie = group.decide(Batch { time, refusals, ..Batch::default() }).unwrap();
    assert!(!is_followed(&group, &lie, None));
    assert!(is_followed(&group, &lie, Some(Danger::LineNoJudgements)));
}

/// In how many message delays everybody has the decision, and how often each voter signed.
fn cost(danger: Option<Danger>) -> (usize, Vec<usize>) {
    let mut group = Group::new(5, 2);
    group.want(&Effect::from(field("request_hours", "24")), &[0, 1, 2]);
    let voter = |person| Voter::from_disk(&group, person, None, danger);
    let mut all: Vec<Voter> = (0..5).map(voter).collect();
    all.iter_mut().for_each(|voter| voter.work(&group, 0));
    let mut told = vec![0; all.len()];
    let mut delays = 0;
    while all.iter().any(|voter| voter.stands.is_none()) {
        let news: Vec<Vec<BallotMessage>> =
            all.iter().zip(&told).map(|(voter, told)| voter.said[*told..].to_vec()).collect();
        told = all.iter().map(|voter| voter.said.len()).collect();
        for message in news.iter().flatten() {
            all.iter_mut().for_each(|voter| voter.hear(&group, 0, message).unwrap());
        }
        delays += 1;
        assert!(delays < 9, "nothing is decided");
    }
    (delays, all.iter().map(|voter| voter.said.len()).collect())
}

/// Each message has one signature: the owner's proposal, and everybody's judgement and commit.
#[test]
fn line_66_judgements_cost_one_message_delay_and_one_signature_of_each_voter() {
    assert_eq!(cost(None), (3, vec![3, 2, 2, 2, 2]));
    assert_eq!(cost(Some(Danger::LineNoJudgements)).0, 2);
}
