//! A virtual network of rings: loss, duplication, reordering, delay, cuts in one direction, crashes
//! in the middle of a step, restarts from the disk as it was. It records what each process was
//! told.

pub mod check;
pub mod keys;
mod names;
pub mod peace;
pub mod play;
mod rng;
mod services;
mod waits;

use names::indices;
pub use names::{count_of, index, life_of, message_name, node};
pub use rng::Rng;

use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{Danger, Instant, Lead, NodeId, Service};
use folkmoot_ring::message::{Control, Frame, Token};
use folkmoot_ring::{Config, Delivery, Output, Ring, WINDOW_PACKETS, stored_ring_seq};
use keys::Keys;
use std::collections::{BTreeMap, BTreeSet};
use waits::Waits;

/// What a process was told, or did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Deliver(Delivery),
    Transitional(folkmoot_base::ConfigurationId, Vec<NodeId>),
    Regular(folkmoot_base::ConfigurationId, Vec<NodeId>),
}

/// What a process was asked to send.
#[derive(Debug)]
pub struct Submitted {
    pub payload: Bytes,
    pub service: Service,
    /// So much of its log was there before.
    pub after: usize,
}

/// One process of one node.
#[derive(Debug, Default)]
pub struct Process {
    pub node: usize,
    pub life: u32,
    pub born: u64,
    pub crashed: Option<u64>,
    pub submitted: Vec<Submitted>,
    pub log: Vec<(u64, Event)>,
    /// Who was said to lack something.
    pub lacking: Vec<(u64, Option<NodeId>)>,
}

pub struct Node {
    pub ring: Option<Ring>,
    pub disk: Option<Bytes>,
    pub older_disk: Option<Bytes>,
    pub life: u32,
    pub process: usize,
    /// The process of the peer at the other end of the link, as this node knows it.
    pub session: BTreeMap<usize, u32>,
}

#[derive(Debug)]
enum Happening {
    Frame {
        from: usize,
        to: usize,
        lives: (u32, u32),
        bytes: Bytes,
    },
    /// Under a ring key: whoever has it opens this, whatever has become of the sender since.
    Fresh {
        to: usize,
        life: u32,
        key: keys::Name,
        bytes: Bytes,
    },
    Link {
        a: usize,
        b: usize,
    },
}

/// What becomes of a frame of a liar's.
pub type Lie = fn(Bytes) -> Bytes;

pub struct World {
    pub now: u64,
    pub rng: Rng,
    pub nodes: Vec<Node>,
    pub processes: Vec<Process>,
    pub cut: Vec<Vec<bool>>,
    pub loss: u64,
    pub duplicate: u64,
    pub delay: (u64, u64),
    pub detect: (u64, u64),
    pub danger: Option<Danger>,
    pub frames: u64,
    pub trace: Option<Vec<String>>,
    pub errors: Vec<String>,
    pub keys: Keys,
    /// By process.
    waits: BTreeMap<usize, Waits>,
    /// Unreliable packets that were sent: by whom, and the frames.
    pub unreliable: BTreeSet<(usize, Bytes)>,
    /// Frames of this kind (second byte) from this node are dropped.
    pub mute: Option<(usize, u8)>,
    pub drop_frame: Option<fn(usize, usize, &Bytes) -> bool>,
    /// These are held up until [`World::release`].
    pub hold_frame: Option<fn(usize, usize, &Bytes) -> bool>,
    held: Vec<Happening>,
    /// What this node sends is changed on its way: the node lies.
    pub liar: Option<(usize, Lie)>,
    /// (i, j): the roster of i does not have j.
    pub refuses: BTreeSet<(usize, usize)>,
    queue: BTreeMap<(u64, u64), Happening>,
    count: u64,
    pub crash_mid: u64,
}

