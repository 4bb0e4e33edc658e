//! The integration tests of folkmoot, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod attached;
mod busy;
mod families;
mod founders;
mod hybrid_links;
mod lacking;
mod longest;
mod multicast;
mod orders;
mod outcome;
mod paths;
mod quorum;
mod sealed;
mod two_groups;
