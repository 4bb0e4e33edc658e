//! The way down: from members to the group layer, to the ring, to the links.

use crate::{Node, RingEvent};
use base::limits::SEND_QUEUE_BYTES_MAX;
use base::{Entropy, Instant, Lead, NodeId, Service, digest};
use bytes::Bytes;
use folkmoot_attach::ToNode;
use folkmoot_base as base;
use folkmoot_link::{Channel, Input};
use folkmoot_ring::SubmitError;
use std::collections::BTreeSet;

/// A message on its way to the ring.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) party: u16,
    pub(crate) service: Service,
    pub(crate) lead: Lead,
    pub(crate) payload: Bytes,
}

impl Node {
    pub(crate) fn hear_member(&mut self, now: Instant, message: ToNode, entropy: &mut dyn Entropy) {
        let done = match message {
            ToNode::Attach { party } => self.group.attach(party),
            ToNode::Detach { party } => self.group.detach(party),
            ToNode::Join { party, group } => self.group.join(party, group),
            ToNode::Leave { party, group } => self.group.leave(party, group),
            ToNode::Send { party, group, service, payload } => {
                self.group.send(party, group, service, payload)
            }
            ToNode::Complain { party, group, view, suspect } => {
                self.group.complain(party, group, view, suspect)
            }
            ToNode::Refresh { party, group } => self.group.refresh(party, group),
            ToNode::Item(item) => return self.order_own_item(&item),
            ToNode::Guest { to, payload } => return self.send_guest(now, to, &payload),
            ToNode::Dial(at) => return self.dial(now, at, entropy),
            ToNode::Resolve(head) => return self.resolve(now, head),
        };
        if let Err(error) = done {
            self.out.refuse("group", &error);
        }
    }

    /// To the ring, in order. While the ring is congested, what does not fit waits here.
    pub(crate) fn submit(&mut self, now: Instant, message: Submission) {
        self.out.note(|| {
            let digest = digest(&[message.lead.as_slice(), &message.payload]);
            RingEvent::Submitted { digest, service: message.service, party: message.party }
        });
        if !self.backlog.is_empty() {
            return self.keep(message);
        }
        match self.hand_over(now, &message) {
            Ok(()) => {}
            Err(SubmitError::LocalFull) => self.keep(message),
            Err(error) => self.out.refuse("ring", &error),
        }
    }

    fn hand_over(&mut self, now: Instant, message: &Submission) -> Result<(), SubmitError> {
        let Submission { party, service, lead, ref payload } = *message;
        self.ring.submit(now, party, service, (lead, payload.clone()))
    }

    fn keep(&mut self, message: Submission) {
        let length = message.payload.len();
        self.backlog_bytes = self.backlog_bytes.saturating_add(length);
        if self.backlog_bytes > SEND_QUEUE_BYTES_MAX {
            self.backlog_bytes = self.backlog_bytes.saturating_sub(length);
            // It may have been an item: the stage has what will not come.
            (self.staged, self.on_way) = (None, BTreeSet::new());
            return self
                .out
                .refuse("node", &"a message for the ring was dropped: the members here ignore congestion");
        }
        self.backlog.push_back(message);
    }

    pub(crate) fn drain_backlog(&mut self, now: Instant) {
        while let Some(message) = self.backlog.pop_front() {
            let done = self.hand_over(now, &message);
            if done == Err(SubmitError::LocalFull) {
                return self.backlog.push_front(message);
            }
            self.backlog_bytes = self.backlog_bytes.saturating_sub(message.payload.len());
            // Nobody waits behind a message that no ring will ever take.
            if let Err(error) = done {
                self.out.refuse("ring", &error);
            }
        }
    }

    pub(crate) fn send_ring(&mut self, now: Instant, to: NodeId, frame: &Bytes) {
        // If a link is down, the frame is lost, as in a network. The ring repairs the loss or sets
        // the peer aside.
        let _ = self.links.send(now, to, Channel::Ring, &[frame]);
    }

    pub(crate) fn link_input(&mut self, now: Instant, input: Input, entropy: &mut dyn Entropy) {
        if let Err(error) = self.links.handle(now, input, entropy) {
            self.out.refuse("link", &error);
        }
    }
}
