//! Lines: a peer whose head is on another line than ours. Somebody signed both. The two can never
//! have equal transcripts, so they never share a ring; people at both are told, and each is shown
//! the other's decision as evidence (`NODE-13`).

use crate::Node;
use crate::message::ITEMS_BATCH_BYTES;
use base::{Head, Instant, NodeId};
use bytes::Bytes;
use folkmoot_attach::ToMember;
use folkmoot_base as base;
use folkmoot_transcript::{Item, Standing};

impl Node {
    /// Whether this head is ours, or a recent decision before it.
    pub(crate) fn is_on_our_line(&self, head: &Head) -> bool {
        self.transcript.state().decision_at(head.number) == Some(*head)
    }

    /// Whether this head contradicts our line. Of one ahead of us, or older than what is known,
    /// nothing can be said.
    fn is_other_line(&self, head: &Head) -> bool {
        self.transcript.state().decision_at(head.number).is_some_and(|ours| ours != *head)
    }

    /// Looks at the head that a peer shows. If either head is another than when the lines were
    /// found to be two, they may be one now.
    pub(crate) fn look_at_line(&mut self, now: Instant, node: NodeId) {
        let ours = self.transcript.state().head();
        let Some(peer) = self.peers.get_mut(&node) else { return };
        let Some((theirs, _)) = peer.mark else { return };
        peer.other_line.take_if(|found| *found != (theirs, ours));
        if self.is_other_line(&theirs) {
            self.other_line(now, node, theirs);
        }
    }

    /// Looks at what a decision follows that a peer has sent as the next one.
    pub(crate) fn look_at_parent(&mut self, now: Instant, node: NodeId, standing: &Standing) {
        let (ours, parent) = (self.known().state().head(), standing.proposal.parent());
        if parent.number == ours.number && parent != ours {
            let theirs = self.peers.get(&node).and_then(|peer| peer.mark);
            self.other_line(now, node, theirs.map_or(standing.head(), |(head, _)| head));
        }
    }

    /// `NODE-13`: says once for each pair of heads that a peer is on another line, and shows the
    /// peer our side of the fork.
    fn other_line(&mut self, now: Instant, node: NodeId, theirs: Head) {
        let ours = self.transcript.state().head();
        let Some(peer) = self.peers.get_mut(&node) else { return };
        peer.pass = None;
        if peer.other_line.replace((theirs, ours)) == Some((theirs, ours)) {
            return;
        }
        if !self.has_standing(&node) {
            let text = format!("{node} shows the head {theirs}, which is not on our line (NODE-13)");
            return self.out.refuse("transcript", &text);
        }
        let text = format!(
            "{node} is on another line and shares no ring with us: its head is {theirs}, ours {ours} (NODE-13)"
        );
        self.out.trace("transcript", text);
        self.out.tell(ToMember::OtherLine { node, theirs, ours });
        self.judge(now, node);
        let evidence = self.evidence(&theirs);
        if !evidence.is_empty() {
            self.send_items(now, node, evidence);
        }
    }

    /// Our last decisions that somebody at this head could compare with its own, as many as fit one
    /// answer. Whoever has another that follows the same one keeps both.
    fn evidence(&self, theirs: &Head) -> Vec<Bytes> {
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
