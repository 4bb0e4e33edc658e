//! What a certificate says, before anybody has judged it.

use super::certificate::Read;
use super::{PermitError, Right};
use core::ops::RangeInclusive;
use folkmoot_base::UnixTime;
use folkmoot_signing::plain::VerifyingKey;

/// What a certificate says of itself: for people, and for nothing else. [`super::Root::permit`]
/// judges it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Whose it is, as a distinguished name (RFC 4514).
    pub subject: String,
    /// Whose key is said to have signed it, likewise.
    pub issuer: String,
    /// The holder's key.
    pub key: VerifyingKey,
    /// From when to when it counts.
    pub term: RangeInclusive<UnixTime>,
    /// Which domains, as which sender; a root has none.
    pub rights: Vec<Right>,
}

impl Claim {
    /// Reads a certificate of a member, or a root's.
    ///
    /// # Errors
    /// [`PermitError`]: it is no certificate, or one of its rights is malformed.
    pub fn from_der(der: &[u8]) -> Result<Self, PermitError> {
        let read = Read::from_der(der)?;
        let rights = match read.rights() {
            Ok(rights) => rights,
            Err(PermitError::PeerRights) if read.is_authority()? => Vec::new(),
            Err(error) => return Err(error),
        };
        let [issuer, subject] = [read.issuer_text, read.subject_text];
        Ok(Self { subject, issuer, key: read.key, term: read.term, rights })
    }
}
