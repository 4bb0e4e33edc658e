//! The graph of entries: who names whom, which are heads, and what is an ancestor of what. It knows
//! nothing of what entries say.
//!
//! Entries are kept in the order in which they were taken, which is topological: parents come
//! before their children.

use bytes::Bytes;
use folkmoot_base::{EntryId, digest};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone)]
struct Node {
    id: EntryId,
    bytes: Bytes,
    parents: Vec<usize>,
    /// Steps from the first entry, on the longest way.
    depth: usize,
}

/// Entries and their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Graph {
    ranks: BTreeMap<EntryId, usize>,
    nodes: Vec<Node>,
    heads: BTreeSet<EntryId>,
}

impl Graph {
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn contains(&self, id: &EntryId) -> bool {
        self.ranks.contains_key(id)
    }

    pub(super) fn get(&self, id: &EntryId) -> Option<&Bytes> {
        self.nodes.get(*self.ranks.get(id)?).map(|node| &node.bytes)
    }

    pub(super) fn heads(&self) -> &BTreeSet<EntryId> {
        &self.heads
    }

    pub(super) fn heads_digest(&self) -> [u8; 32] {
        let heads: Vec<&[u8]> = self.heads.iter().map(|head| head.0.as_slice()).collect();
        digest(&heads)
    }

    /// All entries in topological order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Bytes> {
        self.nodes.iter().map(|node| &node.bytes)
    }

    /// Takes an entry that is not here and whose parents all are.
    pub(super) fn insert(&mut self, id: EntryId, parents: &[EntryId], bytes: Bytes) {
        for parent in parents {
            self.heads.remove(parent);
        }
        let parents: Vec<usize> =
            parents.iter().filter_map(|parent| self.ranks.get(parent).copied()).collect();
        let above = parents.iter().filter_map(|parent| self.nodes.get(*parent)).map(|node| node.depth).max();
        let depth = above.map_or(0, |depth| depth.saturating_add(1));
        self.ranks.insert(id, self.nodes.len());
        self.nodes.push(Node { id, bytes, parents, depth });
        self.heads.insert(id);
    }

    /// All entries by their place: one order for one set of entries, whoever writes it down.
    pub(super) fn placed(&self) -> Vec<&Bytes> {
        let mut nodes: Vec<&Node> = self.nodes.iter().collect();
        nodes.sort_by_key(|node| (node.depth, node.id));
        nodes.into_iter().map(|node| &node.bytes).collect()
    }

    /// Where an entry stands in [`Self::placed`]: depth, then id. Parents are less deep than their
    /// children.
    pub(super) fn place(&self, id: &EntryId) -> Option<(usize, EntryId)> {
        self.nodes.get(*self.ranks.get(id)?).map(|node| (node.depth, node.id))
    }

    /// How many entries have more than one child, and how many more than one parent.
    pub(super) fn shape(&self) -> (usize, usize) {
        let mut children = vec![0_usize; self.nodes.len()];
        for parent in self.nodes.iter().flat_map(|node| &node.parents) {
            if let Some(count) = children.get_mut(*parent) {
                *count = count.saturating_add(1);
            }
        }
        let splits = children.iter().filter(|count| **count > 1).count();
        (splits, self.nodes.iter().filter(|node| node.parents.len() > 1).count())
    }

    /// Entries 1, 2, 4, 8 … places before the newest, and the first one.
    pub(super) fn landmarks(&self, most: usize) -> Vec<EntryId> {
        let distances = (0..usize::BITS).map(|power| 1_usize << power);
        let ranks =
            distances.map_while(|distance| self.nodes.len().checked_sub(distance).filter(|rank| *rank > 0));
        let marks = ranks.filter_map(|rank| self.nodes.get(rank)).take(most.saturating_sub(1));
        marks.chain(self.nodes.first()).map(|node| node.id).collect()
    }

    /// For each entry by rank: whether it is one of `tips` or an ancestor of one. Unknown tips
    /// count for nothing.
    pub(super) fn past_of(&self, tips: &[EntryId]) -> Vec<bool> {
        let mut in_past = vec![false; self.nodes.len()];
        for tip in tips.iter().filter_map(|tip| self.ranks.get(tip)) {
            mark(&mut in_past, *tip);
        }
        for (rank, node) in self.nodes.iter().enumerate().rev() {
            if in_past.get(rank).copied().unwrap_or(false) {
                node.parents.iter().for_each(|parent| mark(&mut in_past, *parent));
            }
        }
        in_past
    }

    /// The entries that `have` and its ancestors lack, in topological order, up to `bytes_max`
    /// bytes but at least one.
    pub(super) fn after(&self, have: &[EntryId], bytes_max: usize) -> Vec<Bytes> {
        if self.heads.iter().all(|head| have.contains(head)) {
            return Vec::new();
        }
        let known = self.past_of(have);
        let mut room = bytes_max;
        let mut batch = Vec::new();
        for (node, _) in self.nodes.iter().zip(&known).filter(|(_, known)| !**known) {
            if !batch.is_empty() && node.bytes.len() > room {
                break;
            }
            room = room.saturating_sub(node.bytes.len());
            batch.push(node.bytes.clone());
        }
        batch
    }
}

fn mark(marks: &mut [bool], rank: usize) {
    if let Some(mark) = marks.get_mut(rank) {
        *mark = true;
    }
}
