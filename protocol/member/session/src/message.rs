//! The one message: a sealed application message, sender → all parties of its view.
//!
//! ```text
//!  0           8         12
//!  +-----------+---------+--------------------+--------+
//!  | epoch tag | counter | ciphertext         | tag    |
//!  | 8         | 4       | 1..=16 MiB + 516   | 16     |
//!  +-----------+---------+--------------------+--------+
//!  sealed:  0 ‖ text                      not signed
//!           1 ‖ signature ‖ text          signed by its sender: seen by those who open it, and nobody else
//!           2 ‖ message                   of the letters layer, which signs its messages itself
//!           3 ‖ (length u16 ‖ text) ...   two texts or more, not signed; their numbers are counter, counter + 1, ...
//! ```
//! Big endian. Nonce: eight zero bytes, then the counter. Additional data: the header. Group, view,
//! parties and sender are in what the key is derived from.

use crate::base::limits::MESSAGE_BYTES_MAX;
use crate::error::OpenError;
use crate::identity::{Signature, Stamp};
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use folkmoot_base::codec::DeserializeBytes;
use folkmoot_base::{Party, Pool, SIGNATURE_BYTES_MAX, Service, SignatureBytes, ViewId};

/// Bytes before the ciphertext.
pub const HEADER_BYTES: usize = 12;
/// Bytes after it.
pub const TAG_BYTES: usize = 16;
/// Sealed before the text of a message that is not signed.
pub const PLAIN_BYTES: usize = 1;
/// Sealed before the text of a message with the longest signature: the first byte, algorithm,
/// length, signature.
const SIGNED_BYTES_MAX: usize = 4 + SIGNATURE_BYTES_MAX;
/// The longest sealed message.
pub const SEALED_BYTES_MAX: usize = HEADER_BYTES + SIGNED_BYTES_MAX + MESSAGE_BYTES_MAX + TAG_BYTES;
/// The first sealed byte.
const PLAIN: u8 = 0;
const SIGNED: u8 = 1;
const LETTERS: u8 = 2;
const TEXTS: u8 = 3;
/// Most texts in one seal: the numbers of all of them are looked up when it is opened.
const TEXTS_MAX: u32 = 1_024;
/// Before each of several texts: its length.
pub const LENGTH_BYTES: usize = 2;

/// The layer that the plaintext belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Content {
    /// The application.
    #[default]
    Text,
    /// The letters layer.
    Letters,
    /// The application: several texts.
    Texts,
}

/// Public name of an epoch on the wire. It is derived from the epoch's key and commits to it, so
/// that at most one key is ever tried.
pub(crate) type EpochTag = [u8; 8];

/// The bytes before the ciphertext.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) epoch: EpochTag,
    pub(crate) counter: u32,
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        let fields = self.epoch.into_iter().chain(self.counter.to_be_bytes());
        out.iter_mut().zip(fields).for_each(|(to, from)| *to = from);
        out
    }

    /// Reads the header of a sealed message of legal length (SES-01).
    pub(crate) fn decode(sealed: &[u8]) -> Result<Self, OpenError> {
        let around = HEADER_BYTES.saturating_add(TAG_BYTES);
        if sealed.len() < around.saturating_add(PLAIN_BYTES) || sealed.len() > SEALED_BYTES_MAX {
            return Err(OpenError::PeerMalformed);
        }
        let bad = OpenError::PeerMalformed;
        let (epoch, rest) = sealed.split_first_chunk::<8>().ok_or(bad)?;
        let (counter, _) = rest.split_first_chunk::<4>().ok_or(bad)?;
        Ok(Self { epoch: *epoch, counter: u32::from_be_bytes(*counter) })
    }
}

/// Several texts of one sender that are sealed together, while they are gathered.
#[derive(Debug, Default)]
pub struct Bundle {
    body: BytesMut,
    count: u32,
}

impl Bundle {
    /// Room for `bytes`, from `pool`.
    pub fn with_room(bytes: usize, pool: &mut Pool) -> Self {
        Self { body: pool.buffer(bytes), count: 0 }
    }

    /// Adds a text of at most 65,535 bytes.
    pub fn push(&mut self, text: &[u8]) {
        self.body.put_u16(u16::try_from(text.len()).unwrap_or(u16::MAX));
        self.body.put_slice(text);
        self.count = self.count.saturating_add(1);
    }

    /// What is to be sealed. Not for fewer than two texts.
    pub fn body(self) -> Body {
        Body { content: Content::Texts, bytes: self.body.freeze(), count: self.count }
    }
}

