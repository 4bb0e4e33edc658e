//! The integration tests of folkmoot-member, one program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod authority;
mod charter;
mod comeback;
mod common;
mod minority;
mod names;
mod parties;
mod renewal;
mod roster;
mod rotation;
mod shares;
mod stalled;
mod together;
mod words;
