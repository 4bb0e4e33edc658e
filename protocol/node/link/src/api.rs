//! The inputs, outputs and settings of this layer.

use crate::{Common, Versions};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use folkmoot_base::{GroupId, Locator, Mutant, NodeId, Secret};

/// What the keys of a link come from. The founding charter says which (ID-39), alike for every link
/// of its ring. There is no choice, so nobody can be talked into a weaker one.
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

/// What a frame is about, and therefore who may send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Channel {
    /// Ring and group frames: members only, both ways.
    Ring = 1,
    /// Transcript exchange: everybody may send; guests at a bounded rate.
    Transcript = 2,
    /// Admission frames: everybody may send; from guests only few and small ones.
    Admission = 3,
}

/// An input of this layer.
#[derive(Debug, Clone)]
pub enum Input {
    /// A datagram came from the transport.
    Datagram {
        /// The sender's locator, as the transport reports it.
        from: Locator,
        /// Its bytes: it is opened where it is.
        bytes: BytesMut,
    },
    /// A datagram came from the transport, and went to all by multicast.
    ToAll {
        /// The sender's locator, as the transport reports it.
        from: Locator,
        /// Its bytes: it is opened where it is.
        bytes: BytesMut,
    },
    /// What is sent to this locator goes to all of [`Output::Together`], as far as the host knows;
    /// `None`: there is no such locator. Until this is said, there is none.
    Everybody(Option<Locator>),
    /// Reach whoever is there. The dial gives up after 5 s with [`Output::Unreached`]; to go
    /// on trying, dial again.
    Dial {
        /// The locator to dial.
        at: Locator,
        /// The node that it must be, if known.
        node: Option<NodeId>,
    },
    /// Close the link to this node.
    Hangup {
        /// The node at the other end.
        node: NodeId,
    },
    /// Whether the stack's verified roster has this node. Until this is said, a peer is a guest.
    Standing {
        /// The node.
        node: NodeId,
        /// Whether it is a member's node.
        member: bool,
    },
    /// These other nodes are in one configuration with us now; nobody, if none stands any more.
    /// Links among them rest while the ring is heard.
    Company {
        /// The nodes.
        nodes: Vec<NodeId>,
    },
    /// What becomes of the ring's keys.
    RingKey(RingKeyChange),
    /// The system does not send datagrams of so many bytes to this locator: its interface there
    /// carries less.
    TooLong {
        /// The locator.
        to: Locator,
        /// The length of the datagram that was not sent.
        bytes: usize,
    },
    /// Our own certificate changed: every peer is told.
    Certificate(Bytes),
    /// The time named by [`Links::poll_timeout`] has come.
    Timeout,
}

/// The keys of one ring.
#[derive(Debug, Clone)]
pub struct RingKeys {
    /// How packets name the ring.
    pub ring: [u8; 4],
    /// Its members, and the key under which each seals what it numbers, by index.
    pub senders: Vec<(NodeId, Secret<[u8; 32]>)>,
}

