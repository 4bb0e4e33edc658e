//! Certificates of one request under different sharings of the group's key.

use super::catch_up::catch_up;
use super::file::{charter, read};
use super::rejoin::hours;
use super::{Group, NOW, START, Seed, draft, person};
use folkmoot_base::{Blob, Digest, Entropy, Secret};
use folkmoot_identity::{
    AuthorityBody, AuthorityCertificate, CharterDraft, Gmc, GmcBody, GroupKey, Identity, Scheme, SigningKey,
    Verdict,
};
use folkmoot_signing::shared;
use folkmoot_transcript::{Change, EPOCHS_MAX, Item, ItemError, Transcript, admission};
use std::collections::BTreeSet;

struct Bytes(Vec<u8>);

impl Entropy for Bytes {
    fn fill(&mut self, out: &mut [u8]) {
        out.copy_from_slice(&self.0[..out.len()]);
    }
}

/// Three founders whose group has a key, and the whole of that key.
struct Shared {
    group: Group,
    secret: Secret<Vec<u8>>,
    key: SigningKey,
    certificate: Vec<u8>,
}

impl Shared {
    fn new() -> Self {
        let secret = shared::draw_secret(Scheme::TsDsa, &mut Seed(70 << 32)).unwrap();
        let number = secret.expose()[secret.expose().len() - 32..].to_vec();
        let key = SigningKey::generate(&mut Bytes(number));
        let public = GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap();
        assert_eq!(public, shared::public_key(Scheme::TsDsa, &secret).unwrap());
        let body = AuthorityBody::new("wire", public, START, &mut Seed(71 << 32));
        let signature = key.sign_raw(&body.tbs().unwrap()).to_paper();
        let certificate = AuthorityCertificate::close(&body, &signature).unwrap().der().to_vec();
        Self {
            group: Group::of(&CharterDraft { scheme: Scheme::TsDsa, ..draft(3, 2) }),
            secret,
            key,
            certificate,
        }
    }

    /// The group takes new shares into use. Their share-epoch.
    fn share(&mut self, seed: u64) -> Digest {
        let mut holders: Vec<_> = (0..3).map(|who| self.group.id(who)).collect();
        holders.sort_unstable();
        let dealt = shared::deal(Scheme::TsDsa, &self.secret, 2, &holders, &mut Seed(seed << 32)).unwrap();
        let public = Blob::from(dealt.public);
        let change = Change::Sharing { public, authority: Blob::from(self.certificate.clone()) };
        self.group.approve(&change.into(), &[0, 1, 2]);
        assert_eq!(self.group.decide(&[0, 1, 2]).len(), 3);
        self.group.first().state().sharing().unwrap().facts.epoch
    }

    /// The item of a certificate that the group's key has signed under this share-epoch.
    fn item(&self, body: &GmcBody, epoch: Digest, voters: &[usize]) -> Vec<u8> {
        let subject = admission(body.request_digest().unwrap());
        let yes = |who: &usize| self.group.approval(*who, subject, 0, Verdict::Approve);
        let approvals = voters.iter().map(yes).collect();
        let public = GroupKey::from_spki_der(self.key.verifying_key().spki_der()).unwrap();
        let body = body.issued_under(epoch);
        let signature = self.key.sign_raw(&body.issued_tbs(&public).unwrap()).to_paper();
        let gmc = Gmc::issue_by_group(&body, &public, &signature).unwrap();
        Item::Admit { certificate: Blob(gmc.der().clone()), approvals }.encode()
    }

    /// A stranger's request, and its certificates under the shares before and those in use.
    fn twice(&mut self) -> (Identity, [Vec<u8>; 2]) {
        let stranger = person(10);
        let before = self.share(80);
        let body = self.group.request(&stranger);
        let now = self.share(81);
        let items = [before, now].map(|epoch| self.item(&body, epoch, &[0, 1]));
        (stranger, items)
    }
}

fn with(one: &Transcript, items: &[&Vec<u8>]) -> Transcript {
    let mut one = one.clone();
    items.iter().for_each(|item| drop(one.take(item, Some(NOW)).unwrap()));
    one
}

