//! The settings of a ring, and the bounds that it keeps.

use crate::error::StoredError;
use core::time::Duration;
/// From this round trip on a ring is far: it saves rotations of the token (RING-34, RING-35).
pub(crate) use folkmoot_base::limits::FAR;
use folkmoot_base::limits::{FRAME_BYTES_MAX, NODES_MAX, PATH_BYTES_BASE, UNRELIABLE_BYTES_MAX};
use folkmoot_base::{Mutant, NodeId};

/// Packets that all members together may send in one rotation of the token.
pub const WINDOW_PACKETS: u32 = 400;
/// So many of the longest packets of an Ethernet leave in one call to the system. A visit sends
/// multiples of it, so that few calls are for a few packets only.
const TRAIN_PACKETS: u32 = 44;
/// Packets that one member may send on one visit of the token.
pub(crate) const VISIT_PACKETS: u32 = 3 * TRAIN_PACKETS;
/// How far the highest number may run ahead of what all members are known to hold. A slow member
/// stops the numbering here.
pub(crate) const GAP_PACKETS_MAX: u64 = 1_200;
/// Most packets of one configuration that a node keeps.
pub const STORE_PACKETS_MAX: u64 = 4_096;
/// Most requests for retransmission that a token carries.
pub const REQUESTS_MAX: usize = 64;
/// Most packets that follow the token instead of preceding it (accelerated ring).
pub(crate) const ACCELERATED_PACKETS: usize = TRAIN_PACKETS as usize;
/// Packets that always precede the token, so that at small load the data arrives before the token.
pub(crate) const LEADING_PACKETS: usize = 8;
/// The highest ring number accepted from a peer: far above any that a ring can reach, and far below
/// the end of the range.
pub(crate) const RING_SEQ_MAX: u64 = 1 << 63;
/// So much higher than the last attempt that a node took part in may the next one be: whoever lies
/// about ring numbers needs two thousand million attempts to use them up (RING-21).
pub(crate) const RING_SEQ_STEP_MAX: u64 = 1 << 32;
/// The highest number of a packet, of a record and of a place: frames have four bytes for each. A
/// ring that comes halfway begins anew.
pub(crate) const PACKET_NUMBER_MAX: u64 = u32::MAX as u64;
/// How many queues there are: so many messages of one node are on their way in pieces at most
/// (RING-12).
pub(crate) const LINES: usize = 16;
/// Most packets that one record names.
pub(crate) const RECORD_PACKETS_MAX: u16 = 256;
/// Most packets that a member without the token sends before they have places.
pub(crate) const EARLY_PACKETS: u32 = 8;
/// ORD-16: how far below the highest number of its sender an unreliable packet may be. So many
/// pieces of each sender are kept at most.
pub(crate) const UNRELIABLE_WINDOW: u64 = 1_024;
/// So many unreliable packets of one node leave at once at most,
pub(crate) const UNRELIABLE_PACKETS: u32 = 1_024;
/// and then one in this time. Messages that do not fit are given up by their sender.
pub(crate) const UNRELIABLE_PACE: Duration = Duration::from_micros(16);
/// Longest message that is sent unreliable, with all that the layers above put around it.
pub(crate) const UNRELIABLE_BYTES_SENT_MAX: usize = UNRELIABLE_BYTES_MAX + 4 * 1024;
/// The highest number of a pass of the token that is accepted from a peer; a ring would need
/// centuries to reach it.
pub(crate) const TOKEN_SEQ_MAX: u64 = 1 << 50;
/// So often the token of such a ring waits for answers at one visit.
pub(crate) const ANSWERS_MAX: u8 = 6;
/// How many attempts a node remembers so as not to take part in another of the same handle.
pub(crate) const HANDLES_KEPT: usize = 16;

