//! One function for each decoder of bytes from outside: whatever the bytes, no panic; what decodes encodes to the same
//! bytes, for every value has one encoding; what is refused leaves the machine as it was.
//!
//! ```text
//! libfuzzer/fuzz_targets/NAME.rs --+                     plain values: values, papers, frames
//! tests/replay.rs (corpus/NAME/) --+--> TARGETS NAME --> machines:     links, orders, keys, doors, stacks
//! ```
//! Bytes for a machine are a sequence of steps (`script`): frames of a peer, time, own wishes. Time and entropy are the
//! same in every run, so an input that fails fails again. `cargo run -p folkmoot-fuzz --bin seeds` writes the corpus anew.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "this package is a test: a broken promise is to be a panic"
)]

mod papers;
mod script;
mod values;
mod world;

pub use papers::{
    certificate_der, charter_change, charter_toml, entry, identity_pem, membership_der, request,
    signed_charter, transcript, vote,
};
pub use values::{agreement_token, base_codec, base_text, signing_forms};

/// A decoder fed with bytes; panics if a promise is broken.
pub type Target = fn(&[u8]);
