//! The bytes of this layer.
//!
//! | kind | sender → receiver | bytes after version and kind |
//! |---|---|---|
//! | 1 Hello | dialler → anybody | own index u32, cookie \[16\] (zero: none), Noise message 1 \[32\] |
//! | 2 Retry | answerer → dialler | receiver's index u32, cookie \[16\]; no state is kept |
//! | 3 Reply | answerer → dialler | receiver's index u32, part u8, parts u8, bytes of Noise message 2 |
//! | 4 Finish | dialler → answerer | receiver's index u32, part u8, parts u8, bytes of Noise message 3 |
//! | 5 Data | either → other | receiver's index u32, counter u64, sealed frames, tag \[16\] |
//! | 6 Hybrid Hello | dialler → anybody | own index u32, cookie \[16\], Noise message 1 \[1216\], or nothing where there is no cookie yet |
//! | 7 Refusal | answerer → dialler | receiver's index u32, what the sender asks for u8: 1 X25519 alone, 2 ML-KEM-768 as well; no state is kept |
//! | 8 Ring data | member → all other members | a packet: its header \[10\], sealed pieces, tag \[16\] |
//!
//! The handshake's version is 1 for ever; Data has the one that its [`Proof`]s agree on.
//! Noise messages 2 and 3 carry a [`Proof`]. Sealed frames are `channel u8, length u16, bytes`, one
//! after another; the top bit of the channel says that the bytes are a fragment: `id u32, part u8,
//! parts u8, bytes`. Channel 0 is [`Control`], between the two links themselves. All integers are
//! big-endian.

use crate::limits::frame_bytes;
use crate::ring_header::{RING_HEADER_BYTES, RingHeader};
use crate::start::SignedStart;
use crate::{Channel, Exchange, Versions};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize, WIRE_VERSION};
use folkmoot_base::limits::DATAGRAM_BYTES_MAX;
use folkmoot_base::{Blob, DecodeError, Digest, SignatureBytes};

pub(crate) const COOKIE_BYTES: usize = 16;
pub(crate) const NOISE_HELLO_BYTES: usize = 32;
pub(crate) const HYBRID_HELLO_BYTES: usize = NOISE_HELLO_BYTES + crate::kem::KEY_BYTES;
pub(crate) const PART_HEADER_BYTES: usize = 8;
pub(crate) const DATA_HEADER_BYTES: usize = 14;
pub(crate) const FRAME_HEADER_BYTES: usize = 3;
pub(crate) const FRAGMENT_HEADER_BYTES: usize = 6;
pub(crate) const TAG_BYTES: usize = 16;

const HELLO: u8 = 1;
const RETRY: u8 = 2;
const REPLY: u8 = 3;
const FINISH: u8 = 4;
const DATA: u8 = 5;
const HYBRID_HELLO: u8 = 6;
const REFUSAL: u8 = 7;
pub(crate) const RING_DATA: u8 = 8;
const FRAGMENT_BIT: u8 = 0x80;
/// The class of a probe of multicast in Ring data; the ring itself numbers no such packet.
pub const RING_PROBE: u8 = 0xaf;

/// Proof that an address answers.
pub type Cookie = [u8; COOKIE_BYTES];

/// One datagram. Its form is checked, its content is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Datagram {
    /// Starts a handshake.
    Hello {
        /// The dialler's index.
        from: u32,
        /// Zero, or the cookie of a Retry.
        cookie: Cookie,
        /// Noise message 1.
        noise: [u8; NOISE_HELLO_BYTES],
    },
    /// Starts a handshake with ML-KEM-768.
    HybridHello {
        /// The dialler's index.
        from: u32,
        /// Zero, or the cookie of a Retry.
        cookie: Cookie,
        /// Noise message 1, 1,216 bytes; empty if there is no cookie yet, because nobody would read
        /// it then.
        noise: Bytes,
    },
    /// The Hello was of the other form; this is the form that the sender answers. Anybody may have
    /// written it.
    Refusal {
        /// The dialler's index.
        to: u32,
        /// The form that the sender asks for.
        asks: Exchange,
    },
    /// Send the Hello again, with this cookie.
    Retry {
        /// The dialler's index.
        to: u32,
        /// The cookie to send.
        cookie: Cookie,
    },
    /// A part of Noise message 2.
    Reply(Part),
    /// A part of Noise message 3.
    Finish(Part),
    /// Sealed frames; opened by the association, from the whole datagram.
    Data {
        /// The wire version of what is sealed.
        version: u8,
        /// The receiver's index.
        to: u32,
    },
    /// A packet under the ring key; opened by the keys of that ring, from the whole datagram.
    Ring(RingHeader),
}

