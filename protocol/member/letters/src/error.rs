//! Why a letter, an answer or a message about them is refused, and whose fault it is.

use crate::TEXT_BYTES_MAX;
use folkmoot_base::{DecodeError, Fault, MemberId, NodeId, RefusedBy};

/// Refused; nothing changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LettersError {
    /// Not a message of this layer (LET-01).
    #[error("a message is malformed (LET-01): {0}")]
    Wire(#[from] DecodeError),
    /// Empty, too long, or too many (LET-02).
    #[error(
        "{0} broke a limit: a text has 1 to {TEXT_BYTES_MAX} bytes, and a list at most 8 answers (LET-02)"
    )]
    PeerText(usize),
    /// A message that this side does not accept (LET-03).
    #[error("{0} sent what only the other side sends (LET-03)")]
    PeerOutOfTurn(NodeId),
    /// More messages than a guest may send (LET-04).
    #[error("{0} sends too often (LET-04)")]
    PeerTooOften(NodeId),
    /// A Key that does not answer our Ask (LET-05).
    #[error("the key that {0} names is not the one that we asked for (LET-05)")]
    PeerOtherKey(NodeId),
    /// Sent in the name of somebody who is not a member, or not signed by that member, or by
    /// another party than the one that it names (LET-06, LET-10).
    #[error("{0}, who signed this, is not a member as far as is known here (LET-06)")]
    PeerNotMember(MemberId),
    /// The sealed bytes do not open (LET-07).
    #[error("what {0} sent does not open (LET-07)")]
    PeerSealed(NodeId),
    /// The writer's certificate or signature is not valid, or is somebody else's (LET-08).
    #[error("the letter is not signed by {0}, who brought it (LET-08)")]
    PeerLetter(NodeId),
    /// A letter for another group or epoch than the one that it was sealed for (LET-08).
    #[error("the letter names another group or epoch (LET-08)")]
    PeerOtherEpoch,
    /// The writer is a member (LET-09).
    #[error("{0} is a member and can speak in the group (LET-09)")]
    PeerMember(MemberId),
    /// The charter does not allow letters (LET-09).
    #[error("the charter does not allow letters (letters = false) (LET-09)")]
    LocalClosed,
    /// An answer to a letter that is not known here (LET-11).
    #[error("no letter of that name is known here (LET-11)")]
    UnknownLetter,
    /// A letter has as many answers as it may have, or a writer as many letters under way.
    #[error("there are {0} already, and no more are allowed")]
    LocalFull(usize),
    /// The text to send is empty or too long.
    #[error("the text has {0} bytes; 1 to {TEXT_BYTES_MAX} are allowed")]
    LocalText(usize),
}

impl LettersError {
    /// What programs are told of a letter or an answer that is refused.
    pub const fn refused_by(&self) -> RefusedBy {
        use Fault::{Group, Member, Order};
        match self {
            Self::Wire(_) => RefusedBy::rule(Order, "malformed", "LET-01"),
            Self::PeerText(_) => RefusedBy::rule(Order, "text-length", "LET-02"),
            Self::PeerOutOfTurn(_) => RefusedBy::rule(Order, "out-of-turn", "LET-03"),
            Self::PeerTooOften(_) => RefusedBy::rule(Group, "too-often", "LET-04"),
            Self::PeerOtherKey(_) => RefusedBy::rule(Group, "other-key", "LET-05"),
            Self::PeerNotMember(_) => RefusedBy::rule(Group, "not-a-member", "LET-06"),
            Self::PeerSealed(_) => RefusedBy::rule(Group, "sealed", "LET-07"),
            Self::PeerLetter(_) => RefusedBy::rule(Order, "not-yours", "LET-08"),
            Self::PeerOtherEpoch => RefusedBy::rule(Order, "other-epoch", "LET-08"),
            Self::PeerMember(_) => RefusedBy::rule(Member, "member-already", "LET-09"),
            Self::LocalClosed => RefusedBy::rule(Group, "no-letters", "LET-09"),
            Self::UnknownLetter => RefusedBy::rule(Order, "letter-unknown", "LET-11"),
            Self::LocalFull(_) => RefusedBy::new(Group, "too-many-letters"),
            Self::LocalText(_) => RefusedBy::new(Order, "text-length"),
        }
    }
}
