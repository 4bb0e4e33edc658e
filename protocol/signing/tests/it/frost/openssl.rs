//! OpenSSL is the judge of certificates that holders sign. Skips nothing: a machine without
//! `openssl` fails these tests.

use super::table::*;
use crate::common::{member, members};
use folkmoot_base::MemberId;
use folkmoot_signing::GroupKey;
use p256::ecdsa::signature::Keypair;
use std::path::{Path, PathBuf};
use std::process::Command;
use x509_cert::TbsCertificate;
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{Builder, CertificateBuilder, Result};
use x509_cert::der::asn1::{BitString, ObjectIdentifier, OctetString};
use x509_cert::der::pem::LineEnding;
use x509_cert::der::{Decode, Document, EncodePem};
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, KeyUsage, KeyUsages, SubjectKeyIdentifier,
};
use x509_cert::ext::{Extension, ToExtension};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::{
    self, AlgorithmIdentifierOwned, DynSignatureAlgorithmIdentifier, EncodePublicKey,
    SubjectPublicKeyInfoOwned, SubjectPublicKeyInfoRef,
};
use x509_cert::time::Validity;

/// The issuer: a key that signs elsewhere.
struct Issuer(GroupKey);
#[derive(Clone)]
struct Public(GroupKey);

impl Keypair for Issuer {
    type VerifyingKey = Public;
    fn verifying_key(&self) -> Public {
        Public(self.0.clone())
    }
}

impl EncodePublicKey for Public {
    fn to_public_key_der(&self) -> spki::Result<Document> {
        Ok(Document::try_from(self.0.spki_der())?)
    }
}

impl DynSignatureAlgorithmIdentifier for Issuer {
    fn signature_algorithm_identifier(&self) -> spki::Result<AlgorithmIdentifierOwned> {
        Ok(AlgorithmIdentifierOwned { oid: ObjectIdentifier::new_unwrap("1.3.101.112"), parameters: None })
    }
}

struct Profile {
    subject: &'static str,
    authority: bool,
}

fn identifier(key: SubjectPublicKeyInfoRef<'_>) -> OctetString {
    OctetString::new(&folkmoot_base::digest(&[key.subject_public_key.raw_bytes()])[..20]).unwrap()
}

impl BuilderProfile for Profile {
    fn get_issuer(&self, _: &Name) -> Name {
        "CN=Lesekreis".parse().unwrap()
    }

    fn get_subject(&self) -> Name {
        self.subject.parse().unwrap()
    }

    fn build_extensions(
        &self,
        subject: SubjectPublicKeyInfoRef<'_>,
        issuer: SubjectPublicKeyInfoRef<'_>,
        tbs: &TbsCertificate,
    ) -> Result<Vec<Extension>> {
        let usage = if self.authority { KeyUsages::KeyCertSign } else { KeyUsages::DigitalSignature };
        let authority =
            AuthorityKeyIdentifier { key_identifier: Some(identifier(issuer)), ..Default::default() };
        let name = tbs.subject();
        let basic = BasicConstraints { ca: self.authority, path_len_constraint: None };
        Ok(vec![
            basic.to_extension(name, &[])?,
            KeyUsage(usage.into()).to_extension(name, &[])?,
            SubjectKeyIdentifier(identifier(subject)).to_extension(name, &[])?,
            authority.to_extension(name, &[])?,
        ])
    }
}

fn certify(holders: &Holders, signers: &[MemberId], profile: Profile, subject: &[u8]) -> String {
    let issuer = Issuer(holders.key());
    let validity =
        Validity::new("2026-01-01T00:00:00Z".parse().unwrap(), "2046-01-01T00:00:00Z".parse().unwrap());
    let key = SubjectPublicKeyInfoOwned::from_der(subject).unwrap();
    let mut builder = CertificateBuilder::new(profile, SerialNumber::from(77_u32), validity, key).unwrap();
    let tbs = builder.finalize(&issuer).unwrap();
    let signature = sign(holders, signers, &tbs, 1);
    let certificate = builder.assemble(BitString::from_bytes(&signature).unwrap(), &issuer).unwrap();
    certificate.to_pem(LineEnding::LF).unwrap()
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("folkmoot-frost-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn accepts(&self, file: &str) -> bool {
        let arguments = ["verify", "-x509_strict", "-check_ss_sig", "-CAfile", "root.pem", file];
        let output = openssl(&self.0).args(arguments).output().expect("openssl is needed");
        output.status.success()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn openssl(folder: &Path) -> Command {
    let mut command = Command::new("openssl");
    command.current_dir(folder);
    command
}

/// The SPKI of a P-256 key, as members have.
fn member_key() -> Vec<u8> {
    let key = folkmoot_signing::SigningKey::generate(&mut crate::common::Seed(5));
    key.verifying_key().spki_der().to_vec()
}

#[test]
fn openssl_accepts_certificates_of_the_shared_key() {
    let folder = Folder::new("issues");
    let (all, newcomer) = (members(5), member(9));
    let holders = founded(5, 3, 70);
    let key = holders.key();
    let root = Profile { subject: "CN=Lesekreis", authority: true };
    folder.put("root.pem", &certify(&holders, &all[..3], root, key.spki_der()));
    assert!(folder.accepts("root.pem"));
    let leaf = || Profile { subject: "CN=Ada", authority: false };
    folder.put("leaf.pem", &certify(&holders, &all[2..], leaf(), &member_key()));
    assert!(folder.accepts("leaf.pem"));

    let more = enrolled(&holders, newcomer, 71);
    folder.put("by-newcomer.pem", &certify(&more, &[all[0], all[1], newcomer], leaf(), &member_key()));
    assert!(folder.accepts("by-newcomer.pem"));

    let mut stayers = [all[1], all[2], all[3], newcomer];
    stayers.sort();
    let next = reshared(&more, &stayers, 3, 72);
    folder.put("next.pem", &certify(&next, &stayers[1..], leaf(), &member_key()));
    assert!(folder.accepts("next.pem"), "the root of before the redistribution still vouches");
}

#[test]
fn openssl_refuses_a_certificate_of_another_shared_key() {
    let folder = Folder::new("refuses");
    let [one, other] = [73, 74].map(|seed| founded(3, 2, seed));
    let key = one.key();
    let root = Profile { subject: "CN=Lesekreis", authority: true };
    folder.put("root.pem", &certify(&one, &members(3)[..2], root, key.spki_der()));
    let leaf = Profile { subject: "CN=Ada", authority: false };
    folder.put("leaf.pem", &certify(&other, &members(3)[..2], leaf, &member_key()));
    assert!(!folder.accepts("leaf.pem"));
}
