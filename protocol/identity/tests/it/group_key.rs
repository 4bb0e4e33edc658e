//! A group's own key: which charters have one, and the form of its certificate. An ordinary key
//! stands for the shared one here.

use crate::common::{END, START, Seed, World, person};
use folkmoot_base::GroupName;
use folkmoot_base::UnixTime;
use folkmoot_identity::{
    AuthorityBody, AuthorityCertificate, CertificateError, Charter, CharterDraft, CharterError, Gmc, GmcBody,
    GroupKey, IdentityCertificate, REVOCATIONS_BYTES_MAX, REVOKED_MAX, RevocationBody, RevocationError,
    RevocationList, Scheme, Serial, SigningKey,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn draft(scheme: Scheme, founders: u64, threshold: u32) -> CharterDraft {
    let people: Vec<_> = (1..=founders).map(|seed| person(&format!("p{seed}"), seed)).collect();
    let named = people.iter().map(|founder| founder.certificate().into()).collect();
    let name = GroupName::new("book club").unwrap();
    CharterDraft { scheme, ..CharterDraft::new(name, threshold, named, &mut Seed(9 << 32)) }
}

fn refused(draft: &CharterDraft) -> &'static str {
    match Charter::from_toml(&draft.to_toml()) {
        Err(CharterError::WireValue { key, .. }) => key,
        other => panic!("{other:?}"),
    }
}

#[test]
fn id_48_a_scheme_comes_with_what_it_needs() {
    for scheme in [Scheme::Plain, Scheme::TsDsa, Scheme::Frost, Scheme::Asm] {
        let charter = Charter::from_toml(&draft(scheme, 5, 3).to_toml()).unwrap();
        assert_eq!(charter.scheme(), scheme);
    }
    // Three votes of threshold ECDSA take five signers.
    assert_eq!(refused(&draft(Scheme::TsDsa, 4, 3)), "threshold");
    assert!(Charter::from_toml(&draft(Scheme::Frost, 4, 3).to_toml()).is_ok());
    assert_eq!(refused(&draft(Scheme::TsRsa, 5, 3)), "scheme");
    assert_eq!(refused(&draft(Scheme::Shoup, 5, 3)), "mode");
    let mut minority = draft(Scheme::Frost, 5, 3);
    minority.minority_may_admit = false;
    assert_eq!(refused(&minority), "minority_may_admit");
    let charter = Charter::from_toml(&draft(Scheme::Frost, 5, 3).to_toml()).unwrap();
    assert!(matches!(
        charter.with_change("minority_may_admit", "false"),
        Err(CharterError::PeerChange { .. })
    ));
    assert!(matches!(charter.with_change("policy", "list"), Err(CharterError::PeerChange { .. })));
    // A multisignature says whose it is, so rules and minorities work as with votes; but somebody
    // has to sign.
    let mut asm = draft(Scheme::Asm, 5, 3);
    asm.minority_may_admit = false;
    let charter = Charter::from_toml(&asm.to_toml()).unwrap();
    assert!(charter.with_change("admit", "4 of all").is_ok());
    asm.minority_may_admit = true;
    asm.policies.policy = folkmoot_identity::Policy::List;
    asm.policies.list = [person("p9", 9).member()].into();
    assert_eq!(refused(&asm), "policy");
    let charter = Charter::from_toml(&draft(Scheme::Asm, 5, 3).to_toml()).unwrap();
    let listed = charter.with_change("list", &person("p9", 9).member().hex()).unwrap();
    assert!(matches!(listed.with_change("policy", "list"), Err(CharterError::PeerChange { .. })));
}

fn authority() -> (folkmoot_identity::SigningKey, AuthorityBody, AuthorityCertificate) {
    let key = folkmoot_identity::SigningKey::generate(&mut Seed(7 << 32));
    let group = GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap();
    let body = AuthorityBody::new("book club", group, START, &mut Seed(8 << 32));
    let signature = key.sign_raw(&body.tbs().unwrap()).to_paper();
    let certificate = AuthorityCertificate::close(&body, &signature).unwrap();
    (key, body, certificate)
}

