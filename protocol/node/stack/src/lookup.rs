//! Look-ups: who is dialled, who is asked, and who is told where others are.

use crate::parts::{Others, Unanswered, place};
use crate::{Node, Phase, Place, Sync};
use base::{Entropy, HostName, Instant, Locator, NodeId};
use folkmoot_attach::{Resolved, ToMember};
use folkmoot_base as base;
use folkmoot_link::Input;

impl Node {
    /// Dials absent nodes of the roster, each at its own pace, and the seeds at which nobody
    /// answers; while nobody of the group is linked, the charter's contacts as well. Also tells
    /// peers that are not on our ring again where our transcript stands, and asks them for what we
    /// lack, in case a message was lost. The other side may lack nothing and be silent, and if not
    /// all nodes hear one another, two rings may stand for long.
    pub(crate) fn look_up(&mut self, now: Instant, entropy: &mut dyn Entropy) {
        self.follow(now);
        let others = Others { records: &self.records, peers: &self.peers };
        for (node, at) in self.reach.due(now, others) {
            self.link_input(now, Input::Dial { at, node: Some(node) }, entropy);
        }
        let others = Others { records: &self.records, peers: &self.peers };
        let Unanswered { asks, dials } = self.reach.unanswered(now, others);
        asks.into_iter().for_each(|name| self.out.resolve(name));
        for at in dials {
            self.link_input(now, Input::Dial { at, node: None }, entropy);
        }
        self.seek(now);
        self.reach.advance();
        let anew = self.reach.rouses();
        for node in self.elsewhere() {
            self.send_mark(now, node);
            self.fetch_again(now, node, anew);
        }
        self.ask_coming(now);
        self.reach.rest(now, entropy);
    }

    /// The records and the peers, for whoever only asks.
    fn others(&self) -> Others<'_> {
        Others { records: &self.records, peers: &self.peers }
    }

    fn known_peers(&self) -> Vec<NodeId> {
        self.others().known_peers().collect()
    }

    /// Peers whose transcripts the ring does not keep equal to ours: they are not eligible, or are
    /// on another ring, or no ring stands here. A peer whose link to us went down and came up again
    /// knows nothing of us any more, and we do not hear of that if we stood still meanwhile.
    fn elsewhere(&self) -> Vec<NodeId> {
        let ring = self.ring.status();
        let stands = ring.phase == Phase::Operational;
        let apart = |node: &NodeId| !stands || !self.peers.is_eligible(node) || !ring.members.contains(node);
        self.peers.iter().filter(|node| apart(node) && !self.may_rest(node)).collect()
    }

    /// Whether members and authority, which are never on one ring, need send nothing now: both
    /// transcripts are equal as far as is known, and this is not one of the look-ups in which they
    /// ask even then.
    fn may_rest(&self, node: &NodeId) -> bool {
        let even = self.syncing.mark(node) == Some(self.records.mark());
        self.records.is_apart(node) && even && !self.reach.rouses()
    }

    /// Asks all members' nodes for the locators of nodes to which we have no link.
    fn seek(&mut self, now: Instant) {
        let nodes = self.reach.sought(self.others());
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
            let text = format!("{from} asks for locators, but is a guest (NODE-06)");
            return self.out.refuse("node", &text);
        }
        let known = nodes.iter().filter_map(|node| self.reach.place_of(node, &from, &self.peers));
        let places = known.collect();
        self.send_places(now, from, places);
    }

    /// Hearsay of locators.
    pub(crate) fn locators_came(&mut self, now: Instant, from: NodeId, places: &[Place]) {
        let others = Others { records: &self.records, peers: &self.peers };
        self.reach.heard(now, from, places, others, &mut self.out);
    }

    /// A locator from a ticket or a command line: dial it now, and keep trying.
    pub(crate) fn dial(&mut self, now: Instant, at: Locator, entropy: &mut dyn Entropy) {
        if HostName::of(&at).is_some() {
            self.reach.add_seed(&at);
            if self.reach.ask(now, &at) {
                self.out.resolve(at);
            }
            return;
        }
        if !self.reach.reaches(&at) {
            return self.out.trace("link", format!("nobody can be dialled at {at} from here"));
        }
        self.reach.add_seed(&at);
        self.link_input(now, Input::Dial { at, node: None }, entropy);
    }

    /// The host has found out the addresses of a name, or that there are none.
    pub(crate) fn found(&mut self, now: Instant, name: &Locator, found: Resolved, entropy: &mut dyn Entropy) {
        if let Err(why) = &found {
            self.out.trace("link", format!("no address of {name}: {why}"));
        }
        for at in self.reach.resolved(now, name, found, &self.peers) {
            self.link_input(now, Input::Dial { at, node: None }, entropy);
        }
    }

    pub(crate) fn unreached(&mut self, at: &Locator, node: Option<NodeId>) {
        let who = node.map_or_else(|| "nobody".to_owned(), |node| node.to_string());
        self.out.trace("link", format!("no answer from {at} ({who})"));
    }

    /// A peer with standing answers at this locator: keep it, and tell the other members' nodes.
    pub(crate) fn reached(&mut self, now: Instant, node: NodeId, at: &Locator) {
        self.reach.keep(now, node, at.clone(), &mut self.out);
        for other in self.known_peers().into_iter().filter(|other| *other != node) {
            let news = place(node, at, self.peers.at(&other));
            self.send_places(now, other, news.into_iter().collect());
        }
        let known = self.reach.places_for(&node, &self.peers);
        self.send_places(now, node, known);
    }

    /// NODE-17: peers that are heard elsewhere than before. The others are told, for two that moved
    /// at once hear of each other in no other way.
    fn follow(&mut self, now: Instant) {
        let mut moved = self.peers.follow(|node| self.links.locator(node));
        moved.retain(|(node, _)| self.records.has_standing(node));
        for (node, at) in moved {
            self.reached(now, node, &at);
            let rostered = self.records.is_rostered(&node);
            self.out.tell(ToMember::LinkUp { node, rostered, at });
        }
    }
}
