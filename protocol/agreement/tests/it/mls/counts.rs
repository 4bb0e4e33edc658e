//! What a run costs, in scalar multiplications (signatures apart), against a model of the tree
//! (docs/protocol/agreement-mls.md).

use super::driver::{Seeded, World, member};
use crate::common::sizes;
use folkmoot_agreement::{Module, Plan};
use std::collections::{BTreeMap, BTreeSet};

/// RFC 9420's tree: which member has which leaf, and which parents are not blank, with their
/// unmerged leaves. A node is (level, index).
#[derive(Default, Clone)]
struct Tree {
    leaves: BTreeSet<u32>,
    parents: BTreeMap<(u32, u32), BTreeSet<u32>>,
}

impl Tree {
    fn height(&self) -> u32 {
        (self.leaves.last().unwrap() + 1).next_power_of_two().trailing_zeros()
    }

    fn remove(&mut self, leaf: u32) {
        self.leaves.remove(&leaf);
        self.parents.retain(|(level, index), _| leaf >> level != *index);
    }

    fn add(&mut self, leaf: u32) {
        self.leaves.insert(leaf);
        for ((level, index), unmerged) in &mut self.parents {
            if leaf >> level == *index {
                unmerged.insert(leaf);
            }
        }
    }

    /// To how many keys one seals to reach all below a node except the new members.
    fn sealed(&self, level: u32, index: u32, new: &BTreeSet<u32>) -> u64 {
        if let Some(unmerged) = self.parents.get(&(level, index)) {
            return 1 + unmerged.difference(new).count() as u64;
        }
        if level == 0 {
            return u64::from(self.leaves.contains(&index) && !new.contains(&index));
        }
        self.sealed(level - 1, 2 * index, new) + self.sealed(level - 1, 2 * index + 1, new)
    }

    /// The levels of the committer's path.
    fn path(&self, leaf: u32) -> Vec<u32> {
        let beside = |level: &u32| {
            let index = leaf >> (level - 1) ^ 1;
            self.leaves.iter().any(|other| other >> (level - 1) == index)
        };
        (1..=self.height()).filter(beside).collect()
    }

    /// Renews the committer's path; how many seals it took.
    fn commit(&mut self, leaf: u32, new: &BTreeSet<u32>) -> u64 {
        let path = self.path(leaf);
        let seals = path.iter().map(|level| self.sealed(level - 1, leaf >> (level - 1) ^ 1, new)).sum();
        for level in path {
            self.parents.insert((level, leaf >> level), BTreeSet::new());
        }
        seals
    }

    /// Of the committer's path, the nodes that another member is below.
    fn common(&self, committer: u32, other: u32) -> u64 {
        self.path(committer).iter().filter(|level| committer >> *level == other >> *level).count() as u64
    }
}

/// What a run costs each place, by the formulas of the docs.
fn expected(tree: &mut Tree, leaves: &[u32], base: &[usize], committer: usize) -> Vec<u64> {
    let size = leaves.len();
    let stays: BTreeSet<u32> = base.iter().map(|place| leaves[*place]).collect();
    let founded = base.is_empty();
    let gone: Vec<_> = tree.leaves.iter().copied().filter(|leaf| !stays.contains(leaf)).collect();
    gone.into_iter().for_each(|leaf| tree.remove(leaf));
    if founded {
        *tree = Tree::default();
        tree.add(leaves[committer]);
    }
    let new: BTreeSet<u32> = leaves.iter().copied().filter(|leaf| !tree.leaves.contains(leaf)).collect();
    new.iter().for_each(|leaf| tree.add(*leaf));
    let joins = new.len() as u64;
    if founded && size == 1 {
        return vec![1];
    }
    let seals = tree.commit(leaves[committer], &new);
    let path = tree.path(leaves[committer]).len() as u64;
    let nodes = (tree.leaves.len() + tree.parents.len()) as u64;
    let at = |place: usize| {
        let judged = 2 * joins + if size == 1 { 0 } else { 1 + path };
        let common = tree.common(leaves[committer], leaves[place]);
        if place == committer {
            u64::from(founded) + judged + 1 + path + 2 * seals + 3 * joins
        } else if base.contains(&place) {
            judged + joins + 1 + common
        } else {
            3 + judged + 1 + common + nodes
        }
    };
    (0..size).map(at).collect()
}

struct Priced {
    world: World,
    tree: Tree,
}

impl Priced {
    fn run(&mut self, members: &[u16]) {
        let ids: Vec<_> = members.iter().copied().map(member).collect();
        let origins = members.iter().map(|number| self.world.kept.get(number).map(|kept| kept.0)).collect();
        let plan = Plan::with_origins(&ids, 0, origins).unwrap();
        let (_, trial) = self.world.run(members);
        let committer = trial.said.last().map_or(0, |said| said.from);
        let leaves: Vec<_> = trial.runs.iter().map(|run| run.keep().unwrap().rank()).collect();
        let expected = expected(&mut self.tree, &leaves, plan.base(), committer);
        let counted: Vec<_> = trial.runs.iter().map(|run| run.count().exponentiations).collect();
        assert_eq!(counted, expected, "{members:?}, committer {committer}");
        assert!(trial.runs.iter().all(|run| run.count().inversions == 0));
    }
}

#[test]
fn every_founding_costs_what_the_docs_say() {
    for size in sizes(1) {
        let mut founded = Priced { world: World::new(u64::from(size)), tree: Tree::default() };
        founded.run(&(0..size).collect::<Vec<_>>());
    }
}

/// One line of changes, one group, so that the model follows one tree: up to 64 and down again, by
/// join, leave, both, refresh.
#[test]
fn every_role_costs_what_the_docs_say() {
    let mut priced = Priced { world: World::new(9), tree: Tree::default() };
    let mut draw = Seeded(9);
    let mut members: Vec<u16> = vec![0];
    let mut next = 1;
    priced.run(&members);
    while members.len() < 64 {
        for _ in 0..(1 + draw.below(1 + members.len())).min(64 - members.len()) {
            members.push(next);
            next += 1;
        }
        if draw.below(2) == 0 {
            members.remove(draw.below(members.len()));
        }
        priced.run(&members);
        if draw.below(3) == 0 {
            priced.run(&members);
        }
    }
    while members.len() > 1 {
        for _ in 0..(1 + draw.below(12)).min(members.len() - 1) {
            members.remove(draw.below(members.len()));
        }
        priced.run(&members);
    }
}

/// Where everybody has committed once: logarithmic.
#[test]
fn a_full_tree_costs_its_height() {
    for height in 1..=4_u32 {
        let members: Vec<u16> = (0..1 << height).collect();
        let mut world = World::new(10);
        world.run(&members);
        let mut spoke = BTreeSet::new();
        while spoke.len() < members.len() {
            spoke.insert(world.run(&members).1.said[0].from);
        }
        let (_, trial) = world.run(&members);
        let committer = trial.said[0].from;
        let height = u64::from(height);
        for (place, run) in trial.runs.iter().enumerate() {
            let most = run.count().exponentiations;
            if place == committer {
                assert_eq!(most, 2 + 4 * height);
            } else {
                assert!((3 + height..=2 + 2 * height).contains(&most));
            }
        }
    }
}
