//! The messages between the two stacks. In one process they are passed as these values. Neither
//! side trusts the other for content: the node sees sealed payloads only, and each judges
//! certificates and items itself.

use crate::Lacking;
use crate::credit::Grant;
use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{ConfigurationId, GroupId, Head, Indication, Locator, NodeId, Party, Said, Service};

/// Member → node.
#[derive(Debug, Clone)]
pub enum ToNode {
    /// This party lives here from now on.
    Attach {
        /// Which party; the queue in one process needs no proof.
        party: Party,
        /// The charter by which it is a member: the ring's own, or one that the node carries
        /// besides.
        charter: GroupId,
    },
    /// This party is gone; its groups see a leave with cause `Detach`.
    Detach {
        /// Which party.
        party: Party,
    },
    /// Order what a party says that changes who is in a group, signed by its member: one ordered
    /// message. Every node refuses a join unless its roster has the party's member. If enough
    /// members complain of a party, it is removed (K4).
    Word(Box<Said>),
    /// Multicast to a group, in order.
    Send {
        /// The sender.
        party: Party,
        /// The group.
        group: GroupId,
        /// The service.
        service: Service,
        /// The content; opaque here.
        payload: Bytes,
    },
    /// Order this item of the transcript of this charter. The node verifies it first, as every
    /// other node will.
    Item(GroupId, Bytes),
    /// An admission frame for a guest, over its link. If we are the guest: for the contact.
    Guest {
        /// Who says it.
        from: Party,
        /// The guest, or the contact.
        to: NodeId,
        /// An admission message.
        payload: Bytes,
    },
    /// Reach the node at this locator, whoever it is. The locator comes from a ticket, a command
    /// line or a configuration.
    Dial(Locator),
    /// The person goes over, alone, to the line of this charter that has this decision. On a ring
    /// that only carries the charter nothing comes of it.
    Resolve(GroupId, Head),
}

/// Node → member.
#[derive(Debug, Clone)]
pub enum ToMember {
    /// About one of the member's groups.
    Group(Indication),
    /// An item of the transcript has its place: at the start, by catching up, or in ring order. The
    /// node has verified it; verify it too.
    Item(Bytes),
    /// An admission frame came over a link from a guest. If we are the guest: from our contact.
    Guest {
        /// The sender, which has proved its key.
        from: NodeId,
        /// An admission message.
        payload: Bytes,
    },
    /// The node was too far behind for single items, or went over to another line, by this package:
    /// go by it too.
    Package {
        /// The package.
        package: Bytes,
        /// The head to which the person goes over, if that is why.
        resolves: Option<Head>,
    },
    /// Others have gone on, and show this package for the decisions between. It stands, and is not
    /// taken unless the person names its last decision.
    Offered {
        /// The package.
        package: Bytes,
    },
    /// A member's node shows another line of decisions than ours: somebody signed both. It never
    /// shares a ring with this node. Said once for each pair of heads.
    OtherLine {
        /// The peer.
        node: NodeId,
        /// Its head.
        theirs: Head,
        /// Our head.
        ours: Head,
    },
    /// A member's node runs twice: its earlier process was told to stop. Said once.
    RunsTwice {
        /// The node.
        node: NodeId,
        /// Where the earlier process is.
        at: Locator,
    },
    /// A link came up: to a member's node (if it is on the roster), to a guest, or to our contact.
    LinkUp {
        /// The peer.
        node: NodeId,
        /// Whether our roster has it.
        rostered: bool,
        /// The peer's locator.
        at: Locator,
    },
    /// A link went down.
    LinkDown {
        /// The peer.
        node: NodeId,
    },
    /// The node joined or formed a configuration with these nodes; from now on groups can be
    /// joined.
    Configuration {
        /// Which: parties name it in what they sign.
        id: ConfigurationId,
        /// The nodes.
        nodes: Vec<NodeId>,
        /// How long members there wait for a step of one another, if that is longer than usual: the
        /// nodes are far from each other. The same at all nodes.
        patience: Duration,
    },
    /// A node of the configuration lacks what was sent; `None`: it has it now. A new configuration
    /// takes it back too.
    Lacking(Option<Lacking>),
    /// The node has taken what the party sent to this group, and takes more (ATT-10). Without
    /// credit, hold application messages to this group.
    Credit {
        /// Which group.
        group: GroupId,
        /// How much.
        grant: Grant,
    },
}
