//! Many signers, one signature.
//!
//! ```text
//! plain    every signer for itself:            SigningKey --sign(label, message)--> Signature --> VerifyingKey::verify
//!
//! schemes  participants, rounds, one result:     Run::start --> Outgoing ==caller: order, seal==> Incoming --> Run::hear --> ... --> Done
//!                                                                                            '--> Fault, its culprits by name
//! ```
//! [`SigningKey`] is a member's key of one of four algorithms ([`plain`], [`plain_ed25519`],
//! [`plain_rsa`] of two sizes). Each promises: a signature made under one label never verifies
//! under another; one message has one signature of a key; a signature has one encoding in each form
//! (for ECDSA: low s, strict DER), so that a digest over it names it.
//!
//! A [`Run`] promises: honest participants that hear the same messages come to the same end. A
//! participant that lies is named if the [`Scheme`] can tell. Nobody's secret is in what is said to
//! all, nor in what a single participant is told. A run knows no network, time or sender's
//! signature.

pub mod asm;
pub mod danger;
mod dealer;
mod error;
pub mod frost;
mod group_key;
mod hedge;
mod key;
pub mod modular;
pub mod plain;
pub mod plain_ed25519;
pub mod plain_rsa;
mod polynomial;
mod proof;
pub mod rsa;
mod rsa_draw;
mod rsa_spki;
mod run;
mod scheme;
pub mod shared;
pub mod sharing;
pub mod shoup;
#[cfg(test)]
mod stuck;
pub mod ts_dsa;
mod verifying;

pub use error::SigningError;
pub use folkmoot_groups::{Edwards, P256, PrimeGroup, Ristretto};
pub use group_key::{GroupKey, KeyKind};
pub use key::{KeyAlgorithm, Signature, SigningKey, VerifyingKey};
pub use proof::Prover;
pub use run::{Fault, FaultKind, Incoming, Next, Outgoing, Run, RunId, SIGNERS_MAX};
pub use scheme::{Mode, Scheme};

use folkmoot_base as base;
