//! LINK-31, LINK-32, LINK-41: how long a datagram the path to one peer carries (RFC 8899).
//!
//! ```text
//!  member --search: full size--> answered: that is it
//!                      | no answer; over a long path at once
//!                      v
//!           all sizes at once, a few rounds --> the largest that was answered
//!  long datagrams leave --check: the size in use--> answered: as before
//!                      | no answer, and smaller sizes are answered
//!                      v
//!           the size falls to the largest that was answered
//! ```
//! A lost probe is no sign of congestion, and costs nothing but its round. A search ends after
//! [`PROBE_ROUNDS`] rounds. Nobody is asked while nothing long is sent.

use super::rtt::Rtt;
use crate::limits::{
    PATH_BYTES_MIN, PATH_CHECK, PATH_RAISE, PATH_SIZES, PING_LOST, PROBE_ROUNDS, PROBE_ROUNDS_SETTLED,
    PROBE_TARGET_COPIES, PROBES_ANSWERED_BURST, PROBES_ANSWERED_PER_SECOND, SILENCE_TRIP_MAX, SILENCE_TRIPS,
    TRIP_NEWS,
};
use core::time::Duration;
use folkmoot_base::limits::{DATAGRAM_BYTES_MAX, FAR, PATH_BYTES_BASE};
use folkmoot_base::{Bucket, Instant};

/// A probe on its way.
#[derive(Debug, Clone, Copy)]
struct Sent {
    number: u32,
    size: usize,
    at: Instant,
}

/// A search under way.
#[derive(Debug)]
struct Search {
    /// The size that is looked for.
    target: usize,
    /// Rounds sent so far.
    rounds: u8,
    /// The largest that was answered.
    best: usize,
    sent: Vec<Sent>,
    due: Instant,
    /// LINK-41: all sizes go in the first round.
    at_once: bool,
    /// LINK-41: what was answered until then is told.
    tell_at: Option<Instant>,
}

/// What the path to one peer carries.
#[derive(Debug)]
pub(super) struct Path {
    mtu: usize,
    /// The first search has come far enough.
    settled: bool,
    /// A search has ended.
    tried: bool,
    /// What was last told: the size, and the round trip.
    told: Option<(usize, Duration)>,
    search: Option<Search>,
    next_number: u32,
    /// When a search last ended.
    checked: Instant,
    answers: Bucket,
    /// The number of the last ping.
    pinged: Option<u64>,
    rtt: Rtt,
    /// LINK-40: what the handshake says of a round trip, until one was measured.
    supposed: Duration,
    /// So many of the last round trips were other than before.
    surprises: u8,
}

