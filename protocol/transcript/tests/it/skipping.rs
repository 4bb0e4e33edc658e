//! Going on to a later state without the decisions between.

use crate::group::{Group, by, elect, field, members, remove};
use crate::liars::both;
use folkmoot_base::Danger;
use folkmoot_transcript::{Applied, Change, Standing, State, Unproposed};

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

/// Decisions to which the founders alone have committed, who are a quorum of each electorate.
fn overlapping(changes: &[Change]) -> (Group, Group) {
    let mut group = Group::new(3, 2);
    group.let_in(&[3, 4], &[0, 1]);
    let behind = group.another();
    changes.iter().for_each(|change| by_the_first(&mut group, change));
    (group, behind)
}

fn by_the_first(group: &mut Group, change: &Change) {
    group.now += 60;
    let decision = group.decision(change.clone(), &[0, 1, 2]).unwrap();
    assert_eq!(group.apply(by(members(&[0, 1, 2]), decision)), Ok(Applied::Next));
}

/// What a member is shown that has the founders' electorate, without these handovers.
fn leaves_out(changes: &[Change], left_out: &[usize], danger: Option<Danger>) -> bool {
    let (group, behind) = overlapping(changes);
    let mut behind = behind.without(danger);
    let (all, last, state) = shown(&group, &behind);
    let shown = all.iter().enumerate().filter(|(place, _)| !left_out.contains(place));
    let shown: Vec<Standing> = shown.map(|(_, one)| one.clone()).collect();
    match behind.line.skip(&shown, &last, state.clone()) {
        Ok(applied) => applied == Applied::Next,
        Err(why) => {
            assert_eq!(why, Unproposed::Handover);
            assert_eq!(behind.line.skip(&all, &last, state), Ok(Applied::Next), "all of them lead on");
            false
        }
    }
}

/// An electorate that came and went: the last decision is by a quorum of the first one again.
#[test]
fn line_76_an_electorate_between_two_that_are_equal_is_shown() {
    let changes = [elect(&[0, 1, 2, 3, 4]), elect(&[0, 1, 2]), field("request_hours", "24")];
    both(Danger::LineNoRunning, |danger| leaves_out(&changes, &[0, 1], danger));
}

/// A handover whose electorate commits the next one as the one before it could have.
#[test]
fn line_76_a_handover_is_shown_although_the_next_could_do_without_it() {
    let changes = [elect(&[0, 1, 2, 3]), elect(&[0, 1, 2, 4]), field("request_hours", "24")];
    both(Danger::LineNoRunning, |danger| leaves_out(&changes, &[0], danger));
    // Also where people are removed and not only others elected.
    let changes = [elect(&[0, 1, 2, 3]), remove(3), elect(&[0, 1, 2, 4]), field("request_hours", "24")];
    both(Danger::LineNoRunning, |danger| leaves_out(&changes, &[0, 1], danger));
}

/// A line that was left and is gone on with elsewhere, with one electorate less.
#[test]
fn line_76_what_is_shown_of_another_line_has_every_electorate() {
    both(Danger::LineNoRunning, |danger| {
        let mut ours = Group::new(3, 2);
        ours.let_in(&[3, 4], &[0, 1]);
        let mut theirs = ours.another();
        ours.pass(field("request_hours", "24"), &[0, 1, 2]);
        theirs.pass(field("request_hours", "48"), &[0, 1, 2]);
        let then = [elect(&[0, 1, 2, 3]), elect(&[0, 1, 2, 4]), field("request_hours", "12")];
        then.iter().for_each(|change| by_the_first(&mut theirs, change));
        let (mut decisions, last) = theirs.line.side_from(2).unwrap();
        let whole = decisions.clone();
        decisions.remove(1);
        let mut member = ours.another().without(danger);
        let met = member.line.meet(&decisions, &last, theirs.state().clone());
        if danger.is_none() {
            assert_eq!(met, Err(Unproposed::Handover));
            let met = member.line.meet(&whole, &last, theirs.state().clone());
            assert!(matches!(met, Ok(Applied::Fork(_))));
        }
        met.is_ok()
    });
}

/// The digest begins with the founders, so two groups of other founders never have the same.
#[test]
fn line_76_who_skipped_shows_every_electorate_on() {
    let changes = [elect(&[0, 1, 2, 3, 4]), elect(&[0, 1, 2]), field("request_hours", "24")];
    let (group, behind) = overlapping(&changes);
    let mut first = behind.another();
    let (handovers, last, state) = shown(&group, &first);
    first.line.skip(&handovers, &last, state).unwrap();
    let mut newcomer = Group::new(3, 2);
    let (handovers, last, state) = shown(&first, &newcomer);
    assert_eq!(handovers.len(), 2);
    assert_eq!(newcomer.line.skip(&handovers[1..], &last, state.clone()), Err(Unproposed::Handover));
    assert_eq!(newcomer.line.skip(&handovers, &last, state), Ok(Applied::Next));
}
