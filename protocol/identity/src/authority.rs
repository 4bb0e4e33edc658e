//! The certificate of a group's key: X.509v3, a CA, signed by that key itself. Anyone who trusts it
//! can verify every certificate that the group issues with a standard tool.
//!
//! ```text
//! TBSCertificate  v3, serial (16 bytes), the algorithm of the group's key, issuer = subject = {CN = the group's name}, validity, SPKI,
//!                 extensions: basicConstraints (critical, CA), keyUsage (critical, keyCertSign + cRLSign),
//!                 subjectKeyIdentifier (first 20 bytes of the SHA-256 of the SPKI)
//! ```

use crate::envelope::{self, Serial, common_name, draw_serial, extension, time};
use crate::issuer::{Issuer, algorithm, key_id};
use crate::{CertificateError, NAME_BYTES_MAX};
use bytes::Bytes;
use const_oid::db::rfc5280;
use der::asn1::OctetString;
use der::{Decode, Encode};
use folkmoot_base::{Entropy, UnixTime};
use folkmoot_signing::GroupKey;
use spki::SubjectPublicKeyInfoOwned;
use x509_cert::serial_number::SerialNumber;
use x509_cert::time::Validity;
use x509_cert::{Certificate, TbsCertificate};

/// Longest certificate of a group's key, in bytes of DER.
pub const AUTHORITY_BYTES_MAX: usize = 2 * 1024;
/// basicConstraints { cA TRUE, pathLenConstraint 0 }: it issues to members, and they to nobody.
const IS_CA: &[u8] = &[0x30, 0x06, 0x01, 0x01, 0xff, 0x02, 0x01, 0x00];
/// keyUsage { keyCertSign, cRLSign }.
const SIGNS: &[u8] = &[0x03, 0x02, 0x01, 0x06];
/// How many years it holds: like a founder's admission, it is not meant to run out.
const YEARS: u64 = 100;

/// What the group's key must sign for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorityBody {
    serial: Serial,
    name: String,
    key: GroupKey,
    not_before: UnixTime,
    not_after: UnixTime,
}

impl AuthorityBody {
    /// For the group of this name and key, from `not_before` for a hundred years. The common name
    /// is the group's, cut to 64 bytes.
    pub fn new(name: &str, key: GroupKey, not_before: UnixTime, entropy: &mut dyn Entropy) -> Self {
        let not_after = UnixTime(not_before.0.saturating_add(YEARS * 365 * 86_400));
        Self { serial: draw_serial(entropy), name: common(name), key, not_before, not_after }
    }

    /// Reads a TBSCertificate in its one form.
    ///
    /// # Errors
    /// [`CertificateError`], `Wire…`.
    pub fn from_tbs(tbs: &[u8]) -> Result<Self, CertificateError> {
        let refuse = CertificateError::WireProfile;
        let parsed = TbsCertificate::from_der(tbs).map_err(|_| CertificateError::WireMalformed)?;
        let body = Self::read(&parsed)?;
        if body.tbs()? != tbs { Err(refuse("it is not canonically encoded")) } else { Ok(body) }
    }

    /// The group's key.
    pub fn key(&self) -> &GroupKey {
        &self.key
    }

    /// The group's name, at most 64 bytes of it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Begin of the term.
    pub fn not_before(&self) -> UnixTime {
        self.not_before
    }

    /// The TBSCertificate.
    ///
    /// # Errors
    /// [`CertificateError::LocalValue`].
    pub fn tbs(&self) -> Result<Vec<u8>, CertificateError> {
        self.encode().map_err(|_| CertificateError::LocalValue("a value cannot be encoded"))
    }

