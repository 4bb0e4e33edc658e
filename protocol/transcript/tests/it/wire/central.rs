//! A group whose charter names an authority: no certificate admits without its signature, and none
//! by that alone, unless the charter says so.

use super::keys::{authority, certified, dealt, sign};
use super::{Group, NOW, draft, person, remove};
use folkmoot_base::{Blob, UnixTime};
use folkmoot_identity::{
    Below, Central, CertificateError, CharterDraft, Combined, Csr, Dealer, Gmc, GmcBody, Grounds, Policies,
    Policy, Request, Scheme, Verdict, VoteProof,
};
use folkmoot_signing::{SigningKey, shared};
use folkmoot_transcript::{Change, Effect, Force, Item, ItemError, SignedApproval, Uncounted, admission};

fn key() -> SigningKey {
    authority("wire", 7).0
}

/// A key that says it is the authority's.
fn another_key() -> SigningKey {
    authority("wire", 70).0
}

fn group_of(draft: &CharterDraft, dealer: Option<Dealer>) -> Group {
    let central =
        Central { certificate: authority("wire", 7).1, nodes: [person(500).member()].into(), dealer };
    Group::of(&CharterDraft { central: Some(central), ..draft.clone() })
}

fn group() -> Group {
    group_of(&draft(4, 2), None)
}

/// The votes of these founders on a body.
fn votes(group: &Group, body: &GmcBody, voters: &[usize]) -> Grounds {
    let subject = admission(body.request_digest().unwrap());
    let mut votes: Vec<VoteProof> = voters.iter().map(|who| group.vote(*who, subject)).collect();
    votes.sort_by_key(|vote| vote.voter);
    Grounds::Votes(votes)
}

fn item(gmc: &Gmc) -> Item {
    Item::Admit { certificate: Blob(gmc.der().clone()), approvals: Vec::new() }
}

fn tried(group: &Group, gmc: &Gmc) -> Result<(), ItemError> {
    group.first().check_admit(&item(gmc).encode())
}

#[test]
fn line_24_an_authority_admits_whom_the_voters_let_in_and_nobody_alone() {
    let mut group = group();
    let stranger = person(10);
    let body = group.request(&stranger);
    let by = |voters: &[usize], key: &SigningKey| certified(&body, &votes(&group, &body, voters), key);
    for few in [&[][..], &[1]] {
        let why = CertificateError::PeerTooFewVotes { got: few.len(), need: 2 };
        assert_eq!(tried(&group, &by(few, &key())), Err(ItemError::Late(Uncounted::Policy(why))));
    }
    // Votes on another request count nowhere here.
    let other = group.request(&person(11));
    let elsewhere = certified(&body, &votes(&group, &other, &[0, 1]), &key());
    let why = CertificateError::PeerTooFewVotes { got: 0, need: 2 };
    assert_eq!(tried(&group, &elsewhere), Err(ItemError::Late(Uncounted::Policy(why))));
    let wrong = ItemError::Certificate(CertificateError::PeerSignature);
    assert_eq!(tried(&group, &by(&[0, 1], &another_key())), Err(wrong));
    let (good, again) = (by(&[0, 1], &key()), by(&[1, 2], &key()));
    assert_eq!(group.all_take(&item(&good)).came, [stranger.member()].into());
    // Another choice of votes on the same request is the same admission.
    group.all_take(&item(&again));
    assert_eq!(group.first().set().admits().count(), 1);
    assert!(group.first().roster().has_issued(&good.body().serial));
}

#[test]
fn line_07_votes_alone_admit_nobody_where_an_authority_signs() {
    let group = group();
    let stranger = person(10);
    let body = group.request(&stranger);
    let gmc = certified(&body, &votes(&group, &body, &[0, 1]), &key());
    assert_eq!(tried(&group, &gmc), Ok(()));
    for place in 0..gmc.der().len() {
        let mut der = gmc.der().to_vec();
        der[place] ^= 1;
        let item = Item::Admit { certificate: Blob(der.into()), approvals: Vec::new() };
        assert!(group.first().check_admit(&item.encode()).is_err(), "byte {place}");
    }
    // Nor does a certificate of a group that has none.
    let plain = Group::new(4, 2);
    let Item::Admit { certificate, .. } = plain.admit(&stranger, &plain.request(&stranger), &[0, 1]) else {
        panic!()
    };
    let foreign = Item::Admit { certificate, approvals: Vec::new() };
    assert!(matches!(group.first().check_admit(&foreign.encode()), Err(ItemError::Certificate(_))));
}

