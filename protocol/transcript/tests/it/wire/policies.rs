//! Whom each policy admits, by certificates with real votes.

use super::{Group, LATER, NOW, START, draft, field, person, remove};
use folkmoot_base::{Blob, UnixTime};
use folkmoot_identity::{
    Below, CertificateError, CharterDraft, Gmc, Identity, Policies, Policy, Rule, Verdict, VoteProof,
};
use folkmoot_transcript::{Item, ItemError, Uncounted, Unfit, admission};

fn group(founders: u64, policies: Policies) -> Group {
    Group::of(&CharterDraft { policies, ..draft(founders, 2) })
}

fn late(group: &Group, stranger: &Identity, voters: &[usize]) -> Uncounted {
    match group.tried(stranger, voters).unwrap_err() {
        ItemError::Late(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn line_24_a_list_admits_whom_it_names_and_nobody_else() {
    let (listed, other) = (person(30), person(31));
    let policies = Policies { policy: Policy::List, list: [listed.member()].into(), ..Policies::default() };
    let mut group = group(3, policies);
    let refused = late(&group, &other, &[0, 1, 2]);
    assert_eq!(refused, Uncounted::Policy(CertificateError::PeerNotListed));
    let item = group.admit(&listed, &group.request(&listed), &[]);
    assert_eq!(group.all_take(&item).came, [listed.member()].into());
    assert!(!group.all_take(&item).new, "once by each request");
    group.pass(&field("list", &other.member().hex()), &[0, 1]);
    assert_eq!(group.tried(&other, &[]), Ok(()));
}

/// To be listed is to have been voted for once. Anyone who is voted out is not listed any more,
/// until the voters decide the list again.
#[test]
fn line_24_whoever_is_expelled_is_struck_from_the_list() {
    let (gone, other) = (person(30), person(31));
    let list = [gone.member(), other.member()].into();
    let mut group = group(3, Policies { policy: Policy::List, list, ..Policies::default() });
    let item = group.admit(&gone, &group.request(&gone), &[]);
    group.all_take(&item);
    group.pass(&remove(gone.member()), &[0, 1, 2]);
    let roster = group.first().roster();
    assert!(roster.is_struck(&gone.member()) && !roster.is_struck(&other.member()));
    assert_eq!(late(&group, &gone, &[]), Uncounted::Policy(CertificateError::PeerNotListed));
    assert_eq!(group.tried(&other, &[]), Ok(()));
    group.pass(&field("list", &gone.member().hex()), &[0, 1, 2]);
    assert!(!group.first().roster().is_struck(&gone.member()));
    assert_eq!(group.tried(&gone, &[]), Ok(()));
}

#[test]
fn line_24_a_founder_admits_alone_where_the_charter_says_so() {
    let (decider, stranger) = (person(1).member(), person(30));
    let policies = Policies { policy: Policy::Founder, decider: Some(decider), ..Policies::default() };
    let mut group = group(3, policies);
    assert_eq!(late(&group, &stranger, &[0, 2]), Uncounted::Policy(CertificateError::PeerNoDecider));
    assert_eq!(group.tried(&stranger, &[1]), Ok(()));
    let unreachable = Unfit::Unreachable { what: "admit" };
    assert_eq!(group.first().would_stand(&remove(decider)), Err(unreachable));
    group.pass(&field("policy", "threshold"), &[0, 2]);
    assert_eq!(group.tried(&stranger, &[0, 2]), Ok(()));
    assert!(group.tried(&stranger, &[1]).is_err());
    assert_eq!(group.first().would_stand(&remove(decider)), Ok(()));
}

/// Operators are 0, 1 and 2; security is 3 and 4.
fn by_roles(admit: &str) -> Group {
    let ids = |who: &[u64]| who.iter().map(|who| person(*who).member()).collect();
    let roles = [("operators".to_owned(), ids(&[0, 1, 2])), ("security".to_owned(), ids(&[3, 4]))];
    let admit = Some(Rule::parse(admit).unwrap());
    group(6, Policies { roles: roles.into(), admit, ..Policies::default() })
}

#[test]
fn line_24_a_rule_over_roles_decides_who_admits() {
    let stranger = person(30);
    let lets_in = |group: &Group, voters: &[usize]| match group.tried(&stranger, voters) {
        Ok(()) => true,
        Err(ItemError::Late(Uncounted::Policy(_))) => false,
        Err(other) => panic!("{other:?}"),
    };
    let both = by_roles("2 of operators and 1 of security");
    assert!(lets_in(&both, &[0, 1, 3]) && lets_in(&both, &[0, 1, 2, 4, 5]));
    for few in [&[0, 1][..], &[0, 3], &[0, 1, 5], &[3, 4, 0], &[5]] {
        assert!(!lets_in(&both, few), "{few:?}");
    }
    let either = by_roles("2 of security or (1 of operators and 3 of all)");
    assert!(lets_in(&either, &[3, 4]) && lets_in(&either, &[0, 3, 5]));
    assert!(!lets_in(&either, &[0, 3]) && !lets_in(&either, &[0, 1]));
    let none = by_roles("1 of all");
    assert!(!lets_in(&none, &[0]) && lets_in(&none, &[0, 5]), "the threshold holds besides");
    // A role is a matter of votes that verify, not of names in a list.
    let body = both.request(&stranger);
    let subject = admission(body.request_digest().unwrap());
    let honest = [both.vote(0, subject), both.vote(1, subject)];
    let forged = VoteProof { voter: both.id(3), ..honest[0].clone() };
    let gmc = Gmc::compose(&body, &[honest[0].clone(), honest[1].clone(), forged], &stranger).unwrap();
    let item = Item::Admit { certificate: Blob(gmc.der().clone()), approvals: Vec::new() };
    let refused = both.first().check_admit(&item.encode());
    assert!(matches!(refused, Err(ItemError::Late(Uncounted::Policy(CertificateError::PeerRule(_))))));
}

#[test]
fn line_46_what_is_out_of_reach_blocks_no_way_back() {
    let mut group = by_roles("2 of operators and 1 of security");
    group.pass(&remove(group.id(4)), &[0, 1, 2, 3]);
    let last = remove(group.id(3));
    let unreachable = Err(Unfit::Unreachable { what: "admit" });
    assert_eq!(group.first().would_stand(&last), unreachable);
    let forced = folkmoot_transcript::Effect { force: folkmoot_transcript::Force::Yes, ..last.clone() };
    assert_ne!(last.subject(), forced.subject(), "approvals cover the word");
    // Approvals of the plain removal do not carry the forced one.
    group.approve(&last, &[0, 1, 2, 5]);
    group.all_take(&Item::Effect(forced.clone()));
    assert_eq!(group.decide(&[0, 1, 2, 3, 5]).len(), 0);
    group.pass(&forced, &[0, 1, 2, 5]);
    assert!(!group.first().roster().is_member(&group.id(3)));
    let stranger = person(30);
    assert!(group.tried(&stranger, &[0, 1, 2, 5]).is_err());
    group.pass(&field("roles.security", &group.id(5).hex()), &[0, 1, 2]);
    assert_eq!(group.tried(&stranger, &[0, 1, 5]), Ok(()));
}

#[test]
fn line_23_objections_end_a_request_and_whoever_was_refused_asks_anew() {
    let mut group = group(4, Policies { objections: Some(2), ..Policies::default() });
    let stranger = person(30);
    let body = group.request(&stranger);
    let subject = admission(body.request_digest().unwrap());
    let item = group.admit(&stranger, &body, &[1, 2]);
    assert_eq!(group.all_take(&item).came, [stranger.member()].into());
    let no = |group: &Group, who: usize| Item::Approval(group.approval(who, subject, 0, Verdict::Reject));
    let first = no(&group, 0);
    assert!(group.all_take(&first).went.is_empty(), "one objection is too few");
    let second = no(&group, 3);
    assert_eq!(group.all_take(&second).went, [stranger.member()].into());
    assert_eq!(group.first().check_admit(&item.encode()), Err(ItemError::Late(Uncounted::Refused)));
    // The next decision says so; then nobody takes an objection back.
    group.pass(&field("request_hours", "24"), &[0, 1, 2]);
    let sorry = Item::Approval(group.approval(3, subject, 1, Verdict::Approve));
    assert!(group.all_take(&sorry).came.is_empty());
    assert_eq!(group.first().check_admit(&item.encode()), Err(ItemError::Late(Uncounted::Refused)));
    let mut anew = group.request(&stranger);
    anew.membership.nonce[0] ^= 1;
    let item = group.admit(&stranger, &anew, &[1, 2]);
    assert_eq!(group.all_take(&item).came, [stranger.member()].into());
}

#[test]
fn id_47_below_the_threshold_all_voters_suffice_where_the_charter_says_so() {
    let policies = Policies { below: Below::Reset, ..Policies::default() };
    let mut group = Group::of(&CharterDraft { policies, ..draft(3, 3) });
    let stranger = person(30);
    let threshold = |group: &Group| {
        let roster = group.first().roster();
        (roster.threshold(), roster.below_threshold())
    };
    assert_eq!(threshold(&group), (3, None));
    group.pass(&remove(group.id(2)), &[0, 1, 2]);
    assert_eq!(threshold(&group), (2, Some(2)));
    assert!(group.tried(&stranger, &[0]).is_err());
    assert_eq!(group.tried(&stranger, &[0, 1]), Ok(()));
    group.pass(&remove(group.id(1)), &[0, 1]);
    assert_eq!(threshold(&group), (1, Some(1)));
    let last = group.first().would_stand(&remove(group.id(0)));
    assert_eq!(last, Err(Unfit::DeadEnd { voters: 0, threshold: 1 }));
}

#[test]
fn line_31_no_approval_outlasts_the_request_days() {
    let days = |days| (LATER.0 - START.0).div_ceil(86_400) as u32 + days;
    let stranger = person(30);
    let fits = group(3, Policies { request_days: Some(days(0)), ..Policies::default() });
    assert_eq!(fits.tried(&stranger, &[0, 1]), Ok(()));
    let short = group(3, Policies { request_days: Some(7), ..Policies::default() });
    assert!(matches!(late(&short, &stranger, &[0, 1]), Uncounted::Expired(_)));
    let body = short.request(&stranger);
    let (group, request) = (short.first().group(), body.request_digest().unwrap());
    let sign = |who: usize, expires: u64| {
        let proof = VoteProof { expires: UnixTime(expires), ..short.vote(who, admission(request)) };
        let signature = proof.body(group, request).sign(short.people[who].key());
        VoteProof { signature, ..proof }
    };
    let with = |expires: u64| {
        let votes = [sign(0, expires), sign(1, expires)];
        let gmc = Gmc::compose(&body, &votes, &stranger).unwrap();
        let item = Item::Admit { certificate: Blob(gmc.der().clone()), approvals: Vec::new() };
        short.first().check_admit(&item.encode())
    };
    let end = START.0 + 7 * 86_400;
    assert!(end > NOW.0);
    assert_eq!(with(end), Ok(()));
    assert!(matches!(with(end + 1), Err(ItemError::Late(Uncounted::Expired(_)))));
}