impl Path {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            mtu: PATH_BYTES_BASE,
            settled: false,
            tried: false,
            told: None,
            search: None,
            next_number: 0,
            checked: now,
            answers: Bucket::new(PROBES_ANSWERED_BURST, PROBES_ANSWERED_PER_SECOND, now),
            pinged: None,
            rtt: Rtt::default(),
            supposed: Duration::ZERO,
            surprises: 0,
        }
    }

    /// The longest datagram that it carries, as far as is known.
    pub(super) fn mtu(&self) -> usize {
        self.mtu
    }

    /// Whether that was tried.
    pub(super) fn is_settled(&self) -> bool {
        self.settled
    }

    /// The smoothed round trip and its variance.
    pub(super) fn rtt(&self) -> Option<(Duration, Duration)> {
        self.rtt.smoothed()
    }

    /// How long an answer takes, at most, if nothing is lost.
    pub(super) fn wait(&self) -> Duration {
        self.rtt.wait(0)
    }

    /// What is to be told now: the size, if it is known and another than was told before.
    pub(super) fn news(&mut self) -> Option<usize> {
        let trip = self.trip();
        let known = |(mtu, told)| mtu == self.mtu && !is_news(told, trip);
        if !self.settled || self.told.is_some_and(known) {
            return None;
        }
        self.told = Some((self.mtu, trip));
        Some(self.mtu)
    }

    /// A round trip takes about so long: nothing was measured yet.
    pub(super) fn suppose(&mut self, trip: Duration) {
        self.supposed = trip;
    }

    /// What a round trip takes now, as far as is known.
    pub(super) fn trip(&self) -> Duration {
        self.rtt.trip().unwrap_or(self.supposed)
    }

    /// LINK-36: for how long a peer may be silent, if a quick one may for `least`.
    pub(super) fn silence(&self, least: Duration) -> Duration {
        least.max(self.trip().min(SILENCE_TRIP_MAX) * SILENCE_TRIPS)
    }

    /// Looks for the full size, if it was never looked for. LINK-41: over a long path for all sizes
    /// at once, unless they wait.
    pub(super) fn begin(&mut self, now: Instant, wait: bool) {
        if self.settled || self.search.is_some() {
            return;
        }
        self.look_for(now, DATAGRAM_BYTES_MAX);
        let at_once = self.trip() >= FAR && !wait;
        self.search.iter_mut().for_each(|search| search.at_once = at_once);
    }

    /// Checks the size in use soon: the peer is heard elsewhere.
    pub(super) fn doubt(&mut self, now: Instant) {
        if self.settled && self.search.is_none() {
            self.look_for(now, self.mtu);
        }
    }

    fn look_for(&mut self, now: Instant, target: usize) {
        let (sent, at_once, tell_at) = (Vec::new(), false, None);
        self.search = Some(Search { target, rounds: 0, best: 0, sent, due: now, at_once, tell_at });
    }

    /// A datagram of so many bytes left. Returns whether the path is to be checked.
    #[inline]
    pub(super) fn carried(&mut self, now: Instant, bytes: usize) -> bool {
        let idle = self.settled && self.search.is_none();
        let due = bytes > PATH_BYTES_MIN && idle && now >= self.checked + PATH_CHECK;
        if due {
            self.doubt(now);
        }
        due
    }

    /// Whether the first round of a search is on its way.
    pub(super) fn is_first_round(&self) -> bool {
        self.search.as_ref().is_some_and(|search| search.rounds == 1)
    }

    /// When to call [`Self::advance`].
    pub(super) fn due(&self) -> Option<Instant> {
        match &self.search {
            Some(search) => Some(search.tell_at.map_or(search.due, |at| at.min(search.due))),
            None => (self.settled && self.mtu < DATAGRAM_BYTES_MAX).then_some(self.checked + PATH_RAISE),
        }
    }

    /// What time does: the next round of a search, whose probes (number, size) are returned, or its
    /// end, or a search for a larger size.
    pub(super) fn advance(&mut self, now: Instant) -> Vec<(u32, usize)> {
        if self.due().is_none_or(|due| now < due) {
            return Vec::new();
        }
        if self.search.is_none() {
            self.look_for(now, DATAGRAM_BYTES_MAX);
        }
        let supposed = if self.rtt.smoothed().is_none() { self.supposed } else { Duration::ZERO };
        let Some(search) = self.search.as_mut() else { return Vec::new() };
        self.settled |= search.tell_at.take_if(|at| *at <= now).is_some();
        if now < search.due {
            return Vec::new();
        }
        self.settled |= search.rounds >= PROBE_ROUNDS_SETTLED && search.best > 0;
        if search.rounds >= PROBE_ROUNDS {
            self.end(now);
            return Vec::new();
        }
        let first = search.rounds == 0;
        let copies = if first { 1 } else { PROBE_TARGET_COPIES };
        let target = core::iter::repeat_n(search.target, copies);
        let (most, best) = (search.target, search.best);
        let one = first && !search.at_once;
        let others = PATH_SIZES.into_iter().filter(|size| !one && *size < most && *size > best);
        let mut probes = Vec::new();
        for size in target.chain(others) {
            let number = self.next_number;
            self.next_number = number.wrapping_add(1);
            search.sent.push(Sent { number, size, at: now });
            probes.push((number, size));
        }
        // LINK-41: no answer can come before.
        let least = if search.at_once { supposed * 5 / 4 } else { Duration::ZERO };
        search.due = now + self.rtt.wait(search.rounds).max(least);
        search.rounds = search.rounds.saturating_add(1);
        probes
    }

    /// The search is over: what was answered counts. If nothing was, nothing is known.
    fn end(&mut self, now: Instant) {
        if let Some(search) = self.search.take()
            && search.best > 0
        {
            // A search for more takes nothing away: whether the size in use is lost is checked.
            let more = self.tried && search.target > self.mtu;
            self.mtu = if more { self.mtu.max(search.best) } else { search.best };
        }
        (self.settled, self.tried) = (true, true);
        self.checked = now;
    }

    /// A probe was answered. Only the number and size of one that this search has sent count
    /// (LINK-31).
    pub(super) fn answered(&mut self, now: Instant, number: u32, size: usize) {
        let Some(search) = self.search.as_mut() else { return };
        let place = search.sent.iter().position(|sent| sent.number == number && sent.size == size);
        let Some(place) = place else { return };
        let sent = search.sent.swap_remove(place);
        search.best = search.best.max(size);
        self.mtu = self.mtu.max(search.best);
        if search.best >= search.target {
            self.end(now);
        } else if search.at_once && !self.settled {
            let took = now.since(sent.at);
            search.tell_at.get_or_insert(now + took / LATER_ANSWERS);
        }
        self.measure(now.since(sent.at));
    }

    /// A round trip took so long. A round that began when nothing was known need not wait longer
    /// than this asks for.
    fn measure(&mut self, took: Duration) {
        self.rtt.measure(took);
        if let Some(search) = self.search.as_mut()
            && let Some(sent) = search.sent.last()
        {
            search.due = search.due.min(sent.at + self.rtt.wait(0));
        }
    }

    /// The system does not send datagrams of so many bytes there: at once, and without a probe
    /// (LINK-32). Returns whether the path is to be tried with less now.
    pub(super) fn too_long(&mut self, now: Instant, bytes: usize) -> bool {
        let Some(less) = PATH_SIZES.into_iter().find(|size| *size < bytes) else { return false };
        let looks = self.search.as_ref().is_some_and(|search| search.target >= bytes);
        if self.mtu >= bytes {
            self.mtu = less.min(PATH_BYTES_BASE);
        } else if !looks {
            return false;
        }
        self.look_for(now, less);
        true
    }

    /// Whether a probe of so many bytes is answered now (LINK-33).
    pub(super) fn may_answer(&mut self, now: Instant) -> bool {
        self.answers.take(now, 1)
    }

    /// A ping with this number leaves. If another is on its way, that one is measured: over a long
    /// path the next ping leaves before the answer comes.
    pub(super) fn ping(&mut self, number: u64) {
        let lost = |pinged: u64| Instant(number).since(Instant(pinged)) > PING_LOST;
        if self.pinged.is_none_or(lost) {
            self.pinged = Some(number);
        }
    }

    /// A pong came; the number of a ping is the time at which it left. Returns whether to ping
    /// again at once: the round trip is another than before, and one alone says little.
    pub(super) fn pong(&mut self, now: Instant, number: u64) -> bool {
        if self.pinged.take_if(|pinged| *pinged == number).is_none() {
            return false;
        }
        let took = now.since(Instant(number));
        self.measure(took);
        self.surprises = if is_news(self.trip(), took) { self.surprises.saturating_add(1) } else { 0 };
        (1..=SURPRISES_MAX).contains(&self.surprises)
    }
}

/// LINK-41: the answers to probes that left together come within this part of a round trip.
const LATER_ANSWERS: u32 = 8;

/// How many round trips in a row are measured again because they are other than before.
const SURPRISES_MAX: u8 = 2;

/// Whether a round trip is so much longer or shorter than was known that others must hear of it.
fn is_news(known: Duration, took: Duration) -> bool {
    took.abs_diff(known) > TRIP_NEWS.max(known / 4)
}
