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

use crate::message::{ITEM_PIECES_MAX, PIECE_BYTES, Sync};
use crate::parts::{Outbox, Records};
use base::{Blob, Digest, Instant, NodeId, digest};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use folkmoot_base as base;
use std::collections::{BTreeMap, VecDeque};

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
struct Incoming {
    name: Digest,
    of: u16,
    next: u16,
    bytes: BytesMut,
    /// When the last piece came.
    at: Instant,
}

impl Incoming {
    fn is_stale(&self, now: Instant) -> bool {
        now.since(self.at) >= INCOMING_LIFE
    }

    /// Whether it is longer than any item: a package.
    fn is_longer(&self) -> bool {
        is_longer(self.of)
    }

    /// Takes this piece if it is the next one. `false` if not.
    fn take(&mut self, now: Instant, (name, of, index): (Digest, u16, u16), bytes: &[u8]) -> bool {
        let next = (self.name, self.of, self.next) == (name, of, index);
        if next {
            self.bytes.extend_from_slice(bytes);
            self.next = self.next.saturating_add(1);
            self.at = now;
        }
        next
    }
}

/// The long items that were shown to others last.
#[derive(Debug, Default)]
struct Offered(VecDeque<(Digest, Bytes)>);

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

/// What follows from a piece.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Nothing.
    Idle,
    /// The next one is asked for.
    Next(Sync),
    /// All have come: an item, or a package.
    Whole(Bytes),
}

/// The long items on their way, both ways.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    offered: Offered,
    /// Of each peer one.
    incoming: BTreeMap<NodeId, Incoming>,
}

impl Pieces {
    /// A long item is shown to a peer, which asks for the rest: the first piece.
    pub(crate) fn offer(&mut self, item: &Bytes) -> Option<Sync> {
        let name = self.offered.put(item);
        self.piece(&name, 0)
    }

    /// A piece of an item that was shown.
    pub(crate) fn piece(&self, name: &Digest, index: u16) -> Option<Sync> {
        self.offered.piece(name, index)
    }

    /// What a link brought goes with the link.
    pub(crate) fn down(&mut self, node: &NodeId) {
        self.incoming.remove(node);
    }

    /// The question for the next piece of what is coming from this peer; none if nothing is.
    pub(crate) fn want_again(&mut self, now: Instant, from: &NodeId) -> Option<Sync> {
        if self.incoming.get(from)?.is_stale(now) {
            self.incoming.remove(from);
        }
        self.incoming.get(from).map(|one| Sync::Want { name: one.name, index: one.next })
    }

    /// `NODE-12`: takes the next piece from a peer, and the item once it is whole.
    pub(crate) fn came(
        &mut self,
        now: Instant,
        from: NodeId,
        piece: (Digest, u16, u16),
        bytes: &[u8],
        (records, out): (&Records, &mut Outbox),
    ) -> Piece {
        let (name, of, index) = piece;
        if index == 0 && !self.begins(now, from, (name, of), (records, out)) {
            return Piece::Idle;
        }
        let taken = self.incoming.get_mut(&from).is_some_and(|one| one.take(now, piece, bytes));
        if !taken && index != 0 {
            return Piece::Idle;
        }
        match self.take_whole(&from) {
            None => self.want_again(now, &from).map_or(Piece::Idle, Piece::Next),
            Some(whole) if digest(&[&whole.bytes]) == whole.name => Piece::Whole(whole.bytes.freeze()),
            Some(_) => {
                out.refuse("node", &format!("{from} sent pieces of another item (NODE-12)"));
                Piece::Idle
            }
        }
    }

    fn take_whole(&mut self, from: &NodeId) -> Option<Incoming> {
        self.incoming.get(from).filter(|incoming| incoming.next == incoming.of)?;
        self.incoming.remove(from)
    }

    /// The first piece of an item: makes room for it. `false` if there is none.
    fn begins(
        &mut self,
        now: Instant,
        from: NodeId,
        (name, of): (Digest, u16),
        (records, out): (&Records, &mut Outbox),
    ) -> bool {
        if self.is_full(now, &from, of, records) {
            let text = format!("a long item of {from} has to wait: too many at once (NODE-12)");
            out.refuse("node", &text);
            return false;
        }
        // Whatever has stood still makes room.
        self.incoming.retain(|_, incoming| !incoming.is_stale(now));
        let same = |incoming: &Incoming| incoming.name == name && incoming.of == of;
        if !self.incoming.get(&from).is_some_and(same) {
            self.incoming.insert(from, Incoming { name, of, next: 0, bytes: BytesMut::new(), at: now });
        }
        true
    }

    /// Whether so much comes from others that nothing of so many pieces may begin.
    fn is_full(&self, now: Instant, from: &NodeId, of: u16, records: &Records) -> bool {
        let guest = !records.has_standing(from);
        let live = |(node, one): &(&NodeId, &Incoming)| *node != from && !one.is_stale(now);
        let others = || self.incoming.iter().filter(live);
        let taken = others().filter(|(node, _)| records.has_standing(node) != guest).count();
        // Of what is longer than any item, one comes at a time.
        let packages = others().any(|(_, one)| one.is_longer());
        is_longer(of) && packages || taken >= if guest { INCOMING_GUESTS_MAX } else { INCOMING_MAX }
    }

    /// How many bytes of long items have come.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.incoming.values().map(|incoming| incoming.bytes.len()).sum()
    }
}

/// Whether so many pieces are more than any item has.
fn is_longer(of: u16) -> bool {
    usize::from(of) > ITEM_PIECES_MAX
}
