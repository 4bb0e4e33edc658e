//! What the group layer says.

use bytes::Bytes;
use folkmoot_base::{Cause, EntryId, GroupId, MemberId, Service, ViewId};

/// What goes out. Order counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Order this on the ring, after everything submitted before. The ring must take it: these are not held back for
    /// congestion, except those that [`Group::send`] made.
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
        word: Word,
    },
    /// This transcript entry has its place in the order: verify, append, hand up; then call [`Group::heads`] and
    /// [`Group::roster_changed`], before anything else is delivered.
    Entry(Bytes),
    /// Others lack entries that we are to provide. Each list names what one of them has (heads and landmarks): answer with
    /// [`Group::entry`] for every entry that is not an ancestor of (or equal to) a known id of each list, parents first.
    Reconcile {
        /// One list for each node that is behind.
        behind: Vec<Vec<EntryId>>,
    },
    /// A happening worth a line.
    Trace(String),
}

/// What a member hears; the stack makes `ToMember` of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// The members of a group are changing.
    Notice {
        /// Which group.
        group: GroupId,
        /// The id that the view will have.
        view: ViewId,
        /// All members, sorted.
        members: Vec<MemberId>,
        /// Members of the notice before who did not stay all the way since: gone, or gone and back (then in `members` too).
        removed: Vec<MemberId>,
        /// Why.
        cause: Cause,
    },
    /// These members' nodes did not come along. A notice follows in the next configuration.
    Transitional {
        /// Which group.
        group: GroupId,
        /// Who.
        lost: Vec<MemberId>,
    },
    /// A message to the group.
    Deliver {
        /// Which group.
        group: GroupId,
        /// From whom, by the word of its node.
        sender: MemberId,
        /// Ordered how.
        service: Service,
        /// What: a slice of what the ring delivered.
        payload: Bytes,
    },
    /// You are no longer in the group.
    Removed {
        /// Which group.
        group: GroupId,
        /// Why.
        cause: Cause,
    },
    /// Your join was refused, by every node alike.
    Refused {
        /// Which group.
        group: GroupId,
        /// Why.
        refusal: Refusal,
    },
}

/// Why a join was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The roster does not have the member.
    NotRostered,
    /// The group has as many members as a group may have.
    GroupFull,
    /// The ring has as many groups as a ring may have.
    TooManyGroups,
    /// Complaints set the member aside; it may come back a little later.
    SetAside,
    /// Too many changes at once; try again.
    Busy,
}
