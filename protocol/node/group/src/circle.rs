//! The table of one group: its parties with their nodes and joins, the newest notice, and the
//! complaints.

use crate::Output;
use crate::audience::parties_of;
use crate::message::{
    Handle, Joined, NoticeLabel, Noticed, STOOD_MAX, SignedJoin, Speaker, Stamp, label_of, lowest,
};
use folkmoot_base::{Cause, ConfigurationId, GroupId, Indication, MemberId, NodeId, Party, ViewId, digest};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Most parties that are taken out of a group and may still be heard.
const FORMER_MAX: usize = 1_024;
/// Notices since the last merge in which complaints still count.
const RECENT_NOTICES_MAX: usize = 256;

/// A party of a group, at the node where it lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resident {
    /// The node where it lives.
    pub(crate) node: NodeId,
    /// The join that made it a party.
    pub(crate) stamp: Stamp,
    /// What its member signed for that.
    pub(crate) join: SignedJoin,
    /// Serial of the first notice that lists it.
    since: u64,
    /// The notices that its node named for it at the last merge: the party may still be in the
    /// view of one of them, and wait for the parties of that view.
    stood: Vec<NoticeLabel>,
}

/// A party whose node was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Departing {
    node: NodeId,
    /// The number of the word by which it joined.
    joined: u64,
}

/// The set of parties among whom complaints are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Jury {
    /// Those of a notice since the last merge, by its serial.
    Notice(u64),
    /// Those who came to the last merge from the notice with this label.
    Before(NoticeLabel),
}

#[derive(Debug, Clone)]
struct Notice {
    view: ViewId,
    /// Made since the last merge; not kept over a merge.
    fresh: bool,
    digest: [u8; 32],
    members: BTreeMap<Party, Stamp>,
}

/// Parties of the previous notice that did not stay.
#[derive(Debug, Clone)]
pub(crate) struct Removed {
    removed: Vec<Party>,
    /// Those of them that left by their own word.
    left: Vec<Party>,
}

/// The table of one group.
#[derive(Debug, Clone, Default)]
pub(crate) struct Circle {
    residents: BTreeMap<Party, Resident>,
    /// The parties of `residents` that live here.
    local: BTreeSet<Party>,
    /// Lost at the transitional signal; still heard until the next configuration.
    departing: BTreeMap<Party, Departing>,
    /// Taken out in this configuration, the latest last: what they sent before may still come, if
    /// it has no place.
    former: VecDeque<(Party, NodeId)>,
    notice: Option<Notice>,
    /// Parties of `notice` that were lost since, whether or not they are back.
    lost: BTreeSet<Party>,
    /// Parties of `notice` that left by their own word since, whether or not they are back.
    left: BTreeSet<Party>,
    /// Number of notices so far; serials are local.
    serial: u64,
    /// Labels of the latest notices here, including those from before the last merge.
    stood: VecDeque<NoticeLabel>,
    /// Configuration, place and serial of the notices since the last merge.
    recent: VecDeque<(ConfigurationId, u64, u64)>,
    /// Complaints about a party, by the members that made them.
    votes: BTreeMap<(Jury, Party), BTreeSet<MemberId>>,
    /// Members of which a party was set aside by complaints, and the first place in the order at
    /// which a party of each may join again. Another port is no way round.
    set_aside: BTreeMap<MemberId, u64>,
    /// Members in the group of which a party was set aside since the last merge.
    blamed: BTreeSet<MemberId>,
}

impl Circle {
    pub(crate) fn resident(&self, party: &Party) -> Option<&Resident> {
        self.residents.get(party)
    }

    pub(crate) fn len(&self) -> usize {
        self.residents.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.residents.is_empty()
    }

    pub(crate) fn members(&self) -> Vec<Party> {
        self.residents.keys().copied().collect()
    }

    /// The parties of `member` in the group.
    pub(crate) fn parties(&self, member: MemberId) -> impl Iterator<Item = Party> {
        self.residents.range(parties_of(member)).map(|(party, _)| *party)
    }

    /// How many parties `member` has in the group.
    pub(crate) fn count_of(&self, member: MemberId) -> usize {
        self.parties(member).count()
    }

    pub(crate) fn local(&self) -> &BTreeSet<Party> {
        &self.local
    }

    pub(crate) fn residents(&self) -> impl Iterator<Item = (&Party, &Resident)> {
        self.residents.iter()
    }

