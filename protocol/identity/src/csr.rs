//! A certification request (CSR, PKCS#10, RFC 2986), as `openssl req -new` makes one: a key's own
//! signature over its name, by which its holder is known to have it. It names no group and no term:
//! a member proposes those for it ([`crate::Request::by_csr`]).
//!
//! ```text
//! CertificationRequest ::= SEQUENCE {
//!   SEQUENCE { INTEGER 0, Name { CN, and nothing else }, SPKI, [0] attributes: none, or one extensionRequest },
//!   the algorithm of that key, BIT STRING }
//! nonce ‖ serial number = SHA-256("folkmoot csr v1" ‖ 00 ‖ CSR), 16 bytes each, the serial number brought into its range
//! ```
//! So one CSR makes one nonce and one serial number, whoever proposes for it and when. They
//! identify it when it comes again.
//!
//! Attributes are wishes. A wish that the certificate will not fulfil is refused, not ignored: an
//! extensionRequest is accepted only if every member's certificate has each of its extensions, with
//! the same value to the byte.

use crate::envelope::{self, BASIC_CONSTRAINTS, KEY_USAGE, check_name, key_identifier, serial_of};
use crate::pem;
use crate::{CSR_BYTES_MAX, CertificateError, CsrError, Serial};
use const_oid::db::{rfc5280, rfc5912};
use der::asn1::{Any, BitString, PrintableStringRef};
use der::pem::LineEnding;
use der::{Decode, Encode, Sequence};
use folkmoot_base::{Digest, MemberId, digest};
use folkmoot_signing::{KeyKind, Signature, SigningKey, VerifyingKey};
use spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};
use x509_cert::attr::Attributes;
use x509_cert::ext::Extension;
use x509_cert::name::Name;
use x509_cert::request::{CertReq, CertReqInfo, Version};

/// Longest PEM of one, with some text around it.
const PEM_BYTES_MAX: usize = 2 * CSR_BYTES_MAX;
/// First bytes of what nonce and serial number are digested from.
const CSR_DOMAIN: &[u8] = b"folkmoot csr v1\0";

/// A verified CSR: in its one form; whoever made it has its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Csr {
    der: Vec<u8>,
    name: String,
    key: VerifyingKey,
    /// The digest that nonce and serial number are taken from.
    mark: Digest,
}

impl Csr {
    /// Reads what other software wrote, DER or PEM. An ECDSA signature has two equivalent forms,
    /// and most software makes either. The lower one is put in, so that the result has one form
    /// ([`Self::from_der`]) and one nonce.
    ///
    /// # Errors
    /// [`CsrError`].
    pub fn read(bytes: &[u8]) -> Result<Self, CsrError> {
        if bytes.len() > PEM_BYTES_MAX {
            return Err(CsrError::WireTooLong(bytes.len()));
        }
        // A mail around it may be in any character set.
        let der = match String::from_utf8_lossy(bytes) {
            text if text.contains("-----BEGIN ") => from_pem(&text)?,
            _ => bytes.to_vec(),
        };
        let mut request = parse(&der)?;
        let signature = request.signature.as_bytes().ok_or(CsrError::WireMalformed)?;
        // A key of another kind makes a signature that is none of ours; the error shall say that
        // the key is wrong.
        let kind = key_of(&request.info)?.kind();
        algorithm_of(&request, kind)?;
        let low = Signature::from_foreign_paper(kind, signature).map_err(CsrError::WireSignature)?;
        request.signature = BitString::from_bytes(&low.to_paper()).map_err(|_| CsrError::WireMalformed)?;
        Self::from_der(&request.to_der().map_err(|_| CsrError::WireMalformed)?)
    }

