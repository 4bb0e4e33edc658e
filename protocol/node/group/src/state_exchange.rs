//! The state exchange of a new configuration: every node says which parties live on it and which
//! transcript it has. When all nodes have done so and all transcripts are equal, the tables are
//! merged, at one place in the order.
//!
//! ```text
//! Idle --regular--> Exchange --last State or Mark, all equal---> Open
//!                     ^  ^                                         |
//!             regular |  '-------------- Split <-- transitional ---'   (from Exchange too)
//!                     '----------------------'
//! ```
//! A node is the authority on its own parties, so a merge needs nothing of the earlier tables.
//! Changes that are ordered meanwhile are kept and become part of the merge: each group gets one
//! notice, not one for each change.
//! Source: Spread's GROUPS state transfer. Departures: docs/protocol/group.md.

use crate::circle::{Circle, Resident};
use crate::mark::MarkId;
use crate::message::{Control, Declaration, GroupState, Handle, Joined, Noticed, STOOD_MAX, Speaker, State};
use crate::ordered::{Change, What};
use crate::{Configuration, Group, GroupError, MARK_NAMES_MAX, MEMBERSHIPS_MAX, Mark, Output, Phase, Roster};
use folkmoot_base::limits::{CHARTERS_MAX, GROUPS_MAX, MEMBERS_MAX, PARTIES_MAX};
use folkmoot_base::{
    Buffer, Cause, ConfigurationId, Danger, GroupId, Indication, NodeId, Party, Service, ViewId,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Most changes kept while tables are merged. Further ones are dropped, and a later State makes up
/// for the leaves among them.
pub(crate) const CHANGES_MAX: usize = 65_536;
/// Most messages of parties not yet merged that are kept until the merge.
const DEFERRED_MAX: usize = 1_024;
/// Most bytes of those messages.
const DEFERRED_BYTES_MAX: usize = 1024 * 1024;
// The largest State fits a message of the ring. Of a membership: party 34, stamp 16, configuration
// 56, number 8; key 426 and signature 387, of RSA with 3072 bits. Of a group: id 32, notice 129,
// labels 66, length 4. Of the rest: a mark of 32 KiB, and less than a kilobyte.
const _: () = assert!(
    MEMBERSHIPS_MAX * 927 + GROUPS_MAX * 231 + MARK_NAMES_MAX * 16 + CHARTERS_MAX * 32 + 1_024
        < folkmoot_base::limits::ORDERED_BYTES_MAX
);
/// Most pairs of marks, ours and another's, for which a node provides in one configuration.
const PROVIDED_MAX: usize = 4_096;

/// What is collected while a configuration's tables are merged.
#[derive(Debug, Default)]
pub(crate) struct StateExchange {
    states: BTreeMap<NodeId, Vec<GroupState>>,
    marks: BTreeMap<NodeId, Mark>,
    /// The number of the last mark of each.
    numbers: BTreeMap<NodeId, u32>,
    /// Our marks and others' for which we have provided.
    provided: BTreeSet<(MarkId, MarkId)>,
    deferred: VecDeque<Deferred>,
    deferred_bytes: usize,
}

/// A message whose sender's node did not come with us.
#[derive(Debug)]
pub(crate) struct Deferred {
    pub(crate) node: NodeId,
    pub(crate) group: Handle,
    pub(crate) sender: Speaker,
    pub(crate) service: Service,
    pub(crate) payload: Buffer,
}

impl StateExchange {
    /// A node has no part in it.
    pub(crate) fn leave_out(&mut self, node: &NodeId) {
        self.states.remove(node);
        self.marks.remove(node);
    }

    /// GRP-11: keeps a message until the merge, if there is room.
    pub(crate) fn defer(&mut self, data: Deferred) -> bool {
        let bytes = self.deferred_bytes.saturating_add(data.payload.len());
        let room = self.deferred.len() < DEFERRED_MAX && bytes <= DEFERRED_BYTES_MAX;
        if room {
            self.deferred_bytes = bytes;
            self.deferred.push_back(data);
        }
        room
    }
}

/// What the hosts of a group's parties say of its newest notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agreed {
    Same(Noticed),
    Differ,
}

