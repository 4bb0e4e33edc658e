//! What voters propose, promise and commit to.

use crate::group::{Group, field, forced, fresh, member};
use crate::voter::{Voter, promise, proposal, say_commit, say_promise, talk};
use folkmoot_base::Danger;
use folkmoot_transcript::{
    Approval, BallotMessage, Batch, Change, Decision, Effect, Proposal, Report, Unproposed, admission,
};

/// A group of four founders in which three want a change, and its voters.
fn wanting() -> (Group, Effect) {
    let mut group = Group::new(4, 2);
    let effect = Effect::from(field("request_hours", "24"));
    group.want(&effect, &[0, 1, 2]);
    (group, effect)
}

fn voters(group: &Group, people: &[usize]) -> Vec<Voter> {
    people.iter().map(|person| Voter::new(group, *person)).collect()
}

fn wanted(group: &Group, effect: &Effect) -> Decision {
    group.decision(effect.clone(), &[0, 1, 2]).unwrap()
}

/// A decision that leaves the change out: it only holds an admission.
fn other(group: &mut Group) -> Decision {
    let admit = group.ask(5);
    group.welcome(&admit, &[0, 1, 2]);
    group.decide(Batch { holds: vec![admit.request], ..group.batch() }).unwrap()
}

fn told(proposal: &Proposal) -> BallotMessage {
    BallotMessage::Proposal(proposal.clone())
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
        voter.hear(&group, 0, &told(one)).unwrap();
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
    assert!(matches!(voter.hear(&group, 0, &told(&fresh(bad))), Err(Unproposed::Decision(_))));
    let elsewhere = group.another();
    let held = other(&mut group);
    voter.hear(&elsewhere, 0, &told(&fresh(held))).unwrap();
    assert_eq!((voter.missing, voter.commits()), (1, vec![]));
    voter.hear(&elsewhere, 0, &told(&fresh(good.clone()))).unwrap();
    assert_eq!(voter.commits(), [fresh(good).report()]);
}

