//! Whoever applies a decision looks itself whether what the decision holds was approved, and has
//! begun.

use crate::group::{DAY, Group, by, by_all, draft, elect, member, members, remove, signature};
use crate::liars::both;
use folkmoot_base::{Danger, UnixTime};
use folkmoot_identity::{Adopt, CharterDraft, Policies, Policy, Rule, Verdict};
use folkmoot_transcript::{
    Admit, Applied, Approval, Batch, Change, Effect, Refuted, SKEW_SECONDS, Signed, Standing, Uncounted,
    Unproposed, Wrong, admission,
};

/// Three of five founders who decide what nobody has approved.
fn lie(group: &Group, admit: &Admit) -> Standing {
    let batch = Batch { holds: vec![admit.request], ..group.batch() };
    by(members(&[0, 1, 2]), group.decide(batch).unwrap())
}

/// A quorum of them lies, and holds a stranger whom these have approved.
fn held(policies: Policies, threshold: u32, approved: &[usize], danger: Option<Danger>) -> bool {
    let mut group = Group::of(&CharterDraft { policies, ..draft(5, threshold) }).without(danger);
    let admit = group.ask(6);
    group.welcome(&admit, approved);
    let (lie, before) = (lie(&group, &admit), group.head());
    let applied = group.apply(lie);
    if danger.is_none() {
        let unvouched = Unproposed::Decision(Wrong::Unvouched(admit.request));
        assert_eq!((applied, group.head()), (Err(unvouched), before));
    }
    group.is_member(6)
}

#[test]
fn line_06_a_quorum_below_the_threshold_holds_nobody() {
    both(Danger::LineHoldsUnseen, |danger| held(Policies::default(), 5, &[], danger));
    both(Danger::LineHoldsUnseen, |danger| held(Policies::default(), 5, &[0, 1, 2, 3], danger));
}

#[test]
fn line_06_a_quorum_holds_nobody_without_the_decider() {
    let policies = || Policies { policy: Policy::Founder, decider: Some(member(4)), ..Policies::default() };
    both(Danger::LineHoldsUnseen, |danger| held(policies(), 2, &[0, 1, 2], danger));
}

#[test]
fn line_06_a_quorum_holds_nobody_against_a_rule_by_roles() {
    both(Danger::LineHoldsUnseen, |danger| {
        let mut policies =
            Policies { admit: Some(Rule::parse("1 of doors").unwrap()), ..Policies::default() };
        policies.roles.insert("doors".to_owned(), [member(3), member(4)].into());
        held(policies, 2, &[0, 1, 2], danger)
    });
}

#[test]
fn line_06_a_quorum_holds_nobody_who_is_not_on_the_list() {
    both(Danger::LineHoldsUnseen, |danger| {
        let list = [member(7)].into();
        held(Policies { policy: Policy::List, list, ..Policies::default() }, 2, &[0, 1, 2], danger)
    });
}

/// A newcomer whom two approve, and the decision that holds it at once.
fn welcomed(adopt: Adopt) -> (Group, Admit, Standing) {
    let mut group = Group::of(&CharterDraft { adopt, ..draft(4, 2) });
    let admit = group.ask(6);
    group.welcome(&admit, &[0, 1]);
    let batch = Batch { holds: vec![admit.request], ..group.batch() };
    let standing = by_all(group.state(), group.decide(batch).unwrap());
    (group, admit, standing)
}

/// Somebody may have committed by it before it was taken back.
#[test]
fn line_06_a_yes_that_was_taken_back_or_said_again_will_do() {
    let (group, admit, standing) = welcomed(Adopt::Ask);
    for verdict in [Verdict::Reject, Verdict::Approve] {
        let mut group = group.another();
        for person in [0, 1] {
            let yes = group.yes(person, admission(admit.request));
            group.take(Approval { turn: 1, verdict, ..yes });
        }
        assert_eq!(group.apply(standing.clone()), Ok(Applied::Next));
        assert!(group.is_member(6));
    }
}

/// Objections and a Past that came since do not end what others have decided.
#[test]
fn line_06_what_came_since_does_not_stop_a_decision() {
    let (mut group, admit, standing) = welcomed(Adopt::Ask);
    assert!(group.raise(admit.ends.0) && !group.is_member(6), "the votes have run out");
    assert_eq!(group.apply(standing), Ok(Applied::Next));
    assert!(group.state().roster().contains_key(&member(6)));
}

