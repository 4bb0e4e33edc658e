//! The peers whose links are up: how a link comes up, and what it carries.

mod association;
mod company;
mod guests;
mod peer;
mod traffic;

pub(crate) use association::{Association, check_version};
pub(crate) use company::Company;
pub(crate) use peer::Peer;

use crate::handshake::Proved;
use crate::limits::LINKS_MAX;
use crate::links::Route;
use crate::message::Control;
use crate::{Credentials, DownCause, LinkError, Links, Output};
use bytes::Bytes;
use folkmoot_base::{Instant, Locator, NodeId};

impl<C: Credentials> Links<C> {
    /// An identity that was proved gets its link, or new keys for the link that it has (LINK-06,
    /// LINK-07).
    pub(crate) fn establish(
        &mut self,
        now: Instant,
        at: &Locator,
        proved: Proved,
        dialled: bool,
    ) -> Result<(), LinkError> {
        let Proved { claim, certificate, start, association } = proved;
        let (node, index, common) = (claim.node, association.index, association.common);
        self.routes.remove(&index);
        let dialled_before = self.peers.get(&node).is_some_and(|peer| peer.dialled);
        let mut former = None;
        let same = match self.peers.get(&node) {
            None if self.peers.len() >= LINKS_MAX => return Err(LinkError::PeerNoRoom(node)),
            None => false,
            Some(peer) if peer.start.start.key == start.start.key => true,
            Some(peer) if self.is_earlier(&start.start, &peer.start.start) => {
                return Err(self.refuse_earlier(now, node, at, association));
            }
            Some(_) => {
                former = self.take_down(node, DownCause::Restarted);
                false
            }
        };
        self.counters.handshakes = self.counters.handshakes.saturating_add(1);
        self.routes.insert(index, Route::Peer(node));
        if let Some(peer) = self.peers.get_mut(&node).filter(|_| same) {
            peer.heard = now;
            peer.dialled |= dialled;
            if let Some(old) = peer.renew(association) {
                self.routes.remove(&old);
            }
            self.new_certificate(node, claim.rostered, certificate);
        } else {
            let wanted = dialled || dialled_before;
            let mut peer = Peer::new(now, at.clone(), certificate.clone(), start, wanted, association);
            peer.rests = self.company.has(&node);
            self.peers.insert(node, peer);
            self.guests_grew |= !wanted;
            self.trace(format!("link to {node} at {at} is up"));
            self.out.push_back(Output::Up {
                node,
                at: at.clone(),
                certificate,
                rostered_claim: claim.rostered,
                common,
            });
        }
        // Two processes cannot have one locator: there, the former one has ended.
        if let Some(former) = former.filter(|former| former.at != *at) {
            self.supersede(now, node, &former.at, former.current);
        }
        if !dialled {
            self.control_out(now, node, &Control::Ping(now.0));
        }
        let silence = self.config.silence;
        self.note(now + silence / 8);
        Ok(())
    }

    /// The peer has another certificate for its key. The key is proved.
    pub(crate) fn new_certificate(&mut self, node: NodeId, rostered_claim: bool, certificate: Bytes) {
        let Some(peer) = self.peers.get_mut(&node) else { return };
        if peer.certificate != certificate {
            peer.certificate = certificate.clone();
            self.out.push_back(Output::Certificate { node, certificate, rostered_claim });
        }
    }
}
