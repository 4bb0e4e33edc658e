//! Links: arbitrary datagrams, liars in a handshake, and tampering with a link that is up.

use crate::script::{Dice, number, owned, script, steps};
use crate::world::world;
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::codec::encode;
use folkmoot_base::{Algorithm, Blob, Instant, Locator, NodeId, Secret, SignatureBytes, Train, digest, draw};
use folkmoot_identity::Identity;
use folkmoot_link::message::{Control, Datagram, Probe, Proof};
use folkmoot_link::{
    Channel, Claim, Config, Credentials, Exchange, IdentityCredentials, Input, Links, Output, RingKeyChange,
    RingKeys, SignedStart, Start, Versions,
};
use std::collections::VecDeque;

/// More outputs than this at once, and a peer could flood the caller.
const OUTPUTS_MAX: usize = 4_096;

/// Two links, and the datagrams between them.
pub(crate) struct Pair<A, B> {
    pub(crate) now: Instant,
    a: Links<A>,
    b: Links<B>,
    dice: Dice,
    /// From a to b, from b to a.
    wires: [VecDeque<Bytes>; 2],
    /// Everything that a said to b.
    said: Vec<Bytes>,
    heard: Vec<(NodeId, Channel, Bytes)>,
    ups: Vec<NodeId>,
    /// b believes that another process with its identity started later.
    superseded: bool,
}

const PLACES: [Locator; 2] = [Locator::memory(1), Locator::memory(2)];
/// Where whoever is spoken to by strangers dials meanwhile.
const ELSEWHERE: Locator = Locator::memory(3);
/// Every input is played to links of both forms.
const FORMS: [Exchange; 2] = [Exchange::Classical, Exchange::Hybrid];

impl<A: Credentials, B: Credentials> Pair<A, B> {
    fn new(exchange: Exchange, a: A, b: B) -> Self {
        let mut dice = Dice(77);
        let config = Config { exchange, ..Config::new(world().group()) };
        Self {
            now: Instant(1_000_000),
            a: Links::new(config.clone(), a, &mut dice),
            b: Links::new(config, b, &mut dice),
            dice,
            wires: Default::default(),
            said: Vec::new(),
            heard: Vec::new(),
            ups: Vec::new(),
            superseded: false,
        }
    }

    fn tell_a(&mut self, input: Input) {
        let _ = self.a.handle(self.now, input, &mut self.dice);
        self.drain_a();
    }

    fn drain_a(&mut self) {
        let mut count = 0;
        while let Some(output) = self.a.poll_output() {
            count += 1;
            assert!(count <= OUTPUTS_MAX, "no end of outputs");
            match output {
                Output::Transmit { datagram, to } | Output::Probe { datagram, to } if to == PLACES[1] => {
                    self.said.push(datagram.clone());
                    self.wires[0].push_back(datagram);
                }
                Output::Up { node, .. } => {
                    let _ = self.a.handle(self.now, Input::Standing { node, member: true }, &mut self.dice);
                }
                _ => {}
            }
        }
    }

    fn tell_b(&mut self, input: Input) {
        let _ = self.b.handle(self.now, input, &mut self.dice);
        self.drain_b();
    }

    /// These bytes come to b at once, as datagrams of `size` bytes.
    fn ride(&mut self, bytes: &[u8], size: usize) {
        let mut train = Train::new(bytes.to_vec(), bytes.len(), size);
        while !train.is_empty() {
            let before = train.count();
            let _ = self.b.train(self.now, &PLACES[0], (&mut train, false), &mut self.dice);
            assert!(train.count() < before, "a train that does not end");
            self.drain_b();
        }
    }

    fn drain_b(&mut self) {
        let mut count = 0;
        while let Some(output) = self.b.poll_output() {
            count += 1;
            assert!(count <= OUTPUTS_MAX, "no end of outputs");
            match output {
                Output::Transmit { datagram, to } | Output::Probe { datagram, to } if to == PLACES[0] => {
                    self.wires[1].push_back(datagram);
                }
                Output::Up { node, .. } => {
                    self.ups.push(node);
                    let _ = self.b.handle(self.now, Input::Standing { node, member: true }, &mut self.dice);
                }
                Output::Superseded { .. } => self.superseded = true,
                Output::Frame { from, channel, frame } => self.heard.push((from, channel, frame)),
                _ => {}
            }
        }
    }

    /// Carries datagrams both ways until there are none.
    fn play(&mut self) {
        for _ in 0..OUTPUTS_MAX {
            if let Some(bytes) = self.wires[0].pop_front() {
                self.tell_b(Input::Datagram { from: PLACES[0].clone(), bytes: bytes.into() });
            } else if let Some(bytes) = self.wires[1].pop_front() {
                self.tell_a(Input::Datagram { from: PLACES[1].clone(), bytes: bytes.into() });
            } else {
                return;
            }
        }
    }

