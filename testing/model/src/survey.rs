//! Goes through all states depth first, in a fraction of the memory that breadth first takes. It
//! keeps only the fingerprint of a state. It keeps whole states only on the way from the beginning
//! to where the walk stands. The walk comes to a state again on that way if, and only if, some
//! state can come back. So it needs no graph to see that every way ends.

use crate::check::Fault;
use crate::fingerprint::{Known, fingerprint};
use crate::marks::{Marks, marks};
use crate::orders::Orders;
use crate::rules::{Rules, Scope};
use crate::search::{Found, Report};
use crate::world::{Action, World};
use std::collections::BTreeSet;

/// A state on the way, and what is still to be tried in it.
struct Stand {
    world: World,
    name: u128,
    /// By which action it was come to.
    by: Option<Action>,
    untried: Vec<Action>,
}

struct Walk<'a> {
    rules: &'a Rules,
    scope: &'a Scope,
    orders: Orders,
    known: Known,
    way: Vec<Stand>,
    on_the_way: BTreeSet<u128>,
    steps: usize,
    ends: usize,
    depth: usize,
    marks: Marks,
}

/// Walks through everything that can follow from `roots`, in these orders, up to the first fault.
/// The way to a fault is one way, seldom the shortest: [`crate::explore`] finds that.
/// `Report::depth` is the longest way walked. `progress` hears the number of states whenever there
/// is a new one.
pub fn survey(
    roots: &[World],
    (rules, scope): (&Rules, &Scope),
    orders: Orders,
    mut progress: impl FnMut(usize),
) -> Report {
    let mut walk = Walk {
        rules,
        scope,
        orders,
        known: Known::default(),
        way: Vec::new(),
        on_the_way: BTreeSet::new(),
        steps: 0,
        ends: 0,
        depth: 0,
        marks: Marks::default(),
    };
    let found = roots.iter().find_map(|root| {
        let (last, fault) = walk.from(root, &mut progress)?;
        let actions = walk.way.iter().filter_map(|stand| stand.by).chain(last).collect();
        Some(Found { fault, root: root.clone(), actions })
    });
    let Walk { known, steps, ends, depth, marks, .. } = walk;
    Report { states: known.len(), steps, depth, ends, marks: marks.names(), found }
}

impl Walk<'_> {
    /// The fault, with the action that it lies in if it is not in the state itself.
    fn from(&mut self, root: &World, progress: &mut impl FnMut(usize)) -> Option<(Option<Action>, Fault)> {
        if let Some(fault) = self.meet(root.clone(), None) {
            return Some((None, fault));
        }
        progress(self.known.len());
        while let Some(stand) = self.way.last_mut() {
            let Some(action) = stand.untried.pop() else {
                let name = stand.name;
                self.on_the_way.remove(&name);
                self.way.pop();
                continue;
            };
            let next = stand.world.act(action, self.rules);
            if let Some(fault) = next.fault {
                return Some((Some(action), fault));
            }
            self.marks.effects(&stand.world, action, &next.told);
            self.steps += 1;
            let before = self.known.len();
            let fault = self.meet(next.world, Some(action));
            if self.known.len() > before {
                progress(self.known.len());
            }
            match fault {
                None => {}
                // The state is not on the way: the action that leads there is the last.
                Some(Fault::Endless) => return Some((Some(action), Fault::Endless)),
                Some(fault) => return Some((None, fault)),
            }
        }
        None
    }

    /// A state: if it is new, the walk stands in it.
    fn meet(&mut self, world: World, by: Option<Action>) -> Option<Fault> {
        let name = fingerprint(&world);
        if !self.known.insert(name) {
            return self.on_the_way.contains(&name).then_some(Fault::Endless);
        }
        marks(&world, &mut self.marks);
        let fault = world.judge_rest(self.rules);
        let mut untried = world.actions(self.rules, self.scope);
        self.ends += usize::from(untried.is_empty());
        let own = world.own_step(&untried, self.rules).filter(|_| self.orders == Orders::Enough);
        if let Some(own) = own {
            untried = vec![own];
        }
        untried.reverse();
        self.on_the_way.insert(name);
        self.way.push(Stand { world, name, by, untried });
        self.depth = self.depth.max(self.way.len().saturating_sub(1));
        fault
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
mod tests {
    use super::*;

    /// No machine of ours does it, with any rule off: so the walk is led round by hand.
    #[test]
    fn a_state_that_comes_back_is_noticed_and_one_that_was_left_is_not() {
        let (rules, scope) = (Rules::default(), Scope::all(1));
        let (known, on_the_way, marks) = Default::default();
        let (orders, way, steps, ends, depth) = (Orders::All, Vec::new(), 0, 0, 0);
        let mut walk =
            Walk { rules: &rules, scope: &scope, orders, known, way, on_the_way, steps, ends, depth, marks };
        let roots = crate::beginnings(&scope);
        assert_eq!(walk.meet(roots[0].clone(), None), None);
        assert_eq!(walk.meet(roots[1].clone(), None), None);
        assert_eq!(walk.meet(roots[0].clone(), None), Some(Fault::Endless), "still on the way");
        walk.on_the_way.remove(&walk.way.pop().unwrap().name);
        assert_eq!(walk.meet(roots[1].clone(), None), None, "not any more");
    }
}
