//! What voters propose, promise and commit to.

use crate::group::{Group, field, forced, fresh, member};
use crate::voter::{Voter, promise, proposal, say_commit, say_judgement, say_promise, talk, told};
use folkmoot_base::Danger;
use folkmoot_transcript::{Approval, BallotMessage, Batch, Decision, Effect, Report, Unproposed, admission};

/// A group of four founders in which three want a change, and its voters.
pub(crate) fn wanting() -> (Group, Effect) {
    let mut group = Group::new(4, 2);
    let effect = Effect::from(field("request_hours", "24"));
    group.want(&effect, &[0, 1, 2]);
    (group, effect)
}

pub(crate) fn voters(group: &Group, people: &[usize]) -> Vec<Voter> {
    people.iter().map(|person| Voter::new(group, *person)).collect()
}

pub(crate) fn wanted(group: &Group, effect: &Effect) -> Decision {
    group.decision(effect.clone(), &[0, 1, 2]).unwrap()
}

/// A decision that leaves the change out: it only holds an admission.
pub(crate) fn other(group: &mut Group) -> Decision {
    let admit = group.ask(5);
    group.welcome(&admit, &[0, 1, 2]);
    group.decide(Batch { holds: vec![admit.request], ..group.batch() }).unwrap()
}

#[test]
fn what_enough_approve_is_decided_in_ballot_0() {
    let (group, effect) = wanting();
    let mut all = voters(&group, &[0, 1, 2, 3]);
    talk(&group, &mut all, 0, 3);
    for voter in &all {
        let standing = voter.stands.as_ref().unwrap();
        assert_eq!(standing.proposal.ballot(), 0);
        assert_eq!(standing.proposal.decision.effects[0].effect, effect);
        let mut group = group.another();
        group.apply(standing.clone()).unwrap();
        assert_eq!(group.state().charter().request_hours(), 24);
    }
}

#[test]
fn an_absent_owner_is_passed_over() {
    let (group, _) = wanting();
    let mut all = voters(&group, &[1, 2, 3]);
    talk(&group, &mut all, 0, 20);
    assert!(all.iter().all(|voter| voter.stands.is_some()));
    assert!(all.iter().all(|voter| voter.stands.as_ref().unwrap().proposal.ballot() > 0));
}

#[test]
fn line_66_a_voter_keeps_two_proposals_of_one_ballot_and_any_that_is_reported() {
    let (group, effect) = wanting();
    let decision = |hours: u64| {
        let later = Batch { time: folkmoot_base::UnixTime(group.now + hours), ..group.batch() };
        let effects = vec![group.approved(&effect, &[0, 1, 2])];
        fresh(group.decide(Batch { effects, ..later }).unwrap())
    };
    let [first, second, third] = [decision(1), decision(2), decision(3)];
    let mut voter = Voter::new(&group, 3);
    for one in [&first, &second, &third] {
        voter.hear(&group, 0, &told(&group, one)).unwrap();
    }
    let known = voter.ballots.status().proposed;
    assert!(known.contains_key(&first.report()) && !known.contains_key(&third.report()));
    voter.hear(&group, 0, &say_promise(&group, 0, 1, Some(&third))).unwrap();
    assert!(voter.ballots.status().proposed.contains_key(&third.report()));
}

#[test]
fn line_66_a_decision_that_does_not_follow_is_refused_and_one_with_gaps_is_asked_for() {
    let (mut group, effect) = wanting();
    let mut voter = Voter::new(&group, 3);
    let good = wanted(&group, &effect);
    let bad = Decision { state: [9; 32], ..good.clone() };
    let refused = voter.hear(&group, 0, &told(&group, &fresh(bad)));
    assert!(matches!(refused, Err(Unproposed::Decision(_))));
    let elsewhere = group.another();
    let held = other(&mut group);
    voter.hear(&elsewhere, 0, &told(&group, &fresh(held))).unwrap();
    assert_eq!((voter.missing, voter.judgements()), (1, vec![]));
    voter.hear(&elsewhere, 0, &told(&group, &fresh(good.clone()))).unwrap();
    assert_eq!(voter.judgements(), [fresh(good).report()]);
}

#[test]
fn line_66_a_voter_commits_once_in_a_ballot() {
    for (danger, once) in [(None, true), (Some(Danger::LineTwoCommits), false)] {
        let (mut group, effect) = wanting();
        let (one, two) = (wanted(&group, &effect), other(&mut group));
        let mut voter = Voter::from_disk(&group, 3, None, danger);
        for decision in [one, two] {
            voter.hear_judged(&group, 0, &fresh(decision));
        }
        assert_eq!(voter.commits().len() == 1, once);
    }
}

