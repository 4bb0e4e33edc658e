//! Groups that have charters of their own, on a ring of another charter.
//!
//! ```text
//!   ToNode of a party of charter A --> tables and records of A --> ring --> tables and records of A at every node that carries A
//!   ToNode of a party of the ring  --> the ring's own          --> ring --> the ring's own
//! ```
//! The ring's charter says who carries and orders; the group's, who is in. This node keeps the
//! transcripts of both, and asks for each message the one that it is about. A node that does not
//! carry a charter orders its bytes, and knows nothing of its group.

use crate::Node;
use crate::parts::{Charter, Records};
use base::{Danger, Framed, GroupId, Instant, Party};
use bytes::Bytes;
use folkmoot_attach::ToMember;
use folkmoot_base as base;
use folkmoot_group::message::{Tables, tables_of};
use folkmoot_group::{self as group, Group};
use folkmoot_transcript::Transcript;

/// How a charter stands that a node carries beside its ring's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Carrying {
    /// The group that it founds.
    pub group: GroupId,
    /// The group's name.
    pub name: String,
    /// How many members the charter's roster has, as far as this node knows.
    pub members: usize,
    /// The parties in the group, at whichever node; nobody as long as the tables are not merged.
    pub parties: Vec<Party>,
    /// How many of those that are members by this charter, or ask to be, are attached here.
    pub attached: usize,
    /// Whether all nodes that carry it have the same transcript of it, and the same tables.
    pub settled: bool,
}

impl Node {
    /// The charters that it carries beside its ring's, and how each stands.
    pub fn carrying(&self) -> Vec<Carrying> {
        let carrying = |(group, charter): (GroupId, &Charter)| {
            let roster = charter.records.transcript().roster();
            let settled = charter.group.is_settled();
            let parties = if settled { charter.group.members(group) } else { Vec::new() };
            Carrying {
                group,
                name: roster.charter().name().as_str().to_owned(),
                members: roster.len(),
                parties,
                attached: self.out.parties_of(&group).count(),
                settled,
            }
        };
        self.carried.ids().zip(self.carried.iter()).map(carrying).collect()
    }

    /// The transcript of a charter that this node carries, as it verified it: a party that is a
    /// member by it starts from there.
    pub fn carried(&self, charter: &GroupId) -> Option<&Transcript> {
        self.carried.get(charter).map(|charter| charter.records.transcript())
    }

    /// The charters that it carries beside its ring's, and whether all nodes that carry one have
    /// the same transcript of it, and the same tables.
    pub fn carries(&self) -> impl Iterator<Item = (GroupId, bool)> + '_ {
        self.carried.ids().zip(self.carried.iter().map(|charter| charter.group.is_settled()))
    }

    pub(crate) fn begin_carrying(&mut self, ring: GroupId) {
        if !self.carried.is_empty() {
            self.out.carries(ring);
        }
        self.mix();
    }

    /// The tables that a group is in: those of its own charter, or the ring's.
    pub(crate) fn tables(&mut self, group: &GroupId) -> &mut Group {
        match self.carried.get_mut(group) {
            Some(charter) => &mut charter.group,
            None => &mut self.group,
        }
    }

    /// The roster and the tables that a message from the ring is for. `None`: it is of a charter
    /// that this node does not carry.
    pub(crate) fn tables_of(&mut self, message: &mut Framed) -> Option<(&Records, &mut Group)> {
        let tables = tables_of(message);
        let charter = match &tables {
            Tables::Ring => None,
            Tables::Charter(handle) | Tables::Group(handle) => self.carried.with_handle(handle),
        };
        match (charter, tables) {
            (Some(charter), _) => Some(charter.both()),
            (None, Tables::Charter(_)) => None,
            (None, Tables::Ring | Tables::Group(_)) => Some((&self.records, &mut self.group)),
        }
    }

    /// NODE-30: a party lives here from now on, if the node carries its charter.
    pub(crate) fn attach(&mut self, party: Party, charter: GroupId) {
        let known = charter == self.records.transcript().group() || self.carried.get(&charter).is_some();
        if !known {
            let text = format!("{party} is a member by {charter}, which this node does not carry (NODE-30)");
            return self.out.refuse("node", &text);
        }
        if self.out.charter_of(&party).is_some() {
            return self.out.refuse("group", &group::GroupError::LocalAttached(party));
        }
        match self.tables(&charter).attach(party) {
            Ok(()) => {
                self.meet(party, &charter, true);
                self.out.attached(party, charter);
            }
            Err(error) => self.out.refuse("group", &error),
        }
    }

    pub(crate) fn detach(&mut self, party: Party) {
        let charter = self.out.detached(&party);
        let charter = charter.unwrap_or_else(|| self.records.transcript().group());
        self.meet(party, &charter, false);
        self.accounts.detached(&party);
        if let Err(error) = self.tables(&charter).detach(party) {
            self.out.refuse("group", &error);
        }
    }

    /// NODE-31: a member here says something about its charter.
    pub(crate) fn order_own(&mut self, charter: &GroupId, item: &Bytes) {
        if *charter == self.records.transcript().group() {
            let (records, mut orders) = self.ordering();
            return records.order_own(item, &mut orders);
        }
        let Self { carried, out, .. } = self;
        match carried.get_mut(charter) {
            Some(charter) => {
                let (records, mut orders) = charter.ordering(out);
                records.order_own(item, &mut orders);
            }
            None => out.refuse("node", &format!("{charter} is not carried here (NODE-30)")),
        }
    }

    /// What the tables of a carried charter say.
    pub(crate) fn hear_carried(&mut self, now: Instant, charter: GroupId, output: group::Output) {
        let Self { carried, out, .. } = self;
        match output {
            group::Output::Submit { .. } if self.config.danger.is(Danger::NodeCarriesSilently) => {}
            group::Output::Submit { party, service, lead, payload, account } => {
                self.submit(now, crate::parts::Submission { party, service, lead, payload, account });
            }
            group::Output::Member { to, indication } => {
                self.accounts.told(to, &indication);
                out.tell_one(to, ToMember::Group(indication));
            }
            group::Output::Item(item) => {
                let came = carried.get_mut(&charter).map(|charter| charter.take(&item, out));
                came.into_iter().flatten().for_each(|member| self.enter(member, &charter));
                self.mix();
            }
            group::Output::Reconcile { behind } => {
                if let Some((records, mut orders)) = carried.get_mut(&charter).map(|one| one.ordering(out)) {
                    records.reconcile(&behind, &mut orders);
                }
            }
            group::Output::Carries { .. } => {}
            group::Output::Trace(text) => out.trace("group", text),
        }
    }

    /// The mutant takes members by any charter for members by all.
    pub(crate) fn mix(&mut self) {
        if !self.config.danger.is(Danger::NodeAnyCharter) {
            return;
        }
        let mut all = self.carried.members();
        all.extend(self.records.members());
        self.records.mix(&all);
        self.carried.iter_mut().for_each(|charter: &mut Charter| charter.records.mix(&all));
    }
}
