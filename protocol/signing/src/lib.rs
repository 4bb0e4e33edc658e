//! Many hands, one signature. So far one scheme: [`plain`], where every hand signs for itself.
//!
//! ```text
//! SigningKey --sign(label, message)--> Signature --64 bytes or DER--> VerifyingKey::verify(label, message)
//!     |                                                                    ^
//!     '---------------- verifying_key() --- SPKI, 91 bytes ----------------'
//!                                             '-- SHA-256 --> MemberId, NodeId
//! ```
//! Promise: a signature made under one label never verifies under another; one message has one signature of a key
//! (RFC 6979); a signature has one encoding in each form (low s, strict DER), so that a digest over it names it.

mod error;
pub mod plain;

pub use error::SigningError;
pub use plain::{Signature, SigningKey, VerifyingKey};
