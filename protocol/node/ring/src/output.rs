//! The outputs of the ring, and why its state changes.

use crate::data::is_numbered;
use crate::key::KeyChange;
use bytes::Bytes;
use core::fmt;
use folkmoot_base::{Buffer, ConfigurationId, Danger, Instant, Lead, Mutant, NodeId, Persist, Service};
use std::sync::Arc;

/// An output of the ring. Order counts: a `Persist` comes before the frame that shows what it
/// keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Hand this frame to the link to `to`. A lost frame is repaired by the ring.
    Send {
        /// The receiver.
        to: NodeId,
        /// At most `LONG_FRAME_BYTES_MAX` bytes.
        frame: Bytes,
    },
    /// A packet or record that was numbered here just now. Hand it to all of `to`, all other
    /// members of the ring, sealed once under this node's ring key: it is never handed out so again
    /// (RING-25).
    Fresh {
        /// The receivers, two or more.
        to: Arc<[NodeId]>,
        /// DATA with messages, or a record; at most `FRAME_BYTES_MAX` bytes.
        frame: Bytes,
    },
    /// Hand this frame to the links to all of `to`, all other members of the ring, each under its
    /// own key.
    Multicast {
        /// The receivers.
        to: Arc<[NodeId]>,
        /// At most `FRAME_BYTES_MAX` bytes.
        frame: Bytes,
    },
    /// What becomes of the ring's keys.
    Key(KeyChange),
    /// Commit this before any later output takes effect.
    Persist(Persist),
    /// A message.
    Deliver(Delivery),
    /// The transitional signal: from here to the next `Regular`, the promises of `from` hold among
    /// `survivors` only.
    Transitional {
        /// The configuration that ends.
        from: ConfigurationId,
        /// Its members that go on together with this node, sorted, this node among them.
        survivors: Vec<NodeId>,
    },
    /// A configuration begins.
    Regular {
        /// Its id.
        id: ConfigurationId,
        /// Its members, sorted.
        members: Vec<NodeId>,
        /// Members that were not in this node's previous configuration, or did not come from it
        /// together with this node.
        joined: Vec<NodeId>,
        /// Members of the previous configuration that did not come along.
        left: Vec<NodeId>,
    },
    /// Messages left the queue: they are in packets now. Every message that `submit` took leaves
    /// once, unreliable ones excepted, which never wait.
    Left {
        /// The account that they were submitted for.
        account: u32,
        /// How many messages.
        messages: u64,
        /// How many bytes their payloads have together.
        bytes: u64,
    },
    /// This member of the configuration, this node perhaps, has lacked a packet since then, for
    /// half of [`Timing::stall`](crate::Timing::stall) or longer; `None`: nobody does any more.
    /// What was sent after that packet is not delivered there. Ends with the configuration.
    Lacking(Option<(NodeId, Instant)>),
    /// A change of state, and why.
    Trace(Change),
}

impl Output {
    /// A packet or a record that was numbered here just now.
    pub(crate) fn first_time(to: &Arc<[NodeId]>, frame: Bytes) -> Self {
        let to = to.clone();
        if to.len() > 1 && is_numbered(&frame) {
            return Self::Fresh { to, frame };
        }
        Self::Multicast { to, frame }
    }

    /// A packet that somebody numbered before.
    pub(crate) fn again(to: &Arc<[NodeId]>, frame: Bytes, danger: Mutant) -> Self {
        if danger.is(Danger::RingSealsRepeats) {
            return Self::first_time(to, frame);
        }
        Self::Multicast { to: to.clone(), frame }
    }
}

/// A message, delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The configuration that numbered it; also for messages delivered after the transitional
    /// signal.
    pub configuration: ConfigurationId,
    /// Its place in that configuration, if it is agreed or safe. It grows with each such delivery
    /// (not by one), and is equal at every node that delivers the message.
    pub order: Option<u64>,
    /// The sender.
    pub sender: NodeId,
    /// What it was sent as.
    pub service: Service,
    /// What stands before the payload: of a message of this node, what was handed in so; else
    /// nothing.
    pub lead: Lead,
    /// The message, after the lead.
    pub payload: Buffer,
    /// Whether it comes after the transitional signal of its configuration.
    pub transitional: bool,
}

/// What the ring is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The token goes round.
    Operational,
    /// Agreeing on the members of the next configuration.
    Gather,
    /// Making the next configuration known to its members.
    Commit,
    /// Exchanging the messages of the previous configurations.
    Recover,
}

