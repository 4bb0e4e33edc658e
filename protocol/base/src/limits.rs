//! The bounds that several layers share. The relations between them are proved at compile time.

use core::time::Duration;

/// Most nodes on one ring.
pub const NODES_MAX: usize = 64;
/// Most parties in one group.
pub const MEMBERS_MAX: usize = 1_000;
/// Most parties of one member in one group: no member can fill a group alone.
pub const PARTIES_MAX: usize = 64;
/// Most groups on one ring.
pub const GROUPS_MAX: usize = 10_000;
/// Most charters of groups that a node carries beside its ring's own.
pub const CHARTERS_MAX: usize = 64;
/// Longest group name, in bytes of UTF-8.
pub const GROUP_NAME_BYTES_MAX: usize = 255;
/// Longest text of a locator, in bytes.
pub const LOCATOR_BYTES_MAX: usize = 255;
/// Longest application message, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Longest message that a ring orders, in bytes: the longest application message once it is sealed
/// and signed, with all that the layers between put around it.
pub const ORDERED_BYTES_MAX: usize = MESSAGE_BYTES_MAX + 4 * 1024;
/// Longest application message that may be sent unreliable, in bytes: loss of any packet of it is
/// the loss of all.
pub const UNRELIABLE_BYTES_MAX: usize = 1024 * 1024;
/// Largest datagram that a link hands to a transport, in bytes: Ethernet's 1,500 less IPv6 and UDP
/// headers.
pub const DATAGRAM_BYTES_MAX: usize = 1_452;
/// Largest datagram that every path is taken to carry, in bytes: IPv6 asks for more of every
/// network (RFC 8899 calls it BASE_PLPMTU).
pub const PATH_BYTES_BASE: usize = 1_200;
/// Largest frame that fits one datagram once a link has sealed it, in bytes: a link puts 33 bytes
/// around it.
pub const FRAME_BYTES_MAX: usize = DATAGRAM_BYTES_MAX - 33;
/// Largest frame that a link accepts and splits into fragments, in bytes (a JOIN or commit token of
/// 64 nodes fits).
pub const LONG_FRAME_BYTES_MAX: usize = 64 * 1024;
/// Most bytes of application messages that wait in a node for the token.
pub const SEND_QUEUE_BYTES_MAX: usize = 2 * (MESSAGE_BYTES_MAX + 1024 * 1024);
/// Most bytes that a session holds while there is no key.
pub const HELD_BYTES_MAX: usize = MESSAGE_BYTES_MAX + 1024 * 1024;
/// Longest entry of the transcript, in bytes.
pub const ENTRY_BYTES_MAX: usize = 48 * 1024;
/// Most entries of one transcript that a node keeps.
pub const ENTRIES_MAX: usize = 100_000;
/// Most guests that a node talks to at once.
pub const GUESTS_MAX: usize = 32;
/// Most admission requests that a group keeps open at once.
pub const REQUESTS_MAX: usize = 128;
/// Number of messages after which a key epoch must end; far below what the AEAD allows.
pub const SEALS_PER_EPOCH_MAX: u64 = 1 << 32;
/// How old a key becomes before the members make another, unless the charter says otherwise.
pub const EPOCH_AGE: Duration = Duration::from_secs(3_600);
/// How long a member waits for another's step before it complains.
pub const STEP_DEADLINE: Duration = Duration::from_millis(3_000);
/// From this round trip on nodes are far from each other.
pub const FAR: Duration = Duration::from_millis(20);
/// The longest time for which distant nodes make their members wait for a step.
pub const PATIENCE_MAX: Duration = Duration::from_millis(60_000);

const _: () = assert!(FRAME_BYTES_MAX < DATAGRAM_BYTES_MAX);
const _: () = assert!(PATH_BYTES_BASE < DATAGRAM_BYTES_MAX);
const _: () = assert!(FRAME_BYTES_MAX <= LONG_FRAME_BYTES_MAX);
const _: () = assert!(2 * ORDERED_BYTES_MAX < SEND_QUEUE_BYTES_MAX);
const _: () = assert!(MESSAGE_BYTES_MAX <= HELD_BYTES_MAX);
const _: () = assert!(ENTRY_BYTES_MAX < LONG_FRAME_BYTES_MAX);
