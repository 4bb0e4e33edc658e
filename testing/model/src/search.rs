//! Goes through all states breadth first, so the first fault found has the shortest trace. Keeps
//! the graph, to show that it has no circle.

use crate::check::Fault;
use crate::fingerprint::{Numbered, fingerprint};
use crate::marks::{Marks, marks};
use crate::names::Set;
use crate::rules::{Rules, Scope};
use crate::world::{Action, World};
use std::collections::{BTreeSet, VecDeque};

/// What a search came to.
#[derive(Debug, Clone)]
pub struct Report {
    /// Different states.
    pub states: usize,
    /// Steps between them.
    pub steps: usize,
    /// The longest of the shortest ways to a state.
    pub depth: usize,
    /// States in which nothing can happen any more.
    pub ends: usize,
    /// What was seen on the way.
    pub marks: BTreeSet<&'static str>,
    /// What is wrong, and how it comes to that; nothing if nothing is.
    pub found: Option<Found>,
}

/// A fault, with the shortest way to it.
#[derive(Debug, Clone)]
pub struct Found {
    /// What is wrong.
    pub fault: Fault,
    /// Where it begins.
    pub root: World,
    /// What happens.
    pub actions: Vec<Action>,
}

/// Explores everything that can follow from `roots`, up to the first fault.
pub fn explore(roots: &[World], rules: &Rules, scope: &Scope) -> Report {
    search(roots, rules, scope, None)
}

/// Explores up to the first fault of this kind; a way that ends in another fault is not followed
/// further.
pub fn seek(roots: &[World], rules: &Rules, scope: &Scope, wanted: Fault) -> Report {
    search(roots, rules, scope, Some(wanted))
}

fn search(roots: &[World], rules: &Rules, scope: &Scope, wanted: Option<Fault>) -> Report {
    let mut search = Search { wanted, ..Search::default() };
    for root in roots {
        search.meet(root.clone(), None);
    }
    let mut found = None;
    let mut level = search.known.len();
    let (mut depth, mut at) = (0, 0);
    while let Some(world) = search.frontier.pop_front() {
        if at == level {
            (depth, level) = (depth + 1, search.known.len());
        }
        found = search.expand(at, &world, rules, scope);
        if found.is_some() {
            break;
        }
        at += 1;
    }
    if found.is_none() && wanted.is_none() && !search.ends_always() {
        found = Some((0, None, Fault::Endless));
    }
    let found = found.map(|(at, last, fault)| search.trace(roots, rules, scope, (at, last, fault)));
    let (states, steps, ends) = (search.known.len(), search.targets.len(), search.ends);
    Report { states, steps, depth, ends, marks: search.marks.names(), found }
}

#[derive(Default)]
struct Search {
    known: Numbered,
    frontier: VecDeque<World>,
    /// From which state, by which of its actions.
    parents: Vec<Option<(u32, u16)>>,
    /// The steps of state after state, and how many each has.
    targets: Vec<u32>,
    counts: Vec<u16>,
    ends: usize,
    marks: Marks,
    /// The one fault that counts, if not all do.
    wanted: Option<Fault>,
}

type Fell = (usize, Option<Action>, Fault);

impl Search {
    fn meet(&mut self, world: World, parent: Option<(u32, u16)>) -> u32 {
        let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        let at = *self.known.entry(fingerprint(&world)).or_insert(next);
        if at == next {
            marks(&world, &mut self.marks);
            self.parents.push(parent);
            self.frontier.push_back(world);
        }
        at
    }

    fn expand(&mut self, at: usize, world: &World, rules: &Rules, scope: &Scope) -> Option<Fell> {
        if let Some(fault) = world.judge_rest(rules).filter(|fault| self.counts_as_found(*fault)) {
            return Some((at, None, fault));
        }
        let actions = world.actions(rules, scope);
        self.ends += usize::from(actions.is_empty());
        let before = self.targets.len();
        let from = u32::try_from(at).unwrap_or(u32::MAX);
        for (action, rank) in actions.into_iter().zip(0..) {
            let next = world.act(action, rules);
            match next.fault {
                Some(fault) if self.counts_as_found(fault) => return Some((at, Some(action), fault)),
                Some(_) => continue,
                None => {}
            }
            self.marks.effects(world, action, &next.told);
            let target = self.meet(next.world, Some((from, rank)));
            self.targets.push(target);
        }
        self.counts.push(u16::try_from(self.targets.len() - before).unwrap_or(u16::MAX));
        None
    }

    fn counts_as_found(&self, fault: Fault) -> bool {
        self.wanted.is_none_or(|wanted| wanted == fault)
    }

    /// Whether no state can come back: then every way ends, and it ends well, since no end is a
    /// deadlock. All steps are taken away from behind those states that nothing leads to, until
    /// none is left.
    fn ends_always(&self) -> bool {
        let mut incoming = vec![0_u32; self.known.len()];
        for target in &self.targets {
            if let Some(count) = incoming.get_mut(*target as usize) {
                *count += 1;
            }
        }
        let mut starts = vec![0_usize];
        for count in &self.counts {
            starts.push(starts.last().copied().unwrap_or(0) + usize::from(*count));
        }
        let mut free: Vec<usize> =
            incoming.iter().enumerate().filter(|(_, count)| **count == 0).map(|(at, _)| at).collect();
        let mut taken = 0;
        while let Some(at) = free.pop() {
            taken += 1;
            let range = starts.get(at).copied().unwrap_or(0)..starts.get(at + 1).copied().unwrap_or(0);
            for target in self.targets.get(range).unwrap_or_default() {
                if let Some(count) = incoming.get_mut(*target as usize) {
                    *count -= 1;
                    if *count == 0 {
                        free.push(*target as usize);
                    }
                }
            }
        }
        taken == self.known.len()
    }

    fn trace(&self, roots: &[World], rules: &Rules, scope: &Scope, (at, last, fault): Fell) -> Found {
        let mut ranks = Vec::new();
        let mut place = at;
        while let Some(Some((from, rank))) = self.parents.get(place) {
            ranks.push(usize::from(*rank));
            place = *from as usize;
        }
        let root = roots.get(place).or(roots.first()).cloned().unwrap_or_else(|| World::new(Set::NONE, 0));
        let (mut world, mut actions) = (root.clone(), Vec::new());
        for rank in ranks.into_iter().rev() {
            if let Some(action) = world.actions(rules, scope).get(rank).copied() {
                world = world.act(action, rules).world;
                actions.push(action);
            }
        }
        actions.extend(last);
        Found { fault, root, actions }
    }
}
