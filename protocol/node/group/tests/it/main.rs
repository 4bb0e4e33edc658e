//! The integration tests of folkmoot-group, one program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod bus;
mod charters;
mod codec;
mod contract;
mod declarations;
mod left;
mod limits;
mod parties;
mod words;
