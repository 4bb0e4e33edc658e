//! What is refused, and whose fault it is.

use folkmoot_base::{DecodeError, NodeId};

/// Why a frame was refused. The state is as it was before the frame came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RingError {
    /// The bytes are not a frame of the ring (RING-01).
    #[error("{peer} sent bytes that are not a ring frame")]
    PeerMalformed {
        /// The peer that sent it.
        peer: NodeId,
        /// What is wrong with them.
        #[source]
        source: DecodeError,
    },
    /// A frame says something that no correct node says (RING-02 to RING-09).
    #[error("{peer} broke rule {rule}")]
    PeerIllegal {
        /// The peer that sent it.
        peer: NodeId,
        /// Which rule of docs/protocol/ring.md.
        rule: &'static str,
    },
    /// The frame comes from a node that may not take part now (RING-03). It is counted, and nobody
    /// is blamed: the link may be younger than the frame.
    #[error("{peer} may not take part in this ring")]
    PeerIneligible {
        /// The peer that sent it.
        peer: NodeId,
    },
}

/// Why a message was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// The queue is full: wait until messages have left it (`Output::Left`) and try again.
    #[error("the ring's queue is full")]
    LocalFull,
    /// The message is longer than any message may be.
    #[error("the message has {got} bytes; at most {most} are allowed")]
    LocalTooLong {
        /// Its length.
        got: usize,
        /// The greatest length allowed.
        most: usize,
    },
}

/// The stored ring number is not one (eight bytes, big endian).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored ring number has {0} bytes instead of 8")]
pub struct StoredError(pub usize);
