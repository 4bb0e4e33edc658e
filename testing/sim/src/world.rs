//! The world: one clock, one queue of what comes next, and the players.
//!
//! Everything happens at a microsecond and in an order that the seed decides. A machine's outputs
//! take effect one by one. A [`What::Crash`] in the middle of a batch loses all that come after it;
//! committed writes stay.
//!
//! Players are named by the places of their chairs. A second process of a player has a place of its
//! own behind those of the players ([`twice`]).

mod attacker;
mod chair;
mod host;
mod life;
mod observe;
mod reader;
mod second;
mod signing;
mod straggle;
mod thief;
mod trains;
mod twice;

pub use attacker::{Attacker, Forged};
pub use chair::{Chair, Wishes};

use straggle::Straggle;

use crate::lie::Thief;
use crate::lines::Lines;
use crate::machine::{Cast, Command, Input, Machine, Output, locator, player_at};
use crate::net::Net;
use crate::payload;
use crate::record::{MessageId, Player, Process, Record, Shown, What};
use crate::rng::Rng;
use crate::schedule::{Hook, Schedule};
use bytes::Bytes;
use folkmoot_base::{Danger, Instant, Locator, Service, UnixTime, digest};
use folkmoot_identity::Scheme;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// The wall clock when the world begins.
const EPOCH: u64 = 1_900_000_000;
/// Between two readings of the wall clock handed to a machine.
const CLOCK_MICROS: u64 = 1_000_000;
/// Batches at one microsecond of one player after which it is said to spin.
const SPIN_MAX: u32 = 20_000;

/// What to watch and what to break.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Keep trace lines in the record.
    pub notes: bool,
    /// Digest every datagram.
    pub digest: bool,
    /// Broken on purpose, at every player or at one.
    pub danger: Option<(Danger, Option<Player>)>,
}

/// What comes next.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrive {
        to: Player,
        from: u32,
        bytes: Bytes,
        forged: bool,
    },
    Wake {
        player: Player,
        life: u16,
        turn: u64,
    },
    Clock {
        player: Player,
        life: u16,
    },
    /// The disk of this player has what was written.
    Written {
        player: Player,
        life: u16,
    },
    Speak {
        player: Player,
        life: u16,
        wish: Wish,
    },
    /// The application takes events again.
    Reads {
        player: Player,
        life: u16,
    },
    /// Time to look who can hear two processes of one player.
    Witness,
    /// A datagram for the attacker's node with this key.
    Stolen {
        key: Player,
        from: u32,
        bytes: Bytes,
    },
    /// The attacker's timer.
    Thief,
}

/// What a person says after thinking it over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wish {
    Approve(Player),
    Agree(Player),
}

/// Who hands in an input, and so what it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Anybody who takes part.
    Honest,
    /// The attacker.
    Forged,
}

/// A sealed message as a node saw it.
#[derive(Debug)]
struct Crossing {
    at: u64,
    /// Players that the sealer knew to be out of the group, a bit each.
    out: u8,
    /// The view in which it was sealed.
    view: Option<Shown>,
    bytes: Bytes,
}

/// The world of one run.
pub struct World {
    /// Microseconds since it began.
    pub now: u64,
    /// Seconds for which all computers have slept.
    slept: u64,
    /// What happened.
    pub record: Record,
    /// The network.
    pub net: Net,
    /// The attacker on the wire.
    pub attacker: Attacker,
    /// The players.
    pub chairs: Vec<Chair>,
    cast: Box<dyn Cast>,
    options: Options,
    queue: BinaryHeap<Reverse<(u64, u64, Event)>>,
    sequence: u64,
    rng: Rng,
    hook: Option<Hook>,
    hook_seen: Option<u64>,
    seed: u64,
    batch: Vec<Output>,
    crossings: Vec<Crossing>,
    services: BTreeMap<MessageId, Service>,
    /// Whether the charter's scheme is not plain.
    signing: bool,
    bereft: bool,
    /// Whether there is an attacker with former keys.
    robbed: bool,
    /// Whether a quorum has begun to lie.
    reigned: bool,
    /// Who runs a second program: a bit for each player.
    with_seconds: u8,
    thief: Option<Box<dyn Thief>>,
    /// When the attacker's timer is due.
    thief_at: Option<u64>,
    lines: Lines,
    /// Who was led astray, and has been shown to somebody as being on another line.
    shown: BTreeSet<Player>,
    players: Player,
    witnesses: BTreeMap<(Player, Player), Process>,
    straggle: Straggle,
    /// The second programs, by the place of their first.
    seconds: BTreeMap<Player, Chair>,
}

