//! Items that are too long for one frame: they travel in pieces, each asked for by whoever lacks
//! the item.
//!
//! ```text
//! node                                      peer
//!   |---- Fetch(have) ----------------------->|
//!   |<--- Piece(name, 7, 0, 48 KiB) ----------|   the item that comes first is long
//!   |---- Want(name, 1) --------------------->|
//!   |<--- Piece(name, 7, 1, 48 KiB) ----------|   ... until the last; then the node fetches on
//! ```
//! Pieces come in their order, so a peer takes memory only by sending as much. Bounds: one item of
//! each peer, [`INCOMING_MAX`] of all members' and [`INCOMING_GUESTS_MAX`] of all guests' nodes; of
//! packages (`skip.rs`), which are longer than items, one.
//! What stands still for [`INCOMING_LIFE`] makes room, and what a link brings goes with the link.

use crate::Node;
use crate::message::{ITEM_PIECES_MAX, PIECE_BYTES, Sync};
use base::{Blob, Digest, Instant, NodeId, digest};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use folkmoot_base as base;
use folkmoot_transcript::is_package;
use std::collections::VecDeque;

/// Most long items that come from members' nodes at once.
pub(crate) const INCOMING_MAX: usize = 8;
/// Most long items that come from guests at once.
pub(crate) const INCOMING_GUESTS_MAX: usize = 2;
/// How long an item is kept of which no piece comes any more.
pub(crate) const INCOMING_LIFE: Duration = Duration::from_secs(10);
/// Most long items of which others may ask for pieces.
const OFFERED_MAX: usize = 8;

/// A long item of which some pieces have come.
#[derive(Debug)]
pub(crate) struct Incoming {
    name: Digest,
    of: u16,
    next: u16,
    bytes: BytesMut,
    /// When the last piece came.
    at: Instant,
}

impl Incoming {
    /// How many bytes have come.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    fn is_stale(&self, now: Instant) -> bool {
        now.since(self.at) >= INCOMING_LIFE
    }
}

/// The long items that were shown to others last.
#[derive(Debug, Default)]
pub(crate) struct Offered(VecDeque<(Digest, Bytes)>);

impl Offered {
    fn put(&mut self, item: &Bytes) -> Digest {
        let name = digest(&[item]);
        self.0.retain(|(known, _)| *known != name);
        self.0.push_back((name, item.clone()));
        if self.0.len() > OFFERED_MAX {
            self.0.pop_front();
        }
        name
    }

    fn piece(&self, name: &Digest, index: u16) -> Option<Sync> {
        let (_, item) = self.0.iter().find(|(known, _)| known == name)?;
        let from = usize::from(index).checked_mul(PIECE_BYTES).filter(|from| *from < item.len())?;
        let to = from.saturating_add(PIECE_BYTES).min(item.len());
        let of = u16::try_from(item.len().div_ceil(PIECE_BYTES)).ok()?;
        Some(Sync::Piece { name: *name, of, index, bytes: Blob(item.slice(from..to)) })
    }
}

impl Node {
    /// Shows a long item to a peer, which asks for the rest.
    pub(crate) fn offer(&mut self, now: Instant, to: NodeId, item: &Bytes) {
        let name = self.offered.put(item);
        self.want_came(now, to, &name, 0);
    }

    pub(crate) fn want_came(&mut self, now: Instant, from: NodeId, name: &Digest, index: u16) {
        if let Some(piece) = self.offered.piece(name, index) {
            self.send_sync(now, from, &piece);
        }
    }

    /// Asks for the next piece of what is coming from this peer. `false` if nothing is.
    pub(crate) fn want_again(&mut self, now: Instant, from: NodeId) -> bool {
        let Some(peer) = self.peers.get_mut(&from) else { return false };
        peer.incoming.take_if(|incoming| incoming.is_stale(now));
        let Some(want) = peer.incoming.as_ref().map(|one| (one.name, one.next)) else { return false };
        self.send_sync(now, from, &Sync::Want { name: want.0, index: want.1 });
        true
    }

    /// `NODE-12`: takes the next piece, and the item once it is whole.
    pub(crate) fn piece_came(
        &mut self,
        now: Instant,
        from: NodeId,
        (name, of, index): (Digest, u16, u16),
        bytes: &[u8],
    ) {
        if index == 0 && !self.begins(now, from, name, of) {
            return;
        }
        let Some(peer) = self.peers.get_mut(&from) else { return };
        let next =
            |incoming: &&mut Incoming| (incoming.name, incoming.of, incoming.next) == (name, of, index);
        if let Some(incoming) = peer.incoming.as_mut().filter(next) {
            incoming.bytes.extend_from_slice(bytes);
            incoming.next = incoming.next.saturating_add(1);
            incoming.at = now;
        } else if index != 0 {
            return;
        }
        match peer.incoming.take_if(|incoming| incoming.next == incoming.of) {
            None => drop(self.want_again(now, from)),
            Some(whole) if digest(&[&whole.bytes]) == whole.name => {
                let whole = whole.bytes.freeze();
                if is_package(&whole) {
                    self.package_came(from, whole);
                } else {
                    self.items_came(now, from, &[Blob(whole)]);
                }
            }
            Some(_) => self.out.refuse("node", &format!("{from} sent pieces of another item (NODE-12)")),
        }
    }

    /// The first piece of an item: makes room for it. `false` if there is none.
    fn begins(&mut self, now: Instant, from: NodeId, name: Digest, of: u16) -> bool {
        let guest = !self.records.has_standing(&from);
        let others = self.peers.iter().filter(|(node, peer)| {
            **node != from && peer.incoming.as_ref().is_some_and(|incoming| !incoming.is_stale(now))
        });
        let taken = others.filter(|(node, _)| self.records.has_standing(node) != guest).count();
        // Of what is longer than any item, one comes at a time.
        let is_longer = |of: u16| usize::from(of) > ITEM_PIECES_MAX;
        let packages = self.peers.iter().filter(|(node, peer)| {
            let live = |one: &&Incoming| !one.is_stale(now) && is_longer(one.of);
            **node != from && peer.incoming.as_ref().filter(live).is_some()
        });
        let full = is_longer(of) && packages.count() > 0;
        if full || taken >= if guest { INCOMING_GUESTS_MAX } else { INCOMING_MAX } {
            self.out
                .refuse("node", &format!("a long item of {from} has to wait: too many at once (NODE-12)"));
            return false;
        }
        // Whatever has stood still makes room.
        for peer in self.peers.values_mut() {
            peer.incoming.take_if(|incoming| incoming.is_stale(now));
        }
        let Some(peer) = self.peers.get_mut(&from) else { return false };
        if peer.incoming.as_ref().is_none_or(|incoming| incoming.name != name || incoming.of != of) {
            peer.incoming = Some(Incoming { name, of, next: 0, bytes: BytesMut::new(), at: now });
        }
        true
    }
}
