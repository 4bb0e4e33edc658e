//! Whoever was removed comes back by nothing that was approved before: by no subject that names its
//! key, and by no value of the charter that names it still.

use crate::group::{DAY, Group, approved_by, draft, elect, field, forced, key, member, remove, signature};
use crate::liars::{both, decides};
use folkmoot_base::{Danger, UnixTime};
use folkmoot_identity::{CharterDraft, Policies, Policy, Rule};
use folkmoot_transcript::{Change, Effect, Leave, admission};

/// Four founders, and a member with the key 5 and without a vote.
fn with(policies: Policies) -> Group {
    let mut group = Group::of(&CharterDraft { policies, ..draft(4, 2) });
    group.let_in(&[5], &[0, 1]);
    group
}

/// These keys as the charter writes them.
fn keys(people: &[usize]) -> String {
    let mut keys: Vec<String> = people.iter().map(|person| member(*person).hex()).collect();
    keys.sort();
    keys.join(",")
}

/// The list, among whom 5 is, and 6.
fn listing() -> Policies {
    Policies { policy: Policy::List, list: [member(5), member(6)].into(), ..Policies::default() }
}

/// Three approve something that names the key 5. It is removed, and perhaps admitted anew, and then
/// a voter shows what they approved.
fn approved_before(mut group: Group, change: &Change, readmitted: bool) -> bool {
    let kept = group.approved(&Effect::from(change.clone()), &[0, 1, 2]);
    group.pass(remove(5), &[0, 1, 2]);
    if readmitted {
        group.let_in(&[5], &[0, 1]);
    }
    let decided = decides(&group, vec![kept]);
    assert!(group.decision(change.clone(), &[0, 1, 2]).is_ok(), "approved anew it stands");
    decided
}

#[test]
fn line_13_an_electorate_is_approved_after_the_removal_of_whom_it_names() {
    both(Danger::LineNoNamedStamps, |danger| {
        approved_before(with(Policies::default()).without(danger), &elect(&[0, 1, 2, 5]), true)
    });
}

#[test]
fn line_13_a_list_is_approved_after_the_removal_of_whom_it_names() {
    let list = field("list", &keys(&[5, 7]));
    both(Danger::LineNoNamedStamps, |danger| approved_before(with(listing()).without(danger), &list, false));
    // A list that does not name it is another matter.
    assert!(approved_before(with(listing()), &field("list", &keys(&[7])), false));
}

#[test]
fn line_13_a_role_is_approved_after_the_removal_of_whom_it_names() {
    let role = field("roles.doors", &keys(&[0, 5]));
    both(Danger::LineNoNamedStamps, |danger| {
        approved_before(with(Policies::default()).without(danger), &role, true)
    });
}

/// The decider is a founder: it is out, and in again without a vote.
#[test]
fn line_13_a_decider_is_approved_after_the_removal_of_whom_it_names() {
    let change = field("decider", &keys(&[3]));
    both(Danger::LineNoNamedStamps, |danger| {
        let mut group = Group::new(4, 2).without(danger);
        let kept = group.approved(&Effect::from(change.clone()), &[0, 1, 2]);
        group.pass(remove(3), &[0, 1, 2]);
        group.let_in(&[3], &[0, 1]);
        decides(&group, vec![kept])
    });
}

/// It has its vote again, too: but the share that it would hold was approved before it went.
#[test]
fn line_13_a_sharing_is_approved_after_the_removal_of_its_holders() {
    both(Danger::LineNoNamedStamps, |danger| {
        let mut group = crate::sharing::group().without(danger);
        crate::sharing::share(&mut group);
        let effect = Effect::from(crate::sharing::dealt(&[0, 1, 2, 3], 2, 66));
        let kept = group.approved(&effect, &[0, 1, 2]);
        group.pass(remove(3), &[0, 1, 2]);
        let mut back = group.ask(3);
        back.epochs = group.state().sharing().map(|sharing| sharing.facts.epoch).into_iter().collect();
        group.take_admit(&back);
        group.pass(Change::Hold { request: back.request }, &[0, 1, 2]);
        group.pass(elect(&[0, 1, 2, 3]), &[0, 1, 2]);
        decides(&group, vec![kept])
    });
}

