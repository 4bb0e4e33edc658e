//! The way up: from the links to the ring, from the ring to the group layer, and from there to the
//! members.

use crate::parts::Submission;
use crate::{Node, RingEvent, Theirs};
use base::{Entropy, Framed, Instant, MemberId, NodeId, digest};
use bytes::Bytes;
use folkmoot_attach::{Lacking, ToMember};
use folkmoot_base as base;
use folkmoot_group as group;
use folkmoot_link::{self as link, Channel};
use folkmoot_ring::{self as ring, Delivery};

impl Node {
    pub(crate) fn hear_link(&mut self, now: Instant, output: link::Output, entropy: &mut dyn Entropy) {
        match output {
            link::Output::Transmit { to, datagram } => self.out.transmit(to, datagram),
            link::Output::Probe { to, datagram } => self.out.probe(to, datagram),
            link::Output::Together { places } => self.out.together(places),
            link::Output::Up { node, at, .. } => self.link_up(now, node, at, entropy),
            link::Output::Path { node, mtu } => self.path_tried(now, node, mtu),
            link::Output::Certificate { .. } => {}
            link::Output::Down { node, cause } => self.link_down(now, node, cause),
            link::Output::Refused { at, node, asks } => self.refused(now, at, node, Theirs::Form(asks)),
            link::Output::Twice { node, at } => self.runs_twice(now, node, at),
            link::Output::Superseded { started } => self.stop_for_later(now, started, entropy),
            link::Output::Unreached { at, node } => self.unreached(&at, node),
            link::Output::Frame { from, channel, frame } => self.frame(now, from, channel, frame, entropy),
            link::Output::Trace(text) => self.out.trace("link", text),
        }
    }

    fn frame(
        &mut self,
        now: Instant,
        from: NodeId,
        channel: Channel,
        frame: Bytes,
        entropy: &mut dyn Entropy,
    ) {
        match channel {
            // NODE-09: whatever standing the link has.
            Channel::Ring if !self.records.is_rostered(&from) => {
                self.out
                    .refuse("node", &format!("{from} sent a frame of the ring, but is not in it (NODE-09)"));
            }
            Channel::Ring => {
                if let Err(error) = self.ring.frame(now, from, frame, entropy) {
                    self.out.refuse("ring", &error);
                }
            }
            Channel::Transcript => self.transcript_frame(now, from, &frame),
            Channel::Admission => self.out.tell(ToMember::Guest { from, payload: frame }),
        }
    }

    pub(crate) fn hear_ring(&mut self, now: Instant, output: ring::Output, entropy: &mut dyn Entropy) {
        if let ring::Output::Fresh { frame, .. } | ring::Output::Multicast { frame, .. } = &output
            && ring::data::is_unreliable(frame)
        {
            self.out.note(|| RingEvent::Unreliable { digest: digest(&[frame]) });
        }
        match output {
            ring::Output::Send { to, frame } => self.send_ring(now, to, &frame),
            ring::Output::Fresh { to, frame } => self.send_fresh(now, &to, &frame),
            ring::Output::Key(change) => self.change_key(now, change, entropy),
            ring::Output::Multicast { to, frame } => {
                if ring::data::is_message(&frame) {
                    self.links.repeats();
                }
                to.iter().for_each(|to| self.send_ring(now, *to, &frame))
            }
            ring::Output::Persist(persist) => self.out.persist(persist),
            ring::Output::Deliver(delivery) => self.deliver(delivery),
            ring::Output::Transitional { from, survivors } => self.transitional(from, survivors),
            ring::Output::Regular { id, members, .. } => {
                self.keep_company(now, &members, entropy);
                self.regular(now, id, members);
            }
            ring::Output::Left { account, messages, bytes } => {
                self.left(now, account, (messages, bytes));
            }
            ring::Output::Lacking(lacking) => {
                self.out.tell(ToMember::Lacking(lacking.map(|(node, since)| Lacking { node, since })));
            }
            ring::Output::Trace(change) => {
                if change.phase == ring::Phase::Gather {
                    self.keep_company(now, &[], entropy);
                    if let Some(taken) = self.records.ask_clock_again() {
                        self.apply(now, &taken, entropy);
                    }
                }
                self.out.trace("ring", change.to_string());
            }
        }
    }

    /// While a configuration stands, its token tells whether its members are there: their links
    /// rest (LINK-24).
    fn keep_company(&mut self, now: Instant, members: &[NodeId], entropy: &mut dyn Entropy) {
        let others = |node: &&NodeId| **node != self.me;
        let nodes = members.iter().filter(others).copied().collect();
        self.link_input(now, link::Input::Company { nodes }, entropy);
    }

    fn deliver(&mut self, delivery: Delivery) {
        let Delivery { configuration, order, sender, service, lead, payload, transitional } = delivery;
        self.out.note(|| {
            let digest = digest(&[lead.as_slice(), &payload]);
            RingEvent::Delivered { configuration, order, sender, service, digest, transitional }
        });
        let mut message = Framed { lead, rest: payload };
        let Some((records, group)) = self.tables_of(&mut message) else { return };
        let holds = |member: MemberId| records.holds(member);
        if let Err(error) = group.deliver(configuration, order, sender, service, message, &holds) {
            self.out.refuse("group", &error);
        }
    }

    pub(crate) fn hear_group(&mut self, now: Instant, output: group::Output, entropy: &mut dyn Entropy) {
        match output {
            group::Output::Submit { party, service, lead, payload, account } => {
                self.submit(now, Submission { party, service, lead, payload, account });
            }
            group::Output::Member { to, indication } => {
                self.accounts.told(to, &indication);
                self.out.tell_one(to, ToMember::Group(indication));
            }
            group::Output::Item(item) => self.take_item(now, &item, entropy),
            group::Output::Reconcile { behind } => {
                let (records, mut orders) = self.ordering();
                records.reconcile(&behind, &mut orders);
            }
            group::Output::Carries { node, place, charters } => {
                self.carried.leave_out(node, place, &charters);
            }
            group::Output::Trace(text) => self.out.trace("group", text),
        }
    }
}
