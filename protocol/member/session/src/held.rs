//! Messages that wait for an epoch. The queue is bounded in bytes. Each message counts
//! [`OVERHEAD_BYTES`] more than its length, so that empty messages count too.

use bytes::Bytes;
use std::collections::VecDeque;

/// What one message costs in a queue in addition to its bytes.
const OVERHEAD_BYTES: usize = 64;

/// A queue of messages, each with a note about it.
pub(crate) struct Held<T> {
    queue: VecDeque<(T, Bytes)>,
    bytes: usize,
    most: usize,
}

impl<T> Held<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self { queue: VecDeque::new(), bytes: 0, most }
    }

    /// Keeps `message`, or returns that the queue is full.
    pub(crate) fn push(&mut self, about: T, message: Bytes) -> bool {
        self.push_within(self.most, about, message)
    }

    /// The same, if the queue is to have so many bytes at most.
    pub(crate) fn push_within(&mut self, most: usize, about: T, message: Bytes) -> bool {
        let bytes = self.bytes.saturating_add(message.len()).saturating_add(OVERHEAD_BYTES);
        if bytes > most.min(self.most) {
            return false;
        }
        self.bytes = bytes;
        self.queue.push_back((about, message));
        true
    }

    pub(crate) fn pop(&mut self) -> Option<(T, Bytes)> {
        let (about, message) = self.queue.pop_front()?;
        self.bytes = self.bytes.saturating_sub(message.len()).saturating_sub(OVERHEAD_BYTES);
        Some((about, message))
    }

    /// Keeps only what `keep` approves.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Bytes) -> bool) {
        self.queue.retain(|(_, message)| keep(message));
        self.bytes = self.queue.iter().map(|(_, message)| message.len().saturating_add(OVERHEAD_BYTES)).sum();
    }
}
