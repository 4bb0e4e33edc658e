//! What the parts say to whoever drives the links: outputs in order, counts, and the next timer.

use crate::{Counters, LinkError, Output};
use bytes::{Bytes, BytesMut};
use folkmoot_base::{Instant, Locator, Pool};
use std::collections::VecDeque;

/// What all parts say, in order, and the pool that their datagrams are cut from.
#[derive(Debug, Default)]
pub(crate) struct Out {
    said: VecDeque<Output>,
    counters: Counters,
    wake: Option<Instant>,
    pool: Pool,
}

impl Out {
    #[inline]
    pub(crate) fn say(&mut self, output: Output) {
        self.said.push_back(output);
    }

    pub(crate) fn trace(&mut self, text: String) {
        self.say(Output::Trace(text));
    }

    pub(crate) fn transmit(&mut self, to: &Locator, datagrams: impl IntoIterator<Item = Bytes>) {
        self.said.extend(datagrams.into_iter().map(|datagram| Output::Transmit { to: to.clone(), datagram }));
    }

    #[inline]
    pub(crate) fn poll(&mut self) -> Option<Output> {
        self.said.pop_front()
    }

    /// An empty buffer for a datagram.
    pub(crate) fn buffer(&mut self, capacity: usize) -> BytesMut {
        self.pool.buffer(capacity)
    }
}

/// The timer.
impl Out {
    /// Sets the timer to `at` or earlier.
    pub(crate) fn note(&mut self, at: Instant) {
        if self.wake.is_none_or(|wake| at < wake) {
            self.wake = Some(at);
        }
    }

    /// Whether the time for which the timer was set has come.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.wake.is_some_and(|at| at <= now)
    }

    /// Sets the timer anew, or stops it.
    pub(crate) fn wake_at(&mut self, at: Option<Instant>) {
        self.wake = at;
    }

    pub(crate) fn wake(&self) -> Option<Instant> {
        self.wake
    }
}

/// The counts.
impl Out {
    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    pub(crate) fn count_sealed(&mut self) {
        add(&mut self.counters.sealed, 1);
    }

    pub(crate) fn count_opened(&mut self) {
        add(&mut self.counters.opened, 1);
    }

    pub(crate) fn count_to_all(&mut self) {
        add(&mut self.counters.to_all, 1);
    }

    pub(crate) fn count_copied(&mut self, bytes: usize) {
        add(&mut self.counters.copied, u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    pub(crate) fn count_cookie(&mut self) {
        add(&mut self.counters.cookies, 1);
    }

    pub(crate) fn count_handshake(&mut self) {
        add(&mut self.counters.handshakes, 1);
    }

    pub(crate) fn count_lost(&mut self, fragments: u64) {
        add(&mut self.counters.fragments_lost, fragments);
    }

    /// A piece that a guest may not send. A datagram may have several.
    pub(crate) fn count_piece(&mut self, refused: &LinkError) {
        match refused {
            LinkError::PeerOutOfTurn { .. } => add(&mut self.counters.out_of_turn, 1),
            _ => add(&mut self.counters.too_much, 1),
        }
    }

    /// What became of a datagram.
    pub(crate) fn count_datagram(&mut self, result: &Result<(), LinkError>) {
        let counter = match result {
            Ok(()) => return,
            Err(LinkError::PeerOutOfTurn { .. } | LinkError::PeerTooMuch(_)) => return,
            Err(LinkError::WireReplayed(_)) => &mut self.counters.replayed,
            Err(LinkError::WireOtherRing(_)) => &mut self.counters.other_ring,
            Err(LinkError::WireOtherForm { .. }) => &mut self.counters.other_form,
            Err(LinkError::WireBusy(_) | LinkError::PeerNoRoom(_)) => &mut self.counters.busy,
            Err(_) => &mut self.counters.refused,
        };
        add(counter, 1);
    }
}

fn add(counter: &mut u64, more: u64) {
    *counter = counter.saturating_add(more);
}
