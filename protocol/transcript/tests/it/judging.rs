//! What a voter judges of a fresh proposal.

use crate::ballots::{other, voters, wanted, wanting};
use crate::group::{DAY, Group, approved_by, elect, field, fresh, member, remove};
use crate::voter::{Voter, talk, told};
use folkmoot_base::{Danger, UnixTime};
use folkmoot_transcript::{Approval, Approved, Batch, Change, Decision, Effect, Refused, admission};
use std::collections::BTreeSet;

pub(crate) const RULE_AND: fn(Danger) -> [(Option<Danger>, usize); 2] =
    |danger| [(None, 0), (Some(danger), 1)];

/// How many judgements a voter gives of a fresh decision, so many seconds after the group's time.
fn judges(group: &Group, mut voter: Voter, seconds: u64, decision: Decision) -> usize {
    voter.said.clear();
    voter.hear(group, seconds, &told(group, &fresh(decision))).unwrap();
    voter.judgements().len()
}

fn without(group: &Group, danger: Option<Danger>) -> Voter {
    let mut voter = Voter::from_disk(group, 3, None, danger);
    voter.work(group, 0);
    voter
}

/// A decision with these effects, so many seconds after the group's time.
fn later(group: &Group, seconds: u64, effects: Vec<Approved>) -> Decision {
    let time = UnixTime(group.now + seconds);
    group.decide(Batch { time, effects, ..group.batch() }).unwrap()
}

#[test]
fn line_67_the_time_of_a_fresh_proposal_is_near_the_voters_clock() {
    for (danger, far) in RULE_AND(Danger::LineAnyClock) {
        let (group, effect) = wanting();
        let approved = || vec![group.approved(&effect, &[0, 1, 2])];
        let behind = |seconds| judges(&group, without(&group, danger), seconds, later(&group, 0, approved()));
        let ahead = |seconds| judges(&group, without(&group, danger), 0, later(&group, seconds, approved()));
        assert_eq!((behind(300), behind(301)), (1, far));
        assert_eq!((ahead(300), ahead(301)), (1, far));
    }
}

#[test]
fn line_67_nothing_that_was_known_for_a_minute_is_left_out() {
    for (danger, judged) in RULE_AND(Danger::LineLeavesOut) {
        let (mut group, effect) = wanting();
        let holds = other(&mut group).holds;
        let at = |seconds: u64, holds: &[_], effects| {
            let time = UnixTime(group.now + seconds);
            let batch = Batch { time, holds: holds.to_vec(), effects, ..group.batch() };
            judges(&group, without(&group, danger), seconds, group.decide(batch).unwrap())
        };
        let whole = || vec![group.approved(&effect, &[0, 1, 2])];
        assert_eq!((at(59, &holds, Vec::new()), at(60, &holds, Vec::new())), (1, judged), "the effect");
        assert_eq!((at(59, &[], whole()), at(60, &[], whole())), (1, judged), "the admission");
        assert_eq!(at(60, &holds, whole()), 1);
    }
}

/// A refusal that an owner leaves out would never bind anybody.
#[test]
fn line_67_refusals_are_not_left_out_and_not_invented() {
    let mut group = crate::admissions::with_objections(2);
    let admit = group.ask(5);
    group.take_admit(&admit);
    let holds = other(&mut group).holds;
    for voter in [0, 1] {
        let no = group.no(voter, admission(admit.request));
        group.take(no);
    }
    let refused = group.refused(admit.request, &[0, 1]);
    let of_another = Refused { csr: Some([4; 16]), ..refused.clone() };
    let judged = |refusals: Vec<Refused>, danger| {
        let time = UnixTime(group.now + 60);
        let batch = Batch { time, refusals, holds: holds.clone(), ..group.batch() };
        let mut voter = Voter::from_disk(&group, 2, None, danger);
        voter.work(&group, 0);
        judges(&group, voter, 60, group.decide(batch).unwrap())
    };
    assert_eq!(judged(vec![refused], None), 1);
    assert_eq!((judged(Vec::new(), None), judged(Vec::new(), Some(Danger::LineLeavesOut))), (0, 1));
    let another = || vec![of_another.clone()];
    assert_eq!((judged(another(), None), judged(another(), Some(Danger::LineCeasedCounts))), (0, 1));
}

