//! DATA: what carries messages. Short and of fixed layout, because every message pays for it.
//!
//! ```text
//! DATA   | class 1 | sender index 1 | ring handle 4 | number 4 | pieces ...
//! class  | 0xA0 agreed, 0xA1 safe, 0xA2 recovered, 0xA3 end of recovery, 0xA4 record,
//!        | 0xA5 reliable, 0xA6 FIFO, 0xA7 unreliable, 0xA8 given early, 0xA9 causal
//! piece  | first:1 last:1 length:14 | which message 2, unless it is the whole of one | bytes ...
//! record | first place 4 | number of its first packet 4 | how many packets 2
//! causal | names | piece ...
//! given  | ring handle 4 of the old ring | (sender index 1 | first number 4 | last number 4) ...
//! ```
//! Each member numbers its packets from 1 on: that is its stream. Unreliable packets are outside of
//! it, and have numbers of their own. A record has a number of its own, and puts packets of its
//! sender's stream in the order. Recovered: the rest is one whole DATA frame of an old ring. The
//! version is the one that the link agreed on.

use crate::config::{PACKET_NUMBER_MAX, RECORD_PACKETS_MAX};
use crate::message::RingNonce;
use bytes::{BufMut, Bytes, BytesMut};
use folkmoot_base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::limits::{DATAGRAM_BYTES_MAX, FRAME_BYTES_MAX, NODES_MAX, PATH_BYTES_BASE};
use folkmoot_base::{DecodeError, Service};

/// Length of the header of DATA.
pub const HEADER_BYTES: usize = 10;
/// Longest DATA frame with application messages: its recovered form still fits a frame.
pub const PACKET_BYTES_MAX: usize = FRAME_BYTES_MAX - HEADER_BYTES;
/// Length of what a record says, after the header.
const RECORD_BODY_BYTES: usize = 10;
/// Length of a record.
pub const RECORD_BYTES: usize = HEADER_BYTES + RECORD_BODY_BYTES;
/// What a link puts around a frame that has a datagram of its own.
const SEALED_OVERHEAD: usize = DATAGRAM_BYTES_MAX - FRAME_BYTES_MAX;

/// What a path is taken to carry if this was said of it, in bytes: nobody makes the packets of a
/// ring smaller than any path needs, or longer than they may be (RING-26).
pub fn path_bytes(said: u16) -> u16 {
    const BASE: u16 = PATH_BYTES_BASE as u16;
    const MOST: u16 = DATAGRAM_BYTES_MAX as u16;
    said.clamp(BASE, MOST)
}

/// Longest DATA frame with application messages of a ring whose paths carry `mtu` bytes: its
/// recovered form still fits one datagram.
pub fn packet_bytes(mtu: u16) -> usize {
    usize::from(path_bytes(mtu)).saturating_sub(SEALED_OVERHEAD + HEADER_BYTES)
}

/// Length of the header of a piece that is a whole message.
pub const PIECE_HEADER_BYTES: usize = 2;
/// Length of the header of any other piece: it says of which message it is.
pub const PART_HEADER_BYTES: usize = PIECE_HEADER_BYTES + 2;
/// The highest four bits of the first byte of DATA; no other frame has them.
const KIND_DATA: u8 = 0xA0;
const KIND: u8 = 0xF0;
const FIRST: u16 = 0x8000;
const LAST: u16 = 0x4000;
const LENGTH: u16 = 0x3fff;

const _: () = assert!(FRAME_BYTES_MAX <= LENGTH as usize);

/// Identifies a ring on DATA: the first bytes of the nonce of its configuration's id. Nobody takes
/// part in two attempts in a row whose handles are equal (RING-22).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingHandle(pub [u8; 4]);

impl RingHandle {
    /// The handle of the ring with this nonce.
    pub fn of(ring: &RingNonce) -> Self {
        let [a, b, c, d, ..] = *ring;
        Self([a, b, c, d])
    }
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
    /// Which places packets of the sender's stream have.
    Record,
    /// Messages that arrive: whole ones, or one piece of one.
    Reliable,
    /// Messages in the order of their sender.
    Fifo,
    /// Messages in the order of their sender, behind what it had delivered.
    Causal,
    /// Messages that may be lost: whole ones, or one piece of one.
    Unreliable,
    /// Which packets of an old ring the sender delivered before they had places.
    Given,
}

