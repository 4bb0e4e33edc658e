//! What replicas say to each other, with service safe, in their own group.
//!
//! ```text
//! State     each, first in a view   what it has on disk
//! Records   the one whose log stands, a batch at a time   what others lack
//! Propose   one whose authority has a record to log
//! Kept      each, when its disk has the log up to a place
//! ```
//! Each names its view: a message that was held while a key was agreed, and sealed in a later view,
//! counts for nothing there.

use super::ReplicasError;
use folkmoot_admission::LogRecord;
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{DecodeError, Digest, ViewId};
use folkmoot_identity::GMC_BYTES_MAX;

/// Longest record, in bytes: a certificate, and for which request.
pub const RECORD_BYTES_MAX: usize = GMC_BYTES_MAX + 64;
/// Most bytes of records in one [`Message::Records`], unless it is a single one.
pub const BATCH_BYTES_MAX: usize = 256 * 1024;
/// Longest message, in bytes.
pub const MESSAGE_BYTES_MAX: usize = BATCH_BYTES_MAX + RECORD_BYTES_MAX + 1024;

/// One replica to all of them, itself too.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Message {
    /// What it has on disk. First of all, once in a view.
    #[tls_codec(discriminant = 1)]
    State {
        /// Of which view.
        view: ViewId,
        /// What.
        has: Holding,
    },
    /// Records of the log that stands, in order, to those who lack them.
    #[tls_codec(discriminant = 2)]
    Records {
        /// Of which view.
        view: ViewId,
        /// The place of the first; places count from 1.
        from: u64,
        /// At least one.
        records: Vec<Blob>,
    },
    /// A record for the next place, unless the log has one for its request.
    #[tls_codec(discriminant = 3)]
    Propose {
        /// Of which view.
        view: ViewId,
        /// [`LogRecord`], encoded.
        record: Blob,
    },
    /// The log, up to a place, is on the sender's disk.
    #[tls_codec(discriminant = 4)]
    Kept {
        /// Of which view.
        view: ViewId,
        /// Up to here.
        place: u64,
        /// The chain's digest there: of every record up to it.
        tip: Digest,
    },
}

/// What a replica has on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Holding {
    /// The ring's number in the view in which it first saw that all logs were in sync; none if
    /// never.
    pub since: Option<u64>,
    /// The view in which its log was last in sync with the others'; none if never.
    pub epoch: Option<ViewId>,
    /// Records.
    pub length: u64,
    /// Of these, from the first on, those that stand for good.
    pub floor: u64,
    /// The chain's digest at `length`.
    pub tip: Digest,
}

impl Message {
    /// Its one encoding.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Reads a message.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        codec::decode_at_most(bytes, MESSAGE_BYTES_MAX)
    }

    /// For which view it was said.
    pub fn view(&self) -> &ViewId {
        match self {
            Self::State { view, .. }
            | Self::Records { view, .. }
            | Self::Propose { view, .. }
            | Self::Kept { view, .. } => view,
        }
    }
}

/// For which request a record is. Whether its certificate is one is for the authority's machine to
/// say.
///
/// # Errors
/// [`ReplicasError::LocalRecord`].
pub fn request_of(record: &[u8]) -> Result<Digest, ReplicasError> {
    if record.len() > RECORD_BYTES_MAX {
        return Err(ReplicasError::LocalRecord("it is too long"));
    }
    let read: Result<LogRecord, _> = codec::decode(record);
    read.map(|record| record.request).map_err(|_| ReplicasError::LocalRecord("it is not canonically encoded"))
}
