//! OpenSSL is the judge: it accepts a certificate that the members signed together like any other
//! of an RSA key. Skips nothing: a machine without `openssl` fails these tests.

use crate::common::members;
use core::str::FromStr;
use core::time::Duration;
use folkmoot_signing::SigningKey;
use folkmoot_signing::rsa::ModulusSize;
use folkmoot_signing::shoup::Dealt;
use p256::ecdsa::signature::Keypair;
use std::path::PathBuf;
use std::process::{Command, Output};
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{Builder as _, CertificateBuilder, Result as BuilderResult};
use x509_cert::der::asn1::{BitString, Null, ObjectIdentifier};
use x509_cert::der::{DateTime, Decode as _, Document, Encode as _};
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, KeyUsage, KeyUsages, SubjectKeyIdentifier,
};
use x509_cert::ext::{Extension, ToExtension as _};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::{
    AlgorithmIdentifierOwned, DynSignatureAlgorithmIdentifier, EncodePublicKey, SubjectPublicKeyInfoOwned,
    SubjectPublicKeyInfoRef,
};
use x509_cert::time::{Time, Validity};
use x509_cert::{Certificate, TbsCertificate};

/// sha256WithRSAEncryption (RFC 8017, appendix C).
const SHA256_WITH_RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11");

/// A folder that is removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("folkmoot-signing-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), bytes).unwrap();
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

/// The group as the builder sees it: a public key and the name of an algorithm. There is no private
/// half.
struct Group(Vec<u8>);

#[derive(Clone)]
struct GroupKey(Vec<u8>);

impl Keypair for Group {
    type VerifyingKey = GroupKey;

    fn verifying_key(&self) -> GroupKey {
        GroupKey(self.0.clone())
    }
}

impl EncodePublicKey for GroupKey {
    fn to_public_key_der(&self) -> x509_cert::spki::Result<Document> {
        Ok(Document::try_from(self.0.as_slice())?)
    }
}

impl DynSignatureAlgorithmIdentifier for Group {
    fn signature_algorithm_identifier(&self) -> x509_cert::spki::Result<AlgorithmIdentifierOwned> {
        Ok(AlgorithmIdentifierOwned { oid: SHA256_WITH_RSA, parameters: Some(Null.into()) })
    }
}

/// The group's own certificate, or one that it issues.
struct Profile {
    subject: &'static str,
    authority: bool,
}

impl BuilderProfile for Profile {
    fn get_issuer(&self, _: &Name) -> Name {
        Name::from_str("CN=book club").unwrap()
    }

    fn get_subject(&self) -> Name {
        Name::from_str(self.subject).unwrap()
    }

    fn build_extensions(
        &self,
        key: SubjectPublicKeyInfoRef<'_>,
        issuer: SubjectPublicKeyInfoRef<'_>,
        tbs: &TbsCertificate,
    ) -> BuilderResult<Vec<Extension>> {
        let usage = if self.authority { KeyUsages::KeyCertSign } else { KeyUsages::DigitalSignature };
        let constraints = BasicConstraints { ca: self.authority, path_len_constraint: None };
        let name = tbs.subject();
        Ok(vec![
            (true, &constraints).to_extension(name, &[])?,
            (true, &KeyUsage(usage.into())).to_extension(name, &[])?,
            (&SubjectKeyIdentifier::try_from(key)?).to_extension(name, &[])?,
            (&AuthorityKeyIdentifier::try_from(issuer)?).to_extension(name, &[])?,
        ])
    }
}

/// A certificate signed by the first holders, as a run makes it.
fn certify(dealt: &Dealt, profile: Profile, spki: &[u8]) -> Certificate {
    let group = Group(dealt.sharing.key().spki_der().to_vec());
    let time = |seconds| Time::from(DateTime::from_unix_duration(Duration::from_secs(seconds)).unwrap());
    let validity = Validity::new(time(1_700_000_000), time(4_000_000_000));
    let spki = SubjectPublicKeyInfoOwned::from_der(spki).unwrap();
    let serial = SerialNumber::from(17_u32);
    let mut builder = CertificateBuilder::new(profile, serial, validity, spki).unwrap();
    let tbs = builder.finalize(&group).unwrap();
    let hands = &members(3)[..usize::from(dealt.sharing.threshold())];
    let signature = crate::keys::sign(dealt, hands, &tbs);
    builder.assemble(BitString::from_bytes(&signature).unwrap(), &group).unwrap()
}

fn pem(certificate: &Certificate) -> String {
    use x509_cert::der::EncodePem as _;
    certificate.to_pem(x509_cert::der::pem::LineEnding::LF).unwrap()
}

#[test]
fn openssl_verifies_certificates_that_the_members_signed() {
    for size in [ModulusSize::Bits2048, ModulusSize::Bits3072] {
        let (dealt, folder) = (crate::keys::deal(size, 2, 3, 3, 1), Folder::new(&size.bits().to_string()));
        let own = Profile { subject: "CN=book club", authority: true };
        let root = certify(&dealt, own, dealt.sharing.key().spki_der());
        let dora = SigningKey::generate(&mut crate::common::Seed(5));
        let issued = Profile { subject: "CN=dora", authority: false };
        let leaf = certify(&dealt, issued, dora.verifying_key().spki_der());
        folder.put("root.pem", pem(&root));
        folder.put("leaf.pem", pem(&leaf));
        let strict = "verify -x509_strict -check_ss_sig -CAfile root.pem";
        for name in ["root.pem", "leaf.pem"] {
            let output = folder.openssl(&format!("{strict} {name}"));
            assert!(
                output.status.success() && said(&output).contains(&format!("{name}: OK")),
                "{}",
                said(&output)
            );
        }
        let text = said(&folder.openssl("x509 -in leaf.pem -noout -text"));
        assert!(text.contains("sha256WithRSAEncryption") && text.contains("CN = dora"), "{text}");
        let mut der = leaf.to_der().unwrap();
        *der.last_mut().unwrap() ^= 1;
        folder.put("bad.pem", pem(&Certificate::from_der(&der).unwrap()));
        let output = folder.openssl(&format!("{strict} bad.pem"));
        assert!(!output.status.success(), "a changed signature: {}", said(&output));
    }
}

#[test]
fn openssl_verifies_a_bare_signature_and_reads_the_key() {
    let (dealt, folder) = (crate::keys::deal(ModulusSize::Bits2048, 2, 3, 3, 1), Folder::new("bare"));
    let signature = crate::keys::sign(&dealt, &members(3)[1..], b"let her in");
    folder.put("key.der", dealt.sharing.key().spki_der());
    folder.put("signature", signature);
    folder.put("message", b"let her in");
    folder.put("other", b"let him in");
    let read = said(&folder.openssl("pkey -pubin -inform DER -in key.der -noout -text"));
    assert!(read.contains("Public-Key: (2048 bit)") && read.contains("Exponent: 65537"), "{read}");
    let verify = "dgst -sha256 -keyform DER -verify key.der -signature signature";
    assert!(said(&folder.openssl(&format!("{verify} message"))).contains("Verified OK"));
    assert!(!folder.openssl(&format!("{verify} other")).status.success());
}
