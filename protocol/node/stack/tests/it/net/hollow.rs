//! A node that keeps links and ring going and says which transcript it has, but sends no State and
//! nothing else of the group layer.

use super::{Party, charter, locator, person};
use bytes::{Bytes, BytesMut};
use folkmoot_attach::{Ground, GroundOutput, ToNode};
use folkmoot_base::{Digest, Entropy, Head, Instant, Locator, NodeId, UnixTime, codec};
use folkmoot_link::{Channel, IdentityCredentials, Input, Links, Output as LinkOutput, RingKeyChange};
use folkmoot_node::{Node, Phase, Sync};
use folkmoot_ring::{Config, KeyChange, Output as RingOutput, Ring, RingKeys};
use folkmoot_transcript::Transcript;
use std::collections::VecDeque;

pub struct Hollow {
    links: Links<IdentityCredentials>,
    ring: Ring,
    mark: (Head, Digest),
    contacts: Vec<Locator>,
    next_dial: Instant,
    out: VecDeque<GroundOutput>,
}

impl Hollow {
    pub fn new(
        founders: usize,
        who: usize,
        contacts: &[usize],
        now: Instant,
        entropy: &mut dyn Entropy,
    ) -> Self {
        Self::under(&charter(founders), who, contacts, now, entropy)
    }

    pub fn under(
        charter: &Bytes,
        who: usize,
        contacts: &[usize],
        now: Instant,
        entropy: &mut dyn Entropy,
    ) -> Self {
        let transcript = Transcript::founded(charter).unwrap();
        let credentials = IdentityCredentials::new(person(who).clone());
        Self {
            links: Links::new(folkmoot_link::Config::new(transcript.group()), credentials, entropy),
            ring: Ring::new(Config::new(person(who).node()), 0, now),
            mark: transcript.mark(),
            contacts: contacts.iter().map(|contact| locator(*contact)).collect(),
            next_dial: now,
            out: VecDeque::new(),
        }
    }

    fn settle(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        loop {
            if let Some(output) = self.ring.poll_output() {
                self.ring_said(now, output, entropy);
            } else if let Some(output) = self.links.poll_output() {
                self.link_said(now, output, entropy);
            } else {
                return;
            }
        }
    }

    fn ring_said(&mut self, now: Instant, output: RingOutput, entropy: &mut dyn Entropy) {
        let (to, frame) = match output {
            RingOutput::Send { to, frame } => (vec![to], frame),
            RingOutput::Multicast { to, frame } => (to.to_vec(), frame),
            RingOutput::Fresh { to, frame } => {
                self.links.multicast(now, &to, &frame);
                return;
            }
            RingOutput::Key(change) => {
                let change = match change {
                    KeyChange::Attempt(RingKeys { ring, senders, .. }) => {
                        RingKeyChange::Attempt(folkmoot_link::RingKeys { ring: ring.0, senders })
                    }
                    KeyChange::Installed => RingKeyChange::Installed,
                    KeyChange::Failed => RingKeyChange::Failed,
                };
                return self.links.handle(now, Input::RingKey(change), entropy).unwrap();
            }
            _ => return,
        };
        for to in to {
            let _ = self.links.send(now, to, Channel::Ring, &[&frame]);
        }
    }

    fn link_said(&mut self, now: Instant, output: LinkOutput, entropy: &mut dyn Entropy) {
        match output {
            LinkOutput::Probe { to, datagram } => self.out.push_back(GroundOutput::Probe(to, datagram)),
            LinkOutput::Transmit { to, datagram } => self.out.push_back(GroundOutput::Transmit(to, datagram)),
            LinkOutput::Up { node, .. } => {
                self.links.handle(now, Input::Standing { node, member: true }, entropy).unwrap();
                self.say_mark(now, node);
                self.ring.peer(now, node, true);
            }
            LinkOutput::Down { node, .. } => self.ring.peer(now, node, false),
            LinkOutput::Frame { from, channel: Channel::Ring, frame } => {
                let _ = self.ring.frame(now, from, frame, entropy);
            }
            LinkOutput::Frame { from, channel: Channel::Transcript, .. } => self.say_mark(now, from),
            _ => {}
        }
    }

    fn say_mark(&mut self, now: Instant, to: NodeId) {
        let (head, set) = self.mark;
        let mark = codec::encode(&Sync::Mark { head, set });
        let _ = self.links.send(now, to, Channel::Transcript, &[&mark]);
    }
}

impl Ground for Hollow {
    fn member(&mut self, _: Instant, _: ToNode, _: &mut dyn Entropy) {}

    fn datagram(&mut self, now: Instant, from: Locator, bytes: BytesMut, entropy: &mut dyn Entropy) {
        let _ = self.links.handle(now, Input::Datagram { from, bytes }, entropy);
        self.settle(now, entropy);
    }

    fn clock(&mut self, _: Instant, _: UnixTime, _: &mut dyn Entropy) {}

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        if self.links.poll_timeout().is_some_and(|at| at <= now) {
            let _ = self.links.handle(now, Input::Timeout, entropy);
        }
        if self.ring.poll_timeout().is_some_and(|at| at <= now) {
            self.ring.timeout(now, entropy);
        }
        if self.next_dial <= now {
            self.next_dial = now + core::time::Duration::from_millis(500);
            for at in self.contacts.clone() {
                let _ = self.links.handle(now, Input::Dial { at, node: None }, entropy);
            }
        }
        self.settle(now, entropy);
    }

    fn poll_output(&mut self) -> Option<GroundOutput> {
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        [self.links.poll_timeout(), self.ring.poll_timeout(), Some(self.next_dial)]
            .into_iter()
            .flatten()
            .min()
    }
}

impl Party for Hollow {
    fn ring(&self) -> (Phase, Vec<NodeId>) {
        let status = self.ring.status();
        (status.phase, status.members)
    }

    fn node(&self) -> Option<&Node> {
        None
    }
}