impl World {
    /// An empty table for `schedule`.
    pub fn new(schedule: &Schedule, cast: Box<dyn Cast>, options: Options) -> Self {
        let seed = schedule.seed;
        Self {
            now: 0,
            slept: 0,
            record: Record::default(),
            net: Net::new(seed, schedule.weather).with_trips(seed, schedule.far),
            attacker: Attacker::new(seed),
            chairs: (0..schedule.players)
                .map(|player| {
                    let mut chair = Chair::new(seed, player, player < schedule.founders);
                    chair.host(&schedule.hosts);
                    chair
                })
                .collect(),
            robbed: schedule.robbed,
            reigned: false,
            thief: cast.thief(seed).filter(|_| schedule.robbed),
            thief_at: None,
            lines: Lines::default(),
            shown: BTreeSet::new(),
            players: schedule.players,
            witnesses: BTreeMap::new(),
            straggle: Straggle::new(seed),
            seconds: BTreeMap::new(),
            cast,
            options,
            queue: BinaryHeap::new(),
            sequence: 0,
            rng: Rng::new(seed, "world", 0),
            hook: None,
            hook_seen: None,
            seed,
            batch: Vec::new(),
            crossings: Vec::new(),
            services: BTreeMap::new(),
            signing: schedule.scheme != Scheme::Plain,
            bereft: schedule.bereft,
            with_seconds: schedule.seconds,
        }
    }

    /// Plays until `until`, or until the hook is seen; then the clock reads that time.
    pub fn play_until(&mut self, until: u64) {
        while let Some(Reverse((at, _, _))) = self.queue.peek() {
            if *at > until || self.hook_seen.is_some() {
                break;
            }
            if let Some(Reverse((at, _, event))) = self.queue.pop() {
                self.now = at;
                self.happen(event);
            }
        }
        if self.hook_seen.is_none() {
            self.now = self.now.max(until);
        }
    }

    /// Plays until a trace line that fits `hook` or until `until`; says whether one came.
    pub fn play_until_hook(&mut self, hook: Hook, until: u64) -> bool {
        self.hook = Some(hook);
        self.hook_seen = None;
        self.play_until(until);
        self.hook = None;
        self.hook_seen.take().is_some()
    }

    /// The application in `player` sends a message of `bytes` bytes.
    pub fn send(&mut self, player: Player, service: Service, bytes: usize) -> Option<MessageId> {
        let chair = self.chairs.get_mut(usize::from(player))?;
        chair.machine.as_ref()?;
        let message = chair.next_message();
        let process = chair.process();
        if service != Service::Unreliable {
            chair.pending.insert(message);
        }
        self.services.insert(message, service);
        self.record.push(self.now, process, What::Asked(message, service));
        self.command(player, Command::Send(message, service, payload::make(message, service, bytes)));
        Some(message)
    }

    /// The application or the person in `player` speaks.
    pub fn command(&mut self, player: Player, command: Command) {
        self.input(player, Input::Command(command), Origin::Honest);
    }

    /// A forged datagram reaches `to`, as if it came from `from`.
    pub fn forge(&mut self, from: Locator, to: Player, bytes: Bytes, delay: u64) {
        self.arrive((from, to), bytes, delay, true);
    }

