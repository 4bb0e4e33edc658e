//! Which nodes hear one another, and which of them should form a ring together.
//!
//! Every node says in its JOIN which nodes it hears. Two nodes hear one another if each says so. A
//! ring is a set of nodes in which every two hear one another. If reachability is not transitive,
//! there are several such sets, and all nodes must pick the same ones. One order decides
//! everywhere: the larger set comes first; of two sets of one size, the one with the smaller ids.
//! So the best set of all is the best for each of its members. A node that learns that others are
//! better off without it looks for the best set of the remaining nodes.
//! Rules RING-14 to RING-20 of docs/protocol/ring.md.

use crate::message::Join;
use folkmoot_base::NodeId;

/// Most steps of one search. A ring of 64 nodes, a few of which cannot hear one another, needs some
/// hundreds.
const STEPS_MAX: u32 = 4_096;

/// What a node last said of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    /// The nodes that it hears, itself among them.
    pub(crate) hears: Vec<NodeId>,
    /// The nodes with which it wants to be, or is.
    pub(crate) wants: Vec<NodeId>,
    /// Whether it is with them, or about to be.
    pub(crate) bound: bool,
}

impl Report {
    pub(crate) fn of(join: &Join) -> Self {
        Self { hears: join.hears.clone(), wants: join.wants.clone(), bound: join.bound == 1 }
    }

    pub(crate) fn hears(&self, node: &NodeId) -> bool {
        self.hears.binary_search(node).is_ok()
    }

    pub(crate) fn wants(&self, node: &NodeId) -> bool {
        self.wants.binary_search(node).is_ok()
    }

    /// RING-16: whether its node is better off without us than in `set`: in a larger set, or in one
    /// of the same size that stands already or comes first. A node that counts on us is not.
    fn declines(&self, set: &[NodeId], me: &NodeId) -> bool {
        let first = self.bound || self.wants.as_slice() < set;
        let larger = self.wants.len() > set.len();
        !self.wants(me) && (larger || (self.wants.len() == set.len() && first))
    }
}

/// RING-15: the set that `me` wants. It is the best of all sets of nodes that hear one another and
/// contain `me`, but no node that is better off elsewhere. `hears` is sorted and at most 64 long. A
/// node without a report hears nobody.
pub(crate) fn choice<'a>(
    me: &NodeId,
    hears: &[NodeId],
    report: impl Fn(&NodeId) -> Option<&'a Report>,
) -> Vec<NodeId> {
    let graph = Graph::new(me, hears, &report);
    let mut available = u64::MAX;
    loop {
        let best = graph.best(available);
        let set: Vec<NodeId> = members(hears, best).map(|(_, node)| *node).collect();
        let declines = |node: &NodeId| report(node).is_some_and(|report| report.declines(&set, me));
        let taken = members(hears, best).filter(|(_, node)| *node != me && declines(node));
        let taken = taken.fold(0, |taken, (index, _)| taken | 1_u64 << index);
        if taken == 0 {
            return set;
        }
        available &= !taken;
    }
}

fn members(nodes: &[NodeId], set: u64) -> impl Iterator<Item = (usize, &NodeId)> {
    nodes.iter().enumerate().take(64).filter(move |(index, _)| set >> index & 1 == 1)
}

/// The positions in `nodes` of the nodes in `some`; both are sorted.
fn places(nodes: &[NodeId], some: &[NodeId]) -> u64 {
    let mut some = some.iter().peekable();
    nodes.iter().enumerate().fold(0, |set, (index, node)| {
        while some.next_if(|other| *other < node).is_some() {}
        if some.next_if_eq(&node).is_some() { set | 1_u64 << index } else { set }
    })
}

/// Which nodes hear one another, by index.
struct Graph {
    me: u64,
    edges: Vec<u64>,
}