    fn pass(&mut self, span: Duration) {
        self.now = self.now + span;
        if self.a.poll_timeout().is_some_and(|at| at <= self.now) {
            self.tell_a(Input::Timeout);
        }
        if self.b.poll_timeout().is_some_and(|at| at <= self.now) {
            self.tell_b(Input::Timeout);
        }
        self.play();
    }

    fn dial(&mut self) {
        self.tell_a(Input::Dial { at: PLACES[1].clone(), node: None });
        self.play();
    }

    /// Both are in a ring with a third.
    fn install(&mut self) {
        let members = [world().founders[0].node(), world().founders[1].node(), NodeId([0xff; 32])];
        let key = |node: NodeId| (node, Secret::new(digest(&[b"ring key", &node.0])));
        let keys = RingKeys { ring: [7; 4], senders: members.into_iter().map(key).collect() };
        self.tell_a(Input::RingKey(RingKeyChange::Attempt(keys.clone())));
        self.tell_a(Input::RingKey(RingKeyChange::Installed));
        self.tell_b(Input::RingKey(RingKeyChange::Attempt(keys)));
    }

    /// A packet of a, with this number, under the ring key.
    fn multicast(&mut self, number: u32, body: &[u8]) -> Bytes {
        let head = [0xa0, 0, 7, 7, 7, 7];
        let packet = Bytes::from([&head[..], &number.to_be_bytes(), body].concat());
        let to = [world().founders[1].node()];
        assert!(self.a.multicast(self.now, &to, &packet).is_some(), "a number that is new");
        self.drain_a();
        packet
    }
}

fn credentials(who: usize) -> IdentityCredentials {
    IdentityCredentials::new(world().founders[who].clone())
}

fn honest(exchange: Exchange) -> Pair<IdentityCredentials, IdentityCredentials> {
    Pair::new(exchange, credentials(0), credentials(1))
}

/// A node that nobody has spoken to, and that dials one of the places: datagrams from several
/// places, and time.
pub fn link_stranger(data: &[u8]) {
    FORMS.into_iter().for_each(|exchange| stranger(exchange, data));
}

fn stranger(exchange: Exchange, data: &[u8]) {
    let mut pair = honest(exchange);
    // Other draws than in the run that the seeds are from: else its Finish would be a genuine one
    // here.
    let _: [u8; 64] = draw(&mut pair.dice);
    pair.tell_b(Input::Dial { at: ELSEWHERE, node: None });
    for (op, body) in steps(data) {
        match op % 8 {
            7 => pair.pass(Duration::from_millis(number(body))),
            place => {
                let from = Locator::memory(u32::from(place) + 1);
                pair.tell_b(Input::Datagram { from, bytes: owned(body).into() });
            }
        }
    }
    assert!(pair.ups.is_empty() && pair.heard.is_empty(), "nobody has a key here");
    assert!(pair.b.peers().next().is_none());
}

/// A link that is up, and somebody on the wire: what is heard was said, as often at most (unless it
/// is a packet under the ring key), and unchanged.
pub fn link_wire(data: &[u8]) {
    FORMS.into_iter().for_each(|exchange| wire(exchange, data));
}

fn wire(exchange: Exchange, data: &[u8]) {
    let mut pair = honest(exchange);
    pair.dial();
    pair.install();
    assert_eq!(pair.ups.len(), 1);
    let mut said: Vec<(Channel, Bytes)> = Vec::new();
    // These may come again: the ring drops them.
    let mut packets: Vec<(Channel, Bytes)> = Vec::new();
    for (op, body) in steps(data) {
        let channel = [Channel::Ring, Channel::Transcript, Channel::Admission][usize::from(op >> 4) % 3];
        match op % 8 {
            0 if op & 8 != 0 => {
                pair.tell_b(Input::ToAll { from: Locator::memory(9), bytes: owned(body).into() });
            }
            0 => pair.tell_b(Input::Datagram { from: PLACES[0].clone(), bytes: owned(body).into() }),
            1 => pair.tell_b(Input::Datagram { from: Locator::memory(9), bytes: owned(body).into() }),
            2 | 3 if op & 8 != 0 => {
                let number = u32::try_from(packets.len()).unwrap();
                let body = body.get(..1_000).unwrap_or(body);
                packets.push((Channel::Ring, pair.multicast(number, body)));
                if op % 8 == 2 {
                    pair.play();
                }
            }
            2 | 3 => {
                let sent = pair.a.send(pair.now, world().founders[1].node(), channel, &[body]);
                if sent.is_ok() {
                    said.push((channel, owned(body)));
                }
                pair.drain_a();
                if op % 8 == 2 {
                    pair.play();
                }
            }
            4 => tamper(&mut pair, body),
            5 => {
                let place = usize::try_from(number(body)).unwrap() % pair.said.len();
                let (from, bytes) = (PLACES[0].clone(), pair.said[place].clone().into());
                let again =
                    if op & 8 != 0 { Input::ToAll { from, bytes } } else { Input::Datagram { from, bytes } };
                pair.tell_b(again);
            }
            // What is under way comes together: in order if all is of one length.
            6 if op & 8 != 0 => {
                let all: Vec<Bytes> = pair.wires[0].drain(..).collect();
                pair.ride(&all.concat(), all.first().map_or(1, Bytes::len));
            }
            6 => pair.play(),
            7 if op & 8 != 0 => pair.ride(body, usize::try_from(number(body)).unwrap()),
            _ => pair.pass(Duration::from_millis(number(body))),
        }
    }
    for (from, channel, frame) in &pair.heard {
        assert_eq!(*from, world().founders[0].node());
        if packets.iter().any(|word| (&word.0, &word.1) == (channel, frame)) {
            continue;
        }
        let place = said.iter().position(|word| (&word.0, &word.1) == (channel, frame));
        said.swap_remove(place.expect("a frame that was not said, or not so often"));
    }
}

