//! The simulator: the shipped stacks on a virtual network, clock and disk, and one checker for each
//! promise.
//!
//! ```text
//! seed --> Schedule --> Director --steps--> World { net, disks, clock, attacker } --> Record --> checkers
//!                                           | ^
//!                                     Input v | Output
//!                                         Machine (one per life of a player: Embedded { Node, Member })
//! ```
//! A run is a seed: the same seed gives the same record, byte for byte. README.md tells how to use
//! it and what each part promises.

pub mod aim;
pub mod away;
pub mod carriers;
pub mod check;
pub mod disk;
pub mod flood;
pub mod forger;
pub mod hosts;
pub mod keys;
pub mod lcm;
pub mod lie;
pub mod lines;
pub mod machine;
pub mod mutant;
pub mod net;
pub mod ordeal;
pub mod payload;
pub mod peace;
pub mod play;
pub mod record;
pub mod rng;
pub mod run;
pub mod schedule;
pub mod shares;
pub mod signing;
mod speech;
pub mod stack;
pub mod standings;
pub mod takeover;
#[cfg(test)]
mod toy;
pub mod transcript;
pub mod word;
pub mod world;

pub use record::Record;
pub use run::{Outcome, run};
pub use schedule::Schedule;