    /// Reads the one form, DER with the lower signature; verifies it.
    ///
    /// # Errors
    /// [`CsrError`].
    pub fn from_der(der: &[u8]) -> Result<Self, CsrError> {
        let request = parse(der)?;
        let key = key_of(&request.info)?;
        algorithm_of(&request, key.kind())?;
        let name = subject_of(&request.info)?;
        check_name(&name).map_err(CsrError::PeerName)?;
        check_attributes(&request.info.attributes, &key)?;
        let signature = request.signature.as_bytes().ok_or(CsrError::WireMalformed)?;
        let signature = Signature::from_paper(key.kind(), signature).map_err(CsrError::WireSignature)?;
        let signed = request.info.to_der().map_err(|_| CsrError::WireMalformed)?;
        key.verify_raw(&signed, &signature).map_err(|_| CsrError::PeerSignature)?;
        Ok(Self { der: der.to_vec(), name, key, mark: digest(&[CSR_DOMAIN, der]) })
    }

    /// Makes the CSR of this key and name, as `openssl req -new` would; the same each time.
    ///
    /// # Errors
    /// [`CsrError::LocalName`].
    pub fn sign(key: &SigningKey, name: &str) -> Result<Self, CsrError> {
        check_name(name).map_err(CsrError::LocalName)?;
        let der = encode(key, name).map_err(|_| CsrError::LocalName("it cannot be encoded"))?;
        Self::from_der(&der)
    }

    /// The DER form.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The PEM form, as OpenSSL reads it.
    pub fn to_pem(&self) -> String {
        der::pem::encode_string("CERTIFICATE REQUEST", LineEnding::LF, &self.der).unwrap_or_default()
    }

    /// The name asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The key that is to be certified, and has signed.
    pub fn key(&self) -> &VerifyingKey {
        &self.key
    }

    /// Whose it is.
    pub fn member(&self) -> MemberId {
        self.key.member_id()
    }

    /// The nonce of every certificate proposed for it.
    pub fn nonce(&self) -> [u8; 16] {
        half(&self.mark, 0)
    }

    /// The serial number of every certificate proposed for it.
    pub fn serial(&self) -> Serial {
        serial_of(half(&self.mark, 16))
    }
}

fn encode(key: &SigningKey, name: &str) -> der::Result<Vec<u8>> {
    let info = CertReqInfo {
        version: Version::V1,
        subject: envelope::common_name(name)?,
        public_key: SubjectPublicKeyInfoOwned::from_der(key.verifying_key().spki_der())?,
        attributes: Attributes::default(),
    };
    let signature = BitString::from_bytes(&key.sign_raw(&info.to_der()?).to_paper())?;
    CertReq { info, algorithm: crate::issuer::algorithm(key.verifying_key().kind()), signature }.to_der()
}

fn half(mark: &Digest, from: usize) -> [u8; 16] {
    let mut out = [0; 16];
    out.iter_mut().zip(mark.iter().skip(from)).for_each(|(to, byte)| *to = *byte);
    out
}

/// The one request in a PEM text; older software writes NEW before its label.
fn from_pem(text: &str) -> Result<Vec<u8>, CsrError> {
    let labels = ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"];
    match pem::read(text, &labels).as_deref() {
        Ok([one]) => Ok(one.der.expose().clone()),
        _ => Err(CsrError::WireMalformed),
    }
}

/// Form alone: says nothing of what is in it.
fn parse(der: &[u8]) -> Result<CertReq, CsrError> {
    if der.len() > CSR_BYTES_MAX {
        return Err(CsrError::WireTooLong(der.len()));
    }
    let request = CertReq::from_der(der).map_err(|_| CsrError::WireMalformed)?;
    if request.to_der().as_deref() != Ok(der) {
        return Err(CsrError::WireNotCanonical);
    }
    Ok(request)
}

fn key_of(info: &CertReqInfo) -> Result<VerifyingKey, CsrError> {
    let spki = info.public_key.to_der().map_err(|_| CsrError::WireMalformed)?;
    VerifyingKey::from_spki_der(&spki).map_err(|_| CsrError::PeerKey)
}