/// A part of a handshake message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The receiver's index.
    pub to: u32,
    /// Which part, from 0.
    pub part: u8,
    /// How many parts.
    pub parts: u8,
    /// Its bytes.
    pub bytes: Bytes,
}

impl Datagram {
    /// Reads a datagram (LINK-01).
    ///
    /// # Errors
    /// [`DecodeError`]: unknown version or kind, or a length that its kind does not have.
    pub fn decode(bytes: &Bytes) -> Result<Self, DecodeError> {
        if bytes.len() > DATAGRAM_BYTES_MAX {
            return Err(DecodeError::TooLong { got: bytes.len(), most: DATAGRAM_BYTES_MAX });
        }
        let mut rest: &[u8] = bytes;
        let [version, kind] = take(&mut rest)?;
        if version != WIRE_VERSION && kind != DATA {
            return Err(DecodeError::Version(version));
        }
        if kind == RING_DATA {
            return ring_header(bytes).map(Self::Ring);
        }
        let index = u32::from_be_bytes(take(&mut rest)?);
        let datagram = match kind {
            HELLO => Self::Hello { from: index, cookie: take(&mut rest)?, noise: take(&mut rest)? },
            HYBRID_HELLO => {
                let cookie = take(&mut rest)?;
                if !rest.is_empty() && rest.len() != HYBRID_HELLO_BYTES {
                    return Err(DecodeError::Malformed);
                }
                return Ok(Self::HybridHello { from: index, cookie, noise: bytes.slice_ref(rest) });
            }
            RETRY => Self::Retry { to: index, cookie: take(&mut rest)? },
            REFUSAL => {
                let [asks] = take(&mut rest)?;
                Self::Refusal { to: index, asks: Exchange::decode(asks).ok_or(DecodeError::Malformed)? }
            }
            REPLY => return Ok(Self::Reply(Part::decode(index, bytes, rest)?)),
            FINISH => return Ok(Self::Finish(Part::decode(index, bytes, rest)?)),
            DATA => match sealed_for(bytes)? {
                Some(to) => return Ok(Self::Data { version, to }),
                None => return Err(DecodeError::Malformed),
            },
            _ => return Err(DecodeError::Malformed),
        };
        if rest.is_empty() { Ok(datagram) } else { Err(DecodeError::Leftover(rest.len())) }
    }

    /// Writes what [`Self::decode`] reads; the rest of `Data` and `Ring` is written by its seal.
    pub fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(64);
        match self {
            Self::Hello { from, cookie, noise } => {
                head(&mut out, HELLO, *from);
                out.put_slice(cookie);
                out.put_slice(noise);
            }
            Self::HybridHello { from, cookie, noise } => {
                head(&mut out, HYBRID_HELLO, *from);
                out.put_slice(cookie);
                out.put_slice(noise);
            }
            Self::Retry { to, cookie } => {
                head(&mut out, RETRY, *to);
                out.put_slice(cookie);
            }
            Self::Refusal { to, asks } => {
                head(&mut out, REFUSAL, *to);
                out.put_u8(*asks as u8);
            }
            Self::Reply(part) => part.encode(&mut out, REPLY),
            Self::Finish(part) => part.encode(&mut out, FINISH),
            Self::Data { version, to } => {
                out.put_slice(&[*version, DATA]);
                out.put_u32(*to);
            }
            Self::Ring(header) => {
                out.put_slice(&[WIRE_VERSION, RING_DATA]);
                header.write(&mut out);
            }
        }
        out.freeze()
    }
}

/// For which index a datagram is sealed; `None` if it is part of a handshake.
///
/// # Errors
/// [`DecodeError`]: a datagram that is too long, or a sealed one that is too short.
pub(crate) fn sealed_for(datagram: &[u8]) -> Result<Option<u32>, DecodeError> {
    if datagram.len() > DATAGRAM_BYTES_MAX {
        return Err(DecodeError::TooLong { got: datagram.len(), most: DATAGRAM_BYTES_MAX });
    }
    let [_, DATA, a, b, c, d, rest @ ..] = datagram else { return Ok(None) };
    if rest.len() < 8 + TAG_BYTES {
        return Err(DecodeError::Malformed);
    }
    Ok(Some(u32::from_be_bytes([*a, *b, *c, *d])))
}

/// Whether the datagram is under a ring key.
pub(crate) fn is_ring_data(datagram: &[u8]) -> bool {
    matches!(datagram, [_, RING_DATA, ..])
}

