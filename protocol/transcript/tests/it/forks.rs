//! Two decisions for one number: which one a member keeps, and who is named.

use crate::group::{Group, field, forced, fresh, member, remove};
use crate::voter::{promise, proposal, standing};
use folkmoot_base::{Danger, MemberId, Mutant};
use folkmoot_transcript::{
    Applied, Change, Decision, FORKS_MAX, Promise, Report, SIDES_MAX, Standing, contradictions,
};

fn two(group: &Group) -> (Decision, Decision) {
    let decision = |hours| group.decision(field("request_hours", hours), &[0, 1, 2]).unwrap();
    (decision("24"), decision("48"))
}

fn named(group: &Group, one: &Standing, other: &Standing) -> Vec<MemberId> {
    let named = contradictions(one, other, group.state());
    assert_eq!(named, contradictions(other, one, group.state()), "in either order");
    named.into_iter().collect()
}

fn silent(people: &[usize]) -> Vec<Promise> {
    people.iter().map(|person| promise(*person, None)).collect()
}

#[test]
fn the_first_standing_decision_stays_and_the_other_is_evidence() {
    let mut group = Group::new(4, 2);
    let (one, two) = two(&group);
    let one = standing(fresh(one), &[0, 1, 3]);
    let two = standing(fresh(two), &[1, 2, 3]);
    group.apply(one.clone()).unwrap();
    let before = group.line.mark();
    let liars = [member(0), member(1), member(3)].into();
    assert_eq!(group.apply(two.clone()), Ok(Applied::Fork(liars)), "0 proposed both");
    assert_eq!(group.line.mark(), before);
    let fork = group.line.forks().values().next().unwrap();
    assert_eq!((&fork.ours, &fork.theirs), (&one, &two));
    assert_eq!(group.apply(one), Ok(Applied::Known));
}

#[test]
fn a_decision_that_stands_with_nobodys_commits_is_no_fork() {
    let mut group = Group::new(4, 2);
    let (one, two) = two(&group);
    group.apply(standing(fresh(one), &[0, 1, 3])).unwrap();
    assert!(group.apply(standing(fresh(two), &[3])).is_err());
    assert!(group.line.forks().is_empty());
}

/// Both in different ballots is what every honest voter may have to sign.
#[test]
fn who_signed_both_in_different_ballots_is_not_named() {
    let group = Group::new(4, 2);
    let (one, two) = two(&group);
    let one = standing(fresh(one), &[0, 1]);
    let theirs = |report| {
        let promises = vec![promise(0, report), promise(2, None), promise(3, None)];
        standing(proposal(&two, &[(1, promises)]), &[0, 2, 3])
    };
    // 0 promised ballot 1 and left out its commit in ballot 0.
    assert_eq!(named(&group, &one, &theirs(None)), [member(0)]);
    let told = Some(Report { ballot: 0, decision: one.proposal.decision.digest() });
    assert_eq!(named(&group, &one, &theirs(told)), []);
}

#[test]
fn two_promises_and_two_proposals_of_one_ballot_contradict_each_other() {
    let group = Group::new(4, 2);
    let (one, two) = two(&group);
    let owner = member(1);
    let ours = standing(proposal(&one, &[(1, silent(&[1, 2, 3]))]), &[2, 3]);
    let theirs = standing(proposal(&two, &[(1, silent(&[1, 2, 3]))]), &[0, 1]);
    assert_eq!(named(&group, &ours, &theirs), [owner], "it proposed both in ballot 1");
    let report = Report { ballot: 0, decision: two.digest() };
    let promises = vec![promise(0, None), promise(2, None), promise(3, Some(report))];
    let theirs = standing(proposal(&two, &[(0, vec![]), (1, promises)]), &[0, 1]);
    let both: Vec<MemberId> = named(&group, &ours, &theirs);
    assert!(both.contains(&owner) && both.contains(&member(3)) && !both.contains(&member(2)));
}