#[test]
fn line_27_two_certificates_of_one_request_are_one_admission_in_any_order() {
    let mut shared = Shared::new();
    let (stranger, [before, now]) = shared.twice();
    let empty = shared.group.first();
    let orders = [with(empty, &[&before, &now]), with(empty, &[&now, &before])];
    for one in &orders {
        assert_eq!(one.mark(), orders[0].mark());
        assert_eq!(one.roster().members(), orders[0].roster().members());
        assert!(one.roster().member(&stranger.member()).is_some());
        let read = read(&charter(&shared.group), vec![], &one.file(), 999).unwrap();
        assert_eq!(read.mark(), one.mark());
    }
    assert_eq!(orders[0].set().admits().count(), 1);
    assert!(!orders[0].clone().take(&now, Some(NOW)).unwrap().new);
}

#[test]
fn two_members_with_one_certificate_each_become_equal() {
    let mut shared = Shared::new();
    let (stranger, [before, now]) = shared.twice();
    let mut old = with(shared.group.first(), &[&before]);
    let mut new = with(shared.group.first(), &[&now]);
    let is_in = |one: &Transcript| one.roster().member(&stranger.member()).is_some();
    assert!(!is_in(&old) && is_in(&new));
    assert_ne!(old.set().digest(), new.set().digest(), "unequal rosters show");
    catch_up(&mut old, &new, 10_000);
    catch_up(&mut new, &old, 10_000);
    assert_eq!(old.mark(), new.mark());
    assert!(is_in(&old) && is_in(&new));
    assert_eq!(old.roster().members(), new.roster().members());
}

/// Whoever has the group's key signs under any share-epoch.
#[test]
fn of_many_share_epochs_the_one_in_use_and_the_lowest_stay() {
    let mut shared = Shared::new();
    let stranger = person(10);
    let body = shared.group.request(&stranger);
    let used = shared.share(80);
    let mut all: Vec<Digest> = (0..6).map(|number| [number * 2; 32]).chain([used]).collect();
    let request = body.request_digest().unwrap();
    let mut marks = BTreeSet::new();
    for turn in 0..all.len() {
        all.rotate_left(turn);
        let items: Vec<Vec<u8>> = all.iter().map(|epoch| shared.item(&body, *epoch, &[0, 1])).collect();
        let one = with(shared.group.first(), &items.iter().collect::<Vec<_>>());
        let kept = BTreeSet::from([[0; 32], [2; 32], [4; 32], used]);
        assert_eq!(one.set().admit(&request).unwrap().epochs, kept);
        assert_eq!((one.papers(&request).count(), kept.len()), (EPOCHS_MAX, EPOCHS_MAX));
        marks.insert(one.mark());
        let mut newcomer = shared.group.first().clone();
        catch_up(&mut newcomer, &one, 0);
        assert_eq!(newcomer.mark(), one.mark());
        assert!(one.lacking(newcomer.state().head(), &newcomer.have(), 10_000).is_empty());
        let read = read(&charter(&shared.group), vec![], &one.file(), 999).unwrap();
        assert_eq!(read.mark(), one.mark());
    }
    assert_eq!(marks.len(), 1);
}

#[test]
fn a_member_with_the_certificate_of_former_shares_is_given_what_a_decision_holds() {
    let mut shared = Shared::new();
    let (stranger, [before, now]) = shared.twice();
    let mut old = with(shared.group.first(), &[&before]);
    for transcript in &mut shared.group.transcripts {
        transcript.take(&now, Some(NOW)).unwrap();
    }
    shared.group.approve(&hours("24"), &[0, 1]);
    let stood = shared.group.decide(&[0, 1, 2]);
    let request = shared.group.first().state().roster()[&stranger.member()].request;
    assert_eq!(old.take(&stood[0].encode(), Some(NOW)), Err(ItemError::Missing(vec![request])));
    catch_up(&mut old, shared.group.first(), 0);
    assert_eq!(old.mark(), shared.group.first().mark());
    assert!(old.roster().member(&stranger.member()).is_some());
}