impl Class {
    fn byte(self) -> u8 {
        KIND_DATA
            | match self {
                Self::Agreed => 0,
                Self::Safe => 1,
                Self::Recovered => 2,
                Self::End => 3,
                Self::Record => 4,
                Self::Reliable => 5,
                Self::Fifo => 6,
                Self::Unreliable => 7,
                Self::Given => 8,
                Self::Causal => 9,
            }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        let all = [
            Self::Agreed,
            Self::Safe,
            Self::Recovered,
            Self::End,
            Self::Record,
            Self::Reliable,
            Self::Fifo,
            Self::Unreliable,
            Self::Given,
            Self::Causal,
        ];
        all.into_iter().find(|class| class.byte() == byte)
    }

    /// The class of messages with this service.
    pub(crate) fn of(service: Service) -> Self {
        match service {
            Service::Unreliable => Self::Unreliable,
            Service::Reliable => Self::Reliable,
            Service::Fifo => Self::Fifo,
            Service::Causal => Self::Causal,
            Service::Agreed => Self::Agreed,
            Service::Safe => Self::Safe,
        }
    }

    /// The service of the messages in it; `None` if there are none in it.
    pub(crate) fn service(self) -> Option<Service> {
        match self {
            Self::Unreliable => Some(Service::Unreliable),
            Self::Reliable => Some(Service::Reliable),
            Self::Fifo => Some(Service::Fifo),
            Self::Causal => Some(Service::Causal),
            Self::Agreed => Some(Service::Agreed),
            Self::Safe => Some(Service::Safe),
            Self::Recovered | Self::End | Self::Record | Self::Given => None,
        }
    }

    /// Whether it is of its sender's stream. Only that is kept, repeated and recovered.
    pub(crate) fn is_in_stream(self) -> bool {
        self != Self::Unreliable && self.service().is_some()
    }

    /// Whether a piece of a message shares no packet.
    pub(crate) fn is_apart(self) -> bool {
        matches!(self, Self::Reliable | Self::Unreliable)
    }

    /// Whether it is delivered without a place.
    pub(crate) fn is_early(self) -> bool {
        matches!(self, Self::Reliable | Self::Fifo | Self::Causal)
    }
}

/// Whether `frame` is DATA with messages. What recovers an old ring is none.
pub fn is_message(frame: &[u8]) -> bool {
    frame.first().copied().and_then(Class::from_byte).and_then(Class::service).is_some()
}

/// Whether `frame` is DATA that its maker numbers: messages, or a record. When it goes out for the
/// first time, it may go under the ring key.
pub fn is_numbered(frame: &[u8]) -> bool {
    is_message(frame) || frame.first() == Some(&Class::Record.byte())
}

/// Whether `frame` is DATA of its sender's stream.
pub(crate) fn is_in_stream(frame: &[u8]) -> bool {
    frame.first().copied().and_then(Class::from_byte).is_some_and(Class::is_in_stream)
}

/// Whether `frame` is DATA with unreliable messages.
pub fn is_unreliable(frame: &[u8]) -> bool {
    frame.first() == Some(&Class::Unreliable.byte())
}

/// The header of DATA, and the whole frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    /// What it carries.
    pub class: Class,
    /// The member that numbered it: its index among the ring's members.
    pub sender: u8,
    /// Its number in its sender's stream; of a record, its number among all records.
    pub number: u64,
    /// Which ring.
    pub ring: RingHandle,
    /// Header and body, as on the wire.
    pub frame: Bytes,
}

/// What the header of a new DATA frame says.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    /// Its number, at most [`PACKET_NUMBER_MAX`].
    pub number: u64,
    /// The member that numbers it.
    pub sender: u8,
    /// Which ring.
    pub ring: RingHandle,
}

impl Head {
    /// Begins a frame in `frame`, which is empty.
    pub fn begin(&self, class: Class, frame: &mut BytesMut) {
        frame.put_u8(class.byte());
        frame.put_u8(self.sender);
        frame.put_slice(&self.ring.0);
        // Numbers are below the end of the range: PACKET_NUMBER_MAX.
        frame.put_u32(u32::try_from(self.number).unwrap_or(u32::MAX));
    }

    /// The packet whose frame is whole.
    pub fn end(self, class: Class, frame: BytesMut) -> Data {
        Data { class, sender: self.sender, number: self.number, ring: self.ring, frame: frame.freeze() }
    }
}

