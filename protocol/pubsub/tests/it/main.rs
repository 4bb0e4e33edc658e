//! The integration tests of folkmoot-pubsub, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod address;
mod assembly;
mod discovery;
mod helper;
mod log;
mod secured;
mod sequences;
mod wire;
