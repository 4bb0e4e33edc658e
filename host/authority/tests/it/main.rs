//! The integration tests of folkmoot-authority, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod codec;
mod members;
mod rules;
mod schedules;
mod stories;
mod take_log;
mod world;