/// A late admission that people want held is no less an effect than an expulsion.
#[test]
fn line_67_an_owner_cannot_leave_out_what_names_an_admission() {
    for (danger, judged) in RULE_AND(Danger::LineLeavesOut) {
        let mut group = Group::new(4, 2);
        let late = group.ask(6);
        group.take_admit(&late);
        group.want(&Effect::from(Change::Hold { request: late.request }), &[0, 1, 2]);
        let holds = other(&mut group).holds;
        let batch = Batch { time: UnixTime(group.now + 60), holds, ..group.batch() };
        assert_eq!(judges(&group, without(&group, danger), 60, group.decide(batch).unwrap()), judged);
    }
}

#[test]
fn line_67_a_fresh_proposal_holds_only_what_counts_here() {
    let mut group = Group::new(4, 2);
    let admit = group.ask(5);
    group.welcome(&admit, &[0]);
    let decision = group.decide(Batch { holds: vec![admit.request], ..group.batch() }).unwrap();
    let mut voter = without(&group, None);
    voter.hear(&group, 0, &told(&group, &fresh(decision.clone()))).unwrap();
    group.welcome(&admit, &[1]);
    voter.work(&group, 1);
    assert_eq!(voter.judgements(), [fresh(decision).report()], "now it does");
}

/// Its approvals count still, and objections have ended it.
#[test]
fn line_67_what_enough_object_to_is_not_held() {
    for (danger, judged) in RULE_AND(Danger::LineCeasedCounts) {
        let mut group = crate::admissions::with_objections(2);
        let admit = group.ask(5);
        group.welcome(&admit, &[0, 1]);
        let decision = group.decide(Batch { holds: vec![admit.request], ..group.batch() }).unwrap();
        for person in [2, 3] {
            let no = group.no(person, admission(admit.request));
            group.take(no);
        }
        assert_eq!(judges(&group, without(&group, danger), 0, decision), judged);
    }
}

/// It counts here still, and the clock of the owner is ahead.
#[test]
fn line_67_what_has_run_out_at_the_time_of_the_decision_may_be_left_out() {
    let (mut group, effect) = wanting();
    let admit = group.ask(5);
    for person in [0, 1] {
        let expires = UnixTime(group.now + 90);
        group.take(Approval { expires, ..group.yes(person, admission(admit.request)) });
    }
    group.take_admit(&admit);
    let at = |seconds| {
        let mut voter = without(&group, None);
        voter.work(&group, 60);
        let decision = later(&group, seconds, vec![group.approved(&effect, &[0, 1, 2])]);
        judges(&group, voter, 60, decision)
    };
    assert_eq!((at(90), at(91)), (0, 1));
}

/// Whose term ends with a decision is out, but was not expelled: it would come back by older
/// approvals. And nothing that names it can follow.
#[test]
fn line_67_nothing_is_left_out_because_a_term_ends_with_the_decision() {
    for change in [remove(5), elect(&[0, 1, 2, 3, 5])] {
        for (danger, judged) in RULE_AND(Danger::LineLeavesOut) {
            let mut group = Group::new(4, 2);
            let ends = group.let_in(&[5], &[0, 1])[0].ends.0;
            group.wait(299);
            group.now = ends - 90;
            let effect = Effect::from(change.clone());
            group.want(&effect, &[0, 1, 2]);
            let at = |seconds, effects| {
                let mut voter = without(&group, danger);
                voter.work(&group, 60);
                judges(&group, voter, 60, later(&group, seconds, effects))
            };
            assert_eq!(at(91, Vec::new()), judged);
            assert_eq!(at(91, vec![group.approved(&effect, &[0, 1, 2])]), 1);
        }
    }
}

