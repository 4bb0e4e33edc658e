//! What this member says as a voter, and what it and the others propose and decide.

mod ballots;
mod decide;
mod proposals;
mod words;

pub(crate) use ballots::Deciding;
pub(crate) use proposals::{Proposal, Proposals, approvers, is_rejected};
pub(crate) use words::Words;
