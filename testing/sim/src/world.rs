//! The world: one clock, one queue of what comes next, and the seats.
//!
//! Everything happens at a microsecond and in an order that the seed decides. A machine's outputs
//! take effect one by one. A [`What::Crash`] in the middle of a batch loses all that come after it;
//! committed writes stay.

mod attacker;
mod chair;
mod observe;
mod signing;

pub use attacker::Attacker;
pub use chair::{Chair, Wishes};

use crate::machine::{Cast, Command, Entrance, Input, Machine, Output, Role, locator, seat_at};
use crate::net::Net;
use crate::payload;
use crate::record::{Disk, MessageId, Process, Record, Seat, Shown, What};
use crate::rng::Rng;
use crate::schedule::{Hook, Schedule};
use bytes::Bytes;
use folkmoot_base::{Danger, Instant, Locator, Service, UnixTime, digest};
use folkmoot_identity::Scheme;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The wall clock when the world begins.
const EPOCH: u64 = 1_900_000_000;
/// Between two readings of the wall clock handed to a machine.
const CLOCK_MICROS: u64 = 1_000_000;
/// Batches at one microsecond of one seat after which it is said to spin.
const SPIN_MAX: u32 = 20_000;

/// What to watch and what to break.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Keep trace lines in the record.
    pub notes: bool,
    /// Digest every datagram.
    pub digest: bool,
    /// Broken on purpose, at every seat or at one.
    pub danger: Option<(Danger, Option<Seat>)>,
}

/// What comes next.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrive { to: Seat, from: u32, bytes: Bytes, forged: bool },
    Wake { seat: Seat, life: u16, turn: u64 },
    Clock { seat: Seat, life: u16 },
    Speak { seat: Seat, life: u16, wish: Wish },
}

/// What a person says after thinking it over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wish {
    Approve(Seat),
    Agree(Seat),
}

/// Who hands in an input, and so what it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Honest,
    Forged,
}

/// A sealed message as a node saw it.
#[derive(Debug)]
struct Stair {
    at: u64,
    /// Seats that the sealer knew to be out of the group, a bit each.
    out: u8,
    /// The view in which it was sealed.
    view: Option<Shown>,
    bytes: Bytes,
}

/// The world of one run.
pub struct World {
    /// Microseconds since it began.
    pub now: u64,
    /// What happened.
    pub record: Record,
    /// The network.
    pub net: Net,
    /// The attacker on the wire.
    pub attacker: Attacker,
    /// The seats.
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
    stairs: Vec<Stair>,
    services: BTreeMap<MessageId, Service>,
    /// Whether the charter's scheme is not plain.
    signing: bool,
}

