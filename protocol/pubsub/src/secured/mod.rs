//! The secured form: k_g hides the channel's name, k_ch seals what is said on it.
//!
//! ```text
//!   certificate --Root--> Permit: which domains, as which sender        agreement --secret--> DomainKey
//!                                                                                                |
//!   payload --> Sealer: number, signature, seal, hide the name --> Packets ==> group        install, both
//!   datagram --> Opener: header, epoch, name, fragments, window, open, signature --> Opened <----'
//! ```
//! The promise: whoever lacks k_g reads no name, whoever lacks k_ch reads no content and makes none
//! that is believed. What was heard once is not heard again, and whoever was excluded is neither
//! heard nor able to listen once the key is new. No key seals two messages under one nonce. The
//! rules are numbered in docs/pubsub.md (PUB-17 and the following).
//!
//! Keys come from outside: this knows no agreement, no network and no clock.

mod batch;
mod certificate;
mod cipher;
mod claim;
mod confirmation;
mod counters;
mod danger;
mod domain;
mod epochs;
mod error;
mod escape;
mod grants;
mod header;
mod issuer;
mod key;
mod keys;
mod opener;
mod opening;
mod papers;
mod permit;
mod sealer;
mod signature;
mod times;
mod window;

pub use batch::{Attested, BATCH_MAX, Batch};
pub use cipher::{MATERIAL_BYTES_MAX, Material, Suite};
pub use claim::Claim;
pub use confirmation::{Confirmation, Confirming, Question};
pub use counters::Refused;
pub use danger::Danger;
pub use domain::{Domain, DomainError, Right, SenderId};
pub use epochs::Cause;
pub use error::{InstallError, OpenError, SealError};
pub use grants::Grants;
pub use header::{Header, Part};
pub use issuer::{IssueError, Issuer};
pub use key::{DomainKey, Member, Signing};
pub use opener::{Opened, Opener};
pub use papers::{Certificates, CertificatesError, Credentials, exclude};
pub use permit::{CERTIFICATE_BYTES_MAX, Permit, PermitError, RIGHTS_MAX, Root, duplicates};
pub use sealer::Sealer;
pub use signature::{Attribution, SIGNATURE_BYTES};
pub use times::{NUMBERS_MAX, Times};
pub use window::WINDOW;

/// How the secured form is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Folkmoot's own: nonces are big-endian, the header says which key it is, and a number that
    /// came once is refused.
    Own,
    /// As the reference implementation of LCMsec on x86: nonces are little-endian, the header does
    /// not say which key it is, and repeats are delivered.
    Compatible,
}
