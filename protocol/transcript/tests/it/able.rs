//! The terms of voters do not end while the group needs them.

use crate::group::{DAY, Group, draft, elect, field, member, remove};
use crate::liars::both;
use folkmoot_base::{Danger, UnixTime};
use folkmoot_identity::{CharterDraft, Policies, Rule};
use folkmoot_transcript::{Admit, Batch, PAST_SAID_SECONDS, Wrong, admission};
use std::collections::BTreeSet;

/// A group whose founders have gone. The voters are 5, 6 and 7, in this order; 8 has no vote. Each
/// term ends so many days from now.
fn with_ends(days: [u64; 4]) -> Group {
    with(Policies::default(), days)
}

fn with(policies: Policies, days: [u64; 4]) -> Group {
    let mut group = Group::of(&CharterDraft { policies, ..draft(3, 2) });
    let now = group.now;
    let mut holds = Vec::new();
    for (person, days) in (5..9).zip(days) {
        let admit = Admit { ends: UnixTime(now + days * DAY), ..group.ask(person) };
        group.welcome(&admit, &[0, 1]);
        holds.push(admit.request);
    }
    holds.sort_unstable();
    group.follow(group.decide(Batch { holds, ..group.batch() }).unwrap());
    group.pass(elect(&[5, 6, 7]), &[0, 1, 2]);
    for person in 0..3 {
        group.pass(remove(person), &[5, 6]);
    }
    assert_eq!(people(&group), [5, 6, 7, 8]);
    group
}

/// Who is a member, by what decisions hold.
fn people(group: &Group) -> Vec<usize> {
    (0..16).filter(|person| group.state().roster().contains_key(&member(*person))).collect()
}

/// Who is a member, by the set too.
fn members(group: &Group) -> Vec<usize> {
    (0..16).filter(|person| group.is_member(*person)).collect()
}

fn overdue(group: &Group) -> Vec<usize> {
    let overdue: BTreeSet<_> = group.set().overdue(group.state());
    (0..16).filter(|person| overdue.contains(&member(*person))).collect()
}

/// So many days later their clocks say so.
fn later(group: &mut Group, days: u64) {
    group.now += days * DAY;
    group.raise(group.now + PAST_SAID_SECONDS + 1);
}

/// Everybody was off when the terms ended. Without the rule nobody can ever decide again.
#[test]
fn line_35_a_group_decides_again_after_all_terms_have_ended() {
    both(Danger::LineEndsAll, |danger| {
        let mut group = with_ends([10, 20, 30, 40]).without(danger);
        later(&mut group, 100);
        group.follow(group.decide(group.batch()).unwrap());
        group.now += 60;
        let decided = group.decision(field("request_hours", "24"), &[6, 7]);
        if danger.is_some() {
            assert!(people(&group).is_empty() && decided.is_err());
            return true;
        }
        assert!(decided.is_ok());
        // They admit those anew whom they want, themselves too.
        group.let_in(&[5, 6, 7, 8], &[6, 7]);
        assert_eq!((members(&group), overdue(&group)), (vec![5, 6, 7, 8], vec![]));
        assert!(group.state().roster()[&member(7)].ends.0 > group.now);
        false
    });
}

/// Those without a place first, then voters in the order of their ends, whatever their places.
#[test]
fn line_35_terms_end_in_the_order_of_their_ends() {
    for (days, stay) in [
        ([10, 20, 30, 40], [6, 7]),
        ([30, 20, 10, 40], [5, 6]),
        ([20, 10, 30, 5], [5, 7]),
        // Of equal ends the first place ends first.
        ([10, 10, 10, 10], [6, 7]),
        ([30, 10, 10, 40], [5, 7]),
    ] {
        let mut group = with_ends(days);
        let mut decided = group.another();
        later(&mut group, 100);
        assert_eq!(members(&group), stay, "by Past, {days:?}");
        assert_eq!(overdue(&group), stay, "they stay until they are renewed");
        decided.now += 100 * DAY;
        decided.follow(decided.decide(decided.batch()).unwrap());
        assert_eq!(people(&decided), stay, "by a decision, {days:?}");
        assert_eq!(overdue(&decided), stay);
        group.follow(group.decide(group.batch()).unwrap());
        assert_eq!(group.state().digest(), decided.state().digest());
    }
}

