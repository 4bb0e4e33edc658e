//! The integration tests of folkmoot-link, one program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod codec;
mod common;
mod contract;
mod flood;
mod handshake;
mod hybrid;
mod identity;
mod moving;
mod multicast;
mod paths;
mod rest;
mod ringkey;
mod trains;
mod twice;
mod versions;
