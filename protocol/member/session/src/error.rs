//! Why something was not sealed, opened or held.

use crate::base::Party;

/// Why a message was not sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// There is no epoch, or sealing is stopped: call `hold` with the message.
    #[error("there is no key now")]
    NoEpoch,
    /// The epoch has sealed as many messages as it may: call `hold` with the message, and ask for a
    /// new key.
    #[error("this key has sealed as many messages as it may")]
    EpochSpent,
    /// Longer than a message may be.
    #[error("the message is {excess_bytes} bytes too long")]
    LocalTooLong {
        /// How much too long, in bytes.
        excess_bytes: usize,
    },
}

/// Why a message was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Too short, too long, or of a version that is not known here.
    #[error("the bytes are not a sealed message")]
    PeerMalformed,
    /// The party that sent it is not one of the epoch's.
    #[error("{0} is no party of the view whose key this is")]
    PeerNotSender(Party),
    /// The number was seen before, or is behind the window.
    #[error("{0} used a number twice")]
    PeerReplayed(Party),
    /// The sealed bytes are neither a text nor a signature and a text. Only somebody who holds the
    /// key can have made them.
    #[error("{0} sealed something that is not a message")]
    PeerContent(Party),
    /// It claims to have its sender's signature, and that does not verify. Only somebody who holds
    /// the key can have made it.
    #[error("{0} sent a message whose signature does not verify")]
    PeerSignature(Party),
    /// The epoch has ended; its key is erased.
    #[error("the epoch is over")]
    WireClosedEpoch,
    /// The epoch is not open yet, and no more messages can be held.
    #[error("no more can be held for an epoch that is not open yet")]
    WireHeldFull,
    /// It did not open. Blame nobody.
    #[error("the message did not open")]
    WireForged,
}

/// Why a message was not held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HoldError {
    /// The queue is full: nothing was kept.
    #[error("no more messages can wait for a key")]
    Full,
    /// Longer than a message may be.
    #[error("the message is {excess_bytes} bytes too long")]
    LocalTooLong {
        /// How much too long, in bytes.
        excess_bytes: usize,
    },
}

/// Why an epoch was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The list lacks this party, names a party twice, or is too long.
    #[error("the list of parties does not fit")]
    LocalMembers,
    /// The same key and view were opened before.
    #[error("the epoch was opened before")]
    LocalReused,
    /// The view is of another group.
    #[error("the view is of another group")]
    LocalOtherGroup,
}
