//! The outputs of the group layer.

use bytes::Bytes;
use folkmoot_base::{EntryId, Indication, MemberId, Service};

/// An output of the group layer. Order counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Order this on the ring, after everything submitted before. The ring must accept it: these
    /// outputs are not held back for congestion, except those that come from [`Group::send`].
    Submit {
        /// The service.
        service: Service,
        /// A message of this layer.
        bytes: Bytes,
    },
    /// Tell an attached member.
    Member {
        /// The member.
        to: MemberId,
        /// The indication.
        indication: Indication,
    },
    /// This transcript entry has its place in the order: verify it, append it, and hand it up. Then
    /// call [`Group::heads`] and [`Group::roster_changed`] before anything else is delivered.
    Entry(Bytes),
    /// Others lack entries that we are to provide. Each list names what one of them has (heads and
    /// landmarks). Answer with [`Group::entry`] for every entry that is not an ancestor of (or
    /// equal to) a known id of each list, parents first.
    Reconcile {
        /// One list for each node that is behind.
        behind: Vec<Vec<EntryId>>,
    },
    /// An event for the log.
    Trace(String),
}
