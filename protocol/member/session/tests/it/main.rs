//! The integration tests of folkmoot-session, one program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod attempt;
mod codec;
mod common;
mod contract;
mod parties;
mod signed;
