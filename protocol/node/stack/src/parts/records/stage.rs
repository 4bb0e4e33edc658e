//! The stage: what is verified and on its way through the ring. It is a copy of the transcript that
//! has taken it already.
//!
//! ```text
//! item from a link or a member --> stage: new, and stands? --> group.item --> ring --> transcript.take   (settled.rs)
//! ```
//! The copy goes when the last of it is back. So the memory for it is needed only meanwhile.

use super::Records;
use crate::parts::Orders;
use base::{Digest, UnixTime, digest};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_transcript::{Item, ItemError, Transcript};
use std::collections::BTreeSet;

/// The transcript, plus items that are verified and on their way.
#[derive(Debug, Default)]
pub(super) struct Stage {
    copy: Option<Transcript>,
    /// The digests of those items.
    on_way: BTreeSet<Digest>,
}

impl Stage {
    /// The copy, or the transcript while there is none.
    pub(super) fn known<'a>(&'a self, transcript: &'a Transcript) -> &'a Transcript {
        self.copy.as_ref().unwrap_or(transcript)
    }

    /// Takes an item. Whether it says anything new: then it is on its way. And whether it waits for
    /// the clock.
    fn take(
        &mut self,
        transcript: &Transcript,
        bytes: &Bytes,
        clock: Option<UnixTime>,
    ) -> Result<(bool, bool), ItemError> {
        let copy = self.copy.get_or_insert_with(|| transcript.clone());
        let (forks, waiting) = (copy.line().forks().len(), copy.waiting());
        let taken = copy.take(bytes, clock)?;
        let says = taken.new || copy.line().forks().len() > forks;
        if says {
            self.on_way.insert(digest(&[bytes]));
        }
        Ok((says, copy.waiting() > waiting))
    }

    /// An item has its place in the order: it is on its way no more.
    pub(super) fn arrived(&mut self, item: &Bytes) {
        self.on_way.remove(&digest(&[item]));
    }

    /// The transcript has taken an item. The copy has it already, or takes it where the transcript
    /// did.
    pub(super) fn follow(&mut self, item: &Bytes, clock: Option<UnixTime>) {
        if let Some(copy) = &mut self.copy {
            let _ = copy.take(item, clock);
        }
    }

    /// Forgets the copy, which has what did not come: it is made anew.
    pub(super) fn renew(&mut self) {
        self.copy = None;
    }

    /// Forgets the copy if nothing is on its way any more.
    pub(super) fn finish(&mut self) {
        if self.on_way.is_empty() {
            self.copy = None;
        }
    }

    /// Forgets all: none of it will come.
    pub(super) fn clear(&mut self) {
        (self.copy, self.on_way) = (None, BTreeSet::new());
    }
}

impl Records {
    /// Verifies an item on top of those already on their way, and sends it through the ring.
    /// Whether it says anything new; an item that waits for its time does not yet.
    ///
    /// # Errors
    /// [`ItemError`].
    pub(crate) fn stage(&mut self, bytes: &Bytes, orders: &mut Orders<'_>) -> Result<bool, ItemError> {
        if let Item::Past { time } = Item::decode(bytes)?
            && self.is_early(time, orders.out)
        {
            return Ok(false);
        }
        self.stage_due(bytes, orders)
    }

    /// The same of what our clock has come to.
    ///
    /// # Errors
    /// [`ItemError`].
    pub(super) fn stage_due(&mut self, bytes: &Bytes, orders: &mut Orders<'_>) -> Result<bool, ItemError> {
        let (says, waits) = self.stage.take(&self.transcript, bytes, self.wall.clock())?;
        if says {
            orders.item(bytes);
        }
        if waits {
            // The copy goes. What waits for the clock is nothing new yet, here or to anybody.
            drop(self.transcript.take(bytes, self.wall.clock()));
        }
        Ok(says)
    }

    /// A member here says something. It is verified like anybody else's.
    pub(crate) fn order_own(&mut self, item: &Bytes, orders: &mut Orders<'_>) {
        if self.danger.is(base::Danger::NodeOrdersUnread) {
            return orders.item(item);
        }
        if let Err(error) = self.stage(item, orders) {
            orders.out.refuse("transcript", &base::whole(&error));
        }
        self.finish_stage();
    }

    /// A decision that a guest has brought, and that is refused by itself, may hold what the guest
    /// brought before and did not count by itself. With the decision it is passed on.
    ///
    /// # Errors
    /// [`ItemError`]; the one that was given if these do not help.
    pub(crate) fn stage_with(
        &mut self,
        aside: &[Bytes],
        decision: &Bytes,
        error: ItemError,
        orders: &mut Orders<'_>,
    ) -> Result<bool, ItemError> {
        if aside.is_empty() {
            return Err(error);
        }
        let mut tried = self.known().clone();
        for item in aside {
            tried.take(item, self.wall.clock())?;
        }
        if !tried.take(decision, self.wall.clock())?.advanced {
            return Err(error);
        }
        for item in aside {
            self.stage(item, orders)?;
        }
        self.stage(decision, orders)
    }

    /// `NODE-11`: the request of an admission that would be here and not count. `trial` is a copy
    /// for trying what guests bring.
    ///
    /// # Errors
    /// [`ItemError`].
    pub(crate) fn late(
        &self,
        trial: &mut Option<Transcript>,
        item: &Item,
        bytes: &Bytes,
    ) -> Result<Option<Digest>, ItemError> {
        let trial = trial.get_or_insert_with(|| self.known().clone());
        trial.take(bytes, self.wall.clock())?;
        let named = self.danger.is(base::Danger::NodeNamesGuests);
        let request = if named { item.name() } else { item.request() };
        Ok(request.filter(|request| !trial.roster().is_used(request)))
    }

    /// Forgets the copy if nothing is on its way any more.
    pub(crate) fn finish_stage(&mut self) {
        self.stage.finish();
    }

    /// Whether nothing is on its way, and there is no copy.
    #[cfg(test)]
    pub(crate) fn is_unstaged(&self) -> bool {
        self.stage.copy.is_none() && self.stage.on_way.is_empty()
    }

    /// Something that was on its way will not come.
    pub(crate) fn clear_stage(&mut self) {
        self.stage.clear();
    }
}
