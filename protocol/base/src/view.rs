//! Configurations of nodes, views of members, and why they change.

use crate::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize, codec_enum};
use crate::{GroupId, NodeId};

/// Identifies what the ring installs (DECISIONS N2). Ordered by `ring_seq` first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TlsSize, TlsSerialize, TlsDeserializeBytes,
)]
pub struct ConfigurationId {
    /// Grows with every attempt; persisted before a JOIN shows it.
    pub ring_seq: u64,
    /// The node that made the commit token.
    pub representative: NodeId,
    /// Drawn by the representative, so that an id is new even if the disk was restored from an old
    /// copy.
    pub nonce: [u8; 16],
}

/// Identifies a view of one group: by the ring's configuration, and by the number of the message in
/// it that caused the view.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TlsSize, TlsSerialize, TlsDeserializeBytes,
)]
pub struct ViewId {
    /// In which configuration.
    pub configuration: ConfigurationId,
    /// Which message of that configuration, in delivery order.
    pub order: u64,
    /// Of which group.
    pub group: GroupId,
}

impl core::fmt::Display for ViewId {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "{}.{}", self.configuration.ring_seq, self.order)
    }
}

codec_enum! {
    /// Why a view changed.
    pub enum Cause {
        /// A member joined the group.
        Join = 1,
        /// A member left the group.
        Leave = 2,
        /// A member was detached by its node, or went away without saying so.
        Detach = 3,
        /// Nodes were lost, came back, or were heard for the first time.
        Network = 4,
        /// The roster ended the member: expelled by vote.
        Expelled = 5,
        /// The roster ended the member: its certificate ran out.
        Expired = 6,
        /// The others complained that it was silent; it stays on the roster.
        Complaint = 7,
        /// The roster or charter changed without removing anybody: the key alone changes.
        Refresh = 8,
        /// The roster ended the member: its admission no longer counts, as when a voter of it was
        /// expelled first. Nobody decided against the member.
        Late = 9,
    }
}