#[test]
fn line_35_terms_end_while_enough_voters_stay() {
    for (days, over) in [(5, vec![]), (15, vec![5]), (25, vec![5]), (45, vec![5, 8])] {
        let mut group = with_ends([10, 20, 30, 40]);
        later(&mut group, days);
        let left: Vec<usize> = (5..9).filter(|person| !over.contains(person)).collect();
        assert_eq!(members(&group), left, "{days}");
        let ended = [(10, 5), (20, 6), (30, 7)].iter().filter(|(end, _)| *end < days);
        let late: Vec<usize> = ended.map(|(_, person)| *person).filter(|one| left.contains(one)).collect();
        assert_eq!(overdue(&group), late, "{days}");
    }
}

/// Whoever was renewed can vote on, so somebody else need not stay; by an admission of the set as
/// well, but not in a decision that does not hold it.
#[test]
fn line_35_a_voter_that_is_renewed_counts() {
    let mut group = with_ends([10, 20, 30, 40]);
    let renewal = Admit { ends: UnixTime(group.now + 200 * DAY), ..group.ask(5) };
    for person in [5, 6] {
        let yes = group.yes(person, admission(renewal.request));
        let expires = UnixTime(group.now + 90 * DAY);
        group.take(folkmoot_transcript::Approval { expires, ..yes });
    }
    group.take_admit(&renewal);
    later(&mut group, 80);
    assert_eq!((members(&group), overdue(&group)), (vec![5, 7], vec![7]));
    let mut without = group.another();
    without.follow(without.decide(without.batch()).unwrap());
    assert_eq!(people(&without), [6, 7], "it is not held");
    let holds = vec![renewal.request];
    group.follow(group.decide(Batch { holds, ..group.batch() }).unwrap());
    assert_eq!(people(&group), [5, 7]);
    assert_eq!(overdue(&group), [7]);
}

/// Their number is not all: nobody ends without whom a rule could never be satisfied.
#[test]
fn line_35_whom_a_rule_needs_stays() {
    both(Danger::LineEndsAll, |danger| {
        let mut policies =
            Policies { remove: Some(Rule::parse("1 of safety").unwrap()), ..Policies::default() };
        policies.roles.insert("safety".to_owned(), [member(0), member(5)].into());
        let mut group = Group::of(&CharterDraft { policies, ..draft(4, 2) }).without(danger);
        let admit = Admit { ends: UnixTime(group.now + 10 * DAY), ..group.ask(5) };
        group.welcome(&admit, &[0, 1]);
        group.follow(group.decide(Batch { holds: vec![admit.request], ..group.batch() }).unwrap());
        group.pass(elect(&[1, 2, 3, 5]), &[0, 1, 2]);
        group.pass(remove(0), &[1, 2, 5]);
        later(&mut group, 20);
        group.follow(group.decide(group.batch()).unwrap());
        !group.state().may_vote(&member(5))
    });
}

/// All of three must agree: nobody can be spared.
#[test]
fn line_35_where_all_must_agree_nobody_ends() {
    let mut group = with_ends([10, 20, 30, 40]);
    group.pass(field("threshold", "3"), &[5, 6, 7]);
    later(&mut group, 100);
    assert_eq!((members(&group), overdue(&group)), (vec![5, 6, 7], vec![5, 6, 7]));
    group.follow(group.decide(group.batch()).unwrap());
    assert!(group.decision(field("threshold", "2"), &[5, 6, 7]).is_ok());
    assert!(matches!(group.decision(remove(7), &[5, 6, 7]), Err(Wrong::Effect { .. })));
}

/// Nobody has a vote by that who had none.
#[test]
fn line_35_who_stays_has_its_vote_and_nobody_elses() {
    let mut group = with_ends([10, 20, 30, 40]);
    later(&mut group, 100);
    assert!(group.state().may_vote(&member(5)), "Past moves no vote");
    group.follow(group.decide(group.batch()).unwrap());
    let votes: Vec<usize> = (0..16).filter(|person| group.state().may_vote(&member(*person))).collect();
    assert_eq!(votes, [6, 7]);
    group.pass(elect(&[6, 7]), &[6, 7]);
    let places: Vec<_> = group.state().places().iter().map(|place| place.voter).collect();
    assert_eq!(places, [member(6), member(7)]);
}
