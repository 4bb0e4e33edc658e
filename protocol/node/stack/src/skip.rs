//! Going on without the decisions between: what a node does that was left behind, or that is new in
//! an old group (`NODE-14`).
//!
//! ```text
//! package whole, verified on a copy --> alone in the ring? --yes--> taken, kept, handed up
//!                                            '--no--> no peer is eligible until a configuration of our own
//! ```
//! A package does not go through the ring. So it is taken only where nobody shares our order: those
//! who are as far behind as we are leave us for a moment, and take theirs in the same way.

use crate::Node;
use base::{Entropy, Instant, NodeId};
use bytes::Bytes;
use folkmoot_attach::ToMember;
use folkmoot_base as base;

impl Node {
    /// A package came. It is tried on a copy before anything is left for it.
    pub(crate) fn package_came(&mut self, from: NodeId, package: Bytes) {
        let mut tried = self.transcript.clone();
        match tried.take_package(&package) {
            Ok(_) => self.skipping = Some(package),
            Err(error) => {
                let text = format!("{from} sent a package that is refused (NODE-14): {error}");
                self.refuse("transcript", &text);
            }
        }
    }

    /// Whether a package waits until nobody shares our order.
    pub(crate) fn is_skipping(&self) -> bool {
        self.skipping.is_some()
    }

    /// Goes on by the package if nobody shares our order; else leaves the others. `false` if there
    /// is nothing to do now.
    pub(crate) fn skip_if_alone(&mut self, now: Instant, entropy: &mut dyn Entropy) -> bool {
        if self.members.len() > 1 {
            let leaves = self.is_skipping() && self.peers.values().any(|peer| peer.eligible);
            if leaves {
                self.judge_all(now);
            }
            return leaves;
        }
        let Some(package) = self.skipping.take() else { return false };
        match self.transcript.take_package(&package) {
            Ok(taken) => {
                self.staged = None;
                self.on_way.clear();
                for persist in self.kept.after_skip(&self.transcript) {
                    self.persist(persist);
                }
                let head = self.transcript.state().head();
                self.trace("transcript", format!("went on to {head} by its electorates (NODE-14)"));
                self.tell(ToMember::Package(package));
                self.mark_due = true;
                self.announce = true;
                self.apply(now, &taken, entropy);
            }
            Err(error) => self.refuse("transcript", &error),
        }
        true
    }
}
