//! Admissions by one multisignature of the voters, where the charter's scheme is `asm`.

use super::keys::together;
use super::{Group, LATER, NOW, START, draft, person, remove};
use folkmoot_base::{Blob, UnixTime};
use folkmoot_identity::{
    CertificateError, CharterDraft, Gmc, GmcBody, Identity, Multi, Policies, Rule, Scheme, Verdict, VoteBody,
    VoteKind,
};
use folkmoot_signing::{FaultKind, RunId};
use folkmoot_transcript::{Item, ItemError, LIFE_SECONDS, Transcript, Uncounted, admission};
use std::collections::BTreeSet;

fn group_by(change: impl Fn(&mut CharterDraft)) -> Group {
    let mut draft = CharterDraft { scheme: Scheme::Asm, ..draft(5, 2) };
    change(&mut draft);
    Group::of(&draft)
}

/// What voters say who approve this body.
fn yes(body: &GmcBody) -> VoteBody {
    let (group, base, subject) =
        (body.membership.group, body.membership.base, body.request_digest().unwrap());
    let (kind, verdict) = (VoteKind::Admit, Verdict::Approve);
    VoteBody { group, base, kind, subject, turn: 0, verdict, expires: LATER }
}

fn item(body: &GmcBody, stranger: &Identity, multi: &Multi) -> Item {
    let gmc = Gmc::compose_multi(body, multi, stranger).unwrap();
    Item::Admit { certificate: Blob(gmc.der().clone()), approvals: Vec::new() }
}

/// The item of a certificate that these founders signed together.
fn signed(group: &Group, stranger: &Identity, signers: &[usize], expires: UnixTime) -> Item {
    let body = group.request(stranger);
    let people: Vec<&Identity> = signers.iter().map(|who| &group.people[*who]).collect();
    item(&body, stranger, &together(&people, &VoteBody { expires, ..yes(&body) }))
}

fn tried(group: &Group, item: &Item) -> Result<(), ItemError> {
    group.first().check_admit(&item.encode())
}

fn is_policy(result: Result<(), ItemError>) -> bool {
    matches!(result, Err(ItemError::Late(Uncounted::Policy(_))))
}

#[test]
fn line_24_a_multisignature_of_enough_voters_admits() {
    let mut group = group_by(|_| {});
    let stranger = person(10);
    let item = signed(&group, &stranger, &[3, 1], LATER);
    assert_eq!(group.all_take(&item).came, [stranger.member()].into());
    let approvals = group.first().set().approvals().map(|signed| signed.approval.voter);
    assert_eq!(approvals.collect::<BTreeSet<_>>(), [group.id(1), group.id(3)].into());
    group.pass(&remove(group.id(4)), &[0, 1, 2]);
    assert!(group.first().state().roster().contains_key(&stranger.member()), "a decision holds it");
}

/// Approvals that have no signature of their own travel in the certificate that proves them.
#[test]
fn what_one_multisignature_lacks_another_brings() {
    let mut group = group_by(|_| {});
    let stranger = person(10);
    for (who, came) in [(0, false), (1, true)] {
        let one = signed(&group, &stranger, &[who], LATER);
        assert_eq!(group.all_take(&one).came.contains(&stranger.member()), came);
    }
    let mut newcomer = Transcript::founded(group.first().signed_charter().der()).unwrap();
    for item in group.first().lacking(newcomer.state().head(), &newcomer.have(), 1_000_000) {
        newcomer.take(&item, Some(NOW)).unwrap();
    }
    assert_eq!(newcomer.mark(), group.first().mark());
    assert!(newcomer.roster().is_member(&stranger.member()));
}

/// The approvals in it wait, and have no signature of their own to be taken by: the certificate is
/// taken again.
#[test]
fn line_36_a_multisignature_that_ends_too_far_ahead_waits() {
    let mut group = group_by(|_| {});
    let stranger = person(10);
    let far = UnixTime(NOW.0 + LIFE_SECONDS + 86_400 + 60);
    let item = signed(&group, &stranger, &[3, 1], far);
    let founder = &mut group.transcripts[0];
    assert!(founder.take(&item.encode(), Some(NOW)).unwrap().came.is_empty());
    assert_eq!(founder.waiting(), 2);
    assert!(founder.hear_clock(UnixTime(NOW.0 + 59)).came.is_empty());
    assert_eq!(founder.hear_clock(UnixTime(NOW.0 + 60)).came, [stranger.member()].into());
    // One that was let in by a clock that was ahead waits again.
    assert_eq!(founder.ask_again(NOW).went, [stranger.member()].into());
    assert_eq!(founder.hear_clock(UnixTime(NOW.0 + 60)).came, [stranger.member()].into());
}