impl World {
    pub fn new(n: usize, seed: u64, danger: Option<Danger>) -> Self {
        let mut world = Self {
            now: 0,
            rng: Rng(seed),
            nodes: Vec::new(),
            processes: Vec::new(),
            cut: vec![vec![false; n]; n],
            loss: 0,
            duplicate: 0,
            delay: (100, 400),
            detect: (200_000, 1_500_000),
            danger,
            frames: 0,
            trace: None,
            errors: Vec::new(),
            keys: Keys::default(),
            waits: BTreeMap::new(),
            unreliable: BTreeSet::new(),
            mute: None,
            drop_frame: None,
            hold_frame: None,
            held: Vec::new(),
            liar: None,
            refuses: BTreeSet::new(),
            queue: BTreeMap::new(),
            count: 0,
            crash_mid: 0,
        };
        for i in 0..n {
            world.nodes.push(Node {
                ring: None,
                disk: None,
                older_disk: None,
                life: 0,
                process: 0,
                session: BTreeMap::new(),
            });
            world.start(i);
        }
        world
    }

    pub fn note(&mut self, text: impl FnOnce() -> String) {
        let now = self.now;
        if let Some(trace) = self.trace.as_mut() {
            trace.push(format!("{:>10.3} {}", now as f64 / 1000.0, text()));
        }
    }

    pub fn start(&mut self, i: usize) {
        if self.nodes[i].ring.is_some() {
            return;
        }
        let life = self.nodes[i].life + 1;
        let seq = stored_ring_seq(self.nodes[i].disk.as_deref()).unwrap();
        let mut config = Config::new(node(i));
        config.danger = self.danger.into();
        self.processes.push(Process { node: i, life, born: self.now, ..Process::default() });
        let process = self.processes.len() - 1;
        self.keys.forget(i);
        let ring = Ring::new(config, seq, Instant(self.now));
        let n = &mut self.nodes[i];
        n.ring = Some(ring);
        n.life = life;
        n.process = process;
        n.session.clear();
        self.note(|| format!("n{i} starts, life {life}"));
        for j in 0..self.nodes.len() {
            if j != i {
                self.link_soon(i, j, true);
            }
        }
        self.drain(i);
    }

    pub fn crash(&mut self, i: usize) {
        if self.nodes[i].ring.take().is_none() {
            return;
        }
        self.note(|| format!("n{i} crashes"));
        let process = self.nodes[i].process;
        self.processes[process].crashed = Some(self.now);
        self.nodes[i].session.clear();
        for j in 0..self.nodes.len() {
            if j != i {
                self.link_soon(i, j, false);
            }
        }
    }

    /// The links notice a change of connection, quickly or slowly.
    fn link_soon(&mut self, a: usize, b: usize, quick: bool) {
        let (low, high) = if quick { (2_000, 60_000) } else { self.detect };
        let at = self.now + low + self.rng.below(high - low + 1);
        self.push(at, Happening::Link { a, b });
    }

    fn push(&mut self, at: u64, happening: Happening) {
        self.count += 1;
        self.queue.insert((at, self.count), happening);
    }

    pub fn set_cut(&mut self, from: usize, to: usize, cut: bool) {
        if from == to || self.cut[from][to] == cut {
            return;
        }
        self.cut[from][to] = cut;
        self.link_soon(from, to, !cut);
    }

    pub fn heal(&mut self) {
        let n = self.nodes.len();
        for i in 0..n {
            for j in 0..n {
                self.set_cut(i, j, false);
            }
        }
    }

    pub fn partition(&mut self, side: &[usize]) {
        let n = self.nodes.len();
        for i in 0..n {
            for j in 0..n {
                self.set_cut(i, j, side[i] != side[j]);
            }
        }
    }

    fn link(&mut self, a: usize, b: usize) {
        let up = !self.cut[a][b]
            && !self.cut[b][a]
            && self.nodes[a].ring.is_some()
            && self.nodes[b].ring.is_some();
        let lives = (self.nodes[a].life, self.nodes[b].life);
        for (i, j, life) in [(a, b, lives.1), (b, a, lives.0)] {
            let known = self.nodes[i].session.get(&j).copied();
            if known.is_some() && (!up || known != Some(life)) {
                self.nodes[i].session.remove(&j);
                self.peer(i, j, false);
            }
            if up && !self.nodes[i].session.contains_key(&j) {
                self.nodes[i].session.insert(j, life);
                self.peer(i, j, true);
            }
        }
    }

