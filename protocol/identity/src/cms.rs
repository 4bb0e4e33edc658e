//! Signed messages: CMS SignedData (RFC 5652), DER, content attached, one form for each message.
//!
//! ```text
//! ContentInfo(id-signedData)
//!   SignedData v1, digestAlgorithms {sha256, or sha512, or both: those of the signers}
//!     content       id-data, OCTET STRING
//!     certificates  SET OF identity certificate, one for each signer
//!     signerInfos   SET OF v1, issuerAndSerial, digest algorithm,
//!                          signedAttrs {content-type = id-data, message-digest}, signature algorithm, signature
//! ```
//! | key | digest | signature algorithm |
//! |---|---|---|
//! | P-256 | sha256 | ecdsa-with-SHA256 |
//! | Ed25519 | sha512 (RFC 8419) | Ed25519 |
//! | RSA | sha256 | sha256WithRSAEncryption, NULL (RFC 5754) |
//!
//! [`open`] takes apart what came, assembles the message anew from content, certificates and
//! signatures, and compares byte for byte (no signature need be checked to refuse what differs).
//! Then it verifies each certificate, and each signature over attributes that it made itself. The
//! comparison checks everything that no signature covers, and the order of every SET OF: that of
//! the encodings of its elements, as DER has it (X.690, 11.6).

use crate::issuer::{algorithm, key_kind};
use crate::{CmsError, IdentityCertificate};
use ::cms::cert::{CertificateChoices, IssuerAndSerialNumber};
use ::cms::content_info::{CmsVersion, ContentInfo};
use ::cms::signed_data::{
    EncapsulatedContentInfo, SignedAttributes, SignedData, SignerIdentifier, SignerInfo,
};
use const_oid::db::{rfc5911, rfc5912};
use der::asn1::{Any, OctetString, SetOfVec};
use der::{Decode, Encode, Sequence};
use folkmoot_base::{digest, digest_512, limits};
use folkmoot_signing::{KeyKind, Signature, SigningError, SigningKey, VerifyingKey};
use spki::AlgorithmIdentifierOwned;
use x509_cert::Certificate;

/// Longest vote, in bytes of DER.
pub(crate) const VOTE_BYTES_MAX: usize = 3 * 1024;
/// Longest request, in bytes of DER.
pub(crate) const REQUEST_BYTES_MAX: usize = 4 * 1024;
/// Longest signed charter, in bytes of DER: it must fit an item of the transcript.
pub(crate) const CHARTER_BYTES_MAX: usize = limits::ENTRY_BYTES_MAX - 1024;

/// The DER of the two signed attributes, but for the message digest at the end. Their second bytes,
/// 18 and 2f, put them in DER's order.
const ATTRIBUTES_HEAD: [u8; 45] = [
    0x31, 0x4b, // SET OF, 75 bytes
    0x30, 0x18, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x03, // content-type
    0x31, 0x0b, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01, // id-data
    0x30, 0x2f, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04, // message-digest
    0x31, 0x22, 0x04, 0x20,
];

/// The same with a digest of 64 bytes.
const LONG_ATTRIBUTES_HEAD: [u8; 45] = [
    0x31, 0x6b, // SET OF, 107 bytes
    0x30, 0x18, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x03, // content-type
    0x31, 0x0b, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01, // id-data
    0x30, 0x4f, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x04, // message-digest
    0x31, 0x42, 0x04, 0x40,
];

/// A message whose every signature verified and whose bytes are the one form of it.
pub(crate) struct Signed {
    /// What was signed.
    pub(crate) content: Vec<u8>,
    /// Who signed it, sorted by certificate, each once.
    pub(crate) signers: Vec<(IdentityCertificate, Signature)>,
}

/// Signs `content` through its signed attributes.
pub(crate) fn sign_content(key: &SigningKey, content: &[u8]) -> Signature {
    sign_parts(key, &[content])
}

/// [`sign_content`], of a content in parts.
pub(crate) fn sign_parts(key: &SigningKey, content: &[&[u8]]) -> Signature {
    key.sign_raw(&attributes(key.verifying_key().kind(), content))
}