impl Graph {
    fn new<'a>(me: &NodeId, hears: &[NodeId], report: &impl Fn(&NodeId) -> Option<&'a Report>) -> Self {
        let nodes = hears.get(..hears.len().min(64)).unwrap_or_default();
        let said = |node: &NodeId| {
            if node == me { u64::MAX } else { report(node).map_or(0, |r| places(nodes, &r.hears)) }
        };
        let said: Vec<u64> = nodes.iter().map(said).collect();
        let mutual = |a: usize, says: u64| {
            let back = said.iter().enumerate().filter(|(b, back)| *b != a && (**back >> a) & 1 == 1);
            back.fold(0, |set, (b, _)| set | 1_u64 << b) & says
        };
        let edges = said.iter().enumerate().map(|(a, says)| mutual(a, *says)).collect();
        let place = nodes.iter().position(|node| node == me);
        Self { me: place.map_or(0, |place| 1 << place), edges }
    }

    /// The best set with `me` in it among `available`.
    fn best(&self, available: u64) -> u64 {
        let mut search = Search { edges: &self.edges, best: self.me, steps: STEPS_MAX };
        let around = search.edges_of(self.me.trailing_zeros()) & available;
        search.go(self.me, around);
        search.best
    }
}

/// The largest set. Of sets of the same size it is the first by ids, because small ids are tried
/// first and only a larger set replaces the one found.
struct Search<'a> {
    edges: &'a [u64],
    best: u64,
    steps: u32,
}

