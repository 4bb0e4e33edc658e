//! The lower stack: link, ring and group joined, and a transcript kept in step with every peer's.
//!
//! ```text
//!        ToNode |   ^ ToMember              (attach)
//!   outbound.rs v   | inbound.rs, change.rs
//!            [ group ]   who is in which group
//!            [ ring  ]   one order            <--- eligible peers ---  change.rs
//!            [ links ]   one hop each         ---- Up, Down -------->  reach.rs, sync.rs, stage.rs
//!      datagram |   ^ datagram              guests: guest.rs
//! ```
//! A node moves and orders sealed bytes; it holds no group key. It believes nobody about who is a
//! member. It verifies every item of the transcript itself, and treats a peer as a member's node
//! only when its own roster says so. Each file is one journey; nothing here decides anything about
//! order, views or keys.

mod change;
mod credentials;
mod early;

mod error;
mod guest;
mod inbound;
mod lines;
mod message;
mod outbound;
mod patience;
mod peer;
mod pieces;
mod reach;
mod refusals;
mod skip;
mod stage;
mod sync;
#[cfg(test)]
mod trials;
mod twice;

pub use error::NodeError;
pub use folkmoot_link::{Exchange, Versions};
pub use folkmoot_ring::{Phase, STORE_KEY_RING_SEQ, STORE_TABLE as RING_TABLE, Timing, stored_ring_seq};
pub use message::{ITEMS_BATCH_BYTES, ITEMS_BATCH_MAX, LOCATORS_MAX, PIECE_BYTES, PIECES_MAX, Place, Sync};
pub use refusals::{REFUSAL_LIFE, REFUSALS_MAX, Refusal, Theirs};
pub use twice::{TWICE_LIFE, Twice};

use attach::{Ground, GroundOutput, ToMember, ToNode, Trace};
use base::{
    ConfigurationId, Digest, Entropy, Head, Instant, Locator, Mutant, NodeId, Persist, Service, StoreKey,
    UnixTime,
};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use folkmoot_attach as attach;
use folkmoot_base as base;
use folkmoot_group::Group;
use folkmoot_identity::Identity;
use folkmoot_link::{IdentityCredentials, LinkError, Links};
use folkmoot_ring::Ring;
use folkmoot_transcript::{Kept, Transcript};
use patience::Patience;
use peer::PeerInfo;
use reach::Reach;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The settings of a node.
#[derive(Debug, Clone)]
pub struct Config {
    /// Its identity key and certificate.
    pub identity: Identity,
    /// The signed charter of its ring: CMS, DER.
    pub charter: Bytes,
    /// Where peers reach it.
    pub locator: Locator,
    /// Where to look for peers at the start.
    pub seeds: Vec<Locator>,
    /// The ring's timeouts.
    pub timing: Timing,
    /// How long a link may be silent.
    pub silence: Duration,
    /// How long the tables of a new configuration may take to merge; at least twice the time that
    /// members wait for a step.
    pub settle: Duration,
    /// What the wall clock reads, in microseconds since 1970: with what the store has, this says
    /// when the process started. Of two processes with one identity, the later one goes on.
    pub started: u64,
    /// How often an absent node on the roster is dialled at first; the wait doubles, up to eight
    /// times this.
    pub lookup: Duration,
    /// The wire versions that it speaks.
    pub versions: Versions,
    /// Keep [`RingEvent`]s for [`Node::take_events`].
    pub observe: bool,
    /// What a mutant does wrong.
    pub danger: Mutant,
}

impl Config {
    /// The usual settings.
    pub fn new(identity: Identity, charter: Bytes, locator: Locator) -> Self {
        Self {
            identity,
            charter,
            locator,
            seeds: Vec::new(),
            timing: Timing::default(),
            silence: Duration::from_millis(1_500),
            settle: patience::SETTLE_DEADLINE,
            started: 0,
            lookup: Duration::from_millis(500),
            versions: Versions::OURS,
            observe: false,
            danger: Mutant::NONE,
        }
    }

    /// Of the links, for a process that started then.
    fn link(&self, transcript: &Transcript, started: u64) -> folkmoot_link::Config {
        let hybrid = transcript.roster().charter().hybrid_links();
        folkmoot_link::Config {
            exchange: if hybrid { Exchange::Hybrid } else { Exchange::Classical },
            silence: self.silence,
            versions: self.versions,
            started,
            danger: self.danger,
            ..folkmoot_link::Config::new(transcript.group())
        }
    }
}

