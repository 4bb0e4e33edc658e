//! Changes of the tables by ordered messages: at their place if the tables are merged, otherwise as
//! part of the merge.

use crate::circle::{Circle, Resident, notice_to};
use crate::message::{Joined, SignedJoin, Stamp};
use crate::{Group, GroupError, MEMBERSHIPS_MAX, Output, Roster};
use folkmoot_base::limits::{GROUPS_MAX, MEMBERS_MAX, PARTIES_MAX};
use folkmoot_base::{
    Cause, Danger, GroupId, Indication, JoinRefusal, MemberId, NodeId, Party, Proof, Said, Says, ViewId, Word,
};

/// Number of places in the order for which a member set aside by complaints may not join again.
pub(crate) const SET_ASIDE_PLACES: u64 = 32;

/// One ordered change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The node that ordered it.
    pub(crate) node: NodeId,
    /// The place.
    pub(crate) stamp: Stamp,
    /// The party.
    pub(crate) party: Party,
    /// The number of its word; of a detach, the highest of those that are over.
    pub(crate) number: u64,
    /// The change.
    pub(crate) what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    Join(GroupId, SignedJoin),
    Leave(GroupId, Proof),
    Refresh(ViewId),
    /// Nothing: the tables were not merged when it came. It does not count later.
    Complain,
    Detach,
}

impl Group {
    /// Applies a change to the tables. Returns the groups that need a notice, and the cause of
    /// each.
    ///
    /// # Errors
    /// The node does not host the party, although it must.
    pub(crate) fn apply(
        &mut self,
        change: &Change,
        roster: &dyn Roster,
    ) -> Result<(Vec<GroupId>, Cause), GroupError> {
        let Change { node, party, number, .. } = *change;
        match &change.what {
            What::Detach => {}
            // GRP-33: its node may have said it again, after later words.
            What::Leave(..) if self.has_spoken(&party, number) => {}
            _ => self.take_turn(party, number, roster)?,
        }
        let again = self.config.danger.is(Danger::GroupHearsAgain);
        match &change.what {
            What::Join(group, join) => Ok((self.apply_join(change, *group, join, roster), Cause::Join)),
            What::Leave(group, _) => {
                self.check_host(node, party, *group)?;
                // GRP-23: the join that it is about is over already.
                if self.joined_by(party, *group) > Some(number) && !again {
                    return Err(GroupError::PeerStale(party));
                }
                self.note_left(party, *group, number);
                Ok((self.take_out(party, *group, Cause::Leave).into_iter().collect(), Cause::Leave))
            }
            What::Refresh(view) => {
                self.check_host(node, party, view.group)?;
                let newest = self.circles.get(&view.group).and_then(Circle::newest);
                let wanted = again || newest == Some(*view);
                Ok((wanted.then_some(view.group).into_iter().collect(), Cause::Refresh))
            }
            What::Complain => Ok((Vec::new(), Cause::Complaint)),
            What::Detach => {
                let mut groups = self.groups_of(party, node);
                groups.retain(|group| again || self.joined_by(party, *group) <= Some(number));
                let left = groups.into_iter().filter_map(|group| self.take_out(party, group, Cause::Detach));
                Ok((left.collect(), Cause::Detach))
            }
        }
    }

    /// GRP-33: the word of `change`, if it is a Leave of ours that has not taken effect.
    pub(crate) fn unheeded(&self, change: &Change) -> Option<Said> {
        let Change { node, party, number, ref what, .. } = *change;
        let What::Leave(group, proof) = what else { return None };
        self.check_host(node, party, *group).ok()?;
        let is_about = self.joined_by(party, *group).is_some_and(|joined| joined < number);
        let word = Word { party, number, says: Says::Leave { group: *group } };
        is_about.then(|| Said { word, proof: proof.clone() })
    }

    /// GRP-33: remembers that `party` leaves by its own word, until the next notice.
    pub(crate) fn note_left(&mut self, party: Party, group: GroupId, number: u64) {
        let number = if self.config.danger.is(Danger::GroupHearsAgain) { u64::MAX } else { number };
        if let Some(circle) = self.circles.get_mut(&group) {
            circle.note_left(party, number);
        }
    }

