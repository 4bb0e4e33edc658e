//! What goes in and what comes out.

use bytes::Bytes;
use core::time::Duration;
use folkmoot_base::{GroupId, Locator, Mutant, NodeId};

/// What the keys of a link come from. The founding charter says which (ID-39), for every link of
/// its ring alike: there is no choosing, and so nothing to be talked down from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum Exchange {
    /// X25519 alone.
    #[default]
    Classical = 1,
    /// X25519 and ML-KEM-768 together: both must be broken to open what was sealed.
    Hybrid = 2,
}

impl Exchange {
    pub(crate) fn decode(byte: u8) -> Option<Self> {
        [Self::Classical, Self::Hybrid].into_iter().find(|exchange| *exchange as u8 == byte)
    }
}

/// What a frame is about, and so who may send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Channel {
    /// Ring and group frames: members only, both ways.
    Ring = 1,
    /// Transcript exchange: everybody; guests at a bounded rate.
    Transcript = 2,
    /// Admission frames: everybody; guests few and small.
    Admission = 3,
}

/// What comes in.
#[derive(Debug, Clone)]
pub enum Input {
    /// A datagram came from the transport.
    Datagram {
        /// From where, by the transport's word.
        from: Locator,
        /// Its bytes.
        bytes: Bytes,
    },
    /// Reach whoever is there. Gives up after `Config::dial` with [`Output::Unreached`]; dial again
    /// then.
    Dial {
        /// Where.
        at: Locator,
        /// Who it must be, if known.
        node: Option<NodeId>,
    },
    /// Close the link to this node.
    Hangup {
        /// Whose.
        node: NodeId,
    },
    /// The stack's verified roster has this node (or no longer has it). Until said, a peer is a
    /// guest.
    Standing {
        /// Whose standing.
        node: NodeId,
        /// Whether it is a member's.
        member: bool,
    },
    /// Own certificate changed: told to every peer.
    Certificate(Bytes),
    /// The time named by [`Links::poll_timeout`] has come.
    Timeout,
}

/// Why a link went down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DownCause {
    /// Nothing authentic was heard for `Config::silence`.
    Silent,
    /// We hung up.
    HungUp,
    /// The peer hung up.
    PeerHungUp,
    /// The peer is a new process; [`Output::Up`] follows at once.
    Restarted,
    /// A guest made room for another.
    Evicted,
    /// The keys were used as often as they may be, and no new handshake came about.
    Spent,
}

/// What goes out. Order counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send this datagram.
    Transmit {
        /// To where.
        to: Locator,
        /// What.
        datagram: Bytes,
    },
    /// A link is up: the peer proved its key. It is a guest until [`Input::Standing`] says
    /// otherwise.
    Up {
        /// Who.
        node: NodeId,
        /// Where.
        at: Locator,
        /// Its certificate, DER; its key is proved, its votes are for the roster to judge.
        certificate: Bytes,
        /// Whether the certificate claims to be a member's.
        rostered_claim: bool,
    },
    /// The peer, its link up, has another certificate for the same key.
    Certificate {
        /// Who.
        node: NodeId,
        /// DER.
        certificate: Bytes,
        /// Whether the certificate claims to be a member's.
        rostered_claim: bool,
    },
    /// A link is down.
    Down {
        /// Whose.
        node: NodeId,
        /// Why.
        cause: DownCause,
    },
    /// Somebody at the place dialled says that it answers handshakes of the other form only.
    /// Anybody on the path may have written that: a hint for people, said once for each dial, which
    /// goes on as it was.
    Refused {
        /// Where.
        at: Locator,
        /// Who was wanted.
        node: Option<NodeId>,
        /// What is asked for there.
        asks: Exchange,
    },
    /// A dial gave up.
    Unreached {
        /// Where.
        at: Locator,
        /// Who was wanted.
        node: Option<NodeId>,
    },
    /// A frame from a peer.
    Frame {
        /// Who sent it.
        from: NodeId,
        /// On which channel.
        channel: Channel,
        /// What.
        frame: Bytes,
    },
    /// A happening worth a line: rare, and holding no secret.
    Trace(String),
}

/// What is set from outside.
#[derive(Debug, Clone)]
pub struct Config {
    /// The ring that this node belongs to; a peer of another ring is not understood.
    pub group: GroupId,
    /// What the keys of every link come from; handshakes of the other form are refused.
    pub exchange: Exchange,
    /// How long a peer may be silent before its link is down.
    pub silence: Duration,
    /// How long a dial is tried.
    pub dial: Duration,
    /// Datagrams sealed or opened under one key before a new handshake.
    pub rekey_after: u64,
    /// What a mutant does wrong.
    pub danger: Mutant,
}

impl Config {
    /// The defaults for the ring governed by `group`.
    pub fn new(group: GroupId) -> Self {
        Self {
            group,
            exchange: Exchange::default(),
            silence: Duration::from_millis(1_500),
            dial: Duration::from_millis(5_000),
            rekey_after: 1 << 32,
            danger: Mutant::NONE,
        }
    }
}

/// What was refused or dropped so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Datagrams that did not open, were malformed, or were for no link.
    pub refused: u64,
    /// Datagrams that came before.
    pub replayed: u64,
    /// Guests' frames on the ring channel.
    pub out_of_turn: u64,
    /// Guests' frames above their rate or size.
    pub too_much: u64,
    /// Cookies sent.
    pub cookies: u64,
    /// Handshakes not answered for lack of room or time.
    pub busy: u64,
    /// Hellos of the other form, refused.
    pub other_form: u64,
    /// Handshakes finished.
    pub handshakes: u64,
    /// Incomplete frames forgotten.
    pub fragments_lost: u64,
}
