//! A member that floods: it does what every member does, and says rubbish besides, as fast as it is
//! told to.

use super::rubbish::{Rubbish, Said};
use crate::machine::{Input, Machine, Output, Picture, Spoils};
use crate::record::Player;
use crate::stack::Actor;
use folkmoot_attach::ToNode;
use folkmoot_base::{Entropy, Instant, Service};
use std::collections::BTreeSet;

/// Between two bursts, in microseconds.
const BURST_MICROS: u64 = 100_000;

/// A member that floods from one time to another.
pub(super) struct Flooder {
    pub(super) actor: Actor,
    pub(super) rubbish: Rubbish,
    pub(super) next: u64,
    pub(super) until: u64,
}

impl Flooder {
    fn burst(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let transcript = self.actor.transcript();
        let (party, group) = (self.rubbish.member().into(), transcript.group());
        for said in self.rubbish.burst(transcript, entropy) {
            let send = |payload| ToNode::Send { party, group, service: Service::Agreed, payload };
            match said {
                Said::Item(item) => self.actor.say(now, ToNode::Item(group, item), entropy),
                Said::Payload(payload) => self.actor.say(now, send(payload), entropy),
                Said::Frame(message) => self.actor.say_to_nodes(now, &message, entropy),
            }
        }
    }
}

impl Machine for Flooder {
    fn handle(&mut self, now: Instant, input: Input, entropy: &mut dyn Entropy) {
        if now.0 >= self.next && now.0 < self.until {
            self.next = now.0.saturating_add(BURST_MICROS);
            self.burst(now, entropy);
        }
        self.actor.handle(now, input, entropy);
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.actor.poll_output()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let flood = (self.next < self.until).then_some(Instant(self.next));
        [self.actor.poll_timeout(), flood].into_iter().flatten().min()
    }

    fn picture(&self) -> Picture {
        self.actor.picture()
    }

    fn roster_if_changed(&mut self) -> Option<BTreeSet<Player>> {
        self.actor.roster_if_changed()
    }

    fn spoils(&self) -> Spoils {
        self.actor.spoils()
    }
}
