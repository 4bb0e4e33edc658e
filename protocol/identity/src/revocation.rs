//! Which certificates of a group's key no longer hold: an X.509 revocation list (RFC 5280, section
//! 5, v2), signed by that key. Anyone who trusts the key's certificate can check with a standard
//! tool who is a member and was not expelled.
//!
//! ```text
//! TBSCertList  v2, the algorithm of the group's key, issuer = {CN = the group's name}, thisUpdate, nextUpdate = the end of the key's
//!              certificate, revokedCertificates (by serial; absent if none): serial (16 bytes), revocationDate = thisUpdate
//!              crlExtensions: authorityKeyIdentifier (first 20 bytes of the SHA-256 of the SPKI), cRLNumber
//! ```
//! The list follows from the roster and one time alone, so signers that are asked to sign it can
//! make it themselves. A state does not keep when somebody was expelled, only that it was by
//! thisUpdate; so that is the date in the list.

use crate::CertificateError;
use crate::authority::AuthorityCertificate;
use crate::envelope::{self, AuthorityKeyDer, Serial, common_name, extension, time};
use crate::issuer::{algorithm, key_id};
use bytes::Bytes;
use const_oid::db::rfc5280;
use der::asn1::OctetString;
use der::pem::LineEnding;
use der::{Decode, Encode};
use folkmoot_base::UnixTime;
use std::collections::BTreeSet;
use x509_cert::Version;
use x509_cert::crl::{CertificateList, RevokedCert, TbsCertList};
use x509_cert::ext::Extension;
use x509_cert::serial_number::SerialNumber;

/// Longest revocation list, in bytes of DER.
pub const REVOCATIONS_BYTES_MAX: usize = 56 * 1024;
/// The store's table for the newest list: one pair, the value its DER.
pub const REVOKED_TABLE: &str = "revoked";
/// Most certificates in one.
pub const REVOKED_MAX: usize = 1_400;

/// Why a revocation list was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RevocationError {
    /// Not an X.509 revocation list in DER.
    #[error("it is not an X.509 revocation list in DER")]
    WireMalformed,
    /// Longer than any may be.
    #[error("it has {0} bytes, more than a revocation list may have")]
    WireTooLong(usize),
    /// A revocation list, but not the one DER form of one of this group's key (ID-56).
    #[error("it is not in the form that is accepted: {0}")]
    WireForm(&'static str),
    /// The group's key did not sign it.
    #[error("it is not signed by the group's key")]
    PeerSignature,
    /// The values given cannot stand in a list.
    #[error("no revocation list can hold these values: {0}")]
    LocalValue(&'static str),
    /// The certificate of the group's key cannot be read.
    #[error("the certificate of the group's key is refused")]
    LocalAuthority(#[source] CertificateError),
}

/// What the group's key must sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevocationBody {
    authority: AuthorityCertificate,
    this_update: UnixTime,
    number: u64,
    serials: BTreeSet<Serial>,
}

impl RevocationBody {
    /// A list by the key with this certificate. `number` orders lists: of two, the higher one says
    /// more.
    ///
    /// # Errors
    /// [`RevocationError::LocalValue`]: more than [`REVOKED_MAX`] serials, one out of range, or a
    /// time past the certificate's end.
    pub fn new(
        authority: AuthorityCertificate,
        this_update: UnixTime,
        number: u64,
        serials: BTreeSet<Serial>,
    ) -> Result<Self, RevocationError> {
        let body = Self { authority, this_update, number, serials };
        body.check().map_err(RevocationError::LocalValue)?;
        Ok(body)
    }

    /// Reads a TBSCertList in its one form, of the key with this certificate.
    ///
    /// # Errors
    /// [`RevocationError`], `Wire…`.
    pub fn from_tbs(tbs: &[u8], authority: &AuthorityCertificate) -> Result<Self, RevocationError> {
        if tbs.len() > REVOCATIONS_BYTES_MAX {
            return Err(RevocationError::WireTooLong(tbs.len()));
        }
        let parsed: TbsCertList = TbsCertList::from_der(tbs).map_err(|_| RevocationError::WireMalformed)?;
        let body = Self::read(&parsed, authority)?;
        if body.encode().ok().as_deref() != Some(tbs) {
            return Err(RevocationError::WireForm("it is not canonically encoded"));
        }
        Ok(body)
    }

    /// When it was made.
    pub fn this_update(&self) -> UnixTime {
        self.this_update
    }

    /// The cRLNumber.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The revoked certificates, by serial.
    pub fn serials(&self) -> &BTreeSet<Serial> {
        &self.serials
    }

    /// The certificate of the key that signs it.
    pub fn authority(&self) -> &AuthorityCertificate {
        &self.authority
    }

    /// The TBSCertList.
    ///
    /// # Errors
    /// [`RevocationError::LocalValue`].
    pub fn tbs(&self) -> Result<Vec<u8>, RevocationError> {
        self.encode().map_err(|_| RevocationError::LocalValue("a value cannot be encoded"))
    }

    fn check(&self) -> Result<(), &'static str> {
        if self.serials.len() > REVOKED_MAX {
            return Err("there are more certificates than one list can name");
        }
        if !self.serials.iter().all(envelope::is_serial) {
            return Err("a serial number is out of range");
        }
        if self.this_update > self.authority.not_after() {
            return Err("the certificate of the group's key has ended by then");
        }
        Ok(())
    }

    fn encode(&self) -> der::Result<Vec<u8>> {
        let this_update = time(self.this_update)?;
        let revoked = self.serials.iter().map(|serial| {
            Ok(RevokedCert {
                serial_number: SerialNumber::new(serial)?,
                revocation_date: this_update,
                crl_entry_extensions: None,
            })
        });
        let revoked = revoked.collect::<der::Result<Vec<RevokedCert>>>()?;
        let list: TbsCertList = TbsCertList {
            version: Version::V2,
            signature: algorithm(self.authority.key().kind()),
            issuer: common_name(self.authority.name())?,
            this_update,
            next_update: Some(time(self.authority.not_after())?),
            revoked_certificates: (!revoked.is_empty()).then_some(revoked),
            crl_extensions: Some(self.extensions()?),
        };
        list.to_der()
    }

    fn extensions(&self) -> der::Result<Vec<Extension>> {
        let key = AuthorityKeyDer { id: OctetString::new(key_id(self.authority.key()).as_slice())? };
        Ok(vec![
            extension(rfc5280::ID_CE_AUTHORITY_KEY_IDENTIFIER, false, &key.to_der()?)?,
            extension(rfc5280::ID_CE_CRL_NUMBER, false, &self.number.to_der()?)?,
        ])
    }

    /// What it says beyond the key's certificate. Its encoding shows whether it says the rest in
    /// the same words.
    fn read(tbs: &TbsCertList, authority: &AuthorityCertificate) -> Result<Self, RevocationError> {
        let refuse = RevocationError::WireForm;
        let number = tbs.crl_extensions.iter().flatten();
        let number = number.into_iter().find(|extension| extension.extn_id == rfc5280::ID_CE_CRL_NUMBER);
        let number = number.and_then(|number| u64::from_der(number.extn_value.as_bytes()).ok());
        let revoked = tbs.revoked_certificates.iter().flatten();
        let serials = revoked.map(|revoked| revoked.serial_number.as_bytes().try_into());
        let body = Self {
            authority: authority.clone(),
            this_update: UnixTime(tbs.this_update.to_unix_duration().as_secs()),
            number: number.ok_or(refuse("its number is malformed"))?,
            serials: serials
                .collect::<Result<_, _>>()
                .map_err(|_| refuse("its serial number is malformed"))?,
        };
        body.check().map_err(refuse)?;
        Ok(body)
    }
}

