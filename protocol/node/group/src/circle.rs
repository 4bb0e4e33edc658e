//! The table of one group: its members with their nodes and joins, the newest notice, and the
//! complaints.

use crate::Output;
use crate::message::{Handle, Joined, NoticeLabel, Noticed, STOOD_MAX, Speaker, Stamp, label_of, lowest};
use folkmoot_base::{Cause, ConfigurationId, GroupId, Indication, MemberId, NodeId, ViewId, digest};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Notices since the last merge in which complaints still count.
const RECENT_NOTICES_MAX: usize = 256;

/// A member of a group, at the node where it lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resident {
    /// The node where it lives.
    pub(crate) node: NodeId,
    /// The join that made it a member.
    pub(crate) stamp: Stamp,
    /// Serial of the first notice that lists it.
    since: u64,
    /// The notices that its node named for it at the last merge: the member may still be in the
    /// view of one of them, and wait for the members of that view.
    stood: Vec<NoticeLabel>,
}

/// The set of members among whom complaints are counted.
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
    members: BTreeMap<MemberId, Stamp>,
}

/// The table of one group.
#[derive(Debug, Clone, Default)]
pub(crate) struct Circle {
    residents: BTreeMap<MemberId, Resident>,
    /// The members of `residents` that live here.
    local: BTreeSet<MemberId>,
    /// Lost at the transitional signal; still heard until the next configuration.
    departing: BTreeMap<MemberId, NodeId>,
    notice: Option<Notice>,
    /// Members of `notice` that were lost since, whether or not they are back.
    lost: BTreeSet<MemberId>,
    /// Number of notices so far; serials are local.
    serial: u64,
    /// Labels of the latest notices here, including those from before the last merge.
    stood: VecDeque<NoticeLabel>,
    /// Configuration, place and serial of the notices since the last merge.
    recent: VecDeque<(ConfigurationId, u64, u64)>,
    votes: BTreeMap<(Jury, MemberId), BTreeSet<MemberId>>,
    /// Members set aside by complaints, and the first place in the order at which each may join
    /// again.
    set_aside: BTreeMap<MemberId, u64>,
}

impl Circle {
    pub(crate) fn resident(&self, member: &MemberId) -> Option<&Resident> {
        self.residents.get(member)
    }

    pub(crate) fn len(&self) -> usize {
        self.residents.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.residents.is_empty()
    }

    pub(crate) fn members(&self) -> Vec<MemberId> {
        self.residents.keys().copied().collect()
    }

    pub(crate) fn local(&self) -> &BTreeSet<MemberId> {
        &self.local
    }

    pub(crate) fn residents(&self) -> impl Iterator<Item = (&MemberId, &Resident)> {
        self.residents.iter()
    }

    /// Adds `member`, which was not in the group.
    pub(crate) fn add(&mut self, member: MemberId, node: NodeId, stamp: Stamp, me: NodeId) {
        let since = self.serial.saturating_add(1);
        self.residents.insert(member, Resident { node, stamp, since, stood: Vec::new() });
        if node == me {
            self.local.insert(member);
        }
    }

    /// `member` came to the merge from these notices.
    pub(crate) fn came(&mut self, member: &MemberId, stood: &[NoticeLabel]) {
        if let Some(resident) = self.residents.get_mut(member) {
            resident.stood = stood.to_vec();
        }
    }

    /// The latest notices that local members were told of, also from before merges: a State names
    /// them for these members.
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

    /// Removes `member`. Returns `false` if it was not in the group.
    pub(crate) fn remove(&mut self, member: &MemberId) -> bool {
        self.local.remove(member);
        self.departing.remove(member);
        let was = self.residents.remove(member).is_some();
        if was && !self.votes.is_empty() {
            self.votes.retain(|(_, suspect), voters| {
                voters.remove(member);
                suspect != member && !voters.is_empty()
            });
        }
        was
    }

    /// Whether `node` may speak for `member` here: it hosts the member, or did until the
    /// transitional signal.
    pub(crate) fn hosts(&self, node: NodeId, member: &MemberId) -> bool {
        self.residents.get(member).is_some_and(|resident| resident.node == node)
            || self.departing.get(member) == Some(&node)
    }

    /// The member that `speaker` names at `node`, if the node may speak for it here. If two members
    /// of one node had one handle, it would be the one with the lower id.
    pub(crate) fn speaker(&self, node: NodeId, speaker: Speaker) -> Option<MemberId> {
        let handle = match speaker {
            Speaker::Own => return Some(node.member()).filter(|member| self.hosts(node, member)),
            Speaker::Other(handle) => handle,
        };
        let from = MemberId(lowest(&handle));
        let here = self.residents.range(from..).map(|(member, _)| member);
        let lost = self.departing.range(from..).map(|(member, _)| member);
        let named = |member: &&MemberId| member.0.starts_with(&handle);
        let mut all = here.take_while(named).chain(lost.take_while(named));
        all.find(|member| self.hosts(node, member)).copied()
    }

