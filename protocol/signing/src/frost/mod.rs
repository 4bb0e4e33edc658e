//! FROST over Ed25519 (RFC 9591): t of n holders make an ordinary Ed25519 signature, and nobody ever has the key.
//!
//! ```text
//! Dkg -----> Held { sharing, share } --Sign--> 64 bytes, which any Ed25519 verifier takes
//! deal --'     ^                |
//!              '-- Repair ------|   a lost share, or a newcomer's: same key, same share-epoch
//!              '-- Refresh -----'   a leaver's share dies: same key, next share-epoch
//! ```
//! The mathematics is the library's (`frost-ed25519`); what is said, checked and answered for is ours: words have one form, what is
//! private can be disputed, and whoever is proven to have lied is named alike by all. Rounds and rules: docs/protocol/signing.md.

mod dealer;
mod dealt;
mod dkg;
mod entropy;
mod frame;
mod handover;
mod library;
mod refresh;
mod repair;
mod share;
mod sharing;
mod sign;
mod words;

pub use dealer::{deal, split};
pub use dkg::Dkg;
pub use refresh::Refresh;
pub use repair::Repair;
pub use share::{FrostShare, Held, SHARE_BYTES};
pub use sharing::{FrostKey, FrostSharing, KEY_BYTES, SPKI_BYTES};
pub use sign::{SIGNATURE_BYTES, Sign};