#[test]
fn id_49_the_groups_key_has_a_certificate_of_one_form() {
    let (key, body, certificate) = authority();
    assert_eq!(AuthorityCertificate::from_der(certificate.der()).as_ref(), Ok(&certificate));
    assert_eq!(AuthorityBody::from_tbs(&body.tbs().unwrap()), Ok(body.clone()));
    for bit in 0..certificate.der().len() * 8 {
        let mut der = certificate.der().to_vec();
        der[bit / 8] ^= 1 << (bit % 8);
        assert!(AuthorityCertificate::from_der(&der).is_err(), "bit {bit}");
    }
    let other = folkmoot_identity::SigningKey::generate(&mut Seed(70 << 32));
    let forged = other.sign_raw(&body.tbs().unwrap()).to_paper();
    assert_eq!(AuthorityCertificate::close(&body, &forged), Err(CertificateError::PeerSignature));
    // It is nobody's identity, nor a membership.
    assert!(IdentityCertificate::from_der(certificate.der()).is_err());
    assert!(Gmc::from_der(certificate.der()).is_err());
    assert_eq!(key.verifying_key().spki_der(), body.key().spki_der());
    assert!(END > START);
}

#[test]
fn id_49_what_the_key_issues_names_it() {
    let (key, _, certificate) = authority();
    let world = World::new();
    let body = GmcBody::propose(world.charter(), &world.stranger, 3, START, &mut Seed(5 << 32));
    let issued = body.issued_under([3; 32]);
    let signature = key.sign_raw(&issued.issued_tbs(certificate.key()).unwrap()).to_paper();
    let gmc = Gmc::issue_by_group(&issued, certificate.key(), &signature).unwrap();
    assert_eq!((gmc.issued(), gmc.is_founder(), gmc.votes().len()), (Some([3; 32]), false, 0));
    assert_eq!(gmc.body().request_digest(), body.request_digest());
    assert_eq!(Gmc::from_der(gmc.der()).unwrap().check_issued(certificate.key()), Ok(()));
    for bit in 0..gmc.der().len() * 8 {
        let mut der = gmc.der().to_vec();
        der[bit / 8] ^= 1 << (bit % 8);
        let stands = Gmc::from_der(&der).is_ok_and(|gmc| gmc.check_issued(certificate.key()).is_ok());
        assert!(!stands, "bit {bit}");
    }
    let voters = |_: &folkmoot_base::MemberId| None;
    assert_eq!(gmc.check_authority(world.charter(), voters), Err(CertificateError::PeerGroupKey));
}

fn serial(number: u32) -> Serial {
    let mut serial = [0x40; 16];
    serial[12..].copy_from_slice(&number.to_be_bytes());
    serial
}

fn signed(key: &SigningKey, body: &RevocationBody) -> RevocationList {
    RevocationList::close(body, &key.sign_raw(&body.tbs().unwrap()).to_paper()).unwrap()
}

fn revoking(number: u64, at: u64, serials: &[u32]) -> (SigningKey, RevocationBody) {
    let (key, _, certificate) = authority();
    let serials = serials.iter().map(|number| serial(*number)).collect();
    (key, RevocationBody::new(certificate, UnixTime(at), number, serials).unwrap())
}