#[test]
fn line_07_a_multisignature_is_of_its_signers_for_this_request_over_this_base() {
    let group = group_by(|_| {});
    let stranger = person(10);
    let body = group.request(&stranger);
    let said = yes(&body);
    let people: Vec<&Identity> = group.people[..2].iter().collect();
    let with = |multi: &Multi| tried(&group, &item(&body, &stranger, multi));
    let good = together(&people, &said);
    assert_eq!(with(&good), Ok(()));
    // Another end, turn or base than was signed; another request; another group; a no.
    let bytes = good.signature();
    let other_base = folkmoot_base::Head { number: 7, ..said.base };
    for (base, turn, expires) in
        [(said.base, 0, UnixTime(LATER.0 + 1)), (said.base, 1, LATER), (other_base, 0, LATER)]
    {
        assert!(is_policy(with(&Multi::new(base, turn, expires, &bytes).unwrap())));
    }
    let elsewhere = folkmoot_base::GroupId([9; 32]);
    for wrong in [
        VoteBody { subject: [9; 32], ..said },
        VoteBody { group: elsewhere, ..said },
        VoteBody { verdict: Verdict::Reject, ..said },
    ] {
        assert!(is_policy(with(&together(&people, &wrong))));
    }
    let off_line = together(&people, &VoteBody { base: other_base, ..said });
    assert!(is_policy(with(&off_line)), "nobody here knows that decision");
    // Run out before the term begins.
    let ended = VoteBody { expires: UnixTime(START.0 - 1), ..said };
    let ended = with(&together(&people, &ended));
    assert!(matches!(ended, Err(ItemError::Late(Uncounted::Expired(_)))));
    // Every changed bit.
    let mut read = 0;
    for bit in 0..bytes.len() * 8 {
        let mut bad = bytes.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let Ok(multi) = Multi::new(good.base(), good.turn(), good.expires(), &bad) else { continue };
        read += 1;
        assert!(is_policy(with(&multi)), "bit {bit}");
    }
    assert!(read > 500, "{read} were read at all");
}

/// One person under many names: new keys are no voters, however many sign.
#[test]
fn line_11_signers_without_a_vote_add_nothing() {
    let group = group_by(|_| {});
    let stranger = person(10);
    let body = group.request(&stranger);
    let names: Vec<Identity> = (50..58).map(person).collect();
    let mut signers: Vec<&Identity> = names.iter().collect();
    signers.push(&group.people[0]);
    let sybil = tried(&group, &item(&body, &stranger, &together(&signers, &yes(&body))));
    assert!(is_policy(sybil));
    let itself: Vec<&Identity> = [&group.people[0], &stranger].into();
    assert!(is_policy(tried(&group, &item(&body, &stranger, &together(&itself, &yes(&body))))));
    // One key under two names is one signer.
    let key = group.people[0].key().verifying_key();
    let twice = Multi::signer(RunId([1; 32]), &group.people[0], &[key, key], &yes(&body));
    assert_eq!(twice.err().map(|fault| fault.kind), Some(FaultKind::LocalSigners));
}

#[test]
fn line_11_a_multisignature_with_an_expelled_voter_admits_nobody() {
    let mut group = group_by(|_| {});
    let stranger = person(10);
    let kept = signed(&group, &stranger, &[0, 1, 4], LATER);
    assert_eq!(tried(&group, &kept), Ok(()));
    group.pass(&remove(group.id(4)), &[0, 1, 2]);
    assert!(is_policy(tried(&group, &kept)), "nobody can say what of it the others alone have signed");
    assert_eq!(tried(&group, &signed(&group, &stranger, &[0, 1], LATER)), Ok(()));
}

#[test]
fn line_07_each_scheme_has_its_own_form() {
    let (asm, plain) = (group_by(|_| {}), Group::new(5, 2));
    let stranger = person(10);
    let other = Err(ItemError::Certificate(CertificateError::PeerAuthority));
    assert_eq!(asm.tried(&stranger, &[0, 1]), other);
    assert_eq!(tried(&plain, &signed(&plain, &stranger, &[0, 1], LATER)), other);
}

#[test]
fn the_rules_on_voters_hold_for_signers() {
    let stranger = person(10);
    let with = |group: &Group, signers: &[usize]| tried(group, &signed(group, &stranger, signers, LATER));
    let quorum = group_by(|draft| draft.minority_may_admit = false);
    let minority = Uncounted::Minority { got: 2, need: 3 };
    assert_eq!(with(&quorum, &[0, 1]), Err(ItemError::Late(minority)));
    assert_eq!(with(&quorum, &[0, 1, 2]), Ok(()));
    let ruled = group_by(|draft| {
        let roles = [("security".to_owned(), [person(4).member()].into())].into();
        let admit = Some(Rule::parse("1 of security").unwrap());
        draft.policies = Policies { roles, admit, ..Policies::default() };
    });
    let refused = with(&ruled, &[0, 1]);
    assert!(matches!(refused, Err(ItemError::Late(Uncounted::Policy(CertificateError::PeerRule(_))))));
    assert_eq!(with(&ruled, &[0, 4]), Ok(()));
    let days = group_by(|draft| {
        draft.policies = Policies { request_days: Some(2), ..Policies::default() };
    });
    let until = |days: u64| UnixTime(START.0 + days * 86_400);
    let late = tried(&days, &signed(&days, &stranger, &[0, 1], until(3)));
    assert!(matches!(late, Err(ItemError::Late(Uncounted::Expired(_)))));
    assert_eq!(tried(&days, &signed(&days, &stranger, &[0, 1], until(2))), Ok(()));
    // A signer that changes its mind later is not counted any more.
    let mut group = group_by(|_| {});
    let item = signed(&group, &stranger, &[0, 1], LATER);
    group.all_take(&item);
    let subject = admission(group.request(&stranger).request_digest().unwrap());
    let no = Item::Approval(group.approval(1, subject, 1, Verdict::Reject));
    assert_eq!(group.all_take(&no).went, [stranger.member()].into());
}
