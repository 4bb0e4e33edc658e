//! What a change may be, and who must approve it.

use crate::group::{DAY, Group, draft, elect, field, forced, member, members, remove, signature};
use folkmoot_base::{Blob, Danger, UnixTime, digest, unhex};
use folkmoot_identity::{Algorithms, CharterDraft, KeyAlgorithm, Policies, Rule, VerifyingKey};
use folkmoot_transcript::{Admit, Batch, Change, Effect, Refuted, Uncounted, Unfit, VOTERS_MAX, Wrong};

fn refuted<T: std::fmt::Debug>(result: Result<T, Wrong>) -> Refuted {
    match result.unwrap_err() {
        Wrong::Effect { place: 0, why } => why,
        other => panic!("{other:?}"),
    }
}

fn unfit(group: &Group, change: &Change) -> Unfit {
    group.state().would_stand(change, false, None).unwrap_err()
}

#[test]
fn line_40_an_effect_has_the_threshold_and_a_quorum() {
    let group = Group::new(4, 2);
    let change = field("request_hours", "24");
    for (people, enough) in [(&[0][..], false), (&[1, 2], false), (&[0, 3], true), (&[1, 2, 3], true)] {
        let decision = group.decision(change.clone(), people);
        assert_eq!(decision.is_ok(), enough, "{people:?}");
        if !enough {
            let why = Uncounted::TooFew { got: people.len(), need: 2 };
            assert_eq!(refuted(decision), Refuted::Uncounted(why));
        }
    }
    let strict = CharterDraft { quorum: folkmoot_identity::Quorum::TwoThirds, ..draft(6, 2) };
    let group = Group::of(&strict);
    assert!(group.decision(change.clone(), &[0, 1, 2, 3]).is_err());
    assert!(group.decision(change, &[1, 2, 3, 4, 5]).is_ok());
}

#[test]
fn line_40_no_approval_that_does_not_count_is_carried() {
    let mut group = Group::new(4, 2);
    group.let_in(&[5], &[0, 1]);
    let decision = group.decision(field("request_hours", "24"), &[0, 1, 2, 5]);
    assert_eq!(refuted(decision), Refuted::Uncounted(Uncounted::NotVoter(member(5))));
}

#[test]
fn line_41_only_a_member_is_removed() {
    let group = Group::new(4, 2);
    assert_eq!(unfit(&group, &remove(5)), Unfit::NotMember(member(5)));
    assert_eq!(group.state().would_stand(&remove(3), false, None), Ok(()));
}

#[test]
fn line_41_an_expelled_voter_loses_its_place() {
    let mut group = Group::new(4, 2);
    group.pass(remove(3), &[0, 1, 2]);
    assert_eq!(group.state().since(&member(3)), None);
    assert_eq!(group.state().removed_at(&member(3)), 1);
    assert!(!group.is_member(3));
}

#[test]
fn line_42_the_charter_takes_the_change() {
    let group = Group::new(4, 2);
    let refused = [field("name", "other"), field("request_hours", "0"), field("nothing", "1")];
    for change in refused {
        assert!(matches!(unfit(&group, &change), Unfit::Charter(_)));
    }
    let noise = Change::Charter { field: Blob::from(vec![0xff]), value: Blob::default() };
    assert_eq!(unfit(&group, &noise), Unfit::NotUtf8);
    assert_eq!(group.state().would_stand(&field("request_hours", "1"), false, None), Ok(()));
}

/// Bytes that are no text do not take the name of a text, or whoever came first would keep it.
#[test]
fn line_42_what_is_no_text_has_a_name_of_its_own() {
    let named = |value: &[u8]| {
        let (field, value) = (Blob::from(b"letters".to_vec()), Blob::from(value.to_vec()));
        Effect::from(Change::Charter { field, value }).subject()
    };
    assert_ne!(named(&[0xff]), named("\u{fffd}".as_bytes()));
    assert_eq!(named(b"true").digest, folkmoot_identity::change_digest("letters", "true"));
}

fn with_ratio(percent: u32, window: u32) -> Group {
    Group::of(&CharterDraft { ratio: Some((percent, window)), ..draft(4, 2) })
}

#[test]
fn line_43_a_ratio_is_of_the_size_that_the_group_has() {
    let group = with_ratio(50, 1);
    for (value, fits) in
        [("50% of 3 window 1", false), ("75% of 9 window 1", false), ("75% of 4 window 1", true), ("3", true)]
    {
        let change = field("threshold", value);
        let stands = group.state().would_stand(&change, false, None);
        assert_eq!(stands.is_ok(), fits, "{value}");
        assert!(fits || matches!(stands, Err(Unfit::Threshold { members: 4, .. })));
    }
}

