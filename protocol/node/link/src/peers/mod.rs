//! The peers whose links are up: how a link comes up, what it carries, and how it ends.

mod allowance;
mod company;
mod filling;
mod guests;
mod hearing;
mod keys;
mod moving;
mod path;
mod peer;
mod probing;
mod pulse;
mod rtt;
mod sending;
mod telling;
mod watch;

use crate::association::Association;
use crate::call::Around;
use crate::handshake::Proved;
use crate::limits::LINKS_MAX;
use crate::message::Control;
use crate::out::Out;
use crate::routes::Route;
use crate::start::SignedStart;
use crate::{DownCause, LinkError, Output};
use bytes::Bytes;
use company::Company;
use folkmoot_base::{Danger, Instant, Locator, NodeId};
use peer::Peer;
use std::collections::{BTreeMap, VecDeque};

/// All peers, and the configuration that some of them are in with us.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    all: BTreeMap<NodeId, Peer>,
    company: Company,
    /// Those whose datagram is to be sealed when all outputs have been polled.
    dirty: VecDeque<NodeId>,
    /// There may be more guests than there is room for.
    guests_grew: bool,
    /// What members of the configuration said of our probes by multicast in the datagram that is
    /// being taken: which ring and number they heard.
    heard_all: Vec<(NodeId, ([u8; 4], u32))>,
}

/// What came of an identity that was proved.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// It has the link. If an earlier process had it, at another place: where, and its keys.
    Linked(Option<(Locator, Association)>),
    /// A later process has the link. These are the keys of the one that came.
    Earlier(Association),
}

/// What others ask of them.
impl Peers {
    pub(crate) fn locator(&self, node: &NodeId) -> Option<Locator> {
        self.all.get(node).map(|peer| peer.at().clone())
    }

    /// The nodes, and whether each is a member's.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NodeId, bool)> + '_ {
        self.all.iter().map(|(node, peer)| (*node, peer.is_member()))
    }

    pub(crate) fn nodes(&self) -> Vec<NodeId> {
        self.all.keys().copied().collect()
    }

    /// The start that a peer has proved.
    pub(crate) fn start(&self, node: &NodeId) -> Option<&SignedStart> {
        self.all.get(node).map(Peer::start)
    }

    /// Whether a dial would reach a peer, which then counts as dialled (LINK-20).
    pub(crate) fn reach(&mut self, at: &Locator, node: Option<NodeId>) -> bool {
        let peer = match node {
            Some(node) => self.all.get_mut(&node),
            None => self.all.values_mut().find(|peer| peer.at() == at),
        };
        peer.map(Peer::dial).is_some()
    }

    pub(crate) fn set_standing(
        &mut self,
        now: Instant,
        (node, member): (NodeId, bool),
        around: &mut Around<'_>,
    ) {
        let Some(peer) = self.all.get_mut(&node) else { return };
        if peer.set_member(member) {
            self.guests_grew |= !member;
            let word = if member { "a member" } else { "a guest" };
            around.out.trace(format!("{node} is {word} now"));
        }
        if member {
            peer.path.begin(now, around.own.is(Danger::LinkSizesWait));
            self.probe(now, node, around);
        }
    }
}

/// How a link comes up, and how it ends.
impl Peers {
    /// An identity that was proved gets its link, or new keys for the link that it has (LINK-06,
    /// LINK-07), unless a later process has that link (LINK-25).
    pub(crate) fn establish(
        &mut self,
        now: Instant,
        at: &Locator,
        proved: Proved,
        dialled: bool,
        around: &mut Around<'_>,
    ) -> Result<Arrival, LinkError> {
        let node = proved.claim.node;
        around.routes.remove(proved.association.index());
        let Some(peer) = self.all.get(&node) else {
            if self.all.len() >= LINKS_MAX {
                return Err(LinkError::PeerNoRoom(node));
            }
            self.bring_up(now, at, proved, dialled, around);
            return Ok(Arrival::Linked(None));
        };
        if peer.start().start.key == proved.start.start.key {
            self.renew(now, proved, dialled, around);
            return Ok(Arrival::Linked(None));
        }
        if around.own.is_earlier(&proved.start, peer.start()) {
            return self.refuse_earlier(now, node, proved.association, around);
        }
        let wanted = dialled || peer.is_dialled();
        let former = self.down(node, DownCause::Restarted, around).map(Peer::into_former);
        self.bring_up(now, at, proved, wanted, around);
        // Two processes cannot have one locator: there, the former one has ended.
        Ok(Arrival::Linked(former.filter(|(was, _)| was != at)))
    }

    fn bring_up(
        &mut self,
        now: Instant,
        at: &Locator,
        proved: Proved,
        wanted: bool,
        around: &mut Around<'_>,
    ) {
        let Proved { claim, certificate, start, association, trip } = proved;
        let (node, common, rostered_claim) = (claim.node, association.common(), claim.rostered);
        around.out.count_handshake();
        around.routes.set(association.index(), Route::Peer(node));
        let who = (certificate.clone(), start);
        let mut peer = Peer::new(now, at.clone(), who, (wanted, self.company.has(&node)), association);
        peer.path.suppose(trip);
        self.all.insert(node, peer);
        self.guests_grew |= !wanted;
        around.out.trace(format!("link to {node} at {at} is up"));
        around.out.say(Output::Up { node, at: at.clone(), certificate, rostered_claim, common });
    }

    fn renew(&mut self, now: Instant, proved: Proved, dialled: bool, around: &mut Around<'_>) {
        let Proved { claim, certificate, association, .. } = proved;
        around.out.count_handshake();
        around.routes.set(association.index(), Route::Peer(claim.node));
        let Some(peer) = self.all.get_mut(&claim.node) else { return };
        if dialled {
            peer.dial();
        }
        peer.renew(now, association, around);
        self.certify(claim.node, claim.rostered, certificate, around.out);
    }

    /// The peer shows a certificate for its key. The key is proved.
    fn certify(&mut self, node: NodeId, rostered_claim: bool, certificate: Bytes, out: &mut Out) {
        if self.all.get_mut(&node).is_some_and(|peer| peer.certify(&certificate)) {
            out.say(Output::Certificate { node, certificate, rostered_claim });
        }
    }

    /// An earlier process has proved itself while a later one is linked. It is told, unless the
    /// later one has not been heard for so long that it may be gone: then that one is asked first.
    fn refuse_earlier(
        &mut self,
        now: Instant,
        node: NodeId,
        earlier: Association,
        around: &mut Around<'_>,
    ) -> Result<Arrival, LinkError> {
        let silence = around.own.silence();
        if self.all.get(&node).is_some_and(|later| now.since(later.pulse.heard()) < silence) {
            return Ok(Arrival::Earlier(earlier));
        }
        self.ping(now, node, around);
        Err(LinkError::PeerEarlier(node))
    }

    pub(crate) fn hang_up(
        &mut self,
        now: Instant,
        node: NodeId,
        cause: DownCause,
        around: &mut Around<'_>,
    ) -> Result<(), LinkError> {
        if !self.all.contains_key(&node) {
            return Err(LinkError::LocalNoLink(node));
        }
        self.control(now, node, &Control::Bye, around);
        self.flush(node, around);
        self.down(node, cause, around);
        Ok(())
    }

    /// Returns what was known of the peer.
    fn down(&mut self, node: NodeId, cause: DownCause, around: &mut Around<'_>) -> Option<Peer> {
        let peer = self.all.remove(&node)?;
        peer.leave(around);
        around.out.say(Output::Down { node, cause });
        around.out.trace(format!("link to {node} at {} is down: {cause:?}", peer.at()));
        Some(peer)
    }
}
