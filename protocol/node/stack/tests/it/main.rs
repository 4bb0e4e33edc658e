//! The integration tests of folkmoot-node, one program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod authority;
mod carriers;
mod contacts;
mod credit;
mod early;
mod forms;
mod idle;
mod multicast;
mod net;
mod paths;
mod rings;
mod sides;
mod struck;
mod times;
mod transcripts;
mod twins;
