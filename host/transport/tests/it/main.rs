//! The integration tests of folkmoot-transport, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod contract;
mod families;
mod multicast;
