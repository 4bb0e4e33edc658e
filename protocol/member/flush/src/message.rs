//! What this layer multicasts to its group, always agreed or safe, so that everything of a group is
//! in one order.
//!
//! | frame | from → to | means |
//! |---|---|---|
//! | FLUSH_OK | each party, for the newest notice → all | I send no more in the view before; my transcript's heads digest; what the layer above brings along |
//! | FLUSH_RECV | each party, once in a view → all | I have installed it |
//! | Data | a party → all | a message of the layer above, in that view |
//!
//! No frame names a party. The sender is the one that the group layer names, and the parties of a
//! view are those of its notice.
//!
//! Data has a fixed head, and its payload is a slice of what was delivered:
//! ```text
//!   kind 1 | view tag 8 | payload ...
//!   kind   0xD0 agreed, 0xD1 safe; 2 more if the payload is for the session, and not for keying
//! ```

use crate::DATA_HEADER_BYTES;
use bytes::Bytes;
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Blob, DecodeError, Digest, Service, ViewId, digest};

const DATA: u8 = 0xD0;
const SAFE_BIT: u8 = 1;
const SESSION_BIT: u8 = 2;
const TAG_BYTES: usize = 8;
/// The most bytes that the layer above may bring along.
pub const BRINGS_BYTES_MAX: usize = 64;

/// The layer above that a payload is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// Agrees on a key for the view.
    Keying,
    /// Seals under that key.
    Session,
}

/// A short name of a view: the first bytes of a digest of its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewTag(pub [u8; TAG_BYTES]);

impl ViewTag {
    /// The tag of `view`.
    pub fn of(view: &ViewId) -> Self {
        let whole = digest(&[b"folkmoot view tag v1", &codec::encode(view)]);
        let mut tag = [0; TAG_BYTES];
        for (to, from) in tag.iter_mut().zip(whole) {
            *to = from;
        }
        Self(tag)
    }
}

/// A message from one party to all.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Control {
    /// The sender sends no more in the view before this one.
    #[tls_codec(discriminant = 1)]
    FlushOk {
        /// The view to come: the newest notice.
        view: ViewId,
        /// Digest of the heads of the sender's transcript.
        heads: Digest,
        /// What the sender's layer above brings into the view, up to [`BRINGS_BYTES_MAX`]; this
        /// layer does not look at it.
        brings: Blob,
    },
    /// The sender has installed this view.
    #[tls_codec(discriminant = 2)]
    FlushReceived {
        /// Which view.
        view: ViewId,
    },
}

/// Any frame of this layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// For this layer.
    Control(Control),
    /// For the layer above.
    Data {
        /// In which view it was sent.
        tag: ViewTag,
        /// The service that its sender asked for.
        service: Service,
        /// The layer above that it is for.
        to: For,
        /// The payload.
        payload: Bytes,
    },
}

/// Encodes a control message.
pub fn encode(control: &Control) -> Bytes {
    codec::encode(control).into()
}

/// The head of a message.
pub fn data_header(tag: &ViewTag, service: Service, to: For) -> [u8; DATA_HEADER_BYTES] {
    let safe = if service == Service::Safe { SAFE_BIT } else { 0 };
    let session = if to == For::Session { SESSION_BIT } else { 0 };
    let mut header = [DATA | safe | session; DATA_HEADER_BYTES];
    header.iter_mut().skip(1).zip(tag.0).for_each(|(to, from)| *to = from);
    header
}

/// Decodes a frame.
///
/// # Errors
/// Any [`DecodeError`]: FLU-01.
pub fn decode(bytes: &Bytes) -> Result<Frame, DecodeError> {
    let kind = bytes.first().copied().unwrap_or_default();
    if kind & !(SAFE_BIT | SESSION_BIT) != DATA {
        let control = codec::decode(bytes)?;
        return match &control {
            Control::FlushOk { brings: Blob(brings), .. } if brings.len() > BRINGS_BYTES_MAX => {
                Err(DecodeError::TooLong { got: brings.len(), most: BRINGS_BYTES_MAX })
            }
            _ => Ok(Frame::Control(control)),
        };
    }
    let header = bytes.get(..DATA_HEADER_BYTES).ok_or(DecodeError::Malformed)?;
    let tag = header.get(1..=TAG_BYTES).and_then(|tag| tag.try_into().ok()).ok_or(DecodeError::Malformed)?;
    let service = if kind & SAFE_BIT == 0 { Service::Agreed } else { Service::Safe };
    let to = if kind & SESSION_BIT == 0 { For::Keying } else { For::Session };
    Ok(Frame::Data { tag: ViewTag(tag), service, to, payload: bytes.slice(DATA_HEADER_BYTES..) })
}
