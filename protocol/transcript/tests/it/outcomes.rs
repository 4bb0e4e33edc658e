//! What a decision may not leave behind.

use crate::group::{Group, draft, elect, field, member, remove};
use folkmoot_base::UnixTime;
use folkmoot_identity::{Below, CharterDraft, Policies, Rule};
use folkmoot_transcript::{Change, Unfit};

fn stands(group: &Group, change: &Change, forced: bool) -> Result<(), Unfit> {
    group.state().would_stand(change, forced, None)
}

#[test]
fn line_45_enough_voters_stay() {
    let group = Group::new(3, 3);
    let dead = Err(Unfit::DeadEnd { voters: 2, threshold: 3 });
    for change in [remove(2), elect(&[0, 1])] {
        assert_eq!(stands(&group, &change, false), dead);
        assert_eq!(stands(&group, &change, true), Ok(()), "the voters may force it");
    }
    let more = field("threshold", "4");
    assert_eq!(stands(&group, &more, false), Err(Unfit::DeadEnd { voters: 3, threshold: 4 }));
    let group = Group::new(3, 2);
    assert_eq!(stands(&group, &remove(2), false), Ok(()));
}

#[test]
fn line_45_the_last_voter_stays_whatever_is_forced() {
    let group = Group::new(1, 1);
    assert_eq!(stands(&group, &remove(0), true), Err(Unfit::DeadEnd { voters: 0, threshold: 1 }));
    let mut group = Group::new(2, 1);
    group.pass(remove(1), &[0]);
    assert_eq!(stands(&group, &remove(0), true), Err(Unfit::DeadEnd { voters: 0, threshold: 1 }));
}

#[test]
fn line_45_a_threshold_that_is_reset_needs_one_voter() {
    let policies = Policies { below: Below::Reset, ..Policies::default() };
    let mut group = Group::of(&CharterDraft { policies, ..draft(3, 3) });
    group.pass(remove(2), &[0, 1, 2]);
    assert_eq!(group.state().threshold(), 2);
}

/// A threshold that follows the size does not follow it to where the voters are too few.
#[test]
fn line_45_a_threshold_follows_the_size_as_far_as_there_are_voters() {
    let mut group = Group::of(&CharterDraft { ratio: Some((50, 1)), ..draft(4, 2) });
    group.let_in(&[4, 5, 6, 7, 8, 9], &[0, 1, 2]);
    assert_eq!(group.state().charter().threshold(), 2, "four voters cannot be five of ten");
    group.pass(elect(&[0, 1, 2, 3, 4]), &[0, 1, 2]);
    assert_eq!(group.state().charter().threshold(), 5, "five can");
}

fn with_rules(admit: Option<&str>, remove: Option<&str>) -> Group {
    let rule = |text: Option<&str>| text.map(|text| Rule::parse(text).unwrap());
    let mut policies = Policies { admit: rule(admit), remove: rule(remove), ..Policies::default() };
    policies.roles.insert("ops".to_owned(), [member(3)].into());
    Group::of(&CharterDraft { policies, ..draft(4, 2) })
}

#[test]
fn line_46_the_rules_stay_within_reach() {
    for (group, what) in
        [(with_rules(Some("1 of ops"), None), "admit"), (with_rules(None, Some("1 of ops")), "remove")]
    {
        for change in [remove(3), elect(&[0, 1, 2])] {
            assert_eq!(stands(&group, &change, false), Err(Unfit::Unreachable { what }));
            assert_eq!(stands(&group, &change, true), Ok(()));
            assert_eq!(stands(&group, &remove(2), false), Ok(()));
        }
    }
}

/// Two founders, whose terms have no end, and two whose terms do.
#[test]
fn from_the_end_of_so_many_terms_on_nobody_can_be_spared() {
    let mut group = Group::new(2, 2);
    assert_eq!(group.state().all_needed_from(), Some(UnixTime(0)), "two of two");
    let admits = group.let_in(&[2, 3], &[0, 1]);
    group.pass(elect(&[0, 1, 2, 3]), &[0, 1]);
    assert_eq!(group.state().all_needed_from(), Some(admits[0].ends));
    assert_eq!(Group::new(5, 2).state().all_needed_from(), None);
}