impl Agreed {
    fn is(&self, view: &ViewId) -> bool {
        matches!(self, Self::Same(noticed) if noticed.view == *view)
    }
}

impl Group {
    /// Starts the exchange for a configuration.
    pub(crate) fn begin(&mut self, id: ConfigurationId, members: &[NodeId], roster: &dyn Roster) {
        let nodes: BTreeSet<NodeId> = members.iter().copied().collect();
        self.configuration = Some(Configuration { id, nodes: nodes.clone() });
        self.place = 0;
        self.settle_own_changes(roster);
        self.spoken.clear();
        self.lose(&nodes, false);
        for circle in self.circles.values_mut() {
            circle.close_departing();
        }
        self.phase = Phase::Exchange(StateExchange::default());
        let charters = self.config.carries.iter().copied().take(CHARTERS_MAX).collect();
        let (mark, groups) = (self.mark.clone(), self.own_groups());
        let state = State { configuration: id, mark, charters, groups };
        self.stated = self.mark.id();
        self.stated_number = 0;
        self.stating = true;
        self.declare(Declaration::State(state));
    }

    /// Changes ordered since the tables were last merged: our own take effect now, and those of
    /// others come with their States. But a Leave is ordered again (GRP-33): nodes that were not in
    /// the last configuration did not hear it, and would take the party for lost.
    fn settle_own_changes(&mut self, roster: &dyn Roster) {
        let mut changes = VecDeque::from(std::mem::take(&mut self.changes));
        changes.retain(|change| change.node == self.config.me);
        while let Some(change) = changes.pop_front() {
            let comes_back = |later: &Change| {
                later.party == change.party && matches!(later.what, What::Join(..) | What::Detach)
            };
            match self.unheeded(&change).filter(|_| !changes.iter().any(comes_back)) {
                Some(said) => self.order(&Control::Party(said)),
                None => self.apply_quietly(&change, roster),
            }
        }
    }

    fn apply_quietly(&mut self, change: &Change, roster: &dyn Roster) {
        if let Err(error) = self.apply(change, roster) {
            self.trace(error.to_string());
        }
    }

    fn own_groups(&self) -> Vec<GroupState> {
        let state = |(group, circle): (&GroupId, &Circle)| GroupState {
            group: *group,
            noticed: circle.noticed(),
            stood: circle.stood(),
            members: circle.local_joined(),
        };
        self.circles.iter().filter(|(_, circle)| !circle.local().is_empty()).map(state).collect()
    }

    /// Marks the parties of all nodes but `nodes` as lost, and tells the local parties.
    pub(crate) fn lose(&mut self, nodes: &BTreeSet<NodeId>, heard: bool) {
        if self.config.danger.is(Danger::GroupKeepsLost) {
            return;
        }
        for (group, circle) in &mut self.circles {
            let lost = circle.lose(nodes, heard);
            if lost.is_empty() {
                continue;
            }
            for to in circle.local().iter().filter(|party| self.audience.hears(party)) {
                let indication = Indication::Transitional { group: *group, lost: lost.clone() };
                self.out.push_back(Output::Member { to: *to, indication });
            }
        }
    }

    /// A node's State came.
    pub(crate) fn state(
        &mut self,
        peer: NodeId,
        state: State,
        roster: &dyn Roster,
    ) -> Result<(), GroupError> {
        if !self.is_current(&state.configuration) {
            return Ok(());
        }
        check_state(peer, &state, self.config.of)?;
        let Phase::Exchange(exchange) = &self.phase else {
            return if matches!(self.phase, Phase::Split) {
                Ok(())
            } else {
                Err(GroupError::PeerOutOfTurn(peer))
            };
        };
        if exchange.states.contains_key(&peer) {
            return Err(GroupError::PeerOutOfTurn(peer));
        }
        self.check_joins(peer, &state)?;
        let Phase::Exchange(exchange) = &mut self.phase else { return Ok(()) };
        exchange.states.insert(peer, state.groups);
        exchange.marks.insert(peer, state.mark);
        if self.config.of.is_none() {
            let (place, charters) = (self.place, state.charters);
            self.out.push_back(Output::Carries { node: peer, place, charters });
        }
        self.after_mark(peer, roster);
        Ok(())
    }