impl Search<'_> {
    fn edges_of(&self, index: u32) -> u64 {
        usize::try_from(index).ok().and_then(|index| self.edges.get(index)).copied().unwrap_or(0)
    }

    fn go(&mut self, set: u64, mut candidates: u64) {
        if set.count_ones() > self.best.count_ones() {
            self.best = set;
        }
        while candidates != 0 && self.steps > 0 {
            if set.count_ones().saturating_add(self.bound(candidates)) <= self.best.count_ones() {
                return;
            }
            self.steps = self.steps.saturating_sub(1);
            let first = candidates & candidates.wrapping_neg();
            candidates &= !first;
            self.go(set | first, candidates & self.edges_of(first.trailing_zeros()));
        }
    }

    /// Into how many groups of nodes that do not hear one another `candidates` fall. A set has at
    /// most one node of each group.
    fn bound(&self, mut candidates: u64) -> u32 {
        let mut groups: u32 = 0;
        while candidates != 0 {
            groups = groups.saturating_add(1);
            let mut group = candidates;
            while group != 0 {
                let first = group & group.wrapping_neg();
                candidates &= !first;
                group &= !first & !self.edges_of(first.trailing_zeros());
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use super::*;
    use std::collections::BTreeMap;

    fn node(index: u8) -> NodeId {
        NodeId([index; 32])
    }

    fn nodes(indices: &[u8]) -> Vec<NodeId> {
        indices.iter().copied().map(node).collect()
    }

    /// `count` nodes that all hear one another, except `deaf` pairs; each wants all that it hears.
    fn table(count: u8, deaf: &[(u8, u8)]) -> BTreeMap<NodeId, Report> {
        let hears = |a: u8| -> Vec<NodeId> {
            (0..count).filter(|b| !deaf.contains(&(a, *b)) && !deaf.contains(&(*b, a))).map(node).collect()
        };
        (0..count).map(|a| (node(a), Report { hears: hears(a), wants: hears(a), bound: false })).collect()
    }

    fn wanted(table: &BTreeMap<NodeId, Report>, me: u8) -> Vec<NodeId> {
        let others = |id: &NodeId| if *id == node(me) { None } else { table.get(id) };
        choice(&node(me), &table[&node(me)].hears, others)
    }

    /// What all nodes arrive at if each tells what it wants.
    fn settled(mut table: BTreeMap<NodeId, Report>) -> Vec<Vec<NodeId>> {
        let count = u8::try_from(table.len()).unwrap();
        for _ in 0..=count {
            for me in 0..count {
                let wants = wanted(&table, me);
                table.get_mut(&node(me)).unwrap().wants = wants;
            }
        }
        let mut sets: Vec<Vec<NodeId>> = table.values().map(|report| report.wants.clone()).collect();
        for (id, report) in &table {
            assert!(report.wants.iter().all(|other| table[other].wants == report.wants), "{id:?}");
        }
        sets.sort();
        sets.dedup();
        sets
    }

    #[test]
    fn ring_15_the_larger_set_wins_then_the_smaller_ids() {
        assert_eq!(settled(table(4, &[])), [nodes(&[0, 1, 2, 3])]);
        assert_eq!(settled(table(3, &[(0, 2)])), [nodes(&[0, 1]), nodes(&[2])]);
        assert_eq!(settled(table(5, &[(0, 2), (0, 3), (0, 4)])), [nodes(&[0]), nodes(&[1, 2, 3, 4])]);
        // A chain of four falls into pairs, a ring of five into two pairs and one.
        assert_eq!(settled(table(4, &[(0, 2), (0, 3), (1, 3)])), [nodes(&[0, 1]), nodes(&[2, 3])]);
        let five = [(0, 2), (0, 3), (1, 3), (1, 4), (2, 4)];
        assert_eq!(settled(table(5, &five)), [nodes(&[0, 1]), nodes(&[2, 3]), nodes(&[4])]);
    }

    #[test]
    fn ring_14_one_who_hears_is_not_enough() {
        let mut table = table(2, &[]);
        table.get_mut(&node(1)).unwrap().hears = nodes(&[1]);
        assert_eq!(wanted(&table, 0), nodes(&[0]));
    }

    #[test]
    fn ring_16_who_is_better_off_elsewhere_is_not_waited_for() {
        let set = |wants: &[u8], bound| Report { hears: nodes(&[1, 2, 3]), wants: nodes(wants), bound };
        let mut table = table(4, &[(0, 3), (2, 3)]);
        assert_eq!(wanted(&table, 2), nodes(&[0, 1, 2]));
        // A smaller set is no reason to stay away, even if it stands. A larger one is, and so is
        // one of the same size if it stands or comes first.
        for (wants, bound, taken) in [
            (vec![1, 3], true, false),
            (vec![0, 1, 3], false, false),
            (vec![0, 1, 3], true, true),
            (vec![0, 1, 3, 4], false, true),
            (vec![1, 2, 3], true, false),
        ] {
            table.insert(node(1), Report { hears: nodes(&[0, 1, 2, 3]), ..set(&wants, bound) });
            let without = wanted(&table, 2) == nodes(&[0, 2]);
            // Among sets as large as ours the ids alone decide which comes first: 0, 1, 3 comes
            // after 0, 1, 2.
            assert_eq!(without, taken, "{wants:?} {bound}");
        }
    }

    #[test]
    fn ring_15_a_search_is_bounded_whatever_is_said() {
        // Triples of nodes that do not hear one another: as many sets as there can be.
        let deaf: Vec<(u8, u8)> =
            (0..60).flat_map(|a| (a + 1..60).filter(move |b| a / 3 == b / 3).map(move |b| (a, b))).collect();
        let found = wanted(&table(60, &deaf), 0);
        assert_eq!(found, (0..20).map(|group| node(group * 3)).collect::<Vec<_>>());
        // An irregular case: every second pair.
        let deaf: Vec<(u8, u8)> = (0..64_u8)
            .flat_map(|a| {
                (a + 1..64)
                    .filter(move |b| a.wrapping_mul(31) ^ b.wrapping_mul(17) & 4 == 0)
                    .map(move |b| (a, b))
            })
            .collect();
        let said = table(64, &deaf);
        let found = wanted(&said, 9);
        assert!(found.contains(&node(9)));
        assert!(found.iter().all(|a| found.iter().all(|b| said[a].hears.contains(b))));
    }
}