/// What happened on the ring, for checkers of its promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RingEvent {
    /// A message was handed to the ring.
    Submitted {
        /// SHA-256 of it.
        digest: Digest,
        /// The service.
        service: Service,
        /// Whose it is: what one party hands over keeps its order.
        party: u16,
    },
    /// A message was delivered.
    Delivered {
        /// The configuration that numbered it.
        configuration: ConfigurationId,
        /// Its place in it.
        order: u64,
        /// Who sent it.
        sender: NodeId,
        /// The service.
        service: Service,
        /// SHA-256 of it.
        digest: Digest,
        /// Whether it came after the transitional signal.
        transitional: bool,
    },
    /// The transitional signal.
    Transitional {
        /// The configuration that ends.
        from: ConfigurationId,
        /// The nodes that go on together.
        survivors: Vec<NodeId>,
    },
    /// A configuration was installed.
    Regular {
        /// Its id.
        id: ConfigurationId,
        /// Its members.
        members: Vec<NodeId>,
    },
}

/// What the layers of a node did since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// The links.
    pub link: folkmoot_link::Counters,
    /// The ring.
    pub ring: folkmoot_ring::Counters,
}

/// One node.
#[derive(Debug)]
pub struct Node {
    config: Config,
    me: NodeId,
    transcript: Transcript,
    /// The mark of a transcript that has nothing but its charter.
    founding: peer::Mark,
    /// Which parts of it the store has.
    kept: Kept,
    /// The transcript, plus items that are verified and on their way through the ring.
    staged: Option<Transcript>,
    /// The digests of those items.
    on_way: BTreeSet<Digest>,
    /// The digests of what was provided to others in this configuration.
    provided: BTreeSet<Digest>,
    /// The request of the admission whose certificate the links show.
    admission: Option<Digest>,
    /// Long items that others ask for piece by piece.
    offered: pieces::Offered,
    links: Links<IdentityCredentials>,
    ring: Ring,
    group: Group,
    peers: BTreeMap<NodeId, PeerInfo>,
    reach: Reach,
    refusals: BTreeMap<Locator, Refusal>,
    twice: BTreeMap<NodeId, Twice>,
    /// The start of a later process with this identity: this one has stopped.
    superseded: Option<u64>,
    members: Vec<NodeId>,
    backlog: VecDeque<outbound::Submission>,
    backlog_bytes: usize,
    announce: bool,
    mark_due: bool,
    /// What leads us on or over, until nobody shares our order.
    way: Option<skip::Way>,
    /// The head to whose line our person goes over.
    resolves: Option<Head>,
    patience: Patience,
    wall: early::Wall,
    refused: u64,
    events: Vec<RingEvent>,
    out: VecDeque<GroundOutput>,
}

impl Node {
    /// A node, started from its store.
    ///
    /// # Errors
    /// [`NodeError`]: charter, transcript or ring number in the store are not valid.
    pub fn new(
        config: Config,
        stored: &[(StoreKey, Bytes)],
        now: Instant,
        entropy: &mut dyn Entropy,
    ) -> Result<Self, NodeError> {
        let founded = Transcript::founded(&config.charter)?;
        let founding = founded.mark();
        let mut transcript = founded.restore(stored)?;
        transcript.endanger(config.danger);
        let me = config.identity.node();
        let ring_seq = twice::kept(STORE_KEY_RING_SEQ, stored)?.unwrap_or_default();
        let started = twice::number(config.started, stored)?;
        let own = credentials::own(&config.identity, &transcript);
        let link = config.link(&transcript, started);
        let ring = folkmoot_ring::Config {
            timing: config.timing,
            danger: config.danger,
            ..folkmoot_ring::Config::new(me)
        };
        let group = folkmoot_group::Config { me, danger: config.danger };
        let mut node = Self {
            me,
            links: Links::new(link, own, entropy),
            ring: Ring::new(ring, ring_seq, now),
            group: Group::new(group),
            peers: BTreeMap::new(),
            reach: Reach::new(&config, stored, now),
            refusals: BTreeMap::new(),
            twice: BTreeMap::new(),
            superseded: None,
            members: Vec::new(),
            backlog: VecDeque::new(),
            backlog_bytes: 0,
            announce: false,
            mark_due: false,
            way: None,
            resolves: None,
            patience: Patience::default(),
            wall: early::Wall::default(),
            refused: 0,
            events: Vec::new(),
            out: VecDeque::new(),
            admission: transcript.roster().member(&me.member()).map(|held| held.request),
            founding,
            kept: Kept::of(stored),
            staged: None,
            on_way: BTreeSet::new(),
            provided: BTreeSet::new(),
            offered: pieces::Offered::default(),
            transcript,
            config,
        };
        node.persist(twice::row(started));
        // A stranger takes part with nobody until its roster has it. What it hears of the
        // transcript waits for its ring.
        if !node.is_rostered(&node.me) {
            node.ring.expect_nobody(now);
        }
        node.tell_mark(true);
        Ok(node)
    }

    /// This node.
    pub fn id(&self) -> NodeId {
        self.me
    }

    /// The transcript as this node verified it.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The status of the ring.
    pub fn ring(&self) -> folkmoot_ring::Status {
        self.ring.status()
    }

    /// Counts of what its layers did so far.
    pub fn counters(&self) -> Counters {
        Counters { link: self.links.counters(), ring: self.ring.counters() }
    }