    /// GRP-04: a node speaks only for parties that it hosts in that group.
    pub(crate) fn check_host(&self, peer: NodeId, party: Party, group: GroupId) -> Result<(), GroupError> {
        if self.circles.get(&group).is_some_and(|circle| circle.hosts(peer, &party)) {
            return Ok(());
        }
        Err(GroupError::PeerSpokeForAnother { peer, party, group })
    }

    /// The number of the word by which `party` joined `group`, if it is in it.
    fn joined_by(&self, party: Party, group: GroupId) -> Option<u64> {
        Some(self.circles.get(&group)?.resident(&party)?.join.number)
    }

    fn apply_join(
        &mut self,
        change: &Change,
        group: GroupId,
        join: &SignedJoin,
        roster: &dyn Roster,
    ) -> Vec<GroupId> {
        let (node, party) = (change.node, change.party);
        if let Some(refusal) = self.refusal(change, (group, join), roster) {
            if node == self.config.me {
                self.indicate(party, Indication::Refused { group, refusal });
            }
            return Vec::new();
        }
        if self.circles.get(&group).and_then(|circle| circle.resident(&party)).is_some() {
            if self.check_host(node, party, group).is_ok() {
                return Vec::new();
            }
            self.take_out(party, group, Cause::Network);
        }
        let joined = Joined { party, stamp: change.stamp, join: join.clone() };
        self.circles.entry(group).or_default().add(joined, node, self.config.me);
        self.count(node, 1);
        vec![group]
    }

    /// GRP-05 to GRP-08: why this join is refused, by every node alike.
    fn refusal(
        &self,
        change: &Change,
        (group, join): (GroupId, &SignedJoin),
        roster: &dyn Roster,
    ) -> Option<JoinRefusal> {
        if !self.is_of_these(group) {
            return Some(JoinRefusal::OtherCharter);
        }
        if !roster.holds(change.party.member) {
            return Some(JoinRefusal::NotRostered);
        }
        if self.residents.get(&change.node).is_some_and(|count| *count >= MEMBERSHIPS_MAX) {
            return Some(JoinRefusal::Busy);
        }
        let groups = self.circles.len();
        let Some(circle) = self.circles.get(&group) else {
            return (groups >= GROUPS_MAX).then_some(JoinRefusal::TooManyGroups);
        };
        match circle.resident(&change.party) {
            // GRP-22: a node that once hosted the party cannot keep it.
            Some(Resident { node, join: before, .. }) => {
                let moves = before.configuration != join.configuration && before.number < join.number;
                (*node != change.node && !moves).then_some(JoinRefusal::Busy)
            }
            None if circle.is_set_aside(&change.party.member, change.stamp.order) => {
                Some(JoinRefusal::SetAside)
            }
            None if circle.len() >= MEMBERS_MAX => Some(JoinRefusal::GroupFull),
            None if circle.count_of(change.party.member) >= PARTIES_MAX => Some(JoinRefusal::TooManyParties),
            None => None,
        }
    }

    /// GRP-30: whether this group belongs in these tables. Those of a carried charter have its own
    /// group only.
    pub(crate) fn is_of_these(&self, group: GroupId) -> bool {
        self.config.of.is_none_or(|of| of == group) || self.config.danger.is(Danger::NodeAnyCharter)
    }

    /// Removes `party` from `group`, and tells it if it lives here. After a detach it is
    /// not told: nobody listens, or the party knows already. `Some(group)` if it was in the group.
    pub(crate) fn take_out(&mut self, party: Party, group: GroupId, cause: Cause) -> Option<GroupId> {
        let circle = self.circles.get_mut(&group)?;
        let node = circle.resident(&party)?.node;
        circle.remove(&party);
        self.count(node, -1);
        if node == self.config.me && cause != Cause::Detach {
            self.indicate(party, Indication::Removed { group, cause });
        }
        Some(group)
    }

