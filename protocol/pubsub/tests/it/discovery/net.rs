//! Nodes with P-256 certificates on a small network whose messages the tests read and change.

use bytes::Bytes;
use folkmoot_base::codec::encode;
use folkmoot_base::{Entropy, Instant, Mutant, UnixTime, digest};
use folkmoot_pubsub::discovery::message::{Body, LABEL, Said, Signed, tag};
use folkmoot_pubsub::discovery::{
    Danger, Discovery, Epoch, Event, Exclusion, Input, Output, Papers, Settings, Standing,
};
use folkmoot_signing::plain::{Signature, SigningKey, VerifyingKey};
use std::collections::VecDeque;

pub(crate) const DOMAIN: &[u8] = b"239.255.76.67:7667";
/// One way, in microseconds.
const DELAY: u64 = 2_000;

/// Numbers that follow from a seed.
pub(crate) struct Seeded(pub(crate) u64);

impl Entropy for Seeded {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.0 += 1;
            let block = digest(&[b"seeded", &self.0.to_be_bytes()]);
            chunk.copy_from_slice(&block[..chunk.len()]);
        }
    }
}

/// Who issues certificates and excludes.
pub(crate) struct Authority(SigningKey);

/// A node's key and certificate: id, end, SPKI, the authority's signature.
#[derive(Clone)]
pub(crate) struct Paper {
    key: SigningKey,
    authority: VerifyingKey,
    pub(crate) certificate: Vec<u8>,
}

const CERTIFIES: &[u8] = b"folkmoot test certificate v1";
const EXCLUDES: &[u8] = b"folkmoot test exclusion v1";

impl Authority {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SigningKey::generate(&mut Seeded(seed << 32)))
    }

    pub(crate) fn paper(&self, uid: u16, key: u64, until: u64) -> Paper {
        let key = SigningKey::generate(&mut Seeded(key << 40));
        let mut said = [&uid.to_be_bytes()[..], &until.to_be_bytes()].concat();
        said.extend_from_slice(key.verifying_key().spki_der());
        let mark = self.0.sign(CERTIFIES, &said).to_bytes();
        let certificate = [said, mark.to_vec()].concat();
        Paper { key, authority: self.0.verifying_key().clone(), certificate }
    }

    pub(crate) fn exclusion(&self, certificate: &[u8]) -> Vec<u8> {
        self.exclusion_until(certificate, u64::MAX)
    }

    pub(crate) fn exclusion_until(&self, certificate: &[u8], until: u64) -> Vec<u8> {
        let said = [&digest(&[certificate])[..], &until.to_be_bytes()].concat();
        [&said[..], &self.0.sign(EXCLUDES, &said).to_bytes()].concat()
    }
}

impl Papers for Paper {
    fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.key.sign_raw(message).to_bytes().to_vec()
    }

    fn judge(&self, _: &[u8], certificate: &[u8], _: Option<UnixTime>) -> Option<Standing> {
        let (said, mark) = certificate.split_at_checked(101)?;
        let mark = Signature::from_bytes(mark).ok()?;
        self.authority.verify(CERTIFIES, said, &mark).ok()?;
        let until = u64::from_be_bytes(said[2..10].try_into().unwrap());
        let uid = u16::from_be_bytes([said[0], said[1]]);
        Some(Standing { uid, until: (until > 0).then_some(UnixTime(until)) })
    }

    fn verify(&self, certificate: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let key = certificate.get(10..101).and_then(|spki| VerifyingKey::from_spki_der(spki).ok());
        let signature = Signature::from_bytes(signature).ok();
        key.zip(signature).is_some_and(|(key, signature)| key.verify_raw(message, &signature).is_ok())
    }

    fn judge_exclusion(&self, _: &[u8], statement: &[u8]) -> Option<Exclusion> {
        let (said, mark) = statement.split_at_checked(40)?;
        let mark = Signature::from_bytes(mark).ok()?;
        self.authority.verify(EXCLUDES, said, &mark).ok()?;
        let until = u64::from_be_bytes(said[32..].try_into().unwrap());
        let until = (until < u64::MAX).then_some(UnixTime(until));
        Some(Exclusion { holder: said[..32].try_into().ok()?, until })
    }
}

/// Signs a message as the holder of `paper` would.
pub(crate) fn signed(paper: &Paper, uid: u16, instance: u64, said: Said) -> Bytes {
    let body = encode(&Body { domain: tag(DOMAIN), sender: uid, instance, said });
    let signature = paper.sign(&[LABEL, &body].concat());
    encode(&Signed { body: body.into(), signature: signature.into() }).into()
}

pub(crate) fn read(bytes: &[u8]) -> Body {
    Signed::read(bytes).unwrap().1
}

/// One node.
pub(crate) struct Node {
    pub(crate) machine: Discovery<Paper>,
    pub(crate) paper: Paper,
    pub(crate) disk: Option<Bytes>,
    pub(crate) keys: Vec<Epoch>,
    pub(crate) events: Vec<Event>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) alive: bool,
}

