//! Why a letter, an answer or a message about them is refused, and whose fault it is.

use crate::TEXT_BYTES_MAX;
use folkmoot_base::{DecodeError, MemberId, NodeId};

/// Refused; nothing changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LettersError {
    /// Not a message of this layer (LET-01).
    #[error("LET-01 malformed: {0}")]
    Wire(#[from] DecodeError),
    /// Empty, too long, or too many (LET-02).
    #[error("LET-02 {0} broke a limit: a text has 1 to {TEXT_BYTES_MAX} bytes, and a list at most 8 answers")]
    PeerText(usize),
    /// A message that this side does not accept (LET-03).
    #[error("LET-03 {0} sent what only the other side sends")]
    PeerOutOfTurn(NodeId),
    /// More messages than a guest may send (LET-04).
    #[error("LET-04 {0} sends too often")]
    PeerTooOften(NodeId),
    /// A Key that does not answer our Ask (LET-05).
    #[error("LET-05 the key that {0} names is not the one that we asked for")]
    PeerOtherKey(NodeId),
    /// Sent in the name of somebody who is not a member, or not signed by that member (LET-06,
    /// LET-10).
    #[error("LET-06 {0}, who signed this, is not a member as far as is known here")]
    PeerNotMember(MemberId),
    /// The sealed bytes do not open (LET-07).
    #[error("LET-07 what {0} sent does not open")]
    PeerSealed(NodeId),
    /// The writer's certificate or signature is not valid, or is somebody else's (LET-08).
    #[error("LET-08 the letter is not signed by {0}, who brought it")]
    PeerLetter(NodeId),
    /// A letter for another group or epoch than the one that it was sealed for (LET-08).
    #[error("LET-08 the letter names another group or epoch")]
    PeerOtherEpoch,
    /// The writer is a member (LET-09).
    #[error("LET-09 {0} is a member and can speak in the group")]
    PeerMember(MemberId),
    /// The charter does not allow letters (LET-09).
    #[error("LET-09 the charter does not allow letters (letters = false)")]
    LocalClosed,
    /// An answer to a letter that is not known here (LET-11).
    #[error("LET-11 no letter of that name is known here")]
    UnknownLetter,
    /// A letter has as many answers as it may have, or a writer as many letters under way.
    #[error("there are {0} already, and no more are allowed")]
    LocalFull(usize),
    /// The text to send is empty or too long.
    #[error("the text has {0} bytes; 1 to {TEXT_BYTES_MAX} are allowed")]
    LocalText(usize),
}
