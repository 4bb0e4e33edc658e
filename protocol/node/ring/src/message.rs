//! The bytes of the ring.
//!
//! | message | sender → receiver | when |
//! |---|---|---|
//! | DATA: messages | their sender → all other members; any member → all, on request | at once if the sender's others have places, or holding the token |
//! | DATA: record | member → all other members; any member → all, on request | holding the token |
//! | TOKEN | member → the next in the ring | after its visit |
//! | HURRY | member with something to send → who holds the token, by the rule | the ring is idle |
//! | ASK | member that misses the token → every member that it has not heard since; in answer | the token is late |
//! | HELD | member that holds a safe message → all other members | the ring is far |
//! | JOIN | gathering node → every eligible node | gather, every `join_repeat` |
//! | JOIN | any node → an eligible node outside its ring | when what it says changes, then every `report_repeat`; in answer |
//! | COMMIT | member → the next in the ring; twice round | the set is agreed |
//!
//! DATA has a layout of its own: [`crate::data`]. The others:
//! ```text
//! version 1 | kind 1..6 | TLS presentation language
//! ```

use crate::config::{
    FAR, GAP_PACKETS_MAX, PACKET_NUMBER_MAX, REQUESTS_MAX, RING_SEQ_MAX, STORE_PACKETS_MAX, TOKEN_SEQ_MAX,
};
use crate::data::{Data, path_bytes};
use crate::key::Contribution;
use crate::times::second_longest;
pub use crate::visits::{Recent, Visited, Visits};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use folkmoot_base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::limits::{LONG_FRAME_BYTES_MAX, NODES_MAX};
use folkmoot_base::{ConfigurationId, Danger, DecodeError, Mutant, NodeId, codec};

/// No member: in [`Request::source`], where a record is asked for.
pub const NOBODY: u8 = u8::MAX;

/// Identifies a ring on all frames but DATA: the nonce of its configuration's id.
pub type RingNonce = [u8; 16];

/// All frames except DATA.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
#[expect(clippy::large_enum_variant, reason = "a token comes with every visit: it takes no allocation")]
pub enum Control {
    /// Says who is to be in the next configuration.
    #[tls_codec(discriminant = 1)]
    Join(Join),
    /// Makes the next configuration known.
    #[tls_codec(discriminant = 2)]
    Commit(CommitToken),
    /// Gives the right to number messages.
    #[tls_codec(discriminant = 3)]
    Token(Token),
    /// Asks not to hold the token.
    #[tls_codec(discriminant = 4)]
    Hurry(Hurry),
    /// Asks whether the receiver is there.
    #[tls_codec(discriminant = 5)]
    Ask(Ask),
    /// Says what the receiver need not wait for the token to hear.
    #[tls_codec(discriminant = 6)]
    Held(Held),
}

/// JOIN.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Join {
    /// The nodes that the sender hears, sorted, the sender among them: no hearsay.
    pub hears: Vec<NodeId>,
    /// Those of them with which it wants to be, or is, in one configuration; sorted, the sender
    /// among them.
    pub wants: Vec<NodeId>,
    /// 1 if it is in a configuration of exactly these, or in an attempt at one; 0 while it gathers.
    pub bound: u8,
    /// In each process of the sender it grows with each gather and each change of what it says, so
    /// that late JOINs are recognised.
    pub number: u64,
    /// The highest ring number that it knows.
    pub ring_seq: u64,
    /// The configuration that it has installed.
    pub current: Option<ConfigurationId>,
    /// How far the ring or attempt that it left for this gather came.
    pub last: Option<Last>,
    /// The longest round trip that it has measured, in milliseconds.
    pub trip: u16,
    /// RING-42: what it would add to COMMIT, for the node that would make it.
    pub entry: Option<Entry>,
}

/// What a member adds to COMMIT, said beforehand.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Entry {
    /// What it brings.
    pub old_ring: OldRing,
    /// What it adds to the secret of the new ring.
    pub contribution: Contribution,
    /// As in COMMIT.
    pub mtu: u16,
    /// As in COMMIT.
    pub trip: u16,
}

