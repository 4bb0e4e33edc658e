//! FROST over Ed25519 (RFC 9591): t of n holders make an ordinary Ed25519 signature, and nobody
//! ever has the key.
//!
//! ```text
//! crate::sharing over edwards25519 --> FrostSharing, FrostShare --Sign--> 64 bytes, which any Ed25519 verifier takes
//! ```
//! [`crate::sharing`] makes and renews the shares; here they have the form in which members keep
//! them. The library (`frost-ed25519`) does the mathematics of signing. We define what is said and
//! checked: a message has one form, and all honest signers name the same liars. Rounds and rules:
//! docs/protocol/signing.md.

mod entropy;
mod library;
mod share;
mod sharing;
mod sign;

pub use share::{FrostShare, deal};
pub use sharing::FrostSharing;
pub(crate) use sharing::edwards_key;
pub use sign::{SIGNATURE_BYTES, Sign};