const _: () = assert!(GAP_PACKETS_MAX * 3 + WINDOW_PACKETS as u64 <= STORE_PACKETS_MAX);
const _: () = assert!(VISIT_PACKETS <= WINDOW_PACKETS);
const _: () = assert!(UNRELIABLE_BYTES_SENT_MAX / (PATH_BYTES_BASE - 64) < UNRELIABLE_WINDOW as usize);
const _: () = assert!(UNRELIABLE_PACKETS as u64 >= UNRELIABLE_WINDOW);
const _: () = assert!(NODES_MAX <= 64, "sets of members of one configuration are 64 bits wide");
const _: () = assert!(FRAME_BYTES_MAX >= 256);

/// The timeouts of the ring where a round trip takes next to no time. Where it takes longer, they
/// are longer: RING-29.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// What a round trip takes.
    pub trip: Duration,
    /// If the token has not come for this long, it counts as lost. Longer in a large ring.
    pub token_loss: Duration,
    /// So long before the token counts as lost, the members begin to ask one another who is there.
    pub ask: Duration,
    /// How long a member waits for a sign of progress before it repeats the token that it passed
    /// on, and again before each of the next repetitions; later ones wait longer.
    pub token_repeat: Duration,
    /// How long the token of an idle ring is kept at first.
    pub idle_hold: Duration,
    /// How long it keeps the token of a ring that has long been idle.
    pub idle_hold_max: Duration,
    /// Between two JOINs.
    pub join_repeat: Duration,
    /// A node that has been silent for this long in a gather is set aside.
    pub consensus: Duration,
    /// How long a node that hears of nobody waits before it forms a ring alone.
    pub alone: Duration,
    /// Between two commit tokens.
    pub commit_repeat: Duration,
    /// A commit token that does not come in this time ends the attempt.
    pub commit: Duration,
    /// From when a node becomes eligible to our JOIN to it, so that several arrivals share one
    /// JOIN.
    pub merge_delay: Duration,
    /// Between two JOINs to nodes that can be reached but are not in our ring.
    pub report_repeat: Duration,
    /// How long a larger set must have been known before a ring is split for it.
    pub split_delay: Duration,
    /// If nothing new has reached everybody for this long although the token goes round, the ring
    /// or attempt is given up.
    pub stall: Duration,
    /// First back-off of a node that was set aside; doubles each time.
    pub set_aside: Duration,
    /// Longest back-off.
    pub set_aside_max: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            trip: Duration::ZERO,
            token_loss: Duration::from_millis(400),
            ask: Duration::from_millis(150),
            token_repeat: Duration::from_millis(30),
            idle_hold: Duration::from_millis(40),
            idle_hold_max: Duration::from_millis(160),
            join_repeat: Duration::from_millis(50),
            consensus: Duration::from_millis(400),
            alone: Duration::from_millis(150),
            commit_repeat: Duration::from_millis(40),
            commit: Duration::from_millis(500),
            merge_delay: Duration::from_millis(25),
            report_repeat: Duration::from_millis(500),
            split_delay: Duration::from_millis(1_000),
            stall: Duration::from_millis(2_000),
            set_aside: Duration::from_millis(500),
            set_aside_max: Duration::from_secs(30),
        }
    }
}

/// The settings of a ring.
#[derive(Debug, Clone)]
pub struct Config {
    /// This node.
    pub me: NodeId,
    /// The timeouts.
    pub timing: Timing,
    /// What a mutant does wrong.
    pub danger: Mutant,
}

impl Config {
    /// The usual configuration of node `me`.
    pub fn new(me: NodeId) -> Self {
        Self { me, timing: Timing::default(), danger: Mutant::NONE }
    }
}

/// The table of the store that the ring owns.
pub const STORE_TABLE: &str = "ring";
/// The key of the ring number in [`STORE_TABLE`].
pub const STORE_KEY_RING_SEQ: &[u8] = b"ring_seq";

/// Reads a stored ring number; absent means 0.
///
/// # Errors
/// [`StoredError`] if the value is not eight bytes.
pub fn stored_ring_seq(value: Option<&[u8]>) -> Result<u64, StoredError> {
    let Some(value) = value else { return Ok(0) };
    value.try_into().map(u64::from_be_bytes).map_err(|_| StoredError(value.len()))
}
