//! Which approvals count, and which of a voter's approvals stands.

use crate::group::{DAY, Group, START, elect, field, member, remove, signature};
use folkmoot_base::{Danger, UnixTime};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Approval, Batch, Effect, Head, LIFE_SECONDS, Signed, Uncounted, admission};

fn at(group: &Group) -> UnixTime {
    UnixTime(group.now)
}

#[test]
fn line_10_the_base_is_a_recent_decision_of_our_line() {
    let mut group = Group::new(3, 2);
    let subject = Effect::from(remove(2)).subject();
    let old = group.yes(0, subject);
    let foreign = Approval { base: Head { number: 0, digest: [7; 32] }, ..old };
    let refused = Err(Uncounted::OffLine(old.voter));
    assert_eq!(group.state().counts(&foreign, 0, at(&group)), refused);
    group.pass(field("request_hours", "24"), &[0, 1]);
    let ahead = Approval { base: Head { number: 2, digest: group.head().digest }, ..old };
    assert_eq!(group.state().counts(&ahead, 0, at(&group)), refused);
    assert_eq!(group.state().counts(&old, 0, at(&group)), Ok(()));
    // The founding was the head until now: it is known for as long as an approval may live.
    let old = Approval { expires: UnixTime(u64::MAX), ..old };
    group.wait(LIFE_SECONDS / DAY);
    assert_eq!(group.state().counts(&old, 0, at(&group)), Ok(()));
    group.wait(31);
    assert_eq!(group.state().counts(&old, 0, at(&group)), refused);
}

#[test]
fn line_11_only_voters_approve() {
    let mut group = Group::new(3, 2);
    group.let_in(&[5], &[0, 1]);
    let subject = Effect::from(remove(2)).subject();
    let no_vote = group.yes(5, subject);
    assert_eq!(group.state().counts(&no_vote, 0, at(&group)), Err(Uncounted::NotVoter(no_vote.voter)));
    assert!(!group.take(no_vote), "it is not even kept");
    let voter = group.yes(1, subject);
    assert_eq!(group.state().counts(&voter, 0, at(&group)), Ok(()));
}

#[test]
fn line_12_nobody_approves_before_it_has_a_vote() {
    let mut group = Group::new(3, 2);
    group.let_in(&[5], &[0, 1]);
    let subject = Effect::from(remove(2)).subject();
    let early = group.yes(5, subject);
    group.pass(elect(&[0, 1, 2, 5]), &[0, 1]);
    assert_eq!(group.state().counts(&early, 0, at(&group)), Err(Uncounted::BeforeSince(early.voter)));
    let now = group.yes(5, subject);
    assert_eq!(group.state().counts(&now, 0, at(&group)), Ok(()));
}

/// What it said before was dropped when its term ended: the yes that a certificate shows for ever,
/// and the no that took it back.
#[test]
fn line_12_whoever_is_held_anew_approves_anew() {
    let mut group = Group::new(3, 2);
    group.let_in(&[5], &[0, 1]);
    group.pass(elect(&[0, 1, 2, 5]), &[0, 1]);
    group.wait(290);
    let early = group.yes(5, Effect::from(remove(2)).subject());
    assert_eq!(group.state().counts(&early, 0, at(&group)), Ok(()));
    group.wait(31);
    assert_eq!(group.state().counts(&early, 0, at(&group)), Err(Uncounted::NotVoter(early.voter)));
    group.let_in(&[5], &[0, 1]);
    assert_eq!(group.state().counts(&early, 0, early.expires), Err(Uncounted::BeforeSince(early.voter)));
    let now = group.yes(5, early.subject);
    assert_eq!(group.state().counts(&now, 0, at(&group)), Ok(()));
}

#[test]
fn line_12_a_place_that_is_kept_is_as_old_as_before() {
    let mut group = Group::new(3, 2);
    let early = group.yes(2, Effect::from(remove(1)).subject());
    group.pass(elect(&[2, 1, 0]), &[0, 1]);
    assert_eq!(group.state().counts(&early, 0, at(&group)), Ok(()));
}

#[test]
fn line_13_what_changed_since_is_approved_anew() {
    let mut group = Group::new(3, 2);
    let effect = Effect::from(field("request_hours", "24"));
    let other = Effect::from(field("certificate_days", "100"));
    let (old, apart) = (group.yes(0, effect.subject()), group.yes(0, other.subject()));
    group.pass(field("request_hours", "48"), &[0, 1]);
    let stamp = group.state().stamp(&effect.change);
    assert_eq!(stamp, 1);
    let why = Err(Uncounted::BeforeStamp(old.voter));
    assert_eq!(group.state().counts(&old, stamp, at(&group)), why);
    // Each field has a stamp of its own.
    assert_eq!(group.state().counts(&apart, group.state().stamp(&other.change), at(&group)), Ok(()));
    let anew = group.yes(0, effect.subject());
    assert_eq!(group.state().counts(&anew, stamp, at(&group)), Ok(()));
}

