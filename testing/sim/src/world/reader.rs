//! An application that takes no events for a while. They wait, up to a bound; then its process ends
//! without taking leave, as the runtime's engine does (LocalSlowReader).
//!
//! What waits is what was told, in order, so whatever the application gets later, or not any more,
//! is the record's. Only its person waits with it: nobody votes on what was not shown.

use super::{Chair, Event, World};
use crate::machine::Told;
use crate::payload;
use crate::record::{Player, What};
use folkmoot_base::{Danger, Service};

/// What waits for an application.
pub(super) struct Deaf {
    until: u64,
    room: usize,
    waiting: usize,
    thoughts: Vec<Thought>,
}

/// What will be shown to the person.
#[derive(Debug, Clone, Copy)]
pub(super) enum Thought {
    Request(Player),
    Proposal(Player),
}

fn is_unreliable(told: &Told) -> bool {
    let Told::Message(bytes) = told else { return false };
    payload::read(bytes).is_some_and(|(_, service)| service == Service::Unreliable)
}

impl Chair {
    /// Keeps what is to be shown to the person until the application takes events again; `false`:
    /// it takes them.
    pub(super) fn keeps(&mut self, thought: Thought) -> bool {
        self.deaf.as_mut().map(|deaf| deaf.thoughts.push(thought)).is_some()
    }
}

impl World {
    /// The application in `player` takes no events for so long; there is room for so many.
    pub fn deafen(&mut self, player: Player, micros: u64, room: usize) {
        let until = self.now.saturating_add(micros);
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        if chair.machine.is_none() || chair.deaf.is_some() {
            return;
        }
        chair.deaf = Some(Deaf { until, room, waiting: 0, thoughts: Vec::new() });
        let process = chair.process();
        self.record.push(self.now, process, What::Deaf(room));
        self.schedule(until, Event::Reads { player, life: process.life });
    }

    /// All applications take events again.
    pub fn all_read(&mut self) {
        let places: Vec<Player> = self.chairs.iter().zip(0..).map(|(_, place)| place).collect();
        places.into_iter().for_each(|place| self.reads(place));
    }

    pub(super) fn reads(&mut self, player: Player) {
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        let Some(deaf) = chair.deaf.take() else { return };
        let process = chair.process();
        self.record.push(self.now, process, What::Reads);
        for thought in deaf.thoughts {
            match thought {
                Thought::Request(other) => self.asked(player, other),
                Thought::Proposal(other) => self.proposed(player, other),
            }
        }
    }

    /// Counts what waits for the application. `false` if the host drops it: it is an unreliable
    /// message, and half of the room is taken.
    pub(super) fn hold(&mut self, player: Player, told: &Told) -> bool {
        let event = matches!(
            told,
            Told::Message(_) | Told::View(_) | Told::Signal | Told::Asked(_) | Told::Proposed(_)
        );
        let keeps = self.danger(player) == Some(Danger::HostKeepsUnreliable);
        let deaf = self.chairs.get_mut(usize::from(player)).and_then(|chair| chair.deaf.as_mut());
        let Some(deaf) = deaf.filter(|_| event) else { return true };
        if !keeps && deaf.waiting >= deaf.room / 2 && is_unreliable(told) {
            return false;
        }
        deaf.waiting = deaf.waiting.saturating_add(1);
        true
    }

    /// Ends a process for whose application too much waits.
    pub(super) fn look_at_reader(&mut self, player: Player) {
        let danger = self.danger(player);
        let Some(chair) = self.chairs.get_mut(usize::from(player)) else { return };
        let Some(deaf) = chair.deaf.as_ref() else { return };
        let (waiting, until) = (deaf.waiting, deaf.until);
        if waiting >= deaf.room && danger == Some(Danger::HostWaitsForReader) {
            chair.stopped = chair.stopped.max(until);
        } else if waiting > deaf.room && danger != Some(Danger::HostKeepsAll) {
            let process = chair.process();
            self.record.push(self.now, process, What::SlowReader(waiting));
            self.crash(player, 0);
        }
    }
}
