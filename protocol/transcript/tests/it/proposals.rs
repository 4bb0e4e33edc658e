//! What entitles an owner to propose, and what makes a decision stand.

use crate::group::{Group, by, commits, field, fresh, key, member, members};
use crate::voter::{promise, proposal, standing};
use folkmoot_base::MemberId;
use folkmoot_transcript::{
    Applied, Claim, Decision, Promise, Proposal, Report, STATEMENT_LABEL, SignatureBytes, Standing, State,
    Unproposed,
};

fn some(group: &Group) -> Decision {
    group.decision(field("request_hours", "24"), &[0, 1, 2]).unwrap()
}

fn other(group: &Group) -> Decision {
    group.decision(field("request_hours", "48"), &[0, 1, 2]).unwrap()
}

fn silent(people: &[usize]) -> Vec<Promise> {
    people.iter().map(|person| promise(*person, None)).collect()
}

fn checked(group: &Group, proposal: &Proposal) -> Result<(), Unproposed> {
    proposal.check(group.state())
}

#[test]
fn line_60_a_decision_is_applied_on_the_head_only() {
    let mut group = Group::new(4, 2);
    let mut elsewhere = group.another();
    group.pass(field("request_hours", "24"), &[0, 1, 2]);
    elsewhere.pass(field("request_hours", "48"), &[0, 1, 2]);
    let second = elsewhere.pass(field("request_hours", "12"), &[0, 1, 2]);
    let before = group.line.mark();
    assert_eq!(group.apply(second.clone()), Err(Unproposed::Parent));
    assert_eq!(group.line.mark(), before);
    let third = elsewhere.pass(field("request_hours", "6"), &[0, 1, 2]);
    assert_eq!(group.apply(third), Ok(Applied::Ahead));
    assert_eq!(elsewhere.apply(second), Ok(Applied::Known));
    let next = by(members(&[0, 1, 2]), other(&group));
    assert_eq!(group.apply(next), Ok(Applied::Next));
}

#[test]
fn line_61_ballots_rise() {
    let group = Group::new(4, 2);
    let decision = some(&group);
    let report = |ballot| Some(Report { ballot, decision: decision.digest() });
    let told = |ballot| vec![promise(0, report(ballot)), promise(1, None), promise(2, None)];
    let rising = proposal(&decision, &[(0, vec![]), (2, told(0)), (3, told(2))]);
    assert_eq!(checked(&group, &rising), Ok(()));
    for ballots in [&[][..], &[(0, vec![]), (0, vec![])], &[(2, silent(&[0, 1, 2])), (1, told(0))]] {
        assert_eq!(checked(&group, &proposal(&decision, ballots)), Err(Unproposed::Ballots));
    }
}

#[test]
fn line_62_a_later_ballot_has_the_promises_of_a_quorum() {
    let mut group = Group::new(4, 2);
    group.let_in(&[5], &[0, 1]);
    let decision = some(&group);
    let ballot = |ballot, promises| checked(&group, &proposal(&decision, &[(ballot, promises)]));
    assert_eq!(ballot(0, vec![]), Ok(()));
    assert_eq!(ballot(1, silent(&[1, 2, 3])), Ok(()));
    assert_eq!(ballot(1, silent(&[0, 3])), Ok(()), "half, with the first");
    for (number, promises) in [
        (0, silent(&[1, 2, 3])),
        (1, vec![]),
        (1, silent(&[1, 2])),
        (1, silent(&[0, 1, 2, 5])),
        (1, silent(&[1, 2, 3, 3])),
        (1, vec![promise(0, Some(fresh(decision.clone()).report())), promise(1, None)]),
    ] {
        let refused = ballot(number, promises.clone());
        let told = promises.first().is_some_and(|one| one.report.is_some());
        assert_eq!(refused, Err(if told { Unproposed::NotHighest } else { Unproposed::Promises }));
    }
    // A report is of a lower ballot.
    let same = Report { ballot: 1, decision: decision.digest() };
    let promises = vec![promise(0, Some(same)), promise(1, None), promise(2, None)];
    assert_eq!(ballot(1, promises), Err(Unproposed::Promises));
    let mut unsorted = proposal(&decision, &[(1, silent(&[1, 2, 3]))]);
    unsorted.stages[0].promises.reverse();
    assert_eq!(checked(&group, &unsorted), Err(Unproposed::Promises));
}