/// The header of the packet in a datagram under a ring key.
///
/// # Errors
/// [`DecodeError`]: it is too short.
pub(crate) fn ring_header(datagram: &[u8]) -> Result<RingHeader, DecodeError> {
    let [_, RING_DATA, packet @ ..] = datagram else { return Err(DecodeError::Malformed) };
    let header = RingHeader::read(packet).filter(|_| packet.len() >= RING_HEADER_BYTES + TAG_BYTES);
    header.ok_or(DecodeError::Malformed)
}

impl Part {
    fn decode(to: u32, whole: &Bytes, mut rest: &[u8]) -> Result<Self, DecodeError> {
        let [part, parts] = take(&mut rest)?;
        if rest.is_empty() || part >= parts {
            return Err(DecodeError::Malformed);
        }
        Ok(Self { to, part, parts, bytes: whole.slice_ref(rest) })
    }

    fn encode(&self, out: &mut BytesMut, kind: u8) {
        head(out, kind, self.to);
        out.put_u8(self.part);
        out.put_u8(self.parts);
        out.put_slice(&self.bytes);
    }

    /// Cuts a handshake message into parts for `to`.
    pub(crate) fn cut(to: u32, message: &[u8]) -> Vec<Self> {
        let chunks = message.chunks(crate::limits::PART_BYTES);
        let parts = u8::try_from(chunks.len()).unwrap_or(u8::MAX);
        chunks
            .zip(0_u8..)
            .map(|(bytes, part)| Self { to, part, parts, bytes: Bytes::copy_from_slice(bytes) })
            .collect()
    }
}

fn head(out: &mut BytesMut, kind: u8, index: u32) {
    out.put_u8(WIRE_VERSION);
    out.put_u8(kind);
    out.put_u32(index);
}

/// Leaves room for the header of a Data datagram: [`address_data`] fills in the first part when it
/// is sealed, and the seal its counter.
pub(crate) fn begin_data(out: &mut BytesMut) {
    out.put_bytes(0, DATA_HEADER_BYTES);
}

/// Fills in version, kind and the receiver's index.
pub(crate) fn address_data(datagram: &mut [u8], version: u8, to: u32) {
    let [a, b, c, d] = to.to_be_bytes();
    for (old, new) in datagram.iter_mut().zip([version, DATA, a, b, c, d]) {
        *old = new;
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], DecodeError> {
    let (head, tail) = rest.split_first_chunk::<N>().ok_or(DecodeError::Malformed)?;
    *rest = tail;
    Ok(*head)
}

/// What Noise messages 2 and 3 carry, encrypted.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Proof {
    /// The sender's index: datagrams to the sender name it.
    pub index: u32,
    /// When the sender's process started, see [`crate::Config::started`].
    pub started: u64,
    /// The wire versions that the sender speaks.
    pub versions: Versions,
    /// What else it can do, one bit each; unknown ones are passed over.
    pub capabilities: u64,
    /// The sender's certificate, DER.
    pub certificate: Blob,
    /// Signed by the certificate's key, over what [`crate::Start`] says.
    pub signature: SignatureBytes,
}

/// What the two links send each other under seal.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Control {
    /// Asks for a Pong. Sent when idle, and to confirm a handshake.
    #[tls_codec(discriminant = 1)]
    Ping(u64),
    /// Answers a Ping with the same number.
    #[tls_codec(discriminant = 2)]
    Pong(u64),
    /// The sender closes the link.
    #[tls_codec(discriminant = 3)]
    Bye,
    /// The sender has another certificate now; repeated until [`Control::Certified`] comes.
    #[tls_codec(discriminant = 4)]
    Certificate(Blob),
    /// The sender has the certificate with this digest.
    #[tls_codec(discriminant = 5)]
    Certified(Digest),
    /// Another process with the receiver's identity started later.
    #[tls_codec(discriminant = 6)]
    Superseded(SignedStart),
    /// Asks whether a datagram of this size comes. It has a datagram of its own.
    #[tls_codec(discriminant = 7)]
    Probe(Probe),
    /// A probe came.
    #[tls_codec(discriminant = 8)]
    Probed {
        /// Its number.
        number: u32,
        /// The size of its datagram, in bytes.
        size: u16,
    },
    /// A probe came by multicast.
    #[tls_codec(discriminant = 9)]
    Heard {
        /// The ring that it names.
        ring: [u8; 4],
        /// Its number.
        number: u32,
    },
}

/// A probe of a path.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Probe {
    /// No two of one link have the same.
    pub number: u32,
    /// Zeros, so many that the datagram has its size.
    pub padding: Blob,
}

impl Probe {
    /// One that makes a datagram of `size` bytes.
    pub(crate) fn of(number: u32, size: usize) -> Control {
        let padding = frame_bytes(size).saturating_sub(PROBE_BYTES);
        Control::Probe(Self { number, padding: vec![0; padding].into() })
    }

