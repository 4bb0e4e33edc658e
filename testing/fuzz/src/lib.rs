//! One function for each decoder of bytes from outside. Whatever the bytes are, nothing panics.
//! What decodes encodes to the same bytes, because every value has one encoding. What is refused
//! leaves the machine as it was.
//!
//! ```text
//! libfuzzer/fuzz_targets/NAME.rs  --+                     plain values: values, papers, frames, attach, pubsub, typed
//! tests/it/replay.rs (corpus/NAME/) +--> TARGETS NAME --> machines:     links, orders, keys, runs, admission, stacks, members; signing: asm, frost, sharing, shares, dealers
//! ```
//! Bytes for a machine are a sequence of steps (`script`): frames of a peer, time, its own wishes.
//! Time and entropy are the same in every run, so an input that fails fails again. `cargo run -p
//! folkmoot-fuzz --bin seeds` writes the corpus anew.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "this package is a test: a broken promise is to be a panic"
)]

mod admission;
mod asm;
mod attach;
mod dealers;
mod discovery;
mod frames;
mod keys;
mod letters;
mod lines;
mod links;
mod members;
mod offices;
mod orders;
mod papers;
mod pubsub;
mod replicas;
mod runs;
mod script;
mod secured;
mod seeds;
mod shares;
mod sharing;
mod stacks;
mod stored;
mod typed;
mod values;
mod world;

pub use seeds::{Seeds, seeds};
pub use stacks::Player;

/// A decoder fed with bytes; panics if a promise is broken.
pub type Target = fn(&[u8]);

macro_rules! targets {
    ($($file:ident: $($name:ident),+;)+) => {
        $(pub use $file::{$($name),+};)+

        /// Every target by its name.
        pub const TARGETS: &[(&str, Target)] = &[$($((stringify!($name), $name as Target)),+),+];
    };
}

targets! {
    values: base_codec, base_text, signing_forms, signing_kinds, agreement_token;
    asm: asm_forms, asm_words;
    papers: certificate_der, identity_pem, sealed_key, membership_der, revocation_der, charter_toml, charter_change, signed_charter, vote, request, csr, signed_message;
    lines: line_item, line_state, line_ballot, line_file, ticket;
    frames: link_message, ring_frame, group_message, flush_frame, keying_envelope, admission_message, node_sync;
    links: link_stranger, link_wire, link_liar;
    orders: ring_gathering, ring_operational, group_ordered;
    keys: flush_machine, keying_machine, session_machine;
    runs: agreement_run;
    sharing: sharing_forms, sharing_run, frost_forms;
    admission: admission_desk, admission_applicant;
    offices: authority_message, authority_office, authority_desk;
    letters: letters_word, letters_desk, letters_writer;
    attach: attach_frames;
    discovery: lcm_keys_message, lcm_keys_machine;
    typed: lcm_types, lcm_typed;
    pubsub: lcm_datagram, lcm_receiver, lcm_log, lcm_address;
    secured: lcm_header, lcm_opener, lcm_right, lcm_permit, lcm_confirming;
    stacks: node_peer, embedded_stranger, embedded_pair;
    members: member_words;
    stored: stored_state;
    shares: shoup_forms, shoup_run, ts_rsa_run;
    dealers: dealer_secret, dealer_share;
    replicas: replica_message, replica_machine;
}
