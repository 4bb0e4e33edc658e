//! Faults on demand, for demos and tests: cut, drop, delay, lose what is long. When they are off,
//! they cost one relaxed load.

use crate::{Arrival, DELAYED_MAX};
use bytes::BytesMut;
use core::time::Duration;
use folkmoot_base::Locator;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// Faults of one transport, set at run time through any clone.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    any: AtomicBool,
    now: Mutex<Now>,
}

#[derive(Debug, Default)]
struct Now {
    cut: BTreeSet<Locator>,
    drop_probability: f64,
    delay: Duration,
    longest: Option<usize>,
    dice: u64,
}

impl Faults {
    /// From now on nothing goes to or comes from exactly these locators, and nothing goes to all by
    /// multicast; an empty set lets all through.
    pub fn cut(&self, locators: impl IntoIterator<Item = Locator>) {
        let cut = locators.into_iter().collect();
        self.set(|now| now.cut = cut);
    }

    /// Sent datagrams vanish with this probability (0.0 to 1.0).
    pub fn drop_probability(&self, probability: f64) {
        self.set(|now| now.drop_probability = probability.clamp(0.0, 1.0));
    }

    /// Received datagrams are held for so long.
    pub fn delay(&self, delay: Duration) {
        self.set(|now| now.delay = delay);
    }

    /// Datagrams of more bytes are lost, both ways: a path that drops what is long and says
    /// nothing.
    pub fn longest(&self, bytes: usize) {
        self.set(|now| now.longest = Some(bytes));
    }

    /// No faults. What is being held still comes when it is due.
    pub fn heal(&self) {
        self.set(|now| *now = Now::default());
    }

    /// Whether there is any.
    pub fn any(&self) -> bool {
        self.0.any.load(Ordering::Relaxed)
    }

    fn set(&self, change: impl FnOnce(&mut Now)) {
        let mut now = self.lock();
        change(&mut now);
        self.0.any.store(now.any(), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Now> {
        self.0.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this datagram to `to` may leave.
    pub(crate) fn lets_out(&self, to: &Locator, datagram: &[u8]) -> bool {
        let mut now = self.lock();
        let to_all = to.as_udp().is_some_and(|to| to.ip().is_multicast());
        let cut = to_all && !now.cut.is_empty();
        !cut && now.lets_pass(to, datagram) && !now.drops()
    }

    /// Moves what came to `batch`, or holds it; how many were cut, and how many did not fit.
    pub(crate) fn receive(
        &self,
        fresh: &mut Vec<(Locator, Arrival)>,
        delayed: &mut Delayed,
        batch: &mut Vec<(Locator, Arrival)>,
    ) -> (u64, u64) {
        let now = self.lock();
        let (mut faulted, mut dropped) = (0_u64, 0_u64);
        for (from, arrival) in fresh.drain(..) {
            for datagram in arrival.datagrams() {
                if !now.lets_pass(&from, &datagram) {
                    faulted = faulted.saturating_add(1);
                } else if now.delay.is_zero() {
                    batch.push((from.clone(), Arrival::One(datagram)));
                } else if !delayed.hold(Instant::now() + now.delay, from.clone(), datagram) {
                    dropped = dropped.saturating_add(1);
                }
            }
        }
        (faulted, dropped)
    }
}

impl Now {
    fn any(&self) -> bool {
        let lossy = self.drop_probability > 0.0 || self.longest.is_some();
        lossy || !self.cut.is_empty() || !self.delay.is_zero()
    }

    fn lets_pass(&self, other: &Locator, datagram: &[u8]) -> bool {
        !self.cut.contains(other) && self.longest.is_none_or(|longest| datagram.len() <= longest)
    }

    fn drops(&mut self) -> bool {
        if self.drop_probability <= 0.0 {
            return false;
        }
        if self.dice == 0 {
            self.dice = std::hash::RandomState::new().build_hasher().finish() | 1;
        }
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        let roll = u32::try_from(self.dice >> 32).unwrap_or(0);
        f64::from(roll) < self.drop_probability * f64::from(u32::MAX)
    }
}

/// Datagrams that are held, by when they are due.
#[derive(Debug, Default)]
pub(crate) struct Delayed {
    held: BTreeMap<(Instant, u64), (Locator, BytesMut)>,
    number: u64,
}

impl Delayed {
    fn hold(&mut self, due: Instant, from: Locator, datagram: BytesMut) -> bool {
        if self.held.len() >= DELAYED_MAX {
            return false;
        }
        self.number = self.number.wrapping_add(1);
        self.held.insert((due, self.number), (from, datagram));
        true
    }

    /// When the next is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.held.first_key_value().map(|((due, _), _)| *due)
    }

    /// Appends what is due; how many.
    pub(crate) fn take(&mut self, now: Instant, batch: &mut Vec<(Locator, Arrival)>) -> u64 {
        let mut count = 0_u64;
        while let Some(first) = self.held.first_entry().filter(|first| first.key().0 <= now) {
            let (from, datagram) = first.remove();
            batch.push((from, Arrival::One(datagram)));
            count = count.saturating_add(1);
        }
        count
    }
}
