//! A random model of the order protocol that is to come.

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
mod store;
#[cfg(test)]
mod tests;
mod token;
mod watch;
mod world;

pub use history::{Event, History, Message};
pub use nouns::{Place, Service, Set};
pub use plan::{Act, Plan};
pub use rules::{Rule, Rules};
pub use world::World;
