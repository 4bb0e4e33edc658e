//! What this layer multicasts to its group, always agreed or safe, so that everything of a group is
//! in one order.
//!
//! | frame | from → to | means |
//! |---|---|---|
//! | FLUSH_OK | each member, for the newest notice → all | I send no more in the view before; my transcript's heads digest; what the layer above brings along |
//! | FLUSH_RECV | each member, once in a view → all | I have installed it |
//! | Data | a member → all | a message of the layer above, in that view |
//!
//! Data has a fixed head, and its payload is a slice of what was delivered:
//! ```text
//!   0xD1 | view tag 16 | service | payload ...
//! ```

use crate::DATA_HEADER_BYTES;
use bytes::Bytes;
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Blob, DecodeError, Digest, Service, ViewId, digest};

const DATA: u8 = 0xD1;
const TAG_BYTES: usize = 16;
/// The most bytes that the layer above may bring along.
pub const BRINGS_BYTES_MAX: usize = 64;

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

/// A message from one member to all.
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
        /// The payload.
        payload: Bytes,
    },
}

/// Encodes a control message.
pub fn encode(control: &Control) -> Bytes {
    codec::encode(control).into()
}

/// The head of a message.
pub fn data_header(tag: &ViewTag, service: Service) -> [u8; DATA_HEADER_BYTES] {
    let mut header = [0; DATA_HEADER_BYTES];
    let parts = [DATA].into_iter().chain(tag.0).chain([service as u8]);
    for (to, from) in header.iter_mut().zip(parts) {
        *to = from;
    }
    header
}

/// Decodes a frame.
///
/// # Errors
/// Any [`DecodeError`]: FLU-01.
pub fn decode(bytes: &Bytes) -> Result<Frame, DecodeError> {
    if bytes.first() != Some(&DATA) {
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
    let service = match header.last() {
        Some(16) => Service::Agreed,
        Some(32) => Service::Safe,
        _ => return Err(DecodeError::Malformed),
    };
    Ok(Frame::Data { tag: ViewTag(tag), service, payload: bytes.slice(DATA_HEADER_BYTES..) })
}
