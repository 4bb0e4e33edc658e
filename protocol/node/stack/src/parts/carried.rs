//! Charters of groups that this ring carries beside its own (`NODE-30`). Each has a transcript and
//! tables by itself: nothing of one is judged by the roster of another, and none of them says who
//! is on the ring.

use super::{Orders, Outbox, Records};
use crate::{Config, NodeError};
use base::limits::CHARTERS_MAX;
use base::{ConfigurationId, GroupId, MemberId, NodeId, StoreKey, UnixTime};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_group::message::{Handle, handle_of};
use folkmoot_group::{self as group, Group};
use folkmoot_transcript::is_package;
use std::collections::{BTreeMap, BTreeSet};

/// The charters, by the groups that they found.
#[derive(Debug, Default)]
pub(crate) struct Carried(BTreeMap<GroupId, Charter>);

/// One of them.
#[derive(Debug)]
pub(crate) struct Charter {
    pub(crate) records: Records,
    pub(crate) group: Group,
}

impl Carried {
    /// Those that the configuration names.
    ///
    /// # Errors
    /// [`NodeError`]: one is not valid, or they are too many, or not different.
    pub(crate) fn new(
        config: &Config,
        ring: GroupId,
        stored: &[(StoreKey, Bytes)],
    ) -> Result<Self, NodeError> {
        let mut all = BTreeMap::new();
        for charter in &config.carries {
            let records = Records::carried(config, charter, stored)?;
            let of = records.transcript().group();
            let tables = group::Config {
                of: Some(of),
                danger: config.danger,
                ..group::Config::new(config.identity.node(), ring, config.signatures())
            };
            let mut one = Charter { records, group: Group::new(tables) };
            one.tell_mark(true);
            if of == ring || all.insert(of, one).is_some() || all.len() > CHARTERS_MAX {
                return Err(NodeError::LocalCharters);
            }
        }
        Ok(Self(all))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The groups that they found, sorted.
    pub(crate) fn ids(&self) -> impl Iterator<Item = GroupId> + '_ {
        self.0.keys().copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Charter> {
        self.0.values()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Charter> {
        self.0.values_mut()
    }

    pub(crate) fn get(&self, charter: &GroupId) -> Option<&Charter> {
        self.0.get(charter)
    }

    pub(crate) fn get_mut(&mut self, charter: &GroupId) -> Option<&mut Charter> {
        self.0.get_mut(charter)
    }

    /// The one whose group has this handle.
    pub(crate) fn with_handle(&mut self, handle: &Handle) -> Option<&mut Charter> {
        self.0.iter_mut().find(|(id, _)| handle_of(&id.0) == *handle).map(|(_, charter)| charter)
    }

    /// The next output of any of their tables.
    pub(crate) fn poll_output(&mut self) -> Option<(GroupId, group::Output)> {
        self.0.iter_mut().find_map(|(id, charter)| Some((*id, charter.group.poll_output()?)))
    }

    /// Tells tables of a transcript that changed. `false` if none did.
    pub(crate) fn tell_marks(&mut self) -> bool {
        let due = self.0.values_mut().find(|charter| charter.records.is_mark_due());
        due.map(|charter| charter.tell_mark(false)).is_some()
    }

    /// GRP-32: what this node does not carry it has no part in.
    pub(crate) fn leave_out(&mut self, node: NodeId, place: u64, carries: &[GroupId]) {
        for (id, charter) in &mut self.0 {
            if !carries.contains(id) {
                let (records, group) = charter.both();
                group.without(node, place, &|member: MemberId| records.holds(member));
            }
        }
    }

    /// NODE-34: whose State is awaited in any of their tables. Whose transcript stays different is
    /// not among them: that holds up its charter's group alone.
    pub(crate) fn silent(&self) -> Vec<NodeId> {
        self.0.values().flat_map(|charter| charter.group.silent()).collect()
    }

    /// Of each the members, whom a mutant takes for members by all charters.
    pub(crate) fn members(&self) -> BTreeSet<MemberId> {
        self.0.values().flat_map(|charter| charter.records.members()).collect()
    }
}

impl Charter {
    pub(crate) fn both(&mut self) -> (&Records, &mut Group) {
        (&self.records, &mut self.group)
    }

    /// The records, and where what they order goes.
    pub(crate) fn ordering<'a>(&'a mut self, out: &'a mut Outbox) -> (&'a mut Records, Orders<'a>) {
        (&mut self.records, Orders { group: &mut self.group, out })
    }

    fn tell_mark(&mut self, whole: bool) {
        let whole = whole || !self.group.is_settled();
        self.group.mark(self.records.mark_for_group(whole));
    }

    /// The ring has a new configuration.
    pub(crate) fn begin(&mut self, id: ConfigurationId, members: &[NodeId]) {
        self.records.provide_anew();
        self.tell_mark(true);
        let (records, group) = self.both();
        group.regular(id, members, &|member: MemberId| records.holds(member));
    }

    pub(crate) fn hear_clock(&mut self, time: UnixTime, out: &mut Outbox) {
        let (records, mut orders) = self.ordering(out);
        // Whoever went by that has not come to this ring.
        drop(records.hear_clock(time, &mut orders));
    }

    /// An item, or a package, has its place in the order. A package counts only while the
    /// transcripts are compared: where they are equal, it leads nobody on. Who is a member by it.
    pub(crate) fn take(&mut self, item: &Bytes, out: &mut Outbox) -> BTreeSet<MemberId> {
        let taken = match is_package(item) {
            true if self.group.is_settled() => None,
            true => self.records.go_on(item, out),
            false => self.records.take(item, out),
        };
        let Some(taken) = taken else { return BTreeSet::new() };
        let gone = self.records.endings(&taken);
        if !gone.is_empty() {
            self.group.roster_changed(&gone);
        }
        if taken.advanced {
            let (records, mut orders) = self.ordering(out);
            records.order_due(&mut orders);
        }
        taken.came
    }
}