/// Of two effects one stands only behind the other. Whatever their names are, the owner proposes
/// both, and the others judge nothing less.
#[test]
fn line_67_what_stands_behind_a_later_name_is_in_the_decision_too() {
    let mut orders = BTreeSet::new();
    for person in 5..13 {
        let mut group = Group::new(4, 2);
        group.let_in(&[person], &[0, 1]);
        let (elects, threshold) = (elect(&[0, 1, 2, 3, person]), field("threshold", "5"));
        let effects = [elects, threshold].map(Effect::from);
        effects.iter().for_each(|effect| group.want(effect, &[0, 1, 2]));
        let [first, then] = [0, 1].map(|one| group.approved(&effects[one], &[0, 1, 2]));
        assert!(group.decide(Batch { effects: vec![then.clone()], ..group.batch() }).is_err());
        orders.insert(effects[0].subject().digest < effects[1].subject().digest);
        let owner = (0..4).find(|one| group.state().owner(0) == member(*one)).unwrap();
        let mut owner = Voter::new(&group, owner);
        owner.work(&group, 0);
        let proposed = &owner.proposals()[0].decision;
        let changes: Vec<_> = proposed.effects.iter().map(|one| &one.effect).collect();
        assert_eq!(changes, effects.iter().collect::<Vec<_>>());
        let mut voter = without(&group, None);
        voter.work(&group, 60);
        assert_eq!(judges(&group, voter, 60, later(&group, 60, vec![first.clone()])), 0);
        let mut voter = without(&group, None);
        voter.work(&group, 60);
        assert_eq!(judges(&group, voter, 60, later(&group, 60, vec![first, then])), 1);
    }
    assert_eq!(orders.len(), 2, "either name comes first");
}

/// Somebody takes back what an owner, who has not heard of it yet, decides.
#[test]
fn line_67_what_counted_within_the_last_minute_may_be_decided() {
    for (danger, judged) in RULE_AND(Danger::LineCeasedCounts) {
        let mut group = Group::new(4, 2);
        let admit = group.ask(5);
        let effect = Effect::from(field("request_hours", "24"));
        group.welcome(&admit, &[0, 1]);
        group.want(&effect, &[0, 1, 2]);
        let mut voter = Voter::from_disk(&group, 3, None, danger);
        voter.work(&group, 0);
        let effects = vec![group.approved(&effect, &[0, 1, 2])];
        let holds = group.decide(Batch { holds: vec![admit.request], ..group.batch() }).unwrap();
        let decisions = [holds, later(&group, 0, effects)];
        for subject in [admission(admit.request), effect.subject()] {
            let no = group.no(0, subject);
            assert!(group.take(Approval { turn: 1, ..no }));
        }
        voter.work(&group, 10);
        let record = voter.record.clone();
        for decision in decisions {
            let mut soon = Voter { said: Vec::new(), record: record.clone(), ..without(&group, danger) };
            std::mem::swap(&mut soon.ballots, &mut voter.ballots);
            soon.hear(&group, 70, &told(&group, &fresh(decision.clone()))).unwrap();
            assert_eq!(soon.judgements().len(), 1, "it counted a minute ago");
            std::mem::swap(&mut soon.ballots, &mut voter.ballots);
            assert_eq!(judges(&group, without(&group, danger), 10, decision), judged, "it never did");
        }
    }
}

#[test]
fn line_67_what_ceased_to_count_more_than_a_minute_ago_is_not_decided() {
    for (danger, judged) in RULE_AND(Danger::LineCeasedCounts) {
        let mut group = Group::new(4, 2);
        let effect = Effect::from(field("request_hours", "24"));
        group.want(&effect, &[0, 1, 2]);
        let mut voter = without(&group, danger);
        let decision = later(&group, 0, vec![group.approved(&effect, &[0, 1, 2])]);
        let no = group.no(0, effect.subject());
        group.take(Approval { turn: 1, ..no });
        voter.work(&group, 10);
        assert_eq!(judges(&group, voter, 71, decision), judged);
    }
}