/// Verifies what [`sign_content`] made.
pub(crate) fn verify_content(
    key: &VerifyingKey,
    content: &[u8],
    signature: &Signature,
) -> Result<(), SigningError> {
    verify_parts(key, &[content], signature)
}

/// Verifies what [`sign_parts`] made.
pub(crate) fn verify_parts(
    key: &VerifyingKey,
    content: &[&[u8]],
    signature: &Signature,
) -> Result<(), SigningError> {
    key.verify_raw(&attributes(key.kind(), content), signature)
}

/// Puts a message together.
pub(crate) fn assemble(
    content: &[u8],
    signers: &[(IdentityCertificate, Signature)],
) -> Result<Vec<u8>, CmsError> {
    let signers = signers.iter().map(|(certificate, signature)| (certificate.der().as_ref(), signature));
    encode(content, signers).map_err(|_| CmsError::LocalEncode)
}

/// Puts a message of one signer together, whatever its kind of certificate.
pub(crate) fn assemble_by(
    content: &[u8],
    certificate: &[u8],
    signature: &Signature,
) -> Result<Vec<u8>, CmsError> {
    encode(content, core::iter::once((certificate, signature))).map_err(|_| CmsError::LocalEncode)
}

/// Takes a message of at most `bytes_max` bytes and one signer apart; verifies its form, and
/// neither certificate (DER) nor signature, which are the caller's to judge.
pub(crate) fn single(der: &[u8], bytes_max: usize) -> Result<(Vec<u8>, Vec<u8>, Signature), CmsError> {
    let (content, parts) = take_apart(der, bytes_max, 1)?;
    let (certificate, signature) = parts.into_iter().next().ok_or(CmsError::WireSigners)?;
    Ok((content, certificate, signature))
}

/// Takes a message of at most `bytes_max` bytes and `signers_max` signers apart and verifies it.
pub(crate) fn open(der: &[u8], bytes_max: usize, signers_max: usize) -> Result<Signed, CmsError> {
    let (content, parts) = take_apart(der, bytes_max, signers_max)?;
    let mut signers = Vec::with_capacity(parts.len());
    for (certificate, signature) in parts {
        let certificate = IdentityCertificate::from_der(&certificate)?;
        verify_content(certificate.key(), &content, &signature)
            .map_err(|_| CmsError::PeerSignature(certificate.member()))?;
        signers.push((certificate, signature));
    }
    Ok(Signed { content, signers })
}

/// Certificates (DER, not looked at) with their signatures (not verified).
type Parts = Vec<(Vec<u8>, Signature)>;

/// Content and parts of a message in its one form.
fn take_apart(der: &[u8], bytes_max: usize, signers_max: usize) -> Result<(Vec<u8>, Parts), CmsError> {
    if der.len() > bytes_max {
        return Err(CmsError::WireTooLong(der.len()));
    }
    let signed = parse(der).map_err(|_| CmsError::WireMalformed)?;
    let content = content_of(&signed)?;
    let parts = signers_of(&signed, signers_max)?;
    let again = encode(&content, parts.iter().map(|(certificate, signature)| (&**certificate, signature)));
    if again.as_deref() != Ok(der) {
        return Err(CmsError::WireNotCanonical);
    }
    Ok((content, parts))
}

/// The signed attributes of a content, as a signer with such a key signs them.
fn attributes(kind: KeyKind, content: &[&[u8]]) -> Vec<u8> {
    match kind {
        KeyKind::Ed25519 => [&LONG_ATTRIBUTES_HEAD[..], &digest_512(content)].concat(),
        KeyKind::EcdsaP256 | KeyKind::Rsa => [&ATTRIBUTES_HEAD[..], &digest(content)].concat(),
    }
}

/// Which digest those attributes hold.
fn digest_algorithm(kind: KeyKind) -> AlgorithmIdentifierOwned {
    let oid = match kind {
        KeyKind::Ed25519 => rfc5912::ID_SHA_512,
        KeyKind::EcdsaP256 | KeyKind::Rsa => rfc5912::ID_SHA_256,
    };
    AlgorithmIdentifierOwned { oid, parameters: None }
}

fn parse(der: &[u8]) -> der::Result<SignedData> {
    let info = ContentInfo::from_der(der)?;
    info.content.decode_as::<SignedData>()
}

