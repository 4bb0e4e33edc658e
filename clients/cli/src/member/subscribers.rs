//! Events for those who subscribed to them, each at its own pace.
//!
//! ```text
//! member --send--> [ at most 16,384 events, 64 MiB ] --next--> a subscriber, who may be stopped
//! ```
//! Nobody who reads slowly holds up the member or others. Of what a subscriber is behind with, the
//! oldest goes, and it is told how many events that were.

use crate::control::{EVENTS_BEHIND_MAX, EVENTS_BYTES_MAX};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Notify;

/// Tells events to whoever subscribed.
#[derive(Debug, Clone, Default)]
pub(super) struct Subscribers(Arc<Mutex<Vec<Weak<Subscriber>>>>);

/// What waits for one subscriber.
#[derive(Debug, Default)]
pub(super) struct Subscriber {
    waiting: Mutex<Waiting>,
    came: Notify,
    /// Whoever reads has closed its side.
    left: AtomicBool,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<Arc<str>>,
    bytes: usize,
    missed: u64,
}

/// What a subscriber hears next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Line(Arc<str>),
    /// So many events were left out before the next one.
    Missed(u64),
}

impl Subscribers {
    pub(super) fn subscribe(&self) -> Arc<Subscriber> {
        let subscriber = Arc::new(Subscriber::default());
        lock(&self.0).push(Arc::downgrade(&subscriber));
        subscriber
    }

    pub(super) fn any(&self) -> bool {
        lock(&self.0).iter().any(|one| one.strong_count() > 0)
    }

    /// How many are there.
    pub(super) fn count(&self) -> usize {
        let there =
            |one: &Weak<Subscriber>| one.upgrade().is_some_and(|one| !one.left.load(Ordering::Relaxed));
        lock(&self.0).iter().filter(|one| there(one)).count()
    }

    pub(super) fn send(&self, line: &str) {
        let line: Arc<str> = line.into();
        lock(&self.0).retain(|one| one.upgrade().is_some_and(|one| one.put(&line)));
    }
}

impl Subscriber {
    /// Counts no more as there. Some close their side and go on reading.
    pub(super) fn leaves(&self) {
        self.left.store(true, Ordering::Relaxed);
    }

    fn put(&self, line: &Arc<str>) -> bool {
        let mut waiting = lock(&self.waiting);
        waiting.bytes = waiting.bytes.saturating_add(line.len());
        waiting.lines.push_back(Arc::clone(line));
        // The newest stays, however long it is.
        while waiting.lines.len() > 1
            && (waiting.lines.len() > EVENTS_BEHIND_MAX || waiting.bytes > EVENTS_BYTES_MAX)
        {
            waiting.pop();
            waiting.missed = waiting.missed.saturating_add(1);
        }
        drop(waiting);
        self.came.notify_one();
        true
    }

    /// Safe to cancel.
    pub(super) async fn next(&self) -> Heard {
        loop {
            if let Some(heard) = lock(&self.waiting).take() {
                return heard;
            }
            self.came.notified().await;
        }
    }
}

impl Waiting {
    fn pop(&mut self) -> Option<Arc<str>> {
        let line = self.lines.pop_front()?;
        self.bytes = self.bytes.saturating_sub(line.len());
        Some(line)
    }

    fn take(&mut self) -> Option<Heard> {
        match std::mem::take(&mut self.missed) {
            0 => self.pop().map(Heard::Line),
            missed => Some(Heard::Missed(missed)),
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is whole before anything can panic.
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_is_stopped_costs_a_bound_of_bytes_and_hears_how_much_it_missed() {
        let all = Subscribers::default();
        assert!(!all.any());
        let (stopped, reads) = (all.subscribe(), all.subscribe());
        let long = "x".repeat(1 << 20);
        for number in 0..200 {
            all.send(&format!("{number} {long}"));
            assert!(matches!(reads.next().await, Heard::Line(line) if line.starts_with(&number.to_string())));
        }
        let bytes = lock(&stopped.waiting).bytes;
        assert!(bytes <= EVENTS_BYTES_MAX && bytes > EVENTS_BYTES_MAX / 2, "{bytes}");
        let Heard::Missed(missed) = stopped.next().await else { panic!("it is not told") };
        let first = stopped.next().await;
        assert!(matches!(first, Heard::Line(line) if line.starts_with(&missed.to_string())), "{missed}");
        // By count, and one that is longer than all of the room.
        (0..EVENTS_BEHIND_MAX + 7).for_each(|_| all.send("short"));
        assert_eq!(reads.next().await, Heard::Missed(7));
        all.send(&"x".repeat(EVENTS_BYTES_MAX + 1));
        assert!(matches!(reads.next().await, Heard::Missed(_)));
        assert!(matches!(reads.next().await, Heard::Line(line) if line.len() > EVENTS_BYTES_MAX));
        drop((stopped, reads));
        all.send("nobody");
        assert!(!all.any());
    }
}