    /// The size of the datagram that it came in.
    pub(crate) fn size(&self) -> usize {
        self.padding.0.len().saturating_add(PROBE_BYTES + crate::limits::SEALED_OVERHEAD)
    }
}

/// Length of a probe without padding: version, kind, number, length of the padding.
const PROBE_BYTES: usize = 1 + 1 + 4 + 4;

impl Control {
    /// Reads a control message.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        codec::decode(bytes)
    }

    /// Writes it.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }
}

/// Where a frame goes: to the stack, or to the other link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// [`Control`].
    Control,
    /// For the stack.
    Channel(Channel),
}

impl Lane {
    fn decode(byte: u8) -> Option<Self> {
        Some(match byte {
            0 => Self::Control,
            1 => Self::Channel(Channel::Ring),
            2 => Self::Channel(Channel::Transcript),
            3 => Self::Channel(Channel::Admission),
            _ => return None,
        })
    }

    fn byte(self) -> u8 {
        match self {
            Self::Control => 0,
            Self::Channel(channel) => channel as u8,
        }
    }
}

/// One frame, or one fragment of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where it goes.
    pub lane: Lane,
    /// Which fragment of which frame, if it is one: id, part, parts.
    pub fragment: Option<(u32, u8, u8)>,
    /// Its bytes.
    pub bytes: Bytes,
}

/// The form of one piece: its lane, its position among fragments, and the lengths of its header and
/// its body in bytes.
struct Form {
    lane: Lane,
    fragment: Option<(u32, u8, u8)>,
    header: usize,
    body: usize,
}

fn form(input: &[u8]) -> Result<Option<Form>, DecodeError> {
    let Some((head, tail)) = input.split_first_chunk::<FRAME_HEADER_BYTES>() else {
        return if input.is_empty() { Ok(None) } else { Err(DecodeError::Malformed) };
    };
    let [lane, high, low] = *head;
    let length = usize::from(u16::from_be_bytes([high, low]));
    let mut body = tail.get(..length).ok_or(DecodeError::Malformed)?;
    let decoded = Lane::decode(lane & !FRAGMENT_BIT).ok_or(DecodeError::Malformed)?;
    if lane & FRAGMENT_BIT == 0 {
        return Ok(Some(Form { lane: decoded, fragment: None, header: FRAME_HEADER_BYTES, body: length }));
    }
    let id = u32::from_be_bytes(take(&mut body)?);
    let [part, parts] = take(&mut body)?;
    if parts < 2 || part >= parts || body.is_empty() {
        return Err(DecodeError::Malformed);
    }
    let header = FRAME_HEADER_BYTES.saturating_add(FRAGMENT_HEADER_BYTES);
    Ok(Some(Form { lane: decoded, fragment: Some((id, part, parts)), header, body: body.len() }))
}

/// Whether `input` is one piece or more, to the last byte (LINK-12).
pub(crate) fn well_formed(mut input: &[u8]) -> bool {
    if input.is_empty() {
        return false;
    }
    loop {
        match form(input) {
            Ok(None) => return true,
            Ok(Some(form)) => input = input.get(form.header.saturating_add(form.body)..).unwrap_or_default(),
            Err(_) => return false,
        }
    }
}

/// Reads the next piece of opened frames; `None` at the end.
///
/// # Errors
/// `Malformed`: unknown channel, a length that runs over the end, an impossible fragment.
pub fn next_piece(rest: &mut Bytes) -> Result<Option<Piece>, DecodeError> {
    let Some(form) = form(rest)? else { return Ok(None) };
    rest.advance(form.header);
    let bytes = rest.split_to(form.body);
    Ok(Some(Piece { lane: form.lane, fragment: form.fragment, bytes }))
}

/// Writes a whole frame, given in parts. The caller has made sure that it fits.
pub(crate) fn put_frame(out: &mut BytesMut, lane: Lane, parts: &[&[u8]], length: usize) {
    out.put_u8(lane.byte());
    out.put_u16(u16::try_from(length).unwrap_or(u16::MAX));
    for part in parts {
        out.put_slice(part);
    }
}

/// Writes a fragment. The caller has made sure that it fits.
pub(crate) fn put_fragment(out: &mut BytesMut, lane: Lane, place: (u32, u8, u8), bytes: &[u8]) {
    let length = bytes.len().saturating_add(FRAGMENT_HEADER_BYTES);
    out.put_u8(lane.byte() | FRAGMENT_BIT);
    out.put_u16(u16::try_from(length).unwrap_or(u16::MAX));
    out.put_u32(place.0);
    out.put_u8(place.1);
    out.put_u8(place.2);
    out.put_slice(bytes);
}
