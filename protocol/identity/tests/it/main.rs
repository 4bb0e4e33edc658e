//! The integration tests of folkmoot-identity, one program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    missing_docs,
    unreachable_pub
)]

mod altered;
mod central;
mod common;
mod contacts;
mod contract;
mod csr;
mod dealt_key;
mod endorsements;
mod group_key;
mod kept_keys;
mod limits;
mod message;
mod mixed;
mod multi;
mod names;
mod openssl;
mod policies;
mod sets;
mod suites;
mod sybil;
mod toml;
mod vectors;
