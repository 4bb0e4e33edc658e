//! Which party has which leaf, and who commits: known to all before the run starts.
//!
//! A party of the base keeps its leaf, which is its rank. A newcomer takes the first free leaf, in
//! order of place. Leavers are removed before newcomers are added (RFC 9420, 12.4.2), so every leaf
//! that no base party has is free.

use crate::base::limits::MEMBERS_MAX;
use crate::{AgreementError, Plan};
use std::collections::BTreeSet;

/// The leaves after the run.
pub(super) struct Layout {
    /// The leaf of each place.
    pub(super) leaves: Vec<u32>,
    /// The place that commits.
    pub(super) committer: usize,
    /// The places that come with a key package, in order.
    pub(super) newcomers: Vec<usize>,
}

impl Layout {
    pub(super) fn new(plan: &Plan) -> Result<Self, AgreementError> {
        let committer = turn(plan);
        let newcomers: Vec<_> = plan.newcomers().into_iter().filter(|place| *place != committer).collect();
        let mut taken = BTreeSet::new();
        let mut leaves = vec![None; plan.size()];
        for place in plan.base() {
            let leaf = plan.origin(*place).map_or(0, |origin| origin.rank);
            // No tree has ever had more leaves than a group may have parties.
            if leaf as usize >= MEMBERS_MAX || !taken.insert(leaf) {
                return Err(AgreementError::PeerOrigin { from: *place });
            }
            set(&mut leaves, *place, leaf);
        }
        let mut free = (0..).filter(|leaf| !taken.contains(leaf));
        for place in 0..plan.size() {
            if !plan.base().contains(&place) {
                set(&mut leaves, place, free.next().unwrap_or(u32::MAX));
            }
        }
        let leaves = leaves.into_iter().collect::<Option<_>>().ok_or(AgreementError::LocalMembers)?;
        Ok(Self { leaves, committer, newcomers })
    }

    /// The leaf of a place.
    pub(super) fn leaf(&self, place: usize) -> u32 {
        self.leaves.get(place).copied().unwrap_or(u32::MAX)
    }

    /// Nodes of the tree, up to the last leaf that somebody has.
    pub(super) fn nodes(&self) -> usize {
        let last = self.leaves.iter().max().copied().unwrap_or(0) as usize;
        last.saturating_mul(2).saturating_add(1)
    }

    /// Nodes that the committer's path must have: one for each of its ancestors with anybody below
    /// its other child.
    pub(super) fn path(&self) -> usize {
        let slots = self.nodes().div_ceil(2).next_power_of_two();
        let leaf = self.leaf(self.committer) as usize;
        let inhabited = |level: &u32| {
            let beside = (leaf >> level) ^ 1;
            self.leaves.iter().any(|other| (*other as usize) >> level == beside)
        };
        (0..slots.trailing_zeros()).filter(inhabited).count()
    }
}

/// Whose turn it is. The name of the earlier run picks a party of the base; from nothing it is
/// place 0. If one party always committed, nobody else's keys would ever be renewed, and its
/// commits would be sealed to every leaf separately.
fn turn(plan: &Plan) -> usize {
    let base = plan.base();
    let run = base.first().and_then(|place| plan.origin(*place)).map(|origin| origin.run);
    let name = run.as_ref().and_then(|run| run.first_chunk()).map_or(0, |start| u64::from_be_bytes(*start));
    let turn = usize::try_from(name % base.len().max(1) as u64).unwrap_or(0);
    base.get(turn).copied().unwrap_or(0)
}

fn set(leaves: &mut [Option<u32>], place: usize, leaf: u32) {
    if let Some(slot) = leaves.get_mut(place) {
        *slot = Some(leaf);
    }
}
