//! The X.509v3 envelope of every certificate of a member: self-signed or issued by a group's key,
//! of a key of any algorithm, one DER form.
//!
//! ```text
//! TBSCertificate  v3, serial (16 bytes), the algorithm of the holder's key, issuer = subject = {CN = name}, validity, SPKI,
//!                 extensions: basicConstraints (critical, no CA), keyUsage (critical, digitalSignature +
//!                 contentCommitment), subjectKeyIdentifier (first 20 bytes of the MemberId), [membership]
//! issued          the algorithm of the group's key, issuer = {CN = the group's name}, and before the membership
//!                 authorityKeyIdentifier (first 20 bytes of the SHA-256 of the group key's SPKI)
//! ```
//! [`open`] reads the values out, builds the envelope anew from them, and accepts only the bytes
//! that come out.

use crate::CertificateError;
use crate::issuer::{Issuer, algorithm, key_kind};
use const_oid::db::{rfc4519, rfc5280};
use core::time::Duration;
use der::asn1::{Any, BitString, ObjectIdentifier, OctetString, SetOfVec, Utf8StringRef};
use der::{DateTime, Decode, Encode, Sequence};
use folkmoot_base::{Entropy, UnixTime, draw};
use folkmoot_signing::{KeyKind, Signature, SigningKey, VerifyingKey};
use spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::ext::Extension;
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::time::{Time, Validity};
use x509_cert::{Certificate, TbsCertificate};

/// Longest name of a person or device, in bytes of UTF-8 (X.520's bound for a common name).
pub const NAME_BYTES_MAX: usize = 64;
/// 9999-12-31T23:59:59Z, the last time that X.509 can say.
const TIME_MAX: u64 = 253_402_300_799;

pub(crate) const BASIC_CONSTRAINTS: &[u8] = &[0x30, 0x00];
pub(crate) const KEY_USAGE: &[u8] = &[0x03, 0x02, 0x06, 0xc0];

/// A serial number: 16 bytes, the first between 0x40 and 0x7f, so that it is one DER INTEGER of 16
/// bytes.
pub type Serial = [u8; 16];

/// Draws a serial number.
pub(crate) fn draw_serial(entropy: &mut dyn Entropy) -> Serial {
    serial_of(draw(entropy))
}

/// The serial number that these bytes give.
pub(crate) fn serial_of(mut serial: [u8; 16]) -> Serial {
    if let Some(first) = serial.first_mut() {
        *first = (*first & 0x3f) | 0x40;
    }
    serial
}

/// Whether it is one that [`draw_serial`] could have drawn.
pub(crate) fn is_serial(serial: &Serial) -> bool {
    serial.first().is_some_and(|first| (0x40..0x80).contains(first))
}

/// `ID-01`: whether this can be the name of a person or device.
pub(crate) fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Err("a name has 1 to 64 bytes");
    }
    if name.chars().any(char::is_control) {
        return Err("a name cannot have control characters");
    }
    Ok(())
}

/// The values of an envelope; `membership` is the DER of the private extension, if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) serial: Serial,
    pub(crate) name: String,
    pub(crate) key: VerifyingKey,
    pub(crate) not_before: UnixTime,
    pub(crate) not_after: UnixTime,
    pub(crate) membership: Option<Vec<u8>>,
    pub(crate) issuer: Issuer,
}

#[derive(Sequence)]
pub(crate) struct Tbs {
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT")]
    pub(crate) version: u8,
    pub(crate) serial: SerialNumber,
    pub(crate) signature: AlgorithmIdentifierOwned,
    pub(crate) issuer: Name,
    pub(crate) validity: Validity,
    pub(crate) subject: Name,
    pub(crate) key: SubjectPublicKeyInfoOwned,
    #[asn1(context_specific = "3", tag_mode = "EXPLICIT")]
    pub(crate) extensions: Vec<Extension>,
}

#[derive(Sequence)]
struct Outer {
    tbs: Any,
    algorithm: AlgorithmIdentifierOwned,
    signature: BitString,
}

#[derive(Sequence)]
pub(crate) struct AuthorityKeyDer {
    #[asn1(context_specific = "0", tag_mode = "IMPLICIT")]
    pub(crate) id: OctetString,
}

/// Extension of a group membership certificate. Provisional arc: see docs/protocol/identity.md.
pub(crate) const MEMBERSHIP_OID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.59999.1.1");

