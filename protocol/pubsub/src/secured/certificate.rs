//! Certificates of X.509, read strictly.

use super::{CERTIFICATE_BYTES_MAX, PermitError};
use const_oid::AssociatedOid as _;
use const_oid::db::rfc5912::ECDSA_WITH_SHA_256;
use core::ops::RangeInclusive;
use der::asn1::{Any, BitString};
use der::{Decode, Encode, Sequence};
use folkmoot_base::UnixTime;
use folkmoot_signing::plain::{Signature, VerifyingKey};
use spki::AlgorithmIdentifierOwned;
use std::collections::BTreeSet;
use x509_cert::Certificate;
use x509_cert::certificate::Version;
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{BasicConstraints, KeyUsage, SubjectAltName};

#[derive(Sequence)]
struct Outer {
    tbs: Any,
    algorithm: AlgorithmIdentifierOwned,
    signature: BitString,
}

/// A certificate of the one kind that is read here. Nobody has judged it yet.
pub(super) struct Read {
    /// In DER, as the subject.
    pub(super) issuer: Vec<u8>,
    pub(super) subject: Vec<u8>,
    /// For people.
    pub(super) issuer_text: String,
    pub(super) subject_text: String,
    pub(super) key: VerifyingKey,
    pub(super) term: RangeInclusive<UnixTime>,
    /// What the signature is over.
    pub(super) tbs: Vec<u8>,
    pub(super) signature: Signature,
    extensions: Vec<Extension>,
}

impl Read {
    pub(super) fn from_der(der: &[u8]) -> Result<Self, PermitError> {
        if der.len() > CERTIFICATE_BYTES_MAX {
            return Err(PermitError::WireMalformed);
        }
        let bad = |_| PermitError::WireMalformed;
        let certificate = Certificate::from_der(der).map_err(bad)?;
        let outer = Outer::from_der(der).map_err(bad)?;
        let body = certificate.tbs_certificate();
        if body.version() != Version::V3 || certificate.to_der().map_err(bad)? != der {
            return Err(PermitError::WireMalformed);
        }
        let algorithm = AlgorithmIdentifierOwned { oid: ECDSA_WITH_SHA_256, parameters: None };
        if outer.algorithm != algorithm || *body.signature() != algorithm {
            return Err(PermitError::WireAlgorithm);
        }
        let spki = body.subject_public_key_info().to_der().map_err(bad)?;
        let key = VerifyingKey::from_spki_der(&spki).map_err(|_| PermitError::WireAlgorithm)?;
        let signature = outer.signature.as_bytes().ok_or(PermitError::WireMalformed)?;
        let signature = Signature::from_foreign_der(signature).map_err(|_| PermitError::WireAlgorithm)?;
        let seconds = |time: x509_cert::time::Time| UnixTime(time.to_unix_duration().as_secs());
        let term = seconds(body.validity().not_before)..=seconds(body.validity().not_after);
        let read = Self {
            issuer: body.issuer().to_der().map_err(bad)?,
            subject: body.subject().to_der().map_err(bad)?,
            issuer_text: body.issuer().to_string(),
            subject_text: body.subject().to_string(),
            key,
            term,
            tbs: outer.tbs.to_der().map_err(bad)?,
            signature,
            extensions: body.extensions().cloned().unwrap_or_default(),
        };
        read.check_extensions()?;
        Ok(read)
    }

    /// What is critical is known, and nothing stands twice.
    fn check_extensions(&self) -> Result<(), PermitError> {
        let known = [BasicConstraints::OID, KeyUsage::OID, SubjectAltName::OID];
        let mut seen = BTreeSet::new();
        for extension in &self.extensions {
            if extension.critical && !known.contains(&extension.extn_id) {
                return Err(PermitError::WireExtensions("one is critical and unknown"));
            }
            if !seen.insert(extension.extn_id) {
                return Err(PermitError::WireExtensions("one stands there twice"));
            }
        }
        Ok(())
    }

    /// Whether it may sign others.
    pub(super) fn is_authority(&self) -> Result<bool, PermitError> {
        Ok(self.one::<BasicConstraints>()?.is_some_and(|constraints| constraints.ca))
    }

    /// The extension of this type, if it is there.
    pub(super) fn one<T>(&self) -> Result<Option<T>, PermitError>
    where
        T: for<'a> Decode<'a> + const_oid::AssociatedOid,
    {
        let Some(found) = self.extensions.iter().find(|extension| extension.extn_id == T::OID) else {
            return Ok(None);
        };
        T::from_der(found.extn_value.as_bytes()).map(Some).map_err(|_| PermitError::WireMalformed)
    }
}