#[test]
fn id_69_a_key_that_speaks_for_the_authority_is_nobodys_certificate() {
    let group = group();
    let body = group.request(&person(500));
    let gmc = certified(&body, &votes(&group, &body, &[0, 1]), &key());
    let both = CertificateError::PeerCharter("its key speaks for the authority");
    assert_eq!(tried(&group, &gmc), Err(ItemError::Certificate(both)));
}

#[test]
fn line_24_an_authority_decides_alone_where_the_charter_says_so() {
    let alone = Policies { policy: Policy::Authority, ..Policies::default() };
    let mut group = group_of(&CharterDraft { policies: alone, ..draft(4, 2) }, None);
    let stranger = person(10);
    let bare = |group: &Group, key: SigningKey| {
        certified(&group.request(&stranger), &Grounds::Votes(Vec::new()), &key)
    };
    let roster = group.first().roster();
    assert!(roster.is_for_authority() && roster.admission_need(&[].into()) == 0);
    let forged = tried(&group, &bare(&group, another_key()));
    assert_eq!(forged, Err(ItemError::Certificate(CertificateError::PeerSignature)));
    let good = bare(&group, key());
    assert_eq!(group.all_take(&item(&good)).came, [stranger.member()].into());
}

#[test]
fn line_24_below_the_threshold_the_authority_decides() {
    let below = Policies { below: Below::Authority, ..Policies::default() };
    let mut group = group_of(&CharterDraft { policies: below, ..draft(4, 4) }, None);
    let stranger = person(10);
    let bare = |group: &Group| certified(&group.request(&stranger), &Grounds::Votes(Vec::new()), &key());
    assert!(!group.first().roster().is_for_authority());
    assert!(tried(&group, &bare(&group)).is_err(), "four voters for four votes");
    let change = Change::Remove { member: group.id(3) };
    group.pass(&Effect { change, force: Force::Yes }, &[0, 1, 2, 3]);
    assert!(group.first().roster().is_for_authority());
    assert_eq!(tried(&group, &bare(&group)), Ok(()));
}

#[test]
fn the_authority_revokes_what_it_signed() {
    let mut group = group();
    let (stranger, next) = (person(10), person(11));
    let body = group.request(&stranger);
    let gmc = certified(&body, &votes(&group, &body, &[0, 1]), &key());
    group.all_take(&item(&gmc));
    assert_eq!(group.first().roster().revocation_number(), 0);
    group.pass(&remove(stranger.member()), &[0, 1, 2]);
    let roster = group.first().roster();
    let list = roster.revocations(NOW).unwrap().unwrap();
    assert_eq!(list.serials(), &[gmc.body().serial].into());
    assert_eq!((list.authority(), list.number()), (&authority("wire", 7).1, 1));
    let over = UnixTime(gmc.body().not_after.0 + 1);
    assert!(roster.revocations(over).unwrap().unwrap().serials().is_empty(), "it says itself that it ended");
    // The number is that of a certificate for good.
    let mut taken = group.request(&next);
    taken.serial = gmc.body().serial;
    let taken = certified(&taken, &votes(&group, &taken, &[0, 1]), &key());
    assert_eq!(tried(&group, &taken), Err(ItemError::Late(Uncounted::SerialNumber)));
}