#[test]
fn line_66_a_voter_commits_once_in_a_ballot() {
    for (danger, once) in [(None, true), (Some(Danger::LineTwoCommits), false)] {
        let (mut group, effect) = wanting();
        let (one, two) = (wanted(&group, &effect), other(&mut group));
        let mut voter = Voter::from_disk(&group, 3, None, danger);
        for decision in [one, two] {
            voter.hear(&group, 0, &told(&fresh(decision))).unwrap();
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
        voter.hear(&group, 4, &told(&fresh(wanted(&group, &effect)))).unwrap();
        assert_eq!(voter.commits().len(), commits);
        // The disk keeps it.
        let mut again = Voter::from_disk(&group, 3, voter.record.clone(), danger);
        again.hear(&group, 4, &told(&fresh(wanted(&group, &effect)))).unwrap();
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
    voter.hear(&group, 0, &told(&one)).unwrap();
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
    voter.hear(&group, 100, &told(&one)).unwrap();
    assert_eq!(voter.record.as_ref().unwrap().committed.as_ref(), Some(&one));
    voter.work(&group, 101);
    voter.work(&group, 200);
    assert_eq!(voter.promised().len(), 1);
}

#[test]
fn line_66_the_time_of_a_proposal_is_near_the_voters_clock() {
    let (group, effect) = wanting();
    let one = fresh(wanted(&group, &effect));
    let commits = |seconds: u64| {
        let mut voter = Voter::new(&group, 3);
        voter.hear(&group, seconds, &told(&one)).unwrap();
        voter.commits().len()
    };
    assert_eq!((commits(60), commits(61)), (1, 0), "behind");
    let ahead = |seconds: u64| {
        let time = folkmoot_base::UnixTime(group.now + seconds);
        let effects = vec![group.approved(&effect, &[0, 1, 2])];
        let decision = group.decide(Batch { time, effects, ..group.batch() }).unwrap();
        let mut voter = Voter::new(&group, 3);
        voter.hear(&group, 0, &told(&fresh(decision))).unwrap();
        voter.commits().len()
    };
    assert_eq!((ahead(60), ahead(61)), (1, 0));
}

#[test]
fn line_67_nothing_that_was_known_for_a_minute_is_left_out() {
    let (mut group, effect) = wanting();
    let without = other(&mut group);
    let commits = |seconds: u64| {
        let mut voter = Voter::new(&group, 3);
        voter.work(&group, 0);
        let time = folkmoot_base::UnixTime(group.now + seconds);
        let batch = Batch { time, holds: without.holds.clone(), ..group.batch() };
        let fresh_now = fresh(group.decide(batch).unwrap());
        // The owner of ballot 0 was late, but not too late: this voter has promised nothing.
        let mut record = voter.record.clone();
        record.iter_mut().for_each(|record| record.promised = 0);
        voter.said.clear();
        voter.hear(&group, seconds, &told(&fresh_now)).unwrap();
        voter.commits().len()
    };
    assert_eq!((commits(59), commits(60)), (1, 0));
    // With the effect it is whole.
    let mut voter = Voter::new(&group, 3);
    voter.work(&group, 0);
    let batch = Batch { holds: without.holds.clone(), ..group.batch() };
    let effects = vec![group.approved(&effect, &[0, 1, 2])];
    let whole = fresh(
        group.decide(Batch { effects, time: folkmoot_base::UnixTime(group.now + 60), ..batch }).unwrap(),
    );
    voter.hear(&group, 60, &told(&whole)).unwrap();
    assert_eq!(voter.commits().len(), 1);
}

/// A refusal that an owner leaves out would never bind anybody.
#[test]
fn line_67_refusals_are_not_left_out_and_not_invented() {
    let mut group = crate::admissions::with_objections(2);
    let admit = group.ask(5);
    group.take_admit(&admit);
    let open = other(&mut group);
    for voter in [0, 1] {
        let no = group.no(voter, folkmoot_transcript::admission(admit.request));
        group.take(no);
    }
    let refused = group.refused(admit.request, &[0, 1]);
    let of_another = folkmoot_transcript::Refused { csr: Some([4; 16]), ..refused.clone() };
    let committed = |refusals: Vec<folkmoot_transcript::Refused>| {
        let mut voter = Voter::new(&group, 2);
        voter.work(&group, 0);
        let time = folkmoot_base::UnixTime(group.now + 60);
        let batch = Batch { time, refusals, holds: open.holds.clone(), ..group.batch() };
        voter.hear(&group, 60, &told(&fresh(group.decide(batch).unwrap()))).unwrap();
        voter.commits().len()
    };
    assert_eq!(committed(vec![refused]), 1);
    assert_eq!((committed(Vec::new()), committed(vec![of_another])), (0, 0));
}

/// A late admission that people want held is no less an effect than an expulsion.
#[test]
fn line_67_an_owner_cannot_leave_out_what_names_an_admission() {
    let mut group = Group::new(4, 2);
    let late = group.ask(6);
    group.take_admit(&late);
    group.want(&Effect::from(Change::Hold { request: late.request }), &[0, 1, 2]);
    let without = other(&mut group);
    let mut voter = Voter::new(&group, 3);
    voter.work(&group, 0);
    let time = folkmoot_base::UnixTime(group.now + 60);
    let batch = Batch { time, holds: without.holds, ..group.batch() };
    voter.hear(&group, 60, &told(&fresh(group.decide(batch).unwrap()))).unwrap();
    assert_eq!(voter.commits(), []);
}

#[test]
fn line_67_a_fresh_proposal_holds_only_what_counts_here() {
    let mut group = Group::new(4, 2);
    let admit = group.ask(5);
    group.welcome(&admit, &[0]);
    let decision = group.decide(Batch { holds: vec![admit.request], ..group.batch() }).unwrap();
    let mut voter = Voter::new(&group, 3);
    voter.hear(&group, 0, &told(&fresh(decision.clone()))).unwrap();
    assert_eq!(voter.commits(), []);
    group.welcome(&admit, &[1]);
    voter.work(&group, 1);
    assert_eq!(voter.commits(), [fresh(decision).report()], "now it does");
}

#[test]
fn line_68_a_report_comes_with_the_proposal_that_it_is_of() {
    let (group, effect) = wanting();
    let one = fresh(wanted(&group, &effect));
    let mut voter = Voter::new(&group, 1);
    let mut bare = say_promise(&group, 0, 1, Some(&one));
    if let BallotMessage::Promise { report, .. } = &mut bare {
        *report = None;
    }
    assert_eq!(voter.hear(&group, 0, &bare), Err(Unproposed::NotHighest));
    // Nor may it be of the ballot that is promised, or of a time that is far ahead.
    let of_1 = proposal(&one.decision, &[(1, [0, 1, 2].map(|who| promise(who, None)).to_vec())]);
    let same = say_promise(&group, 0, 1, Some(&of_1));
    assert_eq!(voter.hear(&group, 0, &same), Err(Unproposed::Promises));
    let batch = Batch { time: folkmoot_base::UnixTime(group.now + 61), ..group.batch() };
    let effects = vec![group.approved(&effect, &[0, 1, 2])];
    let ahead = fresh(group.decide(Batch { effects, ..batch }).unwrap());
    assert_eq!(voter.hear(&group, 0, &say_promise(&group, 0, 1, Some(&ahead))), Err(Unproposed::Promises));
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
/// committed to that. Owners who believed the report would have to propose it again.
#[test]
fn line_06_a_false_report_lets_nobody_in() {
    let mut group = Group::new(4, 2);
    let stranger = group.ask(7);
    group.take_admit(&stranger);
    group.want(&forced(field("request_hours", "24")), &[1, 2, 3]);
    let lie = group.decide(Batch { holds: vec![stranger.request], ..group.batch() }).unwrap();
    let mut all = voters(&group, &[1, 2, 3]);
    for voter in &mut all {
        voter.hear(&group, 0, &told(&fresh(lie.clone()))).unwrap();
        voter.hear(&group, 0, &say_promise(&group, 0, 1, Some(&fresh(lie.clone())))).unwrap();
    }
    talk(&group, &mut all, 0, 30);
    for voter in &all {
        let decision = &voter.stands.as_ref().unwrap().proposal.decision;
        assert_eq!((decision.holds.len(), decision.effects.len()), (0, 1));
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
        voter.hear(&group, 0, &told(&committed)).unwrap();
        assert_eq!(voter.commits(), [], "fresh, it must count");
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
    let later = all.iter().flat_map(Voter::commits).find(|report| report.decision == decision.digest());
    assert!(later.is_some_and(|report| report.ballot > 0));
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
    voter.hear(&group, 0, &told(&one)).unwrap();
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
    let told = [told(&one), say_promise(&group, 1, 1, Some(&one)), say_commit(&group, 1, one.report())];
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
