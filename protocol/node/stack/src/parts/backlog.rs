//! What waits for the ring: while it is congested, messages of the members here.

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
}

impl Submission {
    fn hand_over(&self, now: Instant, ring: &mut Ring) -> Result<(), SubmitError> {
        ring.submit(now, self.party, self.service, (self.lead, self.payload.clone()))
    }
}

/// The messages that wait, in order.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    waiting: VecDeque<Submission>,
    bytes: usize,
}

impl Backlog {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// To the ring, in order. While the ring is congested, what does not fit waits here, and what
    /// is unreliable does not wait. `false` if there is no room for it here either: it was dropped.
    pub(crate) fn submit(
        &mut self,
        now: Instant,
        message: Submission,
        ring: &mut Ring,
        out: &mut Outbox,
    ) -> bool {
        if !self.waiting.is_empty() && message.service != Service::Unreliable {
            return self.keep(message, out);
        }
        match message.hand_over(now, ring) {
            Ok(()) => true,
            Err(SubmitError::LocalFull) => self.keep(message, out),
            Err(error) => {
                out.refuse("ring", &error);
                true
            }
        }
    }

    fn keep(&mut self, message: Submission, out: &mut Outbox) -> bool {
        let length = message.payload.len();
        let bytes = self.bytes.saturating_add(length);
        if bytes > SEND_QUEUE_BYTES_MAX {
            out.refuse("node", &"a message for the ring was dropped: the members here ignore congestion");
            return false;
        }
        self.bytes = bytes;
        self.waiting.push_back(message);
        true
    }

    /// The ring has room again.
    pub(crate) fn drain(&mut self, now: Instant, ring: &mut Ring, out: &mut Outbox) {
        while let Some(message) = self.waiting.pop_front() {
            let done = message.hand_over(now, ring);
            if done == Err(SubmitError::LocalFull) {
                return self.waiting.push_front(message);
            }
            self.bytes = self.bytes.saturating_sub(message.payload.len());
            // Nobody waits behind a message that no ring will ever take.
            if let Err(error) = done {
                out.refuse("ring", &error);
            }
        }
    }
}
