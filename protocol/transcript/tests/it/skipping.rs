//! Going on to a later state without the decisions between.

use crate::group::{Group, elect, field, remove};
use folkmoot_transcript::{Applied, Standing, State, Unproposed};

/// A group that changes its electorate twice; and a member that was there at the founding only.
fn ahead() -> (Group, Group) {
    let mut group = Group::new(3, 2);
    let behind = group.another();
    group.let_in(&[3, 4], &[0, 1]);
    group.pass(elect(&[0, 1, 2, 3, 4]), &[0, 1]);
    group.pass(field("request_hours", "24"), &[0, 3, 4]);
    group.pass(remove(2), &[0, 3, 4]);
    group.pass(field("request_hours", "48"), &[0, 3, 4]);
    (group, behind)
}

fn shown(group: &Group, behind: &Group) -> (Vec<Standing>, Standing, State) {
    let (handovers, last) = group.line.handovers_since(behind.head().number).unwrap();
    (handovers, last, group.state().clone())
}

#[test]
fn line_70_each_handover_is_committed_by_those_whom_the_one_before_names() {
    let (group, mut behind) = ahead();
    let (handovers, last, state) = shown(&group, &behind);
    assert_eq!(handovers.len(), 2);
    for without in [&handovers[1..], &handovers[..0]] {
        let refused = behind.line.skip(without, &last, state.clone());
        assert_eq!(refused, Err(Unproposed::Commits), "the founders did not commit to it");
    }
    let backwards: Vec<_> = handovers.iter().rev().cloned().collect();
    assert!(behind.line.skip(&backwards, &last, state.clone()).is_err());
    let mut foreign = handovers.clone();
    foreign[0].proposal.decision.group = folkmoot_base::GroupId([9; 32]);
    assert_eq!(behind.line.skip(&foreign, &last, state.clone()), Err(Unproposed::Handover));
    let twice = [handovers[0].clone(), handovers[0].clone()];
    assert_eq!(behind.line.skip(&twice, &last, state.clone()), Err(Unproposed::Handover));
    assert_eq!(behind.line.skip(&handovers, &last, state), Ok(Applied::Next));
    assert_eq!(behind.line.mark().0, group.head());
    assert_eq!(behind.state().digest(), group.state().digest());
}

#[test]
fn line_70_whoever_skipped_goes_on_and_shows_others_the_way() {
    let (mut group, behind) = ahead();
    let mut first = behind.another();
    let (handovers, last, state) = shown(&group, &first);
    first.line.skip(&handovers, &last, state).unwrap();
    let next = group.pass(field("request_hours", "12"), &[0, 3, 4]);
    assert_eq!(first.apply(next), Ok(Applied::Next));
    let mut second = behind.another();
    let (handovers, last, state) = shown(&first, &second);
    assert_eq!(second.line.skip(&handovers, &last, state), Ok(Applied::Next));
    assert_eq!(second.head(), group.head());
}

#[test]
fn line_71_the_state_is_the_one_that_the_last_decision_names() {
    let (mut group, mut behind) = ahead();
    let (handovers, last, _) = shown(&group, &behind);
    let before = group.line.decisions()[&(group.head().number - 1)].clone();
    let state = group.state().clone();
    assert_eq!(behind.line.skip(&handovers[..1], &before, state), Err(Unproposed::State));
    group.pass(field("request_hours", "12"), &[0, 3, 4]);
    let refused = behind.line.skip(&handovers, &last, group.state().clone());
    assert_eq!(refused, Err(Unproposed::State));
}

#[test]
fn line_72_the_state_shows_our_head_on_its_line() {
    let (mut group, mut founded) = ahead();
    // A member that another line led to decision 1': nothing leads from there to here.
    let mut astray = founded.another();
    astray.let_in(&[5], &[0, 1]);
    let (handovers, last, state) = shown(&group, &founded);
    assert_eq!(astray.line.skip(&handovers, &last, state), Err(Unproposed::TooOld));
    // One that has a decision of this line is led on as long as that is a recent one.
    let away = group.another();
    group.wait(31);
    group.wait(31);
    let mut early = away.another();
    let (handovers, last, state) = shown(&group, &early);
    assert_eq!(early.line.skip(&handovers, &last, state), Ok(Applied::Next));
    group.wait(31);
    group.wait(31);
    let mut late = away.another();
    let (handovers, last, state) = shown(&group, &late);
    assert_eq!(late.line.skip(&handovers, &last, state.clone()), Err(Unproposed::TooOld));
    let (handovers, last, _) = shown(&group, &founded);
    let skipped = founded.line.skip(&handovers, &last, state);
    assert_eq!(skipped, Ok(Applied::Next), "the founding is on every line");
}
