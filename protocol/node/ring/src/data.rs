//! DATA: what carries messages. Short and of fixed layout, because every message pays for it.
//!
//! ```text
//! DATA   | class 1 | sender index 1 | ring handle 4 | seq 4 | pieces ...
//! class  | 0xA0 agreed, 0xA1 safe, 0xA2 recovered, 0xA3 end of recovery
//! piece  | first:1 last:1 length:14 | which message 2, unless it is the whole of one | bytes ...
//! ```
//! Recovered: the rest is one whole DATA frame of an old ring, as it was first sent. The version is
//! the one that the link agreed on.

use crate::config::PACKET_SEQ_MAX;
use crate::message::RingNonce;
use bytes::{BufMut, Bytes, BytesMut};
use folkmoot_base::DecodeError;
use folkmoot_base::limits::{DATAGRAM_BYTES_MAX, FRAME_BYTES_MAX, NODES_MAX, PATH_BYTES_BASE};

/// Length of the header of DATA.
pub const HEADER_BYTES: usize = 10;
/// Longest DATA frame with application messages: its recovered form still fits a frame.
pub const PACKET_BYTES_MAX: usize = FRAME_BYTES_MAX - HEADER_BYTES;
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
/// The highest six bits of the first byte of DATA; no other frame has them.
const KIND_DATA: u8 = 0xA0;
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
}

impl Class {
    fn byte(self) -> u8 {
        KIND_DATA
            | match self {
                Self::Agreed => 0,
                Self::Safe => 1,
                Self::Recovered => 2,
                Self::End => 3,
            }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        [Self::Agreed, Self::Safe, Self::Recovered, Self::End].into_iter().find(|class| class.byte() == byte)
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
    pub ring: RingHandle,
    /// Header and body, as on the wire.
    pub frame: Bytes,
}

/// What the header of a new DATA frame says.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    /// Its number, at most [`PACKET_SEQ_MAX`].
    pub seq: u64,
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
        // Numbers are below the end of the range: PACKET_SEQ_MAX.
        frame.put_u32(u32::try_from(self.seq).unwrap_or(u32::MAX));
    }

    /// The packet whose frame is whole.
    pub fn end(self, class: Class, frame: BytesMut) -> Data {
        Data { class, sender: self.sender, seq: self.seq, ring: self.ring, frame: frame.freeze() }
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
    (end <= rest.len()).then_some((part, start..end))
}

impl Data {
    /// Whether `frame` is DATA.
    pub(crate) fn is_data(frame: &[u8]) -> bool {
        frame.first().is_some_and(|byte| byte & 0xfc == KIND_DATA)
    }

    /// Reads a DATA frame (RING-01, RING-02).
    pub(crate) fn decode(frame: Bytes) -> Result<Self, DecodeError> {
        if frame.len() > FRAME_BYTES_MAX {
            return Err(DecodeError::TooLong { got: frame.len(), most: FRAME_BYTES_MAX });
        }
        let (head, _) = frame.split_first_chunk::<HEADER_BYTES>().ok_or(DecodeError::Malformed)?;
        let [class, sender, h0, h1, h2, h3, seq @ ..] = *head;
        let class = Class::from_byte(class).ok_or(DecodeError::Malformed)?;
        let seq = u32::from_be_bytes(seq).into();
        let data = Self { class, sender, seq, ring: RingHandle([h0, h1, h2, h3]), frame };
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
            let Some((_, bytes)) = next_piece(rest) else { return false };
            rest = rest.get(bytes.end..).unwrap_or_default();
        }
        true
    }

    /// The old ring's packet inside a recovered one.
    ///
    /// # Errors
    /// [`DecodeError`]; a packet inside a packet inside a packet is malformed.
    pub fn recovered(&self) -> Result<Self, DecodeError> {
        let inner = self.frame.slice(HEADER_BYTES.min(self.frame.len())..);
        let class = inner.first().copied().and_then(Class::from_byte);
        if !matches!(class, Some(Class::Agreed | Class::Safe)) {
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
        let (part, bytes) = next_piece(self.frame.get(self.at..)?)?;
        let (start, end) = (self.at.checked_add(bytes.start)?, self.at.checked_add(bytes.end)?);
        self.at = end;
        Some(Piece { part, bytes: self.frame.slice(start..end) })
    }
}
