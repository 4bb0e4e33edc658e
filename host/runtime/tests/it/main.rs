//! The integration tests of folkmoot-runtime, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod engine;
mod one_thread;
mod probes;
mod resumed;
mod store;
