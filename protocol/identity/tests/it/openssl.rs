//! OpenSSL is the judge: its command line reads and verifies what we make (DECISIONS C3; commands
//! in docs/protocol/identity.md). Skips nothing: a machine without `openssl` fails these tests.

use crate::common::{Seed, World};
use folkmoot_base::Secret;
use folkmoot_identity::{
    Central, CertificateError, Charter, CharterDraft, Combined, Csr, CsrError, Gmc, GmcBody, Grounds,
    Identity, Passphrase, Request, RevocationBody, RevocationList, SealedKeyError, identities_pem,
    open_sealed_key,
};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that goes when it is dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("folkmoot-identity-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }

    pub fn openssl(&self, arguments: &str) -> Output {
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

pub fn accepted(output: &Output) -> String {
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    said
}

pub const CMS: &str = "cms -verify -inform DER -in message.cms -CAfile identities.pem -out content";

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

/// What an authority signs is verified with its own certificate alone, on whichever grounds it
/// stands; and what it revokes is refused.
#[test]
fn openssl_verifies_what_an_authority_signs() {
    let (world, folder) = (World::new(), Folder::new());
    let (key, certificate) = crate::common::authority("book club");
    let central =
        Central { certificate: certificate.clone(), nodes: [world.stranger.member()].into(), dealer: None };
    let draft = CharterDraft { central: Some(central), ..world.draft() };
    let charter = Charter::from_toml(&draft.to_toml()).unwrap();
    let body = GmcBody::propose(
        &charter,
        &world.stranger,
        3,
        crate::common::START,
        &mut crate::common::Seed(5 << 32),
    );
    let combined = Combined { epoch: [3; 32], signature: vec![7; 64] };
    folder.put("authority.pem", certificate.to_pem());
    for grounds in [Grounds::Votes(vec![world.vote(0).proof()]), Grounds::Combined(combined)] {
        let body = body.on_grounds(&grounds);
        let signature = key.sign_raw(&body.issued_tbs(certificate.key()).unwrap()).to_paper();
        let gmc = Gmc::issue_by_group(&body, certificate.key(), &signature).unwrap();
        folder.put("gmc.pem", gmc.to_pem());
        let said =
            accepted(&folder.openssl("verify -x509_strict -check_ss_sig -CAfile authority.pem gmc.pem"));
        assert!(said.contains("gmc.pem: OK"), "{said}");
        let list =
            RevocationBody::new(certificate.clone(), crate::common::START, 1, [gmc.body().serial].into())
                .unwrap();
        let signature = key.sign_raw(&list.tbs().unwrap()).to_paper();
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
    Gmc::found(world.charter(), &world.founders[0], crate::common::START, &mut crate::common::Seed(8 << 32))
        .unwrap()
}

const P256: &str = "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem";

/// A CSR that OpenSSL makes of the key in the folder, with these additional arguments.
fn csr_of(folder: &Folder, more: &str) -> Result<Csr, CsrError> {
    accepted(&folder.openssl(&format!("req -new -key key.pem -outform DER -out request.der {more}")));
    Csr::read(&std::fs::read(folder.0.join("request.der")).unwrap())
}

#[test]
fn openssl_makes_csrs_that_are_taken_and_reads_ours() {
    let (world, folder) = (World::new(), Folder::new());
    // Half of the signatures have the higher s.
    for _ in 0..8 {
        accepted(&folder.openssl(P256));
        let csr = csr_of(&folder, "-subj /CN=erik").unwrap();
        assert_eq!((csr.name(), csr.member()), ("erik", csr.key().member_id()));
        accepted(&folder.openssl("req -inform DER -in request.der -out request.pem"));
        let pem = std::fs::read(folder.0.join("request.pem")).unwrap();
        assert_eq!(Csr::read(&pem).as_ref(), Ok(&csr));
        folder.put("ours.pem", csr.to_pem());
        let said = accepted(&folder.openssl("req -in ours.pem -verify -noout -text"));
        assert!(said.contains("verify OK") && said.contains("CN = erik"), "{said}");
        let body = GmcBody::propose_csr(world.charter(), &csr, 3, crate::common::START);
        let request = Request::by_csr(csr, body).unwrap();
        assert_eq!(Request::from_der(request.der()), Ok(request));
    }
    let made = Csr::sign(world.stranger.key(), "dave \u{2615}").unwrap();
    folder.put("ours.pem", made.to_pem());
    assert!(accepted(&folder.openssl("req -in ours.pem -verify -noout")).contains("verify OK"));
}

/// `ID-57`: what the certificate will not have is not ignored.
#[test]
fn id_57_a_csr_asks_for_one_name_and_nothing_that_the_certificate_has_not() {
    let folder = Folder::new();
    accepted(&folder.openssl(P256));
    for more in [
        "basicConstraints=CA:FALSE",
        "keyUsage=digitalSignature,nonRepudiation",
        "basicConstraints=critical,CA:FALSE",
    ] {
        assert!(csr_of(&folder, &format!("-subj /CN=erik -addext {more}")).is_ok(), "{more}");
    }
    for (more, what) in [
        ("subjectAltName=DNS:erik.example", "subjectAltName"),
        ("basicConstraints=CA:TRUE", "basicConstraints"),
        ("keyUsage=keyEncipherment", "keyUsage"),
        ("extendedKeyUsage=serverAuth", "xtKeyUsage"),
    ] {
        match csr_of(&folder, &format!("-subj /CN=erik -addext {more}")) {
            Err(CsrError::PeerAttribute(why)) => {
                assert!(why.contains(what) || why.contains("2.5.29"), "{why}")
            }
            other => panic!("{more}: {other:?}"),
        }
    }
    folder.put("password.cnf", "[req]\nprompt=no\ndistinguished_name=n\nattributes=a\n[n]\nCN=erik\n[a]\nchallengePassword=secret1\n");
    assert!(matches!(csr_of(&folder, "-config password.cnf"), Err(CsrError::PeerAttribute(_))));
    for subject in ["/O=works/CN=erik", "/CN=erik/CN=emil", "/O=works", "/CN=erik+O=works"] {
        assert_eq!(
            csr_of(&folder, &format!("-multivalue-rdn -subj {subject}")),
            Err(CsrError::PeerSubject),
            "{subject}"
        );
    }
    let long = "x".repeat(64);
    assert!(csr_of(&folder, &format!("-subj /CN={long}")).is_ok());
    folder
        .put("printable.cnf", "[req]\nprompt=no\nstring_mask=default\ndistinguished_name=n\n[n]\nCN=erik\n");
    assert_eq!(csr_of(&folder, "-config printable.cnf").unwrap().name(), "erik");
}

#[test]
fn id_57_a_csr_of_another_kind_of_key_or_signature_is_its_makers_fault() {
    let folder = Folder::new();
    for algorithm in [
        "RSA -pkeyopt rsa_keygen_bits:1024",
        "RSA -pkeyopt rsa_keygen_bits:4096",
        "RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_pubexp:3",
        "RSA-PSS -pkeyopt rsa_keygen_bits:2048",
        "EC -pkeyopt ec_paramgen_curve:P-384",
        "EC -pkeyopt ec_paramgen_curve:secp256k1",
        "EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit",
        "ED448",
    ] {
        accepted(&folder.openssl(&format!("genpkey -algorithm {algorithm} -out key.pem")));
        assert_eq!(csr_of(&folder, "-subj /CN=erik"), Err(CsrError::PeerKey), "{algorithm}");
        let pem = std::fs::read_to_string(folder.0.join("key.pem")).unwrap();
        let refused = Identity::import(&pem, "erik", &mut Seed(1), crate::common::START, crate::common::END);
        assert!(matches!(refused, Err(CertificateError::LocalPem(_))), "{algorithm}: {refused:?}");
    }
    accepted(&folder.openssl(P256));
    assert_eq!(csr_of(&folder, "-subj /CN=erik -sha384"), Err(CsrError::PeerAlgorithm));
    let csr = csr_of(&folder, "-subj /CN=erik").unwrap();
    let other = csr_of(&folder, "-subj /CN=emil").unwrap();
    // The name of one under the signature of the other.
    let mut mixed = csr.der().to_vec();
    let at = mixed.windows(4).position(|part| part == b"erik").unwrap();
    mixed[at..at + 4].copy_from_slice(b"emil");
    assert_eq!(Csr::from_der(&mixed), Err(CsrError::PeerSignature));
    assert_ne!(csr.nonce(), other.nonce());
}

#[test]
fn openssl_draws_keys_that_become_identities() {
    let folder = Folder::new();
    let forms = [
        P256,
        "ecparam -genkey -name prime256v1 -out key.pem",
        "ecparam -genkey -name prime256v1 -noout -out key.pem",
        "genpkey -algorithm ED25519 -out key.pem",
        "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out key.pem",
        "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:3072 -out key.pem",
    ];
    for form in forms {
        accepted(&folder.openssl(form));
        let pem = std::fs::read_to_string(folder.0.join("key.pem")).unwrap();
        let made =
            Identity::import(&pem, "erik", &mut Seed(1), crate::common::START, crate::common::END).unwrap();
        let csr = csr_of(&folder, "-subj /CN=erik").unwrap();
        assert_eq!((made.member(), made.name()), (csr.member(), csr.name()));
        assert_eq!(Csr::sign(made.key(), "erik").unwrap().key(), csr.key());
        folder.put("identities.pem", made.certificate_pem());
        accepted(&folder.openssl("verify -x509_strict -check_ss_sig -CAfile identities.pem identities.pem"));
        let twice = format!("{pem}{pem}");
        let beside = format!("{}{pem}{}", made.certificate_pem(), made.certificate_pem());
        let same = Identity::import(&beside, "erik", &mut Seed(1), crate::common::START, crate::common::END)
            .unwrap();
        assert_eq!(same.member(), made.member(), "certificates beside it do not matter");
        for wrong in [twice, made.certificate_pem(), "x".repeat(10_000)] {
            let refused =
                Identity::import(&wrong, "erik", &mut Seed(1), crate::common::START, crate::common::END);
            assert!(matches!(refused, Err(CertificateError::LocalPem(_))), "{refused:?}");
        }
        let nameless = Identity::import(&pem, "", &mut Seed(1), crate::common::START, crate::common::END);
        assert!(matches!(nameless, Err(CertificateError::LocalValue(_))));
    }
    accepted(&folder.openssl("pkey -in key.pem -aes256 -passout pass:secret -out locked.pem"));
    accepted(&folder.openssl("ec -in key.pem -aes256 -passout pass:secret -out older.pem"));
    for locked in ["locked.pem", "older.pem"] {
        let pem = std::fs::read_to_string(folder.0.join(locked)).unwrap();
        let refused = Identity::import(&pem, "erik", &mut Seed(1), crate::common::START, crate::common::END);
        let encrypted = matches!(refused, Err(CertificateError::LocalPem(why)) if why.contains("encrypted"));
        assert!(encrypted, "{locked}: {:?}\n{pem}", refused.err());
    }
}

fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(Secret::new(text.as_bytes().to_vec())).unwrap()
}

/// `ID-80`: the same key, by its public half, whoever decrypts.
#[test]
fn id_80_openssl_opens_the_keys_that_we_seal() {
    let (world, folder) = (World::new(), Folder::new());
    let anna = &world.stranger;
    folder.put("open.key", anna.key_pem().unwrap().expose());
    let sealed = anna.sealed_key_pem(&passphrase("correct horse"), &mut Seed(4)).unwrap();
    folder.put("sealed.key", &sealed);
    folder.put("phrase", "correct horse\n");
    let said = accepted(&folder.openssl("pkey -in sealed.key -passin file:phrase -check -noout"));
    assert!(said.contains("Key is valid"), "{said}");
    let of_ours = accepted(&folder.openssl("pkey -in sealed.key -passin file:phrase -pubout"));
    assert_eq!(of_ours, accepted(&folder.openssl("pkey -in open.key -pubout")));
    assert!(!folder.openssl("pkey -in sealed.key -passin pass:wrong -noout").status.success());
    let form = accepted(&folder.openssl("asn1parse -in sealed.key"));
    for part in ["PBES2", "aes-256-cbc", ":4000", "scrypt"] {
        assert!(form.contains(part) || part == "scrypt" && form.contains("1.3.6.1.4.1.11591.4.11"), "{form}");
    }
}

/// `ID-80`: scrypt, as the documentation says, and what OpenSSL writes by itself.
#[test]
fn id_80_keys_that_openssl_seals_open_here() {
    let folder = Folder::new();
    accepted(&folder.openssl(P256));
    folder.put("phrase", "correct horse\n");
    let public = accepted(&folder.openssl("pkey -in key.pem -pubout"));
    for how in ["-scrypt", "-scrypt -scrypt_N 4096 -scrypt_r 4 -scrypt_p 2", "", "-v2 aes-128-cbc"] {
        let line = format!("pkcs8 -topk8 {how} -in key.pem -out sealed.key -passout file:phrase");
        accepted(&folder.openssl(&line.replace("  ", " ")));
        let sealed = std::fs::read_to_string(folder.0.join("sealed.key")).unwrap();
        let opened = open_sealed_key(&sealed, &passphrase("correct horse")).unwrap();
        folder.put("opened.key", opened.expose());
        assert_eq!(accepted(&folder.openssl("pkey -in opened.key -pubout")), public, "{how}");
        let wrong = open_sealed_key(&sealed, &passphrase("correct horse\n"));
        assert_eq!(wrong.unwrap_err(), SealedKeyError::LocalWrong, "{how}");
    }
    // The right passphrase is never called wrong: it is the form that is not read.
    for how in ["-v1 PBE-SHA1-3DES", "-v2 des3", "-v2 aes-192-cbc", "-v2prf hmacWithSHA1", "-v2 camellia256"]
    {
        let line = format!("pkcs8 -topk8 {how} -in key.pem -out sealed.key -passout file:phrase");
        accepted(&folder.openssl(&line));
        let sealed = std::fs::read_to_string(folder.0.join("sealed.key")).unwrap();
        match open_sealed_key(&sealed, &passphrase("correct horse")) {
            Ok(opened) => {
                folder.put("opened.key", opened.expose());
                assert_eq!(accepted(&folder.openssl("pkey -in opened.key -pubout")), public, "{how}");
            }
            Err(why) => assert!(why.to_string().contains("openssl pkcs8 -topk8 -scrypt"), "{how}: {why}"),
        }
    }
}