/// By the time of the decision, and not of its parent: a quorum holds nothing by what had run out.
#[test]
fn line_06_approvals_count_at_the_time_of_the_decision() {
    for (adopt, late, stands) in [
        (Adopt::Ask, 0, true),
        (Adopt::Ask, 1, false),
        // The charter leaves it to programs to hold what only ran out.
        (Adopt::Auto, 1, true),
    ] {
        let (mut group, admit, _) = welcomed(adopt);
        group.now += 30 * DAY + late;
        let batch = Batch { holds: vec![admit.request], ..group.batch() };
        let standing = by_all(group.state(), group.decide(batch).unwrap());
        assert_eq!(group.apply(standing).is_ok(), stands, "{adopt:?} {late}");
    }
}

/// The holder was expelled since the approvals: they count for nothing, and nobody is asked for
/// more.
#[test]
fn line_06_no_approval_from_before_a_removal_holds_anybody() {
    let mut group = Group::new(4, 2);
    let old = [0, 1].map(|person| group.yes(person, admission([7; 32])));
    group.pass(remove(3), &[0, 1, 2]);
    let admit = Admit { request: [7; 32], ..group.ask(3) };
    group.take_admit(&admit);
    for approval in old {
        let (state, set) = group.line.set_mut();
        set.take_approval(state, Signed { approval, signature: Some(signature()) });
    }
    let batch = Batch { holds: vec![admit.request], ..group.batch() };
    let standing = by_all(group.state(), group.decide(batch).unwrap());
    assert_eq!(group.apply(standing), Err(Wrong::Unvouched(admit.request).into()));
}

/// A newcomer whose term begins so much later than the next decision.
fn beginning(seconds: u64, danger: Option<Danger>) -> (Group, Admit) {
    let mut group = Group::new(4, 2).without(danger);
    let admit = group.ask(6);
    let (begins, ends) = (UnixTime(group.now + seconds), UnixTime(group.now + 300 * DAY));
    let admit = Admit { begins, ends, ..admit };
    group.welcome(&admit, &[0, 1]);
    (group, admit)
}

#[test]
fn line_34_nothing_is_held_whose_term_begins_later() {
    let hold = |(group, admit): (Group, Admit)| {
        let batch = Batch { holds: vec![admit.request], ..group.batch() };
        let holdable = group.set().holdable(group.state(), batch.time).contains(&admit.request);
        let decided = group.decide(batch).map(drop);
        assert_eq!(holdable, decided.is_ok());
        decided.map_err(|wrong| match wrong {
            Wrong::Uncounted { why, .. } => why,
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(hold(beginning(SKEW_SECONDS, None)), Ok(()));
    assert_eq!(hold(beginning(SKEW_SECONDS + 1, None)), Err(Uncounted::Begins));
    both(Danger::LineBeginsLater, |danger| hold(beginning(29 * DAY, danger)).is_ok());
}

/// People do not hold it either, and no key takes a place by it.
#[test]
fn line_34_nobody_decides_about_a_term_that_begins_later() {
    for seconds in [SKEW_SECONDS, SKEW_SECONDS + 1] {
        for danger in [None, Some(Danger::LineBeginsLater)] {
            let (group, admit) = beginning(seconds, danger);
            let request = admit.request;
            let rotate = Change::Rotate { member: member(3), request, signature: signature() };
            for change in [Change::Hold { request }, rotate] {
                let decided = group.decision(Effect::from(change), &[0, 1, 2]);
                if seconds == SKEW_SECONDS || danger.is_some() {
                    assert!(decided.is_ok());
                } else {
                    let why = Refuted::Uncounted(Uncounted::Begins);
                    assert_eq!(decided, Err(Wrong::Effect { place: 0, why }));
                }
            }
        }
    }
}

#[test]
fn line_34_what_has_not_begun_when_it_is_held_waits_for_the_next_decision() {
    let (mut group, admit) = beginning(3_600, None);
    group.pass(elect(&[1, 0, 2, 3]), &[0, 1, 2]);
    assert!(group.is_member(6), "no clock is asked here");
    group.now += 3_600;
    let batch = Batch { holds: vec![admit.request], ..group.batch() };
    group.follow(group.decide(batch).unwrap());
    assert!(group.state().roster().contains_key(&member(6)));
}
