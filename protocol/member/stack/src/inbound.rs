//! The way up: what the node tells the member, handed to the machine that it concerns.

use crate::api::Event;
use crate::change::Notice;
use crate::message::Payload;
use crate::{Member, Reached};
use base::{Buffer, ConfigurationId, Entropy, GroupId, Indication, Instant, NodeId, Party, Service};
use core::time::Duration;
use folkmoot_admission::Input;
use folkmoot_attach::{Lacking, ToMember};
use folkmoot_base as base;
use folkmoot_letters::is_guest_message;
use folkmoot_transcript::Transcript;

impl Member {
    pub(crate) fn hear_node(&mut self, now: Instant, message: ToMember, entropy: &mut dyn Entropy) {
        match message {
            ToMember::Group(indication) => self.hear_group(now, indication, entropy),
            ToMember::Item(item) => self.item(now, item, entropy),
            ToMember::Package { package, resolves } => self.package(now, &package, resolves, entropy),
            ToMember::Offered { package } => self.offered(&package),
            ToMember::Guest { from, payload } if is_guest_message(&payload) => {
                self.guest_word(now, from, payload, entropy);
            }
            ToMember::Guest { from, payload } => self.ask_door(now, Input::Guest { from, payload }, entropy),
            ToMember::OtherLine { node, theirs, ours } => {
                self.event(Event::OtherLine { node, theirs, ours });
            }
            ToMember::RunsTwice { node, at } => self.event(Event::RunsTwice { node, at }),
            ToMember::LinkUp { node, at, .. } => {
                self.sight.up(Reached { node, at: at.clone() });
                self.event(Event::LinkUp { node, at: at.clone() });
                self.ask_door(now, Input::LinkUp { node, host: at.host() }, entropy);
                self.post_link(now, node, true, entropy);
            }
            ToMember::LinkDown { node } => {
                self.sight.down(now, node);
                self.event(Event::LinkDown { node });
                self.ask_door(now, Input::LinkDown(node), entropy);
                self.post_link(now, node, false, entropy);
            }
            ToMember::Configuration { id, nodes, patience } => {
                self.configuration(now, (id, nodes), patience, entropy);
            }
            ToMember::Lacking(lacking) => self.lacking(lacking),
            ToMember::Credit { group, grant } => self.credited(now, group, grant, entropy),
        }
    }

    fn hear_group(&mut self, now: Instant, indication: Indication, entropy: &mut dyn Entropy) {
        match indication {
            Indication::Notice { group, view, members, removed, left, cause } => {
                self.purses.entry(group).or_default();
                if group == self.home {
                    self.sight.notice(now, &members, (&removed, &left), cause);
                }
                self.notice(now, group, Notice { view: *view, members, removed, cause }, entropy);
                self.ask_door(now, Input::Regrouped, entropy);
            }
            Indication::Transitional { group, lost } => self.lost(now, group, &lost, entropy),
            Indication::Deliver { group, sender, service, payload } => {
                self.delivered(now, (group, sender, service), payload, entropy);
            }
            Indication::Removed { group, cause } => {
                self.purses.remove(&group);
                if group == self.home {
                    self.sight.went(now, self.me, cause);
                }
                self.removed(now, group, cause, entropy);
            }
            Indication::Refused { group, refusal } => self.event(Event::JoinRefused { group, refusal }),
        }
    }

    /// FLU-14, KEY-15: from now on parties wait for one another as its round trips ask for.
    fn configuration(
        &mut self,
        now: Instant,
        (id, nodes): (ConfigurationId, Vec<NodeId>),
        patience: Duration,
        entropy: &mut dyn Entropy,
    ) {
        self.configuration = Some(id);
        self.patience = patience;
        // RING-33: two round trips for each node, and two more.
        let trips = u32::try_from(nodes.len().saturating_mul(2).saturating_add(2)).unwrap_or(u32::MAX);
        let near = self.config.danger.is(base::Danger::KeyingNearAlways);
        self.far = !near && patience >= base::limits::FAR.saturating_mul(trips);
        for stack in self.stacks.values_mut() {
            stack.wait(now, patience);
            // A join counts in the configuration that it names.
            stack.ask_at = now;
        }
        self.sight.configuration.clone_from(&nodes);
        self.sight.lacking = None;
        self.event(Event::Configuration { nodes });
        self.ask_again(now);
        self.judge_again(now, entropy, Transcript::ask_again);
        self.ask_door(now, Input::Regrouped, entropy);
    }

    /// `MEM-10`: a node lacks what was sent, or none does any more.
    fn lacking(&mut self, lacking: Option<Lacking>) {
        let was = core::mem::replace(&mut self.sight.lacking, lacking);
        match (was, lacking) {
            (_, Some(Lacking { node, .. })) => self.event(Event::Lacking { node }),
            (Some(Lacking { node, .. }), None) => self.event(Event::CaughtUp { node }),
            (None, None) => {}
        }
    }

    fn lost(&mut self, now: Instant, group: GroupId, lost: &[Party], entropy: &mut dyn Entropy) {
        if let Some(stack) = self.stacks.get_mut(&group) {
            stack.flush.transitional(lost);
        }
        self.settle(now, group, entropy);
    }

    fn delivered(
        &mut self,
        now: Instant,
        (group, sender, service): (GroupId, Party, Service),
        payload: Buffer,
        entropy: &mut dyn Entropy,
    ) {
        match Payload::decode(payload) {
            Payload::Open(_) if service < Service::Agreed => {
                self.trace("member", format!("{sender} sent an admission message as less than agreed"));
            }
            Payload::Open(payload) => {
                self.ask_door(now, Input::Open { sender: sender.member, payload }, entropy);
            }
            Payload::Flush(frame) => {
                let Some(stack) = self.stacks.get_mut(&group) else { return };
                if let Err(error) = stack.flush.frame(now, sender, service, frame) {
                    self.refuse("flush", &error);
                }
                self.settle(now, group, entropy);
                if self.release_held(group) {
                    // The messages sent may have used the key up.
                    self.settle(now, group, entropy);
                }
            }
        }
    }

    /// What has become due: the machines' deadlines, joins to ask for again, requests and votes to
    /// send again.
    pub(crate) fn wake(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let mut next = self.group_after(None);
        while let Some(group) = next {
            self.wake_stack(now, group, entropy);
            next = self.group_after(Some(group));
        }
        self.ask_again(now);
        self.wake_writer(now);
        if self.joining.poll_timeout().is_some_and(|at| at <= now) {
            self.ask_door(now, Input::Timeout, entropy);
        }
    }
}
