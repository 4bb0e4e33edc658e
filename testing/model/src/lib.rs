//! The keying machine and the flush layer as built, for three members, explored exhaustively.
//! Membership changes at every point, and each member reads the one order at its own speed. Beside
//! the order, a message that is delivered early may be on its way (`early.rs`): flush has no code
//! for that yet, and the model says what it needs.
//!
//! ```text
//! World ── Player A ── Member { Flush, Keying } ── what it has still to read of the order
//!   │  ├── Player B ── …                                    ^
//!   │  └── Player C ── …          every message that somebody sends, every notice, signal and roster entry
//!   └── act(Read | Answer | Announce | Send | Arrive | a change) ──> the next state, what the member did, and what is wrong with it
//! explore: breadth first, every state once; the first fault has the shortest trace
//! ```
//! docs/protocol/keying.md, "The model", has what is covered, what is left out, and the numbers.
//! `tests/it/conformance.rs` drives the real flush and keying in lockstep with this model. The
//! model is pure: no clock, no randomness, no input except the rules and the scope.

mod change;
mod check;
mod early;
mod fingerprint;
mod flush;
mod keying;
mod marks;
mod member;
mod names;
mod orders;
mod reflections;
mod rules;
mod run;
mod search;
mod survey;
pub mod words;
mod world;

pub use check::Fault;
pub use early::Early;
pub use flush::{Below, Flush, FlushOk};
pub use keying::{Keying, Said, Standing, View};
pub use marks::NAMES;
pub use member::{Effect, Member, Ordered};
pub use names::{MEMBERS, Set, Trio, ViewNumber, Who, everybody};
pub use orders::Orders;
pub use rules::{Rules, Scope};
pub use run::{Kind, LastRun, Order, Origin, Stage};
pub use search::{Found, Report, explore, seek};
pub use survey::survey;
pub use world::{Action, Next, Player, Presence, World};

/// All beginnings: each set of members that has just met.
pub fn beginnings(scope: &Scope) -> Vec<World> {
    let sets = (1_u8..1 << MEMBERS).map(|bits| everybody().filter(|who| bits & (1 << who) != 0).collect());
    let begin = |present| World::new(present, scope.changes).with_messages(scope.messages);
    sets.map(|present| begin(present).with_reflections(scope.reflections)).collect()
}
