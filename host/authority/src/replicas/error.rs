//! What a replica refuses, and whose fault it is.

use folkmoot_base::{DecodeError, MemberId};

/// Why an input was refused. Nothing has changed then, but for [`Self::PeerDiverged`] and
/// [`Self::PeerAhead`]: the replica stops.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplicasError {
    /// `AUTH-01` Not in its one encoding, or too long.
    #[error("{0} sent something that is not a replica's message (AUTH-01): {1}")]
    PeerMalformed(MemberId, DecodeError),
    /// `AUTH-02` Said by a member that the founding charter does not list.
    #[error("{0} is in the group, but is not a replica (AUTH-02)")]
    PeerNotReplica(MemberId),
    /// `AUTH-03` Not what this replica had to say now.
    #[error("{0} spoke out of turn (AUTH-03): {1}")]
    PeerOutOfTurn(MemberId, &'static str),
    /// `AUTH-04` A record that is none.
    #[error("{0} sent a malformed record (AUTH-04)")]
    PeerRecord(MemberId),
    /// `AUTH-05` Two logs that must be one are not: a disk was changed or set back. Nothing is
    /// handed back any more.
    #[error(
        "the log here and that of {0} differ where they must not: a disk was rolled back or changed. \
         Stop all replicas, and compare their logs before any of them runs again (AUTH-05)"
    )]
    PeerDiverged(MemberId),
    /// `AUTH-15` A log was in sync in a later view than this one. Nothing is handed back any more.
    #[error(
        "the log of {0} was in sync with the others' in a view that comes after this one: a disk was rolled back, and views are out of \
         order. Stop all replicas, and compare their logs (folkmoot authority log) before any of them runs again (AUTH-15)"
    )]
    PeerAhead(MemberId),
    /// `AUTH-08` More records on their way than may be.
    #[error("there is no room for a record of {0}: too many are on their way, or the log is full (AUTH-08)")]
    PeerTooMany(MemberId),
    /// The authority's own record is none.
    #[error("the authority's record cannot be logged: {0}")]
    LocalRecord(&'static str),
    /// More records of the authority wait than may.
    #[error("too many records wait for the log")]
    LocalFull,
    /// The log on disk is damaged.
    #[error(
        "the table \"log\" is damaged: {0}. Move this replica's folder away, and set the replica up anew as one that was lost"
    )]
    LocalCorrupt(&'static str),
    /// This identity is no founder of the replicas' charter.
    #[error("this identity is not among the founders of the replicas' charter")]
    LocalNotReplica,
    /// The disk was said to have what it was not given.
    #[error("no write of this number is under way")]
    LocalTicket,
}