    /// Whether the roster of i has j, from now on.
    pub fn roster(&mut self, i: usize, j: usize, has: bool) {
        if has {
            self.refuses.remove(&(i, j))
        } else {
            self.refuses.insert((i, j))
        };
        if self.nodes[i].session.contains_key(&j) {
            self.peer(i, j, has);
        }
    }

    fn peer(&mut self, i: usize, j: usize, eligible: bool) {
        let eligible = eligible && !self.refuses.contains(&(i, j));
        let now = Instant(self.now);
        self.note(|| format!("n{i}: link to n{j} {}", if eligible { "up" } else { "down" }));
        if let Some(ring) = self.nodes[i].ring.as_mut() {
            ring.peer(now, node(j), eligible);
            if self.delay.0 >= 10_000 {
                ring.trip(node(j), Duration::from_micros(2 * self.delay.1));
                ring.path(Instant(self.now), node(j), 1_452);
            }
        }
        self.drain(i);
    }

    pub fn submit(&mut self, i: usize, service: Service, size: usize) -> bool {
        let now = Instant(self.now);
        let process = self.nodes[i].process;
        let count = self.processes[process].submitted.len() as u32;
        let payload = names::message(i, self.nodes[i].life, count, size);
        let Some(ring) = self.nodes[i].ring.as_mut() else { return false };
        let taken = ring.submit(now, (0, 0), service, (Lead::NONE, payload.clone())).is_ok();
        if taken {
            let after = self.processes[process].log.len();
            self.processes[process].submitted.push(Submitted { payload, service, after });
        }
        self.drain(i);
        taken
    }

    fn drain(&mut self, i: usize) {
        let mut crash = self.crash_mid > 0 && self.rng.below(100_000) < self.crash_mid;
        while let Some(output) = self.nodes[i].ring.as_mut().and_then(Ring::poll_output) {
            if crash && self.rng.percent(40) {
                self.crash(i);
                crash = false;
                continue;
            }
            self.output(i, output);
        }
        self.judge_waits(i);
    }

    fn output(&mut self, i: usize, output: Output) {
        let now = self.now;
        let process = self.nodes[i].process;
        let log = |world: &mut Self, event: Event| world.processes[process].log.push((now, event));
        match output {
            Output::Send { to, frame } => self.send(i, index(&to), frame),
            Output::Multicast { to, frame } => {
                self.look(i, &frame);
                for to in to.iter() {
                    self.send(i, index(to), frame.clone());
                }
            }
            Output::Fresh { to, frame } => {
                self.look(i, &frame);
                self.comes(node(i), i, &frame);
                let Some(key) = self.keys.seal(i, &frame) else { return };
                for to in to.iter() {
                    self.send_sealed(i, index(to), key, frame.clone());
                }
            }
            Output::Key(change) => self.keys.change(i, change),
            Output::Persist(persist) => {
                self.nodes[i].older_disk = self.nodes[i].disk.take();
                self.nodes[i].disk = persist.value;
            }
            Output::Deliver(delivery) => {
                self.note(|| {
                    format!(
                        "n{i}: deliver {:?} from n{} {:?}{} {}",
                        delivery.order,
                        index(&delivery.sender),
                        delivery.service,
                        if delivery.transitional { " transitional" } else { "" },
                        message_name(&delivery.payload)
                    )
                });
                let delivered = &mut self.waits.entry(process).or_default().delivered;
                delivered.extend(waits::name(&delivery.payload));
                log(self, Event::Deliver(delivery));
            }
            Output::Transitional { from, survivors } => {
                self.note(|| format!("n{i}: transitional {:?}", indices(&survivors)));
                log(self, Event::Transitional(from, survivors));
            }
            Output::Regular { id, members, .. } => {
                self.note(|| format!("n{i}: regular {} {:?}", id.ring_seq, indices(&members)));
                log(self, Event::Regular(id, members));
            }
            Output::Lacking(lacking) => {
                self.processes[process].lacking.push((now, lacking.map(|(node, _)| node)))
            }
            Output::Left { .. } => {}
            Output::Trace(change) => self.note(|| format!("n{i}: {change}")),
        }
    }

