//! The changes of who takes part: links that come and go, configurations, and entries of the
//! transcript in their order.

use crate::credentials::own;
use crate::{Node, PeerInfo, RingEvent};
use base::{Cause, ConfigurationId, Entropy, Instant, Locator, MemberId, NodeId};
use bytes::Bytes;
use folkmoot_attach::ToMember;
use folkmoot_base as base;
use folkmoot_identity::transcript::{Change, Transcript};
use folkmoot_link::{Credentials as _, DownCause, Input};
use std::collections::BTreeSet;

impl Node {
    pub(crate) fn link_up(&mut self, now: Instant, node: NodeId, at: Locator, entropy: &mut dyn Entropy) {
        let (rostered, known) = (self.is_rostered(&node), self.has_standing(&node));
        self.no_longer_refused(at, node);
        self.peers.insert(node, PeerInfo { at, heads: None, shown: BTreeSet::new(), eligible: false });
        self.link_input(now, Input::Standing { node, member: known }, entropy);
        self.send_heads(now, node);
        self.reached(now, node, at, known);
        self.tell(ToMember::LinkUp { node, rostered, at });
    }

    pub(crate) fn link_down(&mut self, now: Instant, node: NodeId, cause: DownCause) {
        if self.peers.remove(&node).is_none() {
            return;
        }
        self.trace("link", format!("{node} is gone: {cause:?}"));
        self.ring.peer(now, node, false);
        self.reach.lost(now, node);
        self.tell(ToMember::LinkDown { node });
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

    /// Tells the ring which nodes may take part: link up, on the roster, and (to begin with) with a
    /// transcript equal to ours (DECISIONS T1).
    pub(crate) fn judge(&mut self, now: Instant, node: NodeId) {
        let rostered = self.is_rostered(&node) && self.is_rostered(&self.me);
        let rostered = rostered && !self.patience.is_barred(now, &node);
        let heads = self.transcript.heads();
        let Some(peer) = self.peers.get_mut(&node) else { return };
        let equal = peer.heads.as_ref().is_some_and(|theirs| theirs.iter().eq(heads.iter()));
        let eligible = rostered && (peer.eligible || equal);
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
        if self.config.observe {
            self.events.push(RingEvent::Transitional { from, survivors });
        }
    }

    pub(crate) fn regular(&mut self, now: Instant, id: ConfigurationId, members: Vec<NodeId>) {
        self.patience.begin(now);
        let roster = self.transcript.roster();
        let holds = |member: MemberId| roster.is_member(&member);
        self.group.regular(id, &members, &holds);
        if self.config.observe {
            self.events.push(RingEvent::Regular { id, members: members.clone() });
        }
        self.members.clone_from(&members);
        self.tell(ToMember::Configuration { nodes: members });
    }

    /// An entry has its place in the order: append it, keep it, act on it, and only then hand it
    /// up.
    pub(crate) fn take_entry(&mut self, now: Instant, entry: &Bytes, entropy: &mut dyn Entropy) {
        if self.is_early(entry) {
            // Fetched again from a peer that has it, once its time has come.
            self.staged = None;
            return self.refuse_early();
        }
        let appended = match self.transcript.append(entry) {
            Ok(appended) => appended,
            Err(error) => return self.refuse("transcript", &error),
        };
        if let Some(staged) = &mut self.staged {
            // The staged entries already contain it, or its parents: if it were to be refused, this
            // transcript would have refused it too.
            let _ = staged.append(entry);
        }
        self.drop_stage_if_even();
        if !appended.new {
            return self.tell_heads();
        }
        self.persist(Transcript::persist(entry));
        self.tell(ToMember::Entry(entry.clone()));
        self.tell_heads();
        self.announce = true;
        self.apply(now, &appended.change, entropy);
        self.fetch_what_was_not_taken(now);
    }

    fn apply(&mut self, now: Instant, change: &Change, entropy: &mut dyn Entropy) {
        match change {
            Change::Admitted { member, .. } => {
                self.stand(now, member.node(), true, entropy);
                self.reach.seek_soon(now);
            }
            Change::Removed { member, cause, .. } => self.end(now, *member, *cause, entropy),
            _ => {}
        }
        self.judge_all(now);
    }

    /// At this position nodes stop forwarding to the removed members (DECISIONS K3).
    fn end(&mut self, now: Instant, member: MemberId, cause: Cause, entropy: &mut dyn Entropy) {
        self.stand(now, member.node(), false, entropy);
        self.group.roster_changed(&[(member, cause)]);
    }

    fn stand(&mut self, now: Instant, node: NodeId, member: bool, entropy: &mut dyn Entropy) {
        if node == self.me {
            let certificate = own(&self.config.identity, &self.transcript).certificate();
            return self.link_input(now, Input::Certificate(certificate), entropy);
        }
        let Some(at) = self.locator(&node) else { return };
        let member = member || self.config.danger.is(base::Danger::NodeServesGuests);
        let known = member || self.is_authority(&node);
        self.link_input(now, Input::Standing { node, member: known }, entropy);
        if known {
            self.reached(now, node, at, true);
        }
        self.tell(ToMember::LinkUp { node, rostered: member, at });
    }
}
