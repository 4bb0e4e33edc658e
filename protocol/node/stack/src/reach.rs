//! Locators of other nodes: kept, exchanged among members, and dialled while their nodes are absent
//! (DECISIONS D2, D3).

use crate::message::{LOCATORS_MAX, Sync};
use crate::{Config, Node, Place};
use base::{Blob, Entropy, Instant, Locator, NodeId, Persist, StoreKey, draw};
use bytes::Bytes;
use core::time::Duration;
use folkmoot_attach::ToMember;
use folkmoot_base as base;
use folkmoot_identity::Contact;
use folkmoot_link::Input;
use std::collections::BTreeMap;

/// Most dials in one round.
const DIALS_MAX: usize = 16;
/// The longest back-off, as a multiple of the first.
const BACK_OFF_MAX: u32 = 8;

/// How many look-ups pass before the others are asked again for the locators of absent nodes.
const SEEK_ROUNDS: u32 = 4;
/// After an admission, this fraction of a look-up's time passes before that question. It is long
/// enough for most nodes to have heard by themselves, and short enough that a node which can answer
/// is still there.
const SEEK_SOON: u32 = 4;

/// In so many look-ups, members and authority whose transcripts are equal say once where they
/// stand, and what was not taken from a peer is asked for once more.
const REST_ROUNDS: u32 = 8;

/// What is known about the locators of nodes.
#[derive(Debug)]
pub(crate) struct Reach {
    seeds: Vec<Locator>,
    places: BTreeMap<NodeId, Wanted>,
    next: Instant,
    first: Duration,
    round: u32,
}

#[derive(Debug)]
struct Wanted {
    at: Locator,
    back_off: u32,
    not_before: Instant,
    /// Only a guest said so: anything that another node says replaces it.
    guessed: bool,
}

impl Reach {
    pub(crate) fn new(config: &Config, stored: &[(StoreKey, Bytes)], now: Instant) -> Self {
        let places = stored.iter().filter(|(key, _)| key.table == "locator").filter_map(|(key, value)| {
            let node = NodeId((*key.key).try_into().ok()?);
            Some((node, Wanted { at: locator(value)?, back_off: 1, not_before: now, guessed: false }))
        });
        Self {
            seeds: config.seeds.clone(),
            places: places.collect(),
            next: now,
            first: config.lookup,
            round: 0,
        }
    }

    /// The node that was last reached at this locator.
    pub(crate) fn who(&self, at: &Locator) -> Option<NodeId> {
        self.places.iter().find(|(_, wanted)| wanted.at == *at).map(|(node, _)| *node)
    }

    /// Whether some node is looked for at this locator.
    pub(crate) fn looks_at(&self, at: &Locator) -> bool {
        self.seeds.contains(at) || self.who(at).is_some()
    }

    /// When to look up again.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// The roster has a new node. Others may have told us of it earlier, when it was a stranger and
    /// we ignored hearsay of it: ask again soon.
    pub(crate) fn seek_soon(&mut self, now: Instant) {
        self.round = 0;
        self.next = self.next.min(now + self.first / SEEK_SOON);
    }

    /// A link went down: look for the node soon.
    pub(crate) fn lost(&mut self, now: Instant, node: NodeId) {
        if let Some(wanted) = self.places.get_mut(&node) {
            wanted.back_off = 1;
            wanted.not_before = now + self.first;
        }
        self.next = self.next.min(now + self.first);
    }
}

