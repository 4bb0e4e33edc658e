//! Small hand-written records for the tests of checkers.

use super::{Checker, Story};
use crate::record::{
    Entry, MessageId, Player, Process, Record, RingEvent, RingMessage, Shown, Standing, What,
};
use folkmoot_base::{ConfigurationId, GroupId, NodeId, Service, ViewId};
use std::collections::BTreeSet;

/// A record being written.
#[derive(Clone, Default)]
pub(crate) struct Tale(pub(crate) Record);

pub(crate) fn p(player: Player) -> Process {
    Process { player, life: 0 }
}

pub(crate) fn m(player: Player, number: u32) -> MessageId {
    MessageId { player, life: 0, number }
}

pub(crate) fn configuration(number: u64) -> ConfigurationId {
    ConfigurationId { ring_seq: number, representative: NodeId([0; 32]), nonce: [0; 16] }
}

pub(crate) fn view(number: u64) -> ViewId {
    ViewId { configuration: configuration(number), order: 1, group: GroupId([0; 32]) }
}

impl Tale {
    pub(crate) fn add(mut self, player: Player, what: What) -> Self {
        let at = self.0.entries.len() as u64;
        self.0.push(at, p(player), what);
        self
    }

    pub(crate) fn view(
        self,
        player: Player,
        number: u64,
        members: &[Player],
        transitional: &[Player],
    ) -> Self {
        self.keyed(player, number, members, transitional, &format!("k{number}"))
    }

    pub(crate) fn keyed(
        self,
        player: Player,
        number: u64,
        members: &[Player],
        with: &[Player],
        key: &str,
    ) -> Self {
        let shown = Shown {
            id: view(number),
            members: members.iter().copied().collect(),
            transitional: with.iter().copied().collect(),
            key: key.to_owned(),
        };
        self.add(player, What::View(shown))
    }

    /// All of `members` install the view, coming from nowhere.
    pub(crate) fn first(self, number: u64, members: &[Player]) -> Self {
        members.iter().fold(self, |tale, player| tale.view(*player, number, members, &[*player]))
    }

    /// All of `members` move on to the view together.
    pub(crate) fn next(self, number: u64, members: &[Player]) -> Self {
        members.iter().fold(self, |tale, player| tale.view(*player, number, members, members))
    }

    pub(crate) fn send(self, player: Player, number: u32, service: Service, in_view: u64) -> Self {
        self.add(player, What::Asked(m(player, number), service))
            .add(player, What::Sent(m(player, number), service, Some(view(in_view))))
    }

    pub(crate) fn get(self, player: Player, message: MessageId, service: Service) -> Self {
        self.add(player, What::Delivered(message, service))
    }

    pub(crate) fn signal(self, player: Player) -> Self {
        self.add(player, What::Signal)
    }

    pub(crate) fn crash(self, player: Player) -> Self {
        self.add(player, What::Crash(0))
    }

    pub(crate) fn left(self, player: Player) -> Self {
        self.add(player, What::Left("left".into()))
    }

    pub(crate) fn ring(self, player: Player, number: u64, nodes: &[Player]) -> Self {
        let nodes = nodes.iter().copied().collect();
        self.add(player, What::Ring(RingEvent::Regular(configuration(number), nodes)))
    }

    pub(crate) fn ring_signal(self, player: Player, from: u64, nodes: &[Player]) -> Self {
        let nodes: BTreeSet<Player> = nodes.iter().copied().collect();
        self.add(player, What::Ring(RingEvent::Transitional { from: configuration(from), nodes }))
    }

    pub(crate) fn ring_send(self, player: Player, name: u8) -> Self {
        self.add(player, What::Ring(RingEvent::Sent(RingMessage { sender: player, digest: [name; 16] }, 1)))
    }

    /// `player` delivers message `name` of `sender`, numbered `number` in configuration `in_ring`.
    pub(crate) fn ring_get(
        self,
        player: Player,
        (sender, name): (Player, u8),
        (in_ring, number): (u64, u64),
        service: Service,
    ) -> Self {
        let message = RingMessage { sender, digest: [name; 16] };
        let configuration = configuration(in_ring);
        self.add(player, What::Ring(RingEvent::Delivered { message, configuration, number, service }))
    }

    pub(crate) fn settled(mut self) -> Self {
        self.0.settled = true;
        self.0.counts.micros = 1_000_000_000;
        self
    }

    /// The faults stopped then; it rests at 1,000 s.
    pub(crate) fn healed(mut self, micros: u64) -> Self {
        self.0.healed = micros;
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