#[test]
fn line_23_a_refused_csr_admits_by_no_certificate() {
    let policies = Policies { objections: Some(2), ..Policies::default() };
    let mut group = group_of(&CharterDraft { policies, ..draft(4, 2) }, None);
    let csr = Csr::sign(person(10).key(), "erik").unwrap();
    let charter = group.first().signed_charter().charter().clone();
    let head = group.first().state().head();
    let ask = |size| GmcBody::propose_csr(&charter, &csr, size, super::START).over(head);
    let (first, second) = (ask(3), ask(4));
    assert_ne!(first.request_digest(), second.request_digest());
    let request = Request::by_csr(csr.clone(), first.clone()).unwrap();
    group.all_take(&item(&certified(&second, &votes(&group, &second, &[0, 1]), &key())));
    assert!(group.first().roster().is_member(&csr.key().member_id()));
    for who in [2, 3] {
        let no = group.approval(who, admission(request.digest()), 0, Verdict::Reject);
        group.all_take(&Item::Approval(no));
    }
    let refusal = Item::Refusal { request: Blob::from(request.der().to_vec()) };
    assert_eq!(group.all_take(&refusal).went, [csr.key().member_id()].into());
    let gmc = certified(&second, &votes(&group, &second, &[0, 1, 2]), &key());
    assert_eq!(tried(&group, &gmc), Err(ItemError::Late(Uncounted::Refused)));
}

/// Four founders whose group has a key, of which each holds a share; two sign.
fn with_a_key() -> (Group, shared::Dealt) {
    let draft = CharterDraft { scheme: Scheme::Frost, ..draft(4, 2) };
    let group = group_of(&draft, Some(Dealer::Keeps));
    let holders: Vec<_> = (0..4).map(|who| group.id(who)).collect();
    (group, dealt(&holders, 2, 60))
}

fn combined(body: &GmcBody, signed: Combined) -> Gmc {
    certified(body, &Grounds::Combined(signed), &key())
}

#[test]
fn line_27_where_the_group_has_a_key_that_key_signs_the_request() {
    let (mut group, shares) = with_a_key();
    let stranger = person(10);
    let early = combined(&group.request(&stranger), Combined { epoch: [1; 32], signature: vec![1; 64] });
    let none = ItemError::Certificate(CertificateError::PeerGroupKey);
    assert_eq!(tried(&group, &early), Err(none));
    let public = Blob::from(shares.public.clone());
    group.pass(&Change::Sharing { public, authority: Blob::default() }.into(), &[0, 1, 2, 3]);
    assert_eq!(group.first().roster().issuer().unwrap().unwrap(), authority("wire", 7).1);
    let epoch = group.first().roster().sharing().unwrap().facts.epoch;
    let body = group.request(&stranger);
    let signature = sign(&shares, &body.combined_message(&epoch).unwrap());
    let good = Combined { epoch, signature };
    let subject = admission(body.request_digest().unwrap());
    let approvals = [0, 1].map(|who| group.approval(who, subject, 0, Verdict::Approve));
    let with = |signed: Combined, body: &GmcBody, approvals: &[SignedApproval]| {
        let certificate = Blob(combined(body, signed).der().clone());
        Item::Admit { certificate, approvals: approvals.to_vec() }
    };
    let tried = |group: &Group, item: &Item| group.first().check_admit(&item.encode());
    // The key alone admits nobody: the item carries the approvals.
    let alone = tried(&group, &with(good.clone(), &body, &[]));
    assert!(matches!(alone, Err(ItemError::Late(Uncounted::Policy(_)))));
    assert_eq!(tried(&group, &with(good.clone(), &body, &approvals)), Ok(()));
    // Another epoch than it signed under, a changed signature, another request.
    let unsigned = Err(ItemError::Certificate(CertificateError::PeerSignature));
    let other_epoch = Combined { epoch: [2; 32], ..good.clone() };
    assert_eq!(tried(&group, &with(other_epoch, &body, &approvals)), unsigned);
    let mut forged = good.clone();
    forged.signature[9] ^= 1;
    assert_eq!(tried(&group, &with(forged, &body, &approvals)), unsigned);
    assert_eq!(tried(&group, &with(good.clone(), &group.request(&person(11)), &approvals)), unsigned);
    // Votes are no grounds here.
    let voted = item(&certified(&body, &votes(&group, &body, &[0, 1]), &key()));
    assert_eq!(tried(&group, &voted), Err(ItemError::Certificate(CertificateError::PeerAuthority)));
    let good = with(good, &body, &approvals);
    assert_eq!(group.all_take(&good).came, [stranger.member()].into());
}