    /// Adds `party`, which was not in the group.
    pub(crate) fn add(&mut self, joined: Joined, node: NodeId, me: NodeId) {
        let since = self.serial.saturating_add(1);
        let Joined { party, stamp, join } = joined;
        self.residents.insert(party, Resident { node, stamp, join, since, stood: Vec::new() });
        if node == me {
            self.local.insert(party);
        }
    }

    /// `party` came to the merge from these notices.
    pub(crate) fn came(&mut self, party: &Party, stood: &[NoticeLabel]) {
        if let Some(resident) = self.residents.get_mut(party) {
            resident.stood = stood.to_vec();
        }
    }

    /// The latest notices that local parties were told of, also from before merges: a State names
    /// them for these parties.
    pub(crate) fn stood(&self) -> Vec<NoticeLabel> {
        self.stood.iter().copied().collect()
    }

    fn stand(&mut self, view: &ViewId) {
        let label = label_of(view);
        if self.local.is_empty() {
            self.stood.clear();
        } else if self.stood.back() != Some(&label) {
            self.stood.push_back(label);
        }
        if self.stood.len() > STOOD_MAX {
            self.stood.pop_front();
        }
    }

    /// Removes `party`. Returns `false` if it was not in the group.
    pub(crate) fn remove(&mut self, party: &Party) -> bool {
        self.local.remove(party);
        self.departing.remove(party);
        let resident = self.residents.remove(party);
        let was = resident.is_some();
        self.former.extend(resident.map(|resident| (*party, resident.node)));
        if self.former.len() > FORMER_MAX {
            self.former.pop_front();
        }
        let gone = self.count_of(party.member) == 0;
        if gone {
            self.blamed.remove(&party.member);
        }
        if was && !self.votes.is_empty() {
            self.votes.retain(|(_, suspect), voters| {
                if gone {
                    voters.remove(&party.member);
                }
                suspect != party && !voters.is_empty()
            });
        }
        was
    }

    /// Whether `node` may speak for `party` here: it hosts the party, or did until the
    /// transitional signal.
    pub(crate) fn hosts(&self, node: NodeId, party: &Party) -> bool {
        self.residents.get(party).is_some_and(|resident| resident.node == node)
            || self.departing.get(party).is_some_and(|departing| departing.node == node)
    }

    /// The party that `speaker` names at `node`, if the node may speak for it here. If two members
    /// of one node had one handle, it would be the one with the lower id.
    pub(crate) fn speaker(&self, node: NodeId, speaker: Speaker) -> Option<Party> {
        let (handle, port) = match speaker {
            Speaker::Own => return Some(node.member().into()).filter(|party| self.hosts(node, party)),
            Speaker::Other(handle, port) => (handle, port),
        };
        let from = Party::from(MemberId(lowest(&handle)));
        let here = self.residents.range(from..).map(|(party, _)| party);
        let lost = self.departing.range(from..).map(|(party, _)| party);
        let named = |party: &&Party| party.member.0.starts_with(&handle);
        let mut all = here.take_while(named).chain(lost.take_while(named));
        all.find(|party| party.port == port && self.hosts(node, party)).copied()
    }

    /// The same among the parties taken out in this configuration, for a message without a place
    /// (GRP-16).
    pub(crate) fn former_speaker(&self, node: NodeId, speaker: Speaker) -> Option<Party> {
        let named = |party: &Party| match speaker {
            Speaker::Own => *party == Party::from(node.member()),
            Speaker::Other(handle, port) => party.member.0.starts_with(&handle) && party.port == port,
        };
        let mut here = self.former.iter().filter(|(_, host)| *host == node).map(|(party, _)| *party);
        here.find(named)
    }

    /// Marks the parties on nodes that are not in `nodes` as lost, and returns them. With `heard`,
    /// they are still heard.
    pub(crate) fn lose(&mut self, nodes: &BTreeSet<NodeId>, heard: bool) -> Vec<Party> {
        let departing = |resident: &Resident| Departing { node: resident.node, joined: resident.join.number };
        let gone: Vec<(Party, Departing)> = self
            .residents
            .iter()
            .filter(|(_, resident)| !nodes.contains(&resident.node))
            .map(|(party, resident)| (*party, departing(resident)))
            .collect();
        for (party, departing) in &gone {
            self.remove(party);
            self.note_lost(*party);
            if heard {
                self.departing.insert(*party, *departing);
            }
        }
        gone.into_iter().map(|(party, _)| party).collect()
    }

