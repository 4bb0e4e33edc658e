//! The bounds of this layer, their policies, and the relations between them.

use core::time::Duration;
use folkmoot_base::limits::{
    DATAGRAM_BYTES_MAX, ENTRY_BYTES_MAX, GUESTS_MAX, LONG_FRAME_BYTES_MAX, MEMBERS_MAX, PATH_BYTES_BASE,
};

/// Most links at once; a further peer is refused.
pub const LINKS_MAX: usize = MEMBERS_MAX + GUESTS_MAX;
/// Most dials at once; a further call is refused.
pub const DIALS_MAX: usize = 256;
/// How long a dial is tried.
pub(crate) const DIAL_LIFE: Duration = Duration::from_millis(5_000);
/// Most half-open handshakes. The oldest of the host that has the most makes room, if that host has
/// two more than the host of the new one or it is older than [`HALF_OPEN_STAY`]; otherwise the new
/// one is refused.
pub const HALF_OPEN_MAX: usize = 64;
/// How long a half-open handshake is safe from eviction by a host that has as many.
pub(crate) const HALF_OPEN_STAY: Duration = Duration::from_millis(500);
/// How long a half-open handshake is kept.
pub(crate) const HALF_OPEN_LIFE: Duration = Duration::from_millis(5_000);
/// Handshakes answered at once, and per second after that; further ones are not answered. Hosts
/// share this alike, so that one alone can use up half of it.
pub(crate) const HANDSHAKES_BURST: u64 = 128;
/// See [`HANDSHAKES_BURST`].
pub(crate) const HANDSHAKES_PER_SECOND: u64 = 100;
/// How long a guest is safe from a newer one. Of the host that has the most guests, the newest is
/// dropped if none has stayed longer than this; otherwise the one that has stayed longest.
pub const GUEST_STAY: Duration = Duration::from_secs(10);
/// Longest certificate that a link carries, in bytes.
pub const CERTIFICATE_BYTES_MAX: usize = ENTRY_BYTES_MAX;
/// Longest admission frame of a guest, in bytes.
pub const GUEST_ADMISSION_BYTES_MAX: usize = 16 * 1024;
/// Bytes of admission frames that a guest may send at once, and per second after that.
pub const GUEST_ADMISSION_BURST: u64 = 64 * 1024;
/// See [`GUEST_ADMISSION_BURST`].
pub const GUEST_ADMISSION_PER_SECOND: u64 = 16 * 1024;
/// Bytes of transcript frames that a guest may send at once, and per second after that.
pub(crate) const GUEST_TRANSCRIPT_BURST: u64 = 256 * 1024;
/// See [`GUEST_TRANSCRIPT_BURST`].
pub(crate) const GUEST_TRANSCRIPT_PER_SECOND: u64 = 64 * 1024;
/// The least that a frame of a guest counts for, in bytes.
pub(crate) const GUEST_FRAME_COST: u64 = 256;
/// Most incomplete frames of one member; the oldest makes room.
pub const ASSEMBLIES_MAX: usize = 16;
/// Most incomplete frames of one guest; the oldest makes room.
pub(crate) const GUEST_ASSEMBLIES_MAX: usize = 2;
/// How long an incomplete frame is kept.
pub(crate) const ASSEMBLY_LIFE: Duration = Duration::from_millis(2_000);
/// How long a link in a configuration rests at most between two questions. Translators of addresses
/// forget a path that is not used for 30 s.
pub const REST_MAX: Duration = Duration::from_secs(16);
/// How long a process that a later one has superseded is told so again when it sends.
pub(crate) const FORMER_LIFE: Duration = Duration::from_secs(5);
/// Width of the replay window, in datagrams.
pub(crate) const REPLAY_WINDOW: u64 = 1_024;
/// How long a cookie's key is the newest one; a cookie is good for one to two such times.
pub const COOKIE_LIFE: Duration = Duration::from_secs(10);
/// Cookies that a dial answers at once; after that, only its timer sends the next Hello.
pub const COOKIES_ANSWERED: u8 = 3;
/// First wait before a handshake message is sent again, at least; LINK-35. It doubles each time, up
/// to [`RESEND_MAX`].
pub(crate) const RESEND_FIRST: Duration = Duration::from_millis(200);
/// See [`RESEND_FIRST`].
pub(crate) const RESEND_MAX: Duration = Duration::from_millis(1_600);
/// Least time between two answers to repeated handshake messages.
pub(crate) const REPEAT_MIN: Duration = Duration::from_millis(50);

/// A peer that is heard at another address is asked there so often at most, wherever that is, and
/// each time only because it was heard there.
pub const MOVE_ASK: Duration = Duration::from_millis(100);

/// The sizes of datagrams that a path is tried with, in bytes, the largest first: what is left for
/// UDP of links that carry 1,500, 1,492 (PPPoE), 1,420 (WireGuard), 1,400 and 1,280 bytes, over
/// IPv4 and over IPv6; the size that every path is taken to carry; and two for those that carry
/// less.
pub const PATH_SIZES: [usize; 10] =
    [DATAGRAM_BYTES_MAX, 1_444, 1_392, 1_372, 1_352, 1_252, 1_232, PATH_BYTES_BASE, 1_000, PATH_BYTES_MIN];
