//! MLS (RFC 9420): a tree of keys. The committer seals fresh secrets up its path, and everybody
//! else opens one of them.
//!
//! ```text
//!  newcomers ─ 1 KEY_PACKAGE each ─> all        committer ═ 2 COMMIT: commit ‖ Welcome ‖ tree (SAFE) ═> all
//!                                                            │
//!  in the group: follow the commit        newcomers: open the Welcome        the rest of the work is one export each
//! ```
//! The one order is the delivery service: one commit for each run, nothing by reference, no
//! application messages, no joining from outside. The base keeps its tree. One commit removes
//! leavers, adds newcomers and renews the path. Another side drops its tree and comes as newcomers.
//! From nothing, place 0 founds a group of one and adds the others. Relies on: keying signs every
//! step with its sender's place and the run. Does not rely on: a clock, or secrecy of a step. Not
//! contributory: the committer alone draws the secret of the run (DECISIONS K6). Source: Barnes et
//! al., RFC 9420, 2023; by the library mls-rs. Departures: docs/protocol/agreement-mls.md.

mod error;
mod group;
mod hybrid;
mod judge;
mod kem;
mod layout;
mod provider;
mod run;
mod source;
mod steps;
mod wire;

pub use run::Run;
pub use wire::Commit;

use crate::ModuleName;
use mls_rs::CipherSuite;

/// The cryptography of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Suite {
    /// MLS_128_DHKEMX25519_AES128GCM_SHA256_Ed25519.
    Classical,
    /// The same with X-Wing (ML-KEM-768 and X25519) in place of X25519; a number of the range for
    /// private use.
    Hybrid,
}

impl Suite {
    /// The module's name in charters and under signatures.
    pub const fn module(self) -> ModuleName {
        match self {
            Self::Classical => ModuleName::Mls,
            Self::Hybrid => ModuleName::MlsHybrid,
        }
    }

    /// The number in messages.
    fn number(self) -> CipherSuite {
        match self {
            Self::Classical => CipherSuite::CURVE25519_AES128,
            Self::Hybrid => CipherSuite::new(0xf0f1),
        }
    }

    /// The longest KEY_PACKAGE, in bytes.
    pub const fn key_package_bytes_max(self) -> usize {
        match self {
            Self::Classical => 512,
            Self::Hybrid => 3_072,
        }
    }

    /// The longest COMMIT of a run of so many, in bytes: for each an Add, a place in the Welcome, a
    /// leaf and a parent of the tree, a sealed path secret.
    pub const fn commit_bytes_max(self, members: usize) -> usize {
        let each: usize = match self {
            Self::Classical => 1_024,
            Self::Hybrid => 10_240,
        };
        each.saturating_mul(members).saturating_add(4_096)
    }
}
