//! Many named groups over one ring: who is in which, the same at every node at the same place in the order.
//!
//! ```text
//!   attach, join, leave, send, complain, entry             Notice, Transitional, Deliver, Removed (for each local member)
//!                 |                                                          ^
//!                 v                                                          |
//!   [ Group ]   tables of all groups; State exchange at each configuration; complaints
//!                 |                                                          ^
//!                 v Submit                                                   | deliver, transitional, regular
//!                                           the ring
//! ```
//! Promise: every node of a configuration that delivers the same prefix of the ring's order has the same tables; a
//! change of a group gives each of its members one notice, at one place in the order, with one id.
//!
//! How to drive it: call, then take [`Group::poll_output`] until `None`, in order. On [`Output::Entry`] the caller appends
//! the entry to the transcript, and then calls [`Group::heads`] and [`Group::roster_changed`] before the next delivery.
//! **The transcript of a node that is on a ring changes only so**: entries learned elsewhere (over a link) are handed to
//! [`Group::entry`] and appended when they come back in order. Rules `GRP-NN`: docs/protocol/group.md.

mod error;

pub use error::GroupError;

use bytes::Bytes;
use folkmoot_base::{Cause, ConfigurationId, Danger, EntryId, GroupId, MemberId, NodeId, Service, ViewId};
use std::collections::VecDeque;

/// Most memberships (member, group) that one node may host.
pub const MEMBERSHIPS_MAX: usize = 50_000;
/// Most landmarks of a transcript that a node shows.
pub const LANDMARKS_MAX: usize = 64;

/// What the caller decides.
#[derive(Debug, Clone)]
pub struct Config {
    /// This node.
    pub me: NodeId,
    /// A deliberately broken behaviour, for the checkers' sake.
    pub danger: Option<Danger>,
}

/// Whom the roster has; asked at ordered places only. Any `Fn(MemberId) -> bool` is one.
pub trait Roster {
    /// Whether the roster has `member` now.
    fn holds(&self, member: MemberId) -> bool;
}

impl<F: Fn(MemberId) -> bool> Roster for F {
    fn holds(&self, member: MemberId) -> bool {
        self(member)
    }
}

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

/// The group layer of one node.
#[derive(Debug)]
pub struct Group {
    config: Config,
    out: VecDeque<Output>,
}

impl Group {
    /// A layer without members or configuration.
    pub fn new(config: Config) -> Self {
        Self { config, out: VecDeque::new() }
    }

    /// `member` lives here from now on. Sends nothing.
    ///
    /// # Errors
    /// [`GroupError::LocalAttached`].
    pub fn attach(&mut self, member: MemberId) -> Result<(), GroupError> {
        Err(GroupError::LocalAttached(member))
    }

    /// `member` is gone: it hears nothing more, and an ordered message takes it out of all its groups.
    ///
    /// # Errors
    /// [`GroupError::LocalNotAttached`].
    pub fn detach(&mut self, member: MemberId) -> Result<(), GroupError> {
        Err(GroupError::LocalNotAttached(member))
    }

    /// Orders that `member` joins `group`. Joining twice changes nothing.
    ///
    /// # Errors
    /// [`GroupError::LocalNotAttached`], [`GroupError::LocalTooMany`].
    pub fn join(&mut self, member: MemberId, group: GroupId) -> Result<(), GroupError> {
        let _ = group;
        Err(GroupError::LocalNotAttached(member))
    }

    /// Orders that `member` leaves `group`.
    ///
    /// # Errors
    /// [`GroupError::LocalNotAttached`].
    pub fn leave(&mut self, member: MemberId, group: GroupId) -> Result<(), GroupError> {
        let _ = group;
        Err(GroupError::LocalNotAttached(member))
    }

    /// Orders `payload` to the members of `group`; services below agreed travel as they are asked for.
    ///
    /// # Errors
    /// [`GroupError::LocalNotAttached`], [`GroupError::LocalNotJoined`], [`GroupError::LocalTooLong`].
    pub fn send(
        &mut self,
        member: MemberId,
        group: GroupId,
        service: Service,
        payload: &[u8],
    ) -> Result<(), GroupError> {
        let _ = (group, service, payload);
        Err(GroupError::LocalNotAttached(member))
    }

    /// Orders a complaint of `member` about `suspect` in the newest notice `view`.
    ///
    /// # Errors
    /// [`GroupError::LocalNotAttached`], [`GroupError::LocalNotJoined`].
    pub fn complain(
        &mut self,
        member: MemberId,
        group: GroupId,
        view: ViewId,
        suspect: MemberId,
    ) -> Result<(), GroupError> {
        let _ = (group, view, suspect);
        Err(GroupError::LocalNotAttached(member))
    }

    /// Orders a notice with cause `Refresh` for `group`: same members, new key. One node asks, not all.
    ///
    /// # Errors
    /// [`GroupError::LocalNotAttached`], [`GroupError::LocalNotJoined`].
    pub fn refresh(&mut self, member: MemberId, group: GroupId) -> Result<(), GroupError> {
        let _ = group;
        Err(GroupError::LocalNotAttached(member))
    }

    /// Orders a transcript entry, verified by the caller; it comes back as [`Output::Entry`], here and everywhere.
    ///
    /// # Errors
    /// [`GroupError::LocalTooLong`].
    pub fn entry(&mut self, entry: &[u8]) -> Result<(), GroupError> {
        Err(GroupError::LocalTooLong(entry.len()))
    }

    /// The transcript's heads are these now, and `landmarks` are some ancestors at growing distances (at most
    /// [`LANDMARKS_MAX`] are used; none is allowed, and costs traffic only if transcripts differ). Call at the start, and after each entry.
    pub fn heads(&mut self, heads: Vec<EntryId>, landmarks: Vec<EntryId>) {
        let _ = (heads, landmarks);
    }

    /// The roster lost these members with the entry just delivered: they leave all groups at that place, with that cause.
    pub fn roster_changed(&mut self, removed: &[(MemberId, Cause)]) {
        let _ = removed;
    }

    /// The ring installed a regular configuration.
    pub fn regular(&mut self, id: ConfigurationId, members: &[NodeId], roster: &dyn Roster) {
        let _ = (id, members, roster);
    }

    /// The ring signals that from here on only `survivors` go together into the next configuration.
    pub fn transitional(&mut self, survivors: &[NodeId]) {
        let _ = survivors;
    }

    /// The ring delivers message `order` of `configuration`.
    ///
    /// # Errors
    /// Any `Peer…`: the message is ignored, here and at every other node.
    pub fn deliver(
        &mut self,
        configuration: ConfigurationId,
        order: u64,
        sender: NodeId,
        service: Service,
        payload: Bytes,
        roster: &dyn Roster,
    ) -> Result<(), GroupError> {
        let _ = (order, sender, service, payload, roster);
        Err(GroupError::LocalWrongConfiguration(configuration))
    }

    /// Next output, until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Members of `group` in the current table, sorted.
    pub fn members(&self, group: GroupId) -> Vec<MemberId> {
        let _ = group;
        Vec::new()
    }

    /// Whether the tables of this configuration are merged: joins take effect, notices come.
    pub fn is_settled(&self) -> bool {
        false
    }
}
