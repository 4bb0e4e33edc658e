//! Hours in which nodes come and go without end: each time all who are there come to share one key,
//! and nothing that a node keeps grows with the hours.

use super::check::{Violation, one_key_a_number};
use super::plan::{PATIENCE, Plan, Story};
use super::world::World;
use crate::rng::Rng;
use folkmoot_pubsub::discovery::Danger;
use std::collections::BTreeMap;

/// Nodes that there are; about half of them run at a time.
const NODES: usize = 16;
/// Words against members that one may keep. A certificate that ended is forgotten after an hour.
const WORDS_MAX: usize = 90;
/// Bytes that one may have on disk.
const DISK_MAX: usize = 14_000;
/// Messages of a node in an hour.
const SENT_MAX: u64 = 4_000;
const HOUR: u64 = 3_600_000_000;

/// What was counted.
#[derive(Debug, Clone, Default)]
pub struct Churned {
    /// Events by kind.
    pub events: BTreeMap<&'static str, u64>,
    /// The most that a machine kept in each hour: ids, words against members, bytes on disk.
    pub largest: Vec<[usize; 3]>,
    /// Messages in each hour, by the nodes that ran in it.
    pub sent: Vec<u64>,
    /// Keys of all nodes.
    pub keys: u64,
    /// The longest until all were one, in microseconds.
    pub slowest: u64,
    /// What was broken.
    pub broken: Vec<Violation>,
    /// One line for each message of the last while, if somebody wants to know.
    pub log: Vec<String>,
}

struct Churn<'a> {
    world: &'a mut World,
    rng: Rng,
    told: u64,
    out: Churned,
}

/// Plays so many hours.
pub fn play(seed: u64, hours: u64, danger: Option<Danger>, log: bool) -> Churned {
    let plan = Plan::of(seed, Story::Start);
    let plan = Plan { old: 6, new: 0, delay: 2_000, jitter: 1_000, loss: 10_000, ..plan };
    let mut world = World::new(&plan, danger);
    for _ in 0..NODES {
        world.add();
    }
    let rng = Rng::new(seed, "lcm churn", 0);
    world.dead_may_stay = true;
    world.log = log.then(Vec::new);
    let mut churn = Churn { world: &mut world, rng, told: 0, out: Churned::default() };
    (0..plan.old).for_each(|node| churn.world.start(node));
    churn.settle("start");
    for hour in 1..=hours {
        churn.hour(hour * HOUR);
        if !churn.out.broken.is_empty() {
            break;
        }
    }
    churn.end()
}

