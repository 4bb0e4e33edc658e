//! One node under test, `ME`, and the test as its peer, `PEER`, who represents every ring of the
//! two.

use crate::harness::{Rng, node};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use folkmoot_base::{ConfigurationId, Instant, Mutant, NodeId};
use folkmoot_ring::data::{Class, Head, Part, Record, RingHandle, put_piece};
use folkmoot_ring::message::{CommitToken, Control, Frame, Join, OldRing, Token, Visited};
use folkmoot_ring::{Config, Contribution, Output, Phase, Ring, RingError};

pub const PEER: usize = 0;
pub const ME: usize = 1;
pub const OUTSIDER: usize = 2;

/// The node under test, and what its peer remembers.
pub struct Pair {
    pub ring: Ring,
    pub now: Instant,
    pub id: ConfigurationId,
    /// Of the attempt that the peer proposes next.
    pub next: ConfigurationId,
    pub token_seq: u64,
    /// The number of the peer's last packet, and of the last record; the last place.
    pub number: u64,
    pub records: u64,
    pub places: u64,
    /// What this node contributed to the attempt.
    pub contribution: Contribution,
    pub rng: Rng,
    /// What the peer and this node say of their paths.
    pub paths: [u16; 2],
    /// What they say of their round trips.
    pub trips: [u16; 2],
}

/// What the peer contributes, always.
pub const PEERS: [u8; 32] = [7; 32];

/// The whole state except the count of refusals.
pub fn picture(ring: &Ring) -> String {
    format!("{ring:?}").replace(&format!("refused: {}", ring.status().refused_frames), "")
}

/// A JOIN of the peer while it gathers; it wants all nodes that it hears.
pub fn join(number: u64, hears: &[usize]) -> Join {
    let hears: Vec<NodeId> = hears.iter().map(|i| node(*i)).collect();
    Join {
        wants: hears.clone(),
        hears,
        bound: 0,
        number,
        ring_seq: 5,
        current: None,
        last: None,
        trip: 0,
        entry: None,
    }
}

pub fn begun(head: Head, class: Class) -> BytesMut {
    let mut frame = BytesMut::new();
    head.begin(class, &mut frame);
    frame
}

pub fn data(head: Head, pieces: &[(&[u8], bool, bool)]) -> Bytes {
    let mut frame = begun(head, Class::Agreed);
    for (bytes, first, last) in pieces {
        put_piece(&mut frame, Part { first: *first, last: *last, message: 7 }, &[bytes]);
    }
    frame.freeze()
}

impl Pair {
    /// Alone and operational; the link to the peer has just come up.
    pub fn alone() -> Self {
        Self::alone_with(Mutant::NONE)
    }

    pub fn alone_with(danger: Mutant) -> Self {
        let mut ring = Ring::new(Config { danger, ..Config::new(node(ME)) }, 0, Instant(0));
        let now = Instant(0) + Duration::from_secs(1);
        ring.timeout(now, &mut Rng(1));
        assert_eq!(ring.status().phase, Phase::Operational);
        let id = ring.status().configuration.unwrap();
        let next = ConfigurationId { ring_seq: 100, representative: node(PEER), nonce: [2; 16] };
        let (number, records, places) = (0, 0, 0);
        let (paths, trips, rng) = ([1_452; 2], [0; 2], Rng(1));
        let (token_seq, contribution) = (1, Contribution::new([0; 32]));
        let mut pair =
            Self { ring, now, id, next, token_seq, number, records, places, contribution, rng, paths, trips };
        pair.ring.peer(now, node(PEER), true);
        pair.ring.path(now, node(PEER), 1_452);
        pair.outputs();
        pair
    }

    /// Gathering; all agree, and the commit token is awaited.
    pub fn agreed() -> Self {
        let mut pair = Self::alone();
        pair.takes(Control::Join(join(1, &[PEER, ME])));
        assert_eq!(pair.ring.status().phase, Phase::Gather);
        pair
    }

    pub fn commit(&self, old_rings: Vec<OldRing>, rotation: u8) -> CommitToken {
        let both = [Contribution::new(PEERS), self.contribution.clone()];
        let contributions = both.into_iter().take(old_rings.len()).collect();
        let members = vec![node(PEER), node(ME)];
        let mtus = self.paths.into_iter().take(old_rings.len()).collect();
        let trips = self.trips.into_iter().take(old_rings.len()).collect();
        CommitToken { id: self.next, members, old_rings, contributions, mtus, trips, rotation }
    }

    /// Recovering; the peer brought `old ring`.
    pub fn recovering(old_ring: OldRing) -> Self {
        let mut pair = Self::agreed();
        pair.recover(old_ring);
        pair
    }

    /// Both rotations of the commit token.
    pub fn recover(&mut self, old_ring: OldRing) {
        let pair = self;
        let mine = pair.committed(old_ring);
        let second = pair.commit(vec![old_ring, mine], 2);
        pair.id = second.id;
        pair.takes(Control::Commit(second));
        assert_eq!(pair.ring.status().phase, Phase::Recover);
    }