impl Envelope {
    /// Checks the values that a caller or a peer chose.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        check_name(&self.name)?;
        if self.not_before > self.not_after || self.not_after.0 > TIME_MAX {
            return Err("the term ends before it begins, or after the year 9999");
        }
        if !is_serial(&self.serial) {
            return Err("the serial number is out of range");
        }
        Ok(())
    }

    /// The TBSCertificate: what the holder signs.
    pub(crate) fn tbs(&self) -> Result<Vec<u8>, CertificateError> {
        self.check().map_err(CertificateError::LocalValue)?;
        self.encode().map_err(|_| CertificateError::LocalValue("a value cannot be encoded"))
    }

    /// Signs the envelope as its holder.
    pub(crate) fn sign(&self, key: &SigningKey) -> Result<Vec<u8>, CertificateError> {
        if *key.verifying_key() != self.key || self.issuer != Issuer::Own {
            return Err(CertificateError::LocalNotHolder);
        }
        self.close(&key.sign_raw(&self.tbs()?).to_paper())
    }

    /// The certificate with this signature, whoever made it.
    pub(crate) fn close(&self, signature: &[u8]) -> Result<Vec<u8>, CertificateError> {
        close(&self.tbs()?, self.kind(), signature)
            .map_err(|_| CertificateError::LocalValue("a value cannot be encoded"))
    }

    /// The kind of the key that signs it: its holder's, or the issuer's.
    fn kind(&self) -> KeyKind {
        match &self.issuer {
            Issuer::Own => self.key.kind(),
            Issuer::Group { kind, .. } => *kind,
        }
    }

    fn encode(&self) -> der::Result<Vec<u8>> {
        let name = common_name(&self.name)?;
        let mut extensions = vec![
            extension(rfc5280::ID_CE_BASIC_CONSTRAINTS, true, BASIC_CONSTRAINTS)?,
            extension(rfc5280::ID_CE_KEY_USAGE, true, KEY_USAGE)?,
            extension(rfc5280::ID_CE_SUBJECT_KEY_IDENTIFIER, false, &key_identifier(&self.key)?)?,
        ];
        if let Issuer::Group { key_id, .. } = &self.issuer {
            let value = AuthorityKeyDer { id: OctetString::new(key_id.as_slice())? }.to_der()?;
            extensions.push(extension(rfc5280::ID_CE_AUTHORITY_KEY_IDENTIFIER, false, &value)?);
        }
        if let Some(membership) = &self.membership {
            extensions.push(extension(MEMBERSHIP_OID, false, membership)?);
        }
        Tbs {
            version: 2,
            serial: SerialNumber::new(&self.serial)?,
            signature: algorithm(self.kind()),
            issuer: match &self.issuer {
                Issuer::Own => name.clone(),
                Issuer::Group { name, .. } => common_name(name)?,
            },
            validity: Validity::new(time(self.not_before)?, time(self.not_after)?),
            subject: name,
            key: SubjectPublicKeyInfoOwned::from_der(self.key.spki_der())?,
            extensions,
        }
        .to_der()
    }
}

/// Reads a certificate of at most `bytes_max` bytes, in its one form. If no group issued it, its
/// own key has signed it. If a group did, the signature is returned unverified.
pub(crate) fn open(der: &[u8], bytes_max: usize) -> Result<(Envelope, Vec<u8>), CertificateError> {
    if der.len() > bytes_max {
        return Err(CertificateError::WireTooLong(der.len()));
    }
    let certificate = Certificate::from_der(der).map_err(|_| CertificateError::WireMalformed)?;
    let signature = certificate.signature().as_bytes().ok_or(CertificateError::WireMalformed)?;
    let envelope = read(certificate.tbs_certificate())?;
    envelope.check().map_err(CertificateError::WireProfile)?;
    let tbs = envelope.encode().map_err(|_| CertificateError::WireProfile("a value cannot be encoded"))?;
    let again = close(&tbs, envelope.kind(), signature)
        .map_err(|_| CertificateError::WireProfile("a value cannot be encoded"))?;
    if again != der {
        return Err(CertificateError::WireProfile("it is not canonically encoded"));
    }
    if envelope.issuer == Issuer::Own {
        let own = Signature::from_paper(envelope.key.kind(), signature).map_err(CertificateError::WireKey)?;
        envelope.key.verify_raw(&tbs, &own).map_err(|_| CertificateError::PeerSignature)?;
    }
    Ok((envelope, signature.to_vec()))
}