#[test]
fn line_63_the_highest_report_is_followed() {
    let group = Group::new(4, 2);
    let (mine, theirs) = (some(&group), other(&group));
    let report = |ballot, decision: &Decision| Some(Report { ballot, decision: decision.digest() });
    let stages = |reports: [Option<Report>; 3]| {
        let promises = (0..3).map(|person| promise(person, reports[person])).collect();
        [(0, vec![]), (3, promises)]
    };
    let follows = |reports| checked(&group, &proposal(&mine, &stages(reports)));
    assert_eq!(follows([report(0, &mine), None, None]), Ok(()));
    assert_eq!(follows([None, None, None]), Err(Unproposed::NotHighest), "it would be fresh");
    assert_eq!(follows([report(0, &mine), report(1, &theirs), None]), Err(Unproposed::NotHighest));
    // Of two in one ballot the lower digest.
    let lower = mine.digest() < theirs.digest();
    assert_eq!(follows([report(0, &mine), report(0, &theirs), None]).is_ok(), lower);
    let fresh =
        proposal(&theirs, &[(3, vec![promise(0, report(0, &mine)), promise(1, None), promise(2, None)])]);
    assert_eq!(checked(&group, &fresh), Err(Unproposed::NotHighest));
}

/// As the layer above judges claims, with real keys.
fn verified(state: &State, claims: &[Claim]) -> Result<(), Unproposed> {
    for claim in claims {
        let held = state.roster().get(&claim.voter).ok_or(Unproposed::Signature(claim.voter))?;
        let message = claim.statement.bytes(&state.group());
        let good = held.key.verify_wire(STATEMENT_LABEL, &message, &claim.signature);
        good.map_err(|_| Unproposed::Signature(claim.voter))?;
    }
    Ok(())
}

fn signed(state: &State, voter: MemberId, claims: &[Claim]) -> SignatureBytes {
    let person = (0..16).find(|person| member(*person) == voter).unwrap();
    let claim = claims.iter().find(|claim| claim.voter == voter).unwrap();
    let message = claim.statement.bytes(&state.group());
    key(person).sign_wire(STATEMENT_LABEL, &message)
}

#[test]
fn line_64_everything_that_somebody_must_have_signed_is_claimed() {
    let group = Group::new(4, 2);
    let state = group.state();
    // Promises of three for ballot 1, whose owner is among them; commits of three others.
    let mut one = standing(proposal(&some(&group), &[(1, silent(&[0, 2, 3]))]), &[0, 1, 2]);
    assert_eq!(one.claims(state).len(), 1 + 3 + 3);
    for place in 0..3 {
        let parent = one.proposal.parent();
        let promise = &one.proposal.stages[0].promises[place];
        let claim = promise.claim(parent, 1);
        one.proposal.stages[0].promises[place].signature = signed(state, claim.voter, &[claim]);
        let commit = one.commits[place].claim(parent, one.proposal.report());
        one.commits[place].signature = signed(state, commit.voter, &[commit]);
    }
    let owner = one.proposal.claims(state).remove(0);
    one.proposal.stages[0].signature = signed(state, owner.voter, &[owner]);
    assert_eq!(verified(state, &one.claims(state)), Ok(()));
    let changes: [fn(&mut Standing); 5] = [
        |one| one.proposal.decision.time.0 += 1,
        |one| one.proposal.stages[0].ballot += 1,
        |one| one.proposal.stages[0].promises[1].report = Some(Report { ballot: 0, decision: [1; 32] }),
        |one| one.proposal.stages[0].promises.truncate(2),
        |one| one.commits[1].voter = member(3),
    ];
    for change in changes {
        let mut other = one.clone();
        change(&mut other);
        let refused = verified(state, &other.claims(state));
        assert!(matches!(refused, Err(Unproposed::Signature(_))));
    }
}

#[test]
fn line_65_a_decision_stands_with_the_commits_of_a_quorum() {
    let mut group = Group::new(4, 2);
    group.let_in(&[5], &[0, 1]);
    let one = |people: &[usize]| standing(fresh(some(&group)), people);
    for (people, stands) in [
        (&[0, 1, 2, 3][..], true),
        (&[0, 3], true),
        (&[1, 2], false),
        (&[], false),
        (&[0, 1, 2, 5], false),
        (&[0, 0, 1], false),
    ] {
        let checked = one(people).check(group.state());
        assert_eq!(checked, if stands { Ok(()) } else { Err(Unproposed::Commits) }, "{people:?}");
    }
    let mut unsorted = one(&[0, 1, 2]);
    unsorted.commits.reverse();
    assert_eq!(unsorted.check(group.state()), Err(Unproposed::Commits));
    assert_eq!(commits(members(&[0, 1])).len(), 2);
}

#[test]
fn line_65_a_later_decision_is_committed_by_the_electorate_of_then() {
    let mut group = Group::new(4, 2);
    group.pass(crate::group::remove(3), &[0, 1, 2]);
    let late = standing(fresh(some(&group)), &[2, 3]);
    assert_eq!(group.apply(late), Err(Unproposed::Commits));
    let good = standing(fresh(some(&group)), &[1, 2]);
    assert_eq!(group.apply(good), Ok(Applied::Next));
}