#[test]
fn line_14_what_ran_out_does_not_count() {
    let group = Group::new(3, 2);
    let subject = Effect::from(remove(2)).subject();
    let approval = Approval { expires: UnixTime(START + 10), ..group.yes(0, subject) };
    assert_eq!(group.state().counts(&approval, 0, UnixTime(START + 10)), Ok(()));
    let why = Err(Uncounted::Expired(approval.voter));
    assert_eq!(group.state().counts(&approval, 0, UnixTime(START + 11)), why);
}

/// Every order of these approvals leaves the same one.
fn left(group: &Group, approvals: &[Approval]) -> Approval {
    let mut left = Vec::new();
    for first in 0..approvals.len() {
        for backwards in [false, true] {
            let mut group = group.another();
            let mut order: Vec<Approval> = approvals.to_vec();
            order.rotate_left(first);
            if backwards {
                order.reverse();
            }
            for approval in order {
                group.take(approval);
            }
            let one = approvals[0];
            let stands = group.set().approval(&one.subject, &one.voter).unwrap().approval;
            left.push((stands, group.set().digest()));
        }
    }
    assert!(left.iter().all(|one| *one == left[0]), "the order of arrival makes no difference");
    left[0].0
}

/// The oldest base is forgotten first. If what is over it stood in place of what is over a later
/// one, a member that took both would lose both, and one that took the other afterwards would not.
#[test]
fn line_15_of_one_voter_the_latest_base_stands() {
    let mut group = Group::new(3, 2);
    let subject = Effect::from(remove(2)).subject();
    let old = Approval { turn: 7, ..group.no(0, subject) };
    group.now += 50 * DAY;
    group.pass(field("request_hours", "24"), &[0, 1]);
    let new = group.yes(0, subject);
    assert_eq!(left(&group, &[old, new]), new);
    let (mut both, mut later) = (group.another(), group.another());
    both.take(old);
    both.take(new);
    for group in [&mut both, &mut later] {
        group.now += LIFE_SECONDS + 1;
        group.pass(field("request_hours", "25"), &[0, 1]);
    }
    assert!(!later.take(old), "its base is known no more");
    later.take(new);
    assert_eq!(both.line.mark(), later.line.mark());
    assert_eq!(both.set().approvals().count(), 1);
}

/// Of the yeses that do not stand none is dropped for one that runs out before it.
#[test]
fn a_yes_that_was_taken_back_is_kept_whenever_it_came() {
    let mut group = Group::new(3, 2);
    let admit = group.ask(5);
    group.take_admit(&admit);
    let subject = admission(admit.request);
    let long = group.yes(0, subject);
    group.pass(field("request_hours", "24"), &[0, 1]);
    let short = Approval { expires: UnixTime(group.now + DAY), ..group.yes(0, subject) };
    let no = Approval { turn: 1, ..group.no(0, subject) };
    let mut later = group.another();
    for approval in [long, short, no] {
        group.take(approval);
    }
    for group in [&mut group, &mut later] {
        group.now += 2 * DAY;
        group.pass(field("request_hours", "25"), &[0, 1]);
    }
    for approval in [no, short, long] {
        later.take(approval);
    }
    assert_eq!(group.line.mark(), later.line.mark());
    assert!(group.set().approvals().any(|signed| signed.approval == long));
}

/// A voter that says yes over many decisions takes no room, and hides no yes that counts.
#[test]
fn of_the_yeses_that_were_taken_back_a_few_are_kept_and_one_that_counts() {
    let mut group = Group::new(3, 2);
    let admit = group.ask(5);
    group.take_admit(&admit);
    let subject = admission(admit.request);
    let counts = group.yes(0, subject);
    let mut said = vec![counts];
    for number in 0..9_u32 {
        group.pass(field("request_hours", &(30 + number).to_string()), &[0, 1]);
        said.push(Approval { expires: UnixTime(START), ..group.yes(0, subject) });
    }
    said.push(Approval { turn: 1, ..group.no(0, subject) });
    left(&group, &said);
    for approval in &said {
        group.take(*approval);
    }
    let kept: Vec<_> = group.set().approvals().map(|signed| signed.approval).collect();
    assert_eq!(kept.len(), 5);
    assert!(kept.contains(&counts));
}

