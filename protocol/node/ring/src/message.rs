//! The bytes of the ring.
//!
//! | message | sender → receiver | when |
//! |---|---|---|
//! | DATA | numbering member → all other members; any member → all, on request | holding the token |
//! | TOKEN | member → the next in the ring | after its visit |
//! | HURRY | member with something to send → representative | the ring is idle |
//! | JOIN | gathering node → every eligible node | gather, every `join_repeat` |
//! | JOIN | any node → an eligible node outside its ring | when what it says changes, then every `report_repeat`; in answer |
//! | COMMIT | member → the next in the ring; twice round | the set is agreed |
//!
//! ```text
//! DATA   | version 1 | kind 0x10 | class | sender index | seq (8) | ring nonce (16) | pieces ...
//! piece  | first:1 last:1 length:14 | bytes ...            class: 16 agreed, 32 safe, 1 recovered, 2 end of recovery
//! recovered: the rest is one whole DATA frame of an old ring, as it was first sent
//! others | version 1 | kind 1..4 | TLS presentation language
//! ```

use crate::config::{GAP_PACKETS_MAX, PACKET_SEQ_MAX, REQUESTS_MAX, RING_SEQ_MAX, STORE_PACKETS_MAX};
use bytes::{BufMut, Bytes, BytesMut};
use folkmoot_base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::limits::{FRAME_BYTES_MAX, LONG_FRAME_BYTES_MAX, NODES_MAX};
use folkmoot_base::{ConfigurationId, DecodeError, NodeId, codec};

/// Length of the header of DATA.
pub const HEADER_BYTES: usize = 28;
/// Longest DATA frame with application messages: its recovered form still fits a frame.
pub const PACKET_BYTES_MAX: usize = FRAME_BYTES_MAX - HEADER_BYTES;
/// Length of the header of a piece.
pub const PIECE_HEADER_BYTES: usize = 2;
/// No member: in [`Token::aru_holder`].
pub const NOBODY: u8 = u8::MAX;
const KIND_DATA: u8 = 0x10;
const FIRST: u16 = 0x8000;
const LAST: u16 = 0x4000;
const LENGTH: u16 = 0x3fff;

/// Identifies a ring on its frames: the nonce of its configuration's id.
pub type RingNonce = [u8; 16];

/// All frames except DATA.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
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
    /// It had all packets up to here.
    pub aru: u64,
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
    /// 1: collecting old rings. 2: all old rings are known.
    pub rotation: u8,
}

/// What a member brings along from its previous configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct OldRing {
    /// Which one; none if it has just started.
    pub id: Option<ConfigurationId>,
    /// It has all packets up to here.
    pub aru: u64,
    /// The highest packet that it has.
    pub high: u64,
    /// It has delivered up to here.
    pub delivered: u64,
    /// It knows that all members of the old configuration have all up to here.
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
    /// The highest number given to a packet.
    pub seq: u64,
    /// Every member has all packets up to here, as far as this rotation knows.
    pub aru: u64,
    /// The member that lowered `aru`: its index, or [`NOBODY`].
    pub aru_holder: u8,
    /// Packets sent in the last rotation.
    pub sent: u32,
    /// Packets waiting at all members.
    pub backlog: u32,
    /// Visits in a row at which nothing was new.
    pub quiet: u16,
    /// Numbers of packets that a member lacks, ascending.
    pub requests: Vec<u64>,
}

/// HURRY.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Hurry {
    /// Which ring.
    pub ring: RingNonce,
}

/// What a packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Messages in agreed order.
    Agreed,
    /// Messages in safe order.
    Safe,
    /// A packet of an old ring.
    Recovered,
    /// Nothing more to recover from this member.
    End,
}

impl Class {
    fn byte(self) -> u8 {
        match self {
            Self::Agreed => 16,
            Self::Safe => 32,
            Self::Recovered => 1,
            Self::End => 2,
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            16 => Some(Self::Agreed),
            32 => Some(Self::Safe),
            1 => Some(Self::Recovered),
            2 => Some(Self::End),
            _ => None,
        }
    }
}

/// The header of DATA, and the whole frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    /// What it carries.
    pub class: Class,
    /// The member that numbered it: its index among the ring's members.
    pub sender: u8,
    /// Its number.
    pub seq: u64,
    /// Which ring.
    pub ring: RingNonce,
    /// Header and body, as on the wire.
    pub frame: Bytes,
}

/// Any frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// DATA.
    Data(Data),
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
        if frame.get(1) == Some(&KIND_DATA) {
            return Data::decode(frame).map(Self::Data);
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

    fn is_legal(&self) -> bool {
        match self {
            Self::Join(join) => join.is_legal(),
            Self::Commit(token) => token.is_legal(),
            Self::Token(token) => token.is_legal(),
            Self::Hurry(_) => true,
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
        self.old_rings.get(self.order().iter().position(|member| member == node)?)
    }

    fn is_legal(&self) -> bool {
        let complete = self.old_rings.len() == self.members.len();
        is_sorted_set(&self.members)
            && self.members.first() == Some(&self.id.representative)
            && self.id.ring_seq <= RING_SEQ_MAX
            && matches!(self.rotation, 1 | 2)
            && !self.old_rings.is_empty()
            && self.old_rings.len() <= self.members.len()
            && (complete || self.rotation == 1)
            && self.old_rings.iter().all(OldRing::is_legal)
    }
}

impl OldRing {
    fn is_legal(&self) -> bool {
        let ordered = self.safe <= self.delivered && self.delivered <= self.aru && self.aru <= self.high;
        let small = self.high <= PACKET_SEQ_MAX && self.high.saturating_sub(self.safe) <= STORE_PACKETS_MAX;
        ordered && small && (self.id.is_some() || *self == Self::default())
    }
}

impl Token {
    fn is_legal(&self) -> bool {
        self.seq <= PACKET_SEQ_MAX
            && self.token_seq <= PACKET_SEQ_MAX
            && self.aru <= self.seq
            && self.seq.saturating_sub(self.aru) <= GAP_PACKETS_MAX
            && self.requests.len() <= REQUESTS_MAX
            && self.requests.is_sorted_by(|a, b| a < b)
            && self.requests.iter().all(|seq| *seq >= 1 && *seq <= self.seq)
    }
}

/// What the header of a new DATA frame says.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    /// Its number.
    pub seq: u64,
    /// The member that numbers it.
    pub sender: u8,
    /// Which ring.
    pub ring: RingNonce,
}

