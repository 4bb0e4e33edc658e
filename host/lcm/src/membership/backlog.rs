//! What waits for the machines: a queue for each address that it came from, so that nobody stands
//! behind a stranger's flood.
//!
//! ```text
//!   reader --put--> |stranger| |stranger| ...   first, in turn, all at one cost --take--> driver
//!                   |known 1| |known 2|         then, each at its own cost
//! ```
//! Known is an address from which a message was accepted lately: a certificate had signed it, and
//! it was new. What is refused costs whoever said it: it is read again when the processor has had
//! eight times as long for others (PUB-64). So strangers together cost an eighth of a core, and
//! neither a newcomer nor a member waits for them. Addresses can be forged: who does that can be
//! known, too, and costs another eighth.

use crate::queue::Heard;
use core::net::SocketAddrV4;
use core::time::Duration;
use folkmoot_pubsub::Channel;
use folkmoot_pubsub::discovery::message::MESSAGE_BYTES_MAX;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

/// What waits in all (PUB-65).
const MESSAGES_MAX: usize = 1_024;
const BYTES_MAX: usize = 16 * MESSAGE_BYTES_MAX;
/// What waits of one address. What comes beyond that is dropped before it is copied.
const SOURCE_MAX: usize = 256;
/// The addresses that are told apart. One that is new takes the place of a stranger.
const SOURCES_MAX: usize = 512;
/// So long an address is known after the last message that was accepted from it.
const KNOWN: Duration = Duration::from_secs(3_600);
/// The parts of one core that a flood of refused messages costs: one of so many (PUB-64).
const PARTS: u32 = 8;
/// Refused messages are read ahead of their time by so much: a pause shorter than a timer's tick
/// would last as long as that.
const AHEAD: Duration = Duration::from_millis(20);

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A member, or somebody who may be one, has said something new.
    Accepted,
    /// A rule refused it, or it says nothing.
    Refused,
}

#[derive(Debug)]
struct Source {
    waiting: VecDeque<Heard>,
    bytes: usize,
    known_until: Option<Instant>,
    /// When it has paid for what was refused, if it is known.
    free: Instant,
}

#[derive(Debug)]
struct Held {
    /// The channels that are taken.
    channels: BTreeSet<Channel>,
    sources: BTreeMap<SocketAddrV4, Source>,
    messages: usize,
    bytes: usize,
    /// Who was read last.
    last: Option<SocketAddrV4>,
    /// When strangers have paid for what was refused.
    free: Instant,
    dropped: u64,
    dice: u64,
}

/// All that waits.
#[derive(Debug)]
pub(crate) struct Backlog {
    held: Mutex<Held>,
    came: Notify,
}

impl Backlog {
    pub(crate) fn new() -> Self {
        let (channels, sources, free) = (BTreeSet::new(), BTreeMap::new(), Instant::now());
        let held = Held { channels, sources, messages: 0, bytes: 0, last: None, free, dropped: 0, dice: 0 };
        Self { held: Mutex::new(held), came: Notify::new() }
    }

    /// Takes these channels from now on. What comes on others is dropped before it waits.
    pub(super) fn wants(&self, channels: impl IntoIterator<Item = Channel>) {
        self.held().channels = channels.into_iter().collect();
    }

    /// Puts a message in. If there are too many, the oldest of whoever has most waiting goes.
    pub(crate) fn put(&self, from: SocketAddrV4, channel: &Channel, heard: impl FnOnce() -> Heard) {
        let mut held = self.held();
        if !held.channels.contains(channel) {
            return;
        }
        if held.sources.get(&from).is_some_and(|source| source.waiting.len() >= SOURCE_MAX) {
            held.dropped = held.dropped.saturating_add(1);
            return;
        }
        held.put(Instant::now(), heard());
        drop(held);
        self.came.notify_one();
    }

    /// The next message whose sender has paid; or when to look again.
    pub(super) fn take(&self, now: Instant) -> Result<Heard, Option<Instant>> {
        self.held().take(now)
    }

    /// Until something was put in since the last time. Safe to cancel.
    pub(super) async fn changed(&self) {
        self.came.notified().await;
    }