    /// A node's transcript changed during the exchange.
    pub(crate) fn mark_came(
        &mut self,
        peer: NodeId,
        configuration: &ConfigurationId,
        (number, mark): (u32, Mark),
        roster: &dyn Roster,
    ) -> Result<(), GroupError> {
        if !self.is_current(configuration) {
            return Ok(());
        }
        check_mark(peer, &mark)?;
        let again = self.config.danger.is(Danger::GroupHearsAgain);
        let Phase::Exchange(exchange) = &mut self.phase else { return Ok(()) };
        let last = exchange.numbers.get(&peer).copied().unwrap_or_default();
        if !exchange.states.contains_key(&peer) || (number <= last && !again) {
            return Err(GroupError::PeerOutOfTurn(peer));
        }
        exchange.numbers.insert(peer, number);
        exchange.marks.insert(peer, mark);
        self.after_mark(peer, roster);
        Ok(())
    }

    /// The other nodes of the configuration that have not sent a State. If all have, those whose
    /// transcripts differ from ours.
    pub(crate) fn awaited_nodes(&self) -> Vec<NodeId> {
        let silent = self.silent_nodes();
        if !silent.is_empty() {
            return silent;
        }
        let (Phase::Exchange(exchange), Some(configuration)) = (&self.phase, &self.configuration) else {
            return Vec::new();
        };
        let others = || configuration.nodes.iter().copied().filter(|node| *node != self.config.me);
        others()
            .filter(|node| exchange.marks.get(node).is_none_or(|mark| mark.id() != self.mark.id()))
            .collect()
    }

    /// The other nodes of the configuration that have not sent a State.
    pub(crate) fn silent_nodes(&self) -> Vec<NodeId> {
        let (Phase::Exchange(exchange), Some(configuration)) = (&self.phase, &self.configuration) else {
            return Vec::new();
        };
        let silent = |node: &&NodeId| **node != self.config.me && !exchange.states.contains_key(*node);
        configuration.nodes.iter().filter(silent).copied().collect()
    }

    fn is_current(&self, id: &ConfigurationId) -> bool {
        self.configuration.as_ref().is_some_and(|configuration| configuration.id == *id)
    }

    fn after_mark(&mut self, peer: NodeId, roster: &dyn Roster) {
        if peer == self.config.me {
            self.stating = false;
        }
        self.go_on(roster);
    }

    /// Merges the tables if all has come and is equal; else does what leads there.
    pub(crate) fn go_on(&mut self, roster: &dyn Roster) {
        let nodes = self.configuration.as_ref().map_or(0, |configuration| configuration.nodes.len());
        let Phase::Exchange(exchange) = &self.phase else { return };
        if exchange.states.len() < nodes {
            return self.restate();
        }
        let mut all = exchange.marks.values().map(Mark::id);
        let first = all.next();
        if all.all(|id| Some(id) == first) {
            return self.merge(roster);
        }
        self.provide();
        self.restate();
    }

    /// Sends our mark again, if it changed and no earlier message with it is still on its way.
    pub(crate) fn restate(&mut self) {
        let Some(configuration) = &self.configuration else { return };
        if !matches!(self.phase, Phase::Exchange(_)) || self.stating || self.stated == self.mark.id() {
            return;
        }
        let configuration = configuration.id;
        self.stated = self.mark.id();
        self.stated_number = self.stated_number.saturating_add(1);
        self.stating = true;
        let (number, mark) = (self.stated_number, self.mark.clone());
        self.declare(Declaration::Mark { configuration, number, mark });
    }

