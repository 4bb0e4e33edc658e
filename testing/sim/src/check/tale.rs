//! Small hand-written records for the tests of checkers.

use super::{Checker, Story};
use crate::record::{Entry, MessageId, Process, Record, RingEvent, RingMessage, Seat, Shown, Standing, What};
use folkmoot_base::{ConfigurationId, GroupId, NodeId, Service, ViewId};
use std::collections::BTreeSet;

/// A record being written.
#[derive(Default)]
pub(crate) struct Tale(pub(crate) Record);

pub(crate) fn p(seat: Seat) -> Process {
    Process { seat, life: 0 }
}

pub(crate) fn m(seat: Seat, number: u32) -> MessageId {
    MessageId { seat, life: 0, number }
}

pub(crate) fn configuration(number: u64) -> ConfigurationId {
    ConfigurationId { ring_seq: number, representative: NodeId([0; 32]), nonce: [0; 16] }
}

pub(crate) fn view(number: u64) -> ViewId {
    ViewId { configuration: configuration(number), order: 1, group: GroupId([0; 32]) }
}

impl Tale {
    pub(crate) fn add(mut self, seat: Seat, what: What) -> Self {
        let at = self.0.entries.len() as u64;
        self.0.push(at, p(seat), what);
        self
    }

    pub(crate) fn view(self, seat: Seat, number: u64, members: &[Seat], transitional: &[Seat]) -> Self {
        self.keyed(seat, number, members, transitional, &format!("k{number}"))
    }

    pub(crate) fn keyed(self, seat: Seat, number: u64, members: &[Seat], with: &[Seat], key: &str) -> Self {
        let shown = Shown {
            id: view(number),
            members: members.iter().copied().collect(),
            transitional: with.iter().copied().collect(),
            key: key.to_owned(),
        };
        self.add(seat, What::View(shown))
    }

    /// All of `members` install the view, coming from nowhere.
    pub(crate) fn first(self, number: u64, members: &[Seat]) -> Self {
        members.iter().fold(self, |tale, seat| tale.view(*seat, number, members, &[*seat]))
    }

    /// All of `members` move on to the view together.
    pub(crate) fn next(self, number: u64, members: &[Seat]) -> Self {
        members.iter().fold(self, |tale, seat| tale.view(*seat, number, members, members))
    }

    pub(crate) fn send(self, seat: Seat, number: u32, service: Service, in_view: u64) -> Self {
        self.add(seat, What::Asked(m(seat, number), service))
            .add(seat, What::Sent(m(seat, number), service, Some(view(in_view))))
    }

    pub(crate) fn get(self, seat: Seat, message: MessageId, service: Service) -> Self {
        self.add(seat, What::Delivered(message, service))
    }

    pub(crate) fn signal(self, seat: Seat) -> Self {
        self.add(seat, What::Signal)
    }

    pub(crate) fn crash(self, seat: Seat) -> Self {
        self.add(seat, What::Crash(0))
    }

    pub(crate) fn left(self, seat: Seat) -> Self {
        self.add(seat, What::Left("left".into()))
    }

    pub(crate) fn ring(self, seat: Seat, number: u64, nodes: &[Seat]) -> Self {
        let nodes = nodes.iter().copied().collect();
        self.add(seat, What::Ring(RingEvent::Regular(configuration(number), nodes)))
    }

    pub(crate) fn ring_signal(self, seat: Seat, from: u64, nodes: &[Seat]) -> Self {
        let nodes: BTreeSet<Seat> = nodes.iter().copied().collect();
        self.add(seat, What::Ring(RingEvent::Transitional { from: configuration(from), nodes }))
    }

    pub(crate) fn ring_send(self, seat: Seat, name: u8) -> Self {
        self.add(seat, What::Ring(RingEvent::Sent(RingMessage { sender: seat, digest: [name; 16] })))
    }

    /// `seat` delivers message `name` of `sender`, numbered `number` in configuration `in_ring`.
    pub(crate) fn ring_get(
        self,
        seat: Seat,
        (sender, name): (Seat, u8),
        (in_ring, number): (u64, u64),
        service: Service,
    ) -> Self {
        let message = RingMessage { sender, digest: [name; 16] };
        let configuration = configuration(in_ring);
        self.add(seat, What::Ring(RingEvent::Delivered { message, configuration, number, service }))
    }

    pub(crate) fn settled(mut self) -> Self {
        self.0.settled = true;
        self.0.counts.micros = 1_000_000_000;
        self
    }

    pub(crate) fn standing(mut self, standing: Standing) -> Self {
        self.0.standings.push(standing);
        self
    }

    #[track_caller]
    pub(crate) fn holds(self, checker: &Checker) {
        let verdict = checker.check(&self.0, &Story::of(&self.0));
        assert_eq!(verdict, Ok(()), "{} found something in a good record", checker.name);
    }

    #[track_caller]
    pub(crate) fn broken(self, checker: &Checker) {
        let verdict = checker.check(&self.0, &Story::of(&self.0));
        assert!(verdict.is_err(), "{} found nothing in a bad record: {:#?}", checker.name, entries(&self.0));
    }
}

fn entries(record: &Record) -> Vec<&Entry> {
    record.entries.iter().collect()
}