#[test]
fn line_15_of_one_voter_the_highest_turn_stands() {
    let mut group = Group::new(3, 2);
    let subject = Effect::from(remove(2)).subject();
    let yes = group.yes(0, subject);
    let later = Approval { turn: 1, verdict: Verdict::Reject, ..yes };
    let again = Approval { turn: 2, ..yes };
    assert_eq!(left(&group, &[yes, later]), later);
    assert_eq!(left(&group, &[yes, later, again]), again);
    // Even if it does not count: it has run out.
    group.now += 60;
    let over = Approval { turn: 3, verdict: Verdict::Reject, expires: UnixTime(START), ..yes };
    assert_eq!(left(&group, &[yes, over]), over);
}

#[test]
fn line_15_of_equal_turns_a_no_stands_then_the_lower_digest() {
    let group = Group::new(3, 2);
    let subject = Effect::from(remove(2)).subject();
    let (yes, no) = (group.yes(0, subject), group.no(0, subject));
    assert_eq!(left(&group, &[yes, no]), no);
    let longer = Approval { expires: UnixTime(START + 9), ..yes };
    let lower = if yes.digest() < longer.digest() { yes } else { longer };
    assert_eq!(left(&group, &[yes, longer]), lower);
    let longer = Approval { expires: UnixTime(START + 9), ..no };
    let lower = if no.digest() < longer.digest() { no } else { longer };
    assert_eq!(left(&group, &[no, longer, yes]), lower);
}

#[test]
fn line_15_a_second_signature_on_one_approval_is_not_a_second_approval() {
    let mut group = Group::new(3, 2);
    let admit = group.ask(5);
    group.take_admit(&admit);
    let approval = group.yes(0, admission(admit.request));
    let (state, set) = group.line.set_mut();
    assert!(set.take_approval(state, Signed { approval, signature: None }));
    let digest = set.digest();
    assert!(!set.take_approval(state, Signed { approval, signature: Some(signature()) }));
    assert_eq!(set.digest(), digest);
    assert!(set.approval(&approval.subject, &approval.voter).unwrap().signature.is_some());
}

/// What only a certificate proves is shown with that certificate. Some members have it so, and
/// others with its own signature. All drop it with the admission: otherwise they would have unequal
/// sets from then on, and nobody would say so before the ring forms anew.
#[test]
fn line_21_an_approval_goes_with_the_admission_that_is_held_or_over() {
    let left = |danger: Option<Danger>, over: bool| {
        let mut group = Group::new(3, 2);
        group.line.endanger(danger.into());
        let admit = group.ask(5);
        let early = Signed { approval: group.yes(0, admission(admit.request)), signature: None };
        let (state, set) = group.line.set_mut();
        assert!(!set.take_approval(state, early), "its certificate is not here");
        group.take_admit(&admit);
        for person in [0, 1] {
            let approval = group.yes(person, admission(admit.request));
            let signature = (person == 1).then(signature);
            let (state, set) = group.line.set_mut();
            assert!(set.take_approval(state, Signed { approval, signature }));
        }
        let holds = if over { Vec::new() } else { vec![admit.request] };
        let time = if over { UnixTime(admit.ends.0 + 1) } else { group.batch().time };
        let decision = group.decide(Batch { holds, time, ..group.batch() }).unwrap();
        group.follow(decision);
        assert_eq!(group.is_member(5), !over);
        group.set().approvals().map(|signed| signed.approval.voter).collect::<Vec<_>>()
    };
    assert_eq!(left(None, false), []);
    assert_eq!(left(None, true), []);
    assert_eq!(left(Some(Danger::LineKeepsUsed), false), [member(1)]);
}

/// What it replaced then stands again, as it does at somebody who comes later.
#[test]
fn what_only_a_certificate_proved_leaves_what_it_replaced() {
    let mut group = Group::new(3, 2);
    let admit = group.ask(5);
    group.take_admit(&admit);
    let said = group.yes(0, admission(admit.request));
    group.take(said);
    group.take(group.yes(1, admission(admit.request)));
    let approval = Approval { turn: 1, ..said };
    let (state, set) = group.line.set_mut();
    assert!(set.take_approval(state, Signed { approval, signature: None }));
    let (state, set) = group.line.set_mut();
    assert!(set.take_out(state, &admit.request).is_some());
    let stands = group.set().approval(&said.subject, &said.voter).map(|signed| signed.approval);
    assert_eq!(stands, Some(said));
    assert_eq!(group.set().approvals().count(), 2);
}
