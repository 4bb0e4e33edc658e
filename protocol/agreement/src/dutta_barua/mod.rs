//! Dutta–Barua: the circle with a cheap join, in which most of the old parties only listen.
//!
//! ```text
//! KeyAgree   all in order of place on a circle: SHARE, LINK                    from nothing, and whenever anybody has left
//! Join       first, second, last of n ≥ 3 old parties, then the joiners: SHARE, LINK.  x of the second = f(old key), so the
//!            third to the last but one, who have the old key too, compute the new one without a word
//! ```
//! There is no Leave: a leaver knows every `K` of the old circle, and if one pair of neighbours
//! keeps its shares, that gives it the new `K` (Zhang et al.). So every exclusion is a fresh
//! KeyAgree. What keying signs contains instance numbers that never come again, not even after a
//! restart. A Join is not contributory: a listener adds nothing of its own to this key. Source:
//! Dutta, Barua, "Provably secure constant round contributory group key agreement in dynamic
//! setting", IEEE Trans. Inf. Theory 54(5), 2008; LCMsec (2023), which leaves Leave out too.
//! Departures: those of [`crate::circle`]; f is a labelled hash; a refresh is a KeyAgree.

use crate::base::Party;
use crate::circle::{LENT, Run, Seating};
use crate::prime::lent_scalar;
use crate::{AgreementError, Kept, ModuleName, Plan, PrimeGroup};
use zeroize::Zeroizing;

/// Fewest old parties that a Join needs.
const OLD_MIN: usize = 3;

/// What a run leaves: the key, which the next Join lends, and who has it.
pub(crate) struct State<G: PrimeGroup> {
    pub(crate) order: Vec<Party>,
    pub(crate) key: Zeroizing<G::Element>,
}

impl<G: PrimeGroup> State<G> {
    /// With the rank of `me`. Parties that were not in the run must also see whether anybody of it
    /// is missing. So the upper half of a rank is the size of the run, and the lower half is the
    /// place in its order.
    pub(crate) fn kept(self, me: Party) -> Option<Kept> {
        let size = self.order.len();
        let ranked = |(place, member): (usize, &Party)| Some((*member, rank(size, place)?));
        let ranks: Vec<_> = self.order.iter().enumerate().filter_map(ranked).collect();
        Kept::new(ModuleName::DuttaBarua, me, ranks, self)
    }

    fn held_by(&self, claimed: u32) -> Option<Party> {
        let place = usize::try_from(claimed & 0xffff).ok()?;
        let fits = rank(self.order.len(), place) == Some(claimed);
        self.order.get(place).copied().filter(|_| fits)
    }
}

fn rank(size: usize, place: usize) -> Option<u32> {
    let (size, place) = (u16::try_from(size).ok()?, u16::try_from(place).ok()?);
    Some(u32::from(size) << 16 | u32::from(place))
}

/// A run for `plan`: a Join if somebody comes to a base of at least three that is still complete,
/// else a KeyAgree.
///
/// # Errors
/// [`AgreementError::LocalKept`] and [`AgreementError::PeerOrigin`], as [`crate::begin`].
pub fn run<G: PrimeGroup>(plan: &Plan, kept: Option<&Kept>) -> Result<Run<G>, AgreementError> {
    let mut old = None;
    if plan.origin(plan.me()).is_some() {
        let state = kept.and_then(Kept::state::<State<G>>).ok_or(AgreementError::LocalKept)?;
        plan.check_ranks(|rank| state.held_by(rank))?;
        old = plan.in_base().then_some(state);
    }
    let lends = joins(plan);
    let base = if lends { plan.base() } else { &[] };
    let newcomers = if lends { plan.newcomers() } else { (0..plan.size()).collect() };
    let order = base.iter().chain(&newcomers).filter_map(|place| plan.members().get(*place).copied());
    let speaking = base.iter().take(LENT.saturating_add(1)).chain(base.last());
    let seating = Seating {
        speakers: speaking.chain(&newcomers).copied().collect(),
        me: plan.me(),
        lends,
        lent: old.filter(|_| lends).map(|state| Zeroizing::new(lent_scalar::<G>(&state.key))),
        order: plan.members().get(plan.me()).map(|me| (order.collect(), *me)),
    };
    Run::new(ModuleName::DuttaBarua, seating)
}

/// Whether somebody comes to a complete base. The same at all parties, because it reads only the
/// plan.
fn joins(plan: &Plan) -> bool {
    let base = plan.base();
    let complete = base.iter().enumerate().all(|(place, member)| {
        plan.origin(*member).is_some_and(|origin| rank(base.len(), place) == Some(origin.rank))
    });
    complete && base.len() >= OLD_MIN && base.len() < plan.size()
}