/// A machine that was suspended wakes up with what counted when it fell asleep.
#[test]
fn line_67_what_ran_out_while_nobody_looked_has_not_just_ceased_to_count() {
    for (danger, judged) in RULE_AND(Danger::LineCeasedCounts) {
        let mut group = Group::new(4, 2);
        let admit = group.ask(5);
        let effect = Effect::from(field("request_hours", "24"));
        let end = UnixTime(group.now + 10);
        group.welcome(&admit, &[]);
        group.want(&effect, &[]);
        for (person, subject) in
            [0, 1, 2].into_iter().flat_map(|one| [(one, admission(admit.request)), (one, effect.subject())])
        {
            let yes = group.yes(person, subject);
            group.take(Approval { expires: end, ..yes });
        }
        let yes = [0, 1, 2].map(|one| Approval { expires: end, ..group.yes(one, effect.subject()) });
        let effects = vec![approved_by(&effect, yes.to_vec())];
        let holds = group.decide(Batch { holds: vec![admit.request], ..group.batch() }).unwrap();
        for decision in [holds, later(&group, 0, effects)] {
            let asleep = |seconds| {
                let mut voter = without(&group, danger);
                voter.work(&group, 0);
                judges(&group, voter, seconds, decision.clone())
            };
            assert_eq!((asleep(60), asleep(200)), (1, judged));
        }
    }
}

/// The approvals may be unknown here, and their ends are not.
#[test]
fn line_67_approvals_that_ran_out_more_than_a_minute_ago_carry_nothing() {
    for (danger, judged) in RULE_AND(Danger::LineCeasedCounts) {
        let group = Group::new(4, 2);
        let effect = Effect::from(field("request_hours", "24"));
        let short =
            |person| Approval { expires: UnixTime(group.now + 10), ..group.yes(person, effect.subject()) };
        let decision = later(&group, 0, vec![approved_by(&effect, [0, 1, 2].map(short).to_vec())]);
        let at = |seconds| judges(&group, without(&group, danger), seconds, decision.clone());
        assert_eq!((at(70), at(71)), (1, judged));
    }
}

#[test]
fn line_04_a_decision_that_does_nothing_has_a_reason() {
    let (group, effect) = wanting();
    let one = fresh(wanted(&group, &effect));
    let mut committed = Voter::new(&group, 3);
    committed.hear_judged(&group, 301, &one);
    let mut judged = Voter::new(&group, 3);
    judged.hear(&group, 0, &told(&group, &one)).unwrap();
    let group = Group::new(4, 2);
    let empty = group.decide(group.batch()).unwrap();
    let judges =
        |record, danger| judges(&group, Voter::from_disk(&group, 3, record, danger), 0, empty.clone());
    for (danger, may) in RULE_AND(Danger::LineJudgesEmpty) {
        assert_eq!(judges(None, danger), may);
    }
    for (danger, rests) in RULE_AND(Danger::LineJudgedRests) {
        assert_eq!(judges(judged.record.clone(), danger), 1 - rests);
        assert_eq!(judges(committed.record.clone(), danger), 1 - rests);
    }
}

/// Members without a clock see what has ended by the time of a decision.
#[test]
fn line_04_a_decision_takes_the_time_to_where_past_is() {
    let mut group = Group::new(4, 2);
    let admit = group.ask(5);
    group.welcome(&admit, &[0, 1]);
    group.now += 31 * DAY;
    let empty = group.decide(group.batch()).unwrap();
    assert_eq!(judges(&group, without(&group, None), 0, empty.clone()), 0);
    let mut rested = voters(&group, &[0]).remove(0);
    rested.work(&group, 0);
    let clock = UnixTime(group.now);
    let (state, set) = group.line.set_mut();
    assert!(set.raise(state, clock));
    assert_eq!(judges(&group, without(&group, None), 0, empty), 1);
    let mut owner = voters(&group, &[0]).remove(0);
    owner.work(&group, 0);
    assert_eq!((rested.proposals().len(), owner.proposals().len()), (0, 1));
    group.follow(owner.proposals().remove(0).decision);
    assert!(!group.is_member(5) && group.state().time() == clock);
    let mut owner = voters(&group, &[1]).remove(0);
    owner.work(&group, 1);
    assert!(owner.proposals().is_empty(), "once is enough");
}

/// A quorum that lied has put the time of the line two days ahead.
#[test]
fn line_94_voters_take_the_time_back_to_their_clocks() {
    let (mut group, effect) = wanting();
    group.now += 2 * DAY;
    let decision = group.decision(field("request_days", "9"), &[0, 1, 2]).unwrap();
    group.follow(decision);
    group.now -= 2 * DAY;
    group.want(&effect, &[0, 1, 2]);
    let decided = |group: &Group| {
        let mut all = voters(group, &[0, 1, 2, 3]);
        talk(group, &mut all, 0, 20);
        all.remove(0).stands.map(|standing| standing.proposal.decision)
    };
    assert_eq!(decided(&group), None);
    let back = Change::Retime { head: group.head() };
    group.want(&back.clone().into(), &[0, 1, 2]);
    let decision = decided(&group).unwrap();
    let effects: Vec<Change> = decision.effects.iter().map(|one| one.effect.change.clone()).collect();
    assert_eq!((decision.time.0, effects), (group.now, vec![effect.change, back]));
    group.follow(decision);
}

