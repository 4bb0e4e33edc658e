//! What a node adds to COMMIT: what it brings, what it contributes to the secret of the ring, and
//! what it knows of its paths.

use crate::candidates::Candidates;
use crate::key::Contribution;
use crate::message::{Entry, OldRing};
use crate::order::Order;
use folkmoot_base::NodeId;

/// What this node brings along.
pub(crate) fn old_ring(old: Option<&Order>) -> OldRing {
    old.map_or_else(OldRing::default, |old| OldRing {
        id: Some(old.id),
        held: old.held(),
        delivered: old.delivered(),
        safe: old.safe,
        obligations: old.obligations,
    })
}

/// What this node adds to COMMIT for these members.
pub(crate) fn entry(
    old: Option<&Order>,
    contribution: Contribution,
    members: &[NodeId],
    (me, candidates): (&NodeId, &Candidates),
) -> Entry {
    let trip = candidates.longest_trip(members).as_millis();
    Entry {
        old_ring: old_ring(old),
        contribution,
        mtu: candidates.smallest_path(me, members),
        trip: u16::try_from(trip).unwrap_or(u16::MAX),
    }
}
