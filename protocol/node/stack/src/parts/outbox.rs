//! What a node says to its host, in the order in which its parts said it.

use crate::RingEvent;
use attach::{GroundOutput, ToMember, Trace};
use base::{GroupId, Locator, Party, Persist};
use bytes::Bytes;
use folkmoot_attach as attach;
use folkmoot_base as base;
use std::collections::{BTreeMap, VecDeque};

/// The outputs of all parts.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    said: VecDeque<GroundOutput>,
    /// The ring's charter, if others are carried beside it: then not everything is for all parties.
    ring: Option<GroupId>,
    /// By which charter each party here is a member.
    parties: BTreeMap<Party, GroupId>,
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

    /// To the network, by itself.
    pub(crate) fn probe(&mut self, to: Locator, datagram: Bytes) {
        self.said.push_back(GroundOutput::Probe(to, datagram));
    }

    /// To whoever can reach these all at once.
    pub(crate) fn together(&mut self, places: Vec<Locator>) {
        self.said.push_back(GroundOutput::Together(places));
    }

    /// To whoever can find out the addresses of this host name.
    pub(crate) fn resolve(&mut self, name: Locator) {
        self.said.push_back(GroundOutput::Resolve(name));
    }

    /// Beside the ring's charter others are carried.
    pub(crate) fn carries(&mut self, ring: GroupId) {
        self.ring = Some(ring);
    }

    /// A party lives here from now on.
    pub(crate) fn attached(&mut self, party: Party, charter: GroupId) {
        self.parties.insert(party, charter);
    }

    /// A party lives here no more. By which charter it was a member.
    pub(crate) fn detached(&mut self, party: &Party) -> Option<GroupId> {
        self.parties.remove(party)
    }

    /// The parties here that are members by this charter, or ask to be.
    pub(crate) fn parties_of(&self, charter: &GroupId) -> impl Iterator<Item = Party> {
        self.parties.iter().filter(move |(_, of)| *of == charter).map(|(party, _)| *party)
    }

    /// By which charter a party here is a member.
    pub(crate) fn charter_of(&self, party: &Party) -> Option<GroupId> {
        self.parties.get(party).copied()
    }

    /// To all members here whom it concerns: what is about nodes, to members by the ring's charter
    /// (NODE-31); what is about the order, to all. What strangers say, attach takes to the host.
    pub(crate) fn tell(&mut self, word: ToMember) {
        let for_all = matches!(
            word,
            ToMember::Configuration { .. }
                | ToMember::Lacking(_)
                | ToMember::Guest { .. }
                | ToMember::LinkUp { rostered: false, .. }
        );
        match self.ring.filter(|_| !for_all) {
            Some(ring) => self.tell_of(&ring, word),
            None => self.said.push_back(GroundOutput::Member(word)),
        }
    }

    /// NODE-31: to the members here by this charter.
    pub(crate) fn tell_of(&mut self, charter: &GroupId, word: ToMember) {
        if self.ring.is_none() {
            return self.said.push_back(GroundOutput::Member(word));
        }
        let parties = self.parties.iter().filter(|(_, of)| *of == charter);
        self.said.extend(parties.map(|(party, _)| GroundOutput::To(*party, word.clone())));
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
