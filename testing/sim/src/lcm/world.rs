//! Nodes, their network and their time.

use super::Plan;
use super::papers::Toy;
use crate::rng::Rng;
use bytes::Bytes;
use folkmoot_base::{Digest, Entropy, Instant, Mutant, UnixTime};
use folkmoot_pubsub::discovery::message::{Said, Signed};
use folkmoot_pubsub::discovery::{Danger, Discovery, Epoch, Input, Output, Papers as _, Settings};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

mod again;
mod told;

use told::told;

/// What the two machines of a node agree on.
pub const DOMAINS: [&[u8]; 2] = [b"239.255.76.67:7667", b"239.255.76.67:7667:POSE"];
/// Noon of a day.
const NOON: i64 = 1_795_000_000;

/// One machine of one node, over all its lives.
pub struct Seat {
    machine: Option<Discovery<Toy>>,
    disk: Option<Bytes>,
    wake: Option<u64>,
    /// Every key that it had, with the time.
    pub keys: Vec<(u64, Epoch)>,
}

/// One node.
pub struct Node {
    /// By domain.
    pub seats: Vec<Seat>,
    papers: Toy,
    /// How many certificates it had before.
    issue: u16,
    /// When its certificate ends, in seconds since 1970.
    pub until: Option<u64>,
    /// What is broken at this node.
    pub danger: Option<Danger>,
    /// The randomness that it drew, if somebody wants to know.
    pub drawn: Option<Vec<[u8; 32]>>,
    /// Microseconds that its timers are ahead of the world's.
    ahead: u64,
    /// Seconds that its wall clock is off.
    pub off: i64,
    /// Runs.
    pub alive: bool,
    /// Was excluded, at that time.
    pub excluded: Option<u64>,
    /// Left by itself.
    pub left: bool,
    /// Which part of a split it is in.
    pub side: u8,
}

/// How many messages of each kind were sent, in one domain.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sent {
    /// JOIN.
    pub joins: u64,
    /// JOIN_Response, claims included.
    pub responses: u64,
    /// Rounds.
    pub rounds: u64,
    /// All others.
    pub others: u64,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Comes { to: usize, domain: usize, bytes: Bytes },
    ComesAgain { to: usize, domain: usize, bytes: Bytes },
    Wakes { node: usize, domain: usize },
}

/// Randomness that is written down.
struct Spied<'a> {
    dice: &'a mut Rng,
    drawn: Option<&'a mut Vec<[u8; 32]>>,
}

impl Entropy for Spied<'_> {
    fn fill(&mut self, out: &mut [u8]) {
        self.dice.fill(out);
        if let (Some(drawn), Ok(seed)) = (self.drawn.as_mut(), <[u8; 32]>::try_from(&*out)) {
            drawn.push(seed);
        }
    }
}

/// The world.
pub struct World {
    /// Nodes by number; their ids are one more.
    pub nodes: Vec<Node>,
    /// Microseconds.
    pub now: u64,
    queue: BinaryHeap<Reverse<(u64, u64, What)>>,
    count: u64,
    plan: Plan,
    secret: [u8; 32],
    danger: Option<Danger>,
    net: Rng,
    dice: Rng,
    /// By domain.
    pub sent: [Sent; 2],
    /// All that was ever sent, with its domain.
    pub recorded: Vec<(usize, Bytes)>,
    /// Whether it is kept.
    pub records: bool,
    /// Agreements in which somebody sent a share: domain and candidate.
    pub runs: BTreeSet<(usize, Digest)>,
    /// Who said a share, and who a confirmation, in which agreement.
    said: BTreeMap<(usize, Digest), (BTreeSet<u16>, BTreeSet<u16>)>,
    /// A key that counted before all had confirmed it.
    pub early: Option<String>,
    quiet: Option<(usize, Vec<usize>)>,
    /// What a message of nobody started.
    pub disturbed: Option<String>,
    /// What came to whom; kept with the records.
    came: BTreeSet<(usize, usize, Digest)>,
    /// Recorded messages that came again and were refused.
    pub refused_again: u64,
    /// One that was not.
    pub taken_again: Option<String>,
    /// Whether a member that crashed may still be in a key: nobody notices before it is needed.
    pub dead_may_stay: bool,
    /// One line for each message, for people.
    pub log: Option<Vec<String>>,
}

