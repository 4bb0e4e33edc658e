//! The changes of who takes part: links that come and go, configurations, and items of the
//! transcript in their order.

use crate::{Node, RingEvent};
use base::limits::FAR;
use base::{ConfigurationId, Danger, Entropy, Instant, Locator, MemberId, NodeId};
use bytes::Bytes;
use folkmoot_attach::ToMember;
use folkmoot_base as base;
use folkmoot_link::{DownCause, Input};
use folkmoot_transcript::Taken;

impl Node {
    pub(crate) fn link_up(&mut self, now: Instant, node: NodeId, at: Locator, entropy: &mut dyn Entropy) {
        let (rostered, known) = (self.records.is_rostered(&node), self.records.has_standing(&node));
        self.refusals.end(&at, node);
        self.peers.up(node, at.clone());
        self.syncing.up(node);
        self.pieces.down(&node);
        self.link_input(now, Input::Standing { node, member: known }, entropy);
        self.send_mark(now, node);
        if known {
            self.reached(now, node, &at);
        }
        self.out.tell(ToMember::LinkUp { node, rostered, at });
    }

    pub(crate) fn link_down(&mut self, now: Instant, node: NodeId, cause: DownCause) {
        if !self.peers.down(&node) {
            return;
        }
        self.syncing.down(&node);
        self.pieces.down(&node);
        self.out.trace("link", format!("{node} is gone: {cause:?}"));
        self.ring.peer(now, node, false);
        self.reach.lost(now, node);
        self.out.tell(ToMember::LinkDown { node });
    }

    /// NODE-22: the first configuration has packets of the right size at once, since the ring hears
    /// of a node only when the path to it was tried. That ends in any case.
    pub(crate) fn path_tried(&mut self, now: Instant, node: NodeId, mtu: u16) {
        self.peers.tried(&node, mtu);
        self.tell_path(now, node, mtu);
        self.judge(now, node);
    }

    /// Tells the ring which nodes may take part: link up, on the roster, on our line, with a path
    /// that was tried, and (to begin with) with a transcript equal to ours.
    pub(crate) fn judge(&mut self, now: Instant, node: NodeId) {
        let may = self.records.may_share_ring(&node)
            && !self.patience.is_barred(now, &node)
            && !self.way.is_leaving()
            && !self.syncing.is_on_other(&node);
        let equal = self.syncing.mark(&node) == Some(self.records.mark());
        // NODE-25: over a long path the ring begins while it is tried.
        let trip = self.links.path(&node).map(|path| path.trip).unwrap_or_default();
        let far = trip >= FAR && !self.config.danger.is(Danger::NodeTriesFirst);
        if let Some(eligible) = self.peers.judge(&node, may, far, equal) {
            self.ring.peer(now, node, eligible);
            match self.peers.mtu(&node) {
                Some(mtu) => self.tell_path(now, node, mtu),
                None => self.ring.trip(node, trip),
            }
        }
    }

    /// Tells the ring what the path to a node carries, and how long it takes (RING-29).
    fn tell_path(&mut self, now: Instant, node: NodeId, mtu: u16) {
        self.ring.path(now, node, mtu);
        if let Some(path) = self.links.path(&node) {
            self.ring.trip(node, path.trip);
        }
    }

    pub(crate) fn judge_all(&mut self, now: Instant) {
        for node in self.peers.all() {
            self.judge(now, node);
        }
    }

    pub(crate) fn transitional(&mut self, from: ConfigurationId, survivors: Vec<NodeId>) {
        self.group.transitional(&survivors);
        self.carried.iter_mut().for_each(|charter| charter.group.transitional(&survivors));
        self.out.note(|| RingEvent::Transitional { from, survivors });
    }

    pub(crate) fn regular(&mut self, now: Instant, id: ConfigurationId, members: Vec<NodeId>) {
        let patience = self.ring.patience();
        self.patience.begin(now, patience);
        self.records.provide_anew();
        if members.len() > 1 {
            self.records.shares_ring(&mut self.out);
        }
        self.tell_mark(true);
        let records = &self.records;
        self.group.regular(id, &members, &|member: MemberId| records.holds(member));
        self.carried.iter_mut().for_each(|charter| charter.begin(id, &members));
        self.out.note(|| RingEvent::Regular { id, members: members.clone() });
        self.peers.configured(&members);
        self.out.tell(ToMember::Configuration { id, nodes: members, patience });
    }

    /// An item has its place in the order: it is taken and kept, and then acted on.
    pub(crate) fn take_item(&mut self, now: Instant, item: &Bytes, entropy: &mut dyn Entropy) {
        if let Some(taken) = self.records.take(item, &mut self.out) {
            self.apply(now, &taken, entropy);
        }
    }

    pub(crate) fn apply(&mut self, now: Instant, taken: &Taken, entropy: &mut dyn Entropy) {
        self.mix();
        self.show_certificate(now, entropy);
        for member in &taken.came {
            self.stand(now, member.node(), true, entropy);
            self.reach.seek_soon(now);
        }
        self.end(now, taken, entropy);
        if taken.advanced {
            self.way.passed(self.records.head().number);
            let (records, mut orders) = self.ordering();
            records.order_due(&mut orders);
        }
        self.judge_all(now);
    }

    /// At this position nodes stop forwarding to the removed members (DECISIONS K3).
    fn end(&mut self, now: Instant, taken: &Taken, entropy: &mut dyn Entropy) {
        let gone = self.records.endings(taken);
        for (member, _) in &gone {
            self.stand(now, member.node(), false, entropy);
        }
        if !gone.is_empty() {
            self.group.roster_changed(&gone);
        }
    }

    /// Shows the links the certificate by which this node's host is a member now, if it is another
    /// than before.
    fn show_certificate(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        if let Some(certificate) = self.records.new_certificate(&self.config.identity) {
            self.link_input(now, Input::Certificate(certificate), entropy);
        }
    }

    fn stand(&mut self, now: Instant, node: NodeId, member: bool, entropy: &mut dyn Entropy) {
        let Some(at) = self.locator(&node) else { return };
        let member = member || self.records.serves_guests();
        let known = member || self.records.is_authority(&node);
        self.link_input(now, Input::Standing { node, member: known }, entropy);
        if known {
            self.reached(now, node, &at);
        }
        self.out.tell(ToMember::LinkUp { node, rostered: member, at });
    }
}