#[test]
fn line_66_a_voter_commits_in_no_ballot_below_its_promise() {
    for (danger, commits) in [(None, 0), (Some(Danger::LineBelowPromise), 1)] {
        let (group, effect) = wanting();
        let mut voter = Voter::from_disk(&group, 3, None, danger);
        voter.work(&group, 0);
        voter.work(&group, 4);
        assert_eq!(voter.promised(), [1]);
        voter.hear_judged(&group, 4, &fresh(wanted(&group, &effect)));
        assert_eq!((voter.judgements().len(), voter.commits().len()), (1, commits), "it may judge");
        // The disk keeps it.
        let mut again = Voter::from_disk(&group, 3, voter.record.clone(), danger);
        again.hear_judged(&group, 4, &fresh(wanted(&group, &effect)));
        assert_eq!(again.commits(), []);
    }
}

#[test]
fn line_66_what_a_voter_said_before_its_disk_was_restored_binds_it() {
    let (group, effect) = wanting();
    let one = fresh(wanted(&group, &effect));
    let mut voter = Voter::new(&group, 3);
    voter.hear(&group, 0, &say_promise(&group, 3, 2, Some(&one))).unwrap();
    let record = voter.record.clone().unwrap();
    assert_eq!((record.promised, record.committed.as_ref()), (2, Some(&one)));
    voter.hear_judged(&group, 0, &one);
    assert_eq!(voter.commits(), []);
}

#[test]
fn line_66_a_voter_that_owes_a_commit_promises_nothing_until_it_knows_to_what() {
    let (group, effect) = wanting();
    let one = fresh(wanted(&group, &effect));
    let mut voter = Voter::new(&group, 3);
    voter.hear(&group, 0, &say_commit(&group, 3, one.report())).unwrap();
    voter.work(&group, 1);
    voter.work(&group, 90);
    assert_eq!(voter.promised(), [0_u32; 0], "a promise would leave the commit out");
    // Over a restart, too.
    let mut voter = Voter::from_disk(&group, 3, voter.record.clone(), None);
    voter.hear(&group, 100, &told(&group, &one)).unwrap();
    assert_eq!(voter.record.as_ref().unwrap().committed.as_ref(), None, "nobody would believe it");
    voter.hear_judged(&group, 100, &one);
    let record = voter.record.as_ref().unwrap();
    assert_eq!((record.committed.as_ref(), record.judgements.len()), (Some(&one), 2), "with the first");
    voter.work(&group, 101);
    voter.work(&group, 200);
    assert_eq!(voter.promised().len(), 1);
}

#[test]
fn line_68_a_report_comes_with_the_proposal_that_it_is_of() {
    let (group, effect) = wanting();
    let one = fresh(wanted(&group, &effect));
    let mut voter = Voter::new(&group, 1);
    let mut bare = say_promise(&group, 0, 1, Some(&one));
    if let BallotMessage::Promise { report, judgements, .. } = &mut bare {
        *report = None;
        judgements.clear();
    }
    assert_eq!(voter.hear(&group, 0, &bare), Err(Unproposed::NotHighest));
    // Nor may it be of the ballot that is promised.
    let of_1 = proposal(&one.decision, &[(1, [0, 1, 2].map(|who| promise(who, None)).to_vec())]);
    let same = say_promise(&group, 0, 1, Some(&of_1));
    assert_eq!(voter.hear(&group, 0, &same), Err(Unproposed::Promises));
    voter.hear(&group, 0, &say_promise(&group, 0, 1, Some(&one))).unwrap();
    assert!(voter.ballots.status().proposed.contains_key(&one.report()));
}

#[test]
fn line_68_nobody_promises_far_beyond_what_is_proven() {
    let (group, _) = wanting();
    let mut voter = Voter::new(&group, 1);
    for (person, ballot) in [(2, 1000), (3, 999)] {
        voter.hear(&group, 0, &say_promise(&group, person, ballot, None)).unwrap();
    }
    voter.work(&group, 60);
    assert!(voter.promised().iter().all(|ballot| *ballot <= 4), "{:?}", voter.promised());
}

#[test]
fn line_63_a_later_owner_follows_what_is_reported() {
    for (danger, follows) in [(None, true), (Some(Danger::LineOwnChoice), false)] {
        let (mut group, effect) = wanting();
        let one = fresh(wanted(&group, &effect));
        other(&mut group);
        let mut owner = Voter::from_disk(&group, 1, None, danger);
        owner.work(&group, 0);
        owner.work(&group, 4);
        owner.hear(&group, 4, &say_promise(&group, 0, 1, Some(&one))).unwrap();
        owner.hear(&group, 4, &say_promise(&group, 3, 1, None)).unwrap();
        let made = owner.proposals();
        assert_eq!(made.last().map(|made| made.decision == one.decision), Some(follows));
    }
}

/// One voter owns a ballot, proposes to hold a stranger whom nobody approves, and reports that it
/// committed to that, with judgements of a quorum that lies. Owners who believed the report would
/// have to propose it again.
#[test]
fn line_06_a_false_report_lets_nobody_in() {
    for (danger, holds) in [(None, 0), (Some(Danger::LineTrustsReports), 1)] {
        let mut group = Group::new(4, 2);
        let stranger = group.ask(7);
        group.take_admit(&stranger);
        group.want(&forced(field("request_hours", "24")), &[1, 2, 3]);
        let lie = group.decide(Batch { holds: vec![stranger.request], ..group.batch() }).unwrap();
        let mut all = [1, 2, 3].map(|person| Voter::from_disk(&group, person, None, danger));
        for voter in &mut all {
            voter.hear(&group, 0, &say_promise(&group, 0, 1, Some(&fresh(lie.clone())))).unwrap();
        }
        talk(&group, &mut all, 0, 30);
        for voter in &all {
            let decision = &voter.stands.as_ref().unwrap().proposal.decision;
            assert_eq!((decision.holds.len(), decision.effects.len()), (holds, 1 - holds));
        }
    }
}