    /// Takes the first COMMIT; returns what this node brings.
    pub fn committed(&mut self, old_ring: OldRing) -> OldRing {
        let first = self.commit(vec![old_ring], 1);
        self.takes_quietly(Control::Commit(first));
        assert_eq!(self.ring.status().phase, Phase::Commit);
        let sent = self.outputs().into_iter().find_map(|output| match output {
            Output::Send { frame, .. } => match Frame::decode(frame) {
                Ok(Frame::Control(Control::Commit(token))) => Some(token),
                _ => None,
            },
            _ => None,
        });
        let sent = sent.unwrap();
        self.contribution = sent.contribution(&node(ME)).unwrap().clone();
        *sent.old_ring(&node(ME)).unwrap()
    }

    /// In a configuration with the peer; `recovered` is what the peer sent of an old ring. Returns
    /// what was delivered on the way.
    pub fn installed(old_ring: OldRing, recovered: Option<Bytes>) -> (Self, Vec<Bytes>) {
        let mut pair = Self::recovering(old_ring);
        if let Some(old) = recovered {
            let mut frame = begun(pair.head(), Class::Recovered);
            frame.extend_from_slice(&old);
            pair.sends(frame.freeze());
        }
        let delivered = pair.install();
        (pair, delivered)
    }

    /// The ENDs, and what is delivered when all have them.
    pub fn install(&mut self) -> Vec<Bytes> {
        let end = begun(self.head(), Class::End).freeze();
        self.sends(end);
        self.passes();
        let delivered = self.passes();
        assert_eq!(self.ring.status().phase, Phase::Operational);
        assert_eq!(self.ring.status().members, [node(PEER), node(ME)]);
        delivered
    }

    pub fn together() -> Self {
        Self::installed(OldRing::default(), None).0
    }

    /// The header of the peer's next packet.
    pub fn head(&mut self) -> Head {
        self.number += 1;
        Head { number: self.number, sender: PEER as u8, ring: RingHandle::of(&self.id.nonce) }
    }

    /// The record of the peer's packets since the last one.
    pub fn record(&mut self, count: u16) -> Bytes {
        self.records += 1;
        let first = self.number + 1 - u64::from(count);
        let (number, place) = (self.records, self.places + 1);
        self.places += u64::from(count);
        let record = Record { number, place, source: PEER as u8, first, count };
        record.frame(RingHandle::of(&self.id.nonce), BytesMut::new())
    }

    pub fn token(&self) -> Token {
        let held = u32::try_from(self.places).unwrap();
        Token {
            ring: self.id.nonce,
            token_seq: self.token_seq + 1,
            records: self.records,
            places: self.places,
            members: [1, 2].map(|passes| Visited { held, passes, record: None }).into_iter().collect(),
            sent: 0,
            backlog: 1,
            quiet: 0,
            requests: vec![],
        }
    }

    /// The peer passes the token; every node has all packets. Returns what was delivered.
    pub fn passes(&mut self) -> Vec<Bytes> {
        let token = self.token();
        self.token_seq += 2;
        self.takes_quietly(Control::Token(token));
        self.heard()
    }

    /// What was delivered, and what the token that came out says.
    fn heard(&mut self) -> Vec<Bytes> {
        let mut delivered = Vec::new();
        for output in self.outputs() {
            match output {
                Output::Deliver(delivery) => delivered.push(delivery.payload.freeze()),
                Output::Send { frame, .. } => {
                    if let Ok(Frame::Control(Control::Token(token))) = Frame::decode(frame) {
                        (self.records, self.places) = (token.records, token.places);
                    }
                }
                _ => {}
            }
        }
        delivered
    }

    /// A packet of the peer, and its record. Returns what was delivered.
    pub fn sends(&mut self, frame: Bytes) -> Vec<Bytes> {
        let record = self.record(1);
        let mut delivered = self.hears(frame);
        delivered.extend(self.hears(record));
        delivered
    }

    /// A legal frame of the peer. Returns what was delivered.
    pub fn hears(&mut self, frame: Bytes) -> Vec<Bytes> {
        self.ring.frame(self.now, node(PEER), frame, &mut Rng(1)).unwrap();
        let payload = |output| match output {
            Output::Deliver(delivery) => Some(delivery.payload.freeze()),
            _ => None,
        };
        self.outputs().into_iter().filter_map(payload).collect()
    }

    pub fn takes(&mut self, control: Control) {
        self.takes_quietly(control);
        self.outputs();
    }

    pub fn takes_quietly(&mut self, control: Control) {
        self.ring.frame(self.now, node(PEER), control.encode(), &mut self.rng).unwrap();
    }

    pub fn outputs(&mut self) -> Vec<Output> {
        std::iter::from_fn(|| self.ring.poll_output()).collect()
    }

    /// The rule that `frame` breaks; the state has not changed.
    pub fn breaks(&mut self, from: usize, frame: Bytes) -> &'static str {
        let before = picture(&self.ring);
        let refused = self.ring.frame(self.now, node(from), frame, &mut Rng(1));
        assert_eq!(picture(&self.ring), before);
        assert!(self.outputs().is_empty());
        match refused {
            Err(RingError::PeerIllegal { peer, rule }) if peer == node(from) => rule,
            other => panic!("not refused by a rule: {other:?}"),
        }
    }

    /// `control` of the peer is legal, and changes nothing.
    pub fn ignores(&mut self, control: Control) {
        let before = picture(&self.ring);
        self.takes_quietly(control);
        assert_eq!(picture(&self.ring), before);
        assert!(self.outputs().is_empty());
    }
}
