//! What is refused, and whose doing it is.

use folkmoot_base::{DecodeError, NodeId};

/// Why a frame was refused. State is as it was before the frame came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RingError {
    /// The bytes are no frame of the ring (RING-01).
    #[error("{peer} sent bytes that are not a ring frame")]
    PeerMalformed {
        /// Who.
        peer: NodeId,
        /// What is wrong with them.
        #[source]
        source: DecodeError,
    },
    /// A frame says something that no correct node says (RING-02 to RING-09).
    #[error("{peer} broke rule {rule}")]
    PeerIllegal {
        /// Who.
        peer: NodeId,
        /// Which rule of docs/protocol/ring.md.
        rule: &'static str,
    },
    /// The frame comes from a node that may not take part now (RING-03). Counted; nobody is blamed:
    /// its link may be younger than its frame.
    #[error("{peer} may not take part in this ring")]
    PeerIneligible {
        /// Who.
        peer: NodeId,
    },
}

/// Why a message was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// The queue holds as much as it may: wait for `Output::Congested(false)` and try again.
    #[error("the ring's queue is full")]
    LocalFull,
    /// The message is longer than any message may be.
    #[error("{got} bytes where a message may have {most}")]
    LocalTooLong {
        /// Its length.
        got: usize,
        /// The most there may be.
        most: usize,
    },
}

/// The stored ring number is not one (eight bytes, big endian).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored ring number has {0} bytes instead of 8")]
pub struct StoredError(pub usize);