impl World {
    /// Without nodes.
    pub fn new(plan: &Plan, danger: Option<Danger>) -> Self {
        let mut dice = Rng::new(plan.seed, "lcm nodes", 0);
        let mut secret = [0; 32];
        dice.fill(&mut secret);
        Self {
            nodes: Vec::new(),
            now: 1_000_000,
            queue: BinaryHeap::new(),
            count: 0,
            plan: plan.clone(),
            secret,
            danger,
            net: Rng::new(plan.seed, "lcm net", 0),
            dice,
            sent: [Sent::default(); 2],
            recorded: Vec::new(),
            records: false,
            runs: BTreeSet::new(),
            said: BTreeMap::new(),
            early: None,
            quiet: None,
            disturbed: None,
            came: BTreeSet::new(),
            refused_again: 0,
            taken_again: None,
            dead_may_stay: false,
            log: None,
        }
    }

    /// Adds a node that does not run yet; its number.
    pub fn add(&mut self) -> usize {
        let number = self.nodes.len();
        let uid = u16::try_from(number + 1).unwrap_or(u16::MAX);
        let skew = self.plan.skew;
        let seat = || Seat { machine: None, disk: None, wake: None, keys: Vec::new() };
        self.nodes.push(Node {
            seats: (0..self.plan.domains).map(|_| seat()).collect(),
            papers: Toy::new(self.secret, uid, 0, 0),
            issue: 0,
            until: None,
            danger: self.danger,
            drawn: None,
            ahead: self.dice.range(0, 5_000_000),
            off: i64::try_from(self.dice.range(0, 2 * skew + 1)).unwrap_or(0) - skew as i64,
            alive: false,
            excluded: None,
            left: false,
            side: 0,
        });
        number
    }

    fn note(&mut self, number: usize, what: &str) {
        if let Some(log) = self.log.as_mut() {
            log.push(format!("{:>9} {number} {what}", self.now));
        }
    }

    /// Starts a process of a node, with what its disk has.
    pub fn start(&mut self, number: usize) {
        self.note(number, "starts");
        for domain in 0..self.plan.domains {
            let Some(node) = self.nodes.get_mut(number) else { return };
            node.alive = true;
            let danger = Mutant::from(node.danger);
            let Some(name) = DOMAINS.get(domain) else { return };
            let settings = Settings { times: self.plan.times, danger, ..Settings::new(name) };
            let papers = node.papers.clone();
            let Some(seat) = node.seats.get_mut(domain) else { return };
            seat.machine = Discovery::new(papers, settings, seat.disk.as_deref()).ok();
            let wall = UnixTime(wall(node, self.now));
            self.input(number, domain, Input::Wall(wall));
            self.input(number, domain, Input::Start);
        }
    }

    /// The process is gone; its disk stays.
    pub fn crash(&mut self, number: usize) {
        self.note(number, "stops");
        let Some(node) = self.nodes.get_mut(number) else { return };
        node.alive = false;
        node.seats.iter_mut().for_each(|seat| (seat.machine, seat.wake) = (None, None));
    }

    /// The node goes by itself.
    pub fn leave(&mut self, number: usize) {
        (0..self.plan.domains).for_each(|domain| self.input(number, domain, Input::Leave));
        if let Some(node) = self.nodes.get_mut(number) {
            node.left = true;
        }
    }

    /// `teller` is told that `number` is out.
    pub fn exclude(&mut self, number: usize, teller: usize) {
        let now = self.now;
        let Some(node) = self.nodes.get_mut(number) else { return };
        node.excluded = Some(now);
        let statement = Toy::exclusion(&self.secret, node.papers.certificate());
        (0..self.plan.domains).for_each(|domain| self.input(teller, domain, Input::Exclude(&statement)));
    }

