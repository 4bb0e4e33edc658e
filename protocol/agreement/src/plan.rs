//! Who takes part in a run, and what each brings from an earlier one.
//!
//! Everything here is equal at all parties before the run starts: it comes from the view and from
//! what each party said of itself, in the one order, before the view was installed. So all know
//! the same [`Plan::base`] and the same awaited parties, and nobody has to guess what kind of
//! change it was.

use crate::AgreementError;
use crate::base::{Digest, Party};
use std::collections::{BTreeMap, BTreeSet};

/// The finished run whose state a party still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The name of the run: equal for all who finished it, distinct for any two runs.
    pub run: Digest,
    /// The party's place in that run's own order ([`crate::Kept::rank`]).
    pub rank: u32,
}

/// One run's parties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    members: Vec<Party>,
    me: usize,
    origins: Vec<Option<Origin>>,
    sides: Vec<Vec<usize>>,
    context: Digest,
}

impl Plan {
    /// A run from nothing for `members`, this party at place `me`.
    ///
    /// # Errors
    /// [`AgreementError::LocalMembers`] if the list is empty, has doubles, or has no place `me`.
    pub fn new(members: &[Party], me: usize) -> Result<Self, AgreementError> {
        Self::with_origins(members, me, vec![None; members.len()])
    }

    /// A run in which each party brings what its origin says; `None` brings nothing.
    ///
    /// # Errors
    /// [`AgreementError::LocalMembers`] as [`Self::new`], and if there is not one origin for each
    /// party.
    pub fn with_origins(
        members: &[Party],
        me: usize,
        origins: Vec<Option<Origin>>,
    ) -> Result<Self, AgreementError> {
        let distinct: BTreeSet<_> = members.iter().collect();
        if me >= members.len() || distinct.len() != members.len() || origins.len() != members.len() {
            return Err(AgreementError::LocalMembers);
        }
        let sides = sides(&origins);
        Ok(Self { members: members.to_vec(), me, origins, sides, context: [0; 32] })
    }

    /// The same, but of equal sides the one of the party at place `first` comes first.
    #[must_use]
    pub fn with_first(mut self, first: usize) -> Self {
        let brings = |side: &[usize]| side.first().is_some_and(|place| self.origin(*place).is_some());
        let mut sides = self.sides.clone();
        sides.sort_by_key(|side| (!brings(side), usize::MAX - side.len(), !side.contains(&first)));
        self.sides = sides;
        self
    }

    /// The same, bound to `context`: everything that names the run, in one digest.
    #[must_use]
    pub fn with_context(self, context: Digest) -> Self {
        Self { context, ..self }
    }

    /// What the run is bound to; zeros unless set.
    pub fn context(&self) -> &Digest {
        &self.context
    }

    /// The parties, in the view's order. Places are positions in it.
    pub fn members(&self) -> &[Party] {
        &self.members
    }

    /// This party's place.
    pub fn me(&self) -> usize {
        self.me
    }

    /// How many take part.
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// What the party at `place` brings.
    pub fn origin(&self, place: usize) -> Option<Origin> {
        self.origins.get(place).copied().flatten()
    }

    /// Places by what they bring: parties of one earlier run together, in that run's order;
    /// everybody else alone. The base comes first. It is the largest side; of equal ones, the one
    /// with the lowest place. The others follow by the same rule.
    pub fn sides(&self) -> &[Vec<usize>] {
        &self.sides
    }

    /// The side that the others join, in its run's order. Empty if nobody brings anything.
    pub fn base(&self) -> &[usize] {
        match self.sides.first() {
            Some(side) if side.first().is_some_and(|place| self.origin(*place).is_some()) => side,
            _ => &[],
        }
    }

    /// Everybody who is not of the base, in order of place.
    pub fn newcomers(&self) -> Vec<usize> {
        let base = self.base();
        (0..self.members.len()).filter(|place| !base.contains(place)).collect()
    }

    /// AGR-60: each party on this party's own side claims the rank that it had. `held_by` reads
    /// from the state that this party brings who had that rank.
    pub(crate) fn check_ranks(&self, held_by: impl Fn(u32) -> Option<Party>) -> Result<(), AgreementError> {
        let own = self.origin(self.me).map(|origin| origin.run);
        for (place, (member, origin)) in self.members.iter().zip(&self.origins).enumerate() {
            let Some(origin) = origin.filter(|origin| Some(origin.run) == own) else { continue };
            if held_by(origin.rank) == Some(*member) {
                continue;
            }
            let mine = place == self.me;
            return Err(if mine {
                AgreementError::LocalKept
            } else {
                AgreementError::PeerOrigin { from: place }
            });
        }
        Ok(())
    }

    /// Whether this party is of the base.
    pub fn in_base(&self) -> bool {
        self.base().contains(&self.me)
    }
}

fn sides(origins: &[Option<Origin>]) -> Vec<Vec<usize>> {
    let mut runs: BTreeMap<Digest, Vec<(u32, usize)>> = BTreeMap::new();
    let mut sides: Vec<(bool, Vec<usize>)> = Vec::new();
    for (place, origin) in origins.iter().enumerate() {
        match origin {
            Some(Origin { run, rank }) => runs.entry(*run).or_default().push((*rank, place)),
            None => sides.push((false, vec![place])),
        }
    }
    for mut side in runs.into_values() {
        side.sort_unstable();
        sides.push((true, side.into_iter().map(|(_, place)| place).collect()));
    }
    // Parties that bring a state go before those that bring none; then the larger side; then the
    // one with the lower lowest place.
    sides.sort_by_key(|(brings, side)| (!brings, usize::MAX - side.len(), side.iter().min().copied()));
    sides.into_iter().map(|(_, side)| side).collect()
}

/// The parties of a run by age: the base in the order of its run, then the newcomers by place. A
/// party's rank is its position here.
pub(crate) struct ByAge {
    /// By rank: who.
    pub(crate) members: Vec<Party>,
    /// By rank: the place in the plan.
    places: Vec<usize>,
    /// This party's rank.
    pub(crate) me: usize,
}

impl ByAge {
    pub(crate) fn new(plan: &Plan) -> Result<Self, AgreementError> {
        let places: Vec<_> = plan.base().iter().copied().chain(plan.newcomers()).collect();
        let members: Vec<_> = places.iter().filter_map(|place| plan.members().get(*place).copied()).collect();
        let me = places.iter().position(|place| *place == plan.me()).ok_or(AgreementError::LocalMembers)?;
        Ok(Self { members, places, me })
    }

    pub(crate) fn member(&self, rank: usize) -> Result<Party, AgreementError> {
        self.members.get(rank).copied().ok_or(AgreementError::LocalMembers)
    }

    /// The rank of the party at place `from`, who sends `step`.
    pub(crate) fn rank(&self, from: usize, step: u8) -> Result<usize, AgreementError> {
        let rank = self.places.iter().position(|place| *place == from);
        rank.ok_or(AgreementError::PeerOutOfTurn { from, step })
    }

    pub(crate) fn place(&self, rank: usize) -> usize {
        self.places.get(rank).copied().unwrap_or(usize::MAX)
    }

    /// The places of these ranks, sorted.
    pub(crate) fn places(&self, ranks: &[usize]) -> Vec<usize> {
        let mut places: Vec<_> = ranks.iter().filter_map(|rank| self.places.get(*rank).copied()).collect();
        places.sort_unstable();
        places
    }
}