    fn send(&mut self, from: usize, to: usize, bytes: Bytes) {
        match Frame::decode(bytes.clone()) {
            Ok(Frame::Control(Control::Token(Token { sent, .. }))) => {
                assert!(sent <= WINDOW_PACKETS, "the window was exceeded: {sent}");
            }
            Ok(Frame::Control(Control::Commit(token))) => self.keys.contributes(from, &token),
            Ok(Frame::Data(..)) => self.comes(node(from), from, &bytes),
            _ => {}
        }
        self.carry(from, to, bytes, |world, life, bytes| {
            let lives = (world.nodes[from].life, life);
            Happening::Frame { from, to, lives, bytes }
        });
    }

    fn send_sealed(&mut self, from: usize, to: usize, key: keys::Name, bytes: Bytes) {
        self.carry(from, to, bytes, |_, life, bytes| Happening::Fresh { to, life, key, bytes });
    }

    fn carry(
        &mut self,
        from: usize,
        to: usize,
        bytes: Bytes,
        happening: impl Fn(&Self, u32, Bytes) -> Happening,
    ) {
        let Some(life) = self.nodes[from].session.get(&to).copied() else { return };
        let muted = self.mute.is_some_and(|(node, kind)| node == from && bytes.get(1) == Some(&kind));
        if self.cut[from][to] || muted || self.drop_frame.is_some_and(|drop| drop(from, to, &bytes)) {
            return;
        }
        let lie = self.liar.filter(|(liar, _)| *liar == from);
        let bytes = lie.map_or_else(|| bytes.clone(), |(_, lie)| lie(bytes.clone()));
        let copies = if self.rng.percent(self.duplicate) { 2 } else { 1 };
        for _ in 0..copies {
            if self.rng.percent(self.loss) {
                continue;
            }
            let mut wait = self.delay.0 + self.rng.below(self.delay.1 - self.delay.0 + 1);
            if copies == 2 && self.rng.percent(30) {
                wait += self.rng.below(2_000_000); // A copy that comes very late.
            }
            let happening = happening(self, life, bytes.clone());
            if self.hold_frame.is_some_and(|hold| hold(from, to, &bytes)) {
                self.held.push(happening);
            } else {
                self.push(self.now + wait, happening);
            }
        }
    }

    /// What was held up arrives now.
    pub fn release(&mut self) {
        for happening in std::mem::take(&mut self.held) {
            self.push(self.now, happening);
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Link { a, b } => self.link(a, b),
            Happening::Frame { from, to, lives, bytes } => {
                let now = Instant(self.now);
                let known = self.nodes[to].session.get(&from).copied();
                if self.nodes[to].life == lives.1 && known == Some(lives.0) {
                    self.take(now, to, node(from), bytes);
                }
            }
            Happening::Fresh { to, life, key, bytes } => {
                let from = self.keys.open(to, key, &bytes).filter(|_| self.nodes[to].life == life);
                if let Some(from) = from {
                    self.take(Instant(self.now), to, from, bytes);
                }
            }
        }
    }

    /// Lets `span` pass.
    pub fn run(&mut self, span: Duration) {
        let end = self.now + span.as_micros() as u64;
        loop {
            let timer = (0..self.nodes.len())
                .filter_map(|i| {
                    let at = self.nodes[i].ring.as_ref()?.poll_timeout()?;
                    Some((at.0.max(self.now), i))
                })
                .min();
            let frame = self.queue.first_key_value().map(|((at, _), _)| *at);
            let next = match (timer, frame) {
                (Some((at, _)), Some(frame)) => at.min(frame),
                (Some((at, _)), None) => at,
                (None, Some(frame)) => frame,
                (None, None) => end + 1,
            };
            if next > end {
                self.now = end;
                return;
            }
            self.now = next.max(self.now);
            if frame.is_some_and(|at| at <= self.now) {
                let (_, happening) = self.queue.pop_first().unwrap();
                self.happen(happening);
            } else if let Some((_, i)) = timer {
                let mut rng = Rng(self.rng.next());
                self.nodes[i].ring.as_mut().unwrap().timeout(Instant(self.now), &mut rng);
                self.drain(i);
            }
        }
    }

    pub fn ms(&mut self, ms: u64) {
        self.run(Duration::from_millis(ms));
    }
}
