//! One run: a network that loses, parts and heals; programs that send; nodes that crash.

use crate::check;
use crate::dice::Dice;
use crate::frame::Network;
use crate::history::{Event, History};
use crate::node::{Ctx, Node, Phase};
use crate::nouns::{MESSAGES, NODES, Service, Set};
use crate::plan::{Act, Lost, Plan, Scene};
use crate::rules::Rules;
use crate::watch::Watch;

/// The first configuration.
const FIRST: usize = 8;
/// After the network is whole, everything is settled within so many ticks.
const SETTLE: usize = 3_000;

/// One run as it stands.
#[derive(Debug)]
pub struct World {
    /// The nodes, also those that crashed.
    pub(crate) nodes: Vec<Node>,
    /// Those that did not.
    pub(crate) alive: Set,
    /// Ticks since the start.
    pub(crate) now: usize,
    /// What happened.
    pub history: History,
    /// The network.
    pub(crate) net: Network,
    dice: Dice,
    rules: Rules,
    plan: Plan,
    acts: Vec<(usize, Act)>,
    watch: Watch,
}

impl World {
    /// A run as this seed draws it: all nodes are together.
    pub fn new(seed: u64, rules: Rules) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
        let plan = Plan::draw(&mut dice);
        Self::with(plan, dice, rules)
    }

    /// A run of this kind.
    pub(crate) fn with(plan: Plan, dice: Dice, rules: Rules) -> Self {
        let members = Set::below(plan.nodes);
        let mut history = History::default();
        for node in members.iter() {
            history.logs[node].push(Event::Install { config: FIRST, members, with: members });
        }
        Self {
            nodes: members.iter().map(|node| Node::new(node, FIRST, members)).collect(),
            alive: members,
            now: 1,
            history,
            net: Network::losing(plan.loss),
            dice,
            rules,
            plan,
            acts: Vec::new(),
            watch: Watch::default(),
        }
    }

    /// Runs for so many ticks, makes the network whole, waits until all is settled, and checks.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub fn run(&mut self, ticks: usize) -> Result<(), String> {
        if self.plan.long_cut {
            let (from, to) = (self.dice.roll(self.plan.nodes), self.dice.roll(self.plan.nodes));
            self.net.cuts[from][to] = ticks;
        }
        for _ in 0..ticks {
            self.something();
            self.tick()?;
        }
        self.settle()
    }

    /// Makes the network whole, waits until all is settled, and checks.
    ///
    /// # Errors
    /// What went wrong, in words.
    pub(crate) fn settle(&mut self) -> Result<(), String> {
        self.net.loss = 0;
        self.net.cuts = Default::default();
        self.net.sides = Default::default();
        self.net.hollow = Default::default();
        self.net.veiled = Default::default();
        self.acts.clear();
        let end = self.now + SETTLE;
        loop {
            self.tick()?;
            match self.unsettled() {
                None => break,
                Some(why) if self.now >= end => return Err(why),
                Some(_) => {}
            }
        }
        check::all(&self.history)
    }

    /// What happens by chance at a tick.
    fn something(&mut self) {
        let plan = self.plan.clone();
        for node in self.alive.iter() {
            if self.dice.chance(plan.say) {
                let times = if self.dice.chance(plan.burst) { 3 } else { 1 };
                for _ in 0..times {
                    let service = plan.service(&mut self.dice);
                    self.act(Act::Say(node, service));
                }
            }
        }
        let any = |dice: &mut Dice| dice.roll(plan.nodes);
        if self.dice.chance(plan.part) {
            self.part();
        }
        if self.dice.chance(plan.crash) {
            let node = any(&mut self.dice);
            self.act(Act::Crash(node));
        }
        if self.dice.chance(plan.cut) {
            let (from, to) = (any(&mut self.dice), any(&mut self.dice));
            self.net.cuts[from][to] = self.now + self.dice.between(5, 120);
        }
        if self.dice.chance(plan.scene)
            && let Some(scene) = Scene::draw(self.alive, self.now, self.may_crash(), &mut self.dice)
        {
            self.play(scene);
        }
        let strikes = std::mem::take(&mut self.history.ready) && self.dice.chance(plan.strike);
        if strikes && self.dice.chance(500) {
            self.part();
        } else if strikes {
            let (node, ticks) = (self.dice.roll(self.plan.nodes), self.dice.between(60, 250));
            self.act(Act::Mute(node, ticks));
        }
        let due: Vec<Act> = self.acts.iter().filter(|(at, _)| *at <= self.now).map(|(_, act)| *act).collect();
        self.acts.retain(|(at, _)| *at > self.now);
        due.into_iter().for_each(|act| self.act(act));
    }

    fn play(&mut self, scene: Scene) {
        let until = self.now + scene.ticks;
        match scene.lost {
            Lost::Packets => self.net.hollow[scene.sender] = until,
            Lost::Records => self.net.veiled[scene.sender] = (until + 60, scene.hearer),
            Lost::All => {
                for other in Set::below(NODES).minus(Set::one(scene.hearer)).iter() {
                    self.net.cuts[scene.sender][other] = until;
                }
            }
        }
        self.acts.extend(scene.acts);
        self.history.count("scenes");
    }

    /// The network parts in two or three, and heals later.
    fn part(&mut self) {
        let sides = self.dice.between(2, 3);
        for node in 0..NODES {
            self.net.sides[node] = self.dice.roll(sides);
        }
        self.acts.push((self.now + self.dice.between(40, 250), Act::Heal));
        self.history.count("partitions");
    }

    fn may_crash(&self) -> bool {
        self.alive.len() > 2 || self.alive.len() > 1 && self.plan.nodes == 2
    }

    /// Does it.
    pub(crate) fn act(&mut self, act: Act) {
        match act {
            Act::Heal => self.net.sides = Default::default(),
            Act::Mute(node, ticks) => {
                for other in Set::below(NODES).minus(Set::one(node)).iter() {
                    self.net.cuts[node][other] = self.now + ticks;
                }
            }
            Act::Isolate(node, ticks) => {
                for other in Set::below(NODES).minus(Set::one(node)).iter() {
                    self.net.cuts[node][other] = self.now + ticks;
                    self.net.cuts[other][node] = self.now + ticks;
                }
            }
            Act::Crash(node) => {
                if self.may_crash() && self.alive.has(node) {
                    self.alive = self.alive.minus(Set::one(node));
                    self.history.crashed.add(node);
                    self.history.count("crashes");
                }
            }
            Act::Say(node, service) => self.say(node, service),
        }
    }

    fn say(&mut self, node: usize, service: Service) {
        let full = self.history.messages.len() >= MESSAGES;
        let (now, rules) = (self.now, self.rules);
        let Some(one) = self.nodes.get_mut(node) else { return };
        if self.alive.has(node) && !full && one.may_say() {
            let (dice, net, history) = (&mut self.dice, &mut self.net, &mut self.history);
            one.say(service, &mut Ctx { now, rules, dice, net, history });
        }
    }

    /// A tick: datagrams arrive, nodes do what is due, and the watch looks on.
    ///
    /// # Errors
    /// What the watch saw.
    pub(crate) fn tick(&mut self) -> Result<(), String> {
        self.now += 1;
        let (now, rules) = (self.now, self.rules);
        for (from, to, frame) in self.net.arrived(now) {
            let Some(node) = self.nodes.get_mut(to).filter(|_| self.alive.has(to)) else { continue };
            let (dice, net, history) = (&mut self.dice, &mut self.net, &mut self.history);
            node.on_frame(from, frame, &mut Ctx { now, rules, dice, net, history });
        }
        for id in self.alive.iter() {
            let Some(node) = self.nodes.get_mut(id) else { continue };
            let (dice, net, history) = (&mut self.dice, &mut self.net, &mut self.history);
            node.tick(&mut Ctx { now, rules, dice, net, history });
        }
        self.watch.look(now, &self.nodes, self.alive, &self.history)?;
        self.net.again.map_or(Ok(()), |uid| Err(format!("unreliable message {uid} was sent again")))
    }

    /// What is not yet as it must become.
    fn unsettled(&self) -> Option<String> {
        let alive: Vec<&Node> = self.nodes.iter().filter(|node| self.alive.has(node.id)).collect();
        let first = alive.first()?;
        for node in &alive {
            if node.phase != Phase::Stands
                || node.store.id != first.store.id
                || node.store.members != self.alive
            {
                let phases: Vec<String> = alive
                    .iter()
                    .map(|one| format!("{}: {:?} in {}", one.id, one.phase, one.store.id))
                    .collect();
                return Some(format!("not all are together at the end: {}", phases.join("; ")));
            }
            for (uid, message) in self.history.messages.iter().enumerate() {
                if message.config == node.store.id
                    && message.service != Service::Unreliable
                    && !node.store.delivered.has(uid)
                {
                    let service = message.service;
                    return Some(format!("node {} never delivers {service:?} message {uid}", node.id));
                }
            }
        }
        alive.iter().all(|node| node.token.is_none()).then(|| "the token never comes to rest".to_owned())
    }
}
