//! Structured state for people and programs: who is in, who is not, and why.

use core::time::Duration;
use folkmoot_base::{Cipher, Instant, Locator, MemberId, ModuleName, NodeId, Party, UnixTime, ViewId};

/// An event for logs, metrics, the console and tests. Holds no secret and no content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The layer: "link", "ring", "group", "flush", "keying", "session", "admission".
    pub layer: &'static str,
    /// What happened, in one line of plain words.
    pub text: String,
}

/// Why somebody is not in the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// Asked, but has fewer votes than the charter asks for.
    AwaitingVotes {
        /// Votes so far.
        have: u32,
        /// Votes needed.
        need: u32,
    },
    /// The members have done their part; the charter's authority has not signed yet.
    AwaitingAuthority {
        /// Whether one of its nodes is linked here.
        linked: bool,
        /// When a message from it last came here.
        heard: Option<Instant>,
        /// Why it does not sign, if it said so.
        refuses: Option<&'static str>,
    },
    /// Admitted, never seen here.
    NeverSeen,
    /// Its node has been silent since then.
    SilentSince(Instant),
    /// Its node is reachable but on another ring: on the other side of a split, or being merged.
    OtherSide,
    /// Its node is here; the member has not joined the group.
    NotJoined,
    /// It left the group by itself.
    Left {
        /// Since when.
        since: Instant,
    },
    /// Set aside after complaints of silence; it may return by itself.
    SetAside {
        /// Since when.
        since: Instant,
    },
    /// Its certificate ended then.
    Expired(UnixTime),
    /// The members expelled it.
    Expelled,
    /// Another key took its place, by the decision with this number: it is a former key of that
    /// member.
    Replaced {
        /// The key that took its place.
        by: MemberId,
        /// The number of the decision.
        number: u64,
    },
    /// Its admission does not count any more, and no decision holds it.
    Late,
}

/// Whether somebody is in the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// In the view, sharing the key.
    Present,
    /// In a view that is being agreed.
    Arriving,
    /// Not in.
    Absent(Absence),
}

/// One party in the status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Its key's digest.
    pub member: MemberId,
    /// The name in its certificate, or in its request.
    pub name: String,
    /// Where it stands.
    pub presence: Presence,
    /// Where its node was last reached.
    pub locator: Option<Locator>,
}

/// The whole picture of one member, built from the state of its layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberStatus {
    /// The member itself.
    pub me: MemberId,
    /// Its node.
    pub node: NodeId,
    /// The installed secure view, if any.
    pub view: Option<ViewId>,
    /// Short name of the key epoch: a digest that reveals nothing of the key.
    pub epoch: Option<String>,
    /// The module that agreed on its key.
    pub module: Option<ModuleName>,
    /// The cipher that seals under it.
    pub cipher: Option<Cipher>,
    /// What is going on: "steady", or the state of the layer that is waiting, in plain words.
    pub activity: String,
    /// Everybody on the roster, in requests, or known to have been removed.
    pub people: Vec<Person>,
    /// Every group that it is in with a key, the charter's own among them.
    pub groups: Vec<GroupStatus>,
    /// How the charter's authority is reached from here, if it has one and this is a member.
    pub authority: Option<AuthorityReach>,
    /// Who lacks what was sent, if somebody does.
    pub lacking: Option<Lacking>,
}

/// A node of the configuration lacks a message that was sent, and has nothing of what came after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lacking {
    /// The node: ours perhaps.
    pub node: NodeId,
    /// Since when.
    pub since: Instant,
}

/// A member's view of the charter's authority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorityReach {
    /// Its nodes that are linked here.
    pub linked: Vec<NodeId>,
    /// When a message from one of them last came here.
    pub heard: Option<Instant>,
}

/// One group that a member is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupStatus {
    /// The installed secure view, which also names the group.
    pub view: ViewId,
    /// Its parties.
    pub members: Vec<Party>,
    /// Short name of the key epoch.
    pub epoch: String,
    /// The module that agreed on its key.
    pub module: ModuleName,
    /// The cipher that seals under it.
    pub cipher: Cipher,
    /// What its parties may do together.
    pub side: Side,
    /// What was sent and does not come back, if nothing has for too long.
    pub stalled: Option<Stalled>,
}

/// What the parties of a view may do together, if they are a side of a split (MEM-04).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Side {
    /// Whether a quorum of those who vote is among them. Of the sides of a split, one is whole at
    /// most; the others are minorities.
    pub whole: bool,
    /// Whether they may send.
    pub may_send: bool,
    /// Whether what they admit counts, once it has its votes.
    pub may_admit: bool,
    /// How many of those who vote are among them.
    pub voters: u32,
    /// How many members vote.
    pub of_voters: u32,
}

/// What was sent and does not come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stalled {
    /// How many messages.
    pub messages: u64,
    /// For how long none has come back.
    pub waited: Duration,
}