#[test]
fn line_43_a_threshold_that_follows_the_size_does_so_by_itself() {
    let mut group = with_ratio(50, 1);
    group.let_in(&[5], &[0, 1, 2]);
    assert_eq!(group.state().charter().threshold(), 2, "within the window");
    group.let_in(&[6, 7], &[0, 1, 2]);
    assert_eq!(group.state().charter().threshold(), 4, "half of seven");
}

#[test]
fn line_44_an_electorate_is_distinct_members() {
    let group = Group::new(4, 2);
    let many = Change::Electorate { voters: vec![member(0); VOTERS_MAX + 1] };
    for change in [elect(&[]), elect(&[0, 1, 1]), elect(&[0, 1, 5]), elect(&[0, 1, 2, 3]), many] {
        assert_eq!(unfit(&group, &change), Unfit::Electorate);
    }
    for people in [&[3, 2, 1, 0][..], &[0, 1, 2]] {
        assert_eq!(group.state().would_stand(&elect(people), false, None), Ok(()));
    }
}

/// The SPKI of an RSA key of 3072 bits that nobody has the other half of.
fn rsa(number: u64) -> VerifyingKey {
    let head = "308201a2300d06092a864886f70d01010105000382018f003082018a0282018100";
    let mut spki = unhex(head).unwrap();
    let blocks = (0..12_u64).flat_map(|block| digest(&[&number.to_be_bytes(), &block.to_be_bytes()]));
    let mut modulus: Vec<u8> = blocks.collect();
    modulus[0] |= 0xc0;
    modulus[383] |= 1;
    spki.extend(modulus);
    spki.extend([2, 3, 1, 0, 1]);
    VerifyingKey::from_spki_der(&spki).unwrap()
}

/// Four voters on P-256, and so many others whom a decision holds, with keys of RSA.
fn wide(count: u64) -> (Group, Vec<Admit>) {
    let algorithms = Algorithms::new([KeyAlgorithm::P256, KeyAlgorithm::Rsa3072]);
    let mut group = Group::of(&CharterDraft { algorithms, ..draft(4, 2) });
    let mut admits = Vec::new();
    for number in 0..count {
        let key = rsa(number);
        let request = digest(&[b"request", key.spki_der()]);
        admits.push(Admit { request, member: key.member_id(), key, ..group.ask(5) });
    }
    for admit in &admits {
        group.welcome(admit, &[0, 1, 2]);
    }
    let mut holds: Vec<_> = admits.iter().map(|admit| admit.request).collect();
    holds.sort_unstable();
    group.now += 60;
    let decision = group.decide(Batch { holds, ..group.batch() }).unwrap();
    group.follow(decision);
    (group, admits)
}

/// Four voters on P-256 and 42 with RSA keys of 3072 bits have exactly the room that there is.
#[test]
fn line_89_what_all_voters_sign_has_room() {
    let (mut group, admits) = wide(43);
    let voters = |count: usize| {
        let others = admits.iter().take(count).map(|admit| admit.member);
        Change::Electorate { voters: members(&[0, 1, 2, 3]).into_iter().chain(others).collect() }
    };
    let too_long = Unfit::Signatures { bytes: 43 * 384 + 4 * 64 };
    assert_eq!(unfit(&group, &voters(43)), too_long);
    assert!(group.decision(voters(43), &[0, 1, 2]).is_err(), "whoever approves it");
    let careless = group.another().without(Some(Danger::LineLongSignatures));
    assert_eq!(careless.state().would_stand(&voters(43), false, None), Ok(()));
    assert!(careless.decision(voters(43), &[0, 1, 2]).is_ok(), "the rule is off");
    group.pass(voters(42), &[0, 1, 2]);
    // One of them may not take a longer key.
    let key = rsa(99);
    let admit = Admit { request: [9; 32], member: key.member_id(), key, ..group.ask(5) };
    let rotate = Change::Rotate { member: member(3), request: admit.request, signature: signature() };
    let refused = group.state().would_stand(&rotate, false, Some(&admit)).unwrap_err();
    assert_eq!(refused, Unfit::Signatures { bytes: 43 * 384 + 3 * 64 });
}