    fn encode(&self) -> der::Result<Vec<u8>> {
        let name = common_name(&self.name)?;
        let identifier = OctetString::new(key_id(&self.key).as_slice())?.to_der()?;
        envelope::Tbs {
            version: 2,
            serial: SerialNumber::new(&self.serial)?,
            signature: algorithm(self.key.kind()),
            issuer: name.clone(),
            validity: Validity::new(time(self.not_before)?, time(self.not_after)?),
            subject: name,
            key: SubjectPublicKeyInfoOwned::from_der(self.key.spki_der())?,
            extensions: vec![
                extension(rfc5280::ID_CE_BASIC_CONSTRAINTS, true, IS_CA)?,
                extension(rfc5280::ID_CE_KEY_USAGE, true, SIGNS)?,
                extension(rfc5280::ID_CE_SUBJECT_KEY_IDENTIFIER, false, &identifier)?,
            ],
        }
        .to_der()
    }

    fn read(tbs: &TbsCertificate) -> Result<Self, CertificateError> {
        let (serial, name, spki, [not_before, not_after]) = envelope::subject(tbs)?;
        let key = GroupKey::from_spki_der(&spki).map_err(CertificateError::WireKey)?;
        Ok(Self { serial, name, key, not_before, not_after })
    }
}

/// The certificate of a group's key: in its one form, signed by the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorityCertificate {
    der: Bytes,
    body: AuthorityBody,
}

impl AuthorityCertificate {
    /// The body with the signature that the group's key made over [`AuthorityBody::tbs`].
    ///
    /// # Errors
    /// [`CertificateError::PeerSignature`] if it is not.
    pub fn close(body: &AuthorityBody, signature: &[u8]) -> Result<Self, CertificateError> {
        let der = envelope::close(&body.tbs()?, body.key.kind(), signature);
        Self::from_der(&der.map_err(|_| CertificateError::LocalValue("a value cannot be encoded"))?)
    }

    /// Reads and verifies: one parse, one encoding, one signature check.
    ///
    /// # Errors
    /// [`CertificateError`], `Wire…` and `PeerSignature`.
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        if der.len() > AUTHORITY_BYTES_MAX {
            return Err(CertificateError::WireTooLong(der.len()));
        }
        let certificate = Certificate::from_der(der).map_err(|_| CertificateError::WireMalformed)?;
        let signature = certificate.signature().as_bytes().ok_or(CertificateError::WireMalformed)?;
        let body = AuthorityBody::read(certificate.tbs_certificate())?;
        let tbs = body.tbs()?;
        let again = envelope::close(&tbs, body.key.kind(), signature);
        if again.ok().as_deref() != Some(der) {
            return Err(CertificateError::WireProfile("it is not canonically encoded"));
        }
        body.key.verify_raw(&tbs, signature).map_err(|_| CertificateError::PeerSignature)?;
        Ok(Self { der: Bytes::copy_from_slice(der), body })
    }

    /// The DER form.
    pub fn der(&self) -> &Bytes {
        &self.der
    }

    /// Reads the PEM form, and verifies.
    ///
    /// # Errors
    /// As [`Self::from_der`], and [`CertificateError::LocalPem`].
    pub fn from_pem(pem: &str) -> Result<Self, CertificateError> {
        Self::from_der(&crate::certificate_from_pem(pem)?)
    }

    /// The PEM form.
    pub fn to_pem(&self) -> String {
        crate::certificate::certificate_pem(&self.der)
    }

    /// The group's key.
    pub fn key(&self) -> &GroupKey {
        &self.body.key
    }

    /// The group's name, at most 64 bytes of it.
    pub fn name(&self) -> &str {
        &self.body.name
    }

    /// End of the term.
    pub fn not_after(&self) -> UnixTime {
        self.body.not_after
    }
}

/// A name as a common name can hold it: X.520 has 64 characters at most.
pub fn common(name: &str) -> String {
    let mut end = name.len().min(NAME_BYTES_MAX);
    while !name.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    name.get(..end).unwrap_or_default().to_owned()
}

impl Issuer {
    /// The group with this name and key.
    pub(crate) fn group(name: &str, key: &GroupKey) -> Self {
        Self::Group { name: common(name), kind: key.kind(), key_id: key_id(key) }
    }
}
