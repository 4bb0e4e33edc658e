//! Why a member does not start, and why it does not send a message.

use folkmoot_admission::AdmissionError;
use folkmoot_base::{Fault, Refused, RefusedBy};
use folkmoot_letters::LettersError;
use folkmoot_transcript::ItemError;

/// What is wrong with the data that a member starts from. Nothing that a peer sends ends a member.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemberError {
    /// The given charter is not valid.
    #[error("the charter is not valid: {0}. Ask a founder for charter.cms as all founders signed it")]
    LocalCharter(#[from] folkmoot_identity::CharterError),
    /// The line of decisions in the store is not valid: the store is damaged, or belongs to
    /// another group.
    #[error(
        "the stored transcript is not valid: {0}. Move the store away (member.sqlite, with its -wal file, if there is one) and start \
         again: the others have the transcript. An authority's folder, or its replica's, is never restored from a backup"
    )]
    StoreTranscript(#[source] Box<ItemError>),
    /// Requests or votes in the store are damaged.
    #[error(
        "the stored votes are not valid: {0}. Move the store away (member.sqlite, with its -wal file, if there is one) and start \
         again: the voters vote once more"
    )]
    StoreVotes(#[source] Box<AdmissionError>),
    /// The authority's office in the store is damaged, or may not be run in this way.
    #[error("{0}{then}", then = after_office(.0))]
    StoreOffice(#[source] Box<AdmissionError>),
}

impl From<ItemError> for MemberError {
    fn from(error: ItemError) -> Self {
        Self::StoreTranscript(Box::new(error))
    }
}

impl From<AdmissionError> for MemberError {
    fn from(error: AdmissionError) -> Self {
        Self::StoreVotes(Box::new(error))
    }
}

/// What to do about a damaged office; the texts of the other errors say it themselves.
fn after_office(error: &AdmissionError) -> &'static str {
    match error {
        AdmissionError::LocalCorrupt(_) => {
            ". Never restore this folder from a backup: set it up anew as one that was lost (docs/cli.md, \"Replicas of an authority\")"
        }
        _ => "",
    }
}

/// Why a message was not sent. No part of it has been sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The group was not joined.
    #[error("this member is not in that group: join it first")]
    LocalNotJoined,
    /// The message is longer than a message may be.
    #[error("{0} bytes are more than a message may have")]
    LocalTooLong(usize),
    /// The message is longer than one that may be lost may be.
    #[error("{0} bytes are more than an unreliable message may have (1 MiB): send it as reliable")]
    LocalTooLongUnreliable(usize),
    /// The view has no quorum of the electorate, and the charter allows such a side only to read,
    /// or to do nothing.
    #[error("this side of the split is a minority, and the charter does not let a minority send")]
    LocalMinority,
    /// The limit of what is held while a key is being agreed is reached.
    #[error("there is no key yet, and no more can be held: wait for the next view")]
    LocalHeldFull,
    /// A letter or an answer that cannot be sent.
    #[error("{0}")]
    Letter(LettersError),
    /// The member left the group, or was removed, before a key came.
    #[error("the group was left before the message could be sealed")]
    LocalLeft,
}

impl SendError {
    /// The refusal of an order to send: for programs, and in words.
    pub fn refused(&self) -> Refused {
        Refused::new(self.refused_by(), self)
    }

    const fn refused_by(&self) -> RefusedBy {
        match self {
            Self::LocalNotJoined => RefusedBy::new(Fault::Order, "not-joined"),
            Self::LocalTooLong(_) | Self::LocalTooLongUnreliable(_) => {
                RefusedBy::new(Fault::Order, "too-long")
            }
            Self::LocalMinority => RefusedBy::new(Fault::Group, "minority"),
            Self::LocalHeldFull => RefusedBy::new(Fault::Member, "no-room"),
            Self::Letter(error) => error.refused_by(),
            Self::LocalLeft => RefusedBy::new(Fault::Member, "left"),
        }
    }
}