impl World {
    /// An empty table for `schedule`.
    pub fn new(schedule: &Schedule, cast: Box<dyn Cast>, options: Options) -> Self {
        let seed = schedule.seed;
        Self {
            now: 0,
            record: Record::default(),
            net: Net::new(seed, schedule.weather),
            attacker: Attacker::new(seed),
            chairs: (0..schedule.seats)
                .map(|seat| Chair::new(seed, seat, seat < schedule.founders))
                .collect(),
            cast,
            options,
            queue: BinaryHeap::new(),
            sequence: 0,
            rng: Rng::new(seed, "world", 0),
            hook: None,
            hook_seen: None,
            seed,
            batch: Vec::new(),
            stairs: Vec::new(),
            services: BTreeMap::new(),
            signing: schedule.scheme != Scheme::Plain,
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

    /// A life begins. Nothing happens if one is going on.
    pub fn boot(&mut self, seat: Seat, role: Role, disk: Disk) {
        let clock = self.clock();
        let danger = self.danger(seat);
        let Some(chair) = self.chairs.get_mut(usize::from(seat)) else { return };
        if chair.machine.is_some() {
            return;
        }
        chair.begin(self.now, role);
        let process = chair.process();
        let entrance =
            Entrance { seat, life: process.life, role, disk: chair.disk.contents(), clock, danger };
        let machine = self.cast.enter(&entrance, &mut chair.entropy);
        self.record.push(self.now, process, What::Boot(disk));
        match machine {
            Ok(machine) => {
                chair.machine = Some(machine);
                self.drain(seat, Origin::Honest);
                self.schedule(self.now, Event::Clock { seat, life: process.life });
                self.look_for_forgotten(seat);
            }
            Err(error) => {
                self.record.push(self.now, process, What::Note("disk", error));
            }
        }
    }

    /// A life begins on what the disk held when `hundredths` of its writes were still to come.
    pub fn boot_old(&mut self, seat: Seat, role: Role, hundredths: u8) {
        let Some(chair) = self.chairs.get_mut(usize::from(seat)) else { return };
        if chair.machine.is_some() {
            return;
        }
        let writes = chair.disk.writes();
        let keep = writes.saturating_sub(writes.saturating_mul(usize::from(hundredths)).div_ceil(100));
        chair.disk.rewind(keep);
        chair.acknowledged.retain(|(after, _)| *after <= keep);
        self.boot(seat, role, Disk::Old);
    }

    /// The application in `seat` sends a message of `bytes` bytes.
    pub fn send(&mut self, seat: Seat, service: Service, bytes: usize) -> Option<MessageId> {
        let chair = self.chairs.get_mut(usize::from(seat))?;
        chair.machine.as_ref()?;
        let message = chair.next_message();
        let process = chair.process();
        chair.pending.insert(message);
        self.services.insert(message, service);
        self.record.push(self.now, process, What::Asked(message, service));
        self.command(seat, Command::Send(message, service, payload::make(message, service, bytes)));
        Some(message)
    }

    /// The life ends now.
    pub fn crash(&mut self, seat: Seat, lost: u32) {
        let Some(chair) = self.chairs.get_mut(usize::from(seat)) else { return };
        if chair.machine.take().is_none() {
            return;
        }
        let process = chair.process();
        chair.end();
        self.record.push(self.now, process, What::Crash(lost));
    }

    /// The application or the person in `seat` speaks.
    pub fn command(&mut self, seat: Seat, command: Command) {
        self.input(seat, Input::Command(command), Origin::Honest);
    }

    /// A forged datagram reaches `to`, as if it came from `from`.
    pub fn forge(&mut self, from: Locator, to: Seat, bytes: Bytes, delay: u64) {
        let Locator::Memory(port) = from else { return };
        if self.net.admit(to, bytes.len()) {
            let event = Event::Arrive { to, from: port, bytes, forged: true };
            self.schedule(self.now.saturating_add(delay), event);
        }
    }

    /// The living seats.
    pub fn living(&self) -> Vec<Seat> {
        self.chairs.iter().filter(|chair| chair.machine.is_some()).map(|chair| chair.seat).collect()
    }

    /// The chair of `seat`.
    pub fn chair(&self, seat: Seat) -> Option<&Chair> {
        self.chairs.get(usize::from(seat))
    }

    /// The wall clock.
    fn clock(&self) -> UnixTime {
        UnixTime(EPOCH.saturating_add(self.now / 1_000_000))
    }

    fn danger(&self, seat: Seat) -> Option<Danger> {
        let (danger, only) = self.options.danger?;
        only.is_none_or(|only| only == seat).then_some(danger)
    }

    fn schedule(&mut self, at: u64, event: Event) {
        self.sequence = self.sequence.saturating_add(1);
        self.queue.push(Reverse((at, self.sequence, event)));
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive { to, from, bytes, forged } => {
                self.net.arrived(to, bytes.len());
                let from = Locator::Memory(from);
                let origin = if forged { Origin::Forged } else { Origin::Honest };
                if !forged {
                    self.attacker.see(from, to, self.life(to), &bytes);
                }
                self.input(to, Input::Datagram(from, bytes), origin);
            }
            Event::Wake { seat, life, turn } => {
                let chair = self.chairs.get_mut(usize::from(seat));
                if chair.is_some_and(|chair| chair.fires(life, turn)) {
                    self.input(seat, Input::Timeout, Origin::Honest);
                }
            }
            Event::Clock { seat, life } => {
                if self.life(seat) == life && self.living_at(seat) {
                    self.input(seat, Input::Clock(self.clock()), Origin::Honest);
                    self.schedule(self.now.saturating_add(CLOCK_MICROS), Event::Clock { seat, life });
                }
            }
            Event::Speak { seat, life, wish } => {
                if self.life(seat) == life {
                    let command = match wish {
                        Wish::Approve(other) => Command::Approve(other),
                        Wish::Agree(other) => Command::Agree(other),
                    };
                    self.command(seat, command);
                }
            }
        }
    }

    /// The number of the seat's present or last life.
    pub fn life(&self, seat: Seat) -> u16 {
        self.chair(seat).map_or(0, |chair| chair.process().life)
    }

    fn living_at(&self, seat: Seat) -> bool {
        self.chair(seat).is_some_and(|chair| chair.machine.is_some())
    }

    fn input(&mut self, seat: Seat, input: Input, origin: Origin) {
        let now = self.now;
        let Some(chair) = self.chairs.get_mut(usize::from(seat)) else { return };
        let Some(machine) = chair.machine.as_mut() else { return };
        self.record.counts.inputs = self.record.counts.inputs.saturating_add(1);
        machine.handle(Instant(now.saturating_sub(chair.boot_at)), input, &mut chair.entropy);
        self.drain(seat, origin);
    }

    /// Polls the machine dry, and lets its outputs take effect one by one.
    fn drain(&mut self, seat: Seat, origin: Origin) {
        let mut batch = std::mem::take(&mut self.batch);
        let Some(chair) = self.chairs.get_mut(usize::from(seat)) else { return };
        let Some(machine) = chair.machine.as_mut() else { return };
        while let Some(output) = machine.poll_output() {
            batch.push(output);
        }
        let end = chair.crash_point(&batch);
        let total = batch.len();
        for output in batch.drain(..).take(end.unwrap_or(total)) {
            self.effect(seat, output, origin);
        }
        self.batch = batch;
        if let Some(end) = end {
            self.crash(seat, u32::try_from(total.saturating_sub(end)).unwrap_or(u32::MAX));
        } else {
            self.after_batch(seat);
        }
    }

    fn effect(&mut self, seat: Seat, output: Output, origin: Origin) {
        match output {
            Output::Transmit(to, bytes) => self.transmit(seat, to, bytes),
            Output::Persist(write) => {
                self.disturbed(seat, origin, "wrote to disk");
                self.look_at_write(seat, &write);
                if let Some(chair) = self.chairs.get_mut(usize::from(seat)) {
                    chair.disk.commit(write);
                }
            }
            Output::Told(told) => self.told(seat, told, origin),
            Output::Trace(trace) => self.traced(seat, trace),
        }
    }

    fn transmit(&mut self, seat: Seat, to: Locator, bytes: Bytes) {
        self.look_at_wire(seat, &bytes);
        self.record.counts.datagrams = self.record.counts.datagrams.saturating_add(1);
        if self.options.digest {
            let so_far = self.record.digest;
            self.record.digest = digest(&[&so_far, &self.now.to_be_bytes(), &[seat], &bytes]);
        }
        let Some(to) = seat_at(to).filter(|to| usize::from(*to) < self.chairs.len()) else { return };
        let Locator::Memory(from) = locator(seat) else { return };
        if let Some(forged) = self.attacker.overtakes(&bytes) {
            self.forge(locator(seat), to, forged, 1);
        }
        for at in self.net.carry(self.now, seat, to, bytes.len()) {
            self.schedule(at, Event::Arrive { to, from, bytes: bytes.clone(), forged: false });
        }
    }

    /// Sets the timer anew, and notes spinning.
    fn after_batch(&mut self, seat: Seat) {
        self.look_at_roster(seat);
        self.look_at_signing(seat);
        let now = self.now;
        let Some(chair) = self.chairs.get_mut(usize::from(seat)) else { return };
        if chair.spins(now) > SPIN_MAX {
            let process = chair.process();
            self.record.push(now, process, What::Spinning);
            self.crash(seat, 0);
            return;
        }
        let Some(machine) = chair.machine.as_ref() else { return };
        let wanted = machine.poll_timeout().map(|at| at.0.saturating_add(chair.boot_at).max(now));
        if let Some((at, life, turn)) = chair.set_timer(wanted) {
            self.schedule(at, Event::Wake { seat, life, turn });
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

    /// The process in `seat`.
    pub fn process(&self, seat: Seat) -> Process {
        self.chair(seat).map_or(Process { seat, life: 0 }, Chair::process)
    }

    /// The machine in `seat`.
    pub fn machine(&self, seat: Seat) -> Option<&dyn Machine> {
        self.chair(seat)?.machine.as_deref()
    }
}
