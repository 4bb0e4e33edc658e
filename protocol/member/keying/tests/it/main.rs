//! The integration tests of folkmoot-keying, one program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod charter;
mod codec;
mod common;
mod confirm;
mod contract;
mod forward;
mod kept;
mod known_keys;
mod parties;
mod roster;
mod schedules;
mod shares;
mod tamper;