/// The owner of ballot 0 shows a proposal to all, and is silent. The votes run out meanwhile.
#[test]
fn line_04_nothing_that_was_judged_stays_in_a_drawer() {
    for danger in [None, Some(Danger::LineJudgedRests)] {
        let mut group = Group::new(4, 2);
        let effect = Effect::from(field("request_hours", "24"));
        let short =
            |person| Approval { expires: UnixTime(group.now + 10), ..group.yes(person, effect.subject()) };
        let one = fresh(later(&group, 0, vec![approved_by(&effect, [0, 1, 2].map(short).to_vec())]));
        let mut all = [1, 2, 3].map(|person| Voter::from_disk(&group, person, None, danger));
        all.iter_mut().for_each(|voter| voter.hear(&group, 0, &told(&group, &one)).unwrap());
        let mut all = all.map(|voter| Voter { said: Vec::new(), ..voter });
        talk(&group, &mut all, 400, 60);
        let stood: Vec<Decision> =
            all.iter().filter_map(|voter| Some(voter.stands.as_ref()?.proposal.decision.clone())).collect();
        assert_eq!(stood.len(), if danger.is_none() { 3 } else { 0 });
        if let Some(decision) = stood.into_iter().next() {
            assert!(decision.effects.is_empty());
            group.follow(decision);
        }
    }
}

/// Whoever has judged something has promised more ballots than anybody knows of since all were
/// started anew.
#[test]
fn line_04_voters_join_whoever_has_promised_beyond_the_last_ballot() {
    for danger in [None, Some(Danger::LineJudgedRests)] {
        let group = Group::new(4, 2);
        let effect = Effect::from(field("request_hours", "24"));
        let short =
            |person| Approval { expires: UnixTime(group.now + 10), ..group.yes(person, effect.subject()) };
        let one = fresh(later(&group, 0, vec![approved_by(&effect, [0, 1, 2].map(short).to_vec())]));
        let mut first = Voter::new(&group, 1);
        first.hear(&group, 0, &told(&group, &one)).unwrap();
        let mut record = first.record.unwrap();
        record.promised = 5;
        let mut all = [(1, Some(record)), (2, None), (3, None)]
            .map(|(person, record)| Voter::from_disk(&group, person, record, danger));
        talk(&group, &mut all, 400, 60);
        let stood = all.iter().filter(|voter| voter.stands.is_some()).count();
        assert_eq!(stood, if danger.is_none() { 3 } else { 0 });
    }
}

/// Only one voter was shown the proposal. The others join it, but not before the last decision is a
/// day old.
#[test]
fn line_04_whoever_has_judged_alone_is_joined_after_a_day() {
    for (danger, rests) in RULE_AND(Danger::LineJudgedRests) {
        let mut group = Group::new(4, 2);
        group.pass(field("request_days", "7"), &[0, 1, 2]);
        let effect = Effect::from(field("request_hours", "24"));
        let short =
            |person| Approval { expires: UnixTime(group.now + 10), ..group.yes(person, effect.subject()) };
        let one = fresh(later(&group, 0, vec![approved_by(&effect, [0, 1, 2].map(short).to_vec())]));
        let mut all = [0, 2, 3].map(|person| Voter::from_disk(&group, person, None, danger));
        all[0].hear(&group, 0, &told(&group, &one)).unwrap();
        let mut all = all.map(|voter| Voter { said: Vec::new(), ..voter });
        let stood = |all: &[Voter]| all.iter().filter(|voter| voter.stands.is_some()).count();
        talk(&group, &mut all, 400, 60);
        assert_eq!(stood(&all), 0);
        talk(&group, &mut all, DAY, 300);
        assert_eq!(stood(&all), if rests == 0 { 3 } else { 0 });
    }
}
