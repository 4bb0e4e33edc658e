//! Peers that something is wrong with: those that cannot link to this node, and those that run
//! twice, this one among them.

use crate::parts::start_row;
use crate::{Node, Refusal, Theirs};
use base::{Entropy, Instant, Locator, NodeId};
use folkmoot_attach::Ground as _;
use folkmoot_base as base;

impl Node {
    /// A locator that was dialled refuses (NODE-07).
    pub(crate) fn refused(&mut self, now: Instant, at: Locator, node: Option<NodeId>, theirs: Theirs) {
        let node = node.or_else(|| self.reach.who(&at));
        self.refusals.heard(Refusal { at, node, theirs, heard: now });
    }

    /// A handshake came that cannot lead to a link. If no node is looked for at its locator, and
    /// none on the roster has proved its key, it is only counted: anyone who makes up addresses
    /// leaves nothing here.
    pub(crate) fn turned_away(&mut self, now: Instant, at: &Locator, proved: Option<NodeId>, theirs: Theirs) {
        if self.reach.looks_at(at) || proved.is_some_and(|node| self.records.is_rostered(&node)) {
            self.refused(now, at.clone(), proved, theirs);
        }
    }

    /// NODE-18: of nodes with standing, so that strangers leave nothing here.
    pub(crate) fn runs_twice(&mut self, now: Instant, node: NodeId, at: Locator) {
        if self.records.has_standing(&node) {
            self.twins.seen(now, node, at, &mut self.out);
        }
    }

    /// NODE-19: the other process with this identity started later. This one keeps the number, so
    /// that the next process on this disk starts later still; takes leave; and is silent.
    pub(crate) fn stop_for_later(&mut self, now: Instant, started: u64, entropy: &mut dyn Entropy) {
        if self.superseded.is_none_or(|known| known < started) {
            self.out.persist(start_row(started));
        }
        if self.superseded.replace(started).is_none() {
            let text = "another process with this identity started later: this one stops";
            self.out.trace("node", text.to_owned());
            self.farewell(now, entropy);
        }
    }
}
