//! What a node says to its host, in the order in which its parts said it.

use crate::RingEvent;
use attach::{GroundOutput, ToMember, Trace};
use base::{Locator, Party, Persist};
use bytes::Bytes;
use folkmoot_attach as attach;
use folkmoot_base as base;
use std::collections::VecDeque;

/// The outputs of all parts.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    said: VecDeque<GroundOutput>,
    /// How many inputs were refused.
    refused: u64,
    observe: bool,
    events: Vec<RingEvent>,
}

impl Outbox {
    /// From now on it keeps events for checkers.
    pub(crate) fn observe(&mut self) {
        self.observe = true;
    }

    /// The next output.
    pub(crate) fn poll(&mut self) -> Option<GroundOutput> {
        self.said.pop_front()
    }

    /// To the network.
    pub(crate) fn transmit(&mut self, to: Locator, datagram: Bytes) {
        self.said.push_back(GroundOutput::Transmit(to, datagram));
    }

    /// To whoever can reach these all at once.
    pub(crate) fn together(&mut self, places: Vec<Locator>) {
        self.said.push_back(GroundOutput::Together(places));
    }

    /// To all members here.
    pub(crate) fn tell(&mut self, word: ToMember) {
        self.said.push_back(GroundOutput::Member(word));
    }

    /// To one of them.
    pub(crate) fn tell_one(&mut self, to: Party, word: ToMember) {
        self.said.push_back(GroundOutput::To(to, word));
    }

    /// Kept before anything later takes effect.
    pub(crate) fn persist(&mut self, persist: Persist) {
        self.said.push_back(GroundOutput::Persist(persist));
    }

    pub(crate) fn trace(&mut self, layer: &'static str, text: String) {
        self.said.push_back(GroundOutput::Trace(Trace { layer, text }));
    }

    /// An input was refused. It is logged once for each power of two, so that a flood of garbage
    /// does not become a flood of lines.
    pub(crate) fn refuse(&mut self, layer: &'static str, error: &dyn core::fmt::Display) {
        self.refused = self.refused.saturating_add(1);
        if self.refused.is_power_of_two() {
            let text = format!("refused ({} so far): {error}", self.refused);
            self.trace(layer, text);
        }
    }

    /// Notes what happened on the ring, if anybody looks.
    pub(crate) fn note(&mut self, event: impl FnOnce() -> RingEvent) {
        if self.observe {
            self.events.push(event());
        }
    }

    /// What was noted since the last call.
    pub(crate) fn take_noted(&mut self) -> Vec<RingEvent> {
        core::mem::take(&mut self.events)
    }

    /// The next refusal is logged, whatever was refused before.
    #[cfg(test)]
    pub(crate) fn count_anew(&mut self) {
        self.refused = 0;
    }
}
