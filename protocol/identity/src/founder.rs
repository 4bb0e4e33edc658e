//! The founders of a group: those who sign its charter.

use crate::IdentityCertificate;
use folkmoot_signing::VerifyingKey;

/// Most founders.
pub const FOUNDERS_MAX: usize = 32;

/// One founder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Founder {
    /// The founder's name.
    pub name: String,
    /// The founder's key.
    pub key: VerifyingKey,
}

impl From<&IdentityCertificate> for Founder {
    fn from(certificate: &IdentityCertificate) -> Self {
        Self { name: certificate.name().to_owned(), key: certificate.key().clone() }
    }
}