impl Node {
    /// Dials absent nodes of the roster, each at its own pace, and the seeds at which nobody
    /// answers; while nobody of the group is linked, the charter's contacts as well. Also tells
    /// peers that are not on our ring again where our transcript stands, and asks them for what we
    /// lack, in case a message was lost. The other side may lack nothing and be silent, and if not
    /// all nodes hear one another, two rings may stand for long.
    pub(crate) fn look_up(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.follow(now);
        let mut due = self.due(now);
        due.retain(|(_, at)| self.reaches(at));
        for (node, at) in due.into_iter().take(DIALS_MAX) {
            self.link_input(now, Input::Dial { at, node: Some(node) }, entropy);
        }
        if self.reach.round.is_multiple_of(2) {
            self.dial_seeds(now, entropy);
        }
        if self.reach.round.is_multiple_of(SEEK_ROUNDS) {
            self.seek(now);
        }
        self.reach.round = self.reach.round.wrapping_add(1);
        let anew = self.reach.round.is_multiple_of(REST_ROUNDS);
        for node in self.elsewhere() {
            self.send_mark(now, node);
            self.fetch_again(now, node, anew);
        }
        let jitter = u32::from(u16::from_be_bytes(draw(entropy)));
        let jitter = self.reach.first.saturating_mul(jitter) / (4 * 65_536);
        self.reach.next = now + self.reach.first + jitter;
    }

    /// Peers whose transcripts the ring does not keep equal to ours: they are not eligible, or are
    /// on another ring.
    fn elsewhere(&self) -> Vec<NodeId> {
        let here = self.ring.status().members;
        let apart = |node: &NodeId| !self.peers.is_eligible(node) || !here.contains(node);
        self.peers.iter().filter(|node| apart(node) && !self.may_rest(node)).collect()
    }

    /// Whether members and authority, which are never on one ring, need send nothing now: both
    /// transcripts are equal as far as is known, and this is not one of the look-ups in which they
    /// ask even then.
    fn may_rest(&self, node: &NodeId) -> bool {
        let even = self.syncing.mark(node) == Some(self.records.mark());
        self.records.is_apart(node) && even && !self.reach.round.is_multiple_of(REST_ROUNDS)
    }

    fn due(&mut self, now: Instant) -> Vec<(NodeId, Locator)> {
        let known: Vec<NodeId> = self.reach.places.keys().copied().collect();
        let absent: Vec<NodeId> = known.into_iter().filter(|node| self.is_absent(node)).collect();
        let mut due = Vec::new();
        for node in &absent {
            let Some(wanted) = self.reach.places.get_mut(node) else { continue };
            if wanted.not_before <= now {
                due.push((*node, wanted.at.clone()));
                wanted.not_before = now + self.reach.first.saturating_mul(wanted.back_off);
                wanted.back_off = wanted.back_off.saturating_mul(2).min(BACK_OFF_MAX);
            }
        }
        due
    }

    fn dial_seeds(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        let unanswered: Vec<Locator> = self
            .reach
            .seeds
            .iter()
            .cloned()
            .chain(self.contacts())
            .filter(|at| self.reaches(at) && *at != self.config.locator)
            .filter(|at| !self.peers.has_at(at))
            .collect();
        for at in unanswered {
            self.link_input(now, Input::Dial { at, node: None }, entropy);
        }
    }

    /// `NODE-16`: where the charter says that somebody may be found, while this node has no link to
    /// anybody of the group. The seeds come a round before.
    fn contacts(&self) -> Vec<Locator> {
        let early = self.reach.round == 0 && !self.reach.seeds.is_empty();
        if early || !self.known_peers().is_empty() {
            return Vec::new();
        }
        let contacts = self.records.transcript().roster().charter().contacts();
        contacts.iter().filter_map(Contact::locator).collect()
    }

    /// Asks all members' nodes for the locators of nodes on the roster to which we have no link.
    /// Hearsay may have been lost, or have come before the roster had the node.
    fn seek(&mut self, now: Instant) {
        let absent = |node: &NodeId| *node != self.me && !self.peers.is_linked(node);
        let absent = self.records.nodes().filter(absent).collect();
        let nodes = in_turn(absent, self.reach.round / SEEK_ROUNDS);
        if nodes.is_empty() {
            return;
        }
        for peer in self.known_peers() {
            self.send_sync(now, peer, &Sync::Seek(nodes.clone()));
        }
    }

