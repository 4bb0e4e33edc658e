//! Why a datagram is refused. All of them are the sender's fault, and none changes the state.

use crate::ChannelError;

/// Why a datagram is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// It is shorter than its header, or does not begin as one of LCM's does (PUB-01).
    #[error("the datagram is not one of LCM")]
    PeerForeign,
    /// It is one of LCM's secured form, which a plain receiver does not read (PUB-01).
    #[error("the datagram is secured")]
    PeerSecured,
    /// It is plain, and the receiver reads the secured form (PUB-17).
    #[error("the datagram is not secured")]
    PeerPlain,
    /// Its sender is nobody (PUB-17).
    #[error("the datagram is of sender 0, which nobody is")]
    PeerNobody,
    /// What names its channel is no name (PUB-02).
    #[error("the datagram names no channel: {0}")]
    PeerChannel(ChannelError),
    /// Its channel's name does not end (PUB-02).
    #[error("the name of the datagram's channel does not end")]
    PeerEndless,
    /// Its header contradicts itself or its length (PUB-03).
    #[error("the fragment contradicts itself")]
    PeerContradicts,
    /// The message is longer than what is taken (PUB-04).
    #[error("the message has {0} bytes, and is longer than what is taken")]
    PeerTooLong(u32),
}
