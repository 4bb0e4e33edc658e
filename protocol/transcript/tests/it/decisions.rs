//! What a decision must be, whatever it decides.

use crate::group::{DAY, Group, field, member, remove};
use folkmoot_base::{GroupId, UnixTime};
use folkmoot_transcript::{
    Batch, Decision, EFFECTS_MAX, Effect, HOLDS_MAX, Head, REFUSALS_MAX, Refuted, Uncounted, Wrong,
};

fn judged(group: &Group, decision: &Decision) -> Result<(), Wrong> {
    group.state().after(decision, |request| group.set().admit(request)).map(|_| ())
}

fn good(group: &Group) -> Decision {
    let decision = group.decision(field("request_hours", "24"), &[0, 1, 2]).unwrap();
    assert_eq!(judged(group, &decision), Ok(()));
    decision
}

#[test]
fn line_02_a_decision_is_our_groups_and_follows_our_head() {
    let mut group = Group::new(4, 2);
    let decision = good(&group);
    let other = Decision { group: GroupId([9; 32]), ..decision.clone() };
    assert_eq!(judged(&group, &other), Err(Wrong::Group));
    for (number, parent) in [(0, decision.parent), (2, decision.parent), (1, [9; 32])] {
        let other = Decision { number, parent, ..decision.clone() };
        assert!(matches!(judged(&group, &other), Err(Wrong::Parent { .. })));
    }
    group.follow(decision.clone());
    let got = Head { number: 0, digest: decision.parent };
    assert_eq!(judged(&group, &decision), Err(Wrong::Parent { got, want: group.head() }));
}

#[test]
fn line_03_time_does_not_go_back() {
    let mut group = Group::new(4, 2);
    group.pass(field("request_hours", "48"), &[0, 1, 2]);
    let decision = good(&group);
    let earlier = Decision { time: UnixTime(group.now - 1), ..decision.clone() };
    assert_eq!(judged(&group, &earlier), Err(Wrong::Time));
    assert_eq!(decision.time, group.state().time());
}

/// Whether one is due is asked where it is judged. Whoever was away applies what the others
/// decided.
#[test]
fn line_04_an_empty_decision_stands() {
    let mut group = Group::new(4, 2);
    group.pass(field("request_hours", "48"), &[0, 1, 2]);
    group.follow(group.decide(group.batch()).unwrap());
    assert_eq!(group.head().number, 2);
    let earlier = Batch { time: UnixTime(group.now - 1), ..Batch::default() };
    assert_eq!(group.decide(earlier), Err(Wrong::Time), "but its time does not go back");
}

#[test]
fn line_05_lists_are_sorted_and_of_a_bounded_length() {
    let mut group = Group::new(4, 2);
    let mut holds: Vec<_> = [5, 6]
        .map(|person| {
            let admit = group.ask(person);
            group.welcome(&admit, &[0, 1]);
            admit.request
        })
        .into();
    holds.sort_unstable();
    let hold = |holds: Vec<_>| group.decide(Batch { holds, ..group.batch() }).map(|_| ());
    assert_eq!(hold(holds.clone()), Ok(()));
    assert_eq!(hold(vec![holds[1], holds[0]]), Err(Wrong::Lists));
    assert_eq!(hold(vec![holds[0], holds[0]]), Err(Wrong::Lists));
    let digests = |count: usize| {
        (0..count).map(|number| {
            let mut digest = [0; 32];
            digest[..8].copy_from_slice(&(number as u64).to_be_bytes());
            digest
        })
    };
    assert_eq!(hold(digests(HOLDS_MAX + 1).collect()), Err(Wrong::Lists));
    assert!(matches!(hold(digests(HOLDS_MAX).collect()), Err(Wrong::Missing(_))));
    let refusals = digests(REFUSALS_MAX + 1).map(|request| group.refused(request, &[0])).collect();
    assert_eq!(group.decide(Batch { refusals, ..group.batch() }).map(|_| ()), Err(Wrong::Lists));
    let effect = group.approved(&field("request_hours", "24").into(), &[0, 1, 2]);
    let effects = vec![effect; EFFECTS_MAX + 1];
    assert_eq!(group.decide(Batch { effects, ..group.batch() }).map(|_| ()), Err(Wrong::Lists));
}

#[test]
fn line_05_approvals_are_sorted_each_voter_once() {
    let group = Group::new(4, 2);
    let effect = Effect::from(remove(3));
    let approved = group.approved(&effect, &[0, 1, 2]);
    let with = |proofs| {
        let effects = vec![folkmoot_transcript::Approved { proofs, ..approved.clone() }];
        group.decide(Batch { effects, ..group.batch() }).map(|_| ())
    };
    assert_eq!(with(approved.proofs.clone()), Ok(()));
    let refused = Err(Wrong::Effect { place: 0, why: Refuted::Order });
    let mut backwards = approved.proofs.clone();
    backwards.reverse();
    assert_eq!(with(backwards), refused);
    let one = approved.proofs[0].clone();
    assert_eq!(with(vec![one.clone(), one.clone(), one]), refused);
}

#[test]
fn line_06_a_decision_holds_nothing_that_could_not_count() {
    let mut group = Group::new(4, 2);
    let expelled = group.ask(3);
    group.pass(remove(3), &[0, 1, 2]);
    group.welcome(&expelled, &[0, 1]);
    let hold = |request| group.decide(Batch { holds: vec![request], ..group.batch() }).map(|_| ());
    let why = Uncounted::Removed(member(3));
    assert_eq!(hold(expelled.request), Err(Wrong::Uncounted { request: expelled.request, why }));
    let mut group = group.another();
    let anew = group.ask(3);
    group.welcome(&anew, &[0, 1]);
    let long = folkmoot_transcript::Admit { ends: UnixTime(group.now + 4000 * DAY), ..group.ask(5) };
    group.welcome(&long, &[0, 1]);
    let hold = |request| group.decide(Batch { holds: vec![request], ..group.batch() }).map(|_| ());
    assert_eq!(hold(anew.request), Ok(()));
    assert_eq!(hold(long.request), Err(Wrong::Uncounted { request: long.request, why: Uncounted::Term }));
}

#[test]
fn line_50_the_state_after_it_is_the_one_that_it_names() {
    let group = Group::new(4, 2);
    let other = Decision { state: [9; 32], ..good(&group) };
    assert_eq!(judged(&group, &other), Err(Wrong::State));
}

#[test]
fn line_51_it_names_the_electorate_exactly_if_that_changes() {
    let group = Group::new(4, 2);
    let plain = good(&group);
    assert_eq!(plain.electorate, None);
    let other = Decision { electorate: Some(group.state().electorate()), ..plain };
    assert_eq!(judged(&group, &other), Err(Wrong::Electorate));
    let expulsion = group.decision(remove(3), &[0, 1, 2]).unwrap();
    assert_eq!(judged(&group, &expulsion), Ok(()));
    assert_eq!(expulsion.electorate.as_ref().map(|electorate| electorate.places.len()), Some(3));
    let silent = Decision { electorate: None, ..expulsion };
    assert_eq!(judged(&group, &silent), Err(Wrong::Electorate));
}
