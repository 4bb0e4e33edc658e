//! One checker for each promise.

use super::{Plan, Story, World};
use std::collections::BTreeMap;

/// What was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Whose checker found it.
    pub checker: &'static str,
    /// What it found.
    pub what: String,
}

/// All checkers.
pub fn judge(plan: &Plan, world: &World) -> Vec<Violation> {
    let found = [
        ("one_group", one_group(plan, world)),
        ("one_key_a_number", one_key_a_number(world)),
        ("joins", joins(plan, world)),
        ("excluded_deaf", excluded_deaf(world)),
        ("all_confirmed", world.early.clone()),
        ("replays_start_nothing", world.disturbed.clone()),
        ("replays_refused", world.taken_again.clone()),
    ];
    found.into_iter().filter_map(|(checker, what)| Some(Violation { checker, what: what? })).collect()
}

/// At the end all who run share one key, and nobody else has it.
fn one_group(plan: &Plan, world: &World) -> Option<String> {
    (0..plan.domains).find_map(|domain| world.apart(domain))
}

/// No epoch's name stands for two keys, and no node ever has two keys that datagrams name alike.
pub(super) fn one_key_a_number(world: &World) -> Option<String> {
    let mut names = BTreeMap::new();
    for (number, node) in world.nodes.iter().enumerate() {
        for (domain, seat) in node.seats.iter().enumerate() {
            let mut own = BTreeMap::new();
            for (_, epoch) in &seat.keys {
                let key = epoch.key.expose();
                let name = (domain, epoch.number, epoch.run);
                if names.insert(name, *key).is_some_and(|other| other != *key) {
                    return Some(format!("two keys are called {}", epoch.number));
                }
                if own.insert(epoch.number, *key).is_some_and(|other| other != *key) {
                    return Some(format!("node {number} has two keys of the number {}", epoch.number));
                }
            }
        }
    }
    None
}

/// Where nothing is lost and nobody goes, each node says one JOIN for each agreement.
fn joins(plan: &Plan, world: &World) -> Option<String> {
    if plan.loss > 0 || plan.story != Story::Start {
        return None;
    }
    let joins: u64 = world.sent.iter().map(|sent| sent.joins).sum();
    let expected = (world.nodes.len() * plan.domains) as u64;
    (joins != expected).then(|| format!("{joins} JOINs of {} nodes", world.nodes.len()))
}

/// Whoever is excluded has none of the keys that the others have afterwards, and is in none.
fn excluded_deaf(world: &World) -> Option<String> {
    for (number, out) in world.nodes.iter().enumerate().filter(|(_, node)| node.excluded.is_some()) {
        for domain in 0..out.seats.len() {
            let had = out.seats.get(domain)?.keys.iter().map(|(_, epoch)| epoch.key.expose());
            let had: Vec<_> = had.collect();
            for other in world.belonging() {
                let Some((_, epoch)) = world.nodes.get(other)?.seats.get(domain)?.keys.last() else {
                    continue;
                };
                if had.contains(&epoch.key.expose()) {
                    return Some(format!("node {number} has the key of node {other}"));
                }
            }
        }
    }
    None
}