/// A voter takes back its yes after somebody has committed to a decision with it. That commit must
/// still be told and followed: otherwise a voter that nobody hears any more stops the group.
#[test]
fn line_06_a_yes_that_was_taken_back_lets_a_commit_be_followed() {
    let mut group = Group::new(4, 2);
    let admit = group.ask(5);
    group.welcome(&admit, &[0, 3]);
    let decision = group.decide(Batch { holds: vec![admit.request], ..group.batch() }).unwrap();
    let no = group.no(3, admission(admit.request));
    let no_first = |yes_last: bool| {
        let mut other = Group::new(4, 2);
        let yes = other.yes(3, admission(admit.request));
        other.welcome(&admit, &[0]);
        other.take(Approval { turn: 1, ..no });
        assert_eq!(other.take(yes), yes_last, "kept, although it does not stand");
        other
    };
    let others = no_first(true);
    group.take(Approval { turn: 1, ..no });
    assert_eq!(group.line.mark(), others.line.mark());
    assert!(!group.is_member(5));
    let committed = fresh(decision.clone());
    let mut all = voters(&group, &[1, 2]);
    for voter in &mut all {
        voter.hear(&group, 0, &told(&group, &committed)).unwrap();
        assert_eq!(voter.judgements(), [], "fresh, it must count");
        voter.hear(&group, 0, &say_promise(&group, 0, 1, Some(&committed))).unwrap();
    }
    for second in 0..60 {
        let promised = all.iter().flat_map(Voter::promised).max().unwrap_or_default();
        if promised > 0 {
            let promise = say_promise(&group, 0, promised, Some(&committed));
            all.iter_mut().for_each(|voter| voter.hear(&group, second, &promise).unwrap());
        }
        talk(&group, &mut all, second, 1);
    }
    let mut commits = all.iter().flat_map(Voter::commits);
    assert!(commits.any(|report| report.decision == decision.digest() && report.ballot > 0));
}

/// One voter who commits to whatever it invents drowns nobody's commit.
#[test]
fn line_65_a_flood_of_commits_hides_none() {
    let (group, effect) = wanting();
    let one = fresh(wanted(&group, &effect));
    let mut voter = Voter::new(&group, 3);
    for number in 0..200_u8 {
        let report = Report { ballot: u32::from(number % 4), decision: [number; 32] };
        voter.hear(&group, 0, &say_commit(&group, 0, report)).unwrap();
    }
    voter.hear_judged(&group, 0, &one);
    assert!(voter.stands.is_none());
    for person in [1, 2] {
        voter.hear(&group, 0, &say_commit(&group, person, one.report())).unwrap();
    }
    let standing = voter.stands.unwrap();
    let who: Vec<_> = standing.commits.iter().map(|commit| commit.voter).collect();
    assert!([1, 2, 3].iter().all(|person| who.contains(&member(*person))));
}

#[test]
fn line_66_what_was_heard_is_known_and_changes_nothing() {
    let (group, effect) = wanting();
    let one = fresh(wanted(&group, &effect));
    let told = [
        told(&group, &one),
        say_judgement(&group, 1, one.report()),
        say_promise(&group, 1, 1, Some(&one)),
        say_commit(&group, 1, one.report()),
    ];
    let mut voter = Voter::new(&group, 3);
    for message in &told {
        assert!(!voter.ballots.knows(message));
        voter.hear(&group, 0, message).unwrap();
        assert!(voter.ballots.knows(message));
        let (said, status) = (voter.said.len(), voter.ballots.status());
        voter.hear(&group, 0, message).unwrap();
        assert_eq!((voter.said.len(), voter.ballots.status()), (said, status));
    }
    assert!(!voter.ballots.knows(&say_promise(&group, 1, 2, Some(&one))), "another ballot");
    assert!(!voter.ballots.knows(&say_promise(&group, 2, 1, Some(&one))), "another voter");
    assert!(!voter.ballots.knows(&say_promise(&group, 1, 1, None)), "another report");
    let mut commit = say_commit(&group, 1, one.report());
    let BallotMessage::Commit { commit: inner, .. } = &mut commit else { panic!("a commit") };
    inner.signature.algorithm = folkmoot_base::Algorithm::Ed25519;
    assert!(!voter.ballots.knows(&commit), "another signature");
    voter.hear(&group, 0, &say_commit(&group, 2, one.report())).unwrap();
    assert!(voter.stands.is_some());
    assert!(voter.ballots.knows(&say_commit(&group, 0, one.report())), "it stands without that one");
}
