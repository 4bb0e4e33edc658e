//! What a subscription has not taken yet: bounded by count and by bytes.

use bytes::Bytes;
use core::net::SocketAddrV4;
use folkmoot_pubsub::Channel;
use folkmoot_pubsub::secured::{Attribution, SenderId};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// A message as it was heard.
#[derive(Debug, Clone)]
pub struct Heard {
    /// On which channel.
    pub channel: Channel,
    /// What it says.
    pub payload: Bytes,
    /// When it was received, in microseconds since 1970.
    pub time: i64,
    /// Who sent it. Anybody in the group can write another's address here.
    pub from: SocketAddrV4,
    /// The sender's number for it.
    pub sequence: u32,
    /// How many messages of that sender, on any channel, are missing right before it.
    pub missing: u32,
    /// Who sealed it, if the group is secured: whoever has the channel's key can write another's
    /// number here, unless messages are signed.
    pub sender: Option<SenderId>,
    /// Who signed it, to be shown to others, where messages are signed.
    pub attribution: Option<Attribution>,
}

/// Which message goes if the queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The oldest in the queue: what is read is as new as it can be.
    DropOldest,
    /// The one that comes, as in liblcm: what is read has no gap before the end.
    DropNewest,
}

/// How much a queue holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Most messages.
    pub messages: usize,
    /// Most bytes of their payloads. A longer message is dropped.
    pub bytes: usize,
    /// Which message goes if one of the two is reached.
    pub full: Full,
}

impl Default for Capacity {
    fn default() -> Self {
        Self { messages: 1_000, bytes: 80 << 20, full: Full::DropOldest }
    }
}

/// Why nothing more comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    /// The bus was dropped, or its socket is gone.
    Closed,
}

#[derive(Debug)]
struct Held {
    waiting: VecDeque<Heard>,
    bytes: usize,
    dropped: u64,
    state: State,
}

/// The queue of one subscription.
#[derive(Debug)]
pub(crate) struct Queue {
    capacity: Capacity,
    held: Mutex<Held>,
    came: Notify,
}

impl Queue {
    pub(crate) fn new(capacity: Capacity) -> Self {
        let held = Held { waiting: VecDeque::new(), bytes: 0, dropped: 0, state: State::Open };
        Self { capacity, held: Mutex::new(held), came: Notify::new() }
    }

    /// Puts a message in, or drops one and counts it (PUB-14).
    pub(crate) fn put(&self, heard: Heard) {
        let mut held = self.held();
        let length = heard.payload.len();
        if length > self.capacity.bytes {
            held.dropped = held.dropped.saturating_add(1);
            return;
        }
        while held.is_full(&self.capacity, length) {
            held.dropped = held.dropped.saturating_add(1);
            match self.capacity.full {
                Full::DropNewest => return,
                Full::DropOldest if held.take().is_none() => return,
                Full::DropOldest => {}
            }
        }
        held.bytes = held.bytes.saturating_add(length);
        held.waiting.push_back(heard);
        // Whoever waits saw it empty; whoever has not will see that it is not.
        let first = held.waiting.len() == 1;
        drop(held);
        if first {
            self.came.notify_one();
        }
    }

    /// The next message, or why there is none now.
    pub(crate) fn take(&self) -> Result<Heard, State> {
        let mut held = self.held();
        held.take().ok_or(held.state)
    }

    /// Waits until something was put in since the last time, or the queue is closed.
    pub(crate) async fn changed(&self) {
        self.came.notified().await;
    }

    pub(crate) fn close(&self) {
        self.held().state = State::Closed;
        self.came.notify_one();
    }

    /// How many messages were dropped because the queue was full.
    pub(crate) fn dropped(&self) -> u64 {
        self.held().dropped
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        // Each change above is whole before anything can panic.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn is_full(&self, capacity: &Capacity, more: usize) -> bool {
        self.waiting.len() >= capacity.messages || self.bytes.saturating_add(more) > capacity.bytes
    }

    fn take(&mut self) -> Option<Heard> {
        let heard = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(heard.payload.len());
        Some(heard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(number: u8, length: usize) -> Heard {
        Heard {
            channel: Channel::new("A").unwrap(),
            payload: vec![number; length].into(),
            time: 0,
            from: SocketAddrV4::new(core::net::Ipv4Addr::LOCALHOST, 1),
            sequence: 0,
            missing: 0,
            sender: None,
            attribution: None,
        }
    }

    fn left(capacity: Capacity, lengths: &[usize]) -> (Vec<u8>, u64) {
        let queue = Queue::new(capacity);
        (0..).zip(lengths).for_each(|(number, length)| queue.put(heard(number, *length)));
        let left = std::iter::from_fn(|| queue.take().ok()).map(|heard| heard.payload[0]).collect();
        (left, queue.dropped())
    }

    #[test]
    fn pub_14_a_full_queue_drops_by_its_policy_and_counts() {
        let two = Capacity { messages: 2, bytes: 100, full: Full::DropOldest };
        assert_eq!(left(two, &[1; 5]), (vec![3, 4], 3));
        assert_eq!(left(Capacity { full: Full::DropNewest, ..two }, &[1; 5]), (vec![0, 1], 3));
        let bytes = Capacity { messages: 9, bytes: 10, full: Full::DropOldest };
        assert_eq!(left(bytes, &[4, 4, 4, 9]), (vec![3], 3));
        assert_eq!(left(Capacity { full: Full::DropNewest, ..bytes }, &[4, 4, 4, 2]), (vec![0, 1, 3], 1));
        assert_eq!(left(bytes, &[4, 11, 4]), (vec![0, 2], 1), "one that never fits drops no other");
        assert_eq!(left(Capacity { messages: 0, ..bytes }, &[1]), (vec![], 1));
    }

    #[test]
    fn what_waits_is_read_after_the_end() {
        let queue = Queue::new(Capacity::default());
        assert_eq!(queue.take().unwrap_err(), State::Open);
        queue.put(heard(1, 1));
        queue.close();
        assert!(queue.take().is_ok());
        assert_eq!(queue.take().unwrap_err(), State::Closed);
    }
}
