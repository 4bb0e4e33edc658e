//! Certificates made: a root, and what it certifies. They are X.509, version 3, and OpenSSL reads
//! them.
//!
//! ```text
//! root    issuer = subject = {CN}, basicConstraints (critical, CA, path 0), keyUsage (critical, keyCertSign + cRLSign),
//!         subjectKeyIdentifier
//! others  issuer = the root's subject, subject = {CN}, basicConstraints (critical, no CA), keyUsage (critical, digitalSignature),
//!         subjectAltName (a URI for each right), subjectKeyIdentifier, authorityKeyIdentifier
//! ```
//! Relies on: whoever calls this keeps a list of who has which sender ([`super::duplicates`]).

use super::certificate::Read;
use super::permit::check;
use super::{PermitError, RIGHTS_MAX, Right, Root, exclude};
use crate::discovery::message::CERTIFICATE_BYTES_MAX as MEMBER_BYTES_MAX;
use bytes::Bytes;
use const_oid::AssociatedOid;
use const_oid::db::rfc4519;
use const_oid::db::rfc5912::ECDSA_WITH_SHA_256;
use core::ops::RangeInclusive;
use core::time::Duration;
use der::asn1::{Any, BitString, Ia5String, OctetString, SetOfVec, Utf8StringRef};
use der::{DateTime, Decode, Encode, Sequence};
use folkmoot_base::{Entropy, UnixTime, draw};
use folkmoot_signing::plain::{SigningKey, VerifyingKey};
use spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};
use std::collections::BTreeSet;
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, KeyUsage, KeyUsages, SubjectAltName, SubjectKeyIdentifier,
};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::time::{Time, Validity};

/// Longest common name, in bytes (X.520).
const NAME_BYTES_MAX: usize = 64;

/// Why a certificate is not made. The fault is on this side.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IssueError {
    /// The name cannot stand in a certificate.
    #[error("a name has 1 to {NAME_BYTES_MAX} bytes, and no control characters")]
    LocalName,
    /// The key did not sign the root certificate.
    #[error("the key is not the one of the root certificate")]
    LocalKey,
    /// A value cannot be encoded.
    #[error("the term ends before it begins, or too late for a certificate")]
    LocalTerm,
    /// It has too many rights, or too long ones.
    #[error(
        "the certificate has {0} bytes, and at most {MEMBER_BYTES_MAX} travel; give the key fewer channels"
    )]
    LocalTooLong(usize),
    /// Nobody would take it.
    #[error(transparent)]
    LocalPermit(#[from] PermitError),
}

#[derive(Sequence)]
struct Tbs {
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT")]
    version: u8,
    serial: SerialNumber,
    signature: AlgorithmIdentifierOwned,
    issuer: Name,
    validity: Validity,
    subject: Name,
    key: SubjectPublicKeyInfoOwned,
    #[asn1(context_specific = "3", tag_mode = "EXPLICIT")]
    extensions: Vec<Extension>,
}

#[derive(Sequence)]
struct Signed {
    tbs: Tbs,
    algorithm: AlgorithmIdentifierOwned,
    signature: BitString,
}

/// The root with its key: whoever has it says who may be where.
#[derive(Debug)]
pub struct Issuer {
    root: Root,
    certificate: Vec<u8>,
    key: SigningKey,
    /// What the root certificate names its key by, if it does.
    identifier: Option<SubjectKeyIdentifier>,
}

impl Issuer {
    /// A new root under this name, which has signed itself.
    ///
    /// # Errors
    /// [`IssueError::LocalName`], [`IssueError::LocalTerm`].
    pub fn new(
        name: &str,
        key: SigningKey,
        term: &RangeInclusive<UnixTime>,
        entropy: &mut dyn Entropy,
    ) -> Result<Self, IssueError> {
        let (name, public) = (common_name(name)?, key.verifying_key().clone());
        let usage = KeyUsage(KeyUsages::KeyCertSign | KeyUsages::CRLSign);
        let extensions = || {
            Ok(vec![
                extension(true, &BasicConstraints { ca: true, path_len_constraint: Some(0) })?,
                extension(true, &usage)?,
                extension(false, &SubjectKeyIdentifier(identifier(&public)?))?,
            ])
        };
        let made = extensions()
            .and_then(|extensions| sign(&key, tbs(name.clone(), name, &public, term, extensions, entropy)?));
        Self::open(&made.map_err(|_| IssueError::LocalTerm)?, key)
    }

    /// A root that is there, with its key. OpenSSL may have made both.
    ///
    /// # Errors
    /// [`IssueError::LocalPermit`], [`IssueError::LocalKey`].
    pub fn open(certificate: &[u8], key: SigningKey) -> Result<Self, IssueError> {
        let root = Root::from_der(certificate)?;
        if root.key() != key.verifying_key() {
            return Err(IssueError::LocalKey);
        }
        let identifier = Read::from_der(certificate)?.one()?;
        Ok(Self { root, certificate: certificate.to_vec(), key, identifier })
    }

    /// The root certificate, in DER.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// What others judge its certificates by.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The root's key.
    pub fn key(&self) -> &SigningKey {
        &self.key
    }

