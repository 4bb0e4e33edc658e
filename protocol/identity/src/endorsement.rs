//! An endorsement: a certificate by somebody whom the charter recognises, which says who a newcomer
//! is. It is an authority's, or a membership certificate of another group. It admits nobody: the
//! voters see it.
//!
//! ```text
//! charter      [recognised] NAME = key                       authorities outside the group, keys of other groups
//! newcomer     request, endorsement ----> contact ----> voters
//! endorsement  X.509v3, signed by such a key: this key is NAME's, until then      whatever software made it
//! ```
//! Nobody outside this file judges one. Whether its signer has taken it back since is not known.

use crate::certificate::check_term;
use crate::envelope::MEMBERSHIP_OID;
use crate::issuer::key_kind;
use crate::{CertificateError, Charter, Gmc, common_name};
use const_oid::db::{rfc4519, rfc5280};
use der::{Decode, Encode};
use folkmoot_base::{MemberId, UnixTime};
use folkmoot_signing::{GroupKey, VerifyingKey};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{BasicConstraints, KeyUsage};
use x509_cert::time::Time;
use x509_cert::{Certificate, TbsCertificate, Version};

/// Longest endorsement, in bytes of DER.
const ENDORSEMENT_BYTES_MAX: usize = 8 * 1024;

/// What an endorsement says, judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endorsement {
    by: String,
    is_member: bool,
    name: String,
    holder: MemberId,
    not_before: UnixTime,
    not_after: UnixTime,
}