    /// Marks the members on nodes that are not in `nodes` as lost, and returns them. With `heard`,
    /// they are still heard.
    pub(crate) fn lose(&mut self, nodes: &BTreeSet<NodeId>, heard: bool) -> Vec<MemberId> {
        let gone: Vec<(MemberId, NodeId)> = self
            .residents
            .iter()
            .filter(|(_, resident)| !nodes.contains(&resident.node))
            .map(|(member, resident)| (*member, resident.node))
            .collect();
        for (member, node) in &gone {
            self.remove(member);
            if self.notice.as_ref().is_some_and(|notice| notice.members.contains_key(member)) {
                self.lost.insert(*member);
            }
            if heard {
                self.departing.insert(*member, *node);
            }
        }
        gone.into_iter().map(|(member, _)| member).collect()
    }

    /// From here on, the lost members are not heard any more.
    pub(crate) fn close_departing(&mut self) {
        self.departing.clear();
    }

    /// The newest notice, if none of its members was lost: for a State.
    pub(crate) fn noticed(&self) -> Option<Noticed> {
        let notice = self.notice.as_ref().filter(|_| self.lost.is_empty())?;
        Some(Noticed { view: notice.view, digest: notice.digest })
    }

    /// The local members, as a State lists them.
    pub(crate) fn local_joined(&self) -> Vec<Joined> {
        let joined = |member: &MemberId| {
            self.residents.get(member).map(|resident| Joined { member: *member, stamp: resident.stamp })
        };
        self.local.iter().filter_map(joined).collect()
    }

    /// Empties the table for a merge; the notices so far are kept.
    pub(crate) fn clear(&mut self) {
        self.residents.clear();
        self.local.clear();
        self.departing.clear();
        self.votes.clear();
        self.recent.clear();
        self.set_aside.clear();
    }

    /// Digest of the list of members with their stamps.
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        let mut bytes = Vec::with_capacity(self.residents.len().saturating_mul(48));
        for (member, resident) in &self.residents {
            bytes.extend_from_slice(&member.0);
            bytes.extend_from_slice(&resident.stamp.ring_seq.to_be_bytes());
            bytes.extend_from_slice(&resident.stamp.order.to_be_bytes());
        }
        digest(&[b"folkmoot group members v1", &bytes])
    }

    /// Keeps `view` as the newest notice although it was not made here, or not now: none of its
    /// members came or went.
    pub(crate) fn keep_notice(&mut self, view: ViewId) {
        self.record(view, false);
    }

    /// Makes a notice, and returns the members of the previous notice that did not stay.
    pub(crate) fn make_notice(&mut self, view: ViewId) -> Vec<MemberId> {
        let removed = self.notice.as_ref().map_or_else(Vec::new, |notice| {
            let stayed = |member: &MemberId, stamp: &Stamp| {
                !self.lost.contains(member)
                    && self.residents.get(member).is_some_and(|resident| resident.stamp == *stamp)
            };
            let gone = notice.members.iter().filter(|(member, stamp)| !stayed(member, stamp));
            gone.map(|(member, _)| *member).collect()
        });
        self.record(view, true);
        removed
    }

    fn record(&mut self, view: ViewId, fresh: bool) {
        let members = self.residents.iter().map(|(member, resident)| (*member, resident.stamp)).collect();
        self.notice = Some(Notice { view, fresh, digest: self.fingerprint(), members });
        self.stand(&view);
        self.lost.clear();
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
    /// A complaint counts among the members of its view that are still in the group. If the view is
    /// from before the last merge, its members are known from what their nodes said at the merge.
    /// Such a complaint also counts in the newest notice, because in the end all members of the
    /// group wait for the suspect.
    pub(crate) fn complaint(
        &mut self,
        complainer: MemberId,
        view: &ViewId,
        suspect: MemberId,
    ) -> Option<bool> {
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

    /// One complaint within a jury to which both members belong.
    fn vote(&mut self, jury: Jury, complainer: MemberId, suspect: MemberId) -> Option<bool> {
        let is_of = |resident: &Resident| match jury {
            Jury::Notice(serial) => resident.since <= serial,
            Jury::Before(label) => resident.stood.contains(&label),
        };
        if complainer == suspect
            || ![complainer, suspect].iter().all(|one| self.residents.get(one).is_some_and(is_of))
        {
            return None;
        }
        let size = self.residents.values().filter(|resident| is_of(resident)).count();
        let voters = self.votes.entry((jury, suspect)).or_default();
        voters.insert(complainer).then(|| voters.len() >= complaints_needed(size))
    }

    /// `member` may not join before place `until`.
    pub(crate) fn set_aside(&mut self, member: MemberId, place: u64, until: u64) {
        self.set_aside.retain(|_, until| *until > place);
        self.set_aside.insert(member, until);
    }

    /// Whether `member` may not join at `place`.
    pub(crate) fn is_set_aside(&self, member: &MemberId, place: u64) -> bool {
        self.set_aside.get(member).is_some_and(|until| *until > place)
    }
}

/// More than half, but never more than all the other members.
fn complaints_needed(size: usize) -> usize {
    (size / 2).saturating_add(1).min(size.saturating_sub(1)).max(1)
}

/// The notice as the local members hear it.
pub(crate) fn notice_to(
    group: GroupId,
    view: ViewId,
    circle: &Circle,
    removed: &[MemberId],
    cause: Cause,
    to: MemberId,
) -> Output {
    let (members, removed) = (circle.members(), removed.to_vec());
    Output::Member { to, indication: Indication::Notice { group, view, members, removed, cause } }
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
        let needed: Vec<usize> = (2..=7).map(complaints_needed).collect();
        assert_eq!(needed, [1, 2, 3, 3, 4, 4]);
    }
}
