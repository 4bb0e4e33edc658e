//! Replicas in virtual time: disks that crashes leave as they are, one order for each side of a
//! network that splits, and authorities that hand in records and take them back. What the bus
//! promises is less than the group does: nothing is safe, only ordered.

use bytes::Bytes;
use folkmoot_admission::LogRecord;
use folkmoot_authority::replicas::{Danger, Input, LOG_TABLE, Output, Replicas, Status, request_of};
use folkmoot_base::{
    Blob, ConfigurationId, Digest, GroupId, MemberId, NodeId, Persist, StoreKey, ViewId, codec, digest,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A splitmix64.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.roll() % bound.max(1) as u64) as usize
    }
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

pub(crate) fn member(number: usize) -> MemberId {
    MemberId([number as u8 + 1; 32])
}

pub(crate) fn record(request: Digest, certificate: &[u8]) -> Bytes {
    codec::encode(&LogRecord { request, der: Blob(Bytes::copy_from_slice(certificate)) }).into()
}

#[derive(Debug, Clone)]
enum Happening {
    Message(ViewId, MemberId, Bytes),
    Signal,
    View(usize),
}

struct View {
    id: ViewId,
    members: Vec<usize>,
    order: Vec<(usize, Bytes)>,
}

/// One process: its machine, if it runs, and its authority's.
#[derive(Default)]
pub(crate) struct Process {
    pub(crate) machine: Option<Replicas>,
    pub(crate) disk: BTreeMap<StoreKey, Bytes>,
    ring_seq: u64,
    writes: VecDeque<(u64, Vec<Persist>)>,
    sends: VecDeque<Bytes>,
    backs: VecDeque<(u64, Bytes)>,
    /// What is still to happen to it before it has caught up with its newest view.
    inbox: VecDeque<Happening>,
    newest: Option<usize>,
    cursor: usize,
    /// The view that its machine knows.
    pub(crate) installed: Option<usize>,
    /// How many views there were when its disk was lost.
    lost: usize,
    /// The authority's: what it waits for, lost in a crash; what it has issued, on its disk.
    pub(crate) wants: BTreeMap<Digest, Bytes>,
    pub(crate) issued: BTreeMap<Digest, Bytes>,
}

pub(crate) struct World {
    pub(crate) dice: Dice,
    pub(crate) all: Vec<Process>,
    views: Vec<View>,
    requests: Vec<Digest>,
    danger: Option<Danger>,
    attempts: u64,
    /// Bytes of messages that got their places.
    pub(crate) sent: usize,
    quick: usize,
    calm: usize,
    /// What was handed back anywhere, by place and by request.
    by_place: BTreeMap<u64, (Bytes, usize)>,
    by_request: BTreeMap<Digest, (u64, Bytes)>,
    /// Checkers that caught something, with what.
    pub(crate) caught: BTreeMap<&'static str, String>,
}

impl World {
    pub(crate) fn new(seed: u64, replicas: usize, danger: Option<Danger>) -> Self {
        let mut world = Self {
            dice: Dice(seed),
            all: (0..replicas).map(|_| Process::default()).collect(),
            views: Vec::new(),
            requests: Vec::new(),
            danger,
            attempts: 0,
            sent: 0,
            quick: 0,
            calm: 0,
            by_place: BTreeMap::new(),
            by_request: BTreeMap::new(),
            caught: BTreeMap::new(),
        };
        (0..replicas).for_each(|one| world.start(one));
        world
    }

    fn catch(&mut self, checker: &'static str, what: String) {
        self.caught.entry(checker).or_insert(what);
    }

    pub(crate) fn start(&mut self, one: usize) {
        let stored: Vec<_> =
            self.all[one].disk.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let listed = (0..self.all.len()).map(member).collect();
        match Replicas::load(member(one), listed, &stored) {
            Ok(machine) => self.all[one].machine = Some(machine.with_danger(self.danger.into())),
            Err(error) => self.catch("disk", format!("{one}: {error}")),
        }
    }

    pub(crate) fn crash(&mut self, one: usize) {
        let process = &mut self.all[one];
        *process = Process {
            disk: std::mem::take(&mut process.disk),
            issued: std::mem::take(&mut process.issued),
            ring_seq: process.ring_seq,
            lost: process.lost,
            ..Process::default()
        };
    }

    /// It is set up anew: its replica's disk is empty, and its authority's.
    pub(crate) fn lose_disk(&mut self, one: usize) {
        self.all[one] = Process { lost: self.views.len(), ..Process::default() };
    }

