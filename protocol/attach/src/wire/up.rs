//! Program → node: [`ToNode`] as a frame.

use super::frame::{NOTHING, UP_HEAD_BYTES_MAX, check_payload, longest, put, split};
use super::{FrameError, ITEM_BYTES_MAX, PAYLOAD_BYTES_MAX};
use crate::ToNode;
use bytes::{Bytes, BytesMut};
use folkmoot_base::codec::{Size as _, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::limits::LONG_FRAME_BYTES_MAX;
use folkmoot_base::{GroupId, Head as Decision, Locator, NodeId, Party, Said, Service};

/// A [`ToNode`] without its payload.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
enum Head {
    #[tls_codec(discriminant = 1)]
    Attach { party: Party, charter: GroupId },
    #[tls_codec(discriminant = 2)]
    Detach { party: Party },
    #[tls_codec(discriminant = 3)]
    Word(Box<Said>),
    #[tls_codec(discriminant = 4)]
    Send { party: Party, group: GroupId, service: Service },
    #[tls_codec(discriminant = 5)]
    Item(GroupId),
    #[tls_codec(discriminant = 6)]
    Guest { from: Party, to: NodeId },
    #[tls_codec(discriminant = 7)]
    Dial(Locator),
    #[tls_codec(discriminant = 8)]
    Resolve(GroupId, Decision),
}

impl Head {
    /// What people call it, and the longest payload that it may have.
    fn kind(&self) -> (&'static str, usize) {
        match self {
            Self::Attach { .. } => ("attach", 0),
            Self::Detach { .. } => ("detach", 0),
            Self::Word(_) => ("a word", 0),
            Self::Send { .. } => ("a message", PAYLOAD_BYTES_MAX),
            Self::Item(_) => ("an item", ITEM_BYTES_MAX),
            Self::Guest { .. } => ("an admission frame", LONG_FRAME_BYTES_MAX),
            Self::Dial(_) => ("dial", 0),
            Self::Resolve(..) => ("resolve", 0),
        }
    }

    fn check(&self, payload: &[u8]) -> Result<(), FrameError> {
        let (kind, most) = self.kind();
        check_payload(kind, payload, most)
    }
}

impl ToNode {
    /// The longest frame, without its length.
    pub const FRAME_BYTES_MAX: usize = longest(UP_HEAD_BYTES_MAX);

    /// Appends its frame to `out`, all but the payload, which is to follow.
    ///
    /// # Errors
    /// What the node would answer to it; then `out` is as before.
    pub fn encode(self, out: &mut BytesMut) -> Result<Bytes, FrameError> {
        let (head, payload) = self.parts();
        head.check(&payload)?;
        let (got, most) = (head.tls_serialized_len().saturating_add(1), UP_HEAD_BYTES_MAX);
        if got > most {
            return Err(FrameError::TooLong { got, most });
        }
        put(&head, payload.len(), UP_HEAD_BYTES_MAX, out);
        Ok(payload)
    }

    /// Reads a frame, without its length. The payload is a part of its memory.
    ///
    /// # Errors
    /// Every [`FrameError`].
    pub fn decode(frame: BytesMut) -> Result<Self, FrameError> {
        let (head, payload) = split::<Head>(frame, UP_HEAD_BYTES_MAX)?;
        head.check(&payload)?;
        Ok(Self::of(head, payload.freeze()))
    }

    fn parts(self) -> (Head, Bytes) {
        match self {
            Self::Attach { party, charter } => (Head::Attach { party, charter }, NOTHING),
            Self::Detach { party } => (Head::Detach { party }, NOTHING),
            Self::Word(said) => (Head::Word(said), NOTHING),
            Self::Send { party, group, service, payload } => (Head::Send { party, group, service }, payload),
            Self::Item(charter, item) => (Head::Item(charter), item),
            Self::Guest { from, to, payload } => (Head::Guest { from, to }, payload),
            Self::Dial(at) => (Head::Dial(at), NOTHING),
            Self::Resolve(charter, head) => (Head::Resolve(charter, head), NOTHING),
        }
    }

    fn of(head: Head, payload: Bytes) -> Self {
        match head {
            Head::Attach { party, charter } => Self::Attach { party, charter },
            Head::Detach { party } => Self::Detach { party },
            Head::Word(said) => Self::Word(said),
            Head::Send { party, group, service } => Self::Send { party, group, service, payload },
            Head::Item(charter) => Self::Item(charter, payload),
            Head::Guest { from, to } => Self::Guest { from, to, payload },
            Head::Dial(at) => Self::Dial(at),
            Head::Resolve(charter, decision) => Self::Resolve(charter, decision),
        }
    }
}
