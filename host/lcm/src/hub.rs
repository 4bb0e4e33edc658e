//! Who subscribes, and to whom a message goes.

use crate::Pattern;
use crate::queue::{Heard, Queue};
use folkmoot_pubsub::secured::Refused;
use folkmoot_pubsub::{Channel, Counters};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most channels whose subscriptions are remembered. A flood of names makes it look again,
/// and never grow (PUB-15).
const CHANNELS_MAX: usize = 4_096;

#[derive(Debug)]
struct Subscriber {
    pattern: Pattern,
    queue: Arc<Queue>,
}

/// All subscriptions of one bus.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    subscribers: BTreeMap<u64, Subscriber>,
    next: u64,
    /// The subscriptions of each channel that was heard since they last changed.
    known: BTreeMap<Channel, Vec<Arc<Queue>>>,
    counters: Counters,
    refused: Refused,
    closed: bool,
}

/// The subscriptions, while nobody else changes them.
pub(crate) fn lock(hub: &Mutex<Hub>) -> MutexGuard<'_, Hub> {
    // A panic under the lock would be one of ours in a list that stays whole.
    hub.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hub {
    pub(crate) fn subscribe(&mut self, pattern: Pattern, queue: Arc<Queue>) -> u64 {
        if self.closed {
            queue.close();
        }
        let number = self.next;
        self.next = self.next.saturating_add(1);
        self.subscribers.insert(number, Subscriber { pattern, queue });
        self.known.clear();
        number
    }

    pub(crate) fn unsubscribe(&mut self, number: u64) {
        self.subscribers.remove(&number);
        self.known.clear();
    }

    /// The queues of this channel.
    pub(crate) fn queues(&mut self, channel: &Channel) -> &[Arc<Queue>] {
        if !self.known.contains_key(channel) {
            if self.known.len() >= CHANNELS_MAX {
                self.known.clear();
            }
            let matching = self.subscribers.values().filter(|one| one.pattern.matches(channel));
            self.known.insert(*channel, matching.map(|one| Arc::clone(&one.queue)).collect());
        }
        self.known.get(channel).map(Vec::as_slice).unwrap_or_default()
    }

    /// Puts a message into the queue of each that subscribes to its channel. If nobody does, it is
    /// not made.
    pub(crate) fn deliver(&mut self, channel: &Channel, heard: impl FnOnce() -> Heard) {
        if let [queues @ .., last] = self.queues(channel) {
            let heard = heard();
            queues.iter().for_each(|queue| queue.put(heard.clone()));
            last.put(heard);
        }
    }

    pub(crate) fn count(&mut self, (counters, refused): (Counters, Refused)) {
        self.counters = counters;
        self.refused = refused;
    }

    pub(crate) fn refused(&self) -> Refused {
        self.refused
    }

    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    pub(crate) fn close(&mut self) {
        self.closed = true;
        self.subscribers.values().for_each(|one| one.queue.close());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Capacity;

    fn queue() -> Arc<Queue> {
        Arc::new(Queue::new(Capacity::default()))
    }

    fn pattern(text: &str) -> Pattern {
        Pattern::new(text).unwrap()
    }

    #[test]
    fn pub_15_a_flood_of_channels_is_remembered_within_a_bound() {
        let mut hub = Hub::default();
        hub.subscribe(pattern("7.*"), queue());
        for number in 0..20_000 {
            let name = number.to_string();
            let wanted = usize::from(name.starts_with('7'));
            assert_eq!(hub.queues(&Channel::new(&name).unwrap()).len(), wanted);
            assert!(hub.known.len() <= CHANNELS_MAX);
        }
    }

    #[test]
    fn a_subscription_that_comes_or_goes_counts_for_known_channels() {
        let mut hub = Hub::default();
        let channel = Channel::new("A").unwrap();
        assert!(hub.queues(&channel).is_empty());
        let (one, _) = (hub.subscribe(pattern("A"), queue()), hub.subscribe(pattern("."), queue()));
        assert_eq!(hub.queues(&channel).len(), 2);
        hub.unsubscribe(one);
        assert_eq!(hub.queues(&channel).len(), 1);
        hub.close();
        let late = queue();
        hub.subscribe(pattern("A"), Arc::clone(&late));
        assert_eq!(late.take().unwrap_err(), crate::queue::State::Closed);
    }
}
