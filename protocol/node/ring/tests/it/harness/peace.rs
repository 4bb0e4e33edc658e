//! Whether every node is in a ring of nodes that hear one another.

use super::{Event, World, index};
use folkmoot_ring::Phase;
use std::collections::{BTreeMap, BTreeSet};

impl World {
    /// The configurations of the living nodes, each once, if every node is operational in one that
    /// all its members are in.
    pub fn rings(&self) -> Option<BTreeSet<Vec<usize>>> {
        let status: BTreeMap<usize, _> =
            (0..self.nodes.len()).filter_map(|i| Some((i, self.nodes[i].ring.as_ref()?.status()))).collect();
        let mut rings = BTreeSet::new();
        for (i, one) in &status {
            let members: Vec<usize> = one.members.iter().map(index).collect();
            let shared =
                |j: &usize| status.get(j).is_some_and(|other| other.configuration == one.configuration);
            if one.phase != Phase::Operational || !members.contains(i) || !members.iter().all(shared) {
                return None;
            }
            rings.insert(members);
        }
        Some(rings)
    }

    /// Whether i and j can reach one another, and each has the other on its roster.
    pub fn hear(&self, i: usize, j: usize) -> bool {
        let way = |a: usize, b: usize| !self.cut[a][b] && !self.refuses.contains(&(a, b));
        i == j || (way(i, j) && way(j, i))
    }

    /// All nodes are in rings of nodes that hear one another, and no two of the rings could be one.
    pub fn is_at_peace(&self) -> bool {
        let Some(rings) = self.rings() else { return false };
        let clique = |nodes: &[usize]| nodes.iter().all(|i| nodes.iter().all(|j| self.hear(*i, *j)));
        let apart = |a: &Vec<usize>| rings.iter().all(|b| a == b || !clique(&[&a[..], &b[..]].concat()));
        rings.iter().all(|ring| clique(ring) && apart(ring))
    }

    /// Configurations installed so far.
    pub fn installed(&self) -> usize {
        let regular = |(_, event): &&(u64, Event)| matches!(event, Event::Regular(..));
        self.processes.iter().map(|process| process.log.iter().filter(regular).count()).sum()
    }
}
