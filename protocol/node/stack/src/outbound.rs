//! The way down: from members to the group layer, to the ring, to the links.

use crate::parts::{Submission, Taken};
use crate::{Node, RingEvent};
use base::{Entropy, GroupId, Instant, NodeId, Party, Service, digest};
use bytes::Bytes;
use folkmoot_attach::ToNode;
use folkmoot_base as base;
use folkmoot_link::{Channel, Input, Numbered, RING_HEADER_BYTES, RingKeyChange};
use folkmoot_ring::{KeyChange, RingKeys};

// What the links leave in the clear of a packet is what the ring puts before its pieces.
const _: () = assert!(RING_HEADER_BYTES == folkmoot_ring::data::HEADER_BYTES);

impl Node {
    pub(crate) fn hear_member(&mut self, now: Instant, message: ToNode, entropy: &mut dyn Entropy) {
        let done = match message {
            ToNode::Attach { party, charter } => return self.attach(party, charter),
            ToNode::Detach { party } => return self.detach(party),
            ToNode::Word(said) => self.tables(&said.word.says.group()).say(*said),
            ToNode::Send { party, group, service, payload } => {
                return self.send(party, group, service, payload);
            }
            ToNode::Item(charter, item) => return self.order_own(&charter, &item),
            ToNode::Guest { from, to, payload } => {
                if !self.say_indoors(from, to, &payload) {
                    self.send_guest(now, to, &payload);
                }
                return;
            }
            ToNode::Dial(at) => return self.dial(now, at, entropy),
            ToNode::Resolve(charter, head) => return self.resolve(now, charter, head, entropy),
        };
        if let Err(error) = done {
            self.out.refuse("group", &error);
        }
    }

    /// NODE-36: a party here sends to a group, within its credit. What has no credit is not kept.
    fn send(&mut self, party: Party, group: GroupId, service: Service, payload: Bytes) {
        let length = payload.len();
        let account = match self.accounts.receive(party, group, length) {
            Ok(account) => account,
            Err(error) => return self.out.refuse("attach", &error),
        };
        if let Err(error) = self.tables(&group).send(party, group, service, payload, account) {
            self.out.refuse("group", &error);
            self.gone(account, length);
        }
    }

    /// A message that used credit does not wait any more.
    fn gone(&mut self, account: u32, length: usize) {
        let bytes = u64::try_from(length).unwrap_or(u64::MAX);
        self.accounts.left(account, (1, bytes), &mut self.out);
    }

    /// Messages have left the ring's queue.
    pub(crate) fn left(&mut self, now: Instant, account: u32, all: (u64, u64)) {
        self.accounts.left(account, all, &mut self.out);
        while let Some((account, length)) = self.backlog.drain(now, &mut self.ring, &mut self.out) {
            self.gone(account, length);
        }
    }

    /// To the ring, in order. What does not fit there waits here.
    pub(crate) fn submit(&mut self, now: Instant, message: Submission) {
        self.out.note(|| {
            let digest = digest(&[message.lead.as_slice(), &message.payload]);
            RingEvent::Submitted { digest, service: message.service, party: message.party }
        });
        let (account, length) = (message.account, message.payload.len());
        match self.backlog.submit(now, message, &mut self.ring, &mut self.out) {
            Taken::Waits => {}
            Taken::Gone => self.gone(account, length),
            Taken::Dropped => {
                // It may have been an item: the stage has what will not come.
                self.records.clear_stage();
                self.carried.iter_mut().for_each(|charter| charter.records.clear_stage());
            }
        }
    }

    pub(crate) fn send_ring(&mut self, now: Instant, to: NodeId, frame: &Bytes) {
        // If a link is down, the frame is lost, as in a network. The ring repairs the loss or sets
        // the peer aside.
        let _ = self.links.send(now, to, Channel::Ring, &[frame]);
    }

    /// A packet that was numbered here, for all other members: it is sealed once.
    pub(crate) fn send_fresh(&mut self, now: Instant, to: &[NodeId], frame: &Bytes) {
        if let Some(Numbered { key, nonce }) = self.links.multicast(now, to, frame) {
            self.out.note(|| RingEvent::Sealed { key, nonce });
        }
    }

    /// The ring makes the keys, and the links seal with them.
    pub(crate) fn change_key(&mut self, now: Instant, change: KeyChange, entropy: &mut dyn Entropy) {
        let (mut attempt, mut contributed) = (false, None);
        let change = match change {
            KeyChange::Attempt(RingKeys { ring, senders, contributed: ours }) => {
                (attempt, contributed) = (true, ours);
                RingKeyChange::Attempt(folkmoot_link::RingKeys { ring: ring.0, senders })
            }
            KeyChange::Installed => RingKeyChange::Installed,
            KeyChange::Failed => RingKeyChange::Failed,
        };
        self.link_input(now, Input::RingKey(change), entropy);
        let kept = self.links.rings();
        self.out.note(|| RingEvent::Keys { attempt, contributed, kept });
    }

    pub(crate) fn link_input(&mut self, now: Instant, input: Input, entropy: &mut dyn Entropy) {
        if let Err(error) = self.links.handle(now, input, entropy) {
            self.out.refuse("link", &error);
        }
    }
}
