//! The lower stack: link, ring and group joined, and a transcript kept in step with every peer's.
//!
//! ```text
//!        ToNode |   ^ ToMember              (attach)
//!   outbound.rs v   | inbound.rs, change.rs
//!            [ group ]   who is in which group
//!            [ ring  ]   one order            <--- eligible peers ---  change.rs
//!            [ links ]   one hop each         ---- Up, Down -------->  change.rs, sync.rs, lookup.rs
//!      datagram |   ^ datagram              guests: guest.rs
//! ```
//! A node moves and orders sealed bytes; it holds no group key. It believes nobody about who is a
//! member. It verifies every item of the transcript itself, and treats a peer as a member's node
//! only when its own roster says so.
//!
//! [`Node`] holds the three layers and the parts (`parts/`), each of which owns its state. Each
//! file beside this one is one journey: what goes from layer to part, from part to part and back.
//! Nothing here decides anything about order, views or keys.

mod carried;
mod change;
mod config;
mod credentials;
mod error;
mod events;
mod ground;
mod guest;
mod inbound;
mod indoors;
mod items;
mod lines;
mod lookup;
mod message;
mod outbound;
mod parts;
mod skip;
mod strays;
mod sync;
#[cfg(test)]
mod trials;

pub use carried::Carrying;
pub use config::Config;
pub use error::NodeError;
pub use events::{Counters, RingEvent};
pub use folkmoot_link::{Exchange, Path, Versions};
pub use folkmoot_ring::{Phase, STORE_KEY_RING_SEQ, STORE_TABLE as RING_TABLE, Timing, stored_ring_seq};
pub use message::{ITEMS_BATCH_BYTES, ITEMS_BATCH_MAX, LOCATORS_MAX, PIECE_BYTES, PIECES_MAX, Place, Sync};
pub use parts::{ADDRESSES_MAX, Named, REFUSAL_LIFE, REFUSALS_MAX, Refusal, TWICE_LIFE, Theirs, Twice};

use base::{Entropy, Instant, Lead, Locator, NodeId, Service, StoreKey};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_group::Group;
use folkmoot_link::{IdentityCredentials, Links};
use folkmoot_ring::Ring;
use folkmoot_transcript::Transcript;
use parts::{
    Accounts, Backlog, Carried, Orders, Outbox, Patience, Peers, Pieces, Reach, Records, Refusals,
    Submission, Syncing, Twins, Way, start_number, start_row, stored_number,
};

/// One node: the three layers, the parts, and what goes between them.
#[derive(Debug)]
pub struct Node {
    config: Config,
    me: NodeId,
    /// The start of a later process with this identity: this one has stopped.
    superseded: Option<u64>,
    links: Links<IdentityCredentials>,
    ring: Ring,
    group: Group,
    records: Records,
    carried: Carried,
    peers: Peers,
    syncing: Syncing,
    pieces: Pieces,
    reach: Reach,
    way: Way,
    accounts: Accounts,
    backlog: Backlog,
    patience: Patience,
    refusals: Refusals,
    twins: Twins,
    out: Outbox,
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
        let records = Records::new(&config, stored)?;
        let me = config.identity.node();
        let ring_seq = stored_number(STORE_KEY_RING_SEQ, stored)?.unwrap_or_default();
        let started = start_number(config.started, stored)?;
        let own = credentials::own(&config.identity, records.transcript());
        let link = config.link(records.transcript(), started);
        let ring = folkmoot_ring::Config {
            timing: config.timing,
            danger: config.danger,
            ..folkmoot_ring::Config::new(me)
        };
        let ring_charter = records.transcript().group();
        let carried = Carried::new(&config, ring_charter, stored)?;
        let group = folkmoot_group::Config {
            carries: carried.ids().collect(),
            danger: config.danger,
            ..folkmoot_group::Config::new(me, ring_charter, config.signatures())
        };
        let mut node = Self {
            me,
            links: Links::new(link, own, entropy),
            ring: Ring::new(ring, ring_seq, now),
            group: Group::new(group),
            peers: Peers::default(),
            syncing: Syncing::default(),
            pieces: Pieces::default(),
            reach: Reach::new(&config, stored, now),
            refusals: Refusals::default(),
            twins: Twins::default(),
            superseded: None,
            accounts: Accounts::new(config.danger),
            backlog: Backlog::default(),
            way: Way::default(),
            patience: Patience::new(config.settle),
            out: Outbox::default(),
            records,
            carried,
            config,
        };
        node.begin_carrying(ring_charter);
        node.out.persist(start_row(started));
        // A stranger takes part with nobody until its roster has it. What it hears of the
        // transcript waits for its ring.
        if !node.records.is_rostered(&node.me) {
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
        self.records.transcript()
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
        self.peers.at(node).cloned()
    }

