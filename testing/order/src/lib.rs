//! A random model of the order protocol, made before its code: data leaves at once, and the token
//! orders what has left. docs/protocol/order.md states the rules.
//!
//! ```text
//!  node B            node A, holds the token        node C
//!    | data 1 (fifo) ------->|---- to all, at once -->|   delivered on arrival
//!    | data 2 (agreed) ----->|                        |   waits for a place
//!    |<------- token --------|   A saw data of B: straight to it
//!    |-- record 1: places 1 to 2 are B's 1 to 2 ----->|   delivered in order
//!    |--------- token: B holds up to 2 -------------->|   safe: the minimum over all
//! ```
//!
//! A run is two to five nodes, a network that loses, parts and cuts single directions, nodes that
//! crash, and programs that send messages of six services. One number, the seed, decides all of it.
//! At the end the network becomes whole, and everything must settle.
//!
//! | file | what |
//! |---|---|
//! | `nouns.rs` `store.rs` | packets, records; what a node holds of a configuration and delivers |
//! | `token.rs` | records, the safe line, whom the token is passed to, when it parks |
//! | `frame.rs` | what nodes say, and the network |
//! | `node.rs` `say.rs` | what a node does with frames, repairs, timers; sending |
//! | `gather.rs` `recovery.rs` | who goes with whom; commit entries; ENDs and lists |
//! | `install.rs` | what survivors deliver of the old configuration, and in which order |
//! | `plan.rs` `world.rs` | what a seed draws, and the scenes that chance hardly draws |
//! | `watch.rs` `check.rs` `order.rs` | the checkers: at each tick, of sets, of order |
//! | `rules.rs` | the rules that a run may be without |
//!
//! The checkers read what programs sent and what was delivered to them. Only `watch.rs` looks at
//! what nodes hold. None of them reads a record or a token.

mod check;
mod dice;
mod frame;
mod gather;
mod history;
mod install;
mod node;
mod nouns;
mod order;
mod plan;
mod recovery;
mod rules;
mod say;
mod store;
#[cfg(test)]
mod tests;
mod token;
mod watch;
mod world;

pub use history::History;
pub use rules::{Rule, Rules};
pub use world::World;
