//! A group with a key of its own: that key signs certificates, under the shares that the members
//! hold now, and admits nobody whom the voters do not approve.

use super::keys::{dealt, sign};
use super::{Group, NOW, START, Seed, draft, person, remove};
use folkmoot_base::Blob;
use folkmoot_identity::{
    AuthorityBody, AuthorityCertificate, CertificateError, CharterDraft, Gmc, GmcBody, GroupKey, Scheme,
    SigningKey, Verdict,
};
use folkmoot_signing::shared::{Dealt, facts};
use folkmoot_transcript::{Change, Effect, Item, ItemError, Uncounted, Unfit, admission};

/// Three founders, each with a share, of whom two sign; the key is in use.
struct Keyed {
    group: Group,
    shares: Dealt,
    authority: AuthorityCertificate,
}

fn sharing(shares: &Dealt, authority: &AuthorityCertificate) -> Effect {
    let public = Blob::from(shares.public.clone());
    Change::Sharing { public, authority: Blob(authority.der().clone()) }.into()
}

/// The certificate of the key that these shares are of, for a group of this name.
fn certificate(shares: &Dealt, name: &str) -> AuthorityCertificate {
    let key = facts(Scheme::Frost, &shares.public).unwrap().key;
    let body = AuthorityBody::new(name, key, START, &mut Seed(8 << 32));
    AuthorityCertificate::close(&body, &sign(shares, &body.tbs().unwrap())).unwrap()
}

fn new_group() -> Group {
    Group::of(&CharterDraft { scheme: Scheme::Frost, ..draft(3, 2) })
}

fn keyed() -> Keyed {
    let mut group = new_group();
    let shares = dealt(&[0, 1, 2].map(|who| group.id(who)), 2, 60);
    let authority = certificate(&shares, "wire");
    group.pass(&sharing(&shares, &authority), &[0, 1, 2]);
    Keyed { group, shares, authority }
}

impl Keyed {
    fn issued(&self, body: &GmcBody) -> Gmc {
        let key = self.authority.key();
        let body = body.issued_under(facts(Scheme::Frost, &self.shares.public).unwrap().epoch);
        let signature = sign(&self.shares, &body.issued_tbs(key).unwrap());
        Gmc::issue_by_group(&body, key, &signature).unwrap()
    }

    /// The item of a certificate by the group's key, with the approvals of these founders.
    fn item(&self, body: &GmcBody, voters: &[usize]) -> Item {
        let subject = admission(body.request_digest().unwrap());
        let approval = |who: &usize| self.group.approval(*who, subject, 0, Verdict::Approve);
        let certificate = Blob(self.issued(body).der().clone());
        Item::Admit { certificate, approvals: voters.iter().map(approval).collect() }
    }

    fn tried(&self, item: &Item) -> Result<(), ItemError> {
        self.group.first().check_admit(&item.encode())
    }
}

#[test]
fn line_27_the_groups_key_admits_with_approvals_and_not_alone() {
    let mut it = keyed();
    let stranger = person(10);
    let body = it.group.request(&stranger);
    let alone = it.tried(&it.item(&body, &[]));
    assert!(matches!(alone, Err(ItemError::Late(Uncounted::Policy(_)))));
    let few = it.tried(&it.item(&body, &[2]));
    assert!(matches!(few, Err(ItemError::Late(Uncounted::Policy(_)))));
    let good = it.item(&body, &[1, 2]);
    assert_eq!(it.tried(&good), Ok(()));
    assert_eq!(it.group.all_take(&good).came, [stranger.member()].into());
    assert!(it.group.first().roster().has_issued(&body.serial));
    // The approvals that the item carries go on to others as items of their own.
    let group = &it.group;
    let mut newcomer =
        folkmoot_transcript::Transcript::founded(group.first().signed_charter().der()).unwrap();
    for item in group.first().lacking(newcomer.state().head(), &newcomer.have(), 1_000_000) {
        newcomer.take(&item, Some(NOW)).unwrap();
    }
    assert_eq!(newcomer.mark(), group.first().mark());
    assert!(newcomer.roster().is_member(&stranger.member()));
}

