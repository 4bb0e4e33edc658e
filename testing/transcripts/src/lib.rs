//! Draws transcripts with real keys, changes them, and says what the project's own reader makes of
//! each, so that another reader can be compared with it.
//!
//! ```text
//! seed --> Group (founders, admissions, decisions) --> file --> mutations --> verdict of each
//! ```
//! Promise: one seed gives the same files and verdicts. Bound: a group has at most 24 steps.

mod by_hand;
mod contacts;
mod dice;
mod forge;
mod founding;
mod group;
mod known;
mod lines;
mod mutate;
mod names;
mod signers;
mod steps;
mod terms;
mod verdict;

pub use dice::Dice;
pub use group::{Drawn, Group};
pub use known::{drawn_heads, known_heads};
pub use mutate::mutated;
pub use verdict::{own, verdict};
