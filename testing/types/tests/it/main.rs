//! The integration tests of the generated types, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod round;
mod rules;
