//! The integration tests of folkmoot-lcm, one program. They use IP multicast on this host.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod alone;
mod bursts;
mod heard;
mod membership;
mod sealed;
mod talk;
mod typed;