    /// Plays until `until`.
    pub fn run(&mut self, until: u64) {
        while let Some(Reverse((at, _, _))) = self.queue.peek() {
            if *at > until {
                break;
            }
            let Some(Reverse((at, _, what))) = self.queue.pop() else { break };
            self.now = at;
            match what {
                What::Comes { to, domain, bytes } => {
                    self.hear(to, domain, &bytes);
                }
                What::ComesAgain { to, domain, bytes } => self.hear_again(to, domain, &bytes),
                What::Wakes { node, domain } => {
                    let seat = self.nodes.get_mut(node).and_then(|node| node.seats.get_mut(domain));
                    if seat.is_some_and(|seat| seat.wake.take_if(|wake| *wake == at).is_some()) {
                        self.input(node, domain, Input::Timeout);
                    }
                }
            }
        }
        self.now = until;
    }

    /// Plays until `done`, at most so many microseconds; whether it came to that.
    pub fn run_until(&mut self, most: u64, mut done: impl FnMut(&Self) -> bool) -> bool {
        let end = self.now + most;
        while self.now < end {
            if done(self) {
                return true;
            }
            self.run((self.now + 20_000).min(end));
        }
        done(self)
    }

    /// Whether all who run and belong share one key in each domain, and nobody is still at it.
    pub fn is_one(&self) -> bool {
        (0..self.plan.domains).all(|domain| self.apart(domain).is_none())
    }

    /// Messages that the machines refused.
    pub fn refused(&self) -> u64 {
        let machines =
            self.nodes.iter().flat_map(|node| &node.seats).filter_map(|seat| seat.machine.as_ref());
        machines.map(Discovery::refused).sum()
    }

    /// Who belongs.
    pub fn belonging(&self) -> Vec<usize> {
        let belongs = |node: &Node| node.alive && node.excluded.is_none() && !node.left;
        self.nodes.iter().enumerate().filter(|(_, node)| belongs(node)).map(|(number, _)| number).collect()
    }

    /// What keeps them from being one.
    pub fn apart(&self, domain: usize) -> Option<String> {
        let belonging = self.belonging();
        let mut first: Option<(usize, &Epoch)> = None;
        for number in &belonging {
            let seat = self.nodes.get(*number)?.seats.get(domain)?;
            let holds = seat.machine.as_ref().is_some_and(|machine| !machine.members().is_empty());
            let Some((_, epoch)) = seat.keys.last().filter(|_| holds) else {
                return Some(format!("node {number} has no key"));
            };
            let mut members: Vec<usize> =
                epoch.members.iter().map(|uid| usize::from(*uid).saturating_sub(1)).collect();
            members.sort_unstable();
            let crashed = |node: &Node| !node.alive && !node.left && node.excluded.is_none();
            let crashed = |number: usize| self.nodes.get(number).is_some_and(crashed);
            members.retain(|number| !self.dead_may_stay || !crashed(*number));
            if members != belonging {
                return Some(format!("node {number} has a key with {members:?}, not {belonging:?}"));
            }
            match first {
                None => first = Some((*number, epoch)),
                Some((other, same)) if same.run != epoch.run || same.key != epoch.key => {
                    return Some(format!("nodes {other} and {number} have different keys"));
                }
                Some(_) => {}
            }
        }
        None
    }

    fn keys(&self) -> Vec<usize> {
        self.nodes.iter().flat_map(|node| node.seats.iter().map(|seat| seat.keys.len())).collect()
    }

    /// From here on nothing may start.
    pub fn quiet_from(&mut self) {
        self.quiet = Some((self.runs.len(), self.keys()));
    }

    /// Up to here.
    pub fn quiet_to(&mut self) {
        let Some((runs, keys)) = self.quiet.take() else { return };
        if self.runs.len() != runs {
            self.disturbed = Some(format!("{} agreements began", self.runs.len() - runs));
        } else if self.keys() != keys {
            self.disturbed = Some("a key was changed".to_owned());
        }
    }

    fn push(&mut self, at: u64, what: What) {
        self.count += 1;
        self.queue.push(Reverse((at, self.count, what)));
    }