    /// Answers with the locators that we know, whether or not we have a link (NODE-06: only to
    /// peers on the roster, and to the authority's).
    pub(crate) fn seek_came(&mut self, now: Instant, from: NodeId, nodes: &[NodeId]) {
        if !self.records.has_standing(&from) {
            return self.out.refuse("node", &format!("{from} asks for locators, but is a guest (NODE-06)"));
        }
        let places = nodes.iter().filter_map(|node| self.place_of(node)).collect();
        self.send_places(now, from, places);
    }

    pub(crate) fn place_of(&self, node: &NodeId) -> Option<Place> {
        let kept = || self.reach.places.get(node).filter(|wanted| !wanted.guessed);
        let linked = self.peers.at(node);
        linked.or_else(|| kept().map(|wanted| &wanted.at)).and_then(|at| place(*node, at))
    }

    fn known_peers(&self) -> Vec<NodeId> {
        self.peers.iter().filter(|peer| self.records.has_standing(peer)).collect()
    }

    /// A locator from a ticket or a command line: dial it now, and keep trying.
    pub(crate) fn dial(&mut self, now: Instant, at: Locator, entropy: &mut dyn Entropy) {
        if !self.reaches(&at) {
            return self.out.trace("link", format!("nobody can be dialled at {at} from here"));
        }
        if !self.reach.seeds.contains(&at) && self.reach.seeds.len() < LOCATORS_MAX {
            self.reach.seeds.push(at.clone());
        }
        self.link_input(now, Input::Dial { at, node: None }, entropy);
    }

    pub(crate) fn unreached(&mut self, at: Locator, node: Option<NodeId>) {
        let who = node.map_or_else(|| "nobody".to_owned(), |node| node.to_string());
        self.out.trace("link", format!("no answer from {at} ({who})"));
    }

    /// A peer answers at this locator: keep it, and tell the other members' nodes.
    pub(crate) fn reached(&mut self, now: Instant, node: NodeId, at: &Locator, known: bool) {
        if !known {
            return;
        }
        self.keep_place(now, node, at.clone());
        let news: Vec<Place> = place(node, at).into_iter().collect();
        for other in self.known_peers().into_iter().filter(|other| *other != node) {
            self.send_places(now, other, news.clone());
        }
        let others = self.reach.places.iter().filter(|(other, wanted)| **other != node && !wanted.guessed);
        let known =
            others.filter_map(|(other, wanted)| place(*other, &wanted.at)).take(LOCATORS_MAX).collect();
        self.send_places(now, node, known);
    }

    /// NODE-17: peers that are heard elsewhere than before. The others are told, for two that moved
    /// at once hear of each other in no other way.
    fn follow(&mut self, now: Instant) {
        let mut moved = self.peers.follow(|node| self.links.locator(node));
        moved.retain(|(node, _)| self.records.has_standing(node));
        for (node, at) in moved {
            self.reached(now, node, &at, true);
            let rostered = self.records.is_rostered(&node);
            self.out.tell(ToMember::LinkUp { node, rostered, at });
        }
    }

    fn keep_place(&mut self, now: Instant, node: NodeId, at: Locator) {
        if !at.leads_somewhere() {
            return;
        }
        let known = self.reach.places.get(&node).is_some_and(|wanted| wanted.at == at && !wanted.guessed);
        if !known {
            self.out.persist(Persist::put("locator", node.0.to_vec(), at.to_string().into_bytes()));
        }
        self.reach.places.insert(node, Wanted { at, back_off: 1, not_before: now, guessed: false });
    }

    /// Hearsay of locators. It is believed for dialling only, and never over what we found
    /// ourselves while that answers. What a guest says counts only if nobody else has told us
    /// (NODE-04): the one contact of two newcomers may be lost before it told them of each other,
    /// and a stranger may be the only one left that knows both.
    pub(crate) fn locators_came(&mut self, now: Instant, from: NodeId, places: &[Place]) {
        let guest = !self.records.has_standing(&from);
        for place in places {
            let Some(at) = locator(&place.at.0) else {
                let why = format!("{from} sent something that is no locator, or leads nowhere (NODE-05)");
                return self.out.refuse("node", &why);
            };
            if self.displaces(&place.node, &at) {
                continue;
            }
            match guest {
                false if self.is_news(&place.node, &at) => self.keep_place(now, place.node, at),
                true if self.is_lacking(&place.node) => self.guess_place(now, place.node, at),
                _ => continue,
            }
            self.reach.next = now;
        }
    }

