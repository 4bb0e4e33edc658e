//! Two lines of one group: how the members of one go over to the other, and what liars make of it.

use crate::group::{DAY, Group, approved_by, by, elect, field, fresh, member, members, remove};
use crate::voter::{Voter, told};
use folkmoot_base::Danger;
use folkmoot_transcript::{
    Applied, Approved, Batch, Change, Effect, Head, Refuted, Standing, State, Uncounted, Unfit, Unproposed,
    Wrong, admission,
};

const ALL: [usize; 4] = [0, 1, 2, 3];

/// Two lines that part after decision 1. That of the first has the lower digest at the fork.
fn parted() -> (Group, Group) {
    let mut one = Group::new(4, 2);
    one.pass(field("request_days", "9"), &ALL);
    let mut other = one.another();
    one.pass(field("request_hours", "24"), &ALL);
    other.pass(field("request_hours", "48"), &ALL);
    let (low, high) = if one.head().digest < other.head().digest { (one, other) } else { (other, one) };
    let (mut low, mut high) = (low, high);
    low.pass(field("certificate_days", "99"), &ALL);
    high.pass(field("certificate_days", "98"), &ALL);
    (low, high)
}

/// The decision at the fork.
fn side(group: &Group) -> Head {
    group.line.decisions()[&2].head()
}

fn towards(group: &Group) -> Change {
    Change::Rejoin { head: side(group) }
}

fn shown(group: &Group) -> (Vec<Standing>, Standing, State) {
    let (decisions, last) = group.line.side_from(2).unwrap();
    (decisions, last, group.state().clone())
}

/// A member of one line is shown the other.
fn meet(group: &mut Group, other: &Group) -> Result<Applied, Unproposed> {
    let (decisions, last, state) = shown(other);
    group.line.meet(&decisions, &last, state)
}

