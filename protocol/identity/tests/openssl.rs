//! OpenSSL is the judge: what we make, its command line reads and verifies (DECISIONS C3; commands in
//! docs/protocol/identity.md). Skips nothing: a machine without `openssl` fails these tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

mod common;

use common::World;
use folkmoot_identity::{
    Central, Charter, CharterDraft, Combined, Gmc, GmcBody, Grounds, RevocationBody, RevocationList,
    identities_pem,
};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("folkmoot-identity-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }

    fn openssl(&self, arguments: &str) -> Output {
        openssl_in(&self.0, arguments)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn openssl_in(folder: &Path, arguments: &str) -> Output {
    Command::new("openssl")
        .args(arguments.split(' '))
        .current_dir(folder)
        .output()
        .expect("the openssl command is needed: apt-get install openssl")
}

fn accepted(output: &Output) -> String {
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    said
}

const CMS: &str = "cms -verify -inform DER -in message.cms -CAfile identities.pem -out content";

#[test]
fn openssl_verifies_a_charter() {
    let (world, folder) = (World::new(), Folder::new());
    folder.put("message.cms", world.signed.der());
    folder.put("identities.pem", identities_pem(world.signed.certificates()));
    let said = accepted(&folder.openssl(CMS));
    assert!(said.contains("Verification successful"), "{said}");
    assert_eq!(std::fs::read(folder.0.join("content")).unwrap(), &world.charter().bytes()[..]);
}

#[test]
fn openssl_verifies_every_vote_and_the_request() {
    let (world, folder) = (World::new(), Folder::new());
    let people = world.founders.iter().chain([&world.stranger]).map(|person| person.certificate());
    folder.put("identities.pem", identities_pem(people));
    let mut messages: Vec<_> = (0..3).map(|who| world.vote(who).der().to_vec()).collect();
    messages.push(world.request().der().to_vec());
    for message in messages {
        folder.put("message.cms", message);
        let said = accepted(&folder.openssl(CMS));
        assert!(said.contains("Verification successful"), "{said}");
    }
}

#[test]
fn openssl_verifies_the_signature_of_a_message() {
    let (world, folder) = (World::new(), Folder::new());
    for message in [world.said_by_founder(b"a word"), world.said_by_newcomer(b"another")] {
        folder.put("message.cms", message.der());
        folder.put("identities.pem", message.certificate().to_pem());
        let said = accepted(&folder.openssl(&format!("{CMS} -binary")));
        assert!(said.contains("Verification successful"), "{said}");
        let content = std::fs::read(folder.0.join("content")).unwrap();
        assert_eq!(content, message.stamp().record(message.text()), "label, stamp and text");
    }
}

#[test]
fn openssl_refuses_a_vote_whose_voter_is_not_among_the_identities() {
    let (world, folder) = (World::new(), Folder::new());
    folder.put("message.cms", world.vote(0).der());
    folder.put("identities.pem", identities_pem([world.founders[1].certificate()]));
    assert!(!folder.openssl(CMS).status.success());
}

#[test]
fn openssl_prints_a_membership_certificate_with_its_extension() {
    let (world, folder) = (World::new(), Folder::new());
    for gmc in [world.gmc(), founders(&world)] {
        folder.put("gmc.der", gmc.der());
        let said = accepted(&folder.openssl("x509 -inform DER -in gmc.der -noout -text"));
        assert!(said.contains("1.3.6.1.4.1.59999.1.1:"), "{said}");
        assert!(!said.contains("1.3.6.1.4.1.59999.1.1: critical"), "{said}");
        assert!(said.contains("book club"), "the group's name shows in the dump: {said}");
        let id: Vec<_> = gmc.member().0[..20].iter().map(|byte| format!("{byte:02X}")).collect();
        assert!(said.contains(&id.join(":")), "the key identifier begins the MemberId: {said}");
    }
}

#[test]
fn openssl_verifies_the_envelope_of_a_membership_certificate() {
    let (world, folder) = (World::new(), Folder::new());
    for gmc in [world.gmc(), founders(&world)] {
        folder.put("gmc.pem", gmc.to_pem());
        let said = accepted(&folder.openssl("verify -x509_strict -check_ss_sig -CAfile gmc.pem gmc.pem"));
        assert!(said.contains("gmc.pem: OK"), "{said}");
    }
}

/// What an authority signs is verified with its own certificate alone, on whichever grounds it stands; and what it revokes is refused.
#[test]
fn openssl_verifies_what_an_authority_signs() {
    let (world, folder) = (World::new(), Folder::new());
    let (key, certificate) = common::authority("book club");
    let central = Central {
        certificate: certificate.clone(),
        nodes: [world.stranger.member()].into(),
        dealer: None,
    };
    let draft = CharterDraft { central: Some(central), ..world.draft() };
    let charter = Charter::from_toml(&draft.to_toml()).unwrap();
    let body = GmcBody::propose(&charter, &world.stranger, 3, common::START, &mut common::Seed(5 << 32));
    let combined = Combined { epoch: [3; 32], signature: vec![7; 64] };
    folder.put("authority.pem", certificate.to_pem());
    for grounds in [Grounds::Votes(vec![world.vote(0).proof()]), Grounds::Combined(combined)] {
        let body = body.on_grounds(&grounds);
        let signature = key.sign_raw(&body.issued_tbs(certificate.key()).unwrap()).to_der();
        let gmc = Gmc::issue_by_group(&body, certificate.key(), &signature).unwrap();
        folder.put("gmc.pem", gmc.to_pem());
        let said = accepted(&folder.openssl("verify -x509_strict -check_ss_sig -CAfile authority.pem gmc.pem"));
        assert!(said.contains("gmc.pem: OK"), "{said}");
        let list = RevocationBody::new(certificate.clone(), common::START, 1, [gmc.body().serial].into()).unwrap();
        let signature = key.sign_raw(&list.tbs().unwrap()).to_der();
        folder.put("revoked.pem", RevocationList::close(&list, &signature).unwrap().to_pem());
        let checked = "verify -x509_strict -crl_check -CAfile authority.pem -CRLfile revoked.pem gmc.pem";
        let said = String::from_utf8_lossy(&folder.openssl(checked).stderr).into_owned();
        assert!(said.contains("error 23"), "{said}");
    }
    accepted(&folder.openssl("verify -x509_strict -check_ss_sig -CAfile authority.pem authority.pem"));
}

#[test]
fn openssl_refuses_an_envelope_with_another_signature() {
    let (world, folder) = (World::new(), Folder::new());
    let mut der = world.gmc().der().to_vec();
    let last = der.len() - 1;
    der[last] ^= 1;
    folder.put("gmc.der", der);
    accepted(&folder.openssl("x509 -inform DER -in gmc.der -out gmc.pem"));
    assert!(!folder.openssl("verify -x509_strict -check_ss_sig -CAfile gmc.pem gmc.pem").status.success());
}

#[test]
fn openssl_reads_the_private_key() {
    let (world, folder) = (World::new(), Folder::new());
    folder.put("key.pem", world.stranger.key_pem().unwrap().expose());
    accepted(&folder.openssl("pkey -in key.pem -pubout -outform DER -out spki"));
    let spki = std::fs::read(folder.0.join("spki")).unwrap();
    assert_eq!(spki, world.stranger.key().verifying_key().spki_der());
}

fn founders(world: &World) -> Gmc {
    Gmc::found(world.charter(), &world.founders[0], common::START, &mut common::Seed(8 << 32)).unwrap()
}
