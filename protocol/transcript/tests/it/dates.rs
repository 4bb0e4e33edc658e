//! Whoever alone is a quorum shows its person the date before the line's time moves far.

use crate::group::{DAY, Group, field, fresh, member};
use crate::judging::RULE_AND;
use crate::voter::{Voter, told};
use folkmoot_base::{Danger, UnixTime};
use folkmoot_transcript::{Decision, Effect};

const MONTH: u64 = 30 * DAY;

/// As many founders have decided something; later, all want something else.
fn later(founders: usize, seconds: u64) -> Group {
    let mut group = Group::new(founders, 1);
    let all: Vec<usize> = (0..founders).collect();
    group.pass(field("request_hours", "24"), &all);
    group.now += seconds;
    group.want(&wanted(), &all);
    group
}

fn wanted() -> Effect {
    field("request_hours", "48").into()
}

fn date(group: &Group, seconds: u64) -> UnixTime {
    UnixTime(group.now + seconds)
}

/// Whether the voter waits for its person, and whether it has said anything.
fn waits(voter: &Voter, group: &Group) -> (Option<bool>, bool) {
    (voter.ballots.asks_date(group.state(), date(group, 0)), !voter.said.is_empty())
}

#[test]
fn line_95_whoever_alone_is_a_quorum_asks_before_the_time_moves_far() {
    for (danger, asked) in [(None, (Some(true), false)), (Some(Danger::LineAloneUnasked), (None, true))] {
        let group = later(1, MONTH).without(danger);
        let mut voter = Voter::from_disk(&group, 0, None, danger);
        voter.work(&group, 0);
        assert_eq!(waits(&voter, &group), asked);
        assert_eq!(voter.stands.is_some(), danger.is_some());
        // It promises nothing meanwhile, however long that is.
        voter.work(&group, 4);
        voter.work(&group, 400);
        assert!(voter.promised().is_empty());
        voter.ballots.know_date(date(&group, 400));
        voter.work(&group, 401);
        assert!(voter.stands.is_some());
    }
}

#[test]
fn line_95_nobody_is_asked_before_that_nor_before_the_first_decision() {
    let group = later(1, MONTH - 1);
    let mut voter = Voter::new(&group, 0);
    voter.work(&group, 0);
    assert_eq!((waits(&voter, &group), voter.stands.is_some()), ((None, true), true));
    let mut first = Group::new(1, 1);
    first.now += 10 * MONTH;
    first.want(&wanted(), &[0]);
    let mut voter = Voter::new(&first, 0);
    voter.work(&first, 0);
    assert!(voter.stands.is_some());
}

/// A member that runs all the time has the time told before it would have to ask.
#[test]
fn line_95_whoever_runs_is_not_asked() {
    for (seconds, stands) in [(29 * DAY - 1, false), (29 * DAY, true)] {
        let mut group = later(1, 0);
        group.follow(group.decision(wanted(), &[0]).unwrap());
        group.now += seconds;
        assert!(group.set().approvals().next().is_some(), "the yes to what was decided");
        let mut voter = Voter::new(&group, 0);
        voter.work(&group, 0);
        assert_eq!((waits(&voter, &group).0, voter.stands.is_some()), (None, stands));
    }
}

#[test]
fn line_95_a_word_is_for_one_day_of_the_clock() {
    let group = later(1, 2 * MONTH);
    for (seconds, stands) in [(99, false), (100, true), (100 + DAY, true), (101 + DAY, false)] {
        let mut voter = Voter::new(&group, 0);
        voter.work(&group, 0);
        voter.ballots.know_date(date(&group, 100));
        voter.work(&group, seconds);
        assert_eq!(voter.stands.is_some(), stands, "{seconds}");
    }
    // Nothing is due, and the next one will wait.
    let mut idle = Group::new(1, 1);
    idle.pass(field("request_hours", "24"), &[0]);
    idle.now += MONTH;
    let mut voter = Voter::new(&idle, 0);
    voter.work(&idle, 0);
    assert_eq!(waits(&voter, &idle), (Some(false), false));
}

/// What Ben proposes by a clock like Anna's.
fn proposed(group: &Group) -> Decision {
    group.decision(wanted(), &[0, 1]).unwrap()
}

/// Of two, the first alone is a quorum. So she is asked whoever proposes, and the second is not.
#[test]
fn line_95_of_two_the_first_is_asked_whoever_proposes() {
    for (danger, judged) in RULE_AND(Danger::LineAloneUnasked) {
        let group = later(2, MONTH).without(danger);
        let one = fresh(proposed(&group));
        let [mut anna, mut ben] = [0, 1].map(|person| Voter::from_disk(&group, person, None, danger));
        for voter in [&mut anna, &mut ben] {
            voter.hear(&group, 0, &told(&group, &one)).unwrap();
        }
        assert_eq!((anna.judgements().len(), ben.judgements().len()), (judged, 1));
        anna.ballots.know_date(date(&group, 0));
        anna.work(&group, 1);
        assert!(anna.judgements().len() == 1 && anna.stands.is_some());
    }
    assert!(later(2, MONTH).state().asks_date(&member(0), UnixTime(u64::MAX)));
    assert!(!later(2, MONTH).state().asks_date(&member(1), UnixTime(u64::MAX)));
    assert!(!later(3, MONTH).state().asks_date(&member(0), UnixTime(u64::MAX)), "others have clocks");
}

/// A process that was stopped between its commit and the end goes on.
#[test]
fn line_95_what_was_committed_to_is_decided_whatever_the_date() {
    let group = later(2, 0);
    let one = fresh(proposed(&group));
    let mut anna = Voter::new(&group, 0);
    anna.hear_judged(&group, 0, &one);
    let record = anna.record.clone().filter(|record| record.committed.is_some());
    let mut late = group.another();
    late.now += MONTH;
    let mut again = Voter::from_disk(&late, 0, Some(record.unwrap()), None);
    again.work(&late, 1);
    again.work(&late, 5);
    assert_eq!(again.promised().len(), 1);
}