    /// What became of a message from there, for which the processor worked so long.
    pub(super) fn judged(&self, now: Instant, from: SocketAddrV4, verdict: Verdict, worked: Duration) {
        self.held().judged(now, from, verdict, worked);
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.held().sources.is_empty()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Each change is whole before anything can panic.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source {
    fn is_known(&self, now: Instant) -> bool {
        self.known_until.is_some_and(|until| now < until)
    }
}

impl Held {
    fn put(&mut self, now: Instant, heard: Heard) {
        let (from, length) = (heard.from, heard.payload.len());
        if !self.sources.contains_key(&from) && self.sources.len() >= SOURCES_MAX {
            self.forget_one(now);
        }
        let new = || Source { waiting: VecDeque::new(), bytes: 0, known_until: None, free: now };
        let source = self.sources.entry(from).or_insert_with(new);
        source.waiting.push_back(heard);
        source.bytes = source.bytes.saturating_add(length);
        self.messages = self.messages.saturating_add(1);
        self.bytes = self.bytes.saturating_add(length);
        while self.messages > MESSAGES_MAX || self.bytes > BYTES_MAX {
            let by_bytes = self.bytes > BYTES_MAX;
            let most = |source: &Source| if by_bytes { source.bytes } else { source.waiting.len() };
            let longest = self.sources.iter().max_by_key(|(_, source)| most(source)).map(|(from, _)| *from);
            if longest.and_then(|from| self.take_of(from)).is_none() {
                return;
            }
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    /// A stranger's place is free, whose is chance: so a flood of addresses pushes out itself most
    /// of the time.
    fn forget_one(&mut self, now: Instant) {
        let spare = |(_, source): &(&SocketAddrV4, &Source)| !source.is_known(now);
        let strangers = self.sources.iter().filter(spare).count();
        // Not secret: whoever guesses it gains what a larger flood gains, too.
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let turn = usize::try_from(self.dice >> 33).unwrap_or_default();
        let chosen = turn.checked_rem(strangers).and_then(|turn| self.sources.iter().filter(spare).nth(turn));
        let Some(from) = chosen.or_else(|| self.sources.iter().next()).map(|(from, _)| *from) else { return };
        while self.take_of(from).is_some() {
            self.dropped = self.dropped.saturating_add(1);
        }
        self.sources.remove(&from);
    }

    fn take_of(&mut self, from: SocketAddrV4) -> Option<Heard> {
        let source = self.sources.get_mut(&from)?;
        let heard = source.waiting.pop_front()?;
        let length = heard.payload.len();
        source.bytes = source.bytes.saturating_sub(length);
        self.messages = self.messages.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(length);
        Some(heard)
    }

    fn take(&mut self, now: Instant) -> Result<Heard, Option<Instant>> {
        let soon = now + AHEAD;
        let ready = |known: bool| {
            let may = move |(_, source): &(&SocketAddrV4, &Source)| {
                source.is_known(now) == known && !source.waiting.is_empty() && (!known || source.free <= soon)
            };
            let after = self.last.filter(|_| !self.sources.is_empty());
            let later = self.sources.iter().filter(move |(from, _)| after.is_none_or(|last| **from > last));
            later.chain(self.sources.iter()).find(may).map(|(from, _)| *from)
        };
        let stranger = || ready(false).filter(|_| self.free <= soon);
        // Strangers pay for all of them, so that they cost an eighth of a core; those who are known
        // cost that each, and would leave strangers nothing.
        let Some(from) = stranger().or_else(|| ready(true)) else { return Err(self.look_again(now)) };
        self.last = Some(from);
        self.take_of(from).ok_or(None)
    }

    /// When the first of those who wait has paid.
    fn look_again(&self, now: Instant) -> Option<Instant> {
        let waiting = self.sources.values().filter(|source| !source.waiting.is_empty());
        let free = |source: &Source| if source.is_known(now) { source.free } else { self.free };
        // It is as known then as it is now, or it is a stranger, and pays with them.
        waiting.map(free).min().map(|free| free.checked_sub(AHEAD).unwrap_or(free))
    }

    fn judged(&mut self, now: Instant, from: SocketAddrV4, verdict: Verdict, worked: Duration) {
        let source = self.sources.get_mut(&from);
        match (verdict, source) {
            (Verdict::Accepted, Some(source)) => source.known_until = Some(now + KNOWN),
            (Verdict::Accepted, None) => {}
            (Verdict::Refused, Some(source)) if source.is_known(now) => {
                source.free = source.free.max(now) + worked * PARTS;
            }
            (Verdict::Refused, _) => self.free = self.free.max(now) + worked * PARTS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    const US: Duration = Duration::from_micros(1);

    fn from(number: u16) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, number)
    }

    fn heard(number: u16, payload: usize) -> Heard {
        Heard {
            channel: Channel::new("keys").unwrap(),
            payload: vec![0; payload].into(),
            time: 0,
            from: from(number),
            sequence: 0,
            missing: 0,
            sender: None,
            attribution: None,
        }
    }

    fn put(backlog: &Backlog, heard: Heard) {
        backlog.put(heard.from, &heard.channel.clone(), || heard.clone());
    }

    fn backlog() -> Backlog {
        let backlog = Backlog::new();
        backlog.wants([Channel::new("keys").unwrap()]);
        backlog
    }

    /// Reads for so long; who was read, and how often. Each message costs 200 us, and `good` says
    /// what is accepted.
    fn read(backlog: &Backlog, start: Instant, length: Duration, good: &[u16]) -> BTreeMap<u16, u32> {
        let (mut now, mut read) = (start, BTreeMap::new());
        while now < start + length {
            // A flood of two strangers, and whoever else there is.
            [7, 8].into_iter().for_each(|number| put(backlog, heard(number, 10)));
            match backlog.take(now) {
                Ok(heard) => {
                    now += 200 * US;
                    let number = heard.from.port();
                    let accepted = good.contains(&number);
                    let verdict = if accepted { Verdict::Accepted } else { Verdict::Refused };
                    backlog.judged(now, heard.from, verdict, 200 * US);
                    *read.entry(number).or_insert(0) += 1;
                }
                Err(again) => now = again.unwrap().max(now + 1_000 * US),
            }
        }
        read
    }

    #[test]
    fn pub_64_a_flood_of_refused_messages_costs_an_eighth_of_a_core_and_holds_up_nobody() {
        let (backlog, start) = (backlog(), Instant::now());
        let second = Duration::from_secs(1);
        let flood = read(&backlog, start, second, &[]);
        let spent = flood.values().sum::<u32>() * 200 * US;
        assert!(spent <= second / PARTS + AHEAD && spent >= second / 10, "{spent:?}");
        // A newcomer's first message comes in its turn, though the strangers have to pay.
        (0..3).for_each(|_| put(&backlog, heard(1, 10)));
        let read_then = read(&backlog, start + second, 10_000 * US, &[1]);
        assert_eq!(read_then.get(&1), Some(&3), "{read_then:?}");
        // Then it is known, and pays for itself alone.
        (0..50).for_each(|_| put(&backlog, heard(1, 10)));
        let read_then = read(&backlog, start + 2 * second, 16_000 * US, &[1]);
        assert!(read_then.get(&1) == Some(&50), "{read_then:?}");
    }

    #[test]
    fn pub_65_what_waits_is_bounded_and_whoever_has_most_loses_it() {
        let backlog = backlog();
        (0..3_000).for_each(|_| put(&backlog, heard(7, 10)));
        put(&backlog, heard(1, 10));
        assert_eq!(backlog.held().dropped, 3_000 - 256);
        (0..40).for_each(|_| put(&backlog, heard(8, MESSAGE_BYTES_MAX)));
        let held = backlog.held();
        assert!(held.bytes <= BYTES_MAX && held.messages <= MESSAGES_MAX);
        assert_eq!(held.sources.get(&from(1)).unwrap().waiting.len(), 1, "the honest one is there");
        drop(held);
        (0..3_000).for_each(|number| put(&backlog, heard(10_000 + number, 10)));
        let held = backlog.held();
        assert!(held.sources.len() <= SOURCES_MAX && held.messages <= MESSAGES_MAX);
    }

    #[test]
    fn pub_65_a_flood_of_addresses_pushes_out_itself_most_of_the_time_and_nobody_who_is_known() {
        let (backlog, now) = (backlog(), Instant::now());
        let flood = |numbers: core::ops::Range<u16>| {
            numbers.for_each(|number| put(&backlog, heard(number, 10)));
        };
        let is_there = |number: u16| backlog.held().sources.contains_key(&from(number));
        put(&backlog, heard(1, 10));
        backlog.judged(now, from(1), Verdict::Accepted, US);
        flood(10_000..10_600);
        let mut stayed = 0;
        for honest in 100..200 {
            put(&backlog, heard(honest, 10));
            // A fifth of all places: by age or by name it would go each time, or never.
            flood(20_000 + honest * 100..20_100 + honest * 100);
            stayed += usize::from(is_there(honest));
        }
        // (1 - 1/512)^100 is 0.82.
        assert!((70..=92).contains(&stayed), "{stayed}");
        assert!(is_there(1));
    }

    #[test]
    fn what_is_on_no_channel_of_ours_does_not_wait() {
        let backlog = backlog();
        put(&backlog, Heard { channel: Channel::new("other").unwrap(), ..heard(1, 1) });
        assert_eq!(backlog.take(Instant::now()).unwrap_err(), None);
    }
}
