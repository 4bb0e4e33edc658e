//! Where nodes were last reached, or are said to be.

use super::{BACK_OFF_MAX, MOVES_DOUBLED, Reach, Wanted};
use crate::Place;
use crate::message::LOCATORS_MAX;
use crate::parts::{Others, Outbox, Peers};
use base::{Blob, Instant, Locator, NodeId, Persist};
use folkmoot_base as base;

impl Reach {
    /// A locator from a ticket or a command line: it is tried again and again.
    pub(crate) fn add_seed(&mut self, at: &Locator) {
        if !self.seeds.contains(at) && self.seeds.len() < LOCATORS_MAX {
            self.seeds.push(at.clone());
        }
    }

    /// What a peer is told of a node, whether or not a link to it is up.
    pub(crate) fn place_of(&self, node: &NodeId, peer: &NodeId, peers: &Peers) -> Option<Place> {
        let kept = || self.places.get(node).filter(|wanted| !wanted.guessed);
        let at = peers.at(node).or_else(|| kept().map(|wanted| &wanted.at))?;
        place(*node, at, peers.at(peer))
    }

    /// What this node is told of all others.
    pub(crate) fn places_for(&self, node: &NodeId, peers: &Peers) -> Vec<Place> {
        let others = self.places.iter().filter(|(other, wanted)| *other != node && !wanted.guessed);
        let told = others.filter_map(|(other, wanted)| place(*other, &wanted.at, peers.at(node)));
        told.take(LOCATORS_MAX).collect()
    }

    /// A peer answers at this locator, or a member says so: it is kept.
    pub(crate) fn keep(&mut self, now: Instant, node: NodeId, at: Locator, out: &mut Outbox) {
        if !at.leads_somewhere() {
            return;
        }
        let known = self.places.get(&node).is_some_and(|wanted| wanted.at == at && !wanted.guessed);
        if !known {
            out.persist(Persist::put("locator", node.0.to_vec(), at.to_string().into_bytes()));
        }
        self.places.insert(node, Wanted::new(at, now, false));
    }

    /// Hearsay of locators. It is believed for dialling only, and never over what we found
    /// ourselves while that answers. What a guest says counts only if nobody else has told us
    /// (NODE-04): the one contact of two newcomers may be lost before it told them of each other,
    /// and a stranger may be the only one left that knows both.
    pub(crate) fn heard(
        &mut self,
        now: Instant,
        from: NodeId,
        places: &[Place],
        others: Others<'_>,
        out: &mut Outbox,
    ) {
        let guest = !others.records.has_standing(&from);
        let read = |place: &Place| Some((place.node, locator(&place.at.0)?));
        let all: Vec<(NodeId, Locator)> = places.iter().filter_map(read).collect();
        let told = all.len();
        let all = in_zone_of(others.peers.at(&from), all);
        if told < places.len() {
            let why = format!("{from} sent something that is no locator, or leads nowhere (NODE-05)");
            out.refuse("node", &why);
        }
        for (node, at) in all {
            if self.displaces(&node, &at) || !others.is_absent(&node) {
                continue;
            }
            match guest {
                false if self.is_news(now, &node, &at) => self.move_to(now, node, at, out),
                true if self.is_lacking(&node) => self.guess(now, node, at),
                _ => continue,
            }
            self.next = now;
        }
    }

    /// NODE-40: another member says that an absent node is there. Whoever tells of two locators in
    /// turn makes this node write and dial ever more seldom, until the node itself answers.
    fn move_to(&mut self, now: Instant, node: NodeId, at: Locator, out: &mut Outbox) {
        let moved = self.places.get(&node).map_or(0, |wanted| wanted.moved.saturating_add(1));
        let first = self.first;
        self.keep(now, node, at, out);
        if let Some(wanted) = self.places.get_mut(&node) {
            let times = moved.checked_sub(1).map_or(0, |moves| 1 << moves.min(MOVES_DOUBLED));
            (wanted.moved, wanted.moves_from) = (moved, now + first.saturating_mul(times));
        }
    }

    fn guess(&mut self, now: Instant, node: NodeId, at: Locator) {
        self.places.insert(node, Wanted::new(at, now, true));
    }

    /// Whether hearsay of an absent node's locator is worth a dial: we do not already look for it
    /// at a promising locator, and it was not told of many others lately.
    fn is_news(&self, now: Instant, node: &NodeId, at: &Locator) -> bool {
        let in_vain =
            |wanted: &Wanted| wanted.back_off > 1 || (self.reaches(at) && !self.reaches(&wanted.at));
        let moves = |wanted: &Wanted| wanted.at != *at && wanted.moves_from <= now && in_vain(wanted);
        let hopeless = |wanted: &Wanted| wanted.guessed || moves(wanted);
        self.places.get(node).is_none_or(hopeless)
    }

    /// Whether only guests have told us of this node's locators, and none of those led anywhere.
    fn is_lacking(&self, node: &NodeId) -> bool {
        let led_nowhere = |wanted: &Wanted| wanted.guessed && wanted.back_off >= BACK_OFF_MAX;
        self.places.get(node).is_none_or(led_nowhere)
    }

    /// `NODE-21`: whether a locator that this node cannot dial would take the place of one that it
    /// can.
    fn displaces(&self, node: &NodeId, at: &Locator) -> bool {
        let dialled = self.places.get(node).is_some_and(|wanted| self.reaches(&wanted.at));
        dialled && !self.reaches(at)
    }
}

/// `NODE-20`: what is told of a node to whoever is heard at `peer`; nothing if the locator leads
/// nowhere. `NODE-42`: an address that is good on one link is told on that link only, and without
/// the zone, which is this machine's name for the link.
pub(crate) fn place(node: NodeId, at: &Locator, peer: Option<&Locator>) -> Option<Place> {
    let here = at.zone().is_none() || at.zone() == peer.and_then(Locator::zone);
    let text = at.in_zone(0).to_string();
    (at.leads_somewhere() && here).then(|| Place { node, at: Blob(text.into_bytes().into()) })
}

/// `NODE-42`: what a peer says of addresses that are good on one link is true of the link on which
/// it is heard itself, and of no other.
fn in_zone_of(peer: Option<&Locator>, told: Vec<(NodeId, Locator)>) -> Vec<(NodeId, Locator)> {
    let zone = peer.and_then(Locator::zone);
    let known = told.into_iter().filter(|(_, at)| at.zone().is_none() || zone.is_some());
    known.map(|(node, at)| (node, at.in_zone(zone.unwrap_or_default()))).collect()
}

/// A locator that leads somewhere, as a peer or the disk has it.
pub(super) fn locator(text: &[u8]) -> Option<Locator> {
    core::str::from_utf8(text).ok()?.parse().ok().filter(Locator::leads_somewhere)
}
