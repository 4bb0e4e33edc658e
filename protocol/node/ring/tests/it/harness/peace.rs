//! Whether every node is in a ring of nodes that hear one another.

use super::{Event, World, index, life_of, node};
use core::time::Duration;
use folkmoot_base::{NodeId, Service};
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

    /// All living nodes are in one configuration of exactly them, and nothing waits.
    pub fn is_whole(&self) -> bool {
        let alive: Vec<NodeId> =
            (0..self.nodes.len()).filter(|i| self.nodes[*i].ring.is_some()).map(node).collect();
        let mut sorted = alive.clone();
        sorted.sort();
        let mut first = None;
        alive.iter().all(|id| {
            let status = self.nodes[index(id)].ring.as_ref().unwrap().status();
            let same = *first.get_or_insert(status.configuration) == status.configuration;
            same && status.phase == Phase::Operational && status.members == sorted && status.queued_bytes == 0
        })
    }

    /// Runs until the network is whole and all own messages are delivered everywhere, at most for
    /// `limit`. Returns the time that it took.
    pub fn settle(&mut self, limit: Duration) -> Option<Duration> {
        let start = self.now;
        while self.now < start + limit.as_micros() as u64 {
            self.ms(100);
            if self.is_whole() && self.all_delivered() {
                return Some(Duration::from_micros(self.now - start));
            }
        }
        None
    }

    fn all_delivered(&self) -> bool {
        self.nodes.iter().filter(|n| n.ring.is_some()).all(|n| {
            let process = &self.processes[n.process];
            let own = process.log.iter().filter(|(_, event)| {
                matches!(event, Event::Deliver(d) if index(&d.sender) == process.node && life_of(&d.payload) == process.life && d.service != Service::Unreliable)
            });
            let sent = process.submitted.iter().filter(|sent| sent.service != Service::Unreliable);
            own.count() >= sent.count()
        })
    }
}
