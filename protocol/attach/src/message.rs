//! What crosses the stair. In one process it crosses as these values. Neither side trusts it for
//! content: the node sees sealed payloads only, and judges certificates and entries itself.

use bytes::Bytes;
use folkmoot_base::{GroupId, Indication, Locator, MemberId, NodeId, Service, ViewId};

/// Member → node.
#[derive(Debug, Clone)]
pub enum ToNode {
    /// This member lives here from now on.
    Attach {
        /// Who; the queue in one process needs no proof.
        member: MemberId,
    },
    /// This member is gone; its groups see a leave with cause `Detach`.
    Detach {
        /// Who.
        member: MemberId,
    },
    /// Join a group: one ordered message. Refused by every node unless its roster has the member.
    Join {
        /// Who.
        member: MemberId,
        /// Which group.
        group: GroupId,
    },
    /// Leave a group: one ordered message.
    Leave {
        /// Who.
        member: MemberId,
        /// Which group.
        group: GroupId,
    },
    /// Multicast to a group, in order.
    Send {
        /// Who sends.
        member: MemberId,
        /// To whom.
        group: GroupId,
        /// How ordered.
        service: Service,
        /// What; opaque here.
        payload: Bytes,
    },
    /// Order a complaint: `suspect` is silent in `view` (the newest notice's id). By K4, enough of
    /// them remove it.
    Complain {
        /// Who complains.
        member: MemberId,
        /// In which group.
        group: GroupId,
        /// In which view.
        view: ViewId,
        /// About whom.
        suspect: MemberId,
    },
    /// Order a notice with cause `Refresh`: the same members, a new key. One member asks, not all.
    Refresh {
        /// Who asks.
        member: MemberId,
        /// In which group.
        group: GroupId,
    },
    /// Order this transcript entry. The node verifies it first, as every other node will.
    Entry(Bytes),
    /// An admission frame for a guest (or, when we are the guest, for the contact) over its link.
    Guest {
        /// To whom.
        to: NodeId,
        /// An admission message.
        payload: Bytes,
    },
    /// Reach the node at this locator, whoever it is: a ticket, a command line, a configuration.
    Dial(Locator),
}

/// Node → member.
#[derive(Debug, Clone)]
pub enum ToMember {
    /// Of one of its groups.
    Group(Indication),
    /// A transcript entry took its place: at start, by catch-up, or in ring order. Verified by the
    /// node; verify it too.
    Entry(Bytes),
    /// An admission frame came over a link from a guest, or from our contact when we are the guest.
    Guest {
        /// From whom, its key proved.
        from: NodeId,
        /// An admission message.
        payload: Bytes,
    },
    /// A link came up: to a member's node (rostered) or as or to a guest.
    LinkUp {
        /// The peer.
        node: NodeId,
        /// Whether our roster has it.
        rostered: bool,
        /// Where.
        at: Locator,
    },
    /// A link went down.
    LinkDown {
        /// The peer.
        node: NodeId,
    },
    /// The node joined or formed a configuration with these nodes; groups can be joined from now
    /// on.
    Configuration {
        /// The nodes.
        nodes: Vec<NodeId>,
    },
    /// The send queue is full (`true`) or drained (`false`): hold application messages.
    Congested(bool),
}
