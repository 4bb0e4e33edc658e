//! Messages of which not all fragments have come. How many, how long and for how long they are kept
//! has bounds, for each sender and for all.

use crate::counters::{Counters, add};
use crate::partial::{Partial, Verdict, cost};
use crate::{Channel, Fragment, WireError};
use core::net::SocketAddrV4;
use core::time::Duration;
use folkmoot_base::{Instant, Mutant};
use std::collections::BTreeMap;

/// What may be held for messages that are incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest message that comes in fragments.
    pub message_bytes: usize,
    /// Most messages of one sender.
    pub sender_messages: usize,
    /// Most bytes for one sender.
    pub sender_bytes: usize,
    /// Most messages.
    pub messages: usize,
    /// Most bytes.
    pub bytes: usize,
    /// How long a message waits for its next fragment.
    pub patience: Duration,
    /// Most senders whose numbers are followed.
    pub senders: usize,
    /// Which check is left out, to show what it is for; none outside of tests.
    pub danger: Mutant<Danger>,
}

/// Checks on fragments that liblcm does not make, either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Danger {
    /// A fragment may lie anywhere in its message (PUB-05).
    AnyPlace,
    /// A fragment that comes twice counts twice (PUB-06).
    CountsTwice,
    /// What a header says that is to come counts as if it were here (PUB-16).
    BelievesLengths,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 64 << 20,
            sender_messages: 8,
            sender_bytes: 80 << 20,
            messages: 1_000,
            bytes: 160 << 20,
            patience: Duration::from_secs(5),
            senders: 1_024,
            danger: Mutant::NONE,
        }
    }
}

/// Of whom and which: the address, the number, and what else must be the same in all fragments
/// ([`PLAIN`] if nothing else must).
type Key = (SocketAddrV4, u32, Extra);

/// What a secured header has beside a plain one.
pub(crate) type Extra = [u8; 4];
/// Of a plain one.
pub(crate) const PLAIN: Extra = [0; 4];

/// A message whose last fragment has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) channel: Channel,
    pub(crate) payload: Vec<u8>,
}

/// All that are incomplete.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    partial: BTreeMap<Key, Partial>,
    /// What was touched longest ago comes first.
    order: BTreeMap<u64, Key>,
    stamp: u64,
    bytes: usize,
}

impl Assembly {
    /// How many are incomplete, and the bytes that they use.
    pub(crate) fn held(&self) -> (usize, usize) {
        (self.partial.len(), self.bytes)
    }

    /// Takes a fragment; what it completes.
    ///
    /// # Errors
    /// The message is too long (PUB-04).
    pub(crate) fn take(
        &mut self,
        now: Instant,
        (from, extra): (SocketAddrV4, Extra),
        fragment: &Fragment<'_>,
        limits: &Limits,
        counters: &mut Counters,
    ) -> Result<Option<Whole>, WireError> {
        let long = WireError::PeerTooLong(fragment.size);
        let cost = cost(fragment).ok_or(long)?;
        let most = limits.sender_bytes.min(limits.bytes);
        let fits = usize::try_from(fragment.size).is_ok_and(|size| size <= limits.message_bytes);
        if !fits || cost > most {
            return Err(long);
        }
        let key = (from, fragment.sequence, extra);
        let before = self.partial.get(&key).map_or(0, Partial::cost);
        if self.partial.get(&key).is_some_and(|partial| !partial.is_of(fragment)) {
            self.remove(&key);
            add(&mut counters.contradicted, 1);
        }
        let verdict = match self.partial.get_mut(&key) {
            Some(partial) => partial.take(now, fragment, limits.danger),
            None => Verdict::Contradicts,
        };
        match verdict {
            Verdict::Held => self.grown(&key, before, limits, counters),
            Verdict::Twice => {
                add(&mut counters.duplicates, 1);
                return Ok(None);
            }
            Verdict::Contradicts => {
                if self.remove(&key).is_some() {
                    add(&mut counters.contradicted, 1);
                }
                self.begin(now, key, fragment, limits, counters);
            }
        }
        self.touch(key);
        Ok(self.finish(&key))
    }