/// In [`Last::late`]: nothing came any more.
pub const LATE: u8 = 1;
/// In [`Last::late`]: the token came, but nothing new reached everybody.
pub(crate) const STALLED: u8 = 2;

/// How far a ring or attempt came at one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Last {
    /// Which ring or attempt.
    pub ring: RingNonce,
    /// The number of this node's last pass, counting all passes of the commit token and the token.
    pub step: u64,
    /// The node it passed to.
    pub next: NodeId,
    /// Why the node left: [`LATE`], [`STALLED`], or 0 for anything else.
    pub late: u8,
    /// It held all places up to here.
    pub held: u64,
}

/// COMMIT.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct CommitToken {
    /// The new configuration.
    pub id: ConfigurationId,
    /// Its members, sorted.
    pub members: Vec<NodeId>,
    /// What the members bring, in the order of the visits ([`visiting_order`]). It is complete from
    /// the second rotation on.
    pub old_rings: Vec<OldRing>,
    /// What the members add to the secret of the new ring, in the same order.
    pub contributions: Vec<Contribution>,
    /// The longest datagram, in bytes, that all paths of a member to the other members carry, as it
    /// says; one for each of `old_rings`. The packets of the new configuration fit the smallest.
    pub mtus: Vec<u16>,
    /// The longest round trip, in milliseconds, that a member has measured to another member; one
    /// for each of `old_rings`. The times of the new configuration follow the second longest.
    pub trips: Vec<u16>,
    /// 1: collecting. 2: all of this is known.
    pub rotation: u8,
}

/// What a member brings along from its previous configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct OldRing {
    /// Which one; none if it has just started.
    pub id: Option<ConfigurationId>,
    /// It holds all places up to here: the records and the packets.
    pub held: u64,
    /// It has delivered up to here.
    pub delivered: u64,
    /// It knows that all members of the old configuration hold all places up to here.
    pub safe: u64,
    /// Members of the old configuration, by index, whose packets it must deliver even after a hole.
    pub obligations: u64,
}

/// TOKEN.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Token {
    /// Which ring.
    pub ring: RingNonce,
    /// Grows by one with each pass.
    pub token_seq: u64,
    /// The number of the last record.
    pub records: u64,
    /// The last place that a record has given.
    pub places: u64,
    /// What each member said at its last visit, and when that was; in the order of the members.
    pub members: Visits,
    /// Packets sent in the last rotation.
    pub sent: u32,
    /// Packets waiting at all members.
    pub backlog: u32,
    /// Visits in a row at which nothing was new.
    pub quiet: u16,
    /// What a member lacks, ascending.
    pub requests: Vec<Request>,
}

/// Something that a member lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Request {
    /// Whose packet: the index of the member; or [`NOBODY`]: a record.
    pub source: u8,
    /// Its number.
    pub number: u32,
}

/// HURRY.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Hurry {
    /// Which ring.
    pub ring: RingNonce,
}

/// ASK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Ask {
    /// Which ring.
    pub ring: RingNonce,
    /// 1 if it answers an ASK, and is not answered; 0 otherwise.
    pub answer: u8,
}

/// HELD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Held {
    /// Which ring.
    pub ring: RingNonce,
    /// The sender holds all places up to here.
    pub held: u32,
}

/// Any frame.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a token comes with every visit: it takes no allocation")]
pub enum Frame {
    /// DATA, and the record behind it, if there is one.
    Data(Data, Option<Data>),
    /// Any other frame.
    Control(Control),
}

impl Frame {
    /// Reads a frame. The result is legal as far as the frame alone can tell (RING-01, RING-02).
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(frame: Bytes) -> Result<Self, DecodeError> {
        if frame.len() > LONG_FRAME_BYTES_MAX {
            return Err(DecodeError::TooLong { got: frame.len(), most: LONG_FRAME_BYTES_MAX });
        }
        if Data::is_data(&frame) {
            return Data::decode_joined(frame).map(|(packet, record)| Self::Data(packet, record));
        }
        let control: Control = codec::decode(&frame)?;
        if control.is_legal() { Ok(Self::Control(control)) } else { Err(DecodeError::Malformed) }
    }
}