/// All nodes, and what is under way.
pub(crate) struct Net {
    pub(crate) nodes: Vec<Node>,
    pub(crate) authority: Authority,
    pub(crate) now: u64,
    /// From whom, and what.
    pub(crate) wire: Vec<(usize, Bytes)>,
    /// What becomes of a message.
    pub(crate) change: fn(usize, &Bytes) -> Option<Bytes>,
    under_way: VecDeque<(u64, usize, Bytes)>,
    entropy: Seeded,
    danger: Option<Danger>,
    /// One way, in microseconds.
    pub(crate) delay: u64,
}

impl Net {
    /// With so many nodes, none of which runs.
    pub(crate) fn new(size: u16, danger: Option<Danger>) -> Self {
        let mut net = Self {
            nodes: Vec::new(),
            authority: Authority::new(1),
            now: 1_000_000,
            wire: Vec::new(),
            change: |_, bytes| Some(bytes.clone()),
            under_way: VecDeque::new(),
            entropy: Seeded(7),
            danger,
            delay: DELAY,
        };
        (1..=size).for_each(|uid| net.add(uid, 0));
        net
    }

    pub(crate) fn add(&mut self, uid: u16, until: u64) {
        let paper = self.authority.paper(uid, u64::from(uid), until);
        self.add_with(paper);
    }

    pub(crate) fn add_with(&mut self, paper: Paper) {
        let machine = Self::machine(&paper, self.danger, None);
        self.nodes.push(Node {
            machine,
            paper,
            disk: None,
            keys: Vec::new(),
            events: Vec::new(),
            outputs: Vec::new(),
            alive: false,
        });
    }

    fn machine(paper: &Paper, danger: Option<Danger>, disk: Option<&[u8]>) -> Discovery<Paper> {
        let settings = Settings { danger: Mutant::from(danger), ..Settings::new(DOMAIN) };
        Discovery::new(paper.clone(), settings, disk).unwrap()
    }

    /// Nodes that agreed on a key.
    pub(crate) fn agreed(size: u16, danger: Option<Danger>) -> Self {
        let mut net = Self::new(size, danger);
        (0..usize::from(size)).for_each(|node| net.start(node));
        net.run(3_000);
        net.assert_one(&(1..=size).collect::<Vec<_>>());
        net
    }

    pub(crate) fn start(&mut self, node: usize) {
        self.nodes[node].alive = true;
        self.input(node, Input::Start);
    }

    /// A new process with the old disk.
    pub(crate) fn restart(&mut self, node: usize) {
        let one = &mut self.nodes[node];
        one.machine = Self::machine(&one.paper, self.danger, one.disk.as_deref());
        self.start(node);
    }

    pub(crate) fn stop(&mut self, node: usize) {
        self.nodes[node].alive = false;
    }

    pub(crate) fn input(&mut self, node: usize, input: Input<'_>) {
        let one = &mut self.nodes[node];
        one.machine.handle(Instant(self.now), input, &mut self.entropy);
        let mut sent = Vec::new();
        while let Some(output) = one.machine.poll_output() {
            one.outputs.push(output.clone());
            match output {
                Output::Send(bytes) => sent.push(bytes),
                Output::Persist(bytes) => one.disk = Some(bytes),
                Output::Key(epoch) => one.keys.push(epoch),
                Output::Event(event) => one.events.push(event),
            }
        }
        for bytes in sent {
            self.wire.push((node, bytes.clone()));
            if let Some(bytes) = (self.change)(node, &bytes) {
                (0..self.nodes.len()).for_each(|to| {
                    if to != node {
                        self.under_way.push_back((self.now + self.delay, to, bytes.clone()));
                    }
                });
            }
        }
    }

    /// A message from nobody.
    pub(crate) fn tell(&mut self, node: usize, bytes: &[u8]) {
        self.input(node, Input::Message(bytes));
    }

    pub(crate) fn run(&mut self, millis: u64) {
        let end = self.now + millis * 1_000;
        while self.now < end {
            self.now += 1_000;
            while self.under_way.front().is_some_and(|(at, ..)| *at <= self.now) {
                let (_, to, bytes) = self.under_way.pop_front().unwrap();
                if self.nodes[to].alive {
                    self.tell(to, &bytes);
                }
            }
            for node in 0..self.nodes.len() {
                let due = self.nodes[node].machine.poll_timeout().is_some_and(|at| at.0 <= self.now);
                if self.nodes[node].alive && due {
                    self.input(node, Input::Timeout);
                }
            }
        }
    }

    pub(crate) fn key(&self, node: usize) -> &Epoch {
        self.nodes[node].keys.last().expect("it has a key")
    }

    /// All these ids, and nobody else, share one key.
    pub(crate) fn assert_one(&self, uids: &[u16]) {
        for uid in uids {
            let epoch = self.key(usize::from(*uid) - 1);
            let mut members = epoch.members.clone();
            members.sort_unstable();
            assert_eq!(members, uids);
            assert_eq!(epoch, self.key(usize::from(uids[0]) - 1));
        }
    }

    /// What was sent since `from` that `which` picks.
    pub(crate) fn sent(&self, from: usize, which: fn(&Said) -> bool) -> Vec<(usize, Bytes)> {
        self.wire[from..].iter().filter(|(_, bytes)| which(&read(bytes).said)).cloned().collect()
    }

    pub(crate) fn join_of(&self, node: usize) -> Bytes {
        let joins = self.sent(0, |said| matches!(said, Said::Join(_)));
        joins.into_iter().rev().find(|(from, _)| *from == node).unwrap().1
    }
}
