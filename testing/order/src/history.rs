//! What happened, as the checkers read it.

use std::fmt::Write as _;

use crate::nouns::{Delivery, Per, Service, Set};

/// A message that a program sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    /// Who sent it.
    pub(crate) source: usize,
    /// In which configuration.
    pub(crate) config: usize,
    /// What it is promised.
    pub(crate) service: Service,
    /// What the same source sent before it in the configuration, unreliable ones left out.
    pub(crate) earlier: Set,
    /// Causal and stronger messages that its sender had delivered in the configuration before.
    pub(crate) seen: Set,
}

/// What a node told its program.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
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
    pub(crate) messages: Vec<Message>,
    /// What each node told its program, in order.
    pub(crate) logs: Per<Vec<Event>>,
    /// Who crashed.
    pub(crate) crashed: Set,
    /// Passes of the token in each configuration: (configuration, hop, to whom).
    pub(crate) passes: Vec<(usize, usize, usize)>,
    /// What occurred, and how often.
    pub seen: std::collections::BTreeMap<&'static str, u64>,
    /// Somebody has all ENDs of an attempt, and nobody has installed it: news since last asked.
    pub(crate) ready: bool,
}

impl History {
    /// Counts something that a run should have in it.
    pub(crate) fn count(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    /// How many messages were sent.
    pub fn sent(&self) -> u64 {
        u64::try_from(self.messages.len()).unwrap_or_default()
    }

    /// What a message is promised.
    pub(crate) fn service(&self, uid: usize) -> Service {
        self.messages.get(uid).map_or(Service::Unreliable, |message| message.service)
    }

    /// What each node told its program: one line for each node, messages as
    /// `uid` `service's letter` `sender`.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        for node in 0..crate::nouns::NODES {
            let _ = write!(text, "\n{node}:");
            for event in &self.logs[node] {
                let _ = match event {
                    Event::Install { config, members, with } => {
                        let list = |set: &Set| set.iter().map(|node| node.to_string()).collect::<String>();
                        write!(text, " | {config} {{{}}} with {{{}}}:", list(members), list(with))
                    }
                    Event::Signal => write!(text, " signal"),
                    Event::Deliver(one) => {
                        let source = self.messages.get(one.uid).map_or(0, |message| message.source);
                        let service = format!("{:?}", self.service(one.uid)).to_lowercase();
                        let letter: String = service.chars().take(1).collect();
                        write!(text, " {}{letter}{source}", one.uid)
                    }
                };
            }
            if self.crashed.has(node) {
                text.push_str(" crashed");
            }
        }
        text
    }
}