impl Control {
    /// The frame.
    pub fn encode(&self) -> Bytes {
        codec::encode(self).into()
    }

    /// The frame, in `room`, which is empty.
    pub(crate) fn encode_into(&self, mut room: BytesMut) -> Bytes {
        codec::encode_into(self, &mut room);
        room.freeze()
    }

    fn is_legal(&self) -> bool {
        match self {
            Self::Join(join) => join.is_legal(),
            Self::Commit(token) => token.is_legal(),
            Self::Token(token) => token.is_legal(),
            Self::Hurry(_) | Self::Held(_) => true,
            Self::Ask(ask) => ask.answer <= 1,
        }
    }
}

fn is_sorted_set(nodes: &[NodeId]) -> bool {
    nodes.len() <= NODES_MAX && nodes.is_sorted_by(|a, b| a < b)
}

impl Join {
    /// Whether its sender hears `node`.
    pub fn hears(&self, node: &NodeId) -> bool {
        self.hears.binary_search(node).is_ok()
    }

    /// Whether it asks for `node`: its sender gathers, and wants to be with `node`.
    pub(crate) fn asks_for(&self, node: &NodeId) -> bool {
        self.bound == 0 && self.wants.binary_search(node).is_ok()
    }

    /// RING-04, RING-10: whether `node` can have said this: `node` is in both sets, and wants no
    /// node that it does not hear.
    pub(crate) fn broken_rule(&self, node: &NodeId) -> Option<&'static str> {
        let own = self.hears(node) && self.wants.binary_search(node).is_ok();
        if !own {
            return Some("RING-04");
        }
        (!self.wants.iter().all(|wanted| self.hears(wanted))).then_some("RING-10")
    }

    fn is_legal(&self) -> bool {
        is_sorted_set(&self.hears)
            && is_sorted_set(&self.wants)
            && self.bound <= 1
            && self.ring_seq <= RING_SEQ_MAX
            && self.last.is_none_or(|last| last.late <= STALLED)
            && self.entry.as_ref().is_none_or(|entry| entry.old_ring.is_legal())
    }
}

/// The order in which a ring visits its members, the representative first: ascending or descending,
/// as the nonce says. So the neighbours of a member change from attempt to attempt, and it becomes
/// plain at which node passes fail again and again.
pub(crate) fn visiting_order(members: &[NodeId], ring: &RingNonce) -> Vec<NodeId> {
    let mut order = members.to_vec();
    if ring.first().is_some_and(|byte| byte & 1 == 1) {
        order.reverse();
        order.rotate_right(1.min(members.len()));
    }
    order
}

/// The member before and the member after `me` in `order`.
pub fn neighbours(order: &[NodeId], me: &NodeId) -> Option<(NodeId, NodeId)> {
    let place = order.iter().position(|node| node == me)?;
    let last = order.len().checked_sub(1)?;
    let before = place.checked_sub(1).unwrap_or(last);
    let after = if place == last { 0 } else { place.checked_add(1)? };
    Some((*order.get(before)?, *order.get(after)?))
}

impl CommitToken {
    /// The members in the order of the old rings.
    pub fn order(&self) -> Vec<NodeId> {
        visiting_order(&self.members, &self.id.nonce)
    }

    /// The old ring of `node`, if it has one yet.
    pub fn old_ring(&self, node: &NodeId) -> Option<&OldRing> {
        self.old_rings.get(self.turn(node)?)
    }

    /// The contribution of `node`, if it has one yet.
    pub fn contribution(&self, node: &NodeId) -> Option<&Contribution> {
        self.contributions.get(self.turn(node)?)
    }

