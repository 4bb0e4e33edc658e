//! Transcripts compared: where each peer's stands, and the walk through the names of both sets.
//!
//! ```text
//! marks differ --> ask for the first part --> something new came: the same part again
//!                      ^                      nothing new: the next part
//!                      '-- after the last part, if anything new came on the way; else rest until either mark changes
//! ```
//! A peer on our own ring is not asked: the ring brings the same.

mod compared;

use crate::parts::{Mark, Records};
use base::{Digest, Head, Instant, NodeId};
use bytes::Bytes;
use compared::Compared;
use folkmoot_base as base;
use folkmoot_transcript::{Change, Have, Item, Standing};
use std::collections::BTreeMap;

/// What is known of the transcripts of the peers.
#[derive(Debug, Default)]
pub(crate) struct Syncing(BTreeMap<NodeId, Compared>);

impl Syncing {
    /// A link came up: nothing is known yet.
    pub(crate) fn up(&mut self, node: NodeId) {
        self.0.insert(node, Compared::default());
    }

    pub(crate) fn down(&mut self, node: &NodeId) {
        self.0.remove(node);
    }

    /// Where a peer's transcript stands, as it last said.
    pub(crate) fn mark(&self, node: &NodeId) -> Option<Mark> {
        self.0.get(node).and_then(|peer| peer.mark)
    }

    /// A peer says where its transcript stands. `false` if it is none of ours.
    pub(crate) fn mark_came(&mut self, node: &NodeId, mark: Mark) -> bool {
        self.0.get_mut(node).map(|peer| peer.mark = Some(mark)).is_some()
    }

    /// Whether a guest's question is answered now: only so many are in a second.
    pub(crate) fn may_ask(&mut self, now: Instant, node: &NodeId) -> bool {
        self.0.get_mut(node).is_none_or(|peer| peer.may_ask(now))
    }

    /// Begins to compare sets with a peer whose transcript is another than ours, unless that is
    /// going on, with it or with one that has the same, or brought nothing and neither has changed
    /// since. The question for the first part.
    pub(crate) fn begin(
        &mut self,
        now: Instant,
        node: &NodeId,
        with_us: bool,
        records: &Records,
    ) -> Option<Have> {
        let ours = records.known().mark();
        let peer = self.0.get_mut(node)?;
        let theirs = peer.mark?;
        if theirs == ours {
            peer.is_even_now();
            return None;
        }
        // A founding transcript has nothing yet.
        if records.is_founding(&theirs) || peer.is_busy(ours, theirs) || with_us {
            return None;
        }
        if self.0.values().any(|other| other.compares(&theirs, now)) {
            return None;
        }
        let peer = self.0.get_mut(node)?;
        peer.begin_pass(now);
        peer.part(records.known())
    }

    /// Some answer may have been lost: the same question again, or the first. With `anew` also
    /// where all of it came and was not taken.
    pub(crate) fn again(
        &mut self,
        now: Instant,
        node: &NodeId,
        with_us: bool,
        anew: bool,
        records: &Records,
    ) -> Option<Have> {
        let peer = self.0.get_mut(node)?;
        if peer.is_comparing() {
            return peer.part(records.known());
        }
        if anew {
            peer.try_anew();
        }
        self.begin(now, node, with_us, records)
    }

    /// An answer came, and brought something new or not: the next question of the comparison.
    pub(crate) fn go_on(
        &mut self,
        now: Instant,
        node: &NodeId,
        news: bool,
        records: &Records,
    ) -> Option<Have> {
        let peer = self.0.get_mut(node)?;
        let goes_on = peer.go_on(now, news, records.known().mark());
        goes_on.then(|| peer.part(records.known())).flatten()
    }

    /// Notes what a peer sent and we did not take, so that its next answer goes on beyond it.
    pub(crate) fn not_taken(&mut self, node: &NodeId, item: &Bytes) {
        let name = Item::decode(item).ok().and_then(|item| item.name());
        if let (Some(name), Some(peer)) = (name, self.0.get_mut(node)) {
            peer.show(name);
        }
    }

    /// Keeps a late admission that a guest has brought beside the transcript, by its request, if
    /// there is room.
    pub(crate) fn put_aside(&mut self, node: &NodeId, request: Digest, item: &Bytes) {
        if let Some(peer) = self.0.get_mut(node) {
            peer.keep_aside(request, item);
        }
    }

    /// The late admissions that are kept, of those that a decision takes to be known.
    pub(crate) fn aside(&self, node: &NodeId, standing: &Standing) -> Vec<Bytes> {
        self.0.get(node).map(|peer| peer.aside(&named(standing))).unwrap_or_default()
    }

    /// Looks at the head that a peer shows. If either head is another than when the lines were
    /// found to be two, they may be one now. The peer's head, if it is on another line.
    pub(crate) fn look_at_line(&mut self, node: &NodeId, records: &Records) -> Option<Head> {
        let ours = records.head();
        let peer = self.0.get_mut(node)?;
        let (theirs, _) = peer.mark?;
        peer.other_line.take_if(|found| *found != (theirs, ours));
        records.is_other_line(&theirs).then_some(theirs)
    }

    /// A peer is on another line. Whether that is new for these heads.
    pub(crate) fn found_other(&mut self, node: &NodeId, theirs: Head, ours: Head) -> bool {
        self.0.get_mut(node).is_some_and(|peer| peer.found_other(theirs, ours))
    }

    /// Whether a peer is on another line.
    pub(crate) fn is_on_other(&self, node: &NodeId) -> bool {
        self.0.get(node).is_some_and(|peer| peer.other_line.is_some())
    }

    /// How many of these late admissions are kept, and how many items a peer has shown that were
    /// not taken.
    #[cfg(test)]
    pub(crate) fn rest(&self, node: &NodeId, requests: &[Digest]) -> (usize, usize) {
        self.0.get(node).map_or((0, 0), |peer| (peer.aside(requests).len(), peer.shown_count()))
    }
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
