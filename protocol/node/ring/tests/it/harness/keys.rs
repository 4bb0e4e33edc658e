//! What the nodes do with the ring's keys: who has which, what was sealed under which number, and
//! what was contributed to which attempt.

use super::{index, node};
use bytes::Bytes;
use folkmoot_base::codec::Serialize as _;
use folkmoot_base::{ConfigurationId, NodeId};
use folkmoot_ring::data::{Data, RingHandle};
use folkmoot_ring::message::{CommitToken, Frame};
use folkmoot_ring::{KeyChange, RingKeys};
use std::collections::{BTreeMap, BTreeSet};

/// A key under which something was sealed.
pub type Name = [u8; 32];

/// The keys of one process.
#[derive(Debug, Default)]
struct Held {
    installed: Option<RingKeys>,
    attempt: Option<RingKeys>,
}

/// Of all nodes.
#[derive(Debug, Default)]
pub struct Keys {
    held: BTreeMap<usize, Held>,
    /// Key, class and number of everything that was sealed.
    sealed: BTreeSet<(Name, u8, u64)>,
    contributed: BTreeMap<Vec<u8>, ConfigurationId>,
    /// The keys of each configuration.
    made: BTreeMap<Name, RingHandle>,
    /// What must not be.
    pub breaches: Vec<String>,
    /// Packets sealed, and opened.
    pub counts: (u64, u64),
    /// Packets that came to somebody who had no keys of that ring.
    pub lost: u64,
}

impl Keys {
    /// A process has ended, and its keys with it.
    pub fn forget(&mut self, who: usize) {
        self.held.remove(&who);
    }

    pub fn change(&mut self, who: usize, change: KeyChange) {
        let held = self.held.entry(who).or_default();
        match change {
            KeyChange::Attempt(keys) => {
                for (_, key) in &keys.senders {
                    if self.made.insert(*key.expose(), keys.ring).is_some_and(|ring| ring != keys.ring) {
                        self.breaches.push(format!("RING-24: n{who}: two attempts share a key"));
                    }
                }
                held.attempt = Some(keys);
            }
            KeyChange::Installed => held.installed = held.attempt.take(),
            KeyChange::Failed => held.attempt = None,
        }
    }

    /// Seals a packet under the key of `who` in the configuration that it has installed.
    pub fn seal(&mut self, who: usize, frame: &Bytes) -> Option<Name> {
        let Ok(Frame::Data(Data { class, sender, number, ring, .. }, _)) = Frame::decode(frame.clone())
        else {
            panic!("n{who} seals what is no packet");
        };
        assert!(folkmoot_ring::data::is_numbered(frame), "n{who} seals {class:?}");
        let installed = self.held.get(&who).and_then(|held| held.installed.as_ref());
        let keys = installed.filter(|keys| keys.ring == ring);
        let Some((of, key)) = keys.and_then(|keys| keys.senders.get(usize::from(sender))) else {
            self.breaches.push(format!("RING-25: n{who} seals for a ring that does not stand"));
            return None;
        };
        let name = *key.expose();
        if *of != node(who) {
            self.breaches.push(format!("RING-25: n{who} seals a packet of n{}", index(of)));
        }
        if !self.sealed.insert((name, class as u8, number)) {
            self.breaches.push(format!("RING-25: n{who} seals packet {number} again"));
        }
        self.counts.0 += 1;
        Some(name)
    }

    /// Who sealed it, if `who` has the key.
    pub fn open(&mut self, who: usize, key: Name, frame: &Bytes) -> Option<NodeId> {
        let Ok(Frame::Data(Data { sender, ring, .. }, _)) = Frame::decode(frame.clone()) else { return None };
        let held = self.held.get(&who)?;
        let mut keys = [&held.installed, &held.attempt].into_iter().flatten();
        let Some(keys) = keys.find(|keys| keys.ring == ring) else {
            self.lost += 1;
            return None;
        };
        let (from, mine) = keys.senders.get(usize::from(sender))?;
        assert_eq!(*mine.expose(), key, "n{who} has another key of n{}", index(from));
        self.counts.1 += 1;
        Some(*from)
    }

    /// `who` passes a commit token on.
    pub fn contributes(&mut self, who: usize, token: &CommitToken) {
        let Some(contribution) = token.contribution(&node(who)) else { return };
        let bytes = contribution.tls_serialize_detached().unwrap();
        if *self.contributed.entry(bytes).or_insert(token.id) != token.id {
            self.breaches.push(format!("RING-24: n{who} contributes the same to two attempts"));
        }
    }
}
