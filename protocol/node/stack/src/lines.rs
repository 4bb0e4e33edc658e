//! Lines: a peer whose head is on another line than ours. Somebody signed both. The two can never
//! have equal transcripts, so they never share a ring; people at both are told, and each is shown
//! the other's decision as evidence (`NODE-13`).

use crate::Node;
use base::{Head, Instant, NodeId};
use folkmoot_attach::ToMember;
use folkmoot_base as base;
use folkmoot_transcript::Standing;

impl Node {
    /// Looks at the head that a peer shows. If either head is another than when the lines were
    /// found to be two, they may be one now.
    pub(crate) fn look_at_line(&mut self, now: Instant, node: NodeId) {
        if let Some(theirs) = self.syncing.look_at_line(&node, &self.records) {
            self.other_line(now, node, theirs);
        }
    }

    /// Looks at what a decision follows that a peer has sent as the next one.
    pub(crate) fn look_at_parent(&mut self, now: Instant, node: NodeId, standing: &Standing) {
        let theirs = self.syncing.mark(&node);
        if let Some(other) = self.records.follows_other(standing, theirs) {
            self.other_line(now, node, other);
        }
    }

    /// `NODE-13`: says once for each pair of heads that a peer is on another line, and shows the
    /// peer our side of the fork.
    fn other_line(&mut self, now: Instant, node: NodeId, theirs: Head) {
        let ours = self.records.head();
        if !self.syncing.found_other(&node, theirs, ours) {
            return;
        }
        if !self.records.has_standing(&node) {
            let text = format!("{node} shows the head {theirs}, which is not on our line (NODE-13)");
            return self.out.refuse("transcript", &text);
        }
        let text = format!(
            "{node} is on another line and shares no ring with us: its head is {theirs}, ours {ours} (NODE-13)"
        );
        self.out.trace("transcript", text);
        self.out.tell(ToMember::OtherLine { node, theirs, ours });
        self.judge(now, node);
        let evidence = self.records.evidence(&theirs);
        if !evidence.is_empty() {
            self.send_items(now, node, evidence);
        }
    }
}