/// "These packets of my stream come next": the places of some packets in the order of the ring.
/// Records have gapless numbers, and places are gapless too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Record {
    /// Its number, from 1 on.
    pub number: u64,
    /// The place of its first packet, from 1 on.
    pub place: u64,
    /// Whose packets: the index of the member.
    pub source: u8,
    /// The number of the first packet.
    pub first: u64,
    /// How many packets, at least one.
    pub count: u16,
}

impl Record {
    /// The number of its last packet.
    pub fn last(&self) -> u64 {
        self.first.saturating_add(self.count.into()).saturating_sub(1)
    }

    /// The place of its last packet.
    pub fn last_place(&self) -> u64 {
        self.place.saturating_add(self.count.into()).saturating_sub(1)
    }

    /// Whether a member can have made it.
    pub(crate) fn is_legal(&self) -> bool {
        let begins = self.number >= 1 && self.place >= 1 && self.first >= 1;
        let ends = self.number.max(self.last()).max(self.last_place()) <= PACKET_NUMBER_MAX;
        let counts = (1..=RECORD_PACKETS_MAX).contains(&self.count);
        begins && ends && counts && usize::from(self.source) < NODES_MAX
    }

    /// Its frame, in `room`, which is empty.
    pub fn frame(&self, ring: RingHandle, mut room: BytesMut) -> Bytes {
        let head = Head { number: self.number, sender: self.source, ring };
        head.begin(Class::Record, &mut room);
        // Numbers and places are below the end of the range: PACKET_NUMBER_MAX.
        room.put_u32(u32::try_from(self.place).unwrap_or(u32::MAX));
        room.put_u32(u32::try_from(self.first).unwrap_or(u32::MAX));
        room.put_u16(self.count);
        room.freeze()
    }
}

/// Which message of its sender a piece belongs to, and where in it. Numbers of messages come again:
/// they only tell apart what is on its way at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Begins its message.
    pub first: bool,
    /// Ends its message.
    pub last: bool,
    /// Which message; 0 if the piece is the whole of it.
    pub message: u16,
}

impl Part {
    /// The whole of a message.
    pub const WHOLE: Self = Self { first: true, last: true, message: 0 };

    fn is_whole(self) -> bool {
        self.first && self.last
    }

    /// Length of the header of such a piece.
    pub fn header_bytes(self) -> usize {
        if self.is_whole() { PIECE_HEADER_BYTES } else { PART_HEADER_BYTES }
    }
}

/// Appends a piece, whose bytes are those of `parts`. The caller has made sure that there is room.
pub fn put_piece(frame: &mut BytesMut, part: Part, parts: &[&[u8]]) {
    let length = parts.iter().map(|bytes| bytes.len()).fold(0, usize::saturating_add);
    let length = u16::try_from(length).unwrap_or(LENGTH) & LENGTH;
    frame.put_u16(length | if part.first { FIRST } else { 0 } | if part.last { LAST } else { 0 });
    if !part.is_whole() {
        frame.put_u16(part.message);
    }
    parts.iter().for_each(|bytes| frame.put_slice(bytes));
}

/// One piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Which message, and where in it.
    pub part: Part,
    /// Shares the frame's memory.
    pub bytes: Bytes,
}

/// The header of the piece that begins `rest`, and where its bytes are in `rest`.
fn next_piece(rest: &[u8]) -> Option<(Part, core::ops::Range<usize>)> {
    let (head, after) = rest.split_first_chunk::<PIECE_HEADER_BYTES>()?;
    let head = u16::from_be_bytes(*head);
    let mut part = Part { first: head & FIRST != 0, last: head & LAST != 0, message: 0 };
    if !part.is_whole() {
        part.message = u16::from_be_bytes(*after.first_chunk()?);
    }
    let start = part.header_bytes();
    let end = start.checked_add(usize::from(head & LENGTH))?;
    // The middle of a message is never empty: two zero bytes end a packet (behind.rs).
    (head != 0 && end <= rest.len()).then_some((part, start..end))
}

impl Data {
    /// Whether `frame` is DATA.
    pub(crate) fn is_data(frame: &[u8]) -> bool {
        frame.first().is_some_and(|byte| byte & KIND == KIND_DATA)
    }