/// The least that a path must carry, in bytes: a frame has no more fragments than 128.
pub const PATH_BYTES_MIN: usize = 640;
/// Rounds of probes in one search.
pub const PROBE_ROUNDS: u8 = 4;
/// How often the size that is looked for is sent in each round but the first: the loss of one
/// datagram says nothing of its size.
pub(crate) const PROBE_TARGET_COPIES: usize = 3;
/// Rounds after which the first search counts as good enough to form a ring with.
pub(crate) const PROBE_ROUNDS_SETTLED: u8 = 2;
/// How long a round waits for answers: at least this, whatever was measured.
pub(crate) const PROBE_WAIT_MIN: Duration = Duration::from_millis(100);
/// How long a round waits for answers before anything was measured; doubles with each round.
pub(crate) const PROBE_WAIT_FIRST: Duration = Duration::from_millis(300);
/// The longest that a round waits for answers.
pub const PROBE_WAIT_MAX: Duration = Duration::from_millis(1_000);
/// Least time between two checks of a path that carries long datagrams.
pub const PATH_CHECK: Duration = Duration::from_millis(500);
/// After so long a path that does not carry the full size is tried again with it.
pub const PATH_RAISE: Duration = Duration::from_secs(600);
/// Probes of one peer that are answered at once, and per second after that.
pub const PROBES_ANSWERED_BURST: u64 = 64;
/// See [`PROBES_ANSWERED_BURST`].
pub const PROBES_ANSWERED_PER_SECOND: u64 = 16;

/// After so long the answer to a ping is not awaited any more.
pub(crate) const PING_LOST: Duration = Duration::from_secs(2);
/// A peer is silent for so many round trips before it counts as gone (LINK-36): a question and its
/// answer take one, and both may be lost.
pub(crate) const SILENCE_TRIPS: u32 = 4;
/// Longer round trips count as this.
pub(crate) const SILENCE_TRIP_MAX: Duration = Duration::from_millis(1_500);
/// A round trip that differs by less, or by less than a quarter, from what was told is no news.
pub(crate) const TRIP_NEWS: Duration = Duration::from_millis(10);
/// Probes in one try whether all hear what is sent to all.
pub const CAST_TRIES: u32 = 4;
/// So many probes in a row that somebody did not answer end multicast.
pub const CAST_MISSED: u32 = 3;
/// Least time between two probes while packets go to all, and nobody asks for them again.
pub const CAST_CHECK: Duration = Duration::from_millis(500);
/// How long packets go to each by itself before multicast is tried again in the same configuration.
/// It doubles each time, up to [`CAST_PAUSE_MAX`].
pub const CAST_PAUSE: Duration = Duration::from_secs(10);
/// See [`CAST_PAUSE`].
pub const CAST_PAUSE_MAX: Duration = Duration::from_secs(640);
/// If multicast worked for so long, the next pause is the first again.
pub const CAST_STEADY: Duration = Duration::from_secs(600);

/// Bytes of one part of a handshake message: what every path is taken to carry.
pub(crate) const PART_BYTES: usize = PATH_BYTES_BASE - crate::message::PART_HEADER_BYTES;
/// Most parts of a handshake message, and most fragments of a frame.
pub(crate) const PARTS_MAX: u8 = 128;
/// Longest handshake message.
pub(crate) const HANDSHAKE_BYTES_MAX: usize = CERTIFICATE_BYTES_MAX + 1_024 + crate::kem::CIPHERTEXT_BYTES;

/// Bytes of the longest frame that fits one datagram of a path that carries `mtu` bytes.
pub const fn frame_bytes(mtu: usize) -> usize {
    mtu.saturating_sub(SEALED_OVERHEAD)
}

/// Bytes of one fragment of a longer frame.
pub(crate) const fn fragment_bytes(mtu: usize) -> usize {
    frame_bytes(mtu).saturating_sub(crate::message::FRAGMENT_HEADER_BYTES)
}

/// What a link puts around a frame that has a datagram of its own.
pub const SEALED_OVERHEAD: usize =
    crate::message::DATA_HEADER_BYTES + crate::message::FRAME_HEADER_BYTES + crate::message::TAG_BYTES;

const _: () = assert!(frame_bytes(DATAGRAM_BYTES_MAX) == folkmoot_base::limits::FRAME_BYTES_MAX);
const _: () = assert!(HANDSHAKE_BYTES_MAX.div_ceil(PART_BYTES) <= PARTS_MAX as usize);
const _: () = assert!(LONG_FRAME_BYTES_MAX.div_ceil(fragment_bytes(PATH_BYTES_MIN)) <= PARTS_MAX as usize);
const _: () = assert!(HANDSHAKE_BYTES_MAX < 65_535);
// A Hello is one datagram, so that nothing is kept of a Hello that proves no address.
const _: () =
    assert!(6 + crate::message::COOKIE_BYTES + crate::message::HYBRID_HELLO_BYTES <= DATAGRAM_BYTES_MAX);
const _: () = assert!(CERTIFICATE_BYTES_MAX + 64 <= LONG_FRAME_BYTES_MAX);
