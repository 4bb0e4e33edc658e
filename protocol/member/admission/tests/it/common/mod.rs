//! A perfect ordered bus with several members and strangers on it.

pub(crate) mod signing;
mod strangers;
pub(crate) mod town;

use bytes::Bytes;
use folkmoot_admission::{
    Admission, AdmissionError, Applicant, Command, Config, Event, Input, OpenMessage, Output,
};
use folkmoot_base::{
    Blob, Digest, Entropy, GroupName, Host, Instant, MemberId, NodeId, StoreKey, UnixTime, codec, digest,
};
use folkmoot_identity::{CharterDraft, Founder, Identity, Scheme, SignedCharter, Verdict};
use folkmoot_transcript::{Change, Effect, Item, Subject, Transcript};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub const NOW: UnixTime = UnixTime(1_800_000_000);
pub const LATER: UnixTime = UnixTime(1_900_000_000);
/// Where a peer is of which it does not matter.
pub const HOST: Host = Host::Memory(u32::MAX);

/// Counts hashes.
pub struct Dice(pub u64);

impl Entropy for Dice {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            chunk.copy_from_slice(&digest(&[&self.0.to_be_bytes()])[..chunk.len()]);
        }
    }
}

pub fn person(name: &str, seed: u64) -> Identity {
    Identity::new(name, &mut Dice(seed * 1_000_000), NOW, LATER).unwrap()
}

pub fn charter(founders: &[Identity], threshold: u32, nonce: u64) -> Vec<u8> {
    charter_of(Scheme::Plain, founders, threshold, nonce)
}

pub fn charter_of(scheme: Scheme, founders: &[Identity], threshold: u32, nonce: u64) -> Vec<u8> {
    let named = founders.iter().map(|founder| Founder::from(founder.certificate())).collect();
    let name = GroupName::new("moot").unwrap();
    let mut draft = CharterDraft::new(name, threshold, named, &mut Dice(nonce));
    draft.scheme = scheme;
    let all: Vec<&Identity> = founders.iter().collect();
    SignedCharter::sign(&draft.to_toml(), &all).unwrap().der().to_vec()
}

/// A member: its machine, transcript and disk.
pub struct Player {
    pub identity: Identity,
    pub transcript: Transcript,
    pub admission: Admission,
    pub disk: BTreeMap<StoreKey, Bytes>,
    pub events: Vec<Event>,
    pub errors: Vec<AdmissionError>,
    pub up: bool,
}

pub struct Stranger {
    pub identity: Identity,
    pub transcript: Transcript,
    pub applicant: Applicant,
    pub events: Vec<Event>,
    pub disk: BTreeMap<StoreKey, Bytes>,
    pub contact: Option<NodeId>,
}

enum Parcel {
    Open(MemberId, Bytes),
    Item(usize, Bytes),
    Guest(NodeId, NodeId, Bytes),
}

/// What may happen to a message of this sender on its way; false loses it.
pub type Tamper = Box<dyn FnMut(MemberId, &mut Bytes) -> bool>;

/// Whether an item of the member in this place goes on its way.
pub type Passes = Box<dyn FnMut(usize, &Item) -> bool>;

pub struct Bus {
    pub now: Instant,
    pub time: UnixTime,
    pub dice: Dice,
    pub players: Vec<Player>,
    pub strangers: Vec<Stranger>,
    pub items: usize,
    pub words: usize,
    /// What to do to a message on its way, if anything: false loses it.
    pub tamper: Option<Tamper>,
    pub traces: Vec<(usize, String)>,
    /// Items are counted and go no further.
    pub lose_items: bool,
    /// Which items go on their way, if not all.
    pub passes: Option<Passes>,
    /// What was said to guests that are not strangers of this bus.
    pub lost: Vec<(NodeId, Bytes)>,
    /// The same, with who said it.
    pub said: Vec<(NodeId, NodeId, Bytes)>,
    /// Where the bus is cut: members before this place do not hear those behind it.
    pub cut: Option<usize>,
    /// Who stops in the middle of whatever it does, after so many outputs of all members.
    pub fuse: Option<(usize, Vec<usize>)>,
    /// How many outputs there were.
    pub outputs: usize,
    queue: VecDeque<Parcel>,
}