    /// Its authority's disk alone is lost.
    pub(crate) fn lose_office(&mut self, one: usize) {
        self.crash(one);
        self.all[one].issued.clear();
    }

    /// The owner says that another's log is the log, and puts it on this disk (`authority
    /// take-log`); `ring`: with the number by which its views are in order.
    pub(crate) fn take_log(&mut self, one: usize, from: usize, ring: bool) {
        let log = self.all[from].disk.iter().filter(|(key, _)| key.table == LOG_TABLE);
        let log: Vec<_> = log.map(|(key, value)| (key.clone(), value.clone())).collect();
        let ring_seq = self.all[from].ring_seq;
        let process = &mut self.all[one];
        process.disk.extend(log);
        if ring {
            process.ring_seq = process.ring_seq.max(ring_seq);
        }
    }

    /// Whether those others who know the log are a quorum: else it may be lost with this one.
    fn may_lose(&self, one: usize) -> bool {
        let knows = |other: &usize| {
            let stored: Vec<_> =
                self.all[*other].disk.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
            let listed = (0..self.all.len()).map(member).collect();
            Replicas::load(member(*other), listed, &stored).is_ok_and(|machine| machine.status().knows)
        };
        let know: Vec<usize> = (0..self.all.len()).filter(|other| *other != one && knows(other)).collect();
        let twice = know.len() * 2;
        twice > self.all.len() || (twice == self.all.len() && know.contains(&0))
    }

    pub(crate) fn alive(&self) -> Vec<usize> {
        (0..self.all.len()).filter(|one| self.all[*one].machine.is_some()).collect()
    }

    pub(crate) fn hand(&mut self, one: usize, input: Input) {
        let Some(machine) = &mut self.all[one].machine else { return };
        let result = machine.handle(input);
        if let Err(error) = result {
            self.catch("blame", format!("{one}: {error}"));
        }
        while let Some(output) = self.all[one].machine.as_mut().and_then(Replicas::poll_output) {
            match output {
                Output::Persist { ticket, rows } => self.all[one].writes.push_back((ticket, rows)),
                Output::Send(payload) => self.all[one].sends.push_back(payload),
                Output::HandBack { place, record } => {
                    self.check(one, place, &record);
                    self.all[one].backs.push_back((place, record));
                }
                Output::Trace(_) => {}
            }
        }
    }

    /// What must hold at every hand-back.
    fn check(&mut self, one: usize, place: u64, record: &Bytes) {
        let here = self.all[one].installed.unwrap_or_default();
        let members = self.views[here].members.clone();
        let twice = members.len() * 2;
        if twice < self.all.len() || (twice == self.all.len() && !members.contains(&0)) {
            self.catch("quorum", format!("{one} of {members:?} hands back {place}"));
        }
        let request = request_of(record).unwrap();
        let first = self.by_request.entry(request).or_insert((place, record.clone())).clone();
        if first != (place, record.clone()) {
            self.catch("once", format!("{one} hands back {place}, another record than at {}", first.0));
        }
        if self.by_place.entry(place).or_insert((record.clone(), here)).0 != record {
            self.catch("order", format!("{one} hands back another record at {place}"));
        }
        // What somebody kept, and its disk lost afterwards, it does not have.
        let kept = |other: &usize| self.all[*other].lost <= here;
        for other in members.into_iter().filter(kept).collect::<Vec<_>>() {
            // In a view after this one more may have been handed back.
            for (place, (record, _)) in self.by_place.iter().filter(|(_, (_, view))| *view <= here) {
                if self.on_disk(other, *place).as_ref() != Some(record) {
                    let text = format!("{one} hands back, and {other}'s disk lacks {place}");
                    return self.catch("durable", text);
                }
            }
        }
    }

    pub(crate) fn on_disk(&self, one: usize, place: u64) -> Option<Bytes> {
        let key = StoreKey { table: LOG_TABLE, key: [b"r", &place.to_be_bytes()[..]].concat().into() };
        self.all[one].disk.get(&key).cloned()
    }

    /// The disk has the oldest write; `told`: the machine hears so.
    pub(crate) fn write(&mut self, one: usize, told: bool) -> bool {
        let Some((ticket, rows)) = self.all[one].writes.pop_front() else { return false };
        for Persist { key, value } in rows {
            match value {
                Some(value) => self.all[one].disk.insert(key, value),
                None => self.all[one].disk.remove(&key),
            };
        }
        if told {
            self.hand(one, Input::Persisted(ticket));
        }
        true
    }

