//! Who was heard, and who is out. What is known here only grows, so that all nodes come to judge
//! candidates alike.

use super::api::{Exclusion, Renewal, is_long_over};
use super::memory::{Against, REMEMBERED_MAX, Remembered};
use super::message::{KINDS, Named, PROOFS_MAX, Proof};
use super::sets::Entry;
use crate::base::{Blob, Digest, Instant, UnixTime};
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};

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
    pub(crate) renewal: Option<Renewal>,
}

impl Peer {
    /// The highest instance of all its messages.
    pub(crate) fn latest(&self) -> u64 {
        self.heard.iter().copied().fold(self.joined, u64::max)
    }
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

/// What became of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    New,
    Known,
    /// No room.
    Full,
}

/// All ids.
#[derive(Debug, Default)]
pub(crate) struct Known {
    peers: BTreeMap<u16, Peer>,
    /// By the certificate's SHA-256.
    proofs: BTreeMap<Digest, Against>,
    /// By id: the last leave, to be shown to others.
    leaves: BTreeMap<u16, Proof>,
    /// Any certificate takes the place of another: what PUB-80 is for.
    pub(crate) renews: bool,
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
            until: one.until.map(UnixTime),
            renewal: one.renewal,
        };
        self.peers.insert(one.uid, peer);
    }

    pub(crate) fn restore_proof(&mut self, one: Against) {
        self.proofs.insert(one.holder, one);
    }

    pub(crate) fn remember(&self) -> Vec<Remembered> {
        let one = |(uid, peer): (&u16, &Peer)| Remembered {
            uid: *uid,
            holder: peer.holder,
            joined: peer.joined,
            heard: peer.latest(),
            left: peer.left,
            until: peer.until.map(|until| until.0),
            renewal: peer.renewal,
        };
        self.peers.iter().map(one).collect()
    }

    /// This node's own JOIN. Its disk may know its id by a former certificate.
    pub(crate) fn learn_own(&mut self, entry: &Entry) {
        if self.get(entry.uid).is_some_and(|peer| peer.holder != entry.holder) {
            self.peers.remove(&entry.uid);
        }
        self.learn(entry, None);
    }

    /// Why a JOIN does not count whose certificate is another one than its id has here (PUB-54,
    /// PUB-80).
    pub(crate) fn against(&self, entry: &Entry, wall: Option<UnixTime>) -> Option<Learned> {
        let peer = self.get(entry.uid).filter(|peer| peer.holder != entry.holder && !self.renews)?;
        let both = peer.renewal.zip(entry.renewal).filter(|(old, new)| old.key == new.key);
        // Also if the later one is out: whoever has the key does not go back to the earlier one.
        if both.is_some_and(|(old, new)| new.begins < old.begins) {
            return Some(Learned::Stale);
        }
        let ended = peer.until.zip(wall).is_some_and(|(until, wall)| until <= wall);
        if ended || self.proofs.contains_key(&peer.holder) {
            return None;
        }
        match both {
            Some((old, new)) if new.begins > old.begins => None,
            Some(_) => Some(Learned::Stale),
            None => Some(Learned::Duplicate),
        }
    }

    /// Whether this certificate is out.
    pub(crate) fn excludes(&self, holder: &Digest) -> bool {
        self.proofs.contains_key(holder)
    }

    /// PUB-43: takes a JOIN that was checked. `wall` is the time of day, if it is known.
    pub(crate) fn learn(&mut self, entry: &Entry, wall: Option<UnixTime>) -> Learned {
        let until = entry.until;
        let room = self.peers.len() < REMEMBERED_MAX;
        if self.is_out(entry) {
            return Learned::Stale;
        }
        let against = self.against(entry, wall);
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
                renewal: entry.renewal,
            };
            self.peers.insert(entry.uid, peer);
            return Learned::New;
        };
        if peer.holder != entry.holder {
            if let Some(refused) = against {
                return refused;
            }
            peer.renewal = entry.renewal;
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
        self.is_out_for_good(entry) || self.get(entry.uid).is_some_and(|peer| entry.instance <= peer.left)
    }

    /// Whether it is out for good: excluded or ended.
    pub(crate) fn is_out_for_good(&self, entry: &Entry) -> bool {
        self.proofs.contains_key(&entry.holder)
    }

    /// PUB-53: keeps a proof that was checked. It may say whose number that was.
    pub(crate) fn exclude(&mut self, out: Exclusion, uid: Option<u16>, proof: Proof) -> Kept {
        let holder = out.holder;
        let new = !self.proofs.contains_key(&holder);
        if new && self.proofs.len() >= PROOFS_MAX {
            return Kept::Full;
        }
        let peer = self.peers.iter().find(|(_, peer)| peer.holder == holder);
        let uid = uid.or(peer.map(|(uid, _)| *uid));
        let until = out.until.or(peer.and_then(|(_, peer)| peer.until)).map(|until| until.0);
        let join = peer.and_then(|(_, peer)| peer.join.as_ref()).filter(|join| join.holder == holder);
        let proof = with_certificate(proof, join.map(|join| &join.certificate));
        let against =
            self.proofs.entry(holder).or_insert(Against { holder, uid, until, proof: proof.clone() });
        if against.uid.is_none() {
            (against.uid, against.until, against.proof) = (uid, until, proof);
        }
        if new { Kept::New } else { Kept::Known }
    }

    /// Somebody who is out was heard: what its certificate says belongs to the proof.
    pub(crate) fn note(&mut self, entry: &Entry) {
        if let Some(against) = self.proofs.get_mut(&entry.holder).filter(|against| against.uid.is_none()) {
            against.uid = Some(entry.uid);
            against.until = entry.until.map(|until| until.0);
            against.proof = with_certificate(against.proof.clone(), Some(&entry.certificate));
        }
    }

    /// The proof against a certificate.
    pub(crate) fn proof_of(&self, holder: &Digest) -> Option<Proof> {
        self.proofs.get(holder).map(|against| against.proof.clone())
    }

    /// PUB-71: forgets those whose certificates ended long ago. Nobody takes these any more.
    pub(crate) fn forget(&mut self, wall: UnixTime) {
        let lasts = |until: Option<u64>| until.is_none_or(|until| !is_long_over(UnixTime(until), wall));
        self.proofs.retain(|_, against| lasts(against.until));
        self.peers.retain(|_, peer| lasts(peer.until.map(|until| until.0)));
        self.leaves.retain(|uid, _| self.peers.contains_key(uid));
    }

    /// Whose certificate this is, or was.
    pub(crate) fn uid_of(&self, holder: &Digest) -> Option<u16> {
        self.peers.iter().find(|(_, peer)| peer.holder == *holder).map(|(uid, _)| *uid)
    }

    /// Keeps a leave that was checked; `false` if it was known, or nobody knows the leaver.
    pub(crate) fn leave(&mut self, uid: u16, holder: &Digest, instance: u64, proof: Proof) -> bool {
        let Some(peer) = self.peers.get_mut(&uid).filter(|peer| peer.holder == *holder) else { return false };
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
        self.proofs.get(&entry.holder).map(|against| &against.proof).or_else(left).cloned()
    }

    /// All proofs, first those against former certificates of these ids: whoever knows only those
    /// takes no others.
    pub(crate) fn proofs_for<'a>(&'a self, uids: &'a [u16]) -> impl Iterator<Item = Proof> {
        let of = |against: &&Against| against.uid.is_some_and(|uid| uids.contains(&uid));
        let others = self.proofs.values().filter(move |against| !of(against));
        self.proofs.values().filter(of).chain(others).map(|against| against.proof.clone())
    }

    /// Whose proof this is, if it is kept.
    pub(crate) fn holder_of(&self, proof: &Proof) -> Option<Digest> {
        self.proofs().find(|against| against.proof == *proof).map(|against| against.holder)
    }

    /// The proofs against these certificates.
    pub(crate) fn proofs_of(&self, holders: &BTreeSet<Digest>) -> impl Iterator<Item = Proof> {
        self.proofs().filter(|against| holders.contains(&against.holder)).map(|against| against.proof.clone())
    }

    pub(crate) fn proofs(&self) -> impl Iterator<Item = &Against> {
        self.proofs.values()
    }

    /// The statements that exclude somebody: whom, and what whoever may say so said.
    pub(crate) fn exclusions(&self) -> impl Iterator<Item = (Exclusion, &Bytes)> {
        self.proofs.iter().filter_map(|(holder, against)| match &against.proof {
            Proof::Excluded(statement) | Proof::Named(Named { statement, .. }) => {
                Some((Exclusion { holder: *holder, until: against.until.map(UnixTime) }, &statement.0))
            }
            Proof::Expired(_) | Proof::Left(_) | Proof::Heard(_) => None,
        })
    }

    /// Proofs and leaves.
    pub(crate) fn words(&self) -> usize {
        self.proofs.len().saturating_add(self.leaves.len())
    }
}

fn with_certificate(proof: Proof, certificate: Option<&Bytes>) -> Proof {
    match (proof, certificate) {
        (Proof::Excluded(statement), Some(certificate)) => {
            Proof::Named(Named { statement, certificate: Blob(certificate.clone()) })
        }
        (proof, _) => proof,
    }
}