fn algorithm_of(request: &CertReq, kind: KeyKind) -> Result<(), CsrError> {
    let ours: AlgorithmIdentifierOwned = crate::issuer::algorithm(kind);
    if request.algorithm == ours { Ok(()) } else { Err(CsrError::PeerAlgorithm) }
}

/// One name and nothing else, as a UTF8String or, from older software, a PrintableString.
fn subject_of(info: &CertReqInfo) -> Result<String, CsrError> {
    let name = info.subject.common_name().ok().flatten().ok_or(CsrError::PeerSubject)?;
    let name = name.value().into_owned();
    let alone = [envelope::common_name(&name).ok(), printable(&name).ok()];
    if alone.iter().flatten().any(|alone| *alone == info.subject) {
        Ok(name)
    } else {
        Err(CsrError::PeerSubject)
    }
}

fn printable(name: &str) -> der::Result<Name> {
    envelope::name_of(Any::encode_from(&PrintableStringRef::new(name)?)?)
}

/// Nothing is asked for that the certificate would not have anyway.
fn check_attributes(attributes: &Attributes, key: &VerifyingKey) -> Result<(), CsrError> {
    let refuse = |what: String| Err(CsrError::PeerAttribute(what));
    if attributes.len() > 1 {
        return refuse("more than one attribute".into());
    }
    let Some(attribute) = attributes.iter().next() else { return Ok(()) };
    if attribute.oid != rfc5912::ID_EXTENSION_REQ {
        return refuse(format!("attribute {}", named(&attribute.oid)));
    }
    let value = (attribute.values.len() == 1).then(|| attribute.values.iter().next()).flatten();
    let extensions: Vec<Extension> =
        value.and_then(|value| value.decode_as().ok()).ok_or(CsrError::WireMalformed)?;
    if extensions.is_empty() {
        return Err(CsrError::WireMalformed);
    }
    let identifier = key_identifier(key).map_err(|_| CsrError::WireMalformed)?;
    let granted = [
        (rfc5280::ID_CE_BASIC_CONSTRAINTS, BASIC_CONSTRAINTS),
        (rfc5280::ID_CE_KEY_USAGE, KEY_USAGE),
        (rfc5280::ID_CE_SUBJECT_KEY_IDENTIFIER, identifier.as_slice()),
    ];
    for (at, extension) in extensions.iter().enumerate() {
        let twice = extensions.iter().take(at).any(|before| before.extn_id == extension.extn_id);
        let has = |(oid, value): &(_, &[u8])| {
            *oid == extension.extn_id && *value == extension.extn_value.as_bytes()
        };
        if twice || !granted.iter().any(has) {
            return refuse(format!("extension {}", named(&extension.extn_id)));
        }
    }
    Ok(())
}

/// What people call an object identifier, where that is known.
fn named(oid: &const_oid::ObjectIdentifier) -> String {
    const_oid::db::DB.by_oid(oid).map_or_else(|| oid.to_string(), |name| format!("{name} ({oid})"))
}

/// CSR and the certificate proposed for it, side by side: what travels and is stored.
#[derive(Sequence)]
struct Pair {
    csr: Any,
    proposed: Any,
}

/// Puts the two together.
pub(crate) fn join(csr: &Csr, proposed: &[u8]) -> Result<Vec<u8>, CertificateError> {
    let pair = |csr, proposed| Pair { csr, proposed }.to_der();
    Any::from_der(csr.der())
        .and_then(|csr| pair(csr, Any::from_der(proposed)?))
        .map_err(|_| CertificateError::LocalValue("a value cannot be encoded"))
}

/// Takes the two apart: DER of each, neither judged. None if it is not such a pair. A CMS message
/// is not: it begins with an identifier.
pub(crate) fn part(der: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let pair = Pair::from_der(der).ok().filter(|pair| der::Tagged::tag(&pair.csr) == der::Tag::Sequence)?;
    Some((pair.csr.to_der().ok()?, pair.proposed.to_der().ok()?))
}