    /// A party is lost: if the newest notice has it, another one is needed.
    pub(crate) fn note_lost(&mut self, party: Party) {
        if self.notice.as_ref().is_some_and(|notice| notice.members.contains_key(&party)) {
            self.lost.insert(party);
        }
    }

    /// GRP-33: a party left by its own word. A word that is older than its join says nothing.
    pub(crate) fn note_left(&mut self, party: Party, number: u64) {
        let resident = self.residents.get(&party).map(|resident| resident.join.number);
        let joined = resident.or_else(|| self.departing.get(&party).map(|departing| departing.joined));
        let noticed = self.notice.as_ref().is_some_and(|notice| notice.members.contains_key(&party));
        if noticed && joined.is_some_and(|joined| joined < number) {
            self.left.insert(party);
        }
    }

    /// From here on, the lost parties are not heard any more.
    pub(crate) fn close_departing(&mut self) {
        self.departing.clear();
        self.former.clear();
    }

    /// The newest notice.
    pub(crate) fn newest(&self) -> Option<ViewId> {
        self.notice.as_ref().map(|notice| notice.view)
    }

    /// The newest notice, if none of its parties was lost: for a State.
    pub(crate) fn noticed(&self) -> Option<Noticed> {
        let notice = self.notice.as_ref().filter(|_| self.lost.is_empty())?;
        Some(Noticed { view: notice.view, digest: notice.digest })
    }

    /// The local parties, as a State lists them.
    pub(crate) fn local_joined(&self) -> Vec<Joined> {
        let joined = |party: &Party| {
            let Resident { stamp, join, .. } = self.residents.get(party)?;
            Some(Joined { party: *party, stamp: *stamp, join: join.clone() })
        };
        self.local.iter().filter_map(joined).collect()
    }

    /// Empties the table for a merge; the notices so far are kept.
    pub(crate) fn clear(&mut self) {
        let before = core::mem::take(&mut self.residents);
        self.former = before.into_iter().map(|(party, resident)| (party, resident.node)).collect();
        self.local.clear();
        self.departing.clear();
        self.votes.clear();
        self.recent.clear();
        self.set_aside.clear();
        self.blamed.clear();
    }