pub fn player(identity: Identity, charter: &[u8]) -> Player {
    Player {
        identity,
        transcript: Transcript::founded(charter).unwrap(),
        admission: Admission::new(Config::default()),
        disk: BTreeMap::new(),
        events: Vec::new(),
        errors: Vec::new(),
        up: true,
    }
}

impl Bus {
    pub fn new(count: u64, threshold: u32) -> Self {
        Self::of_scheme(Scheme::Plain, count, threshold)
    }

    pub fn of_scheme(scheme: Scheme, count: u64, threshold: u32) -> Self {
        let mut bus = Self::silent(scheme, count, threshold);
        bus.pass(0);
        bus
    }

    /// One on which nobody has spoken yet.
    pub fn silent(scheme: Scheme, count: u64, threshold: u32) -> Self {
        let founders: Vec<Identity> =
            (1..=count).map(|seed| person(&format!("founder{seed}"), seed)).collect();
        let charter = charter_of(scheme, &founders, threshold, 77);
        let players = founders.into_iter().map(|founder| player(founder, &charter)).collect();
        Self {
            now: Instant(0),
            time: NOW,
            dice: Dice(999_999_999),
            players,
            strangers: Vec::new(),
            items: 0,
            words: 0,
            tamper: None,
            traces: Vec::new(),
            lose_items: false,
            passes: None,
            lost: Vec::new(),
            said: Vec::new(),
            cut: None,
            fuse: None,
            outputs: 0,
            queue: VecDeque::new(),
        }
    }

    pub fn charter(&self) -> Vec<u8> {
        self.players[0].transcript.signed_charter().der().to_vec()
    }

    pub fn stranger(&mut self, name: &str, seed: u64, contact: usize) -> usize {
        let transcript = Transcript::founded(&self.charter()).unwrap();
        self.strangers.push(Stranger {
            identity: person(name, seed),
            transcript,
            applicant: Applicant::default(),
            events: Vec::new(),
            disk: BTreeMap::new(),
            contact: self.cut.map(|_| self.players[contact].identity.node()),
        });
        let which = self.strangers.len() - 1;
        self.sync(which);
        self.stranger_input(which, Input::Clock(self.time));
        self.dial(which, contact);
        which
    }

    pub fn dial(&mut self, which: usize, contact: usize) {
        let (node, stranger) = (self.players[contact].identity.node(), self.strangers[which].identity.node());
        if let Some(old) = self.strangers[which].contact.replace(node) {
            self.stranger_input(which, Input::LinkDown(old));
        }
        let host = Host::Memory(u32::try_from(which).unwrap());
        let _ = self.input(contact, Input::LinkUp { node: stranger, host });
        self.stranger_input(which, Input::LinkUp { node, host: HOST });
        self.settle();
    }

    /// The stranger fetches the transcript from the first member that is up.
    pub fn sync(&mut self, which: usize) {
        let contact = self.strangers[which].contact.filter(|_| self.cut.is_some());
        let asked =
            |player: &&Player| player.up && contact.is_none_or(|contact| player.identity.node() == contact);
        let from = self.players.iter().find(asked).unwrap();
        let (theirs, mine) = (&from.transcript, &self.strangers[which].transcript);
        let missing = theirs.lacking(mine.state().head(), &mine.have(), usize::MAX);
        for item in missing {
            let it = &mut self.strangers[which];
            let taken = it.transcript.take(&item, Some(self.time)).unwrap();
            if taken.new {
                self.stranger_input(which, Input::Item { item, taken });
            }
        }
    }

    pub fn input(&mut self, who: usize, input: Input) -> Result<(), AdmissionError> {
        let player = &mut self.players[who];
        if !player.up {
            return Ok(());
        }
        let result =
            player.admission.handle(self.now, input, &player.transcript, &player.identity, &mut self.dice);
        self.drain(who);
        self.note(who, result)
    }

    /// The subject's digest; none of a player that is down.
    pub fn order(&mut self, who: usize, command: Command) -> Result<Digest, AdmissionError> {
        let player = &mut self.players[who];
        if !player.up {
            return Ok(Digest::default());
        }
        let result =
            player.admission.order(self.now, command, &player.transcript, &player.identity, &mut self.dice);
        self.drain(who);
        self.note(who, result)
    }

    fn note<T>(&mut self, who: usize, result: Result<T, AdmissionError>) -> Result<T, AdmissionError> {
        result.inspect_err(|error| self.players[who].errors.push(error.clone()))
    }

