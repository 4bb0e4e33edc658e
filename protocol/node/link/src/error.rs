//! Why a link was refused or closed, and whose fault it is.

use crate::{Channel, Exchange, Versions};
use folkmoot_base::{DecodeError, Locator, NodeId};

/// Why a link was refused or closed. The first word of each name says whose fault it is, and so
/// what to do. `Peer…` is proved against the node that it names. `Wire…` may be anybody's forgery
/// and blames nobody. `Local…` is the fault of our caller or our own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// A guest spoke on a channel that takes members only. Dropped and counted.
    #[error("{peer}, a guest, sent on {got:?}; guests may use {allowed:?}")]
    PeerOutOfTurn {
        /// The guest, which has proved its key.
        peer: NodeId,
        /// The most that a guest may send.
        allowed: &'static [Channel],
        /// What it sent.
        got: Channel,
    },
    /// A guest sends more, or longer, than guests may. Dropped and counted.
    #[error("{0}, a guest, sends more than guests may")]
    PeerTooMuch(NodeId),
    /// A peer sealed something that is not a sequence of frames.
    #[error("{0} sealed something that is not a sequence of frames")]
    PeerMalformed(NodeId),
    /// A certificate that came over a link is not for the key that was proved on that link.
    #[error("{0} sent a certificate that is not its own")]
    PeerForeignCertificate(NodeId),
    /// Another node than the one that was dialled proved its identity. The dial ends.
    #[error("{wanted} was dialled, but {peer} answered")]
    PeerOther {
        /// The node that was dialled.
        wanted: NodeId,
        /// The node that answered, its key proved.
        peer: NodeId,
    },
    /// The peer speaks no wire version that we speak: one of the two has to be updated.
    #[error("{peer} at {at} speaks wire versions {theirs}, and this node speaks {ours}")]
    PeerVersions {
        /// Where it was met.
        at: Locator,
        /// The peer, which has proved its key.
        peer: NodeId,
        /// What we speak.
        ours: Versions,
        /// What it speaks.
        theirs: Versions,
    },
    /// A process of this node that started earlier than the one we are linked to. It is told, and
    /// nothing else changes.
    #[error("{0} runs twice: the process that started earlier is refused")]
    PeerEarlier(NodeId),
    /// It says that another process with our identity started later, and that is not proved.
    #[error("{0} says that this node runs twice, and does not prove it")]
    PeerFalseStart(NodeId),
    /// There is no room for one more guest, or for one more link at all.
    #[error("there is no room for a link to {0}")]
    PeerNoRoom(NodeId),
    /// A frame did not open. Anyone can forge an address: blame nobody, and answer nothing.
    #[error("a datagram from {0} did not open")]
    WireForged(Locator),
    /// A datagram that had come before. Nothing changes.
    #[error("a datagram from {0} has come before")]
    WireReplayed(Locator),
    /// A datagram under the key of a ring of which no keys are here: late, or forged.
    #[error("a datagram from {0} is of a ring that has ended, or is not ours")]
    WireOtherRing(Locator),
    /// A datagram that came by multicast, and is no packet of the ring.
    #[error("a datagram from {0} came by multicast, and is no packet of the ring")]
    WireToAll(Locator),
    /// A datagram that belongs to no link, dial or handshake of ours: late, or forged.
    #[error("a datagram from {0} is for none of the links here")]
    WireUnknown(Locator),
    /// The bytes are not a datagram of this layer.
    #[error("a datagram from {0} is malformed: {1}")]
    WireMalformed(Locator, #[source] DecodeError),
    /// A handshake with a certificate or signature that is not valid. The sender is not known.
    #[error("a handshake from {0} does not prove an identity")]
    WireUnproved(Locator),
    /// More handshakes come than can be answered. Retry later.
    #[error("too many handshakes; the one from {0} is not answered")]
    WireBusy(Locator),
    /// A Hello of the other form than the one that the charter asks for. A Refusal answers it;
    /// nothing changes.
    #[error("a handshake from {at} {}", match theirs {
        Exchange::Classical => "lacks ML-KEM-768, which the charter asks for",
        Exchange::Hybrid => "asks for ML-KEM-768, which the charter does not",
    })]
    WireOtherForm {
        /// The sender's locator, as the transport reports it; anybody may have written it.
        at: Locator,
        /// The form of the Hello.
        theirs: Exchange,
    },
    /// A handshake met our own identity: we dialled ourselves, or somebody has our key.
    #[error("this node's own identity answers at {0}")]
    LocalSelf(Locator),
    /// Our caller asked for more than a frame holds. Fix the call.
    #[error("the frame is {excess_bytes} bytes too long")]
    LocalTooLong {
        /// How many bytes too long.
        excess_bytes: usize,
    },
    /// No link to that node is up.
    #[error("there is no link to {0}")]
    LocalNoLink(NodeId),
    /// Our caller wants to send a guest something that only members may have.
    #[error("{0} is a guest; {1:?} is for members")]
    LocalToGuest(NodeId, Channel),
    /// As many dials run as are allowed.
    #[error("too many dials are under way")]
    LocalDials,
    /// A key of ours does not work, or the provider of cryptography fails. Nothing can be done
    /// here.
    #[error("this node's credentials or cryptography failed")]
    LocalCrypto,
}
