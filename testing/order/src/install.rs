//! The install step: what each survivor delivers of the old configuration, and in which order.

use crate::history::{Event, History};
use crate::node::{Ctx, Node};
use crate::nouns::{Delivery, Packet, Place, Service, Set};
use crate::rules::{Rule, Rules};
use crate::store::Store;

/// One node's install step.
pub(crate) struct Install<'a> {
    store: &'a mut Store,
    rules: Rules,
    trusted: Set,
    owed: Set,
    /// The last place of the known order, for a mutant that goes on counting.
    count: usize,
    out: Vec<Delivery>,
    history: &'a mut History,
}

impl Node {
    /// Delivers the rest of the old configuration: up to the line, the signal, and what is behind.
    pub(crate) fn deliver_rest(&mut self, line: usize, all: bool, ctx: &mut Ctx<'_>) {
        let (trusted, owed) = (self.trusted, self.owed);
        let mut step = Install::new(&mut self.store, ctx.rules, trusted, owed, ctx.history);
        step.known(1, line, all);
        let before = std::mem::take(&mut step.out);
        let after = step.behind_the_signal();
        self.log(&before, ctx);
        ctx.history.logs[self.id].push(Event::Signal);
        self.log(&after, ctx);
    }
}

impl<'a> Install<'a> {
    pub(crate) fn new(
        store: &'a mut Store,
        rules: Rules,
        trusted: Set,
        owed: Set,
        history: &'a mut History,
    ) -> Self {
        let count = store.last_place();
        let owed = if rules.keep(Rule::Owed) { owed } else { Set::default() };
        Self { store, rules, trusted, owed, count, out: Vec::new(), history }
    }

    /// Known order first, then what no known record names.
    pub(crate) fn behind_the_signal(&mut self) -> Vec<Delivery> {
        self.known(self.store.next, usize::MAX, false);
        if !self.rules.keep(Rule::KnownOrder) {
            let of = |one: &Delivery| self.store.packets().find(|packet| packet.uid == one.uid);
            let key = |one: &Delivery| of(one).map(|packet| (packet.source, packet.number));
            let mut out = std::mem::take(&mut self.out);
            out.sort_by_key(key);
            self.out = out;
        }
        self.behind();
        std::mem::take(&mut self.out)
    }

    fn deliver(&mut self, packet: Packet, place: Place) {
        let place = match place {
            Place::Behind(..) if !self.rules.keep(Rule::Places) => {
                self.count += 1;
                Place::Known(self.count)
            }
            place => place,
        };
        self.store.deliver(packet, place, &mut self.out);
    }

    /// The known order, up to a place, or if all members survive up to the first hole.
    fn known(&mut self, from: usize, line: usize, to_hole: bool) {
        let mut hole = false;
        let end = if to_hole { self.store.last_place() } else { line.min(self.store.last_place()) };
        for place in from..=end {
            let at = self.store.at_place(place);
            let Some(packet) = at.and_then(|(source, number)| self.store.packet(source, number)) else {
                if to_hole {
                    return;
                }
                if !hole {
                    self.history.count("holes");
                }
                hole = true;
                continue;
            };
            if !hole {
                self.store.next = place + 1;
            }
            let past =
                self.trusted.has(packet.source) || self.is_owed(packet) || !self.rules.keep(Rule::Hole);
            if hole && !self.store.is_delivered(packet) {
                self.history.count(if past { "delivered past a hole" } else { "left out past a hole" });
            }
            if !hole || !self.rules.keep(Rule::Needs) && past {
                self.deliver(packet, Place::Known(place));
            } else if past {
                self.bring(packet, Place::Known(place));
            }
        }
    }

    fn is_owed(&self, packet: Packet) -> bool {
        self.owed.has(packet.uid)
            && (packet.service != Service::Reliable || self.rules.keep(Rule::ReliablePastHole))
    }