    fn input(&mut self, number: usize, domain: usize, input: Input<'_>) {
        let Some(node) = self.nodes.get_mut(number) else { return };
        let ahead = node.ahead;
        let Some(seat) = node.seats.get_mut(domain) else { return };
        let Some(machine) = seat.machine.as_mut() else { return };
        let mut dice = Spied { dice: &mut self.dice, drawn: node.drawn.as_mut() };
        machine.handle(Instant(self.now + ahead), input, &mut dice);
        let (mut sends, mut counts) = (Vec::new(), Vec::new());
        while let Some(output) = machine.poll_output() {
            match output {
                Output::Send(bytes) => sends.push(bytes),
                Output::Persist(bytes) => seat.disk = Some(bytes),
                Output::Key(epoch) => {
                    counts.push((epoch.run, epoch.number));
                    if let Some(log) = self.log.as_mut() {
                        let (wire, members) = (epoch.number, &epoch.members);
                        log.push(format!("{:>9} {number}/{domain} KEY {wire} {members:?}", self.now));
                    }
                    seat.keys.push((self.now, epoch));
                }
                Output::Event(event) => {
                    if let Some(log) = self.log.as_mut() {
                        log.push(format!("{:>9} {number}/{domain} {event:?}", self.now));
                    }
                }
            }
        }
        let wake = machine.poll_timeout().map(|at| at.0.saturating_sub(ahead).max(self.now + 1));
        if wake.is_some() && wake != seat.wake {
            seat.wake = wake;
            if let Some(at) = wake {
                self.push(at, What::Wakes { node: number, domain });
            }
        }
        seat_wake(&mut self.nodes, number, domain, wake);
        sends.into_iter().for_each(|bytes| self.send(number, domain, &bytes));
        for (run, key) in counts {
            let said = self.said.get(&(domain, run));
            if said.is_some_and(|(shares, confirms)| !shares.is_subset(confirms)) {
                self.early = Some(format!("node {number} has key {key} too early"));
            }
        }
    }

    fn send(&mut self, from: usize, domain: usize, bytes: &Bytes) {
        self.tally(from, domain, bytes);
        if self.records {
            self.recorded.push((domain, bytes.clone()));
        }
        let side = self.nodes.get(from).map(|node| node.side);
        for to in 0..self.nodes.len() {
            // Whoever starts while a message is under way hears it; `input` leaves out the dead.
            let there = self.nodes.get(to).map(|node| node.side);
            let lost = self.net.chance(self.plan.loss);
            let delay = self.delay();
            if to == from || there.is_none() || there != side || lost {
                continue;
            }
            self.push(self.now + delay, What::Comes { to, domain, bytes: bytes.clone() });
        }
    }

    /// Microseconds under way.
    fn delay(&mut self) -> u64 {
        let jitter = self.plan.jitter.min(self.plan.delay);
        self.plan.delay - jitter + self.net.range(0, 2 * jitter + 1)
    }

    fn tally(&mut self, from: usize, domain: usize, bytes: &Bytes) {
        let Ok((_, body)) = Signed::read(bytes) else { return };
        let Some(sent) = self.sent.get_mut(domain) else { return };
        match &body.said {
            Said::Join(_) => sent.joins += 1,
            Said::Response(_) => sent.responses += 1,
            Said::Round(round) => {
                sent.rounds += 1;
                if round.share.is_some() {
                    self.runs.insert((domain, round.candidate));
                    let (shares, confirms) = self.said.entry((domain, round.candidate)).or_default();
                    shares.insert(body.sender);
                    if round.confirm.is_some() {
                        confirms.insert(body.sender);
                    }
                }
            }
            Said::Beacon(_) | Said::Notice(_) => sent.others += 1,
        }
        if let Some(log) = self.log.as_mut() {
            log.push(format!("{:>9} {from}/{domain} {}", self.now, told(&body.said)));
        }
    }
}

/// What a node's clock says.
fn wall(node: &Node, now: u64) -> u64 {
    u64::try_from(NOON + node.off).unwrap_or(0) + now / 1_000_000
}

fn seat_wake(nodes: &mut [Node], number: usize, domain: usize, wake: Option<u64>) {
    let seat = nodes.get_mut(number).and_then(|node| node.seats.get_mut(domain));
    if let Some(seat) = seat {
        seat.wake = wake;
    }
}
