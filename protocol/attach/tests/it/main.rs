//! The integration tests of folkmoot-attach, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod attached;
mod credit;
mod wire;