/// Changes the oldest datagram under way: place, mask; or cuts it there, if the mask is nothing.
fn tamper(pair: &mut Pair<IdentityCredentials, IdentityCredentials>, body: &[u8]) {
    let Some(genuine) = pair.wires[0].pop_front() else { return };
    let place = usize::try_from(number(body)).unwrap() % genuine.len();
    let mask = body.get(2).copied().unwrap_or(0);
    let mut bytes = genuine.to_vec();
    if mask == 0 {
        bytes.truncate(place);
    } else {
        bytes[place] ^= mask;
    }
    let before = pair.heard.len();
    pair.tell_b(Input::Datagram { from: PLACES[0].clone(), bytes: bytes[..].into() });
    assert_eq!(pair.heard.len(), before, "a changed datagram was believed");
}

/// A dialler that shows any certificate, and signs with its own key, or not at all.
struct Liar {
    identity: Identity,
    certificate: Bytes,
    signature: Option<Bytes>,
}

impl Credentials for Liar {
    fn node(&self) -> NodeId {
        self.identity.node()
    }

    fn sign(&self, label: &'static [u8], message: &[u8]) -> Option<SignatureBytes> {
        let genuine = || self.identity.sign(label, message).to_wire();
        let given = |bytes: &Bytes| SignatureBytes { algorithm: Algorithm::P256, bytes: bytes.clone() };
        Some(self.signature.as_ref().map_or_else(genuine, given))
    }

    fn claim(&self, certificate: &[u8]) -> Option<Claim> {
        IdentityCredentials::new(self.identity.clone()).claim(certificate)
    }

    fn verify(
        &self,
        c: &[u8],
        label: &'static [u8],
        message: &[u8],
        signature: &SignatureBytes,
    ) -> Option<Claim> {
        IdentityCredentials::new(self.identity.clone()).verify(c, label, message, signature)
    }

    fn certificate(&self) -> Bytes {
        self.certificate.clone()
    }
}

/// A handshake with a liar: the first step is its certificate; a second one, if any, stands in
/// place of its signature; a third one is the certificate that it shows later; a fourth one is what
/// it says to the other link. Nobody comes up but the liar itself, under its own key, and it stops
/// nobody.
pub fn link_liar(data: &[u8]) {
    FORMS.into_iter().for_each(|exchange| liar(exchange, data));
}

fn liar(exchange: Exchange, data: &[u8]) {
    let mut steps = steps(data).map(|(_, body)| owned(body));
    let liar = Liar {
        identity: world().stranger.clone(),
        certificate: steps.next().unwrap_or_default(),
        signature: steps.next().filter(|bytes| !bytes.is_empty()),
    };
    let mut pair = Pair::new(exchange, liar, credentials(1));
    pair.dial();
    if let Some(later) = steps.next() {
        pair.tell_a(Input::Certificate(later));
        pair.play();
    }
    if let Some(Ok(word)) = steps.next().map(|bytes| Control::decode(&bytes)) {
        pair.a.danger_say(pair.now, world().founders[1].node(), &word);
        pair.drain_a();
        pair.play();
    }
    assert!(!pair.superseded, "by somebody who does not have its key");
    assert!(pair.ups.iter().all(|node| *node == world().stranger.node()), "somebody else's name");
}

