//! The founders of a group: those who sign its charter.

use crate::IdentityCertificate;
use folkmoot_signing::VerifyingKey;

/// Most founders.
pub const FOUNDERS_MAX: usize = 32;

/// One of those who sign the charter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Founder {
    /// By which name.
    pub name: String,
    /// With which key.
    pub key: VerifyingKey,
}

impl From<&IdentityCertificate> for Founder {
    fn from(certificate: &IdentityCertificate) -> Self {
        Self { name: certificate.name().to_owned(), key: certificate.key().clone() }
    }
}
