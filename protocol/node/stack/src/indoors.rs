//! Newcomers to a carried group, inside one node (`NODE-35`). A party that attaches by a carried
//! charter and is not on its roster yet asks the members by that charter who are attached there,
//! as a guest asks its contact over a link. There is no link, and nothing leaves the node before a
//! member says it in the group.
//!
//! ```text
//! newcomer --Guest--> node --Guest--> member here      both are told of each other as of a link
//! ```

use crate::Node;
use base::{GroupId, MemberId, NodeId, Party};
use bytes::Bytes;
use folkmoot_attach::ToMember;
use folkmoot_base as base;

impl Node {
    /// A party came, or is about to go: those here who may ask it, or whom it may ask, hear of it.
    pub(crate) fn meet(&mut self, party: Party, charter: &GroupId, came: bool) {
        let Some(carried) = self.carried.get(charter).filter(|_| party.port == 0) else { return };
        let is_in = carried.records.holds(party.member);
        let other = |other: &Party| other.port == 0 && carried.records.holds(other.member) != is_in;
        let others: Vec<Party> = self.out.parties_of(charter).filter(other).collect();
        for other in others {
            self.tell_indoors(other, party.member.node(), is_in, came);
            if came {
                self.tell_indoors(party, other.member.node(), !is_in, came);
            }
        }
    }

    /// Somebody is a member now, and a guest no more.
    pub(crate) fn enter(&mut self, member: MemberId, charter: &GroupId) {
        if self.out.charter_of(&member.into()) != Some(*charter) {
            return;
        }
        let others: Vec<Party> =
            self.out.parties_of(charter).filter(|other| other.port == 0 && other.member != member).collect();
        others.into_iter().for_each(|other| self.tell_indoors(other, member.node(), true, false));
    }

    fn tell_indoors(&mut self, to: Party, node: NodeId, rostered: bool, up: bool) {
        let at = self.config.locator.clone();
        let word = if up { ToMember::LinkUp { node, rostered, at } } else { ToMember::LinkDown { node } };
        self.out.tell_one(to, word);
    }

    /// What a member by a carried charter, or a newcomer, says to the other. It goes to port 0 of
    /// that member if it is attached here by the same charter, and nowhere else. `false` if the
    /// party is one of the ring's own charter, whose guests are at links.
    pub(crate) fn say_indoors(&mut self, from: Party, to: NodeId, payload: &Bytes) -> bool {
        let charter = self.out.charter_of(&from).filter(|charter| self.carried.get(charter).is_some());
        let Some(charter) = charter else { return false };
        let there = Party::from(to.member());
        if self.out.charter_of(&there) == Some(charter) {
            let word = ToMember::Guest { from: from.member.node(), payload: payload.clone() };
            self.out.tell_one(there, word);
        }
        true
    }
}