    /// A genuine datagram reaches `to` late: it may have an effect.
    pub fn repeat(&mut self, from: Locator, to: Player, bytes: Bytes, delay: u64) {
        self.arrive((from, to), bytes, delay, false);
    }

    fn arrive(&mut self, (from, to): (Locator, Player), bytes: Bytes, delay: u64, forged: bool) {
        let Some(port) = from.as_memory() else { return };
        if self.net.admit(self.site(to), bytes.len()) {
            let event = Event::Arrive { to, from: port, bytes, forged };
            self.schedule(self.now.saturating_add(delay), event);
        }
    }

    /// The living players that do not stand still.
    pub fn living(&self) -> Vec<Player> {
        let moves = |chair: &&Chair| chair.machine.is_some() && chair.stopped <= self.now;
        let places = self.chairs.iter().zip(0..);
        places.filter(|(chair, _)| moves(chair)).map(|(_, place)| place).collect()
    }

    /// The chair of `player`.
    pub fn chair(&self, player: Player) -> Option<&Chair> {
        self.chairs.get(usize::from(player))
    }

    /// The true time.
    fn clock(&self) -> UnixTime {
        UnixTime(EPOCH.saturating_add(self.slept).saturating_add(self.now / 1_000_000))
    }

    fn danger(&self, player: Player) -> Option<Danger> {
        let (danger, only) = self.options.danger?;
        only.is_none_or(|only| only == self.process(player).player).then_some(danger)
    }

    fn schedule(&mut self, at: u64, event: Event) {
        self.sequence = self.sequence.saturating_add(1);
        self.queue.push(Reverse((at, self.sequence, event)));
    }

    fn happen(&mut self, event: Event) {
        if let Some(until) = self.waits(&event) {
            return self.schedule(until, event);
        }
        match event {
            Event::Arrive { to, from, bytes, forged } => {
                let (origin, train) = match forged {
                    true => (Origin::Forged, vec![bytes]),
                    false => (Origin::Honest, self.together(to, from, bytes)),
                };
                let from = Locator::memory(from);
                for bytes in &train {
                    self.net.arrived(self.site(to), bytes.len());
                    if !forged {
                        self.attacker.see(from.clone(), to, self.life(to), bytes);
                    }
                }
                self.input(to, Input::Datagrams(from, train), origin);
            }
            Event::Wake { player, life, turn } => {
                let chair = self.chairs.get_mut(usize::from(player));
                if chair.is_some_and(|chair| chair.fires(life, turn)) {
                    self.input(player, Input::Timeout, Origin::Honest);
                }
            }
            Event::Clock { player, life } => {
                if self.life(player) == life && self.living_at(player) {
                    self.input(player, Input::Clock(self.clock_of(player)), Origin::Honest);
                    self.sees_date(player);
                    self.schedule(self.now.saturating_add(CLOCK_MICROS), Event::Clock { player, life });
                }
            }
            Event::Written { player, life } => {
                if self.life(player) == life && self.living_at(player) {
                    self.written(player);
                }
            }
            Event::Reads { player, life } => {
                if self.life(player) == life {
                    self.reads(player);
                }
            }
            Event::Witness => self.look_for_witnesses(),
            Event::Stolen { key, from, bytes } => self.thief_hears(key, from, bytes),
            Event::Thief => self.thief_wakes(),
            Event::Speak { player, life, wish } => {
                if self.life(player) == life {
                    let command = match wish {
                        Wish::Approve(other) => Command::Approve(other),
                        Wish::Agree(other) => Command::Agree(other),
                    };
                    self.command(player, command);
                }
            }
        }
    }

    /// The number of the player's present or last life.
    pub fn life(&self, player: Player) -> u16 {
        self.chair(player).map_or(0, |chair| chair.process().life)
    }

    fn living_at(&self, player: Player) -> bool {
        self.chair(player).is_some_and(|chair| chair.machine.is_some())
    }