    /// Begins a message, for which others may have to give way (PUB-07, PUB-08).
    fn begin(
        &mut self,
        now: Instant,
        key: Key,
        fragment: &Fragment<'_>,
        limits: &Limits,
        counters: &mut Counters,
    ) {
        let mut partial = Partial::new(now, fragment, limits.danger);
        if partial.take(now, fragment, limits.danger) != Verdict::Held {
            return;
        }
        while self.of_sender(key.0).count() >= limits.sender_messages.max(1) {
            self.crowd_out(self.oldest_of(key.0, &key), counters);
        }
        while self.partial.len() >= limits.messages.max(1) {
            self.crowd_out(self.oldest(&key), counters);
        }
        self.partial.insert(key, partial);
        self.grown(&key, 0, limits, counters);
    }

    /// A message uses more than before, for which others may have to give way (PUB-07, PUB-08).
    fn grown(&mut self, key: &Key, before: usize, limits: &Limits, counters: &mut Counters) {
        let after = self.partial.get(key).map_or(0, Partial::cost);
        self.bytes = self.bytes.saturating_sub(before).saturating_add(after);
        if after == before {
            return;
        }
        let of_sender = |this: &Self| this.of_sender(key.0).map(|(_, partial)| partial.cost()).sum::<usize>();
        while self.partial.contains_key(key) && of_sender(self) > limits.sender_bytes {
            self.crowd_out(self.oldest_of(key.0, key).or(Some(*key)), counters);
        }
        while self.partial.contains_key(key) && self.bytes > limits.bytes {
            self.crowd_out(self.oldest(key).or(Some(*key)), counters);
        }
    }

    fn crowd_out(&mut self, key: Option<Key>, counters: &mut Counters) {
        if key.and_then(|key| self.remove(&key)).is_some() {
            add(&mut counters.crowded, 1);
        }
    }

    fn of_sender(&self, sender: SocketAddrV4) -> impl Iterator<Item = (&Key, &Partial)> {
        self.partial.range((sender, 0, [0; 4])..=(sender, u32::MAX, [u8::MAX; 4]))
    }

    /// The one of a sender that was touched longest ago, but for this one.
    fn oldest_of(&self, sender: SocketAddrV4, but: &Key) -> Option<Key> {
        let others = self.of_sender(sender).filter(|(key, _)| *key != but);
        others.min_by_key(|(_, partial)| partial.stamp).map(|(key, _)| *key)
    }

    fn oldest(&self, but: &Key) -> Option<Key> {
        self.order.values().find(|key| *key != but).copied()
    }

    /// Drops what waits too long for its next fragment (PUB-09).
    pub(crate) fn drop_stale(&mut self, now: Instant, limits: &Limits, counters: &mut Counters) {
        while let Some(oldest) = self.order.values().next().copied() {
            let at = self.partial.get(&oldest).map(|partial| partial.at);
            if at.is_some_and(|at| now.since(at) <= limits.patience) {
                break;
            }
            self.remove(&oldest);
            add(&mut counters.stale, 1);
        }
    }

    fn touch(&mut self, key: Key) {
        let Some(partial) = self.partial.get_mut(&key) else { return };
        if partial.stamp == self.stamp && self.stamp > 0 {
            // It was touched last, too. A new one has 0.
            return;
        }
        self.order.remove(&partial.stamp);
        self.stamp = self.stamp.saturating_add(1);
        partial.stamp = self.stamp;
        self.order.insert(self.stamp, key);
    }

    fn finish(&mut self, key: &Key) -> Option<Whole> {
        if !self.partial.get(key)?.is_whole() {
            return None;
        }
        let (channel, payload) = self.remove(key)?.whole()?;
        Some(Whole { channel, payload })
    }

    fn remove(&mut self, key: &Key) -> Option<Partial> {
        let partial = self.partial.remove(key)?;
        self.order.remove(&partial.stamp);
        self.bytes = self.bytes.saturating_sub(partial.cost());
        Some(partial)
    }
}
