//! The integration tests of folkmoot-transcript, one program: every rule of docs/protocol/line.md,
//! and every liar that the rules are made for.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    missing_docs,
    unreachable_pub
)]

mod admissions;
mod approvals;
mod ballots;
mod decisions;
mod effects;
mod encoding;
mod forks;
mod group;
mod liars;
mod outcomes;
mod proposals;
mod rejoin;
mod set;
mod sharing;
mod size;
mod skipping;
mod takeovers;
mod voter;
mod wire;