    fn drain(&mut self, who: usize) {
        while let Some(output) = self.players[who].admission.poll_output() {
            self.burn();
            let player = &mut self.players[who];
            if !player.up {
                // It stopped before this was written or sent.
                continue;
            }
            match output {
                Output::Persist(persist) => store(&mut player.disk, persist),
                Output::Guest { to, payload } => {
                    self.queue.push_back(Parcel::Guest(player.identity.node(), to, payload))
                }
                Output::Multicast(payload) => {
                    self.queue.push_back(Parcel::Open(player.identity.member(), payload))
                }
                Output::Item(item) => self.queue.push_back(Parcel::Item(who, item)),
                Output::Event(event) => player.events.push(event),
                Output::Log(_) => panic!("a member has no log"),
                Output::Trace(text) => self.traces.push((who, text)),
            }
        }
    }

    fn burn(&mut self) {
        self.outputs += 1;
        let Some((left, doomed)) = self.fuse.take() else { return };
        if left > 0 {
            self.fuse = Some((left - 1, doomed));
        } else {
            doomed.into_iter().for_each(|who| self.players[who].up = false);
        }
    }

    pub fn command(&mut self, who: usize, command: Command) -> Result<(), AdmissionError> {
        let result = self.order(who, command);
        self.settle();
        result.map(drop)
    }

    /// Until nobody has anything to say or to do now.
    pub fn settle(&mut self) {
        loop {
            while let Some(word) = self.queue.pop_front() {
                self.words += 1;
                match word {
                    Parcel::Open(sender, mut payload) => {
                        if self.tamper.as_mut().is_none_or(|tamper| tamper(sender, &mut payload)) {
                            self.hear_open(sender, payload);
                        }
                    }
                    Parcel::Item(from, item) => self.item(from, &item),
                    Parcel::Guest(from, to, payload) => self.guest(from, to, payload),
                }
            }
            let due = |player: &Player| {
                player.up && player.admission.poll_timeout().is_some_and(|at| at <= self.now)
            };
            let Some(who) = self.players.iter().position(due) else { return };
            let _ = self.input(who, Input::Timeout);
        }
    }

    fn guest(&mut self, from: NodeId, to: NodeId, payload: Bytes) {
        let input = Input::Guest { from, payload };
        if let Some(who) = self.players.iter().position(|player| player.identity.node() == to) {
            let _ = self.input(who, input);
        } else if let Some(which) = self.strangers.iter().position(|it| it.identity.node() == to) {
            if self.strangers[which].contact == Some(from) {
                self.stranger_input(which, input);
            }
        } else if let Input::Guest { payload, .. } = input {
            self.said.push((from, to, payload.clone()));
            self.lost.push((to, payload));
        }
    }

    fn apart(&self, a: usize, b: usize) -> bool {
        self.cut.is_some_and(|cut| (a < cut) != (b < cut))
    }

    fn hear_open(&mut self, sender: MemberId, payload: Bytes) {
        let from = self.players.iter().position(|player| player.identity.member() == sender);
        for who in 0..self.players.len() {
            if !from.is_some_and(|from| self.apart(from, who)) {
                let _ = self.input(who, Input::Open { sender, payload: payload.clone() });
            }
        }
    }