    /// What no known record names.
    fn behind(&mut self) {
        let rest: Vec<Packet> = self
            .store
            .packets()
            .filter(|one| self.store.place_of(one.source, one.number).is_none())
            .collect();
        if !self.rules.keep(Rule::BySender) {
            self.by_predecessors(&rest);
            return;
        }
        for packet in &rest {
            if packet.service.is_ordered() && self.trusted.has(packet.source) {
                self.bring(*packet, self.place(*packet));
                self.history.count("behind the known order");
            }
        }
        self.weaker(&rest);
    }

    /// Delivers what a packet that is trusted or owed needs, and then the packet.
    fn bring(&mut self, packet: Packet, place: Place) {
        if self.store.is_delivered(packet) {
            return;
        }
        let needs = |one: &Packet| match packet.service {
            Service::Unreliable | Service::Reliable => false,
            Service::Fifo | Service::Causal => one.service >= Service::Fifo,
            Service::Agreed | Service::Safe => true,
        };
        let earlier = 1..packet.number;
        let earlier: Vec<Packet> =
            earlier.filter_map(|number| self.store.packet(packet.source, number)).filter(needs).collect();
        let named = self.store.members.iter().filter(|_| packet.service >= Service::Causal);
        let named: Vec<Packet> =
            named.filter_map(|other| self.store.packet(other, packet.names[other])).collect();
        for before in earlier.into_iter().chain(named) {
            if before.number < packet.number || before.source != packet.source {
                self.bring(before, self.place(before));
            }
        }
        self.deliver(packet, place);
    }

    fn place(&self, packet: Packet) -> Place {
        let known = self.store.place_of(packet.source, packet.number);
        known.map_or(Place::Behind(packet.source, packet.number), Place::Known)
    }

    /// FIFO and causal up to the hole of their stream, reliable and owed always.
    fn weaker(&mut self, rest: &[Packet]) {
        let mut moved = true;
        while moved {
            moved = false;
            for packet in rest {
                if packet.service.is_ordered() || self.store.is_delivered(*packet) {
                    continue;
                }
                if self.may_come(*packet) {
                    if self.rules.keep(Rule::Undelivered) {
                        self.bring(*packet, Place::None);
                    } else {
                        self.deliver(*packet, Place::None);
                    }
                    moved = true;
                    break;
                }
            }
        }
    }

    fn may_come(&mut self, packet: Packet) -> bool {
        let stream = if self.rules.keep(Rule::Undelivered) {
            self.store.is_next_of_stream(packet)
        } else {
            (1..packet.number).all(|number| self.store.packet(packet.source, number).is_some())
        };
        let next = stream && self.store.has_what_it_names(packet);
        let reliable = packet.service == Service::Reliable && self.rules.keep(Rule::ReliablePastHole);
        next && packet.service != Service::Reliable || reliable || self.is_owed(packet)
    }

    /// As it was first written: of all packets that no known record names, delivered or not, the
    /// smallest (sender, stream number) whose predecessors have been taken.
    fn by_predecessors(&mut self, rest: &[Packet]) {
        let mut left: Vec<Packet> = rest.to_vec();
        let mut taken = self
            .store
            .packets()
            .filter(|one| !rest.contains(one))
            .fold(Set::default(), |set, one| set.or(Set::one(one.uid)));
        loop {
            let free = |one: &Packet| {
                let before = |source: usize, number: usize| {
                    number == 0 || self.store.packet(source, number).is_some_and(|named| taken.has(named.uid))
                };
                let stream = (1..one.number).all(|number| before(one.source, number));
                let named = self.store.members.iter().all(|other| before(other, one.names[other]));
                stream && named || one.service == Service::Reliable
            };
            let Some(index) = left.iter().position(free) else { break };
            let packet = left.remove(index);
            taken.add(packet.uid);
            let place = Place::Behind(packet.source, packet.number);
            match packet.service.is_ordered() {
                true if self.trusted.has(packet.source) => self.deliver(packet, place),
                true => {}
                false if self.may_come(packet) => self.deliver(packet, place),
                false => {}
            }
        }
    }
}
