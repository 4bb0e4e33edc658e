//! The way down: from members to the group layer, to the ring, to the links.

use crate::{Node, RingEvent};
use base::limits::SEND_QUEUE_BYTES_MAX;
use base::{Entropy, Instant, NodeId, Service, digest};
use bytes::Bytes;
use folkmoot_attach::ToNode;
use folkmoot_base as base;
use folkmoot_link::{Channel, Input};
use folkmoot_ring::SubmitError;
use std::collections::BTreeSet;

impl Node {
    pub(crate) fn hear_member(&mut self, now: Instant, message: ToNode, entropy: &mut dyn Entropy) {
        let done = match message {
            ToNode::Attach { member } => self.group.attach(member),
            ToNode::Detach { member } => self.group.detach(member),
            ToNode::Join { member, group } => self.group.join(member, group),
            ToNode::Leave { member, group } => self.group.leave(member, group),
            ToNode::Send { member, group, service, payload } => {
                self.copied = self.copied.saturating_add(u64::try_from(payload.len()).unwrap_or(u64::MAX));
                self.group.send(member, group, service, &payload)
            }
            ToNode::Complain { member, group, view, suspect } => {
                self.group.complain(member, group, view, suspect)
            }
            ToNode::Refresh { member, group } => self.group.refresh(member, group),
            ToNode::Item(item) => return self.order_own_item(&item),
            ToNode::Guest { to, payload } => return self.send_guest(now, to, &payload),
            ToNode::Dial(at) => return self.dial(now, at, entropy),
            ToNode::Resolve(head) => return self.resolve(now, head),
        };
        if let Err(error) = done {
            self.refuse("group", &error);
        }
    }

    /// To the ring, in order. While the ring is congested, what does not fit waits here.
    pub(crate) fn submit(&mut self, now: Instant, service: Service, bytes: Bytes) {
        if self.config.observe {
            self.events.push(RingEvent::Submitted { digest: digest(&[&bytes]), service });
        }
        if !self.backlog.is_empty() {
            return self.keep(service, bytes);
        }
        match self.ring.submit(now, service, bytes.clone()) {
            Ok(()) => {}
            Err(SubmitError::LocalFull) => self.keep(service, bytes),
            Err(error) => self.refuse("ring", &error),
        }
    }

    fn keep(&mut self, service: Service, bytes: Bytes) {
        self.backlog_bytes = self.backlog_bytes.saturating_add(bytes.len());
        if self.backlog_bytes > SEND_QUEUE_BYTES_MAX {
            self.backlog_bytes = self.backlog_bytes.saturating_sub(bytes.len());
            // It may have been an item: the stage has what will not come.
            (self.staged, self.on_way) = (None, BTreeSet::new());
            return self
                .refuse("node", &"a message for the ring was dropped: the members here ignore congestion");
        }
        self.backlog.push_back((service, bytes));
    }

    pub(crate) fn drain_backlog(&mut self, now: Instant) {
        while let Some((service, bytes)) = self.backlog.front() {
            let done = self.ring.submit(now, *service, bytes.clone());
            if done == Err(SubmitError::LocalFull) {
                return;
            }
            self.backlog_bytes = self.backlog_bytes.saturating_sub(bytes.len());
            self.backlog.pop_front();
            // Nobody waits behind a message that no ring will ever take.
            if let Err(error) = done {
                self.refuse("ring", &error);
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
            self.refuse("link", &error);
        }
    }
}