    fn guess_place(&mut self, now: Instant, node: NodeId, at: Locator) {
        self.reach.places.insert(node, Wanted { at, back_off: 1, not_before: now, guessed: true });
    }
}

impl Node {
    /// Whether hearsay of a node's locator is worth a dial: the roster or the charter has the node,
    /// it is absent, and we do not already look for it at a promising locator.
    fn is_news(&self, node: &NodeId, at: &Locator) -> bool {
        let hopeless = |wanted: &Wanted| wanted.guessed || (wanted.at != *at && wanted.back_off > 1);
        self.is_absent(node) && self.reach.places.get(node).is_none_or(hopeless)
    }

    /// Whether only guests have told us of this node's locators, and none of those led anywhere.
    fn is_lacking(&self, node: &NodeId) -> bool {
        let led_nowhere = |wanted: &Wanted| wanted.guessed && wanted.back_off >= BACK_OFF_MAX;
        self.is_absent(node) && self.reach.places.get(node).is_none_or(led_nowhere)
    }

    /// `NODE-21`: whether a locator that this node cannot dial would take the place of one that it
    /// can.
    fn displaces(&self, node: &NodeId, at: &Locator) -> bool {
        let dialled = self.reach.places.get(node).is_some_and(|wanted| self.reaches(&wanted.at));
        dialled && !self.reaches(at)
    }

    /// `NODE-20`, `NODE-21`: whether this node has the transport of a locator that leads somewhere.
    /// It has one transport, that of its own locator.
    fn reaches(&self, at: &Locator) -> bool {
        at.leads_somewhere() && at.scheme() == self.config.locator.scheme()
    }

    fn is_absent(&self, node: &NodeId) -> bool {
        *node != self.me && !self.peers.is_linked(node) && self.records.has_standing(node)
    }
}

/// As many of these as one message holds, and others each time. Not every member has a node of its
/// own, and those that have none must not hide those that have one.
fn in_turn(mut absent: Vec<NodeId>, turn: u32) -> Vec<NodeId> {
    let pages = absent.len().div_ceil(LOCATORS_MAX).max(1);
    let first = (usize::try_from(turn).unwrap_or_default() % pages).saturating_mul(LOCATORS_MAX);
    absent.drain(..first.min(absent.len()));
    absent.truncate(LOCATORS_MAX);
    absent
}

/// `NODE-20`: what is told of a node; nothing if the locator leads nowhere.
fn place(node: NodeId, at: &Locator) -> Option<Place> {
    at.leads_somewhere().then(|| Place { node, at: Blob(at.to_string().into_bytes().into()) })
}

/// A locator that leads somewhere, as a peer or the disk has it.
fn locator(text: &[u8]) -> Option<Locator> {
    core::str::from_utf8(text).ok()?.parse().ok().filter(Locator::leads_somewhere)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]
    use super::{LOCATORS_MAX, NodeId, in_turn};

    #[test]
    fn everybody_is_sought_in_turn() {
        let all: Vec<NodeId> = (0..150).map(|number| NodeId([number; 32])).collect();
        let pages: Vec<Vec<NodeId>> = (0..3).map(|turn| in_turn(all.clone(), turn)).collect();
        assert!(pages.iter().all(|page| page.len() <= LOCATORS_MAX));
        assert_eq!(pages.concat(), all);
        assert_eq!(in_turn(all.clone(), 3), pages[0]);
        assert_eq!(in_turn(Vec::new(), 7), Vec::new());
        assert_eq!(in_turn(all[..64].to_vec(), 1).len(), 64);
    }
}
