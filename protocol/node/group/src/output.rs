//! What the group layer says.

use bytes::Bytes;
use folkmoot_base::{EntryId, Indication, MemberId, Service};

/// What goes out. Order counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Order this on the ring, after everything submitted before. The ring must take it: these are
    /// not held back for congestion, except those that [`Group::send`] made.
    Submit {
        /// How ordered.
        service: Service,
        /// A message of this layer.
        bytes: Bytes,
    },
    /// Tell an attached member.
    Member {
        /// Whom.
        to: MemberId,
        /// What.
        indication: Indication,
    },
    /// This transcript entry has its place in the order: verify, append, hand up; then call
    /// [`Group::heads`] and [`Group::roster_changed`], before anything else is delivered.
    Entry(Bytes),
    /// Others lack entries that we are to provide. Each list names what one of them has (heads and
    /// landmarks): answer with [`Group::entry`] for every entry that is not an ancestor of (or
    /// equal to) a known id of each list, parents first.
    Reconcile {
        /// One list for each node that is behind.
        behind: Vec<Vec<EntryId>>,
    },
    /// A happening worth a line.
    Trace(String),
}