impl Head {
    /// Begins a frame with room for `body` more bytes.
    pub fn begin(&self, class: Class, body: usize) -> BytesMut {
        let mut frame = BytesMut::with_capacity(HEADER_BYTES.saturating_add(body));
        frame.put_u8(codec::WIRE_VERSION);
        frame.put_u8(KIND_DATA);
        frame.put_u8(class.byte());
        frame.put_u8(self.sender);
        frame.put_u64(self.seq);
        frame.put_slice(&self.ring);
        frame
    }
}

/// Appends a piece. The caller has made sure that there is room.
pub fn put_piece(frame: &mut BytesMut, bytes: &[u8], first: bool, last: bool) {
    let length = u16::try_from(bytes.len()).unwrap_or(LENGTH) & LENGTH;
    frame.put_u16(length | if first { FIRST } else { 0 } | if last { LAST } else { 0 });
    frame.put_slice(bytes);
}

/// One piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Begins its message.
    pub first: bool,
    /// Ends its message.
    pub last: bool,
    /// Shares the frame's memory.
    pub bytes: Bytes,
}

impl Data {
    fn decode(frame: Bytes) -> Result<Self, DecodeError> {
        if frame.len() > FRAME_BYTES_MAX {
            return Err(DecodeError::TooLong { got: frame.len(), most: FRAME_BYTES_MAX });
        }
        let (head, _) = frame.split_first_chunk::<HEADER_BYTES>().ok_or(DecodeError::Malformed)?;
        let [version, _, class, sender, rest @ ..] = *head;
        let [s0, s1, s2, s3, s4, s5, s6, s7, ring @ ..] = rest;
        if version != codec::WIRE_VERSION {
            return Err(DecodeError::Version(version));
        }
        let class = Class::from_byte(class).ok_or(DecodeError::Malformed)?;
        let seq = u64::from_be_bytes([s0, s1, s2, s3, s4, s5, s6, s7]);
        let data = Self { class, sender, seq, ring, frame };
        if data.is_legal() { Ok(data) } else { Err(DecodeError::Malformed) }
    }

    fn is_legal(&self) -> bool {
        let numbered = self.seq >= 1 && self.seq <= PACKET_SEQ_MAX && usize::from(self.sender) < NODES_MAX;
        numbered
            && match self.class {
                Class::End => self.frame.len() == HEADER_BYTES,
                Class::Recovered => self.recovered().is_ok(),
                Class::Agreed | Class::Safe => {
                    self.frame.len() <= PACKET_BYTES_MAX && self.pieces_are_legal()
                }
            }
    }

    fn pieces_are_legal(&self) -> bool {
        let mut rest = self.frame.get(HEADER_BYTES..).unwrap_or_default();
        if rest.is_empty() {
            return false;
        }
        while !rest.is_empty() {
            let Some((head, after)) = rest.split_first_chunk::<PIECE_HEADER_BYTES>() else { return false };
            let length = usize::from(u16::from_be_bytes(*head) & LENGTH);
            let Some(after) = after.get(length..) else { return false };
            rest = after;
        }
        true
    }

    /// The old ring's packet inside a recovered one.
    ///
    /// # Errors
    /// [`DecodeError`]; a packet inside a packet inside a packet is malformed.
    pub fn recovered(&self) -> Result<Self, DecodeError> {
        let inner = self.frame.slice(HEADER_BYTES.min(self.frame.len())..);
        if inner.get(1) != Some(&KIND_DATA) || matches!(inner.get(2), Some(1 | 2) | None) {
            return Err(DecodeError::Malformed);
        }
        Self::decode(inner)
    }

    /// The pieces of a packet of messages.
    pub fn pieces(&self) -> Pieces<'_> {
        Pieces { frame: &self.frame, at: HEADER_BYTES }
    }
}

/// Walks the pieces of a packet.
#[derive(Debug)]
pub struct Pieces<'a> {
    frame: &'a Bytes,
    at: usize,
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let (head, _) = self.frame.get(self.at..)?.split_first_chunk::<PIECE_HEADER_BYTES>()?;
        let head = u16::from_be_bytes(*head);
        let start = self.at.checked_add(PIECE_HEADER_BYTES)?;
        let end = start.checked_add(usize::from(head & LENGTH))?;
        if end > self.frame.len() {
            return None;
        }
        self.at = end;
        Some(Piece { first: head & FIRST != 0, last: head & LAST != 0, bytes: self.frame.slice(start..end) })
    }
}