    /// Reads a DATA frame (RING-01, RING-02).
    pub(crate) fn decode(frame: Bytes) -> Result<Self, DecodeError> {
        let data = Self::read(frame)?;
        if data.is_legal() { Ok(data) } else { Err(DecodeError::Malformed) }
    }

    /// Reads the header. What follows it is not looked at.
    pub(crate) fn read(frame: Bytes) -> Result<Self, DecodeError> {
        if frame.len() > FRAME_BYTES_MAX {
            return Err(DecodeError::TooLong { got: frame.len(), most: FRAME_BYTES_MAX });
        }
        let (head, _) = frame.split_first_chunk::<HEADER_BYTES>().ok_or(DecodeError::Malformed)?;
        let [class, sender, h0, h1, h2, h3, number @ ..] = *head;
        let class = Class::from_byte(class).ok_or(DecodeError::Malformed)?;
        let number = u32::from_be_bytes(number).into();
        Ok(Self { class, sender, number, ring: RingHandle([h0, h1, h2, h3]), frame })
    }

    fn is_legal(&self) -> bool {
        let numbered = self.number >= 1 && usize::from(self.sender) < NODES_MAX;
        numbered
            && match self.class {
                Class::End => self.frame.len() == HEADER_BYTES,
                Class::Recovered => self.recovered().is_ok(),
                Class::Record => self.record().is_some(),
                Class::Given => self.given().is_some(),
                Class::Agreed
                | Class::Safe
                | Class::Causal
                | Class::Fifo
                | Class::Reliable
                | Class::Unreliable => {
                    self.frame.len() <= PACKET_BYTES_MAX && self.names_are_legal() && self.pieces_are_legal()
                }
            }
    }

    fn pieces_are_legal(&self) -> bool {
        let mut rest = self.frame.get(self.body()..).unwrap_or_default();
        let mut part_before = None;
        while !rest.is_empty() {
            let Some((part, bytes)) = next_piece(rest) else { return false };
            let mixed = part_before.is_some_and(|before: Part| !before.is_whole() || !part.is_whole());
            if self.class.is_apart() && mixed {
                return false;
            }
            part_before = Some(part);
            rest = rest.get(bytes.end..).unwrap_or_default();
        }
        part_before.is_some()
    }

    /// Whether it begins with a piece that is not the whole of its message.
    pub(crate) fn is_in_pieces(&self) -> bool {
        let rest = self.frame.get(self.body()..).unwrap_or_default();
        next_piece(rest).is_some_and(|(part, _)| !part.is_whole())
    }

    /// The old ring's packet inside a recovered one.
    ///
    /// # Errors
    /// [`DecodeError`]; a packet inside a packet inside a packet is malformed.
    pub fn recovered(&self) -> Result<Self, DecodeError> {
        let inner = self.frame.slice(HEADER_BYTES.min(self.frame.len())..);
        let class = inner.first().copied().and_then(Class::from_byte);
        if !class.is_some_and(|class| class == Class::Record || class.is_in_stream()) {
            return Err(DecodeError::Malformed);
        }
        Self::decode(inner)
    }

    /// What a record says; `None` if it is not a legal one.
    pub fn record(&self) -> Option<Record> {
        let body: &[u8; RECORD_BODY_BYTES] = self.frame.get(HEADER_BYTES..)?.try_into().ok()?;
        let [p0, p1, p2, p3, f0, f1, f2, f3, count @ ..] = *body;
        let record = Record {
            number: self.number,
            place: u32::from_be_bytes([p0, p1, p2, p3]).into(),
            source: self.sender,
            first: u32::from_be_bytes([f0, f1, f2, f3]).into(),
            count: u16::from_be_bytes(count),
        };
        (self.class == Class::Record && record.is_legal()).then_some(record)
    }

    /// Where the pieces of a packet of messages end.
    pub(crate) fn pieces_end(&self) -> usize {
        let mut pieces = self.pieces();
        while pieces.next().is_some() {}
        pieces.at
    }

    /// The pieces of a packet of messages.
    pub fn pieces(&self) -> Pieces<'_> {
        Pieces { frame: &self.frame, at: self.body() }
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
        let (part, bytes) = next_piece(self.frame.get(self.at..)?)?;
        let (start, end) = (self.at.checked_add(bytes.start)?, self.at.checked_add(bytes.end)?);
        self.at = end;
        Some(Piece { part, bytes: self.frame.slice(start..end) })
    }
}
