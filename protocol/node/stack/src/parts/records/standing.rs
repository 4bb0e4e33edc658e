//! Who somebody is, according to our own transcript.

use super::Records;
use base::{Cause, Danger, MemberId, NodeId};
use folkmoot_base as base;
use folkmoot_transcript::Taken;
use std::collections::BTreeSet;

impl Records {
    /// Whether our own roster has this node (or the mutant lets guests in).
    pub(crate) fn is_rostered(&self, node: &NodeId) -> bool {
        let own = self.transcript.roster().is_rostered(node) || self.serves_guests();
        own || self.danger.is(Danger::NodeAnyCharter) && self.strangers.contains(&node.member())
    }

    /// Whether our own roster has this member (or the mutant takes others' for ours).
    pub(crate) fn holds(&self, member: MemberId) -> bool {
        let mixed = self.danger.is(Danger::NodeAnyCharter) && self.strangers.contains(&member);
        self.transcript.roster().is_member(&member) || mixed
    }

    /// All on our own roster.
    pub(crate) fn members(&self) -> impl Iterator<Item = MemberId> + '_ {
        self.transcript.roster().members().keys().copied()
    }

    /// Members by other charters: for the mutant that does not tell charters apart.
    pub(crate) fn mix(&mut self, others: &BTreeSet<MemberId>) {
        self.strangers.clone_from(others);
    }

    /// Whether this is our own node.
    pub(crate) fn is_me(&self, node: &NodeId) -> bool {
        *node == self.me
    }

    /// Whether guests are treated as members, as a mutant does.
    pub(crate) fn serves_guests(&self) -> bool {
        self.danger.is(Danger::NodeServesGuests)
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

    /// Whether we may be on one ring: both are on the roster, and nothing is known to be missing.
    pub(crate) fn may_share_ring(&self, node: &NodeId) -> bool {
        let known = self.transcript.awaits().is_none();
        known && self.is_rostered(node) && self.is_rostered(&self.me)
    }

    /// Whether one of us is a member and the other speaks for the authority, or both speak for it:
    /// they are never on one ring.
    pub(crate) fn is_apart(&self, node: &NodeId) -> bool {
        self.is_authority(node) || self.is_authority(&self.me)
    }

    /// Whether this peer is not a member, according to our transcript and what is on its way. A
    /// node that is itself a guest cannot know.
    pub(crate) fn is_guest(&self, peer: &NodeId) -> bool {
        self.is_rostered(&self.me) && !self.has_standing(peer) && !self.known().roster().is_rostered(peer)
    }

    /// The members that went with this item, and why.
    pub(crate) fn endings(&self, taken: &Taken) -> Vec<(MemberId, Cause)> {
        let roster = self.transcript.roster();
        // Of more former members than are remembered, nothing says any more how they ended.
        let cause =
            |member: &MemberId| roster.former(member).map_or(Cause::Expelled, |one| one.ending.cause());
        taken.went.iter().map(|member| (*member, cause(member))).collect()
    }

    /// The nodes on the roster and of the authority, the authority's first.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        let roster = self.transcript.roster();
        let authority = roster.charter().central().map(|central| &central.nodes).into_iter().flatten();
        authority.map(|member| member.node()).chain(roster.members().keys().map(MemberId::node))
    }
}