/// What becomes of the ring's keys.
#[derive(Debug, Clone)]
pub enum RingKeyChange {
    /// An attempt begins: what is sealed under these keys is opened from now on.
    Attempt(RingKeys),
    /// The attempt is the configuration now: [`Links::multicast`](crate::Links::multicast) seals
    /// under its keys, and those of the configuration before are erased.
    Installed,
    /// The attempt has failed: its keys are erased.
    Failed,
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

/// An output of this layer. Order counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send this datagram.
    Transmit {
        /// The locator.
        to: Locator,
        /// The datagram.
        datagram: Bytes,
    },
    /// Send this datagram by itself. It asks what the way to there carries, and devices let
    /// datagrams pass in a train that they would stop alone.
    Probe {
        /// The locator.
        to: Locator,
        /// The datagram.
        datagram: Bytes,
    },
    /// The nodes at these places are one configuration with us now. If the host can receive and
    /// send to all of them at once, it answers with [`Input::Everybody`]. If there are none, there
    /// is nothing more to receive so.
    Together {
        /// Where each of the others is.
        places: Vec<Locator>,
    },
    /// A link is up: the peer proved its key. It is a guest until [`Input::Standing`] says
    /// otherwise.
    Up {
        /// The peer.
        node: NodeId,
        /// The peer's locator.
        at: Locator,
        /// Its certificate, DER. Its key is proved; its votes are for the roster to judge.
        certificate: Bytes,
        /// Whether the certificate claims to be a member's.
        rostered_claim: bool,
        /// What both can do.
        common: Common,
    },
    /// A peer whose link is up has another certificate for the same key.
    Certificate {
        /// The peer.
        node: NodeId,
        /// DER.
        certificate: Bytes,
        /// Whether the certificate claims to be a member's.
        rostered_claim: bool,
    },
    /// A link is down.
    Down {
        /// The node at the other end.
        node: NodeId,
        /// The cause.
        cause: DownCause,
    },
    /// Somebody at the locator that was dialled says that it answers handshakes of the other form
    /// only. Anybody on the path may have written that. It is a hint for people, given once for
    /// each dial; the dial goes on as before.
    Refused {
        /// The locator that was dialled.
        at: Locator,
        /// The node that was wanted, if one was named.
        node: Option<NodeId>,
        /// The form that is asked for there.
        asks: Exchange,
    },
    /// The peer's identity runs twice. The process that started earlier has been told to stop.
    Twice {
        /// The node.
        node: NodeId,
        /// Where the earlier process is.
        at: Locator,
    },
    /// Our own identity runs twice, and the other process started later: stop, and keep the number,
    /// so that the next process here starts later than that one.
    Superseded {
        /// When the other process started, see [`Config::started`].
        started: u64,
    },
    /// A dial gave up.
    Unreached {
        /// The locator that was dialled.
        at: Locator,
        /// The node that was wanted, if one was named.
        node: Option<NodeId>,
    },
    /// The path to a member's node carries datagrams of so many bytes. Said once that was tried,
    /// which takes a round trip if the path carries the full size and ends in any case; and when it
    /// or the round trip ([`Path::trip`]) changes. Longer frames are cut into fragments.
    Path {
        /// The peer.
        node: NodeId,
        /// The longest datagram, in bytes.
        mtu: u16,
    },
    /// A frame from a peer.
    Frame {
        /// The sender.
        from: NodeId,
        /// On which channel.
        channel: Channel,
        /// Its bytes.
        frame: Bytes,
    },
    /// An event for the log: rare, and holding no secret.
    Trace(String),
}

/// A path of a link. A link has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// Where it leads.
    pub at: Locator,
    /// The longest datagram that it carries, in bytes.
    pub mtu: u16,
    /// Whether that was tried; until then it is what every path is taken to carry.
    pub validated: bool,
    /// The smoothed round trip (RFC 6298), once one was measured.
    pub rtt: Option<Duration>,
    /// Its variance.
    pub rtt_variance: Option<Duration>,
    /// What a round trip takes now: the median of the last three; zero if none was measured.
    pub trip: Duration,
}

/// The settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// The ring that this node belongs to; a peer of another ring is not understood.
    pub group: GroupId,
    /// What the keys of every link come from; handshakes of the other form are refused.
    pub exchange: Exchange,
    /// The wire versions that this node speaks. What is sealed is in the highest one that both ends
    /// speak; this release writes and reads version 1.
    pub versions: Versions,
    /// What else it can do, one bit each.
    pub capabilities: u64,
    /// How long a peer may be silent before its link goes down.
    pub silence: Duration,
    /// When this process started, in microseconds since 1970; higher than that of any process
    /// before with this identity. Of two that run at once the one with the higher number goes on.
    pub started: u64,
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
            versions: Versions::OURS,
            capabilities: 0,
            silence: Duration::from_millis(1_500),
            started: 0,
            rekey_after: 1 << 32,
            danger: Mutant::NONE,
        }
    }
}

/// Counts of what was sealed, opened, copied, refused or dropped so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Datagrams sealed.
    pub sealed: u64,
    /// Datagrams opened.
    pub opened: u64,
    /// Bytes copied: of frames into datagrams and out of fragments.
    pub copied: u64,
    /// Datagrams that did not open, were malformed, or belonged to no link.
    pub refused: u64,
    /// Datagrams that had come before.
    pub replayed: u64,
    /// Datagrams under the key of a ring of which this node has no keys: late, mostly.
    pub other_ring: u64,
    /// Packets of the ring that went to all by multicast.
    pub to_all: u64,
    /// Guests' frames on the ring channel.
    pub out_of_turn: u64,
    /// Guests' frames above their rate or size.
    pub too_much: u64,
    /// Cookies sent.
    pub cookies: u64,
    /// Handshakes not answered because there was no room or no time.
    pub busy: u64,
    /// Hellos of the other form, refused.
    pub other_form: u64,
    /// Handshakes finished.
    pub handshakes: u64,
    /// Incomplete frames that were forgotten.
    pub fragments_lost: u64,
}
