//! MLS as a module: runs of whole groups, the rules, what it costs, and that a run is a seed.
#![cfg(feature = "mls")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod counts;
mod driver;
mod forge;
mod repeat;
mod rules;
mod runs;