fn content_of(signed: &SignedData) -> Result<Vec<u8>, CmsError> {
    let content = signed.encap_content_info.econtent.as_ref().ok_or(CmsError::WireMalformed)?;
    let content = content.decode_as::<OctetString>().map_err(|_| CmsError::WireMalformed)?;
    Ok(content.into_bytes().into())
}

/// Pairs certificates (DER, not looked at yet) with signatures by issuer and serial number, one to
/// one.
fn signers_of(signed: &SignedData, signers_max: usize) -> Result<Parts, CmsError> {
    let certificates = signed.certificates.as_ref().ok_or(CmsError::WireSigners)?;
    let count = signed.signer_infos.0.len();
    if count == 0 || count > signers_max || certificates.0.len() != count {
        return Err(CmsError::WireSigners);
    }
    let mut out = Vec::with_capacity(count);
    for choice in certificates.0.iter() {
        let CertificateChoices::Certificate(certificate) = choice else {
            return Err(CmsError::WireSigners);
        };
        let sid = identifier(certificate);
        let mut of_this = signed.signer_infos.0.iter().filter(|info| info.sid == sid);
        let (Some(info), None) = (of_this.next(), of_this.next()) else {
            return Err(CmsError::WireSigners);
        };
        let der = certificate.to_der().map_err(|_| CmsError::WireMalformed)?;
        // Another identifier than the one of a kind would not come out again when this is encoded.
        let kind = key_kind(&info.signature_algorithm).ok_or(CmsError::WireNotCanonical)?;
        let signature =
            Signature::from_paper(kind, info.signature.as_bytes()).map_err(CmsError::WireSignature)?;
        out.push((der, signature));
    }
    Ok(out)
}

fn identifier(certificate: &Certificate) -> SignerIdentifier {
    SignerIdentifier::IssuerAndSerialNumber(IssuerAndSerialNumber {
        issuer: certificate.tbs_certificate().issuer().clone(),
        serial_number: certificate.tbs_certificate().serial_number().clone(),
    })
}

/// What [`parse`] reads as [`SignedData`]. The elements of the two sets are values already encoded,
/// and so they are sorted by their encodings. The types of the crate `cms` are not: they compare
/// certificates and identifiers of signers as if their bytes were INTEGERs of a SEQUENCE OF.
#[derive(Sequence)]
struct SignedDataDer {
    version: CmsVersion,
    digests: SetOfVec<AlgorithmIdentifierOwned>,
    content: EncapsulatedContentInfo,
    #[asn1(context_specific = "0", tag_mode = "IMPLICIT", constructed = "true")]
    certificates: SetOfVec<Any>,
    infos: SetOfVec<Any>,
}

fn encode<'a>(
    content: &[u8],
    signers: impl Iterator<Item = (&'a [u8], &'a Signature)>,
) -> der::Result<Vec<u8>> {
    let mut certificates = Vec::new();
    let mut infos = Vec::new();
    let mut digests = Vec::new();
    for (certificate, signature) in signers {
        let kind = signature.kind();
        let digest_alg = digest_algorithm(kind);
        if !digests.contains(&digest_alg) {
            digests.push(digest_alg.clone());
        }
        infos.push(Any::encode_from(&SignerInfo {
            version: CmsVersion::V1,
            sid: identifier(&Certificate::from_der(certificate)?),
            digest_alg,
            signed_attrs: Some(SignedAttributes::from_der(&attributes(kind, &[content]))?),
            signature_algorithm: algorithm(kind),
            signature: OctetString::new(signature.to_paper())?,
            unsigned_attrs: None,
        })?);
        certificates.push(Any::from_der(certificate)?);
    }
    let signed = SignedDataDer {
        version: CmsVersion::V1,
        digests: SetOfVec::try_from(digests)?,
        content: EncapsulatedContentInfo {
            econtent_type: rfc5911::ID_DATA,
            econtent: Some(Any::encode_from(&OctetString::new(content)?)?),
        },
        certificates: SetOfVec::try_from(certificates)?,
        infos: SetOfVec::try_from(infos)?,
    };
    ContentInfo { content_type: rfc5911::ID_SIGNED_DATA, content: Any::encode_from(&signed)? }.to_der()
}