/// A revocation list in its one form, signed by the group's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevocationList {
    der: Bytes,
    body: RevocationBody,
}

impl RevocationList {
    /// The body with the signature that the group's key made over [`RevocationBody::tbs`].
    ///
    /// # Errors
    /// [`RevocationError::PeerSignature`] if it is not.
    pub fn close(body: &RevocationBody, signature: &[u8]) -> Result<Self, RevocationError> {
        let der = envelope::close(&body.tbs()?, body.authority.key().kind(), signature);
        let der = der.map_err(|_| RevocationError::LocalValue("a value cannot be encoded"))?;
        Self::from_der(&der, &body.authority)
    }

    /// Reads and verifies a list of the key with this certificate: one parse, one encoding, one
    /// signature check.
    ///
    /// # Errors
    /// [`RevocationError`], `Wire…` and `PeerSignature`.
    pub fn from_der(der: &[u8], authority: &AuthorityCertificate) -> Result<Self, RevocationError> {
        if der.len() > REVOCATIONS_BYTES_MAX {
            return Err(RevocationError::WireTooLong(der.len()));
        }
        let list: CertificateList =
            CertificateList::from_der(der).map_err(|_| RevocationError::WireMalformed)?;
        let signature = list.signature.as_bytes().ok_or(RevocationError::WireMalformed)?;
        let body = RevocationBody::read(&list.tbs_cert_list, authority)?;
        let other = RevocationError::WireForm("it is not canonically encoded");
        let tbs = body.encode().map_err(|_| other.clone())?;
        if envelope::close(&tbs, authority.key().kind(), signature).ok().as_deref() != Some(der) {
            return Err(other);
        }
        authority.key().verify_raw(&tbs, signature).map_err(|_| RevocationError::PeerSignature)?;
        Ok(Self { der: Bytes::copy_from_slice(der), body })
    }

    /// The DER form.
    pub fn der(&self) -> &Bytes {
        &self.der
    }

    /// The PEM form (RFC 7468). Does not fail: the label is fixed and lists are short.
    pub fn to_pem(&self) -> String {
        der::pem::encode_string("X509 CRL", LineEnding::LF, &self.der).unwrap_or_default()
    }

    /// Everything it says.
    pub fn body(&self) -> &RevocationBody {
        &self.body
    }

    /// Whether it replaces `other`: a higher number, or the same number and made later; of two
    /// signatures on one body, the greater.
    pub fn supersedes(&self, other: &Self) -> bool {
        let rank = |list: &Self| (list.body.number, list.body.this_update, list.der.clone());
        rank(self) > rank(other)
    }
}