/// Seeds: what two links say to each other.
pub(crate) fn wire_seeds() -> [Vec<Vec<u8>>; 3] {
    let [mut stranger, wire, mut datagrams] = seeds_of(Exchange::Classical);
    let [hybrid_stranger, _, hybrid_datagrams] = seeds_of(Exchange::Hybrid);
    stranger.extend(hybrid_stranger);
    datagrams.extend(hybrid_datagrams);
    // What somebody at the place dialled may say of the Hello that it got: the first word of b,
    // whose index is always the same.
    let mut pair = honest(Exchange::Hybrid);
    let mut refusals = Vec::new();
    let _: [u8; 64] = draw(&mut pair.dice);
    pair.b.handle(pair.now, Input::Dial { at: ELSEWHERE, node: None }, &mut pair.dice).unwrap();
    while let Some(output) = pair.b.poll_output() {
        if let Output::Transmit { datagram, .. } = output
            && let Ok(Datagram::HybridHello { from, .. }) = Datagram::decode(&datagram)
        {
            let say = |asks| Datagram::Refusal { to: from, asks }.encode();
            refusals.extend(FORMS.map(say));
            refusals.push(Datagram::Retry { to: from, cookie: [5; 16] }.encode());
        }
    }
    stranger.push(script(refusals.iter().map(|datagram| (2, datagram))));
    datagrams.extend(refusals.iter().map(|datagram| datagram.to_vec()));
    datagrams.push(superseded().to_vec());
    datagrams.extend(probes().map(|word| word.to_vec()));
    let certificate = Blob(world().stranger.certificate().der().clone());
    let signature = world().stranger.sign(b"folkmoot link v1", b"what it likes").to_wire();
    let versions = Versions::OURS;
    datagrams.push(encode(&Proof {
        index: 7,
        started: 9,
        versions,
        capabilities: 1,
        certificate,
        signature,
    }));
    [stranger, wire, datagrams]
}

fn seeds_of(exchange: Exchange) -> [Vec<Vec<u8>>; 3] {
    let mut pair = honest(exchange);
    pair.dial();
    for body in [&b"short"[..], &[7; 40]] {
        pair.a.send(pair.now, world().founders[1].node(), Channel::Ring, &[body]).unwrap();
        pair.drain_a();
        pair.play();
    }
    pair.install();
    pair.multicast(1, b"a packet");
    pair.play();
    let hello = script([(0, &pair.said[0][..]), (7, &[0, 250]), (2, &pair.said[0])]);
    let all = script(pair.said.iter().map(|datagram| (0, datagram)));
    let wire = script([
        (2, &b"a word"[..]),
        (3, b"another"),
        (4, &[0, 20, 1]),
        (0x23, b"a third"),
        (4, &[0, 9, 0]),
        (5, &[0, 4]),
        (6, &[]),
        (7, &[2, 0]),
    ]);
    let packets = script([
        (0x0a, &b"a packet"[..]),
        (0x0b, b"another"),
        (4, &[0, 13, 1]),
        (0x0b, b"a third"),
        (2, b"a word"),
        (5, &[0, 5]),
        (5, &[0, 6]),
        (6, &[]),
    ]);
    [vec![hello, all], vec![wire, packets], pair.said.iter().map(|datagram| datagram.to_vec()).collect()]
}

/// That a process with the identity of b started later, signed by another.
fn superseded() -> Bytes {
    let to = world().stranger.node();
    let start = Start { role: 1, hash: [7; 32], to, started: u64::MAX, key: [8; 32] };
    let signature = world().stranger.sign(b"folkmoot link v1", b"what it likes").to_wire();
    Control::Superseded(SignedStart { start, signature }).encode().into()
}

/// A probe that is shorter than any, and the answer to one that was never sent.
fn probes() -> [Bytes; 2] {
    let probe = Control::Probe(Probe { number: 3, padding: Blob(Bytes::from_static(&[0; 9])) });
    let probed = Control::Probed { number: 0, size: 1_452 };
    [probe, probed].map(|word| word.encode().into())
}

/// Seeds: certificates that a dialler may show, and what it says.
pub(crate) fn liar_seeds() -> Vec<Vec<u8>> {
    let own = world().stranger.certificate().der().clone();
    let gmc = world().gmc().der().clone();
    let other = world().founders[0].certificate().der().clone();
    let [probe, probed] = probes();
    vec![
        script([(0, &own), (0, &Bytes::new()), (0, &gmc)]),
        script([(0, &own), (0, &Bytes::new()), (0, &own), (0, &superseded())]),
        script([(0, &other), (0, &Bytes::from_static(&[1; 64]))]),
        script([(0, &own), (0, &Bytes::new()), (0, &own), (0, &probe)]),
        script([(0, &own), (0, &Bytes::new()), (0, &own), (0, &probed)]),
    ]
}
