//! The one message: a sealed application message, sender → all members of its view.
//!
//! ```text
//!  0        1           9        11          19
//!  +--------+-----------+--------+-----------+--------------------+--------+
//!  | version| epoch tag | sender | counter   | ciphertext         | tag    |
//!  | 1      | 8         | 2      | 8         | 1..=16 MiB + 516   | 16     |
//!  +--------+-----------+--------+-----------+--------------------+--------+
//!  sealed:  0 ‖ text                      not signed
//!           1 ‖ signature ‖ text          signed by its sender: seen by those who open it, and nobody else
//!           2 ‖ message                   of the letters layer, which signs its messages itself
//! ```
//! Big endian. Nonce: four zero bytes, then the counter. Additional data: the header, GroupId,
//! ViewId.

use crate::base::limits::MESSAGE_BYTES_MAX;
use crate::error::OpenError;
use crate::identity::{Signature, Stamp};
use bytes::Bytes;
use folkmoot_base::codec::DeserializeBytes;
use folkmoot_base::{MemberId, SIGNATURE_BYTES_MAX, Service, SignatureBytes, ViewId};

/// The version in the first byte.
pub const VERSION: u8 = 2;
/// Bytes before the ciphertext.
pub const HEADER_BYTES: usize = 19;
/// Bytes after it.
pub const TAG_BYTES: usize = 16;
/// Sealed before the text of a message that is not signed.
pub const PLAIN_BYTES: usize = 1;
/// Sealed before the text of a message that is signed with P-256: the first byte, algorithm,
/// length, r ‖ s.
pub const SIGNED_BYTES: usize = 68;
/// The same for the longest signature.
const SIGNED_BYTES_MAX: usize = 4 + SIGNATURE_BYTES_MAX;
/// The longest sealed message.
pub const SEALED_BYTES_MAX: usize = HEADER_BYTES + SIGNED_BYTES_MAX + MESSAGE_BYTES_MAX + TAG_BYTES;
/// The first sealed byte.
const PLAIN: u8 = 0;
const SIGNED: u8 = 1;
const LETTERS: u8 = 2;

/// The layer that the plaintext belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Content {
    /// The application.
    #[default]
    Text,
    /// The letters layer.
    Letters,
}

/// Public name of an epoch on the wire. It is derived from the epoch's key and commits to it, so
/// that at most one key is ever tried.
pub(crate) type EpochTag = [u8; 8];

/// The bytes before the ciphertext.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) epoch: EpochTag,
    pub(crate) sender: u16,
    pub(crate) counter: u64,
}

impl Header {
    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = [VERSION; HEADER_BYTES];
        let fields =
            self.epoch.into_iter().chain(self.sender.to_be_bytes()).chain(self.counter.to_be_bytes());
        out.iter_mut().skip(1).zip(fields).for_each(|(to, from)| *to = from);
        out
    }

    /// Reads the header of a sealed message of legal length (SES-01).
    pub(crate) fn decode(sealed: &[u8]) -> Result<Self, OpenError> {
        let around = HEADER_BYTES.saturating_add(TAG_BYTES);
        if sealed.len() < around.saturating_add(PLAIN_BYTES) || sealed.len() > SEALED_BYTES_MAX {
            return Err(OpenError::PeerMalformed);
        }
        let bad = OpenError::PeerMalformed;
        let (version, rest) = sealed.split_first().ok_or(bad)?;
        let (epoch, rest) = rest.split_first_chunk::<8>().ok_or(bad)?;
        let (sender, rest) = rest.split_first_chunk::<2>().ok_or(bad)?;
        let (counter, _) = rest.split_first_chunk::<8>().ok_or(bad)?;
        if *version != VERSION {
            return Err(bad);
        }
        Ok(Self { epoch: *epoch, sender: u16::from_be_bytes(*sender), counter: u64::from_be_bytes(*counter) })
    }
}

/// What came with a message besides its text, sender, view and service. Together these are
/// everything that a signature covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    pub fn stamp(&self, view: ViewId, sender: MemberId, service: Service) -> Stamp {
        Stamp { view, epoch: self.epoch, sender, number: self.number, service }
    }
}

/// The sealed bytes that come before the text.
pub(crate) fn front(content: Content, signature: Option<&Signature>) -> ([u8; SIGNED_BYTES], usize) {
    let first = if content == Content::Letters { LETTERS } else { PLAIN };
    let mut out = [first; SIGNED_BYTES];
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
        SIGNED => {
            let (signature, text) = SignatureBytes::tls_deserialize_bytes(rest).ok()?;
            let text = opened.len().saturating_sub(text.len());
            Some((Content::Text, Some(signature), opened.slice(text..)))
        }
        _ => None,
    }
}