    /// The oldest message gets its place in the view that its sender is in.
    pub(crate) fn seal(&mut self, one: usize) -> bool {
        let process = &mut self.all[one];
        let Some(view) = process.installed.filter(|_| process.inbox.is_empty()) else { return false };
        let Some(payload) = process.sends.pop_front() else { return false };
        self.sent += payload.len();
        self.views[view].order.push((one, payload));
        true
    }

    pub(crate) fn deliver(&mut self, one: usize) -> bool {
        let process = &mut self.all[one];
        let next = process.inbox.pop_front().or_else(|| {
            let view = &self.views[process.newest?];
            let (from, payload) = view.order.get(process.cursor)?;
            process.cursor += 1;
            Some(Happening::Message(view.id, member(*from), payload.clone()))
        });
        let input = match next {
            None => return false,
            Some(Happening::Message(view, from, payload)) => Input::Message { from, view, payload },
            Some(Happening::Signal) => Input::Transitional,
            Some(Happening::View(view)) => {
                process.installed = Some(view);
                // What was not sealed in time is sealed later, by most; then it is of another view.
                if self.dice.chance(50) {
                    process.sends.clear();
                }
                let view = &self.views[view];
                Input::View { id: view.id, members: view.members.iter().map(|one| member(*one)).collect() }
            }
        };
        self.hand(one, input);
        true
    }

    /// The authority's disk has the oldest record that it was handed.
    pub(crate) fn take(&mut self, one: usize) -> bool {
        let Some((place, record)) = self.all[one].backs.pop_front() else { return false };
        let request = request_of(&record).unwrap();
        self.all[one].wants.remove(&request);
        self.all[one].issued.entry(request).or_insert(record);
        self.hand(one, Input::Handed(place));
        true
    }

    /// A member asks this authority for a certificate; each that is made may be another.
    pub(crate) fn ask(&mut self, one: usize, request: Digest) {
        if self.all[one].machine.is_none() || self.all[one].issued.contains_key(&request) {
            return;
        }
        self.attempts += 1;
        let made = record(request, &self.attempts.to_be_bytes());
        let record = self.all[one].wants.entry(request).or_insert(made).clone();
        self.hand(one, Input::Record(record));
    }

    pub(crate) fn again(&mut self, one: usize) {
        let wanted: Vec<Bytes> = self.all[one].wants.values().cloned().collect();
        wanted.into_iter().for_each(|record| self.hand(one, Input::Record(record)));
    }

    fn anew(&mut self) {
        let number = self.requests.len() as u64;
        let request = if number > 0 && self.dice.chance(40) {
            self.requests[self.dice.below(number as usize)]
        } else {
            self.requests.push(digest(&[&number.to_be_bytes()]));
            *self.requests.last().unwrap()
        };
        for one in 0..self.all.len() {
            if self.dice.chance(60) {
                self.ask(one, request);
            }
        }
    }

    /// All who live come to these sides.
    pub(crate) fn change(&mut self, sides: &[Vec<usize>]) {
        let mut fates: BTreeMap<(Option<usize>, usize), Vec<usize>> = BTreeMap::new();
        for (side, members) in sides.iter().enumerate() {
            members.iter().for_each(|one| fates.entry((self.all[*one].newest, side)).or_default().push(*one));
        }
        let first = self.views.len();
        for (number, members) in sides.iter().enumerate() {
            let ring_seq = members.iter().map(|one| self.all[*one].ring_seq).max().unwrap_or_default() + 1;
            members.iter().for_each(|one| self.all[*one].ring_seq = ring_seq);
            let nonce = u128::from(self.dice.roll()).to_be_bytes();
            let representative = NodeId([members[number % members.len()] as u8; 32]);
            let configuration = ConfigurationId { ring_seq, representative, nonce };
            let id = ViewId { configuration, order: self.dice.roll() % 5, group: GroupId([7; 32]) };
            self.views.push(View { id, members: members.clone(), order: Vec::new() });
        }
        for ((old, side), together) in fates {
            let rest = old.map(|old| self.last_of(old, &together)).unwrap_or_default();
            for one in together {
                let process = &mut self.all[one];
                let missed = rest.iter().filter(|(at, _)| at.is_none_or(|at| at >= process.cursor));
                process.inbox.extend(missed.map(|(_, happening)| happening.clone()));
                process.inbox.push_back(Happening::View(first + side));
                (process.newest, process.cursor) = (Some(first + side), 0);
            }
        }
    }