impl Churn<'_> {
    /// Events until then, and what they cost.
    fn hour(&mut self, until: u64) {
        let before = self.sent();
        let (mut running, mut looks) = (0, 0);
        let mut largest = [0; 3];
        while self.world.now < until && self.out.broken.is_empty() {
            let pause = self.rng.range(5, 60) * 1_000_000;
            self.pass(pause);
            self.event();
            let sizes = self.world.largest();
            largest.iter_mut().zip(sizes).for_each(|(most, size)| *most = size.max(*most));
            running += self.world.belonging().len() as u64;
            looks += 1;
        }
        let sent = (self.sent() - before) * looks / running.max(1);
        self.out.largest.push(largest);
        self.out.sent.push(sent);
        let [ids, words, disk] = largest;
        let within = ids <= NODES && words <= WORDS_MAX && disk <= DISK_MAX && sent <= SENT_MAX;
        if !within {
            let what = format!(
                "{ids} ids, {words} words, {disk} bytes kept, {sent} messages in hour {}",
                self.out.sent.len()
            );
            self.out.broken.push(Violation { checker: "bounded", what });
        }
    }

    fn sent(&self) -> u64 {
        self.world.sent.iter().map(|sent| sent.joins + sent.responses + sent.rounds + sent.others).sum()
    }

    /// Time passes, and all look at their clocks now and then.
    fn pass(&mut self, micros: u64) {
        let end = self.world.now + micros;
        while self.world.now < end {
            self.world.run((self.world.now + 1_000_000).min(end));
            if self.world.now >= self.told + 10_000_000 {
                self.told = self.world.now;
                self.world.tell_time();
                self.replace_ended();
            }
        }
    }

    /// Whoever's certificate has ended gets another, and starts with it.
    fn replace_ended(&mut self) {
        let now = self.world.seconds();
        let ended = |world: &World, node: usize| {
            let until = world.nodes.get(node).and_then(|node| node.until);
            until.is_some_and(|until| until + 8 < now)
        };
        for node in (0..NODES).filter(|node| ended(self.world, *node)).collect::<Vec<_>>() {
            let runs = self.world.nodes.get(node).is_some_and(|node| node.alive);
            self.world.crash(node);
            self.certify(node);
            if runs {
                self.count("end");
                self.world.start(node);
            }
        }
    }

    fn certify(&mut self, node: usize) {
        let term = self.rng.range(600, 4 * 3_600);
        self.world.renew(node, Some(term));
    }

    fn count(&mut self, what: &'static str) {
        *self.out.events.entry(what).or_default() += 1;
    }

    /// Until all are one; not while a certificate is about to end.
    fn settle(&mut self, after: &'static str) {
        let begun = self.world.now;
        while self.world.now < begun + PATIENCE {
            self.pass(200_000);
            if self.world.is_one() {
                self.out.slowest = self.out.slowest.max(self.world.now - begun);
                return;
            }
        }
        let what = (0..2).find_map(|domain| self.world.apart(domain)).unwrap_or_default();
        let what = format!("at {} s, after {after}: {what}", self.world.now / 1_000_000);
        self.out.broken.push(Violation { checker: "one_group", what });
    }

    fn one(&mut self, runs: bool) -> Option<usize> {
        let nodes = self.world.nodes.iter().enumerate();
        let of: Vec<usize> = nodes.filter(|(_, node)| node.alive == runs).map(|(number, _)| number).collect();
        self.rng.pick(&of).copied()
    }

    fn event(&mut self) {
        let running = self.world.belonging().len();
        let what = match running {
            0..=3 => 0,
            4..=11 => self.rng.weighted(&[6, 3, 4, 2, 2]),
            _ => 1 + self.rng.weighted(&[3, 4, 2, 2]),
        };
        let Some(node) = self.one(what != 0) else { return };
        let names = ["join", "leave", "crash", "exclude", "split"];
        let name = names.get(what).copied().unwrap_or_default();
        self.count(name);
        match name {
            "join" => self.begin(node),
            "leave" => {
                self.world.leave(node);
                self.world.run(self.world.now + 100_000);
                self.world.crash(node);
            }
            "crash" => self.crash(node),
            "exclude" => self.exclude(node),
            _ => self.split(),
        }
        if self.out.broken.is_empty() {
            self.settle(name);
        }
    }

    /// A process begins, with the disk that its node has; a node that was thrown out has a new
    /// certificate.
    fn begin(&mut self, node: usize) {
        let out = |node: &super::world::Node| node.excluded.is_some() || node.left;
        let seconds = self.world.seconds() + 30;
        let needs =
            self.world.nodes.get(node).is_some_and(|node| {
                node.excluded.is_some() || node.until.is_some_and(|until| until < seconds)
            });
        if needs {
            self.certify(node);
        } else if let Some(node) = self.world.nodes.get_mut(node).filter(|node| out(node)) {
            node.left = false;
        }
        self.world.start(node);
    }

    /// Nobody notices a crash before an agreement needs the dead: it comes back, or others come.
    fn crash(&mut self, node: usize) {
        self.world.crash(node);
        let pause = self.rng.range(0, 30_000_000);
        self.pass(pause);
        let back = if self.rng.chance(700_000) { Some(node) } else { self.one(false) };
        if let Some(back) = back {
            self.begin(back);
        }
    }

    fn exclude(&mut self, node: usize) {
        let soon = self.world.seconds() + 10;
        let lasts = |teller: &usize| {
            let until = self.world.nodes.get(*teller).and_then(|node| node.until);
            *teller != node && until.is_none_or(|until| until > soon)
        };
        let Some(teller) = self.world.belonging().into_iter().find(lasts) else { return };
        self.world.exclude(node, teller);
        self.settle("exclude");
        let has = |world: &World, node: usize, domain: usize| {
            let seat = world.nodes.get(node).and_then(|node| node.seats.get(domain));
            seat.and_then(|seat| seat.keys.last().map(|(_, epoch)| *epoch.key.expose()))
        };
        if (0..2).any(|domain| has(self.world, node, domain) == has(self.world, teller, domain)) {
            let what = format!("node {node} has the key of node {teller}");
            self.out.broken.push(Violation { checker: "excluded_deaf", what });
        }
        self.world.crash(node);
    }

    fn split(&mut self) {
        for node in 0..NODES {
            let side = u8::from(self.rng.chance(500_000));
            if let Some(node) = self.world.nodes.get_mut(node) {
                node.side = side;
            }
        }
        let Some(node) = self.one(true) else { return };
        // Both sides notice only if somebody comes or goes.
        self.world.crash(node);
        self.begin(node);
        let pause = self.rng.range(0, 60_000_000);
        self.pass(pause);
        self.world.nodes.iter_mut().for_each(|node| node.side = 0);
    }

    fn end(mut self) -> Churned {
        self.out.keys =
            self.world.nodes.iter().flat_map(|node| &node.seats).map(|seat| seat.keys.len() as u64).sum();
        let found =
            [("one_key_a_number", one_key_a_number(self.world)), ("all_confirmed", self.world.early.clone())];
        let found = found.into_iter().filter_map(|(checker, what)| Some(Violation { checker, what: what? }));
        self.out.broken.extend(found);
        self.out.log = self.world.log.take().unwrap_or_default();
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_of_churn_leaves_all_in_one_group_with_bounded_memory() {
        let churned = play(1, 1, None, false);
        assert_eq!(churned.broken, []);
        assert!(churned.events.values().sum::<u64>() > 40, "{:?}", churned.events);
    }
}
