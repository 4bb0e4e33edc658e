//! Who was heard, and who is out. What is known here only grows, so that all nodes come to judge
//! candidates alike.

use super::memory::{REMEMBERED_MAX, Remembered};
use super::message::{KINDS, PROOFS_MAX, Proof};
use super::sets::Entry;
use crate::base::{Digest, Instant, UnixTime};
use std::collections::BTreeMap;

/// One id.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Its newest JOIN; `None` after a restart, until it is heard again.
    pub(crate) join: Option<Entry>,
    /// SHA-256 of its certificate: instances are counted by it.
    pub(crate) holder: Digest,
    /// Of that JOIN, or of the one before the restart.
    pub(crate) joined: u64,
    /// The highest instance of each kind of message.
    pub(crate) heard: [u64; KINDS],
    /// It was awaited in vain, and has not been heard since.
    pub(crate) silent: bool,
    /// It asked to join, and has no key of ours.
    pub(crate) wanting: bool,
    /// When its JOIN came here from itself.
    pub(crate) came: Option<Instant>,
    /// JOINs up to this instance are over.
    pub(crate) left: u64,
    /// It lied in an agreement that listed a JOIN up to this instance.
    pub(crate) shunned: u64,
    pub(crate) until: Option<UnixTime>,
}

/// What became of a JOIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learned {
    New,
    Same,
    /// A later one is known, or this one is over.
    Stale,
    /// Another certificate has the same id (PUB-54).
    Duplicate,
    /// No room.
    Full,
}

/// All ids.
#[derive(Debug, Default)]
pub(crate) struct Known {
    peers: BTreeMap<u16, Peer>,
    /// By the certificate's SHA-256.
    proofs: BTreeMap<Digest, Proof>,
    /// By id: the last leave, to be shown to others.
    leaves: BTreeMap<u16, Proof>,
}

impl Known {
    pub(crate) fn get(&self, uid: u16) -> Option<&Peer> {
        self.peers.get(&uid)
    }

    pub(crate) fn get_mut(&mut self, uid: u16) -> Option<&mut Peer> {
        self.peers.get_mut(&uid)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u16, &Peer)> {
        self.peers.iter().map(|(uid, peer)| (*uid, peer))
    }

    pub(crate) fn len(&self) -> usize {
        self.peers.len()
    }

    pub(crate) fn restore(&mut self, one: &Remembered) {
        let peer = Peer {
            join: None,
            holder: one.holder,
            joined: one.joined,
            heard: [one.heard; KINDS],
            silent: false,
            wanting: false,
            came: None,
            left: one.left,
            shunned: 0,
            until: None,
        };
        self.peers.insert(one.uid, peer);
    }

    pub(crate) fn remember(&self) -> Vec<Remembered> {
        let one = |(uid, peer): (&u16, &Peer)| Remembered {
            uid: *uid,
            holder: peer.holder,
            joined: peer.joined,
            heard: peer.heard.iter().copied().max().unwrap_or_default(),
            left: peer.left,
        };
        self.peers.iter().map(one).collect()
    }

    /// PUB-43: takes a JOIN that was checked.
    pub(crate) fn learn(&mut self, entry: &Entry, until: Option<UnixTime>) -> Learned {
        let room = self.peers.len() < REMEMBERED_MAX;
        if self.is_out(entry) {
            return Learned::Stale;
        }
        let Some(peer) = self.peers.get_mut(&entry.uid) else {
            if !room {
                return Learned::Full;
            }
            let peer = Peer {
                join: Some(entry.clone()),
                holder: entry.holder,
                joined: entry.instance,
                heard: [0; KINDS],
                silent: false,
                wanting: true,
                came: None,
                left: 0,
                shunned: 0,
                until,
            };
            self.peers.insert(entry.uid, peer);
            return Learned::New;
        };
        if peer.holder != entry.holder {
            if !self.proofs.contains_key(&peer.holder) {
                return Learned::Duplicate;
            }
            // Another holder of the same id counts its own instances.
            (peer.holder, peer.join, peer.joined) = (entry.holder, None, 0);
            (peer.heard, peer.left, peer.shunned) = ([0; KINDS], 0, 0);
        }
        let fresh = peer.join.is_none();
        match entry.instance.cmp(&peer.joined) {
            core::cmp::Ordering::Less => return Learned::Stale,
            core::cmp::Ordering::Equal if !fresh => return Learned::Same,
            _ => {}
        }
        peer.join = Some(entry.clone());
        peer.joined = entry.instance;
        peer.silent = false;
        peer.wanting = true;
        peer.came = None;
        peer.until = until;
        Learned::New
    }

    /// Takes a JOIN whatever is known: what PUB-42 and PUB-43 are for.
    pub(crate) fn force(&mut self, entry: &Entry) {
        if let Some(peer) = self.peers.get_mut(&entry.uid) {
            (peer.joined, peer.wanting, peer.silent) = (entry.instance, true, false);
            peer.join = Some(entry.clone());
        }
    }

    /// Whether this JOIN is the newest of its sender.
    pub(crate) fn is_current(&self, entry: &Entry) -> bool {
        let join = self.get(entry.uid).and_then(|peer| peer.join.as_ref());
        join.is_some_and(|join| join.digest == entry.digest)
    }

    pub(crate) fn is_silent(&self, uid: u16) -> bool {
        self.get(uid).is_some_and(|peer| peer.silent)
    }

    /// Whether the sender of this JOIN lied since.
    pub(crate) fn is_shunned(&self, entry: &Entry) -> bool {
        self.get(entry.uid).is_some_and(|peer| entry.instance <= peer.shunned)
    }

    /// PUB-46: excluded, ended or left.
    pub(crate) fn is_out(&self, entry: &Entry) -> bool {
        self.proofs.contains_key(&entry.holder)
            || self.get(entry.uid).is_some_and(|peer| entry.instance <= peer.left)
    }

    /// Keeps a proof that was checked; `false` if it was known, or there is no room.
    pub(crate) fn exclude(&mut self, holder: Digest, proof: Proof) -> bool {
        if self.proofs.contains_key(&holder) || self.proofs.len() >= PROOFS_MAX {
            return false;
        }
        self.proofs.insert(holder, proof);
        true
    }

    /// Keeps a leave that was checked; `false` if it was known, or nobody knows the leaver.
    pub(crate) fn leave(&mut self, uid: u16, instance: u64, proof: Proof) -> bool {
        let Some(peer) = self.peers.get_mut(&uid) else { return false };
        if peer.left >= instance {
            return false;
        }
        peer.left = instance;
        peer.wanting = peer.wanting && peer.joined > instance;
        self.leaves.insert(uid, proof);
        true
    }

    /// Proofs against JOINs.
    pub(crate) fn proof_against(&self, entry: &Entry) -> Option<Proof> {
        let left = || {
            let over = self.get(entry.uid).is_some_and(|peer| entry.instance <= peer.left);
            self.leaves.get(&entry.uid).filter(|_| over)
        };
        self.proofs.get(&entry.holder).or_else(left).cloned()
    }

    pub(crate) fn proofs(&self) -> impl Iterator<Item = &Proof> {
        self.proofs.values()
    }
}