#[test]
fn line_48_a_removal_satisfies_the_charters_rule_besides() {
    let mut policies = Policies { remove: Some(Rule::parse("1 of safety").unwrap()), ..Policies::default() };
    policies.roles.insert("safety".to_owned(), [member(2)].into());
    let group = Group::of(&CharterDraft { policies, ..draft(4, 2) });
    let refused = refuted(group.decision(remove(3), &[0, 1, 3]));
    assert!(matches!(refused, Refuted::Uncounted(Uncounted::Rule(_))));
    assert!(group.decision(remove(3), &[0, 1, 2]).is_ok());
    assert!(group.decision(field("request_hours", "24"), &[0, 1, 3]).is_ok(), "only a removal");
}

fn hold(group: &Group, request: [u8; 32]) -> Result<(), Wrong> {
    group.decision(Change::Hold { request }, &[0, 1, 2]).map(|_| ())
}

#[test]
fn line_49_people_hold_what_came_too_late() {
    let mut group = Group::new(4, 2);
    let late = group.ask(5);
    assert_eq!(refuted(hold(&group, late.request)), Refuted::Unfit(Unfit::NoAdmit));
    group.take_admit(&late);
    group.pass(Change::Hold { request: late.request }, &[0, 1, 2]);
    assert!(group.state().roster().contains_key(&member(5)));
    // It is held.
    assert!(hold(&group, late.request).is_err());
    let state = group.state();
    let change = Change::Hold { request: late.request };
    assert_eq!(state.would_stand(&change, false, Some(&late)), Err(Unfit::NotLate));
}

#[test]
fn line_49_whoever_was_expelled_since_is_not_held() {
    let mut group = Group::new(4, 2);
    let late = group.ask(3);
    group.pass(remove(3), &[0, 1, 2]);
    group.take_admit(&late);
    assert_eq!(refuted(hold(&group, late.request)), Refuted::Unfit(Unfit::NotLate));
    let anew = group.ask(3);
    group.take_admit(&anew);
    assert_eq!(hold(&group, anew.request), Ok(()));
}

/// The admission says whose key the effect is about, whenever it comes.
#[test]
fn what_names_an_expelled_key_goes_once_that_is_known() {
    let mut group = Group::new(4, 2);
    let late = group.ask(3);
    group.want(&Effect::from(Change::Hold { request: late.request }), &[0, 1]);
    let mut other = group.another();
    group.take_admit(&late);
    for group in [&mut group, &mut other] {
        group.pass(remove(3), &[0, 1, 2]);
    }
    assert_eq!(other.set().effects().count(), 1);
    other.take_admit(&late);
    assert_eq!(other.set().effects().count(), 0);
    assert_eq!(group.line.mark(), other.line.mark());
}

#[test]
fn line_49_what_is_over_is_not_held() {
    let mut group = Group::new(4, 2);
    group.pass(field("request_hours", "24"), &[0, 1, 2]);
    let late = group.ask(5);
    let over = Admit { ends: UnixTime(group.state().time().0 - 1), ..late.clone() };
    let change = Change::Hold { request: late.request };
    assert_eq!(group.state().would_stand(&change, false, Some(&over)), Err(Unfit::NotLate));
    assert_eq!(group.state().would_stand(&change, false, Some(&late)), Ok(()));
}

#[test]
fn line_49_a_new_key_has_the_place_of_the_old_one() {
    let mut group = Group::new(4, 2);
    let new = group.ask(5);
    let change = Change::Rotate { member: member(3), request: new.request, signature: signature() };
    assert_eq!(unfit(&group, &change), Unfit::NoAdmit);
    group.take_admit(&new);
    group.pass(change, &[0, 1, 2]);
    let places: Vec<_> = group.state().places().iter().map(|place| place.voter).collect();
    assert_eq!(places, members(&[0, 1, 2, 5]));
    assert_eq!((group.state().since(&member(5)), group.state().removed_at(&member(3))), (Some(1), 1));
    // A key that is a member's is nobody's new key.
    let taken = group.ask(1);
    let change = Change::Rotate { member: member(2), request: taken.request, signature: signature() };
    assert_eq!(group.state().would_stand(&change, false, Some(&taken)), Err(Unfit::NotLate));
}

/// The key of person 3 is replaced by that of person 5.
fn replaced(danger: Option<Danger>) -> Group {
    let mut group = Group::new(4, 2).without(danger);
    let new = group.ask(5);
    group.take_admit(&new);
    group.pass(rotate(3, &new), &[0, 1, 2]);
    assert!(group.is_member(5) && !group.is_member(3));
    group
}

fn unfit_with(group: &Group, change: &Change, named: &Admit) -> Unfit {
    group.state().would_stand(change, false, Some(named)).unwrap_err()
}

fn rotate(person: usize, new: &Admit) -> Change {
    Change::Rotate { member: member(person), request: new.request, signature: signature() }
}