    /// Certifies that whoever has `key` has these rights, for this term (PUB-26 to PUB-28).
    ///
    /// # Errors
    /// [`IssueError`].
    pub fn issue(
        &self,
        name: &str,
        key: &VerifyingKey,
        rights: &BTreeSet<Right>,
        term: &RangeInclusive<UnixTime>,
        entropy: &mut dyn Entropy,
    ) -> Result<Vec<u8>, IssueError> {
        check(rights)?;
        if rights.len() > RIGHTS_MAX {
            return Err(PermitError::PeerRights.into());
        }
        let subject = common_name(name)?;
        let made = self.body(subject, key, rights, term, entropy).and_then(|body| sign(&self.key, body));
        let made = made.map_err(|_| IssueError::LocalTerm)?;
        if made.len() > MEMBER_BYTES_MAX {
            return Err(IssueError::LocalTooLong(made.len()));
        }
        // The root's term may begin later.
        self.root.permit(&made, (*term.start()).max(*self.root.term().start()), 0)?;
        Ok(made)
    }

    /// The statement that whoever has this certificate is out (PUB-46, PUB-63). Anybody can carry
    /// it.
    ///
    /// # Errors
    /// [`PermitError`], if the root has not issued it.
    pub fn exclude(&self, certificate: &[u8]) -> Result<Bytes, PermitError> {
        let permit = self.root.permit_at_any_time(certificate)?;
        Ok(exclude(&self.key, permit.holder(), permit.ends()))
    }

    fn body(
        &self,
        subject: Name,
        key: &VerifyingKey,
        rights: &BTreeSet<Right>,
        term: &RangeInclusive<UnixTime>,
        entropy: &mut dyn Entropy,
    ) -> der::Result<Tbs> {
        let uri = |right: &Right| Ia5String::new(&right.to_string());
        let uris = rights.iter().map(|right| uri(right).map(GeneralName::UniformResourceIdentifier));
        let mut extensions = vec![
            extension(true, &BasicConstraints { ca: false, path_len_constraint: None })?,
            extension(true, &KeyUsage(KeyUsages::DigitalSignature.into()))?,
            extension(false, &SubjectAltName(uris.collect::<der::Result<_>>()?))?,
            extension(false, &SubjectKeyIdentifier(identifier(key)?))?,
        ];
        if let Some(SubjectKeyIdentifier(identifier)) = &self.identifier {
            let key_identifier = Some(identifier.clone());
            let by = AuthorityKeyIdentifier { key_identifier, ..AuthorityKeyIdentifier::default() };
            extensions.push(extension(false, &by)?);
        }
        tbs(Name::from_der(self.root.name())?, subject, key, term, extensions, entropy)
    }
}

fn tbs(
    issuer: Name,
    subject: Name,
    key: &VerifyingKey,
    term: &RangeInclusive<UnixTime>,
    extensions: Vec<Extension>,
    entropy: &mut dyn Entropy,
) -> der::Result<Tbs> {
    if term.is_empty() {
        return Err(der::ErrorKind::DateTime.into());
    }
    // Positive, and always of 16 bytes.
    let [first, rest @ ..]: [u8; 16] = draw(entropy);
    let serial = [&[(first & 0x3f) | 0x40], &rest[..]].concat();
    let time = |at: &UnixTime| DateTime::from_unix_duration(Duration::from_secs(at.0)).map(Time::from);
    Ok(Tbs {
        version: 2,
        serial: SerialNumber::new(&serial)?,
        signature: algorithm(),
        issuer,
        validity: Validity::new(time(term.start())?, time(term.end())?),
        subject,
        key: SubjectPublicKeyInfoOwned::from_der(key.spki_der())?,
        extensions,
    })
}

fn sign(key: &SigningKey, tbs: Tbs) -> der::Result<Vec<u8>> {
    let signature = BitString::from_bytes(&key.sign_raw(&tbs.to_der()?).to_der())?;
    Signed { tbs, algorithm: algorithm(), signature }.to_der()
}

fn algorithm() -> AlgorithmIdentifierOwned {
    AlgorithmIdentifierOwned { oid: ECDSA_WITH_SHA_256, parameters: None }
}

fn extension<T: Encode + AssociatedOid>(critical: bool, value: &T) -> der::Result<Extension> {
    Ok(Extension { extn_id: T::OID, critical, extn_value: OctetString::new(value.to_der()?)? })
}

/// What certificates name a key by.
fn identifier(key: &VerifyingKey) -> der::Result<OctetString> {
    let head: Vec<u8> = key.member_id().0.iter().take(20).copied().collect();
    OctetString::new(head)
}

/// The name that has only this common name.
fn common_name(name: &str) -> Result<Name, IssueError> {
    let fits = !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control);
    let made = || {
        let value = Any::encode_from(&Utf8StringRef::new(name)?)?;
        let mut part = SetOfVec::new();
        part.insert(AttributeTypeAndValue { oid: rfc4519::CN, value })?;
        Name::from_der(&vec![part].to_der()?)
    };
    if fits { made().map_err(|_| IssueError::LocalName) } else { Err(IssueError::LocalName) }
}