    /// Digest of the list of parties with their stamps.
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        let mut bytes = Vec::with_capacity(self.residents.len().saturating_mul(48));
        for (party, resident) in &self.residents {
            bytes.extend_from_slice(&party.to_bytes());
            bytes.extend_from_slice(&resident.stamp.ring_seq.to_be_bytes());
            bytes.extend_from_slice(&resident.stamp.order.to_be_bytes());
        }
        digest(&[b"folkmoot group members v1", &bytes])
    }

    /// Keeps `view` as the newest notice although it was not made here, or not now: none of its
    /// parties came or went.
    pub(crate) fn keep_notice(&mut self, view: ViewId) {
        self.record(view, false);
    }

    /// Makes a notice, and returns the parties of the previous notice that did not stay, and those
    /// of them that left by their own word.
    pub(crate) fn make_notice(&mut self, view: ViewId) -> Removed {
        let removed: Vec<Party> = self.notice.as_ref().map_or_else(Vec::new, |notice| {
            let stayed = |party: &Party, stamp: &Stamp| {
                !self.lost.contains(party)
                    && self.residents.get(party).is_some_and(|resident| resident.stamp == *stamp)
            };
            let gone = notice.members.iter().filter(|(party, stamp)| !stayed(party, stamp));
            gone.map(|(party, _)| *party).collect()
        });
        let left = removed.iter().copied().filter(|party| self.left.contains(party)).collect();
        self.record(view, true);
        Removed { removed, left }
    }

    fn record(&mut self, view: ViewId, fresh: bool) {
        let members = self.residents.iter().map(|(member, resident)| (*member, resident.stamp)).collect();
        self.notice = Some(Notice { view, fresh, digest: self.fingerprint(), members });
        self.stand(&view);
        self.lost.clear();
        self.left.clear();
        self.serial = self.serial.saturating_add(1);
        self.recent.push_back((view.configuration, view.order, self.serial));
        if self.recent.len() > RECENT_NOTICES_MAX {
            self.recent.pop_front();
            let oldest = self.recent.front().map_or(0, |(_, _, serial)| *serial);
            self.votes.retain(|(jury, _), _| !matches!(jury, Jury::Notice(serial) if *serial < oldest));
        }
    }

    /// Counts a complaint. `Some(true)` if it is the one that removes `suspect`; `None` if it does
    /// not count.
    ///
    /// A complaint counts among the parties of its view that are still in the group. If the view is
    /// from before the last merge, its parties are known from what their nodes said at the merge.
    /// Such a complaint also counts in the newest notice, because in the end all parties of the
    /// group wait for the suspect.
    pub(crate) fn complaint(&mut self, complainer: Party, view: &ViewId, suspect: Party) -> Option<bool> {
        let newest = self.notice.as_ref()?;
        let named = |(configuration, order, _): &&(ConfigurationId, u64, u64)| {
            *configuration == view.configuration && *order == view.order
        };
        match self.recent.iter().rev().find(named) {
            Some((_, _, serial)) => self.vote(Jury::Notice(*serial), complainer, suspect),
            None if newest.fresh && view.configuration == newest.view.configuration => None,
            None => {
                let among = self.vote(Jury::Before(label_of(view)), complainer, suspect);
                let all = self.vote(Jury::Notice(self.serial), complainer, suspect);
                among.max(all)
            }
        }
    }

    /// One complaint within a jury to which both parties belong. Members are counted, not parties:
    /// a member with many programs has one voice.
    fn vote(&mut self, jury: Jury, complainer: Party, suspect: Party) -> Option<bool> {
        let is_of = |resident: &Resident| match jury {
            Jury::Notice(serial) => resident.since <= serial,
            Jury::Before(label) => resident.stood.contains(&label),
        };
        if complainer == suspect
            || ![complainer, suspect].iter().all(|one| self.residents.get(one).is_some_and(is_of))
        {
            return None;
        }
        let jury_parties = self.residents.iter().filter(|(_, resident)| is_of(resident));
        let members: BTreeSet<MemberId> = jury_parties.clone().map(|(party, _)| party.member).collect();
        // The suspect's member may complain too if it has another party here.
        let others = jury_parties.filter(|(party, _)| **party != suspect);
        let others: BTreeSet<MemberId> = others.map(|(party, _)| party.member).collect();
        let voters = self.votes.entry((jury, suspect)).or_default();
        let needed = complaints_needed(members.len(), others.len());
        let first = voters.insert(complainer.member);
        first.then_some(voters.len() >= needed)
    }

    /// No party of `member` may join before place `until`.
    pub(crate) fn set_aside(&mut self, member: MemberId, place: u64, until: u64) {
        self.set_aside.retain(|_, until| *until > place);
        self.set_aside.insert(member, until);
        self.blamed.insert(member);
    }

    /// Whether a party of `member` was set aside since the last merge, and another stayed.
    pub(crate) fn is_blamed(&self, member: MemberId) -> bool {
        self.blamed.contains(&member)
    }

    /// Whether no party of `member` may join at `place`.
    pub(crate) fn is_set_aside(&self, party: &MemberId, place: u64) -> bool {
        self.set_aside.get(party).is_some_and(|until| *until > place)
    }
}

/// More than half of `members`, but never more than all who have a party besides the suspect.
fn complaints_needed(members: usize, others: usize) -> usize {
    (members / 2).saturating_add(1).min(others).max(1)
}

/// The notice as the local parties hear it.
pub(crate) fn notice_to(
    group: GroupId,
    view: ViewId,
    circle: &Circle,
    removed: &Removed,
    cause: Cause,
    to: Party,
) -> Output {
    let (view, members, Removed { removed, left }) = (Box::new(view), circle.members(), removed.clone());
    Output::Member { to, indication: Indication::Notice { group, view, members, removed, left, cause } }
}

/// The tables of the groups with this handle: one, unless somebody has made two ids that begin
/// alike.
pub(crate) fn with_handle<'a>(
    circles: &'a BTreeMap<GroupId, Circle>,
    handle: &'a Handle,
) -> impl Iterator<Item = (&'a GroupId, &'a Circle)> {
    circles.range(GroupId(lowest(handle))..).take_while(move |(group, _)| group.0.starts_with(handle))
}

#[cfg(test)]
mod tests {
    use super::complaints_needed;

    #[test]
    fn more_than_half_but_at_most_all_others() {
        let needed: Vec<usize> = (2..=7).map(|size| complaints_needed(size, size - 1)).collect();
        assert_eq!(needed, [1, 2, 3, 3, 4, 4]);
        assert_eq!(complaints_needed(1, 1), 1, "a party about its own other party");
        assert_eq!(complaints_needed(2, 2), 2);
    }
}