    /// GRP-10: for each mark, the first node that shows it provides what nodes with other marks
    /// lack, once for each pair of marks.
    fn provide(&mut self) {
        let me = self.config.me;
        let Phase::Exchange(exchange) = &mut self.phase else { return };
        let Some(own) = exchange.marks.get(&me).map(Mark::id) else { return };
        let first = exchange.marks.iter().find(|(_, mark)| mark.id() == own).map(|(node, _)| *node);
        if first != Some(me) {
            return;
        }
        let mut behind = Vec::new();
        for mark in exchange.marks.values().filter(|mark| mark.id() != own) {
            let room = exchange.provided.len() < PROVIDED_MAX;
            if room && exchange.provided.insert((own, mark.id())) {
                behind.push(mark.clone());
            }
        }
        if !behind.is_empty() {
            self.out.push_back(Output::Reconcile { behind });
        }
    }

    /// The tables of all nodes, and the changes ordered meanwhile, become the table of this
    /// configuration.
    fn merge(&mut self, roster: &dyn Roster) {
        let Phase::Exchange(exchange) = std::mem::replace(&mut self.phase, Phase::Open) else { return };
        let before = self.local_memberships();
        let agreed = self.unite(&exchange.states);
        for (party, group) in before {
            let still = self.circles.get(&group).is_some_and(|circle| circle.local().contains(&party));
            if !still {
                self.indicate(party, Indication::Removed { group, cause: Cause::Network });
            }
        }
        let mut refreshed = BTreeSet::new();
        for change in std::mem::take(&mut self.changes) {
            // Which notice is the newest all nodes know from what the hosts agree on. If they do
            // not, there is a new one in any case.
            if let What::Refresh(view) = &change.what
                && agreed.get(&view.group).is_some_and(|said| said.is(view))
                && self.check_host(change.node, change.party, view.group).is_ok()
            {
                refreshed.insert(view.group);
            }
            self.apply_quietly(&change, roster);
        }
        self.sift(roster);
        self.notify_changed(&agreed, &refreshed);
        self.trace(format!("tables merged: {} groups", self.circles.len()));
        for data in exchange.deferred {
            self.hand_out(data);
        }
    }

    fn local_memberships(&self) -> Vec<(Party, GroupId)> {
        let residents = |(group, circle): (&GroupId, &Circle)| {
            circle.local().iter().map(|party| (*party, *group)).collect::<Vec<_>>()
        };
        self.circles.iter().flat_map(residents).collect()
    }

    /// Replaces the tables by the union of the States. If two nodes claim a party, the one has it
    /// at which it joined last, by its own count (GRP-22).
    fn unite(&mut self, states: &BTreeMap<NodeId, Vec<GroupState>>) -> BTreeMap<GroupId, Agreed> {
        let me = self.config.me;
        let kept = self.kept_lost();
        for circle in self.circles.values_mut() {
            circle.clear();
        }
        let mut agreed: BTreeMap<GroupId, Agreed> = BTreeMap::new();
        for (node, groups) in states {
            for state in groups {
                let said = state.noticed.map_or(Agreed::Differ, Agreed::Same);
                let entry = agreed.entry(state.group).or_insert(said);
                if *entry != said {
                    *entry = Agreed::Differ;
                }
                let circle = self.circles.entry(state.group).or_default();
                for joined in &state.members {
                    let before = circle.resident(&joined.party).map(|resident| resident.join.number);
                    if before < Some(joined.join.number) {
                        circle.remove(&joined.party);
                        circle.add(joined.clone(), *node, me);
                        circle.came(&joined.party, &state.stood);
                    }
                }
            }
        }
        for (group, joined, node) in kept {
            self.circles.entry(group).or_default().add(joined, node, me);
        }
        // The same set of groups everywhere, because GROUPS_MAX is counted on it.
        self.circles.retain(|_, circle| !circle.is_empty());
        self.recount();
        agreed
    }

    /// The residents of lost nodes, which the mutant keeps.
    fn kept_lost(&self) -> Vec<(GroupId, Joined, NodeId)> {
        let Some(configuration) = &self.configuration else { return Vec::new() };
        if !self.config.danger.is(Danger::GroupKeepsLost) {
            return Vec::new();
        }
        let residents = self.circles.iter().flat_map(|(group, circle)| {
            circle.residents().map(|(party, Resident { node, stamp, join, .. })| {
                (*group, Joined { party: *party, stamp: *stamp, join: join.clone() }, *node)
            })
        });
        residents.filter(|(_, _, node)| !configuration.nodes.contains(node)).collect()
    }

