//! The line's time, which was ahead of the voters' clocks, goes back to them.

use crate::group::{DAY, Group, field, member, remove};
use folkmoot_base::UnixTime;
use folkmoot_transcript::{
    Approved, Batch, Change, Decision, Effect, Head, LIFE_SECONDS, Refuted, Uncounted, Unfit, Wrong,
};

const YEARS: u64 = 174 * 365 * DAY;

/// A quorum has decided something 174 years ahead; and when it really was.
fn far() -> (Group, u64) {
    let mut group = Group::new(4, 2);
    group.pass(field("request_hours", "24"), &[0, 1, 2]);
    let now = group.now;
    group.now += YEARS;
    group.follow(group.decide(group.batch()).unwrap());
    (group, now)
}

fn retime(head: Head) -> Effect {
    Change::Retime { head }.into()
}

/// What these decide at a time, with approvals that still count then.
fn at(group: &Group, time: u64, effect: &Effect, people: &[usize]) -> Result<Decision, Wrong> {
    let effects = vec![group.approved(effect, people)];
    group.decide(Batch { time: UnixTime(time), effects, ..Batch::default() })
}

#[test]
fn line_94_only_a_retime_of_the_head_takes_the_time_back() {
    let (group, now) = far();
    let head = group.head();
    let older = group.state().decision_at(1).unwrap();
    assert_eq!(at(&group, now, &field("request_hours", "48").into(), &[0, 1, 2]), Err(Wrong::Time));
    for other in [older, Head { digest: [7; 32], ..head }] {
        assert_eq!(at(&group, now, &retime(other), &[0, 1, 2]), Err(Wrong::Time));
        let refused = at(&group, group.now, &retime(other), &[0, 1, 2]);
        assert_eq!(refused, Err(Wrong::Effect { place: 0, why: Refuted::Unfit(Unfit::Retime) }));
    }
    let few = at(&group, now, &retime(head), &[1]);
    let why = Refuted::Uncounted(Uncounted::TooFew { got: 1, need: 2 });
    assert_eq!(few, Err(Wrong::Effect { place: 0, why }));
    assert!(at(&group, now, &retime(head), &[0, 1, 2]).is_ok());
}

#[test]
fn line_94_a_retime_acts_once() {
    let (mut group, now) = far();
    let effect = retime(group.head());
    let kept: Approved = group.approved(&effect, &[0, 1, 2]);
    group.follow(at(&group, now, &effect, &[0, 1, 2]).unwrap());
    assert_eq!(group.state().time(), UnixTime(now));
    group.now = now + 60;
    let again = group.decide(Batch { effects: vec![kept], ..group.batch() });
    assert!(matches!(again, Err(Wrong::Effect { why: Refuted::Uncounted(Uncounted::BeforeSince(_)), .. })));
    let approved = group.decision(effect, &[0, 1, 2]);
    assert_eq!(approved, Err(Wrong::Effect { place: 0, why: Refuted::Unfit(Unfit::Retime) }));
}

/// It might have been approved until any time.
#[test]
fn line_94_what_was_approved_before_a_retime_acts_no_more() {
    let (mut group, now) = far();
    let kept = group.approved(&remove(3).into(), &[0, 1, 2]);
    let admit = group.ask(5);
    group.welcome(&admit, &[0, 1]);
    assert!(group.is_member(5));
    group.follow(at(&group, now, &retime(group.head()), &[0, 1, 2]).unwrap());
    let number = group.head().number;
    assert!(group.state().places().iter().all(|place| place.since == number));
    assert!(!group.is_member(5) && group.set().approvals().count() == 0);
    group.now = now;
    let refused = group.decide(Batch { effects: vec![kept], ..group.batch() });
    assert!(matches!(refused, Err(Wrong::Effect { why: Refuted::Uncounted(Uncounted::BeforeSince(_)), .. })));
    assert!(group.decision(remove(3), &[0, 1, 2]).is_ok());
    let anew = group.ask(5);
    group.welcome(&anew, &[0, 1]);
    assert!(group.is_member(5));
}

/// What was the head until 2200 would be recent for 174 years.
#[test]
fn line_94_the_times_of_recent_decisions_come_down_with_it() {
    let (mut group, now) = far();
    let (before, lie) = (group.state().decision_at(1).unwrap(), group.head());
    group.follow(at(&group, now, &retime(lie), &[0, 1, 2]).unwrap());
    group.now = now;
    for (days, recent) in [(LIFE_SECONDS / DAY, true), (1, false)] {
        group.wait(days);
        for head in [before, lie] {
            assert_eq!(group.state().has_on_line(&head), recent, "{head}");
        }
    }
    assert!(group.state().may_vote(&member(3)));
}

/// The time may also stay ahead, or go on: people say where the line is by what they approve.
#[test]
fn line_94_a_retime_goes_with_other_effects() {
    let (mut group, now) = far();
    let (back, other) = (retime(group.head()), Effect::from(field("request_hours", "48")));
    let effects = vec![group.approved(&back, &[0, 1, 2]), group.approved(&other, &[0, 1, 2])];
    // What is judged after it was approved before it, too.
    let both = group.decide(Batch { time: UnixTime(now), effects, ..Batch::default() });
    assert!(matches!(both, Err(Wrong::Effect { place: 1, .. })));
    let effects = vec![group.approved(&other, &[0, 1, 2]), group.approved(&back, &[0, 1, 2])];
    let both = group.decide(Batch { time: UnixTime(now), effects, ..Batch::default() }).unwrap();
    group.follow(both);
    assert_eq!(group.state().charter().request_hours(), 48);
}
