//! Why something is not sealed, not opened, or not installed.

use super::{Domain, SenderId};
use crate::{Channel, TooLong, WireError};

/// Why a key is not taken. The fault is on this side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// It is of another mode.
    #[error("the key for {0} is of another mode than this program's")]
    LocalMode(Domain),
    /// It is of another multicast group.
    #[error("the key for {0} is of another multicast group than this program's")]
    LocalGroup(Domain),
    /// It was used before (PUB-22).
    #[error("the key for {0} was used before; a new agreement makes a new one")]
    LocalRepeated(Domain),
    /// This program did not agree on it.
    #[error("sender {1} is not one of those who agreed on the key for {0}")]
    LocalNotMember(Domain, SenderId),
    /// There are too many channels.
    #[error("the key for {0} would be one of too many; there are at most {1} channels")]
    LocalCrowded(Domain, usize),
}

/// Why a message is not sealed. The fault is on this side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// There is no key for it.
    #[error("there is no key for {0} yet; it comes with an agreement")]
    LocalNoKey(Domain),
    /// All numbers under the key are used (PUB-22).
    #[error("all numbers under the key for {0} are used; agree on a new one")]
    LocalSpent(Domain),
    /// The channel is signed, and there is no key to sign with.
    #[error("messages on {0} are signed, and this program has no key to sign with")]
    LocalNoSignature(Domain),
    /// As many messages as one signature can attest wait for that.
    #[error("too many messages on {0} are not attested yet; attest them before the next")]
    LocalUnattested(Domain),
    /// It is too long.
    #[error(transparent)]
    LocalTooLong(#[from] TooLong),
    /// The cipher refuses, which it does for no message that is short enough.
    #[error("the cipher refuses the message")]
    LocalCipher,
}

/// Why a datagram, or the message that it completes, is refused. None of them changes what is known
/// of the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// It breaks a rule of the plain wire.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// It is under a key of the multicast group or of the channel that is not here (PUB-21).
    #[error("it is under a key that is not here any more, or not yet")]
    PeerEpoch,
    /// Its name is none under the group's key (PUB-20).
    #[error("its channel is no name under the group's key")]
    PeerName,
    /// Its channel's key is not here. The name is as the group's key shows it, and nobody has
    /// vouched for it.
    #[error("there is no key here for the channel {0:?}")]
    LocalUnreadable(Channel),
    /// Its sender did not agree on the key (PUB-24).
    #[error("sender {0} did not agree on the key")]
    PeerStranger(SenderId),
    /// Its number came already, or is too old to know (PUB-23).
    #[error("number {1} of sender {0} came already, or is too old to know")]
    PeerReplayed(SenderId, u32),
    /// It is sealed otherwise than it should be (PUB-18, PUB-19).
    #[error("it is not sealed by somebody with the channel's key")]
    PeerForged,
    /// It has no signature of its sender (PUB-25).
    #[error("sender {0} has not signed it")]
    PeerUnsigned(SenderId),
}