/// A voter that has not heard of the removal approves that a new request is held.
#[test]
fn line_13_a_holding_is_approved_after_the_removal_of_the_key_that_asks() {
    both(Danger::LineNoNamedStamps, |danger| {
        let mut group = with(Policies::default()).without(danger);
        let base = group.head();
        group.pass(remove(5), &[0, 1, 2]);
        let again = group.ask(5);
        group.take_admit(&again);
        let hold = Effect::from(Change::Hold { request: again.request });
        let old = |person| folkmoot_transcript::Approval { base, ..group.yes(person, hold.subject()) };
        let decided = decides(&group, vec![approved_by(&hold, [0, 1, 2].map(old).into())]);
        let mixed = vec![old(0), group.yes(1, hold.subject()), group.yes(2, hold.subject())];
        assert_eq!(decides(&group, vec![approved_by(&hold, mixed)]), danger.is_some());
        decided
    });
}

/// Nor do such approvals make it the new key of somebody, as far as programs can see.
#[test]
fn line_13_a_new_key_is_approved_after_the_removal_of_either_key() {
    for (old, new) in [(5, 6), (3, 5)] {
        both(Danger::LineNoNamedStamps, |danger| {
            let mut group = with(Policies::default()).without(danger);
            let asks = group.ask(new);
            let rotate =
                Change::Rotate { member: member(old), request: asks.request, signature: signature() };
            let effect = Effect::from(rotate);
            let approvals = [0, 1, 2].map(|person| group.yes(person, effect.subject()));
            group.pass(remove(5), &[0, 1, 2]);
            group.let_in(&[5], &[0, 1]);
            group.take_admit(&asks);
            approvals.iter().for_each(|approval| assert!(group.take(*approval)));
            let counted = group.set().proofs(group.state(), &effect, UnixTime(group.now)).len();
            assert!(old == 3 || counted == 0, "the removal of the old key has always been a stamp");
            counted == 3 || (old == 5 && danger.is_some())
        });
    }
}

/// What cannot be decided any more takes no room.
#[test]
fn what_names_a_key_that_was_removed_since_leaves_the_set() {
    for danger in [None, Some(Danger::LineNoNamedStamps)] {
        let mut group = with(listing()).without(danger);
        let effect = Effect::from(field("list", &keys(&[5])));
        group.want(&effect, &[0]);
        group.pass(remove(5), &[0, 1, 2]);
        assert_eq!(group.set().effect(&effect.subject()).is_some(), danger.is_some());
    }
}

/// Its word that it leaves, which everybody honest carries out.
fn leave(group: &Group, person: usize) -> Change {
    let until = UnixTime(group.now + DAY);
    Change::Leave(Leave::sign(key(person), group.state().group(), group.head().number, until))
}

/// The key 6 takes the place of 5.
fn rotate(group: &mut Group) -> Change {
    let new = group.ask(7);
    group.take_admit(&new);
    Change::Rotate { member: member(5), request: new.request, signature: signature() }
}

/// By which decisions a key goes.
fn goes(group: &mut Group, how: usize) -> Change {
    match how {
        0 => remove(5),
        1 => leave(group, 5),
        _ => rotate(group),
    }
}

/// A listed key needs no votes: it would walk in again the moment that it is out.
#[test]
fn line_16_a_removal_strikes_the_key_from_each_value_that_names_it() {
    for how in [0, 1] {
        both(Danger::LineNoStrike, |danger| {
            let mut group = with(listing()).without(danger);
            let change = goes(&mut group, how);
            group.pass(change, &[0, 1, 2]);
            let (again, other) = (group.ask(5), group.ask(6));
            group.take_admit(&again);
            group.take_admit(&other);
            assert!(group.is_member(6), "the others stay on the list");
            group.is_member(5)
        });
    }
    let mut group = with(listing());
    let change = rotate(&mut group);
    group.pass(change, &[0, 1, 2]);
    assert_eq!(group.state().charter().policies().list, [member(6)].into());
}