/// What is to be sealed.
#[derive(Debug, Clone)]
pub struct Body {
    pub(crate) content: Content,
    pub(crate) bytes: Bytes,
    /// How many numbers it takes.
    pub(crate) count: u32,
}

impl Body {
    /// A text of the application, 0 to [`MESSAGE_BYTES_MAX`] bytes.
    pub fn text(bytes: Bytes) -> Self {
        Self { content: Content::Text, bytes, count: 1 }
    }

    /// A message of the letters layer: whoever opens it hands it to that layer, not to the
    /// application (SES-16).
    pub fn letters(bytes: Bytes) -> Self {
        Self { content: Content::Letters, bytes, count: 1 }
    }
}

/// The first of the texts in `rest`, with its length before it, and what comes after it.
fn split_text(rest: &[u8]) -> Option<(usize, &[u8])> {
    let (length, after) = rest.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::from(u16::from_be_bytes(*length));
    Some((length, after.get(length..)?))
}

/// How many texts these are, if they are the texts of a bundle, to the last byte: two at least, and
/// at most [`TEXTS_MAX`].
pub(crate) fn count_texts(mut rest: &[u8]) -> Option<u32> {
    let mut count = 0_u32;
    while !rest.is_empty() && count <= TEXTS_MAX {
        let (_, after) = split_text(rest)?;
        (rest, count) = (after, count.saturating_add(1));
    }
    (2..=TEXTS_MAX).contains(&count).then_some(count)
}

/// Walks the texts of a message.
#[derive(Debug)]
pub struct Texts {
    rest: Bytes,
    whole: bool,
    origin: Origin,
}

impl Texts {
    pub(crate) fn of(payload: Bytes, content: Content, origin: Origin) -> Self {
        Self { rest: payload, whole: content != Content::Texts, origin }
    }
}

impl Iterator for Texts {
    type Item = (Origin, Bytes);

    fn next(&mut self) -> Option<(Origin, Bytes)> {
        let origin = self.origin.clone();
        if core::mem::take(&mut self.whole) {
            return Some((origin, core::mem::take(&mut self.rest)));
        }
        let (length, _) = split_text(&self.rest)?;
        self.rest.advance(LENGTH_BYTES);
        self.origin.number = origin.number.saturating_add(1);
        Some((origin, self.rest.split_to(length)))
    }
}

/// What came with a message besides its text, sender, view and service. Together these are
/// everything that a signature covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The public tag of the key that sealed it.
    pub epoch: [u8; 8],
    /// The message's number among its sender's messages under that key, from zero.
    pub number: u64,
    /// The sender's signature, if it gave one. It has been verified.
    pub signature: Option<Signature>,
}

impl Origin {
    /// Whether the sender signed it.
    pub fn is_signed(&self) -> bool {
        self.signature.is_some()
    }

    /// What a signature of this message covers, besides its text.
    pub fn stamp(&self, view: ViewId, sender: Party, service: Service) -> Stamp {
        Stamp { view, epoch: self.epoch, sender, number: self.number, service }
    }
}

/// The sealed bytes that come before the text: so many of these.
pub(crate) fn front(content: Content, signature: Option<&Signature>) -> ([u8; SIGNED_BYTES_MAX], usize) {
    let first = match content {
        Content::Text => PLAIN,
        Content::Letters => LETTERS,
        Content::Texts => TEXTS,
    };
    let mut out = [first; SIGNED_BYTES_MAX];
    let Some(signature) = signature else { return (out, PLAIN_BYTES) };
    let signature = signature.to_wire();
    let length = u16::try_from(signature.bytes.len()).unwrap_or_default().to_be_bytes();
    let fields = [SIGNED, signature.algorithm as u8].into_iter().chain(length).chain(signature.bytes);
    let count = out.iter_mut().zip(fields).map(|(to, from)| *to = from).count();
    (out, count)
}

/// Takes the sealed bytes apart, without a copy; the signature is returned as its bytes (SES-12).
pub(crate) fn parts(opened: &Bytes) -> Option<(Content, Option<SignatureBytes>, Bytes)> {
    let (first, rest) = opened.split_first()?;
    match *first {
        PLAIN => Some((Content::Text, None, opened.slice(PLAIN_BYTES..))),
        LETTERS => Some((Content::Letters, None, opened.slice(PLAIN_BYTES..))),
        TEXTS if count_texts(rest).is_some() => Some((Content::Texts, None, opened.slice(PLAIN_BYTES..))),
        SIGNED => {
            let (signature, text) = SignatureBytes::tls_deserialize_bytes(rest).ok()?;
            let text = opened.len().saturating_sub(text.len());
            Some((Content::Text, Some(signature), opened.slice(text..)))
        }
        _ => None,
    }
}
