//! What happened, as the checkers read it.

use crate::nouns::{Delivery, Per, Service, Set};

/// A message that a program sent.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// Who sent it.
    pub source: usize,
    /// In which configuration.
    pub config: usize,
    /// What it is promised.
    pub service: Service,
    /// What the same source sent before it in the configuration, unreliable ones left out.
    pub earlier: Set,
    /// Causal and stronger messages that its sender had delivered in the configuration before.
    pub seen: Set,
}

/// What a node told its program.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// A regular configuration.
    Install {
        /// Which one.
        config: usize,
        /// Its members.
        members: Set,
        /// Who came along from the last one, this node included.
        with: Set,
    },
    /// The transitional signal.
    Signal,
    /// A message.
    Deliver(Delivery),
}

/// A whole run.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Every message, by its number.
    pub messages: Vec<Message>,
    /// What each node told its program, in order.
    pub logs: Per<Vec<Event>>,
    /// Who crashed.
    pub crashed: Set,
    /// Passes of the token in each configuration: (configuration, hop, to whom).
    pub passes: Vec<(usize, usize, usize)>,
    /// What occurred, and how often.
    pub seen: std::collections::BTreeMap<&'static str, u64>,
    /// Somebody has all ENDs of an attempt, and nobody has installed it: news since last asked.
    pub ready: bool,
}

impl History {
    /// Counts something that a run should have in it.
    pub fn count(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    /// What a message is promised.
    pub fn service(&self, uid: usize) -> Service {
        self.messages.get(uid).map_or(Service::Unreliable, |message| message.service)
    }
}