#[test]
fn id_56_a_revocation_list_has_one_form_and_is_signed_by_the_groups_key() {
    for serials in [&[][..], &[7], &[1, 2, 3, 0x00ff_ff00]] {
        let (key, body) = revoking(4, START.0 + 9, serials);
        let list = signed(&key, &body);
        assert_eq!(RevocationList::from_der(list.der(), body.authority()).as_ref(), Ok(&list));
        assert_eq!(RevocationBody::from_tbs(&body.tbs().unwrap(), body.authority()), Ok(body.clone()));
        assert!(list.to_pem().starts_with("-----BEGIN X509 CRL-----\n"));
        for bit in 0..list.der().len() * 8 {
            let mut der = list.der().to_vec();
            der[bit / 8] ^= 1 << (bit % 8);
            assert!(RevocationList::from_der(&der, body.authority()).is_err(), "bit {bit}");
        }
        let longer = [&list.der()[..], &[0]].concat();
        assert!(RevocationList::from_der(&longer, body.authority()).is_err());
        for end in 0..list.der().len() {
            assert!(RevocationList::from_der(&list.der()[..end], body.authority()).is_err());
        }
        let other = SigningKey::generate(&mut Seed(70 << 32));
        let forged = other.sign_raw(&body.tbs().unwrap()).to_paper();
        assert_eq!(RevocationList::close(&body, &forged), Err(RevocationError::PeerSignature));
    }
}

#[test]
fn id_56_a_list_of_another_group_or_key_is_none_of_ours() {
    let (key, body) = revoking(1, START.0, &[7]);
    let list = signed(&key, &body);
    let group = GroupKey::from_spki_der(key.verifying_key().spki_der()).unwrap();
    let stranger = SigningKey::generate(&mut Seed(70 << 32));
    let theirs = GroupKey::from_spki_der(stranger.verifying_key().spki_der()).unwrap();
    // Another name; another end of the term; another key.
    let others = [("chess club", group.clone(), START, &key), ("book club", theirs, START, &stranger)];
    let later = ("book club", group, UnixTime(START.0 + 1), &key);
    for (name, group, from, key) in others.into_iter().chain([later]) {
        let other = AuthorityBody::new(name, group, from, &mut Seed(8 << 32));
        let signature = key.sign_raw(&other.tbs().unwrap()).to_paper();
        let other = AuthorityCertificate::close(&other, &signature).unwrap();
        assert!(matches!(RevocationList::from_der(list.der(), &other), Err(RevocationError::WireForm(_))));
    }
}

#[test]
fn id_56_a_list_has_limits_and_an_order() {
    let (key, _, certificate) = authority();
    let all: BTreeSet<Serial> = (0..REVOKED_MAX as u32).map(serial).collect();
    let whole = |at, serials| RevocationBody::new(certificate.clone(), at, 9, serials);
    // The longest that there can be: times of 17 bytes, from 2050 on.
    let late = UnixTime(2_600_000_000);
    let list = signed(&key, &whole(late, all.clone()).unwrap());
    assert!(list.der().len() < REVOCATIONS_BYTES_MAX, "{}", list.der().len());
    let mut more = all;
    more.insert(serial(u32::MAX));
    assert!(matches!(whole(START, more), Err(RevocationError::LocalValue(_))));
    assert!(matches!(whole(START, [[0x80; 16]].into()), Err(RevocationError::LocalValue(_))));
    let past = UnixTime(certificate.not_after().0 + 1);
    assert!(matches!(whole(past, BTreeSet::new()), Err(RevocationError::LocalValue(_))));
    let long = vec![0x30; REVOCATIONS_BYTES_MAX + 1];
    let refused = RevocationError::WireTooLong(long.len());
    assert_eq!(RevocationList::from_der(&long, &certificate), Err(refused.clone()));
    assert_eq!(RevocationBody::from_tbs(&long, &certificate), Err(refused));
    let made = |number, at| signed(&key, &revoking(number, at, &[1]).1);
    assert!(made(2, START.0).supersedes(&made(1, START.0 + 1)));
    assert!(made(2, START.0 + 1).supersedes(&made(2, START.0)));
    assert!(!made(2, START.0).supersedes(&made(2, START.0)));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_revocation_list_reads_back(number in any::<u64>(), at in 0_u64..4_000_000_000, serials in proptest::collection::vec(any::<u32>(), 0..20)) {
        let (key, body) = revoking(number, at, &serials);
        let list = signed(&key, &body);
        let again = RevocationList::from_der(list.der(), body.authority()).unwrap();
        prop_assert_eq!(again.body(), &body);
        prop_assert_eq!(again, list);
    }
}