/// Reads a TBSCertificate that nobody signed yet, in its one form.
pub(crate) fn open_proposed(tbs: &[u8]) -> Result<Envelope, CertificateError> {
    let parsed = TbsCertificate::from_der(tbs).map_err(|_| CertificateError::WireMalformed)?;
    let envelope = read(&parsed)?;
    envelope.check().map_err(CertificateError::WireProfile)?;
    if envelope.issuer != Issuer::Own {
        return Err(CertificateError::WireProfile("its issuer is wrong"));
    }
    let again = envelope.encode().map_err(|_| CertificateError::WireProfile("a value cannot be encoded"))?;
    if again != tbs {
        return Err(CertificateError::WireProfile("it is not canonically encoded"));
    }
    Ok(envelope)
}

fn read(tbs: &TbsCertificate) -> Result<Envelope, CertificateError> {
    let (serial, name, spki, [not_before, not_after]) = subject(tbs)?;
    let key = VerifyingKey::from_spki_der(&spki).map_err(CertificateError::WireKey)?;
    let (membership, issuer) = (membership(tbs), issuer(tbs)?);
    Ok(Envelope { serial, name, key, not_before, not_after, membership, issuer })
}

/// The serial number, and of the subject: its name, its key (SPKI) and its term.
pub(crate) fn subject(
    tbs: &TbsCertificate,
) -> Result<(Serial, String, Vec<u8>, [UnixTime; 2]), CertificateError> {
    let refuse = CertificateError::WireProfile;
    let name = tbs.subject().common_name().ok().flatten().ok_or(refuse("its subject is malformed"))?;
    let spki = tbs.subject_public_key_info().to_der().map_err(|_| CertificateError::WireMalformed)?;
    let serial =
        tbs.serial_number().as_bytes().try_into().map_err(|_| refuse("its serial number is malformed"))?;
    let seconds = |time: &Time| UnixTime(time.to_unix_duration().as_secs());
    let term = [seconds(&tbs.validity().not_before), seconds(&tbs.validity().not_after)];
    Ok((serial, name.value().into_owned(), spki, term))
}

/// The issuer: the group, if the identifier of its key is there; otherwise the holder.
fn issuer(tbs: &TbsCertificate) -> Result<Issuer, CertificateError> {
    let refuse = CertificateError::WireProfile;
    let Some(value) = value(tbs, rfc5280::ID_CE_AUTHORITY_KEY_IDENTIFIER) else { return Ok(Issuer::Own) };
    let key_id =
        AuthorityKeyDer::from_der(value).map_err(|_| refuse("its authority key identifier is malformed"))?;
    let name = tbs.issuer().common_name().ok().flatten().ok_or(refuse("its issuer is wrong"))?;
    Ok(Issuer::Group {
        name: name.value().into_owned(),
        kind: key_kind(tbs.signature()).ok_or(refuse("its signature algorithm is not accepted"))?,
        key_id: key_id
            .id
            .as_bytes()
            .try_into()
            .map_err(|_| refuse("its authority key identifier is malformed"))?,
    })
}

fn membership(tbs: &TbsCertificate) -> Option<Vec<u8>> {
    value(tbs, MEMBERSHIP_OID).map(<[u8]>::to_vec)
}

fn value(tbs: &TbsCertificate, oid: ObjectIdentifier) -> Option<&[u8]> {
    let found = tbs.extensions()?.iter().find(|extension| extension.extn_id == oid)?;
    Some(found.extn_value.as_bytes())
}

pub(crate) fn close(tbs: &[u8], kind: KeyKind, signature: &[u8]) -> der::Result<Vec<u8>> {
    Outer {
        tbs: Any::from_der(tbs)?,
        algorithm: algorithm(kind),
        signature: BitString::from_bytes(signature)?,
    }
    .to_der()
}

pub(crate) fn common_name(name: &str) -> der::Result<Name> {
    name_of(Any::encode_from(&Utf8StringRef::new(name)?)?)
}

/// The name that has only this common name.
pub(crate) fn name_of(value: Any) -> der::Result<Name> {
    let mut rdn = SetOfVec::new();
    rdn.insert(AttributeTypeAndValue { oid: rfc4519::CN, value })?;
    Name::from_der(&vec![rdn].to_der()?)
}

pub(crate) fn extension(oid: ObjectIdentifier, critical: bool, value: &[u8]) -> der::Result<Extension> {
    Ok(Extension { extn_id: oid, critical, extn_value: OctetString::new(value)? })
}

pub(crate) fn key_identifier(key: &VerifyingKey) -> der::Result<Vec<u8>> {
    let head: Vec<u8> = key.member_id().0.iter().take(20).copied().collect();
    OctetString::new(head)?.to_der()
}

pub(crate) fn time(time: UnixTime) -> der::Result<Time> {
    Ok(Time::from(DateTime::from_unix_duration(Duration::from_secs(time.0))?))
}