    fn recount(&mut self) {
        self.residents.clear();
        for circle in self.circles.values() {
            for (_, resident) in circle.residents() {
                let count = self.residents.entry(resident.node).or_default();
                *count = count.saturating_add(1);
            }
        }
    }

    /// GRP-05, GRP-07: removes members that are not on the roster, and whatever exceeds the limits.
    fn sift(&mut self, roster: &dyn Roster) {
        let mut out: Vec<(Party, GroupId, Cause)> = Vec::new();
        let full = self.circles.iter().filter(|(_, circle)| !circle.is_empty());
        for (index, (group, circle)) in full.enumerate() {
            let (mut kept, mut of_member) = (0_usize, (None, 0_usize));
            let is_here = index < GROUPS_MAX && self.is_of_these(*group);
            for (party, _) in circle.residents() {
                if of_member.0 != Some(party.member) {
                    of_member = (Some(party.member), 0);
                }
                if !roster.holds(party.member) {
                    out.push((*party, *group, Cause::Expelled));
                } else if !is_here || kept >= MEMBERS_MAX || of_member.1 >= PARTIES_MAX {
                    out.push((*party, *group, Cause::Network));
                } else {
                    kept = kept.saturating_add(1);
                    of_member.1 = of_member.1.saturating_add(1);
                }
            }
        }
        for (party, group, cause) in out {
            self.take_out(party, group, cause);
        }
    }

    /// GRP-09: there is no notice only if all hosts of parties name the same notice, and it lists
    /// exactly the merged parties.
    fn notify_changed(&mut self, agreed: &BTreeMap<GroupId, Agreed>, refreshed: &BTreeSet<GroupId>) {
        let mut changed = Vec::new();
        for (group, circle) in &mut self.circles {
            match agreed.get(group) {
                Some(Agreed::Same(noticed))
                    if !refreshed.contains(group) && noticed.digest == circle.fingerprint() =>
                {
                    let view: ViewId = noticed.view;
                    circle.keep_notice(view);
                }
                _ => changed.push(*group),
            }
        }
        self.notify(&changed, Cause::Network);
    }
}

/// GRP-03: sorted, and no larger than a node's State may be.
fn check_state(peer: NodeId, state: &State, of: Option<GroupId>) -> Result<(), GroupError> {
    check_mark(peer, &state.mark)?;
    if state.charters.len() > CHARTERS_MAX {
        return Err(GroupError::PeerTooLarge(peer));
    }
    // GRP-30: tables of a carried charter have its group, and nothing else.
    let strange =
        of.is_some_and(|of| !state.charters.is_empty() || state.groups.iter().any(|group| group.group != of));
    if strange || !state.charters.is_sorted_by(|a, b| a < b) {
        return Err(GroupError::PeerOutOfTurn(peer));
    }
    let sorted = state.groups.is_sorted_by(|a, b| a.group < b.group)
        && state.groups.iter().all(|group| group.members.is_sorted_by(|a, b| a.party < b.party));
    if !sorted || state.groups.iter().any(|group| group.members.is_empty()) {
        return Err(GroupError::PeerOutOfTurn(peer));
    }
    if state.groups.iter().any(|group| group.stood.len() > STOOD_MAX) {
        return Err(GroupError::PeerTooLarge(peer));
    }
    let residents: usize = state.groups.iter().map(|group| group.members.len()).sum();
    if residents > MEMBERSHIPS_MAX || state.groups.len() > GROUPS_MAX {
        return Err(GroupError::PeerTooLarge(peer));
    }
    Ok(())
}

fn check_mark(peer: NodeId, mark: &Mark) -> Result<(), GroupError> {
    if mark.names.len() > MARK_NAMES_MAX {
        return Err(GroupError::PeerTooLarge(peer));
    }
    if !mark.is_sorted() {
        return Err(GroupError::PeerOutOfTurn(peer));
    }
    Ok(())
}
