//! The stage: what is verified and on its way through the ring. It is a copy of the transcript that
//! has taken it already.
//!
//! ```text
//! item from a link or a member --> stage: new, and stands? --> group.item --> ring --> transcript.take   (change.rs)
//! ```
//! The copy goes when the last of it is back. So the memory for it is needed only meanwhile.

use crate::Node;
use crate::message::ITEMS_BATCH_BYTES;
use base::{Digest, Instant, NodeId, digest};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_group::Mark;
use folkmoot_transcript::{Change, Item, ItemError, Standing, Transcript};
use std::collections::BTreeSet;

/// Most bytes of items that a node provides at once to another that lacks them in a new
/// configuration. Nodes that lack more are left out for a while, and fetch the rest over their
/// links.
const RECONCILE_BYTES_MAX: usize = 4 * 1024 * 1024;

const _: () = assert!(ITEMS_BATCH_BYTES < RECONCILE_BYTES_MAX);

impl Node {
    /// The transcript with what is on its way.
    pub(crate) fn known(&self) -> &Transcript {
        self.staged.as_ref().unwrap_or(&self.transcript)
    }

    /// Verifies an item on top of those already on their way, and sends it through the ring.
    /// Whether it says anything new; an item that waits for its time does not yet.
    ///
    /// # Errors
    /// [`ItemError`].
    pub(crate) fn stage(&mut self, bytes: &Bytes) -> Result<bool, ItemError> {
        if let Item::Expire { member, request } = Item::decode(bytes)?
            && self.is_early(member, request)
        {
            return Ok(false);
        }
        self.stage_past(bytes)
    }

    /// The same, whatever our clock says of an end of a term.
    ///
    /// # Errors
    /// [`ItemError`].
    pub(crate) fn stage_past(&mut self, bytes: &Bytes) -> Result<bool, ItemError> {
        let staged = self.staged.get_or_insert_with(|| self.transcript.clone());
        let forks = staged.line().forks().len();
        let taken = staged.take(bytes, self.wall.clock())?;
        let says = taken.new || staged.line().forks().len() > forks;
        if says {
            self.on_way.insert(digest(&[bytes]));
            self.order(bytes);
        }
        Ok(says)
    }

    fn order(&mut self, item: &Bytes) {
        if let Err(error) = self.group.item(item) {
            self.out.refuse("group", &error);
        }
    }

    /// A member here says something. It is verified like anybody else's.
    pub(crate) fn order_own_item(&mut self, item: &Bytes) {
        if self.config.danger.is(base::Danger::NodeOrdersUnread) {
            return self.order(item);
        }
        if let Err(error) = self.stage(item) {
            self.out.refuse("transcript", &base::whole(&error));
        }
        self.finish_stage();
    }

    /// Forgets the copy if nothing is on its way any more.
    pub(crate) fn finish_stage(&mut self) {
        if self.on_way.is_empty() {
            self.staged = None;
        }
    }

    /// Takes an item that a peer has sent. Whether it says anything new. `trial` is a copy for
    /// trying what guests bring.
    ///
    /// # Errors
    /// [`ItemError`].
    pub(crate) fn item_came(
        &mut self,
        now: Instant,
        from: NodeId,
        trial: &mut Option<Transcript>,
        bytes: &Bytes,
    ) -> Result<bool, ItemError> {
        let item = Item::decode(bytes)?;
        match &item {
            Item::Decision(standing) => self.look_at_parent(now, from, standing),
            Item::Admit { .. } if self.is_guest(&from) => {
                let trial = trial.get_or_insert_with(|| self.known().clone());
                if let Some(request) = late(trial, &item, bytes)? {
                    self.put_aside(from, request, bytes);
                    return Ok(false);
                }
            }
            _ => {}
        }
        match (self.stage(bytes), &item) {
            (Err(error), Item::Decision(standing)) => self.stage_with_aside(from, standing, bytes, error),
            (done, _) => done,
        }
    }

    /// Whether this peer is not a member, according to our transcript and what is on its way. A
    /// node that is itself a guest cannot know.
    pub(crate) fn is_guest(&self, peer: &NodeId) -> bool {
        self.is_rostered(&self.me) && !self.has_standing(peer) && !self.known().roster().is_rostered(peer)
    }

    /// `NODE-11`: what does not count and comes from a guest is not passed on.
    fn put_aside(&mut self, from: NodeId, request: Digest, item: &Bytes) {
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.keep_aside(request, item);
        }
        self.out.refuse(
            "transcript",
            &format!("{from} sent an admission that does not count, and is no member (NODE-11)"),
        );
    }

    /// A decision that a guest has brought may hold what the guest brought before and did not count
    /// by itself. With the decision it is passed on.
    fn stage_with_aside(
        &mut self,
        from: NodeId,
        standing: &Standing,
        bytes: &Bytes,
        error: ItemError,
    ) -> Result<bool, ItemError> {
        let aside = self.peers.get(&from).map(|peer| peer.aside(&named(standing))).unwrap_or_default();
        if aside.is_empty() {
            return Err(error);
        }
        let mut tried = self.known().clone();
        for item in &aside {
            tried.take(item, None)?;
        }
        if !tried.take(bytes, None)?.advanced {
            return Err(error);
        }
        for item in &aside {
            self.stage(item)?;
        }
        self.stage(bytes)
    }

    /// Others on the ring lack what we are to provide. It goes through the ring, to all nodes at
    /// one place, and once in a configuration.
    pub(crate) fn reconcile(&mut self, behind: &[Mark]) {
        for mark in behind {
            for item in self.lacked_by(mark) {
                if self.provided.insert(digest(&[&item])) {
                    self.order(&item);
                }
            }
        }
    }

    /// What somebody at this mark lacks; nothing if its head is not on our line, or ahead of us.
    fn lacked_by(&self, mark: &Mark) -> Vec<Bytes> {
        if !self.is_on_our_line(&mark.head) {
            return Vec::new();
        }
        let known: BTreeSet<Digest> =
            self.transcript.have().into_iter().filter(|name| mark.has(name)).collect();
        self.transcript.lacking(mark.head, &known, RECONCILE_BYTES_MAX)
    }
}

/// The request of an admission that would be here and not count: `NODE-11`.
fn late(trial: &mut Transcript, item: &Item, bytes: &Bytes) -> Result<Option<Digest>, ItemError> {
    trial.take(bytes, None)?;
    Ok(item.name().filter(|request| !trial.roster().is_used(request)))
}

/// The requests of the admissions that a decision takes to be known.
fn named(standing: &Standing) -> Vec<Digest> {
    let decision = &standing.proposal.decision;
    let by_people = decision.effects.iter().filter_map(|one| match &one.effect.change {
        Change::Hold { request } | Change::Rotate { request, .. } => Some(*request),
        _ => None,
    });
    decision.holds.iter().copied().chain(by_people).collect()
}