#[test]
fn line_07_no_other_key_issues() {
    let it = keyed();
    let stranger = person(10);
    let body = it.group.request(&stranger);
    let other = SigningKey::generate(&mut Seed(70 << 32));
    let key = GroupKey::from_spki_der(other.verifying_key().spki_der()).unwrap();
    let epoch = facts(Scheme::Frost, &it.shares.public).unwrap().epoch;
    let forged = body.issued_under(epoch);
    let signature = other.sign_raw(&forged.issued_tbs(&key).unwrap()).to_paper();
    let forged = Gmc::issue_by_group(&forged, &key, &signature).unwrap();
    let item = Item::Admit { certificate: Blob(forged.der().clone()), approvals: Vec::new() };
    assert_eq!(it.tried(&item), Err(ItemError::Certificate(CertificateError::PeerSignature)));
    // Votes in its place.
    let voted = it.group.tried(&stranger, &[0, 1]);
    assert_eq!(voted, Err(ItemError::Certificate(CertificateError::PeerSignature)));
    // Before there is a key.
    let young = Keyed { group: new_group(), ..keyed() };
    let early = young.tried(&young.item(&young.group.request(&stranger), &[0, 1]));
    assert_eq!(early, Err(ItemError::Certificate(CertificateError::PeerGroupKey)));
}

#[test]
fn line_27_what_was_signed_under_old_shares_admits_nobody() {
    let mut it = keyed();
    let stranger = person(10);
    // A quorum of holders has signed it before anybody left.
    let kept = it.item(&it.group.request(&stranger), &[0, 1]);
    it.shares = dealt(&[0, 1].map(|who| it.group.id(who)), 2, 61);
    let again = sharing(&it.shares, &it.authority);
    it.group.pass(&again, &[0, 1]);
    assert_eq!(it.tried(&kept), Err(ItemError::Late(Uncounted::Epoch)));
    assert_eq!(it.tried(&it.item(&it.group.request(&stranger), &[0, 1])), Ok(()));
}

#[test]
fn line_47_the_certificate_of_the_key_is_the_groups_and_stays() {
    let group = new_group();
    let shares = dealt(&[0, 1, 2].map(|who| group.id(who)), 2, 60);
    let stands = |group: &Group, effect: &Effect| group.first().would_stand(effect);
    let foreign = sharing(&shares, &certificate(&shares, "another"));
    let refused = stands(&group, &foreign);
    assert_eq!(refused, Err(Unfit::Sharing("its certificate is of another key or group")));
    let public = Blob::from(shares.public.clone());
    let none = Change::Sharing { public, authority: Blob::default() }.into();
    assert!(matches!(stands(&group, &none), Err(Unfit::Certificate(_))));
    let it = keyed();
    let again = dealt(&[0, 1, 2].map(|who| it.group.id(who)), 2, 62);
    let body = AuthorityBody::new("wire", it.authority.key().clone(), NOW, &mut Seed(9 << 32));
    let later = AuthorityCertificate::close(&body, &sign(&it.shares, &body.tbs().unwrap())).unwrap();
    let refused = stands(&it.group, &sharing(&again, &later));
    assert_eq!(refused, Err(Unfit::Sharing("its certificate of the group's key is not the present one")));
    assert_eq!(stands(&it.group, &sharing(&again, &it.authority)), Ok(()));
}

#[test]
fn line_29_of_two_certificates_with_one_serial_number_the_lower_request_counts() {
    let mut it = keyed();
    let bodies = [10, 11].map(|number| it.group.request(&person(number)));
    assert_eq!(bodies[0].serial, bodies[1].serial);
    let items = [it.item(&bodies[0], &[0, 1]), it.item(&bodies[1], &[0, 1])];
    for item in items {
        it.group.all_take(&item);
    }
    let counted: Vec<_> = it.group.first().set().counted().map(|admit| admit.request).collect();
    let lower = bodies.iter().map(|body| body.request_digest().unwrap()).min().unwrap();
    assert_eq!(counted, [lower]);
}

#[test]
fn the_groups_key_revokes_what_it_issued() {
    let mut it = keyed();
    let stranger = person(10);
    let body = it.group.request(&stranger);
    let item = it.item(&body, &[0, 1]);
    it.group.all_take(&item);
    assert_eq!(it.group.first().roster().revocations(NOW), Ok(None));
    it.group.pass(&remove(stranger.member()), &[0, 1]);
    let roster = it.group.first().roster();
    let list = roster.revocations(NOW).unwrap().unwrap();
    assert_eq!(list.serials(), &[body.serial].into());
    assert_eq!((list.authority(), list.number()), (&it.authority, roster.head().number));
    // A removal of somebody whom the key has not certified adds nothing but a number.
    it.group.pass(&remove(it.group.id(2)), &[0, 1]);
    let next = it.group.first().roster().revocations(NOW).unwrap().unwrap();
    assert_eq!(next.serials(), list.serials());
}
