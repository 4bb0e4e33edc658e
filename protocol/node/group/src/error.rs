//! Why a call or a message was refused. The first word of each name says whose fault it is.

use folkmoot_base::codec::DecodeError;
use folkmoot_base::{ConfigurationId, GroupId, NodeId, Party};

/// Why the group layer refused something. What was refused changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// A node ordered bytes that are not a message of this layer.
    #[error("{peer} ordered bytes that are not a group message")]
    PeerMalformed {
        /// The node that did.
        peer: NodeId,
        /// What is wrong with them.
        #[source]
        source: DecodeError,
    },
    /// A node spoke for a party that it does not host in that group.
    #[error("{peer} does not host {party} in {group}")]
    PeerSpokeForAnother {
        /// The node that did.
        peer: NodeId,
        /// The party it spoke for.
        party: Party,
        /// In which group.
        group: GroupId,
    },
    /// A node ordered a word that whoever it speaks for did not sign.
    #[error("{0} ordered a word that was not signed by the one that it speaks for")]
    PeerForged(NodeId),
    /// A word of a party that counted before, or is older than one that did, or is of another
    /// configuration.
    #[error("a word of {0} comes again, or too late")]
    PeerStale(Party),
    /// A party of a member of which too many parties have spoken in this configuration.
    #[error("{0} is one party too many of its member")]
    PeerTooManyParties(Party),
    /// A node sent data of a party that it does not host in the group.
    #[error("{0} sent data of a party that it does not host")]
    PeerSpokeForNobody(NodeId),
    /// A node that is not in the configuration, as far as we know.
    #[error("{0} is not in the configuration")]
    PeerNotInConfiguration(NodeId),
    /// A node sent what changes tables as less than agreed: it has no place in the order.
    #[error("{0} sent what must have a place in the order as less than agreed")]
    PeerService(NodeId),
    /// A node has more in its tables than a node may have.
    #[error("{0} sent tables larger than a node may have")]
    PeerTooLarge(NodeId),
    /// A node sent its state twice, out of order, or not in the one encoding.
    #[error("{0} sent its state twice or out of order")]
    PeerOutOfTurn(NodeId),
    /// A complaint about the complainer itself, by or about a party that is not in the group, or a
    /// second one.
    #[error("the complaint of {0} does not count")]
    PeerComplaint(Party),
    /// The caller delivered a message of a configuration that is not the current one.
    #[error("the message is of configuration {0:?}, which is not the current one")]
    LocalWrongConfiguration(ConfigurationId),
    /// That party is not attached here.
    #[error("{0} is not attached here")]
    LocalNotAttached(Party),
    /// That party is attached already.
    #[error("{0} is attached already")]
    LocalAttached(Party),
    /// That party is not in the group.
    #[error("{0} is not in {1}")]
    LocalNotJoined(Party, GroupId),
    /// This node's parties are in as many groups as a node's parties may be.
    #[error("the parties of this node are in too many groups")]
    LocalTooMany,
    /// The message is longer than a message may be.
    #[error("{0} bytes are more than a message may have")]
    LocalTooLong(usize),
}