/// Two former voters make up as many other sides as are kept, and more, before somebody shows what
/// one who still votes has committed to.
#[test]
fn line_86_made_up_sides_keep_no_true_one_out() {
    for (danger, kept) in [(None, true), (Some(Danger::LineKeepsMadeUp), false)] {
        let mut group = Group::new(4, 2);
        let other = |hours: usize, who: &[usize]| {
            let decision = group.decision(field("request_hours", &hours.to_string()), &[0, 1, 2]);
            standing(fresh(decision.unwrap()), who)
        };
        let (true_one, made_up): (Standing, Vec<Standing>) =
            (other(99, &[0, 2, 3]), (1..=SIDES_MAX + 2).map(|hours| other(hours, &[0, 3])).collect());
        group.pass(field("request_hours", "24"), &[0, 1, 2]);
        group.line.endanger(Mutant::from(danger));
        group.pass(remove(3), &[0, 1, 2]);
        group.pass(forced(remove(0)), &[1, 2]);
        // The first to go, if nobody wanted to go over to it.
        let wanted = made_up[..SIDES_MAX].iter().map(Standing::head).min().unwrap();
        group.want(&Change::Rejoin { head: wanted }.into(), &[1]);
        for side in made_up.iter().chain([&true_one]).chain(&made_up) {
            assert!(matches!(group.apply(side.clone()), Ok(Applied::Fork(_))));
        }
        let forks = group.line.forks();
        assert!(forks.contains_key(&wanted));
        assert_eq!(forks.contains_key(&true_one.head()), kept, "{danger:?}");
        assert_eq!(forks.len(), SIDES_MAX);
        assert!(
            danger.is_some() || forks.values().filter(|fork| fork.is_by_voters(group.state())).count() == 1
        );
    }
}

/// The same of forks of many numbers: of older ones a true one stays.
#[test]
fn line_86_made_up_forks_keep_no_true_one_out() {
    for (danger, kept) in [(None, true), (Some(Danger::LineKeepsMadeUp), false)] {
        let mut group = Group::new(4, 2);
        let mut others: Vec<Standing> = Vec::new();
        for hours in 1..=FORKS_MAX + 1 {
            let decision = group.decision(field("request_hours", &(100 + hours).to_string()), &[0, 1, 2]);
            let who: &[usize] = if hours == 1 { &[0, 2, 3] } else { &[0, 3] };
            others.push(standing(fresh(decision.unwrap()), who));
            group.pass(field("request_hours", &hours.to_string()), &[0, 1, 2]);
        }
        group.line.endanger(Mutant::from(danger));
        group.pass(remove(3), &[0, 1, 2]);
        group.pass(forced(remove(0)), &[1, 2]);
        for side in &others {
            assert!(matches!(group.apply(side.clone()), Ok(Applied::Fork(_))));
        }
        assert_eq!(group.line.forks().len(), FORKS_MAX);
        assert_eq!(group.line.forks().contains_key(&others[0].head()), kept, "{danger:?}");
    }
}

#[test]
fn the_first_sides_of_a_number_are_kept() {
    let mut group = Group::new(4, 2);
    let decision = |hours: usize| {
        let decision = group.decision(field("request_hours", &hours.to_string()), &[0, 1, 2]);
        standing(fresh(decision.unwrap()), &[0, 2])
    };
    let ours = decision(24);
    let others: Vec<Standing> = (1..=SIDES_MAX + 2).map(decision).collect();
    group.apply(ours.clone()).unwrap();
    for other in others.iter().chain(&others) {
        assert!(matches!(group.apply(other.clone()), Ok(Applied::Fork(_))));
    }
    let kept: Vec<&Standing> = group.line.forks().values().map(|fork| &fork.theirs).collect();
    assert_eq!(kept.len(), SIDES_MAX);
    assert!(others[..SIDES_MAX].iter().all(|other| kept.contains(&other)));
    assert!(group.line.forks().values().all(|fork| fork.ours == ours));
}
