//! Transcripts kept in step. Two nodes exchange heads when their link comes up and at every change,
//! and fetch what they lack, before either treats the other as a peer that may gather (DECISIONS
//! T1). What a node learns here it does not append here. It goes through the ring, so that the
//! transcripts of one configuration change at one place in the order.

use crate::message::{ENTRIES_BATCH_BYTES, HAVE_MAX, HEADS_MAX, Sync};
use crate::{Node, Place};
use base::codec;
use base::{Blob, EntryId, Instant, NodeId};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_identity::transcript::{Entry, EntryError, Transcript};
use folkmoot_link::Channel;
use std::collections::BTreeSet;

/// Landmarks shown with the heads.
const LANDMARKS: usize = 32;

impl Node {
    pub(crate) fn send_heads(&mut self, now: Instant, to: NodeId) {
        let heads = self.transcript.heads().iter().copied().take(HEADS_MAX).collect();
        self.send_sync(now, to, &Sync::Heads(heads));
    }

    /// Our own heads changed: every peer is told.
    pub(crate) fn announce_heads(&mut self, now: Instant) {
        let peers: Vec<NodeId> = self.peers.keys().copied().collect();
        for peer in peers {
            self.send_heads(now, peer);
        }
        self.judge_all(now);
    }

    pub(crate) fn tell_heads(&mut self) {
        let heads = self.transcript.heads().iter().copied().collect();
        self.group.heads(heads, self.transcript.landmarks(LANDMARKS));
    }

    pub(crate) fn transcript_frame(&mut self, now: Instant, from: NodeId, frame: &[u8]) {
        let message: Sync = match codec::decode(frame) {
            Ok(message) => message,
            Err(error) => {
                return self.refuse("node", &format!("{from} sent a malformed message (NODE-01): {error}"));
            }
        };
        if !message.within_bounds() {
            return self.refuse("node", &format!("{from} sent more than a message may have (NODE-02)"));
        }
        match message {
            Sync::Heads(heads) => self.heads_came(now, from, heads),
            Sync::Fetch(have) => self.fetch_came(now, from, &have),
            Sync::Entries(entries) => self.entries_came(now, from, &entries),
            Sync::Locators(places) => self.locators_came(now, from, &places),
            Sync::Seek(nodes) => self.seek_came(now, from, &nodes),
        }
    }

    fn heads_came(&mut self, now: Instant, from: NodeId, heads: Vec<EntryId>) {
        let Some(peer) = self.peers.get_mut(&from) else { return };
        peer.heads = Some(heads);
        self.judge(now, from);
        self.fetch_if_behind(now, from);
    }

    /// Asks for the entries that the peer's heads name and we lack, beyond those that its answers
    /// have shown so far.
    pub(crate) fn fetch_if_behind(&mut self, now: Instant, from: NodeId) {
        let known = self.staged.as_ref().unwrap_or(&self.transcript);
        let Some(peer) = self.peers.get_mut(&from) else { return };
        let unknown = peer.heads.as_ref().map(|heads| known.unknown(heads)).unwrap_or_default();
        if unknown.is_empty() {
            return peer.shown.clear();
        }
        // All of it has come and was not accepted, for now: asking again would bring the same.
        if !unknown.iter().all(|head| peer.shown.contains(head)) {
            self.fetch(now, from);
        }
    }

    /// Something has changed, so an entry that was not accepted before may be now: the guest that
    /// sent it has become a member, say, or its parents are here. It is asked for once more.
    pub(crate) fn fetch_what_was_not_taken(&mut self, now: Instant) {
        let known = self.staged.as_ref().unwrap_or(&self.transcript);
        let not_taken = |peer: &crate::PeerInfo| {
            let unknown = peer.heads.as_ref().map(|heads| known.unknown(heads)).unwrap_or_default();
            !unknown.is_empty() && unknown.iter().all(|head| peer.shown.contains(head))
        };
        let again = self.peers.iter().filter(|(_, peer)| not_taken(peer)).map(|(node, _)| *node);
        for from in again.collect::<Vec<NodeId>>() {
            if let Some(peer) = self.peers.get_mut(&from) {
                peer.shown.clear();
            }
            self.fetch_if_behind(now, from);
        }
    }

    /// Asks a peer for whatever we lack. If we lack nothing, the peer answers with its heads.
    pub(crate) fn fetch(&mut self, now: Instant, from: NodeId) {
        let known = self.staged.as_ref().unwrap_or(&self.transcript);
        let Some(peer) = self.peers.get(&from) else { return };
        let mut have: Vec<EntryId> = known.heads().iter().chain(&peer.shown).copied().collect();
        have.extend(known.landmarks(LANDMARKS));
        have.truncate(HAVE_MAX);
        self.send_sync(now, from, &Sync::Fetch(have));
    }