/// One change of state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The new state.
    pub phase: Phase,
    /// The cause.
    pub cause: Cause,
}

/// Why the ring's state changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The node started.
    Start,
    /// The token did not come.
    TokenLost,
    /// The link to a member is down, or the member is no longer on the roster.
    MemberLost(NodeId),
    /// A node that is not in the configuration can be reached, and makes it larger.
    PeerArrived(NodeId),
    /// A member wants a new configuration.
    MemberGathers(NodeId),
    /// A node outside wants a common configuration.
    ForeignJoin(NodeId),
    /// The commit token did not come.
    CommitLost,
    /// The token did not come during recovery.
    RecoveryLost,
    /// The token goes round, but for too long nothing new has reached everybody, or the recovery
    /// has made no progress.
    Stalled,
    /// The packets of the ring are numbered so high that a new ring must begin.
    NumbersSpent,
    /// The path to a member carries less than the packets of the ring.
    PacketsTooLong(NodeId),
    /// All nodes that were heard agree on the members.
    Agreed,
    /// All members are ready to recover.
    Committed,
    /// Everything that was left of the old configurations has been exchanged.
    Recovered,
    /// Nobody else is there.
    Alone,
}

impl fmt::Display for Phase {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Operational => "operational",
            Self::Gather => "gathering",
            Self::Commit => "committing",
            Self::Recover => "recovering",
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => out.write_str("the node started"),
            Self::TokenLost => out.write_str("the token did not come"),
            Self::MemberLost(node) => write!(out, "{} can no longer be reached", node.short()),
            Self::PeerArrived(node) => write!(out, "{} can be reached", node.short()),
            Self::MemberGathers(node) => write!(out, "{}, a member, wants a new configuration", node.short()),
            Self::ForeignJoin(node) => {
                write!(out, "{}, not a member, wants a common configuration", node.short())
            }
            Self::CommitLost => out.write_str("the commit token did not come"),
            Self::RecoveryLost => out.write_str("the token did not come during recovery"),
            Self::Stalled => out.write_str("the token comes, but nothing new reaches everybody"),
            Self::NumbersSpent => out.write_str("the packet numbers of the ring are used up"),
            Self::PacketsTooLong(node) => {
                write!(out, "the path to {} carries less than the packets of the ring", node.short())
            }
            Self::Agreed => out.write_str("all nodes that were heard agree who is in"),
            Self::Committed => out.write_str("all nodes are ready to recover"),
            Self::Recovered => out.write_str("what is left of the old configuration has been exchanged"),
            Self::Alone => out.write_str("no other node was heard"),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.phase, self.cause)
    }
}

/// What this node's part in the ring did since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Visits of the token.
    pub visits: u64,
    /// Packets numbered here.
    pub numbered: u64,
    /// Packets sent again on request.
    pub repaired: u64,
    /// Packets that the token was told to ask for.
    pub asked: u64,
    /// Tokens sent again, because nothing showed that they had come.
    pub tokens_repeated: u64,
    /// Configurations installed.
    pub installed: u64,
    /// Bytes copied: of messages into packets, and of messages in pieces as they are joined.
    pub copied: u64,
    /// Unreliable messages that were given up here instead of being sent: too many at once, or no
    /// configuration stood.
    pub given_up: u64,
}

impl Counters {
    /// Both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            visits: self.visits.saturating_add(other.visits),
            numbered: self.numbered.saturating_add(other.numbered),
            repaired: self.repaired.saturating_add(other.repaired),
            asked: self.asked.saturating_add(other.asked),
            tokens_repeated: self.tokens_repeated.saturating_add(other.tokens_repeated),
            installed: self.installed.saturating_add(other.installed),
            copied: self.copied.saturating_add(other.copied),
            given_up: self.given_up.saturating_add(other.given_up),
        }
    }
}

/// The status of the ring, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// What it is doing.
    pub phase: Phase,
    /// The installed configuration, if any.
    pub configuration: Option<ConfigurationId>,
    /// Its members.
    pub members: Vec<NodeId>,
    /// The longest datagram that its packets make, in bytes, if one is installed.
    pub mtu: Option<u16>,
    /// Bytes of messages that wait for the token.
    pub queued_bytes: usize,
    /// Nodes that are eligible but were set aside, and until when.
    pub set_aside: Vec<(NodeId, Instant)>,
    /// Frames refused or ignored since the start.
    pub refused_frames: u64,
    /// Packets sent again on request since the start.
    pub retransmitted_packets: u64,
}
