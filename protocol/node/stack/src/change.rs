//! The changes of who takes part: links that come and go, configurations, and items of the
//! transcript in their order.

use crate::credentials::own;
use crate::peer::PeerInfo;
use crate::{Node, RingEvent};
use base::{Cause, ConfigurationId, Entropy, Instant, Locator, MemberId, NodeId, digest};
use bytes::Bytes;
use folkmoot_attach::ToMember;
use folkmoot_base as base;
use folkmoot_link::{Credentials as _, DownCause, Input};
use folkmoot_transcript::{Item, Taken};

impl Node {
    pub(crate) fn link_up(&mut self, now: Instant, node: NodeId, at: Locator, entropy: &mut dyn Entropy) {
        let (rostered, known) = (self.is_rostered(&node), self.has_standing(&node));
        self.refusals.end(&at, node);
        self.peers.insert(node, PeerInfo::new(at.clone()));
        self.link_input(now, Input::Standing { node, member: known }, entropy);
        self.send_mark(now, node);
        self.reached(now, node, &at, known);
        self.out.tell(ToMember::LinkUp { node, rostered, at });
    }

    pub(crate) fn link_down(&mut self, now: Instant, node: NodeId, cause: DownCause) {
        if self.peers.remove(&node).is_none() {
            return;
        }
        self.out.trace("link", format!("{node} is gone: {cause:?}"));
        self.ring.peer(now, node, false);
        self.reach.lost(now, node);
        self.out.tell(ToMember::LinkDown { node });
    }

    /// Whether our own roster has this node (or the mutant lets guests in).
    pub(crate) fn is_rostered(&self, node: &NodeId) -> bool {
        self.transcript.roster().is_rostered(node) || self.config.danger.is(base::Danger::NodeServesGuests)
    }

    /// Whether this node speaks for the group's authority, according to the charter in our own
    /// transcript.
    pub(crate) fn is_authority(&self, node: &NodeId) -> bool {
        let central = self.transcript.roster().charter().central();
        central.is_some_and(|central| central.speaks(&node.member()))
    }

    /// NODE-08: whether its link may carry what a member's link may, and whether it is told where
    /// others are. So it is if it is on the roster, or speaks for the authority. Only nodes on the
    /// roster take part in the ring.
    pub(crate) fn has_standing(&self, node: &NodeId) -> bool {
        self.is_rostered(node) || self.is_authority(node)
    }

    /// Tells the ring which nodes may take part: link up, on the roster, on our line, and (to begin
    /// with) with a transcript equal to ours.
    pub(crate) fn judge(&mut self, now: Instant, node: NodeId) {
        let known = self.transcript.awaits().is_none();
        let rostered = known && self.is_rostered(&node) && self.is_rostered(&self.me);
        let rostered = rostered && !self.patience.is_barred(now, &node);
        let ours = self.transcript.mark();
        let leaving = self.is_leaving();
        let Some(peer) = self.peers.get_mut(&node) else { return };
        let equal = peer.mark == Some(ours);
        let eligible = rostered && !leaving && peer.other_line.is_none() && (peer.eligible || equal);
        if eligible != peer.eligible {
            peer.eligible = eligible;
            self.ring.peer(now, node, eligible);
        }
    }

    pub(crate) fn judge_all(&mut self, now: Instant) {
        let nodes: Vec<NodeId> = self.peers.keys().copied().collect();
        for node in nodes {
            self.judge(now, node);
        }
    }

    pub(crate) fn transitional(&mut self, from: ConfigurationId, survivors: Vec<NodeId>) {
        self.group.transitional(&survivors);
        self.out.note(|| RingEvent::Transitional { from, survivors });
    }

    pub(crate) fn regular(&mut self, now: Instant, id: ConfigurationId, members: Vec<NodeId>) {
        self.patience.begin(now);
        self.provided.clear();
        self.tell_mark(true);
        let roster = self.transcript.roster();
        let holds = |member: MemberId| roster.is_member(&member);
        self.group.regular(id, &members, &holds);
        self.out.note(|| RingEvent::Regular { id, members: members.clone() });
        self.members.clone_from(&members);
        self.out.tell(ToMember::Configuration { nodes: members });
    }

    /// An item has its place in the order: take it, keep it, act on it, and only then hand it up.
    pub(crate) fn take_item(&mut self, now: Instant, item: &Bytes, entropy: &mut dyn Entropy) {
        self.on_way.remove(&digest(&[item]));
        let forks = self.transcript.line().forks().len();
        let taken = match self.transcript.take(item, self.wall.clock()) {
            Ok(taken) => taken,
            Err(error) => {
                // The stage took it on top of something that did not come: it is made anew.
                self.staged = None;
                return self.out.refuse("transcript", &base::whole(&error));
            }
        };
        if let Some(staged) = &mut self.staged {
            // The stage has it already, or takes it where this transcript did.
            let _ = staged.take(item, self.wall.clock());
        }
        self.finish_stage();
        if taken.new || self.transcript.line().forks().len() > forks {
            self.keep_item(item, &taken);
            self.apply(now, &taken, entropy);
        } else if let Ok(Item::Expire { member, request }) = Item::decode(item) {
            self.staged = None;
            self.not_yet(member, request);
        }
    }

    fn keep_item(&mut self, item: &Bytes, taken: &Taken) {
        for persist in self.kept.after(&self.transcript, item, taken) {
            if !self.config.danger.is(base::Danger::NodeForgetsItem) {
                self.out.persist(persist);
            }
        }
        self.out.tell(ToMember::Item(item.clone()));
        if !taken.liars.is_empty() {
            let names: Vec<String> = taken.liars.iter().map(MemberId::to_string).collect();
            self.out.trace("transcript", format!("a fork: {} signed both sides", names.join(", ")));
        }
        self.mark_due |= taken.new;
        self.announce |= taken.new;
    }

    pub(crate) fn apply(&mut self, now: Instant, taken: &Taken, entropy: &mut dyn Entropy) {
        self.show_certificate(now, entropy);
        for member in &taken.came {
            self.stand(now, member.node(), true, entropy);
            self.reach.seek_soon(now);
        }
        self.end(now, taken, entropy);
        if taken.advanced {
            self.order_ends();
        }
        self.judge_all(now);
    }

    /// At this position nodes stop forwarding to the removed members (DECISIONS K3).
    fn end(&mut self, now: Instant, taken: &Taken, entropy: &mut dyn Entropy) {
        let roster = self.transcript.roster();
        // Of more former members than are remembered, nothing says any more how they ended.
        let cause =
            |member: &MemberId| roster.former(member).map_or(Cause::Expelled, |one| one.ending.cause());
        let gone: Vec<(MemberId, Cause)> = taken.went.iter().map(|member| (*member, cause(member))).collect();
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
        let admission = self.transcript.roster().member(&self.me.member()).map(|held| held.request);
        if admission != self.admission {
            self.admission = admission;
            let certificate = own(&self.config.identity, &self.transcript).certificate();
            self.link_input(now, Input::Certificate(certificate), entropy);
        }
    }

    fn stand(&mut self, now: Instant, node: NodeId, member: bool, entropy: &mut dyn Entropy) {
        let Some(at) = self.locator(&node) else { return };
        let member = member || self.config.danger.is(base::Danger::NodeServesGuests);
        let known = member || self.is_authority(&node);
        self.link_input(now, Input::Standing { node, member: known }, entropy);
        if known {
            self.reached(now, node, &at, true);
        }
        self.out.tell(ToMember::LinkUp { node, rostered: member, at });
    }
}
