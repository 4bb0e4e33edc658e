//! Those who once were a quorum write another past, with every key that they ever had.

use crate::group::{
    DAY, Group, approved_by, commits, elect, field, forced, member, members, remove, signature,
};
use crate::voter::promise;
use folkmoot_base::{Danger, MemberId, UnixTime};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{
    Admit, Applied, Approval, Batch, Electors, Promise, Proposal, Stage, Standing, State, Unproposed,
};
use std::collections::BTreeSet;

/// Strangers who ask over a state that is long past.
fn strangers(group: &mut Group, state: &State) -> Vec<Admit> {
    [12, 13].map(|person| Admit { base: state.head(), ..group.ask(person) }).into()
}

/// A decision over `state` that admits the strangers and makes them the electorate, by these
/// people's approvals, promises and commits, in the first ballot that one of them owns.
fn forged(state: &State, people: &[usize], strangers: &[Admit], now: u64) -> Standing {
    let effect = forced(elect(&[12, 13]));
    let yes = |person: &usize| Approval {
        voter: member(*person),
        base: state.head(),
        subject: effect.subject(),
        turn: 9,
        verdict: Verdict::Approve,
        expires: UnixTime(now + DAY),
    };
    let effects = vec![approved_by(&effect, people.iter().map(yes).collect())];
    let mut holds: Vec<_> = strangers.iter().map(|admit| admit.request).collect();
    holds.sort_unstable();
    let batch = Batch { time: UnixTime(now), effects, holds, refusals: Vec::new() };
    let find = |request: &_| strangers.iter().find(|admit| admit.request == *request);
    let (decision, _) = state.decide(batch, find).unwrap();
    let keys: BTreeSet<MemberId> = members(people).into_iter().collect();
    let ballot = (0..16).find(|ballot| keys.contains(&state.owner(*ballot))).unwrap();
    let mut promises: Vec<Promise> = people.iter().map(|person| promise(*person, None)).collect();
    promises.sort_by_key(|promise| promise.voter);
    if ballot == 0 {
        promises.clear();
    }
    let stages = vec![Stage { ballot, promises, signature: signature() }];
    let standing = Standing { proposal: Proposal { decision, stages }, commits: commits(members(people)) };
    assert_eq!(standing.check(state), Ok(()), "over that state it stands");
    standing
}

/// What an honest member makes of it: who is named, and that nothing has changed; without the rule
/// the strangers are in.
fn shown(group: &Group, forged: &Standing, strangers: &[Admit]) -> BTreeSet<MemberId> {
    let mut honest = group.another();
    let before = (honest.head(), honest.state().digest());
    let applied = honest.apply(forged.clone());
    assert_eq!((honest.head(), honest.state().digest()), before);
    assert!(!honest.is_member(12) && !honest.state().may_vote(&member(12)));
    let mut fooled = group.another().without(Some(Danger::LineTakesForks));
    for admit in strangers {
        fooled.take_admit(admit);
    }
    if forged.proposal.decision.number == 1 {
        assert_eq!(fooled.apply(forged.clone()), Ok(Applied::Next));
        assert!(fooled.is_member(12) && fooled.state().may_vote(&member(13)));
    }
    match applied {
        Ok(Applied::Fork(liars)) => liars,
        other => panic!("{other:?}"),
    }
}

/// Three founders admit three, make them voters, and four of the six expel two founders.
fn with_two_expelled() -> Group {
    let mut group = Group::new(3, 2);
    group.let_in(&[3, 4, 5], &[0, 1]);
    group.pass(elect(&[0, 1, 2, 3, 4, 5]), &[0, 1]);
    for person in [1, 2] {
        group.pass(remove(person), &[0, 3, 4, 5]);
    }
    group
}

#[test]
fn two_expelled_founders_do_not_undo_the_founding() {
    let mut group = with_two_expelled();
    let founded = State::founded(group.state().founding_charter().clone());
    let strangers = strangers(&mut group, &founded);
    let forged = forged(&founded, &[1, 2], &strangers, group.now);
    // Both had committed to decision 1, in ballot 0, and now say that they had not.
    assert_eq!(shown(&group, &forged, &strangers), members(&[1, 2]).into_iter().collect());
}

#[test]
fn who_did_not_sign_both_is_not_named() {
    let mut group = Group::new(3, 2);
    let founded = group.state().clone();
    let decision = group.decision(field("request_hours", "24"), &[0, 1]).unwrap();
    group.apply(crate::group::by(members(&[0, 1]), decision)).unwrap();
    let strangers = strangers(&mut group, &founded);
    let forged = forged(&founded, &[1, 2], &strangers, group.now);
    assert_eq!(shown(&group, &forged, &strangers), [member(1)].into());
}