    fn input(&mut self, player: Player, input: Input, origin: Origin) {
        let now = self.now;
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        let Some(machine) = chair.machine.as_mut() else { return };
        self.record.counts.inputs = self.record.counts.inputs.saturating_add(1);
        machine.handle(Instant(now.saturating_sub(chair.boot_at)), input, &mut chair.entropy);
        self.drain(player, origin);
    }

    /// Polls the machine dry, and lets its outputs take effect one by one.
    fn drain(&mut self, player: Player, origin: Origin) {
        let mut batch = std::mem::take(&mut self.batch);
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        let Some(machine) = chair.machine.as_mut() else { return };
        while let Some(output) = machine.poll_output() {
            batch.push(output);
        }
        let end = chair.crash_point(&batch);
        let total = batch.len();
        for output in batch.drain(..).take(end.unwrap_or(total)) {
            self.put(player, output, origin);
        }
        self.batch = batch;
        if let Some(end) = end {
            self.crash(player, u32::try_from(total.saturating_sub(end)).unwrap_or(u32::MAX));
        } else {
            self.after_batch(player);
        }
    }

    fn effect(&mut self, player: Player, output: Output, origin: Origin) {
        match output {
            Output::Transmit(to, bytes) => self.transmit(player, to, bytes),
            Output::Persist(write) => {
                self.disturbed(player, origin, "wrote to disk");
                self.look_at_write(player, &write);
                if let Some(chair) = self.chairs.get_mut(usize::from(player)) {
                    chair.disk.commit(write);
                }
            }
            Output::Told(told) => self.told(player, told, origin),
            Output::Second(told) => self.second_told(player, told, origin),
            Output::Trace(trace) => self.traced(player, trace),
        }
    }

    fn transmit(&mut self, player: Player, to: Locator, bytes: Bytes) {
        self.look_at_wire(player, &bytes);
        self.record.counts.datagrams = self.record.counts.datagrams.saturating_add(1);
        if self.options.digest {
            let so_far = self.record.digest;
            self.record.digest = digest(&[&so_far, &self.now.to_be_bytes(), &[player], &bytes]);
        }
        let Some(from) = locator(player).as_memory() else { return };
        if self.hand_to_thief(from, to.clone(), &bytes) {
            return;
        }
        let Some(to) = player_at(to).filter(|to| usize::from(*to) < self.chairs.len()) else { return };
        if let Some(forged) = self.attacker.overtakes(&bytes) {
            self.forge(locator(player), to, forged, 1);
        }
        if self.is_withheld(player, to, from, &bytes) {
            return;
        }
        let (here, there) = (self.site(player), self.site(to));
        for at in self.net.carry(self.now, here, there, bytes.len()) {
            self.schedule(at, Event::Arrive { to, from, bytes: bytes.clone(), forged: false });
        }
    }

    /// Sets the timer anew, and notes spinning.
    fn after_batch(&mut self, player: Player) {
        self.look_at(player);
        self.look_at_reader(player);
        let now = self.now;
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        if chair.spins(now) > SPIN_MAX {
            let process = chair.process();
            self.record.push(now, process, What::Spinning);
            self.crash(player, 0);
            return;
        }
        let Some(machine) = chair.machine.as_ref() else { return };
        let wanted = machine.poll_timeout().map(|at| at.0.saturating_add(chair.boot_at).max(now));
        if let Some((at, life, turn)) = chair.set_timer(wanted) {
            self.schedule(at, Event::Wake { player, life, turn });
        }
    }

    /// How long a person thinks before it votes.
    fn think(&mut self) -> u64 {
        self.rng.range(1_000, 400_000)
    }

    /// The seed of this run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The process in `player`.
    pub fn process(&self, player: Player) -> Process {
        self.chair(player).map_or(Process { player, life: 0 }, Chair::process)
    }

    /// The machine in `player`.
    pub fn machine(&self, player: Player) -> Option<&dyn Machine> {
        self.chair(player)?.machine.as_deref()
    }
}