    fn count(&mut self, node: NodeId, change: isize) {
        let count = self.residents.entry(node).or_default();
        *count = count.saturating_add_signed(change);
        if *count == 0 {
            self.residents.remove(&node);
        }
    }

    /// The groups that `party` is in, hosted by `node`.
    pub(crate) fn groups_of(&self, party: Party, node: NodeId) -> Vec<GroupId> {
        let here = |circle: &Circle| circle.resident(&party).is_some_and(|resident| resident.node == node);
        self.circles.iter().filter(|(_, circle)| here(circle)).map(|(group, _)| *group).collect()
    }

    /// Gives each of `groups` its notice, at the place of the message being delivered.
    pub(crate) fn notify(&mut self, groups: &[GroupId], cause: Cause) {
        let Some(configuration) = self.configuration.as_ref().map(|configuration| configuration.id) else {
            return;
        };
        for group in groups {
            let Some(circle) = self.circles.get_mut(group) else { continue };
            if circle.is_empty() {
                self.circles.remove(group);
                continue;
            }
            let view = ViewId { configuration, order: self.place, group: *group };
            let removed = circle.make_notice(view);
            for to in circle.local().iter().filter(|party| self.audience.hears(party)) {
                self.out.push_back(notice_to(*group, view, circle, &removed, cause, *to));
            }
        }
    }

    /// K4: counts a complaint, and removes the suspect if the complaint was the deciding one.
    pub(crate) fn complaint(
        &mut self,
        peer: NodeId,
        party: Party,
        view: ViewId,
        suspect: Party,
    ) -> Result<(), GroupError> {
        self.check_host(peer, party, view.group)?;
        let place = self.place;
        let Some(circle) = self.circles.get_mut(&view.group) else { return Ok(()) };
        match circle.complaint(party, &view, suspect) {
            None => return Err(GroupError::PeerComplaint(party)),
            Some(false) => return Ok(()),
            Some(true) => {}
        }
        // GRP-14: a member that goes on with one silent party after another costs two deadlines at
        // most.
        let out: Vec<Party> = if circle.is_blamed(suspect.member) {
            circle.parties(suspect.member).collect()
        } else {
            vec![suspect]
        };
        circle.set_aside(suspect.member, place, place.saturating_add(SET_ASIDE_PLACES));
        for party in out {
            self.trace(format!("{party} is set aside in {}: the others complain of silence", view.group));
            self.take_out(party, view.group, Cause::Complaint);
        }
        self.notify(&[view.group], Cause::Complaint);
        Ok(())
    }

    /// Removes the members that the roster lost from all groups, at the place of the item just
    /// delivered.
    pub(crate) fn strike(&mut self, removed: &[(MemberId, Cause)]) -> Vec<(GroupId, Party, Cause)> {
        let mut struck = Vec::new();
        for (member, cause) in removed {
            let seats = |(group, circle): (&GroupId, &Circle)| {
                circle.parties(*member).map(|party| (*group, party)).collect::<Vec<_>>()
            };
            let seats: Vec<(GroupId, Party)> = self.circles.iter().flat_map(seats).collect();
            for (group, party) in seats {
                self.take_out(party, group, *cause);
                struck.push((group, party, *cause));
            }
        }
        struck
    }

    /// GRP-17: members were struck from the roster while tables are not merged. Those who were in a
    /// group with them hear that they are lost, before anything that is ordered behind.
    pub(crate) fn tell_struck(&mut self, struck: &[(GroupId, Party, Cause)]) {
        if self.config.danger.is(Danger::GroupStruckUntold) {
            return;
        }
        for (group, party, _) in struck {
            let Some(circle) = self.circles.get_mut(group) else { continue };
            circle.note_lost(*party);
            for to in circle.local().iter().filter(|party| self.audience.hears(party)) {
                let indication = Indication::Transitional { group: *group, lost: vec![*party] };
                self.out.push_back(Output::Member { to: *to, indication });
            }
        }
    }
}
