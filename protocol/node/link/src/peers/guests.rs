//! LINK-09: which guest is dropped to make room.

use super::Peers;
use crate::DownCause;
use crate::call::{Around, Me};
use crate::limits::GUEST_STAY;
use folkmoot_base::limits::GUESTS_MAX;
use folkmoot_base::{Danger, Host, Instant, NodeId};

impl Peers {
    /// LINK-09: at most [`GUESTS_MAX`] guests that came by themselves. If there are more, a guest
    /// of the host that has the most is dropped: the one that has stayed longest, if it has stayed
    /// for [`GUEST_STAY`]; otherwise the newest. This is checked before the next datagram, so that
    /// the stack can first say which of them is a member.
    pub(crate) fn make_room(&mut self, now: Instant, around: &mut Around<'_>) {
        if !core::mem::take(&mut self.guests_grew) {
            return;
        }
        loop {
            let guests = self.all.iter().filter(|(_, peer)| peer.is_inbound_guest());
            let guests: Vec<(Host, Instant, NodeId)> =
                guests.map(|(node, peer)| (peer.host(), peer.up(), *node)).collect();
            if guests.len() <= GUESTS_MAX {
                return;
            }
            let Some(node) = leaver(now, &guests, around.own) else { return };
            let _ = self.hang_up(now, node, DownCause::Evicted, around);
        }
    }
}

/// Which of these guests is dropped.
fn leaver(now: Instant, guests: &[(Host, Instant, NodeId)], own: &Me<'_>) -> Option<NodeId> {
    let unshared = own.is(Danger::LinkGuestsUnshared);
    let count = |host: Host| guests.iter().filter(|guest| unshared || guest.0 == host).count();
    let most = guests.iter().map(|guest| count(guest.0)).max()?;
    let heaviest = guests.iter().filter(|guest| count(guest.0) == most);
    let mut heaviest: Vec<(Instant, NodeId)> = heaviest.map(|(_, up, node)| (*up, *node)).collect();
    heaviest.sort_unstable();
    let old = heaviest.first().filter(|(up, _)| now.since(*up) >= GUEST_STAY);
    old.or(heaviest.last()).map(|(_, node)| *node)
}
