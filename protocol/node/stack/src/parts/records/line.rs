//! Our line, beside the heads that others show.

use super::{Mark, Records};
use crate::message::ITEMS_BATCH_BYTES;
use base::Head;
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_transcript::{Item, Standing};

impl Records {
    /// The last decision.
    pub(crate) fn head(&self) -> Head {
        self.transcript.state().head()
    }

    /// Whether this head is ours, or a recent decision before it.
    pub(crate) fn is_on_our_line(&self, head: &Head) -> bool {
        self.transcript.state().decision_at(head.number) == Some(*head)
    }

    /// Whether this head contradicts our line. Of one ahead of us, or older than what is known,
    /// nothing can be said.
    pub(crate) fn is_other_line(&self, head: &Head) -> bool {
        self.transcript.state().decision_at(head.number).is_some_and(|ours| ours != *head)
    }

    /// The head of another line, if a decision that a peer has sent as the next one follows another
    /// decision than our last. `theirs` is where the peer said that it stands.
    pub(crate) fn follows_other(&self, standing: &Standing, theirs: Option<Mark>) -> Option<Head> {
        let (ours, parent) = (self.known().state().head(), standing.proposal.parent());
        let other = parent.number == ours.number && parent != ours;
        other.then(|| theirs.map_or(standing.head(), |(head, _)| head))
    }

    /// Our last decisions that somebody at this head could compare with its own, as many as fit one
    /// answer. Whoever has another that follows the same one keeps both.
    pub(crate) fn evidence(&self, theirs: &Head) -> Vec<Bytes> {
        let mut room = ITEMS_BATCH_BYTES;
        let ours = self.transcript.line().decisions().range(..=theirs.number).rev();
        let encoded = ours.map(|(_, standing)| Bytes::from(Item::Decision(standing.clone()).encode()));
        let fit = encoded.take_while(|item| {
            let fits = item.len() <= room;
            room = room.saturating_sub(item.len());
            fits
        });
        fit.collect()
    }
}
