//! What waits for the ring while its queue is full.

use crate::parts::Outbox;
use base::limits::SEND_QUEUE_BYTES_MAX;
use base::{Instant, Lead, Service};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_ring::{Ring, SubmitError};
use std::collections::VecDeque;

/// A message on its way to the ring.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) party: u16,
    pub(crate) service: Service,
    pub(crate) lead: Lead,
    pub(crate) payload: Bytes,
    /// Whose credit it uses ([`crate::parts::Accounts`]); 0: nobody's.
    pub(crate) account: u32,
}

impl Submission {
    fn hand_over(&self, now: Instant, ring: &mut Ring) -> Result<(), SubmitError> {
        ring.submit(now, (self.party, self.account), self.service, (self.lead, self.payload.clone()))
    }
}

/// The messages that wait, in order. What uses credit is bounded by that; of the rest, at most
/// [`SEND_QUEUE_BYTES_MAX`] bytes wait.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    waiting: VecDeque<Submission>,
    /// Bytes that use no credit.
    bytes: usize,
}

/// What has become of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is in the ring's queue, or waits here.
    Waits,
    /// It has left, or never will: nothing of it waits.
    Gone,
    /// There was no room for it.
    Dropped,
}

impl Backlog {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// To the ring, in order. What does not fit there waits here; what is unreliable never waits.
    pub(crate) fn submit(
        &mut self,
        now: Instant,
        message: Submission,
        ring: &mut Ring,
        out: &mut Outbox,
    ) -> Taken {
        let unreliable = message.service == Service::Unreliable;
        if !self.waiting.is_empty() && !unreliable {
            return self.keep(message, out);
        }
        match message.hand_over(now, ring) {
            Ok(()) if unreliable => Taken::Gone,
            Ok(()) => Taken::Waits,
            Err(SubmitError::LocalFull) => self.keep(message, out),
            Err(error) => {
                out.refuse("ring", &error);
                Taken::Gone
            }
        }
    }

    fn keep(&mut self, message: Submission, out: &mut Outbox) -> Taken {
        if message.account == 0 {
            let bytes = self.bytes.saturating_add(message.payload.len());
            if bytes > SEND_QUEUE_BYTES_MAX {
                out.refuse("node", &"a message for the ring was dropped: too much waits for it");
                return Taken::Dropped;
            }
            self.bytes = bytes;
        }
        self.waiting.push_back(message);
        Taken::Waits
    }

    /// The ring has room again. What no ring will ever take is named: its account and length.
    pub(crate) fn drain(&mut self, now: Instant, ring: &mut Ring, out: &mut Outbox) -> Option<(u32, usize)> {
        while let Some(message) = self.waiting.pop_front() {
            let done = message.hand_over(now, ring);
            if done == Err(SubmitError::LocalFull) {
                self.waiting.push_front(message);
                return None;
            }
            let length = message.payload.len();
            if message.account == 0 {
                self.bytes = self.bytes.saturating_sub(length);
            }
            // Nobody waits behind a message that no ring will ever take.
            if let Err(error) = done {
                out.refuse("ring", &error);
                return Some((message.account, length));
            }
        }
        None
    }
}