    /// What `node` has added, if it has.
    pub(crate) fn entry(&self, node: &NodeId) -> Option<Entry> {
        Some(Entry {
            old_ring: *self.old_ring(node)?,
            contribution: self.contribution(node)?.clone(),
            mtu: self.mtu_of(node)?,
            trip: self.trip_of(node)?,
        })
    }

    /// Adds what the next member in the order of visits has to add.
    pub(crate) fn add(&mut self, entry: Entry) {
        self.old_rings.push(entry.old_ring);
        self.contributions.push(entry.contribution);
        self.mtus.push(entry.mtu);
        self.trips.push(entry.trip);
    }

    fn turn(&self, node: &NodeId) -> Option<usize> {
        self.order().iter().position(|member| member == node)
    }

    /// What `node` says of its paths, if it has said so yet.
    pub(crate) fn mtu_of(&self, node: &NodeId) -> Option<u16> {
        self.mtus.get(self.order().iter().position(|member| member == node)?).copied()
    }

    /// What `node` says of its round trips, if it has said so yet.
    pub(crate) fn trip_of(&self, node: &NodeId) -> Option<u16> {
        self.trips.get(self.turn(node)?).copied()
    }

    /// The round trip that the times of the new configuration follow (RING-29).
    pub(crate) fn trip(&self, danger: Mutant) -> Duration {
        if danger.is(Danger::RingLongestTrip) {
            return Duration::from_millis(self.trips.iter().copied().max().unwrap_or(0).into());
        }
        second_longest(&self.trips)
    }

    /// RING-34: no two members come from one old ring, and the members are far from each other.
    pub(crate) fn is_far_and_new(&self, danger: Mutant) -> bool {
        let mut old: Vec<_> = self.old_rings.iter().filter_map(|old_ring| old_ring.id).collect();
        let rings = old.len();
        old.sort_unstable();
        old.dedup();
        self.trip(danger) >= FAR && (old.len() == rings || danger.is(Danger::RingSkipsExchange))
    }

    /// The longest datagram that all paths between members carry (RING-26).
    pub fn mtu(&self) -> u16 {
        path_bytes(self.mtus.iter().copied().min().unwrap_or_default())
    }

    fn is_legal(&self) -> bool {
        let complete = self.old_rings.len() == self.members.len();
        is_sorted_set(&self.members)
            && self.members.first() == Some(&self.id.representative)
            && self.id.ring_seq <= RING_SEQ_MAX
            && matches!(self.rotation, 1 | 2)
            && !self.old_rings.is_empty()
            && self.old_rings.len() <= self.members.len()
            && self.contributions.len() == self.old_rings.len()
            && self.mtus.len() == self.old_rings.len()
            && self.trips.len() == self.old_rings.len()
            && (complete || self.rotation == 1)
            && self.old_rings.iter().all(OldRing::is_legal)
    }
}

impl OldRing {
    fn is_legal(&self) -> bool {
        let ordered = self.safe <= self.delivered && self.delivered <= self.held;
        let small =
            self.held <= PACKET_NUMBER_MAX && self.held.saturating_sub(self.safe) <= STORE_PACKETS_MAX;
        ordered && small && (self.id.is_some() || *self == Self::default())
    }
}

impl Token {
    /// Every member holds all places up to here, as far as its last visit says.
    pub(crate) fn held(&self) -> u64 {
        self.members.iter().map(|member| u64::from(member.held)).min().unwrap_or(0)
    }

    fn is_legal(&self) -> bool {
        let numbers = self.token_seq <= TOKEN_SEQ_MAX && self.records <= self.places;
        let places = self.places <= PACKET_NUMBER_MAX
            && self.members.iter().all(|member| u64::from(member.held) <= self.places)
            && self.places.saturating_sub(self.held()) <= GAP_PACKETS_MAX;
        let recent = self.members.records().all(|r| r.is_legal() && r.last_place() <= self.places);
        let requests = self.requests.len() <= REQUESTS_MAX && self.requests.is_sorted_by(|a, b| a < b);
        numbers && !self.members.is_empty() && places && recent && requests
    }
}
