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

mod able;
mod admissions;
mod approvals;
mod ballots;
mod dates;
mod decisions;
mod effects;
mod encoding;
mod forks;
mod group;
mod holds;
mod judgements;
mod judging;
mod liars;
mod named;
mod outcomes;
mod past;
mod proposals;
mod rejoin;
mod retime;
mod set;
mod sharing;
mod size;
mod skipping;
mod takeovers;
mod voter;
mod wire;