/// Why an endorsement says nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndorsementError {
    /// Not a certificate in DER, or too long.
    #[error("it is not an X.509v3 certificate in DER of at most 8 KiB (ID-93)")]
    WireMalformed,
    /// No key that the charter recognises has signed it.
    #[error("it is not signed by anybody whom the charter recognises (ID-93)")]
    PeerIssuer,
    /// It is the certificate of somebody who issues others, or may not sign.
    #[error("it is not a person's: {0} (ID-94)")]
    PeerPurpose(&'static str),
    /// It is said to be of another group than the one whose key has signed it.
    #[error("it is not a membership certificate of the group that signed it (ID-96)")]
    PeerMembership,
    /// Of another key.
    #[error("it is for another key (ID-95)")]
    PeerHolder,
    /// Under another name.
    #[error("it is for another name (ID-95)")]
    PeerName,
    /// Its term is over, or has not begun.
    #[error("its term is not now (ID-94)")]
    PeerTerm(#[source] CertificateError),
}

impl Endorsement {
    /// Reads an endorsement, and finds whose it is among those whom the charter recognises.
    ///
    /// # Errors
    /// [`EndorsementError`]
    pub fn read(der: &[u8], charter: &Charter) -> Result<Self, EndorsementError> {
        if der.len() > ENDORSEMENT_BYTES_MAX {
            return Err(EndorsementError::WireMalformed);
        }
        let certificate = Certificate::from_der(der).map_err(|_| EndorsementError::WireMalformed)?;
        if certificate.to_der().ok().as_deref() != Some(der) {
            return Err(EndorsementError::WireMalformed);
        }
        let (by, key) = charter
            .recognised()
            .iter()
            .find(|(_, key)| is_signed_by(&certificate, key))
            .ok_or(EndorsementError::PeerIssuer)?;
        let tbs = certificate.tbs_certificate();
        check_purpose(tbs)?;
        let is_member = extensions(tbs).any(|one| one.extn_id == MEMBERSHIP_OID);
        if is_member {
            check_membership(der, by, key)?;
        }
        let spki = tbs.subject_public_key_info().to_der().map_err(|_| EndorsementError::WireMalformed)?;
        let holder =
            VerifyingKey::from_spki_der(&spki).map_err(|_| EndorsementError::PeerHolder)?.member_id();
        let seconds = |time: &Time| UnixTime(time.to_unix_duration().as_secs());
        Ok(Self {
            by: by.to_owned(),
            is_member,
            name: name(tbs)?,
            holder,
            not_before: seconds(&tbs.validity().not_before),
            not_after: seconds(&tbs.validity().not_after),
        })
    }

    /// `ID-94`, `ID-95`: whether it says of this key that it is called so, and says it now.
    ///
    /// # Errors
    /// [`EndorsementError`]
    pub fn check(
        &self,
        (holder, name): (&MemberId, &str),
        time: UnixTime,
        skew_seconds: u64,
    ) -> Result<(), EndorsementError> {
        if self.holder != *holder {
            return Err(EndorsementError::PeerHolder);
        }
        if self.name != name {
            return Err(EndorsementError::PeerName);
        }
        check_term(self.not_before, self.not_after, time, skew_seconds).map_err(EndorsementError::PeerTerm)
    }

    /// Who signed it, as the charter calls it.
    pub fn by(&self) -> &str {
        &self.by
    }

    /// Whether it says that its holder is a member of the group that signed it.
    pub fn is_member(&self) -> bool {
        self.is_member
    }

    /// When it ends.
    pub fn not_after(&self) -> UnixTime {
        self.not_after
    }
}

/// `ID-93`: directly, by the algorithm of this key. Nothing stands in between, so no certificate
/// that this key has signed can sign another.
fn is_signed_by(certificate: &Certificate, key: &GroupKey) -> bool {
    let tbs = certificate.tbs_certificate();
    let kind = key_kind(tbs.signature());
    let same = certificate.signature_algorithm() == tbs.signature() && kind == Some(key.kind());
    let signed = tbs.to_der().ok().zip(certificate.signature().as_bytes());
    same && signed.is_some_and(|(message, signature)| key.verify_raw(&message, signature).is_ok())
}

fn extensions(tbs: &TbsCertificate) -> impl Iterator<Item = &Extension> {
    tbs.extensions().into_iter().flatten()
}

/// `ID-94`: of somebody who signs in its own name and issues nothing; and nothing in it that has to
/// be understood is passed over.
fn check_purpose(tbs: &TbsCertificate) -> Result<(), EndorsementError> {
    let refuse = |why| Err(EndorsementError::PeerPurpose(why));
    if tbs.version() != Version::V3 {
        return refuse("it is not of version 3");
    }
    let known = [rfc5280::ID_CE_BASIC_CONSTRAINTS, rfc5280::ID_CE_KEY_USAGE];
    if extensions(tbs).any(|one| one.critical && !known.contains(&one.extn_id)) {
        return refuse("it has a critical extension that is not known here");
    }
    let constraints = tbs.get_extension::<BasicConstraints>().map_err(|_| EndorsementError::WireMalformed)?;
    if constraints.is_some_and(|(_, said)| said.ca) {
        return refuse("it is the certificate of an authority");
    }
    let usage = tbs.get_extension::<KeyUsage>().map_err(|_| EndorsementError::WireMalformed)?;
    if usage.is_some_and(|(_, said)| !said.digital_signature() || said.key_cert_sign()) {
        return refuse("its key may not sign messages, or may sign certificates");
    }
    Ok(())
}

/// `ID-96`: the one form of a membership certificate, issued by this key, and of the group that the
/// charter calls so.
fn check_membership(der: &[u8], by: &str, key: &GroupKey) -> Result<(), EndorsementError> {
    let gmc = Gmc::from_der(der).map_err(|_| EndorsementError::PeerMembership)?;
    let is_its = gmc.check_issued(key).is_ok() && !gmc.is_founder();
    if !is_its || common_name(gmc.body().membership.group_name.as_str()) != by {
        return Err(EndorsementError::PeerMembership);
    }
    Ok(())
}

/// The one common name.
fn name(tbs: &TbsCertificate) -> Result<String, EndorsementError> {
    let count = tbs.subject().iter().filter(|one| one.oid == rfc4519::CN).count();
    let name = tbs.subject().common_name().ok().flatten();
    match name {
        Some(name) if count == 1 => Ok(name.value().into_owned()),
        _ => Err(EndorsementError::PeerName),
    }
}

/// The name and key of an authority, by its own certificate: for whoever writes a charter.
///
/// # Errors
/// Why it is none.
pub fn authority_of(der: &[u8]) -> Result<(String, GroupKey), &'static str> {
    const NONE: &str = "it is not an authority's certificate in X.509v3: it must say CA:TRUE, and its key may sign certificates";
    let certificate = Certificate::from_der(der).map_err(|_| NONE)?;
    let tbs = certificate.tbs_certificate();
    let constraints = tbs.get_extension::<BasicConstraints>().ok().flatten();
    let usage = tbs.get_extension::<KeyUsage>().map_err(|_| NONE)?;
    let signs = usage.is_none_or(|(_, said)| said.key_cert_sign());
    if !signs || !constraints.is_some_and(|(_, said)| said.ca) {
        return Err(NONE);
    }
    let spki = tbs.subject_public_key_info().to_der().map_err(|_| NONE)?;
    let key = GroupKey::from_spki_der(&spki)
        .map_err(|_| "its key must be of P-256, Ed25519, or RSA with 2048 or 3072 bits")?;
    Ok((name(tbs).map_err(|_| "its subject must have one common name")?, key))
}
