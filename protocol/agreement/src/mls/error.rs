//! Why an encapsulation failed.

use super::source::Dry;
use mls_rs::error::{AnyError, IntoAnyError};

/// Why a key or a sealed secret cannot be used.
#[derive(Debug)]
pub(super) enum KemError {
    /// The call was given no entropy.
    Dry,
    /// Wrong length, or a key to which nothing can be sealed.
    Key,
    /// The library's reason.
    Library(#[allow(dead_code, reason = "read by Debug")] AnyError),
}

impl IntoAnyError for KemError {}

impl From<Dry> for KemError {
    fn from(_: Dry) -> Self {
        Self::Dry
    }
}
