//! What liars try, with the rule that stops them and without it.

use crate::group::{Group, draft, elect, field, remove, signature};
use folkmoot_base::{Danger, UnixTime};
use folkmoot_identity::{CharterDraft, Policies};
use folkmoot_transcript::{
    Admit, Approval, Approved, Batch, Change, Effect, Leave, Refuted, Signed, Uncounted, Wrong, admission,
};

/// The lie with the rule on, then without it.
pub fn both(danger: Danger, lie: impl Fn(Option<Danger>) -> bool) {
    assert!(!lie(None), "the rule stops it");
    assert!(lie(Some(danger)), "without {danger:?} it comes true");
}

pub fn decides(group: &Group, effects: Vec<Approved>) -> bool {
    match group.decide(Batch { effects, ..group.batch() }) {
        Ok(_) => true,
        Err(Wrong::Effect { why: Refuted::Uncounted(why), .. }) => {
            assert!(matches!(
                why,
                Uncounted::BeforeStamp(_) | Uncounted::BeforeSince(_) | Uncounted::Expired(_)
            ));
            false
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// Approvals that were good once are kept, and shown after the subject was decided.
fn backdated(change: &Change, then: &[Change], danger: Option<Danger>) -> bool {
    let mut group = Group::new(4, 2).without(danger);
    let kept = group.approved(&Effect::from(change.clone()), &[0, 1, 2]);
    for change in then {
        group.pass(change.clone(), &[0, 1, 2]);
    }
    decides(&group, vec![kept])
}

#[test]
fn a_backdated_electorate_is_none() {
    both(Danger::LineNoStamps, |danger| backdated(&elect(&[2, 1, 0]), &[elect(&[0, 1, 2])], danger));
}

#[test]
fn a_backdated_change_of_the_charter_is_none() {
    let change = |hours| field("request_hours", hours);
    both(Danger::LineNoStamps, |danger| backdated(&change("24"), &[change("48")], danger));
}

#[test]
fn a_backdated_removal_is_none() {
    both(Danger::LineNoStamps, |danger| {
        let mut group = Group::new(4, 2).without(danger);
        let kept = group.approved(&Effect::from(remove(3)), &[0, 1, 2]);
        group.pass(remove(3), &[0, 1, 2]);
        group.let_in(&[3], &[0, 1]);
        decides(&group, vec![kept])
    });
}

#[test]
fn nobody_votes_over_a_time_in_which_it_had_no_vote() {
    both(Danger::LineNoSince, |danger| {
        let mut group = Group::new(4, 2).without(danger);
        group.let_in(&[5], &[0, 1]);
        let kept = group.approved(&Effect::from(remove(3)), &[0, 1, 5]);
        group.pass(elect(&[0, 1, 2, 3, 5]), &[0, 1, 2]);
        decides(&group, vec![kept])
    });
}

#[test]
fn approvals_that_ran_out_carry_nothing() {
    both(Danger::LineNoExpiry, |danger| {
        let mut group = Group::new(4, 2).without(danger);
        let effect = Effect::from(remove(3));
        let short = [0, 1, 2].map(|person| Approval {
            expires: UnixTime(group.now + 59),
            ..group.yes(person, effect.subject())
        });
        group.now += 60;
        decides(&group, vec![crate::group::approved_by(&effect, short.to_vec())])
    });
}

#[test]
fn approvals_that_ran_out_admit_nobody() {
    both(Danger::LineNoExpiry, |danger| {
        let mut group = Group::new(4, 2).without(danger);
        let admit = group.ask(5);
        for person in [0, 1] {
            let yes = group.yes(person, admission(admit.request));
            group.take(Approval { expires: UnixTime(group.now + 59), ..yes });
        }
        group.take_admit(&admit);
        assert!(group.is_member(5), "until a decision says that the time is past");
        group.pass(field("request_hours", "24"), &[0, 1, 2]);
        group.is_member(5)
    });
}

/// Its friends approved a second request before they, too, agreed to its expulsion.
#[test]
fn an_expelled_key_does_not_come_back_by_what_was_approved_before() {
    both(Danger::LineNoStamps, |danger| {
        let mut group = Group::new(4, 2).without(danger);
        let second = group.ask(3);
        let yes = [0, 1].map(|person| group.yes(person, admission(second.request)));
        group.pass(remove(3), &[0, 1, 2]);
        yes.iter().for_each(|yes| assert!(group.take(*yes), "kept: its base is known"));
        group.take_admit(&second);
        // Nor by a request that names a later base, over the same approvals.
        let renamed = Admit { base: group.head(), ..second.clone() };
        let judged = group.set().judge(group.state(), &renamed);
        assert_eq!(judged.is_ok(), danger.is_some());
        group.is_member(3)
    });
}

#[test]
fn a_refusal_binds_everybody_who_has_it() {
    both(Danger::LineNoRefusals, |danger| {
        let policies = Policies { objections: Some(2), ..Policies::default() };
        let mut group = Group::of(&CharterDraft { policies, ..draft(4, 2) }).without(danger);
        let admit = group.ask(5);
        group.welcome(&admit, &[0, 1]);
        let mut held = group.another();
        let batch = Batch { holds: vec![admit.request], ..held.batch() };
        held.follow(held.decide(batch).unwrap());
        for person in [2, 3] {
            let no = group.no(person, admission(admit.request));
            group.take(no);
            held.take(no);
        }
        assert!(held.is_member(5), "once it is held, a refusal does nothing");
        let refusals = held.set().refusable(held.state());
        if !refusals.is_empty() {
            held.follow(held.decide(Batch { refusals, ..held.batch() }).unwrap());
        }
        assert!(held.is_member(5), "not even a decided one");
        group.is_member(5)
    });
}

/// Whether those who got a yes and a later no disagree by the order in which both came.
#[test]
fn a_yes_is_taken_back_in_any_order_of_arrival() {
    both(Danger::LineNoTurns, |danger| {
        let sides = [false, true].map(|yes_first| {
            let mut group = Group::new(4, 2).without(danger);
            let admit = group.ask(5);
            group.welcome(&admit, &[0]);
            let yes = group.yes(1, admission(admit.request));
            let no = Approval { turn: 1, ..group.no(1, admission(admit.request)) };
            let order = if yes_first { [yes, no] } else { [no, yes] };
            order.iter().for_each(|one| assert!(group.take(*one) || !yes_first));
            (group.is_member(5), group.set().digest())
        });
        sides[0] != sides[1] || sides[0].0
    });
}

#[test]
fn a_taken_back_yes_carries_no_effect() {
    let mut group = Group::new(4, 2);
    let effect = Effect::from(remove(3));
    group.want(&effect, &[0, 1, 2]);
    let ready = |group: &Group| group.set().approved(group.state(), UnixTime(group.now)).len();
    assert_eq!(ready(&group), 1);
    for person in [1, 2] {
        let no = group.no(person, effect.subject());
        group.take(Approval { turn: 1, ..no });
    }
    assert_eq!(ready(&group), 0);
    for person in [1, 2] {
        let yes = group.yes(person, effect.subject());
        let (state, set) = group.line.set_mut();
        set.take_approval(
            state,
            Signed { approval: Approval { turn: 2, ..yes }, signature: Some(signature()) },
        );
    }
    assert_eq!(ready(&group), 1);
}

/// Somebody left, came back, and a voter shows the word that it gave before; or it changed its
/// mind, and the word is shown when its time is over.
#[test]
fn line_93_a_word_of_leaving_does_not_outlive_its_membership_or_its_time() {
    let leave = |group: &Group, until| {
        let (id, since) = (group.line.state().group(), group.head().number);
        Change::Leave(Leave::sign(crate::group::key(3), id, since, UnixTime(until)))
    };
    both(Danger::LineOldLeave, |danger| {
        let mut group = Group::new(4, 2).without(danger);
        let word = leave(&group, group.now + 30 * crate::group::DAY);
        group.pass(word.clone(), &[0, 1, 2]);
        assert!(!group.is_member(3));
        group.let_in(&[3], &[0, 1]);
        group.decision(word, &[0, 1, 2]).is_ok()
    });
    both(Danger::LineOldLeave, |danger| {
        let mut group = Group::new(4, 2).without(danger);
        let word = leave(&group, group.now + crate::group::DAY);
        assert!(group.decision(word.clone(), &[0, 1, 2]).is_ok());
        group.now += 2 * crate::group::DAY;
        group.decision(word, &[0, 1, 2]).is_ok()
    });
}

#[test]
fn nobodys_term_ends_before_its_time() {
    both(Danger::LineEndsEarly, |danger| {
        let mut group = Group::new(4, 2).without(danger);
        let admit = group.ask(5);
        group.welcome(&admit, &[0, 1]);
        group.take_past(admit.ends.0 + 1, group.now);
        !group.is_member(5)
    });
}