    /// What those who go on together still hear of a view: all up to some place, and after the
    /// signal what the ring has left.
    fn last_of(&mut self, old: usize, together: &[usize]) -> Vec<(Option<usize>, Happening)> {
        let heard = together.iter().map(|one| self.all[*one].cursor).max().unwrap_or_default();
        let view = &self.views[old];
        let lost = view.members.iter().any(|one| !together.contains(one));
        let end = view.order.len();
        let cut = if lost { heard + self.dice.below(end - heard + 1) } else { end };
        let mut out = Vec::new();
        for (at, (from, payload)) in view.order.iter().enumerate() {
            if at == cut {
                out.push((None, Happening::Signal));
            }
            if at < cut || together.contains(from) || self.dice.chance(50) {
                let place = (at < cut).then_some(at);
                out.push((place, Happening::Message(view.id, member(*from), payload.clone())));
            }
        }
        if lost && cut == end {
            out.push((None, Happening::Signal));
        }
        out
    }

    fn split(&mut self) {
        let mut sides: Vec<Vec<usize>> = vec![Vec::new(), Vec::new(), Vec::new()];
        let (kind, quick) = (self.dice.below(10), self.quick);
        for one in self.alive() {
            let side = match kind {
                0..=3 => 0,
                // The quick one is ahead of the others: it alone.
                4..=6 => usize::from(one == quick),
                _ => self.dice.below(3),
            };
            sides[side].push(one);
        }
        sides.retain(|side| !side.is_empty());
        self.change(&sides);
    }

    /// One thing happens somewhere.
    pub(crate) fn step(&mut self, storm: usize) {
        // One is quicker than the others, for a while.
        if self.dice.chance(2) {
            self.quick = self.dice.below(self.all.len());
        }
        let one = if self.dice.chance(50) { self.quick } else { self.dice.below(self.all.len()) };
        self.calm = self.calm.saturating_sub(1);
        if self.calm == 0 && self.dice.below(1_000) < storm {
            // Time to get somewhere, often.
            self.calm = self.dice.below(3) * 40;
            match self.dice.below(7) {
                6 if self.may_lose(one) => self.lose_disk(one),
                0 => self.crash(one),
                1 if self.write(one, false) => self.crash(one),
                2 if self.all[one].machine.is_none() => self.start(one),
                _ => self.split(),
            }
            return;
        }
        match self.dice.below(50) {
            0..=2 => return self.anew(),
            4 => return self.again(one),
            3 if self.all[one].machine.is_none() => return self.start(one),
            _ => {}
        }
        let first = self.dice.below(6);
        for turn in first..first + 6 {
            let moved = match turn % 6 {
                0 => self.write(one, true),
                1 => self.take(one),
                2 => self.seal(one),
                _ => self.deliver(one),
            };
            if moved {
                return;
            }
        }
    }

    /// All run, all together, until nothing happens any more.
    pub(crate) fn heal(&mut self) {
        let down: Vec<usize> = (0..self.all.len()).filter(|one| self.all[*one].machine.is_none()).collect();
        down.into_iter().for_each(|one| self.start(one));
        self.change(&[(0..self.all.len()).collect()]);
        for _ in 0..2 {
            self.settle();
            (0..self.all.len()).for_each(|one| self.again(one));
        }
        self.settle();
        let requests: BTreeSet<Digest> = self.by_request.keys().copied().collect();
        for one in 0..self.all.len() {
            let process = &self.all[one];
            let ready = process.machine.as_ref().is_some_and(|machine| machine.status().is_ready());
            let lacks = requests.iter().filter(|request| !process.issued.contains_key(*request)).count();
            if !ready || !process.wants.is_empty() || lacks > 0 {
                let status = process.machine.as_ref().map(|machine| machine.status().words());
                let text = format!("{one}: {status:?}, {} wait, {lacks} lacking", process.wants.len());
                return self.catch("liveness", text);
            }
        }
    }

    pub(crate) fn settle(&mut self) {
        loop {
            let mut moved = false;
            for one in 0..self.all.len() {
                moved |= self.deliver(one) || self.write(one, true) || self.seal(one) || self.take(one);
            }
            if !moved {
                return;
            }
        }
    }

    pub(crate) fn status(&self, one: usize) -> Status {
        self.all[one].machine.as_ref().unwrap().status()
    }

    pub(crate) fn handed_back(&self) -> usize {
        self.by_request.len()
    }
}