    fn fetch_came(&mut self, now: Instant, from: NodeId, have: &[EntryId]) {
        let entries = self.transcript.entries_after(have, ENTRIES_BATCH_BYTES);
        if entries.is_empty() {
            self.send_heads(now, from);
        } else {
            let entries = entries.into_iter().map(Blob).collect();
            self.send_sync(now, from, &Sync::Entries(entries));
        }
    }

    /// Verifies each entry, and orders those that are new.
    fn entries_came(&mut self, now: Instant, from: NodeId, entries: &[Blob]) {
        if self.is_guest(&from) && self.is_replay(entries) {
            self.refuse(
                "transcript",
                &format!("{from} sent nothing new, and is no longer a member (NODE-11)"),
            );
        } else if let Err(error) = self.stage_all(entries) {
            return self
                .refuse("transcript", &format!("{from} sent an entry that is refused (NODE-03): {error}"));
        }
        if !entries.is_empty() {
            self.show(from, entries);
            self.fetch_if_behind(now, from);
        }
    }

    /// An entry that ends a term which has not run out waits, and so does every entry that follows
    /// it (`NODE-10`).
    fn stage_all(&mut self, entries: &[Blob]) -> Result<(), EntryError> {
        let mut early = false;
        for entry in entries {
            if self.is_early(&entry.0) {
                self.refuse_early();
                early = true;
                continue;
            }
            match self.stage(&entry.0) {
                Err(EntryError::MissingParents(_)) if early => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// Notes the tips of what a peer sent, so that the next fetch goes on beyond them even if all
    /// of it was known here.
    fn show(&mut self, from: NodeId, entries: &[Blob]) {
        let Some(peer) = self.peers.get_mut(&from) else { return };
        for entry in entries {
            let Ok(parents) = Entry::decode(&entry.0).map(|entry| entry.parents) else { return };
            peer.shown.retain(|tip| !parents.contains(tip));
            if peer.shown.len() < HEADS_MAX {
                peer.shown.insert(Entry::id_of(&entry.0));
            }
        }
    }

    /// Verifies an entry on top of those already on their way, and sends it through the ring.
    pub(crate) fn stage(&mut self, entry: &Bytes) -> Result<(), EntryError> {
        let staged = self.staged.get_or_insert_with(|| self.transcript.clone());
        let appended = staged.append(entry)?;
        if !appended.new {
            self.drop_stage_if_even();
            return Ok(());
        }
        if let Err(error) = self.group.entry(entry) {
            self.refuse("group", &error);
        }
        Ok(())
    }

    /// A member here wrote an entry. It is verified like anybody else's.
    pub(crate) fn order_own_entry(&mut self, entry: Bytes) {
        if self.is_early(&entry) {
            return self.refuse_early();
        }
        if let Err(error) = self.stage(&entry) {
            self.refuse("transcript", &error);
        }
    }

    /// Nothing is on its way any more.
    pub(crate) fn drop_stage_if_even(&mut self) {
        let even = |staged: &Transcript| staged.heads() == self.transcript.heads();
        if self.staged.as_ref().is_some_and(even) {
            self.staged = None;
        }
    }

    /// Others on the ring lack entries that we are to provide. The entries go through the ring, to
    /// all nodes at one place.
    pub(crate) fn reconcile(&mut self, behind: &[Vec<EntryId>]) {
        let lacking: BTreeSet<Bytes> =
            behind.iter().flat_map(|have| self.transcript.entries_after(have, usize::MAX)).collect();
        let in_order: Vec<Bytes> =
            self.transcript.entries().filter(|entry| lacking.contains(*entry)).cloned().collect();
        for entry in in_order {
            if let Err(error) = self.group.entry(&entry) {
                self.refuse("group", &error);
            }
        }
    }

    pub(crate) fn send_sync(&mut self, now: Instant, to: NodeId, message: &Sync) {
        // The next change of heads, or the look-up timer, makes up for a lost message.
        let _ = self.links.send(now, to, Channel::Transcript, &[&codec::encode(message)]);
    }

    pub(crate) fn send_places(&mut self, now: Instant, to: NodeId, places: Vec<Place>) {
        if !places.is_empty() {
            self.send_sync(now, to, &Sync::Locators(places));
        }
    }
}