fn lists(group: &Group, person: usize) -> bool {
    group.state().charter().policies().list.contains(&member(person))
}

/// Any change of the list cleared everybody once who had been struck.
#[test]
fn line_16_only_a_new_value_of_the_field_that_names_it_brings_a_key_back() {
    let mut group = with(listing());
    group.pass(remove(5), &[0, 1, 2]);
    assert!(!lists(&group, 5) && group.state().is_struck(&member(5)));
    for other in
        [field("request_hours", "24"), field("roles.doors", &keys(&[0])), field("policy", "threshold")]
    {
        group.pass(other, &[0, 1, 2]);
        assert!(!lists(&group, 5));
    }
    group.pass(field("list", &keys(&[8])), &[0, 1, 2]);
    assert!(!lists(&group, 5) && lists(&group, 8));
    group.pass(field("list", &keys(&[5, 6])), &[0, 1, 2]);
    assert!(lists(&group, 5) && !group.state().is_struck(&member(5)));
    // The same value is another one to whoever was struck from it.
    group.let_in(&[5], &[0, 1, 2]);
    group.pass(remove(5), &[0, 1, 2]);
    assert!(!lists(&group, 5));
    group.pass(field("list", &keys(&[5, 6])), &[0, 1, 2]);
    assert!(lists(&group, 5));
}

/// Each field by itself: who is on the list again has no role by that.
#[test]
fn line_16_each_field_is_struck_by_itself() {
    let mut policies = listing();
    policies.roles.insert("doors".to_owned(), [member(0), member(5)].into());
    policies.roles.insert("locks".to_owned(), [member(1)].into());
    let mut group = with(policies);
    group.pass(remove(5), &[0, 1, 2]);
    group.pass(field("list", &keys(&[5])), &[0, 1, 2]);
    let roles = |group: &Group| group.state().charter().policies().roles_of(&member(5)).len();
    assert!(lists(&group, 5));
    assert_eq!(roles(&group), 0);
    group.pass(field("roles.locks", &keys(&[5])), &[0, 1, 2]);
    assert_eq!(group.state().charter().policies().roles_of(&member(5)), ["locks"]);
    assert_eq!(group.state().charter().policies().roles_of(&member(0)), ["doors"]);
}

/// A member again, and a voter: but its yes does not satisfy the rule that names its role.
#[test]
fn line_16_a_role_does_not_outlast_its_holders_removal() {
    both(Danger::LineNoStrike, |danger| {
        let mut policies =
            Policies { admit: Some(Rule::parse("1 of doors").unwrap()), ..Policies::default() };
        policies.roles.insert("doors".to_owned(), [member(2), member(3)].into());
        let mut group = Group::of(&CharterDraft { policies, ..draft(4, 2) }).without(danger);
        group.pass(remove(3), &[0, 1, 2]);
        group.let_in(&[3], &[0, 2]);
        group.pass(elect(&[0, 1, 2, 3]), &[0, 1, 2]);
        let admit = group.ask(6);
        group.welcome(&admit, &[0, 1, 3]);
        group.is_member(6)
    });
}

/// The decider alone lets in whom it likes, once it has a vote again.
#[test]
fn line_16_a_decider_does_not_decide_after_its_removal() {
    both(Danger::LineNoStrike, |danger| {
        let policies = Policies { policy: Policy::Founder, decider: Some(member(3)), ..Policies::default() };
        let mut group = Group::of(&CharterDraft { policies, ..draft(4, 2) }).without(danger);
        group.pass(forced(remove(3)), &[0, 1, 2]);
        let back = group.ask(3);
        group.take_admit(&back);
        group.pass(Change::Hold { request: back.request }, &[0, 1, 2]);
        group.pass(forced(elect(&[0, 1, 2, 3])), &[0, 1, 2]);
        let admit = group.ask(6);
        let yes = group.yes(3, admission(admit.request));
        group.take(yes);
        group.take_admit(&admit);
        let reached = group.is_member(6);
        if !reached {
            group.pass(field("decider", &keys(&[3])), &[0, 1, 2]);
            assert!(group.is_member(6), "the same value, decided since, brings it back");
        }
        reached
    });
}
