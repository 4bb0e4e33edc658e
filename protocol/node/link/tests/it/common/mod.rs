//! A deterministic network of a few nodes: a queue of datagrams, a clock, and faults that drop,
//! copy and reorder datagrams.

use bytes::{Bytes, BytesMut};
use core::time::Duration;
use folkmoot_base::{Algorithm, Entropy, GroupId, Instant, Locator, NodeId, SignatureBytes, digest};
use folkmoot_link::{Channel, Claim, Config, Credentials, Input, LinkError, Links, Output};
use std::collections::{BTreeMap, BTreeSet};

/// xorshift: the same bytes for the same seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        (self.next() >> 32) % 100 < percent
    }
}

impl Entropy for Dice {
    fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            *byte = (self.next() >> 24) as u8;
        }
    }
}

/// Credentials whose "key" is a name: enough for the state machine, not secure. `liar` signs
/// wrongly.
#[derive(Debug, Clone)]
pub struct Named {
    pub name: u8,
    pub liar: bool,
    pub length: usize,
}

impl Named {
    pub fn new(name: u8) -> Self {
        Self { name, liar: false, length: 300 }
    }
}

/// A datagram as a link takes it, to be opened where it is.
pub fn opened(bytes: impl AsRef<[u8]>) -> BytesMut {
    bytes.as_ref().into()
}

pub fn node_of(name: u8) -> NodeId {
    NodeId(digest(&[b"test key", &[name]]))
}

pub fn certificate_of(name: u8, rostered: bool, length: usize) -> Bytes {
    let mut out = vec![name, u8::from(rostered)];
    out.resize(length.max(2), 7);
    out.into()
}

/// Stands for a signature.
fn signature_of(digest: [u8; 32]) -> SignatureBytes {
    SignatureBytes { algorithm: Algorithm::P256, bytes: digest.to_vec().into() }
}

impl Credentials for Named {
    fn node(&self) -> NodeId {
        node_of(self.name)
    }

    fn sign(&self, label: &'static [u8], message: &[u8]) -> Option<SignatureBytes> {
        let name = if self.liar { 255 } else { self.name };
        Some(signature_of(digest(&[&[name], label, message])))
    }

    fn claim(&self, certificate: &[u8]) -> Option<Claim> {
        let [name, rostered, ..] = certificate else { return None };
        (*rostered <= 1).then(|| Claim { node: node_of(*name), rostered: *rostered == 1 })
    }

    fn verify(
        &self,
        certificate: &[u8],
        label: &'static [u8],
        message: &[u8],
        signature: &SignatureBytes,
    ) -> Option<Claim> {
        let claim = self.claim(certificate)?;
        (signature_of(digest(&[&certificate[..1], label, message])) == *signature).then_some(claim)
    }

    fn certificate(&self) -> Bytes {
        certificate_of(self.name, false, self.length)
    }
}

pub struct Party {
    pub links: Links<Named>,
    pub at: Locator,
    pub dice: Dice,
    pub heard: Vec<Output>,
    pub errors: Vec<LinkError>,
    /// The nodes on this node's roster.
    pub roster: BTreeSet<NodeId>,
}

impl Party {
    pub fn ups(&self) -> usize {
        self.heard.iter().filter(|output| matches!(output, Output::Up { .. })).count()
    }

    pub fn downs(&self) -> usize {
        self.heard.iter().filter(|output| matches!(output, Output::Down { .. })).count()
    }

    pub fn frames(&self) -> Vec<(NodeId, Channel, Bytes)> {
        let frame = |output: &Output| match output {
            Output::Frame { from, channel, frame } => Some((*from, *channel, frame.clone())),
            _ => None,
        };
        self.heard.iter().filter_map(frame).collect()
    }
}

pub struct Net {
    pub now: Instant,
    pub parties: Vec<Party>,
    /// Due, number, to, from, bytes.
    pub wire: Vec<(Instant, u64, Locator, Locator, Bytes)>,
    /// Everything ever sent: to, from, bytes.
    pub log: Vec<(Locator, Locator, Bytes)>,
    pub cut: BTreeSet<(Locator, Locator)>,
    pub dice: Dice,
    pub loss: u64,
    pub copies: u64,
    pub jitter_ms: u64,
    /// What the path from one place to another carries, if not everything.
    pub mtu: BTreeMap<(Locator, Locator), usize>,
    /// How long a datagram takes, in microseconds.
    pub delay: u64,
    /// Who does not hear what somebody sends to all: from, to.
    pub deaf: BTreeSet<(usize, usize)>,
    sent: u64,
}

pub const RING: GroupId = GroupId([9; 32]);

pub fn config() -> Config {
    Config::new(RING)
}

/// Where all are reached at once.
pub fn everybody() -> Locator {
    place(EVERYBODY)
}

const EVERYBODY: usize = 1_000;

pub fn place(index: usize) -> Locator {
    Locator::memory(u32::try_from(index).unwrap())
}

impl Net {
    /// Nodes named 1 to `count`, all of them on each other's roster.
    pub fn new(count: u8) -> Self {
        let mut net = Self {
            now: Instant(1_000_000),
            parties: Vec::new(),
            wire: Vec::new(),
            log: Vec::new(),
            cut: BTreeSet::new(),
            dice: Dice(0x9e37_79b9_7f4a_7c15),
            loss: 0,
            copies: 0,
            jitter_ms: 0,
            mtu: BTreeMap::new(),
            delay: 200,
            deaf: BTreeSet::new(),
            sent: 0,
        };
        for name in 1..=count {
            net.add(Named::new(name), config(), (1..=count).map(node_of).collect());
        }
        net
    }