#[test]
fn a_founder_who_was_alone_and_left_does_not_come_back() {
    let mut group = Group::new(1, 1);
    group.let_in(&[1, 2, 3], &[0]);
    group.pass(elect(&[1, 2, 3]), &[0]);
    group.pass(remove(0), &[1, 2, 3]);
    let founded = State::founded(group.state().founding_charter().clone());
    let strangers = strangers(&mut group, &founded);
    let forged = forged(&founded, &[0], &strangers, group.now);
    assert_eq!(shown(&group, &forged, &strangers), [member(0)].into());
}

#[test]
fn an_expelled_majority_stays_out() {
    let mut group = Group::new(5, 2);
    group.let_in(&[5, 6, 7, 8, 9, 10], &[0, 1, 2]);
    group.pass(elect(&[0, 1, 5, 6, 7, 8, 9, 10, 2, 3, 4]), &[0, 1, 2]);
    for person in [2, 3, 4] {
        group.pass(remove(person), &[0, 1, 5, 6, 7, 8, 9, 10]);
    }
    let founded = State::founded(group.state().founding_charter().clone());
    let strangers = strangers(&mut group, &founded);
    let forged = forged(&founded, &[2, 3, 4], &strangers, group.now);
    assert_eq!(shown(&group, &forged, &strangers), members(&[2, 3, 4]).into_iter().collect());
}

/// A backup of any age, with the keys of everybody who had a vote then.
#[test]
fn no_former_electorate_decides_anything_any_more() {
    let mut group = with_two_expelled();
    let mut ages: Vec<State> = Vec::new();
    let mut again = Group::new(3, 2);
    ages.push(again.state().clone());
    again.let_in(&[3, 4, 5], &[0, 1]);
    ages.push(again.state().clone());
    again.pass(elect(&[0, 1, 2, 3, 4, 5]), &[0, 1]);
    ages.push(again.state().clone());
    again.pass(remove(1), &[0, 3, 4, 5]);
    ages.push(again.state().clone());
    assert_eq!(again.head(), group.line.decision_before_last());
    for days in [0, 60, 60, 60] {
        if days > 0 {
            group.wait(days);
        }
        for state in &ages {
            let people: Vec<usize> = (0..6).filter(|person| state.may_vote(&member(*person))).collect();
            let strangers = strangers(&mut group, state);
            let forged = forged(state, &people, &strangers, group.now);
            let mut honest = group.another();
            let before = (honest.head(), honest.state().digest());
            let applied = honest.apply(forged);
            // Of what is long past nothing is kept to compare it with.
            let refused = matches!(applied, Ok(Applied::Fork(_) | Applied::Known));
            assert!(refused, "{applied:?}");
            assert!(days > 0 || matches!(applied, Ok(Applied::Fork(_))));
            assert_eq!((honest.head(), honest.state().digest()), before);
        }
    }
}

/// A line of their own, as long as ours and longer.
#[test]
fn a_longer_line_of_former_voters_leads_nobody_astray() {
    let group = with_two_expelled();
    let mut theirs = Group::new(3, 2);
    theirs.now = group.now;
    let mut line = Vec::new();
    for hours in 1..9_u8 {
        theirs.now += 60;
        let decision = theirs.decision(field("request_hours", &hours.to_string()), &[1, 2]).unwrap();
        let mut owner = theirs.another();
        let standing = owner.follow(decision);
        let mut liars = standing.clone();
        liars.commits = commits(members(&[1, 2]));
        theirs.apply(liars.clone()).unwrap();
        line.push(liars);
    }
    for standing in &line {
        let mut honest = group.another();
        let before = honest.head();
        let applied = honest.apply(standing.clone());
        assert!(!matches!(applied, Ok(Applied::Next)));
        assert_eq!(honest.head(), before);
    }
    let mut honest = group.another();
    let last = line.last().unwrap();
    let skipped = honest.line.skip(&[], last, theirs.state().clone());
    assert_eq!(skipped, Err(Unproposed::Commits), "those who decide now did not commit to it");
    let electors: &dyn Electors = honest.state();
    assert!(!electors.may_vote(&member(1)));
}

trait Before {
    fn decision_before_last(&self) -> folkmoot_transcript::Head;
}

impl Before for folkmoot_transcript::Line {
    fn decision_before_last(&self) -> folkmoot_transcript::Head {
        self.decisions()[&(self.state().head().number - 1)].head()
    }
}
