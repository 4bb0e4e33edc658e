//! Packages: going on without the decisions between, as a node does that was left behind or is new
//! in an old group (`NODE-14`), and going over to another line (`NODE-15`).
//!
//! ```text
//! package whole, verified on a copy --> alone in the ring? --yes--> taken, kept, handed up
//!                                            '--no--> no peer is eligible until a configuration of our own
//! ```
//! A package does not go through the ring. So it is taken only where nobody shares our order: those
//! who are as far behind as we are leave us for a moment, and take theirs in the same way.
//!
//! A node asks for what leads over (`Side`) where our own line has decided a Rejoin, or where its
//! person goes over alone. It names the other line's decision at the fork.

use crate::Node;
use crate::message::Sync;
use crate::parts::Package;
use base::{Entropy, GroupId, Head, Instant, NodeId};
use bytes::Bytes;
use folkmoot_attach::ToMember;
use folkmoot_base as base;
use folkmoot_transcript::{ItemError, shown_by_package};

impl Node {
    /// A package came. It is tried on a copy before anything is left for it.
    pub(crate) fn package_came(&mut self, now: Instant, from: NodeId, package: Bytes) {
        let resolves = self.way.resolves();
        match self.records.try_package(&package, resolves, &mut self.out) {
            Ok(true) => self.way.leads(Package { bytes: package, resolves }),
            Ok(false) => {}
            Err(error) if error.needs_person() => self.offered(now, from, package, &error),
            Err(error) => {
                let text = format!(
                    "{from} sent a package that is refused (NODE-14, NODE-15): {}",
                    base::whole(&error)
                );
                self.out.refuse("transcript", &text);
            }
        }
    }

    /// `LINE-78`: a package stands, and only our person may take it. Our members show it.
    fn offered(&mut self, now: Instant, from: NodeId, package: Bytes, error: &ItemError) {
        let Some(last) = shown_by_package(&package).pop() else { return };
        if self.way.offer(now, last.head(), &package) {
            let text = format!("{from} sent a package that waits for our person (NODE-14): {error}");
            self.out.trace("transcript", text);
            let charter = self.records.transcript().group();
            self.out.tell_of(&charter, ToMember::Offered { package });
        }
    }

    /// Goes on by the package if nobody shares our order; else leaves the others. `false` if there
    /// is nothing to do now.
    pub(crate) fn leave_if_alone(&mut self, now: Instant, entropy: &mut dyn Entropy) -> bool {
        if !self.peers.is_alone() {
            let leaves = self.way.is_leaving() && self.peers.is_any_eligible();
            if leaves {
                self.judge_all(now);
            }
            return leaves;
        }
        let Some(package) = self.way.take() else { return false };
        if let Some(taken) = self.records.skip(package, &mut self.out) {
            self.way.end();
            self.apply(now, &taken, entropy);
        }
        true
    }

    /// Our person goes over to the line of this head. Whose charter the ring only carries has
    /// nothing to say on the ring's line, and is led over nowhere here.
    pub(crate) fn resolve(&mut self, now: Instant, charter: GroupId, head: Head, entropy: &mut dyn Entropy) {
        if charter == self.records.transcript().group()
            && let Some(taken) = self.records.take_ahead(&head, &mut self.out)
        {
            return self.apply(now, &taken, entropy);
        }
        if charter == self.records.transcript().group()
            && let Some(bytes) = self.way.offered(&head)
        {
            return self.way.leads(Package { bytes, resolves: Some(head) });
        }
        if charter != self.records.transcript().group() {
            let text = "nobody is led over to another line of a charter that a ring only carries";
            return self.out.refuse("node", &text);
        }
        self.way.resolve(head);
        self.peers.all().into_iter().for_each(|node| self.ask_side(now, node));
    }

    /// `NODE-15`: asks a peer on another line for what leads there, if that is where we go.
    pub(crate) fn ask_side(&mut self, now: Instant, node: NodeId) {
        if !self.syncing.is_on_other(&node) || self.way.is_leaving() {
            return;
        }
        let wanted = self.records.sides(self.way.resolves().is_some());
        for first in wanted {
            self.send_sync(now, node, &Sync::Side { first });
        }
    }

    /// `NODE-15`: asks everybody on our own line whether the line to which ours goes comes to it,
    /// as long as ours waits for that word. Marks say nothing of it: whoever came from there has
    /// the same head and set as those who do not know.
    pub(crate) fn ask_coming(&mut self, now: Instant) {
        let Some(first) = self.records.awaits_coming() else { return };
        for node in self.peers.all() {
            if !self.syncing.is_on_other(&node) {
                self.send_sync(now, node, &Sync::Side { first });
            }
        }
    }

    /// A peer goes over to our line, if that has this decision; or waits for word that the line of
    /// this decision comes to ours.
    pub(crate) fn side_asked(&mut self, now: Instant, from: NodeId, first: &Head) {
        if let Some(package) = self.records.side_package(first) {
            self.offer(now, from, &package);
        } else if let Some(item) = self.records.coming(first) {
            self.send_items(now, from, vec![item]);
        }
    }
}