    pub fn add(&mut self, named: Named, config: Config, roster: BTreeSet<NodeId>) -> usize {
        let index = self.parties.len();
        let mut dice = Dice(0xabcd_0000 + index as u64 * 77 + self.now.0);
        let links = Links::new(config, named, &mut dice);
        self.parties.push(Party { links, at: place(index), dice, heard: vec![], errors: vec![], roster });
        index
    }

    /// Replaces node `index` by a new process.
    pub fn restart(&mut self, index: usize, named: Named) {
        let party = &mut self.parties[index];
        party.dice = Dice(self.now.0 ^ 0x5555);
        let config = Config { started: self.now.0, ..config() };
        party.links = Links::new(config, named, &mut party.dice);
        party.heard.clear();
    }

    pub fn input(&mut self, index: usize, input: Input) -> Result<(), LinkError> {
        let now = self.now;
        let party = &mut self.parties[index];
        let result = party.links.handle(now, input, &mut party.dice);
        self.after(index, result)
    }

    fn after(&mut self, index: usize, result: Result<(), LinkError>) -> Result<(), LinkError> {
        if let Err(error) = &result {
            self.parties[index].errors.push(error.clone());
        }
        self.drain(index);
        result
    }

    pub fn drain(&mut self, index: usize) {
        let now = self.now;
        while let Some(output) = self.parties[index].links.poll_output() {
            let party = &mut self.parties[index];
            match output {
                Output::Transmit { to, datagram } | Output::Probe { to, datagram } => {
                    assert!(datagram.len() <= 1_452, "a datagram of {} bytes", datagram.len());
                    let from = party.at.clone();
                    self.log.push((to.clone(), from.clone(), datagram.clone()));
                    self.post(to, from, datagram);
                }
                Output::Up { node, .. } => {
                    let member = party.roster.contains(&node);
                    party.heard.push(output);
                    party.links.handle(now, Input::Standing { node, member }, &mut party.dice).unwrap();
                }
                other => party.heard.push(other),
            }
        }
    }

    fn post(&mut self, to: Locator, from: Locator, datagram: Bytes) {
        if to == everybody() {
            let sender = self.parties.iter().position(|party| party.at == from).unwrap();
            for other in (0..self.parties.len()).filter(|other| *other != sender) {
                if !self.deaf.contains(&(sender, other)) {
                    self.post(place(EVERYBODY + 1 + other), from.clone(), datagram.clone());
                }
            }
            return;
        }
        if self.cut.contains(&(from.clone(), to.clone())) || self.dice.chance(self.loss) {
            return;
        }
        let mtu = self.mtu.get(&(from.clone(), to.clone()));
        if mtu.is_some_and(|mtu| datagram.len() > *mtu) {
            return;
        }
        let copies = 1 + u64::from(self.dice.chance(self.copies));
        for _ in 0..copies {
            let jitter = if self.jitter_ms == 0 { 0 } else { self.dice.next() % (self.jitter_ms * 1_000) };
            self.sent += 1;
            let due = self.now + Duration::from_micros(self.delay + jitter);
            self.wire.push((due, self.sent, to.clone(), from.clone(), datagram.clone()));
        }
    }

    /// Runs until `span` has passed.
    pub fn run(&mut self, span: Duration) {
        let end = self.now + span;
        loop {
            let wire = self
                .wire
                .iter()
                .enumerate()
                .min_by_key(|(_, item)| (item.0, item.1))
                .map(|(i, item)| (item.0, i));
            let timer = self
                .parties
                .iter()
                .enumerate()
                .filter_map(|(i, party)| party.links.poll_timeout().map(|at| (at, i)))
                .min();
            let wire_first = match (wire, timer) {
                (Some((due, _)), Some((at, _))) => due <= at,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            let at = if wire_first { wire.unwrap().0 } else { timer.unwrap().0 };
            if at > end {
                break;
            }
            self.now = self.now.max(at);
            if wire_first {
                let (_, _, to, from, bytes) = self.wire.remove(wire.unwrap().1);
                let all = |index: &usize| place(EVERYBODY + 1 + index) == to;
                if let Some(index) = self.parties.iter().position(|party| party.at == to) {
                    let _ = self.input(index, Input::Datagram { from, bytes: opened(bytes) });
                } else if let Some(index) = (0..self.parties.len()).find(all) {
                    let _ = self.input(index, Input::ToAll { from, bytes: opened(bytes) });
                }
            } else {
                let _ = self.input(timer.unwrap().1, Input::Timeout);
            }
        }
        self.now = end;
    }

    pub fn run_ms(&mut self, ms: u64) {
        self.run(Duration::from_millis(ms));
    }

    pub fn dial(&mut self, from: usize, to: usize) {
        let at = self.parties[to].at.clone();
        self.input(from, Input::Dial { at, node: None }).unwrap();
    }

    pub fn send(&mut self, from: usize, to: NodeId, channel: Channel, frame: &[u8]) -> Result<(), LinkError> {
        let result = self.parties[from].links.send(self.now, to, channel, &[frame]);
        self.after(from, result)
    }

    /// Two nodes with a link.
    pub fn pair() -> Self {
        let mut net = Self::new(2);
        net.dial(0, 1);
        net.run_ms(50);
        assert_eq!((net.parties[0].ups(), net.parties[1].ups()), (1, 1));
        net
    }
}
