//! Requests for admission: what is open, who brought it, and what its guest is told.

mod answer;
mod close;
mod contact;
mod counters;
mod granted;
mod guests;
mod open;
mod sponsor;
mod vote;

pub(crate) use contact::end_of;
pub use counters::Counters;
pub(crate) use guests::Guests;
pub(crate) use open::{Open, Requests};