    /// Where a peer's link is, if it is up.
    pub fn locator(&self, node: &NodeId) -> Option<Locator> {
        self.peers.get(node).map(|peer| peer.at.clone())
    }

    /// What happened on the ring since the last call; empty unless [`Config::observe`].
    pub fn take_events(&mut self) -> Vec<RingEvent> {
        core::mem::take(&mut self.events)
    }

    /// Says whatever it likes to every peer, as a node that floods its group does.
    #[doc(hidden)]
    pub fn danger_say(&mut self, now: Instant, message: &Sync, entropy: &mut dyn Entropy) {
        let peers: Vec<NodeId> = self.peers.keys().copied().collect();
        for peer in peers {
            self.send_sync(now, peer, message);
        }
        self.settle(now, entropy);
    }

    /// The links, for a node that lies to its peers' links.
    #[doc(hidden)]
    pub fn danger_links(&mut self) -> &mut Links<IdentityCredentials> {
        &mut self.links
    }

    /// Runs the outputs of each layer, the lowest last, so that frames of one turn share datagrams.
    fn settle(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        loop {
            if let Some(output) = self.group.poll_output() {
                self.hear_group(now, output, entropy);
            } else if let Some(output) = self.ring.poll_output() {
                self.hear_ring(now, output, entropy);
            } else if self.leave_if_alone(now, entropy) {
            } else if self.mark_due {
                self.tell_mark(false);
            } else if core::mem::take(&mut self.announce) {
                self.announce_mark(now);
            } else if let Some(output) = self.links.poll_output() {
                self.hear_link(now, output, entropy);
            } else {
                return;
            }
        }
    }

    fn tell(&mut self, word: ToMember) {
        self.out.push_back(GroundOutput::Member(word));
    }

    fn persist(&mut self, persist: Persist) {
        self.out.push_back(GroundOutput::Persist(persist));
    }

    fn trace(&mut self, layer: &'static str, text: String) {
        self.out.push_back(GroundOutput::Trace(Trace { layer, text }));
    }

    /// An input was refused. It is logged once for each power of two, so that a flood of garbage
    /// does not become a flood of lines.
    fn refuse(&mut self, layer: &'static str, error: &dyn core::fmt::Display) {
        self.refused = self.refused.saturating_add(1);
        if self.refused.is_power_of_two() {
            let text = format!("refused ({} so far): {error}", self.refused);
            self.trace(layer, text);
        }
    }
}

impl Ground for Node {
    fn member(&mut self, now: Instant, message: ToNode, entropy: &mut dyn Entropy) {
        if self.superseded.is_some() {
            return;
        }
        self.hear_member(now, message, entropy);
        self.settle(now, entropy);
    }

    fn datagram(&mut self, now: Instant, from: Locator, datagram: BytesMut, entropy: &mut dyn Entropy) {
        if self.superseded.is_some() {
            return;
        }
        let input = folkmoot_link::Input::Datagram { from, bytes: datagram };
        if let Err(error) = self.links.handle(now, input, entropy) {
            match &error {
                LinkError::WireOtherForm { at, theirs } => {
                    self.turned_away(now, at, None, Theirs::Form(*theirs));
                }
                LinkError::PeerVersions { at, peer, ours, theirs } => {
                    let theirs = Theirs::Versions { ours: *ours, theirs: *theirs };
                    self.turned_away(now, at, Some(*peer), theirs);
                }
                _ => {}
            }
            self.refuse("link", &error);
        }
        self.settle(now, entropy);
    }

    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy) {
        if self.superseded.is_some() {
            return;
        }
        self.hear_clock(time);
        self.settle(now, entropy);
    }

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        if self.superseded.is_some() {
            return;
        }
        if self.links.poll_timeout().is_some_and(|at| at <= now) {
            let done = self.links.handle(now, folkmoot_link::Input::Timeout, entropy);
            if let Err(error) = done {
                self.refuse("link", &error);
            }
            self.settle(now, entropy);
        }
        if self.ring.poll_timeout().is_some_and(|at| at <= now) {
            self.ring.timeout(now, entropy);
            self.settle(now, entropy);
        }
        if self.reach.next() <= now {
            self.look_up(now, entropy);
            self.lose_patience(now);
        }
        self.settle(now, entropy);
    }

    fn is_busy(&self) -> bool {
        !self.backlog.is_empty() || self.ring.status().queued_bytes > 0
    }

    fn farewell(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let peers: Vec<NodeId> = self.peers.keys().copied().collect();
        for node in peers {
            self.link_input(now, folkmoot_link::Input::Hangup { node }, entropy);
        }
        self.settle(now, entropy);
    }

    fn poll_output(&mut self) -> Option<GroundOutput> {
        self.out.pop_front()
    }

    fn superseded(&self) -> Option<u64> {
        self.superseded
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if self.superseded.is_some() {
            return None;
        }
        [self.links.poll_timeout(), self.ring.poll_timeout(), Some(self.reach.next())]
            .into_iter()
            .flatten()
            .min()
    }
}