    /// The bus is whole again; all who are up have all items.
    pub fn merge(&mut self) {
        self.cut = None;
        loop {
            let mut still = true;
            let count = self.players.len();
            for (from, to) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
                still &= !self.catch_up(from, to);
            }
            if still {
                break;
            }
        }
        for which in 0..self.strangers.len() {
            self.sync(which);
        }
        self.everyone(&Input::Regrouped);
        self.settle();
    }

    /// One member gives another what it lacks. Whether that was anything.
    pub fn catch_up(&mut self, from: usize, to: usize) -> bool {
        if !self.players[to].up || !self.players[from].up {
            return false;
        }
        let (theirs, mine) = (&self.players[from].transcript, &self.players[to].transcript);
        let missing = theirs.lacking(mine.state().head(), &mine.have(), usize::MAX);
        let mut any = false;
        for item in missing {
            any |= self.take(to, &item);
        }
        any
    }

    /// A member takes an item that has its place in the order.
    pub fn take(&mut self, who: usize, item: &Bytes) -> bool {
        let Ok(taken) = self.players[who].transcript.take(item, Some(self.time)) else { return false };
        let new = taken.new;
        if new {
            let _ = self.input(who, Input::Item { item: item.clone(), taken });
        }
        new
    }

    fn item(&mut self, from: usize, item: &Bytes) {
        self.items += 1;
        let passes = |passes: &mut Passes| passes(from, &Item::decode(item).unwrap());
        if self.lose_items || !self.passes.as_mut().is_none_or(passes) {
            return;
        }
        for who in 0..self.players.len() {
            if self.players[who].up && !self.apart(from, who) {
                self.take(who, item);
            }
        }
        for which in 0..self.strangers.len() {
            self.sync(which);
        }
    }

    pub fn everyone(&mut self, input: &Input) {
        for who in 0..self.players.len() {
            let _ = self.input(who, input.clone());
        }
    }

    /// Lets time pass, a second at a time.
    pub fn pass(&mut self, seconds: u64) {
        for _ in 0..=seconds {
            self.everyone(&Input::Clock(self.time));
            for which in 0..self.strangers.len() {
                self.stranger_input(which, Input::Clock(self.time));
            }
            self.wake();
            self.settle();
            if seconds > 0 {
                self.now = Instant(self.now.0 + 1_000_000);
                self.time = UnixTime(self.time.0 + 1);
            }
        }
    }

    fn wake(&mut self) {
        for who in 0..self.players.len() {
            if self.players[who].admission.poll_timeout().is_some_and(|due| due <= self.now) {
                let _ = self.input(who, Input::Timeout);
            }
        }
        for which in 0..self.strangers.len() {
            if self.strangers[which].applicant.poll_timeout().is_some_and(|due| due <= self.now) {
                self.stranger_input(which, Input::Timeout);
            }
        }
    }

    /// Stops a member and starts it from its disk.
    pub fn restart(&mut self, who: usize) {
        self.restart_as(who, Config::default());
    }

    pub fn restart_as(&mut self, who: usize, config: Config) {
        let player = &mut self.players[who];
        let stored: Vec<(StoreKey, Bytes)> = player.disk.clone().into_iter().collect();
        player.admission = Admission::load(config, &player.transcript, &player.identity, &stored).unwrap();
        player.up = true;
        let _ = self.input(who, Input::Clock(self.time));
        let _ = self.input(who, Input::Regrouped);
    }

    pub fn request_of(&self, who: usize, which: usize) -> Option<folkmoot_base::Digest> {
        let member = self.strangers[which].identity.member();
        let status = self.status(who);
        status.requests.iter().find(|request| request.member == member).map(|request| request.request)
    }

    pub fn status(&self, who: usize) -> folkmoot_admission::Status {
        let player = &self.players[who];
        player.admission.status(&player.transcript, &player.identity)
    }

    pub fn admitted(&self, which: usize) -> bool {
        let member = self.strangers[which].identity.member();
        let have: BTreeSet<bool> = self
            .players
            .iter()
            .filter(|player| player.up)
            .map(|player| player.transcript.roster().is_member(&member))
            .collect();
        assert_eq!(have.len(), 1, "members disagree");
        have.contains(&true)
    }
}

pub fn store(disk: &mut BTreeMap<StoreKey, Bytes>, persist: folkmoot_base::Persist) {
    match persist.value {
        Some(value) => disk.insert(persist.key, value),
        None => disk.remove(&persist.key),
    };
}

pub fn vote(bus: &mut Bus, who: usize, which: usize, approve: bool) {
    let motion = bus.request_of(who, which).expect("request is open");
    bus.command(who, Command::Vote { motion, approve }).unwrap();
}

/// A change of one field of the charter.
pub fn change(field: &str, value: &str) -> Effect {
    let blob = |text: &str| Blob::from(text.as_bytes().to_vec());
    Change::Charter { field: blob(field), value: blob(value) }.into()
}

pub fn open(message: &OpenMessage) -> Bytes {
    codec::encode(message).into()
}

/// What a member says of a subject, whatever its machine would say.
pub fn word(bus: &Bus, who: usize, subject: Subject, verdict: Verdict) -> Bytes {
    let player = &bus.players[who];
    let expires = UnixTime(NOW.0 + 1_000_000);
    let word = player.transcript.approve(&player.identity, subject, verdict, expires);
    Item::Approval(word).encode().into()
}