    /// Whether the packets of this node go to all others of its configuration by multicast; `None`:
    /// the host has no place for that, or no configuration of three stands.
    pub fn reaches_all(&self) -> Option<bool> {
        self.links.reaches_all()
    }

    /// The path to a peer, if its link is up.
    pub fn path(&self, node: &NodeId) -> Option<Path> {
        self.links.path(node)
    }

    /// The paths to all peers whose links are up.
    pub fn paths(&self) -> Vec<(NodeId, Path)> {
        self.peers.iter().filter_map(|node| Some((node, self.links.path(&node)?))).collect()
    }

    /// Refusals of the last [`REFUSAL_LIFE`], by locator.
    pub fn refusals(&self, now: Instant) -> Vec<Refusal> {
        self.refusals.fresh(now)
    }

    /// The host names at which somebody is looked for, and what is known of their addresses.
    pub fn names(&self) -> Vec<Named> {
        self.reach.names()
    }

    /// Nodes that were seen to run twice in the last [`TWICE_LIFE`].
    pub fn twice(&self, now: Instant) -> Vec<Twice> {
        self.twins.fresh(now)
    }

    /// From now on [`RingEvent`]s are kept for [`Self::take_events`].
    pub fn observe(&mut self) {
        self.out.observe();
    }

    /// What happened on the ring since the last call; empty unless [`Self::observe`] was called.
    pub fn take_events(&mut self) -> Vec<RingEvent> {
        self.out.take_noted()
    }

    /// Says whatever it likes to every peer, as a node that floods its group does.
    #[doc(hidden)]
    pub fn danger_say(&mut self, now: Instant, message: &Sync, entropy: &mut dyn Entropy) {
        for peer in self.peers.all() {
            self.send_sync(now, peer, message);
        }
        self.settle(now, entropy);
    }

    /// Orders whatever it likes, as a carrier does that says words in the names of others.
    #[doc(hidden)]
    pub fn danger_order(
        &mut self,
        now: Instant,
        party: u16,
        (lead, payload): (Lead, Bytes),
        entropy: &mut dyn Entropy,
    ) {
        self.submit(now, Submission { party, service: Service::Agreed, lead, payload, account: 0 });
        self.settle(now, entropy);
    }

    /// The links, for a node that lies to its peers' links.
    #[doc(hidden)]
    pub fn danger_links(&mut self) -> &mut Links<IdentityCredentials> {
        &mut self.links
    }

    /// The records, and where what they order goes.
    fn ordering(&mut self) -> (&mut Records, Orders<'_>) {
        let Self { records, group, out, .. } = self;
        (records, Orders { group, out })
    }

    /// Runs the outputs of each layer, the lowest last, so that frames of one turn share datagrams.
    fn settle(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        loop {
            if let Some((charter, output)) = self.carried.poll_output() {
                self.hear_carried(now, charter, output);
            } else if let Some(output) = self.group.poll_output() {
                self.hear_group(now, output, entropy);
            } else if let Some(output) = self.ring.poll_output() {
                self.hear_ring(now, output, entropy);
            } else if self.leave_if_alone(now, entropy) || self.carried.tell_marks() {
            } else if self.records.is_mark_due() {
                self.tell_mark(false);
            } else if self.records.take_announce() {
                self.announce_mark(now);
            } else if let Some(output) = self.links.poll_output() {
                self.hear_link(now, output, entropy);
            } else {
                return;
            }
        }
    }
}
