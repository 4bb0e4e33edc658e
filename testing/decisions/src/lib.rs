//! The rules of the line of decisions under random schedules: three to five founders, two sides, up
//! to two liars who have every former key, any order of delivery.
//!
//! The rules that run are those of `folkmoot-transcript`; only signatures are left out, since
//! nobody here can forge one. The checks look at the history of decisions and at nothing that the
//! rules keep for themselves.

mod check;
mod clock;
mod clocks;
mod contents;
mod judging;
mod late;
mod liar;
mod meeting;
mod node;
mod parting;
mod people;
mod rules;
mod sides;
mod skipping;
mod validity;
mod week;
mod wishes;
mod world;

pub use check::{Records, Tally};
pub use clocks::Clocks;
pub use contents::Contents;
pub use node::{Fault, Node, START, Step};
pub use people::{Dice, PEOPLE, People};
pub use rules::Rules;
pub use world::World;