/// Whoever has the key of old is nobody, and stays so, whatever the voters approve.
#[test]
fn line_90_a_key_that_was_replaced_is_nobodys_any_more() {
    for danger in [None, Some(Danger::LineFormerReturns)] {
        let mut group = replaced(danger);
        let back = group.ask(3);
        group.welcome(&back, &[0, 1, 2, 5]);
        assert_eq!(group.is_member(3), danger.is_some(), "{danger:?}");
        if danger.is_some() {
            continue;
        }
        assert_eq!(group.set().judge(group.state(), &back), Err(Uncounted::Former(member(3))));
        assert_eq!(unfit_with(&group, &Change::Hold { request: back.request }, &back), Unfit::NotLate);
        assert_eq!(unfit_with(&group, &rotate(2, &back), &back), Unfit::FormerKey(member(3)));
        assert_eq!(
            unfit_with(&group, &rotate(5, &back), &back),
            Unfit::FormerKey(member(3)),
            "nor is it changed back"
        );
        // Nor has its word any weight: it is no member.
        let next = group.ask(6);
        group.take_admit(&next);
        assert_eq!(unfit_with(&group, &rotate(3, &next), &next), Unfit::NotMember(member(3)));
        group.pass(rotate(5, &next), &[0, 1, 2]);
        let formers: Vec<_> = [3, 5].map(|person| (member(person), member(6))).to_vec();
        assert_eq!(group.state().former_keys(), formers.into_iter().collect());
        assert_eq!(group.state().replaced()[&member(3)].number, 1);
        group.wait(200);
        assert_eq!(group.state().removed_at(&member(3)), 0, "its stamp is forgotten");
        let late = group.ask(3);
        group.welcome(&late, &[0, 1, 2, 6]);
        assert!(!group.is_member(3), "and it is not");
    }
}

/// A key that was expelled takes nobody's place: people would see a member's name only.
#[test]
fn line_90_a_key_that_was_expelled_takes_nobodys_place() {
    let mut group = Group::new(5, 2);
    group.pass(remove(4), &[0, 1, 2]);
    let asks = group.ask(4);
    group.take_admit(&asks);
    assert_eq!(unfit_with(&group, &rotate(3, &asks), &asks), Unfit::FormerKey(member(4)));
}

/// The list names the old key, and lets it in no more.
#[test]
fn line_90_the_list_lets_no_former_key_in() {
    let list = [member(3), member(6)].into();
    let policies = Policies { policy: folkmoot_identity::Policy::List, list, ..Policies::default() };
    let mut group = Group::of(&CharterDraft { policies, ..draft(4, 2) });
    let new = group.ask(5);
    group.take_admit(&new);
    group.pass(rotate(3, &new), &[0, 1, 2]);
    let (back, listed) = (group.ask(3), group.ask(6));
    group.take_admit(&back);
    group.take_admit(&listed);
    assert!(!group.is_member(3) && group.is_member(6));
    assert_eq!(group.state().charter().policies().list, [member(6)].into());
    assert!(group.state().is_struck(&member(3)), "the charter's text names it still");
}

#[test]
fn effects_of_one_decision_are_judged_one_after_the_other() {
    let group = Group::new(4, 2);
    let effects = |changes: [Change; 2]| {
        let effects = changes.map(|change| group.approved(&change.into(), &[0, 1, 2])).to_vec();
        group.decide(folkmoot_transcript::Batch { effects, ..group.batch() })
    };
    assert!(effects([remove(3), field("request_hours", "24")]).is_ok());
    let twice = effects([remove(3), remove(3)]);
    assert!(matches!(twice, Err(Wrong::Effect { place: 1, .. })));
    let without = effects([remove(2), remove(3)]);
    assert!(matches!(without, Err(Wrong::Effect { place: 1, .. })), "2 approved, and is out");
}

#[test]
fn a_decision_ends_the_terms_that_it_is_past() {
    let mut group = Group::new(4, 2);
    let short = folkmoot_transcript::Admit { ends: UnixTime(group.now + DAY), ..group.ask(5) };
    group.welcome(&short, &[0, 1]);
    let holds = vec![short.request];
    group.follow(group.decide(folkmoot_transcript::Batch { holds, ..group.batch() }).unwrap());
    group.now += 2 * DAY;
    // Nobody approves anything: the end of a term is enough.
    group.follow(group.decide(group.batch()).unwrap());
    assert!(!group.state().roster().contains_key(&member(5)));
    assert!(group.decision(forced(remove(5)), &[0, 1, 2]).is_err());
}
