//! OpenSSL is the judge: certificates signed by a threshold key are ordinary ones. Skips nothing: a
//! machine without `openssl` fails.

use crate::common::{Seed, member, members};
use crate::kit::{Many, joint};
use folkmoot_base::{MemberId, digest};
use folkmoot_signing::{P256, SigningKey};
use p256::ecdsa::signature::Keypair;
use p256::pkcs8::DecodePublicKey as _;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::str::FromStr as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{self, Builder as _, CertificateBuilder};
use x509_cert::der::asn1::{BitString, ObjectIdentifier, UtcTime};
use x509_cert::der::{DecodePem as _, EncodePem as _, pem::LineEnding};
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, KeyUsage, KeyUsages, SubjectKeyIdentifier,
};
use x509_cert::ext::{Extension, ToExtension as _};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::{
    self, AlgorithmIdentifierOwned, DynSignatureAlgorithmIdentifier, SubjectPublicKeyInfoOwned,
    SubjectPublicKeyInfoRef,
};
use x509_cert::time::{Time, Validity};
use x509_cert::{Certificate, TbsCertificate};

/// Who the certificate is for.
#[derive(Clone, Copy, PartialEq)]
enum Profile {
    Root,
    Leaf,
}

impl BuilderProfile for Profile {
    fn get_issuer(&self, _: &Name) -> Name {
        Name::from_str("CN=book club").unwrap()
    }

    fn get_subject(&self) -> Name {
        Name::from_str(if *self == Self::Root { "CN=book club" } else { "CN=dave" }).unwrap()
    }

    fn build_extensions(
        &self,
        own: SubjectPublicKeyInfoRef<'_>,
        issuer: SubjectPublicKeyInfoRef<'_>,
        tbs: &TbsCertificate,
    ) -> builder::Result<Vec<Extension>> {
        let root = *self == Self::Root;
        let usage = if root {
            KeyUsages::KeyCertSign | KeyUsages::CRLSign
        } else {
            KeyUsages::DigitalSignature.into()
        };
        let issuer = SubjectKeyIdentifier::try_from(issuer)?;
        let authority = AuthorityKeyIdentifier { key_identifier: Some(issuer.0), ..Default::default() };
        let constraints = BasicConstraints { ca: root, path_len_constraint: None };
        Ok(vec![
            authority.to_extension(tbs.subject(), &[])?,
            SubjectKeyIdentifier::try_from(own)?.to_extension(tbs.subject(), &[])?,
            constraints.to_extension(tbs.subject(), &[])?,
            KeyUsage(usage).to_extension(tbs.subject(), &[])?,
        ])
    }
}

/// Stands in place of a private key: it knows the public one.
struct Outside(p256::PublicKey);

impl Keypair for Outside {
    type VerifyingKey = p256::PublicKey;

    fn verifying_key(&self) -> p256::PublicKey {
        self.0
    }
}

impl DynSignatureAlgorithmIdentifier for Outside {
    fn signature_algorithm_identifier(&self) -> spki::Result<AlgorithmIdentifierOwned> {
        // ecdsa-with-SHA256 (RFC 5758).
        Ok(AlgorithmIdentifierOwned {
            oid: ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2"),
            parameters: None,
        })
    }
}

/// A certificate of `spki`, signed by these holders together.
fn certificate(
    many: &Many<P256>,
    signers: &[MemberId],
    profile: Profile,
    spki: &[u8],
    seed: u64,
) -> Certificate {
    let key = many.sharing.verifying_key().unwrap();
    let outside = Outside(p256::PublicKey::from_public_key_der(key.spki_der()).unwrap());
    let serial = SerialNumber::from(u32::try_from(seed).unwrap());
    // 2026 to 2046: OpenSSL reads the clock.
    let [from, to] = [1_767_225_600, 2_398_377_600]
        .map(|at| Time::UtcTime(UtcTime::from_unix_duration(Duration::from_secs(at)).unwrap()));
    let validity = Validity::new(from, to);
    let spki = SubjectPublicKeyInfoOwned::try_from(spki).unwrap();
    let mut builder = CertificateBuilder::new(profile, serial, validity, spki).unwrap();
    let tbs = builder.finalize(&outside).unwrap();
    let signature = many.sign(signers, digest(&[&tbs]), seed).signature().unwrap();
    assert_eq!(key.verify_raw(&tbs, &signature), Ok(()));
    builder.assemble(BitString::from_bytes(&signature.to_der()).unwrap(), &outside).unwrap()
}

/// A folder that is removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("folkmoot-signing-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, name: &str, certificate: &Certificate) {
        std::fs::write(self.0.join(name), certificate.to_pem(LineEnding::LF).unwrap()).unwrap();
    }

    fn openssl(&self, arguments: &str) -> Output {
        let mut command = Command::new("openssl");
        command.args(arguments.split(' ')).current_dir(&self.0);
        command.output().expect("the openssl command is needed: apt-get install openssl")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

const VERIFY: &str = "verify -x509_strict -check_ss_sig -CAfile root.pem leaf.pem";

#[test]
fn openssl_accepts_what_three_of_five_signed_and_a_newcomer_after_them() {
    let (many, folder) = (joint::<P256>(&members(5), 2, 1), Folder::new());
    let own = many.sharing.verifying_key().unwrap();
    let dave = SigningKey::generate(&mut Seed(7 << 32));
    folder.put("root.pem", &certificate(&many, &members(5)[..3], Profile::Root, own.spki_der(), 2));
    let spki = dave.verifying_key().spki_der();
    folder.put("leaf.pem", &certificate(&many, &members(5)[2..], Profile::Leaf, spki, 3));
    let verdict = folder.openssl(VERIFY);
    assert!(verdict.status.success() && said(&verdict).contains("leaf.pem: OK"), "{}", said(&verdict));
    // Other holders, another threshold: the root of before still holds.
    let more = many.enrol(&members(5)[..2], member(9), 4);
    let mut holders = vec![member(9), members(5)[0], members(5)[1], members(5)[2], members(5)[3]];
    holders.sort();
    let next = more.redistribute(&holders[..2], &holders, 3, 5);
    folder.put("leaf.pem", &certificate(&next, &holders, Profile::Leaf, spki, 6));
    let verdict = folder.openssl(VERIFY);
    assert!(verdict.status.success(), "{}", said(&verdict));
}

#[test]
fn openssl_refuses_another_groups_word() {
    let (many, other, folder) =
        (joint::<P256>(&members(3), 2, 1), joint::<P256>(&members(3), 2, 2), Folder::new());
    let own = many.sharing.verifying_key().unwrap();
    let dave = SigningKey::generate(&mut Seed(7 << 32));
    folder.put("root.pem", &certificate(&many, &members(3), Profile::Root, own.spki_der(), 3));
    folder.put(
        "leaf.pem",
        &certificate(&other, &members(3), Profile::Leaf, dave.verifying_key().spki_der(), 4),
    );
    let verdict = folder.openssl(VERIFY);
    assert!(!verdict.status.success(), "{}", said(&verdict));
    let read = Certificate::from_pem(std::fs::read(folder.0.join("leaf.pem")).unwrap()).unwrap();
    assert_eq!(read.tbs_certificate().issuer().to_string(), "CN=book club", "by name it is");
}