fn refuted(decided: Result<folkmoot_transcript::Decision, Wrong>) -> Refuted {
    match decided {
        Err(Wrong::Effect { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_quorum_moves_everybody_on_its_line_to_the_other() {
    let (mut one, mut other) = parted();
    let mut away = one.another();
    let rejoin = one.pass(towards(&other), &[0, 1, 2]);
    assert_eq!(one.state().rejoin(), Some(side(&other)));
    other.pass(elect(&[3, 2, 1, 0]), &ALL);
    other.pass(field("request_hours", "12"), &[1, 2, 3]);
    let left = one.line.decisions()[&2].clone();
    assert_eq!(meet(&mut one, &other), Ok(Applied::Next));
    assert_eq!((one.head(), one.state().digest()), (other.head(), other.state().digest()));
    let fork = one.line.forks().values().next().unwrap();
    assert_eq!((&fork.theirs, &fork.coming[0]), (&left, &left), "what it left is evidence");
    assert_eq!(fork.coming.last(), Some(&rejoin));
    assert!(fork.liars.contains(&member(0)));
    let next = other.pass(field("request_hours", "6"), &[1, 2, 3]);
    assert_eq!(one.apply(next), Ok(Applied::Next));
    // One who has the Rejoin and not yet the line waits, and goes when the line is shown.
    assert_eq!(away.apply(rejoin), Ok(Applied::Next));
    assert!(away.is_member(3) && !away.set().goes_on(away.state()));
    assert_eq!(meet(&mut away, &one), Ok(Applied::Next));
    assert_eq!(away.line.mark(), one.line.mark());
}

#[test]
fn line_52_a_rejoin_names_a_fork_with_ours() {
    let (one, other) = parted();
    let ahead = Head { number: one.head().number + 1, ..side(&other) };
    let founding = Head { number: 0, ..side(&other) };
    for head in [ahead, founding, side(&one), one.head()] {
        let stands = |group: &Group| group.decision(Change::Rejoin { head }, &[0, 1, 2]);
        assert!(matches!(refuted(stands(&one)), Refuted::Unfit(Unfit::Rejoin(_))), "{head}");
        assert!(stands(&one.another().without(Some(Danger::LineRejoinAnywhere))).is_ok());
    }
    let mut late = one.another();
    late.wait(60);
    late.wait(60);
    late.wait(60);
    let refused = late.decision(towards(&other), &[0, 1, 2]);
    assert!(matches!(refuted(refused), Refuted::Unfit(Unfit::Rejoin(_))), "too long ago");
}

#[test]
fn line_40_a_minority_moves_nobody() {
    let (one, other) = parted();
    let few = |group: &Group| group.decision(towards(&other), &[0]);
    assert!(matches!(refuted(few(&one)), Refuted::Uncounted(Uncounted::TooFew { .. })));
    assert!(few(&one.another().without(Some(Danger::LineFewRejoin))).is_ok());
    // Nor does a minority of commits.
    let decision = one.decision(towards(&other), &[0, 1, 2]).unwrap();
    let mut member = one.another();
    assert_eq!(member.apply(by(members(&[0]), decision)), Err(Unproposed::Commits));
    assert_eq!(member.head(), one.head());
}

#[test]
fn line_53_nothing_follows_a_rejoin() {
    let (low, mut high) = parted();
    high.pass(towards(&low), &[0, 1, 2]);
    assert!(!high.state().may_outlast());
    for effect in [remove(3), field("request_hours", "6"), towards(&low)] {
        assert_eq!(high.decision(effect.clone(), &[0, 1, 2]), Err(Wrong::Over));
        assert_eq!(high.state().would_stand(&effect, false, None), Err(Unfit::Over));
    }
    let endangered = high.another().without(Some(Danger::LineGoesOn));
    assert!(endangered.decision(remove(3), &[0, 1, 2]).is_ok());
    // Nor in the decision itself.
    let (low, high) = parted();
    let both = [Effect::from(towards(&low)), remove(3).into()];
    let effects = both.iter().map(|effect| high.approved(effect, &[0, 1, 2])).collect();
    let refused = high.decide(Batch { effects, ..high.batch() });
    assert_eq!(refuted(refused), Refuted::Unfit(Unfit::Over));
}

#[test]
fn line_53_the_voters_of_a_line_that_ended_are_silent() {
    let (mut low, high) = parted();
    low.pass(towards(&high), &[0, 1, 2]);
    low.want(&remove(3).into(), &[0, 1, 2]);
    for danger in [None, Some(Danger::LineGoesOn)] {
        let group = low.another().without(danger);
        let owner = (0..4).find(|person| group.state().owner(0) == member(*person)).unwrap();
        let mut voter = Voter::new(&group, owner);
        voter.work(&group, 0);
        voter.work(&group, 3_600);
        assert_eq!(voter.said.is_empty(), danger.is_none(), "{danger:?}");
    }
}

/// The digest of a line that there is not: whoever approves it is refused by the programs.
#[test]
fn line_54_no_voter_commits_to_a_rejoin_towards_a_line_that_nobody_showed() {
    let (one, other) = parted();
    let decision = one.decision(towards(&other), &[0, 1, 2]).unwrap();
    let proposal = told(&one, &fresh(decision));
    let committed = |group: &Group| {
        let mut voter = Voter::new(group, 1);
        voter.hear(group, 0, &proposal).unwrap();
        voter.judgements().len()
    };
    assert_eq!(committed(&one), 0);
    assert_eq!(committed(&one.another().without(Some(Danger::LineRejoinUnseen))), 1);
    let mut knows = one.another();
    let first = other.line.decisions()[&2].clone();
    assert!(matches!(knows.apply(first), Ok(Applied::Fork(_))));
    assert_eq!(committed(&knows), 1);
}

/// Of three decisions for one number each may be what a quorum wants to go to: whoever heard of the
/// other one first can still follow.
#[test]
fn line_54_a_voter_that_was_shown_another_line_first_follows_too() {
    let (mut one, other) = parted();
    let decision = one.decision(towards(&other), &[0, 1, 2]).unwrap();
    let mut third = Group::new(4, 2);
    third.pass(field("request_days", "9"), &ALL);
    let third = third.pass(field("request_hours", "12"), &ALL);
    for side in [third, other.line.decisions()[&2].clone()] {
        assert!(matches!(one.apply(side), Ok(Applied::Fork(_))));
    }
    let mut voter = Voter::new(&one, 1);
    voter.hear_judged(&one, 0, &fresh(decision));
    assert_eq!(voter.commits().len(), 1);
}

#[test]
fn line_54_no_owner_proposes_what_nobody_showed() {
    let (mut one, other) = parted();
    one.want(&towards(&other).into(), &[0, 1, 2]);
    let ready = |group: &Group| group.set().approved(group.state(), group.state().time()).len();
    assert_eq!(ready(&one), 0);
    one.apply(other.line.decisions()[&2].clone()).unwrap();
    assert_eq!(ready(&one), 1);
}

/// The approvals of a Rejoin that fell decide no second one.
#[test]
fn line_13_a_rejoin_is_not_replayed() {
    for danger in [None, Some(Danger::LineNoStamps)] {
        let (low, high) = parted();
        let mut low = low.without(danger);
        let effect = Effect::from(towards(&high));
        let kept: Approved = low.approved(&effect, &[0, 1, 2]);
        let standing = low.pass(effect, &[0, 1, 2]);
        // The other line came here, so this one goes on.
        low.pass(field("request_hours", "6"), &[0, 1, 2]);
        assert_eq!(low.state().rejoin(), None);
        assert_eq!(low.apply(standing), Ok(Applied::Known));
        let again = low.decide(Batch { effects: vec![kept], ..low.batch() });
        if danger.is_some() {
            assert!(again.is_ok());
        } else {
            assert!(matches!(refuted(again), Refuted::Uncounted(Uncounted::BeforeStamp(_))));
        }
    }
}

/// Who has gone over is not sent back by the decision that it followed.
#[test]
fn a_rejoin_of_the_line_that_was_left_says_nothing_on_the_other() {
    let (mut low, high) = parted();
    let rejoin = low.pass(towards(&high), &[0, 1, 2]);
    let mut moved = low.another();
    meet(&mut moved, &high).unwrap();
    let head = moved.head();
    assert!(!matches!(moved.apply(rejoin), Ok(Applied::Next)));
    assert_eq!(moved.head(), head);
    // Approvals over the line that was left count nowhere else.
    let approval = low.yes(0, Effect::from(towards(&low)).subject());
    assert!(!moved.take(approval));
}

/// What those who decided at the fork did not decide leads nowhere.
#[test]
fn line_73_a_line_of_former_voters_is_none() {
    let (mut one, other) = parted();
    let mut theirs = one.another();
    // Two have been expelled since, and write their own decision 2 and what follows.
    one.pass(remove(3), &[0, 1, 2]);
    one.pass(towards(&other), &[0, 1, 2]);
    let forged = |voters: &[usize]| {
        let (mut decisions, mut last, state) = shown(&other);
        for standing in decisions.iter_mut().chain([&mut last]) {
            standing.commits = by(members(voters), standing.proposal.decision.clone()).commits;
        }
        (decisions, last, state)
    };
    let (decisions, last, state) = forged(&[3]);
    let mut honest = one.another();
    assert_eq!(honest.line.meet(&decisions, &last, state.clone()), Err(Unproposed::Commits));
    assert_eq!(honest.head(), one.head());
    assert!(honest.line.forks().is_empty());
    assert_eq!(honest.line.resolve(&decisions, &last, state.clone()), Err(Unproposed::Commits));
    let mut fooled = one.another().without(Some(Danger::LineSideUnchecked));
    assert_eq!(fooled.line.meet(&decisions, &last, state), Ok(Applied::Next));
    assert!(fooled.is_member(3), "an expelled key is back");
    let stranger = Group::new(3, 2);
    assert!(stranger.line.side_from(2).is_none());
    assert!(theirs.line.meet(&[], &last, other.state().clone()).is_err());
}

#[test]
fn line_73_what_is_shown_begins_at_a_fork_with_ours() {
    let (one, mut other) = parted();
    let (decisions, last, state) = shown(&one);
    let mut member = one.another();
    assert_eq!(member.line.meet(&decisions, &last, state), Err(Unproposed::NoFork), "our own line");
    let behind = Group::new(4, 2);
    let (decisions, last, state) = shown(&other);
    let mut early = behind.another();
    assert_eq!(early.line.meet(&decisions, &last, state.clone()), Err(Unproposed::NoFork));
    assert_eq!(member.line.meet(&[], &last, state.clone()), Err(Unproposed::NoFork), "not from the fork");
    let twice = [decisions[0].clone(), decisions[0].clone()];
    assert_eq!(member.line.meet(&twice, &last, state.clone()), Err(Unproposed::Handover));
    let mut foreign = decisions.clone();
    foreign[0].proposal.decision.group = folkmoot_base::GroupId([9; 32]);
    assert_eq!(member.line.meet(&foreign, &last, state), Err(Unproposed::Handover));
    assert_eq!(member.line.meet(&decisions, &last, one.state().clone()), Err(Unproposed::State));
    other.now += DAY;
    let next = other.pass(field("request_hours", "6"), &ALL);
    assert_eq!(
        member.line.meet(&decisions, &next, other.state().clone()),
        Ok(Applied::Fork(members(&ALL).into_iter().collect()))
    );
}

#[test]
fn line_74_nobody_goes_over_unasked() {
    let (one, other) = parted();
    let mut honest = one.another();
    assert!(matches!(meet(&mut honest, &other), Ok(Applied::Fork(liars)) if !liars.is_empty()));
    assert_eq!(honest.line.mark(), one.line.mark());
    assert_eq!(honest.line.forks().len(), 1);
    let mut fooled = one.another().without(Some(Danger::LineRejoinUnasked));
    assert_eq!(meet(&mut fooled, &other), Ok(Applied::Next));
}

#[test]
fn line_74_a_person_alone_goes_over_a_fork_that_it_knows() {
    let (one, other) = parted();
    let (decisions, last, state) = shown(&other);
    let mut alone = one.another();
    assert_eq!(alone.line.resolve(&decisions, &last, state.clone()), Err(Unproposed::Unasked));
    meet(&mut alone, &other).unwrap();
    assert_eq!(alone.line.resolve(&decisions, &last, state), Ok(Applied::Next));
    assert_eq!(alone.head(), other.head());
    // It may come back.
    let (decisions, last, state) = shown(&one);
    assert_eq!(alone.line.resolve(&decisions, &last, state), Ok(Applied::Next));
    assert_eq!(alone.head(), one.head());
}

#[test]
fn line_75_of_two_rejoins_that_name_each_other_the_one_to_the_lower_digest_stands() {
    let (mut low, mut high) = parted();
    low.pass(towards(&high), &[0, 1, 2]);
    high.pass(towards(&low), &[0, 1, 2]);
    let (mut stays, mut goes) = (low.another(), high.another());
    assert!(matches!(meet(&mut stays, &high), Ok(Applied::Fork(_))));
    assert_eq!(stays.head(), low.head());
    assert_eq!(meet(&mut goes, &low), Ok(Applied::Next));
    assert_eq!(goes.head(), low.head());
    // Both know that the other line came: theirs goes on.
    for group in [&mut stays, &mut goes] {
        assert!(group.set().goes_on(group.state()));
    }
    let standing = stays.pass(field("request_hours", "6"), &[0, 1, 2]);
    assert_eq!(goes.apply(standing), Ok(Applied::Next));
    let (decisions, last, state) = shown(&high);
    assert_eq!(stays.line.resolve(&decisions, &last, state), Err(Unproposed::TheyCome));
    let mut fooled = low.another().without(Some(Danger::LineNoTie));
    assert_eq!(meet(&mut fooled, &high), Ok(Applied::Next), "they pass each other");
}

/// Its members had gone over before they heard that the other line came: they come back.
#[test]
fn line_75_who_went_first_comes_back() {
    let (mut low, mut high) = parted();
    let early = high.another();
    low.pass(towards(&high), &[0, 1, 2]);
    let mut gone = low.another();
    assert_eq!(meet(&mut gone, &early), Ok(Applied::Next));
    // Whoever came from there knows that it is over, and does not send the others back.
    gone.want(&towards(&low).into(), &[0, 1, 2]);
    assert_eq!(gone.set().approved(gone.state(), gone.state().time()), []);
    let back = high.pass(towards(&low), &[0, 1, 2]);
    assert_eq!(gone.apply(back), Ok(Applied::Next));
    assert_eq!(meet(&mut gone, &low), Ok(Applied::Next));
    assert_eq!(gone.head(), low.head());
    assert!(gone.set().goes_on(gone.state()));
}

/// Nobody is left on the line that came, so those who came tell the others.
#[test]
fn line_75_that_the_others_came_is_told_without_their_state() {
    let (mut low, mut high) = parted();
    low.pass(towards(&high), &[0, 1, 2]);
    let alone = low.another();
    let without = {
        let (mut decisions, last, _) = shown(&high);
        decisions.push(last);
        decisions
    };
    high.pass(towards(&low), &[0, 1, 2]);
    meet(&mut high, &low).unwrap();
    let coming = high.line.forks().values().next().unwrap().coming.clone();
    let mut hears = alone.another();
    assert_eq!(hears.line.hear_coming(&without), Err(Unproposed::NoFork), "it does not come");
    assert_eq!(hears.line.hear_coming(&[]), Err(Unproposed::NoFork));
    let mut forged = coming.clone();
    forged.last_mut().unwrap().commits.truncate(1);
    assert_eq!(hears.line.hear_coming(&forged), Err(Unproposed::Commits));
    assert!(!hears.set().goes_on(hears.state()));
    assert_eq!(hears.line.hear_coming(&coming), Ok(true));
    assert_eq!(hears.line.hear_coming(&coming), Ok(false));
    assert!(hears.set().goes_on(hears.state()));
}

#[test]
fn what_no_decision_holds_is_judged_anew_on_the_other_line() {
    let mut one = Group::new(4, 2);
    one.pass(field("request_hours", "70"), &ALL);
    let early = one.ask(5);
    one.welcome(&early, &[0, 1]);
    let mut other = one.another();
    one.pass(field("request_hours", "24"), &ALL);
    other.pass(field("request_hours", "48"), &ALL);
    let late = one.ask(6);
    one.welcome(&late, &[0, 1]);
    one.pass(towards(&other), &[0, 1, 2]);
    assert!(one.is_member(5) && one.is_member(6));
    assert_eq!(meet(&mut one, &other), Ok(Applied::Next));
    assert!(one.is_member(5), "approved before the lines parted");
    assert!(!one.is_member(6));
    let why: Vec<_> = one.set().late().map(|(admit, why)| (admit.request, why.clone())).collect();
    assert_eq!(why, [(late.request, Uncounted::RequestOffLine)]);
    assert_eq!(one.set().approvals_of(admission(late.request)).count(), 0);
    // People hold it there.
    let hold = Change::Hold { request: late.request };
    let decision = one.decision(hold, &[0, 1, 2]).unwrap();
    one.follow(decision);
    assert!(one.is_member(6));
}

/// Former voters make forks of old numbers: those of the latest numbers stay.
#[test]
fn evidence_of_the_latest_forks_stays() {
    let mut group = Group::new(4, 2);
    let mut forged = Vec::new();
    for hours in 0..20_u8 {
        let other = group.decision(field("request_hours", &format!("{}", 100 + hours)), &ALL).unwrap();
        forged.push(crate::group::by_all(group.state(), other));
        group.pass(field("request_hours", &format!("{}", 1 + hours)), &ALL);
    }
    for standing in forged {
        assert!(matches!(group.apply(standing), Ok(Applied::Fork(_))));
    }
    let numbers: Vec<u64> = group.line.forks().keys().map(|head| head.number).collect();
    assert_eq!(numbers, (5..=20).collect::<Vec<u64>>());
}

#[test]
fn approvals_of_former_voters_move_nobody() {
    let (mut one, other) = parted();
    let effect = Effect::from(towards(&other));
    let kept = one.yes(3, effect.subject());
    one.pass(remove(3), &[0, 1, 2]);
    let now = [0, 1].map(|person| one.yes(person, effect.subject()));
    let approved = approved_by(&effect, vec![kept, now[0], now[1]]);
    let refused = one.decide(Batch { effects: vec![approved], ..one.batch() });
    assert_eq!(refuted(refused), Refuted::Uncounted(Uncounted::NotVoter(member(3))));
    assert!(!one.take(kept));
}
