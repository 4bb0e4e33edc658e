//! How the host drives a node: each input, then what follows from it, then the next timer.

use crate::{Node, Theirs};
use attach::{Ground, GroundOutput, Resolved, ToNode};
use base::{Entropy, Instant, Locator, Train, UnixTime};
use bytes::BytesMut;
use folkmoot_attach as attach;
use folkmoot_base as base;
use folkmoot_link::LinkError;

impl Ground for Node {
    fn member(&mut self, now: Instant, message: ToNode, entropy: &mut dyn Entropy) {
        if self.superseded.is_some() {
            return;
        }
        self.hear_member(now, message, entropy);
        self.settle(now, entropy);
    }

    fn datagram(&mut self, now: Instant, from: Locator, datagram: BytesMut, entropy: &mut dyn Entropy) {
        if self.superseded.is_some() {
            return;
        }
        self.hear_datagram(now, folkmoot_link::Input::Datagram { from, bytes: datagram }, entropy);
    }

    fn datagram_to_all(
        &mut self,
        now: Instant,
        from: Locator,
        datagram: BytesMut,
        entropy: &mut dyn Entropy,
    ) {
        if self.superseded.is_some() {
            return;
        }
        self.hear_datagram(now, folkmoot_link::Input::ToAll { from, bytes: datagram }, entropy);
    }

    fn train(
        &mut self,
        now: Instant,
        from: Locator,
        mut train: Train,
        to_all: bool,
        entropy: &mut dyn Entropy,
    ) {
        // What one datagram brings about may be needed to open the next.
        while !train.is_empty() && self.superseded.is_none() {
            let done = self.links.train(now, &from, (&mut train, to_all), entropy);
            self.heard(now, done, entropy);
        }
    }

    fn everybody(&mut self, now: Instant, at: Option<Locator>, entropy: &mut dyn Entropy) {
        if self.superseded.is_some() {
            return;
        }
        self.link_input(now, folkmoot_link::Input::Everybody(at), entropy);
        self.settle(now, entropy);
    }

    fn too_long(&mut self, now: Instant, to: Locator, bytes: usize, entropy: &mut dyn Entropy) {
        if self.superseded.is_some() {
            return;
        }
        self.link_input(now, folkmoot_link::Input::TooLong { to, bytes }, entropy);
        self.settle(now, entropy);
    }

    fn resolved(&mut self, now: Instant, name: &Locator, found: Resolved, entropy: &mut dyn Entropy) {
        if self.superseded.is_some() {
            return;
        }
        self.found(now, name, found, entropy);
        self.settle(now, entropy);
    }

    fn clock(&mut self, now: Instant, time: UnixTime, entropy: &mut dyn Entropy) {
        if self.superseded.is_some() {
            return;
        }
        let (records, mut orders) = self.ordering();
        let started = records.hear_clock(time, &mut orders);
        if let Some(taken) = started {
            self.apply(now, &taken, entropy);
        }
        if !self.peers.is_alone() {
            self.records.shares_ring(&mut self.out);
        }
        self.carried.iter_mut().for_each(|charter| charter.hear_clock(time, &mut self.out));
        self.settle(now, entropy);
    }

    fn timeout(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        if self.superseded.is_some() {
            return;
        }
        if self.links.poll_timeout().is_some_and(|at| at <= now) {
            let done = self.links.handle(now, folkmoot_link::Input::Timeout, entropy);
            if let Err(error) = done {
                self.out.refuse("link", &error);
            }
            self.settle(now, entropy);
        }
        if self.ring.poll_timeout().is_some_and(|at| at <= now) {
            self.ring.timeout(now, entropy);
            self.settle(now, entropy);
        }
        if self.reach.next() <= now {
            self.patience.stood_still(now.since(self.reach.next()));
            self.look_up(now, entropy);
            self.patience.lose(now, &self.group, self.carried.silent(), &mut self.out);
            self.judge_all(now);
        }
        self.settle(now, entropy);
    }

    fn is_busy(&self) -> bool {
        !self.backlog.is_empty() || self.ring.status().queued_bytes > 0
    }

    fn farewell(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        for node in self.peers.all() {
            self.link_input(now, folkmoot_link::Input::Hangup { node }, entropy);
        }
        self.settle(now, entropy);
    }

    fn poll_output(&mut self) -> Option<GroundOutput> {
        self.out.poll()
    }

    fn superseded(&self) -> Option<u64> {
        self.superseded
    }

    fn poll_timeout(&self) -> Option<Instant> {
        if self.superseded.is_some() {
            return None;
        }
        [self.links.poll_timeout(), self.ring.poll_timeout(), Some(self.reach.next())]
            .into_iter()
            .flatten()
            .min()
    }
}

impl Node {
    /// A datagram came, to us or to all.
    fn hear_datagram(&mut self, now: Instant, input: folkmoot_link::Input, entropy: &mut dyn Entropy) {
        let done = self.links.handle(now, input, entropy);
        self.heard(now, done, entropy);
    }

    fn heard(&mut self, now: Instant, done: Result<(), LinkError>, entropy: &mut dyn Entropy) {
        if let Err(error) = done {
            match &error {
                LinkError::WireOtherForm { at, theirs } => {
                    self.turned_away(now, at, None, Theirs::Form(*theirs));
                }
                LinkError::PeerVersions { at, peer, ours, theirs } => {
                    let theirs = Theirs::Versions { ours: *ours, theirs: *theirs };
                    self.turned_away(now, at, Some(*peer), theirs);
                }
                _ => {}
            }
            self.out.refuse("link", &error);
        }
        self.settle(now, entropy);
    }
}
