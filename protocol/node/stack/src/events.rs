//! What a node shows of its work: to checkers of the ring's promises, and to whoever counts.

use base::{ConfigurationId, Digest, NodeId, Service};
use folkmoot_base as base;

/// What happened on the ring, for checkers of its promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RingEvent {
    /// A message was handed to the ring.
    Submitted {
        /// SHA-256 of it.
        digest: Digest,
        /// The service.
        service: Service,
        /// Whose it is: what one party hands over keeps its order.
        party: u16,
    },
    /// A message was delivered.
    Delivered {
        /// The configuration that numbered it.
        configuration: ConfigurationId,
        /// Its place in it, if it is agreed or safe.
        order: Option<u64>,
        /// Who sent it.
        sender: NodeId,
        /// The service.
        service: Service,
        /// SHA-256 of it.
        digest: Digest,
        /// Whether it came after the transitional signal.
        transitional: bool,
    },
    /// The ring said to send an unreliable packet.
    Unreliable {
        /// SHA-256 of it: it is said once (ORD-16).
        digest: Digest,
    },
    /// A packet was sealed under the ring key.
    Sealed {
        /// Names the key, and says nothing of it.
        key: Digest,
        /// The nonce: no key has two packets with one (LINK-29).
        nonce: [u8; 12],
    },
    /// The keys of an attempt at a ring are there, are installed, or the attempt has failed.
    Keys {
        /// Whether it is the first of these.
        attempt: bool,
        /// Names what this node contributed to it: no other attempt has the same (RING-24).
        contributed: Option<Digest>,
        /// Of how many rings the node has keys now (LINK-30).
        kept: usize,
    },
    /// The transitional signal.
    Transitional {
        /// The configuration that ends.
        from: ConfigurationId,
        /// The nodes that go on together.
        survivors: Vec<NodeId>,
    },
    /// A configuration was installed.
    Regular {
        /// Its id.
        id: ConfigurationId,
        /// Its members.
        members: Vec<NodeId>,
    },
}

/// What the layers of a node did since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// The links.
    pub link: folkmoot_link::Counters,
    /// The ring.
    pub ring: folkmoot_ring::Counters,
}
