//! Polynomials over the field of a group, and Lagrange's way back to a value (Shamir 1979).

use crate::PrimeGroup;
use crate::base::{Entropy, MemberId};
use zeroize::Zeroize;

/// A polynomial, its constant term first. Erased when dropped.
pub(crate) struct Polynomial<G: PrimeGroup>(Vec<G::Scalar>);

impl<G: PrimeGroup> Polynomial<G> {
    /// Random, of `degree`, with this value at zero.
    pub(crate) fn random(at_zero: G::Scalar, degree: usize, entropy: &mut dyn Entropy) -> Self {
        let mut terms = Vec::with_capacity(degree.saturating_add(1));
        terms.push(at_zero);
        terms.extend((0..degree).map(|_| G::draw(entropy)));
        Self(terms)
    }

    /// The value at `place` (Horner).
    pub(crate) fn at(&self, place: G::Scalar) -> G::Scalar {
        self.0.iter().rev().fold(G::zero(), |sum, term| G::plus(G::times(sum, place), *term))
    }

    /// Each term times the generator: what Feldman publishes (1987).
    pub(crate) fn commitments(&self) -> Vec<G::Element> {
        self.0.iter().map(G::raise_generator).collect()
    }

    /// Each term times `base`: what blinds a commitment (Pedersen 1991).
    pub(crate) fn commitments_under(&self, base: &G::Element) -> Vec<G::Element> {
        self.0.iter().map(|term| G::raise(base, term)).collect()
    }
}

impl<G: PrimeGroup> Drop for Polynomial<G> {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
    }
}

/// λ of `participant` among `participants` for the value at `place`: ∏ (place − x_k) / (x_i − x_k).
/// None if two participants share a place.
pub(crate) fn lagrange<G: PrimeGroup>(
    participant: &MemberId,
    participants: &[MemberId],
    place: G::Scalar,
) -> Option<G::Scalar> {
    let own = G::place(participant);
    let mut above = G::one();
    let mut below = G::one();
    for other in participants.iter().filter(|other| *other != participant) {
        let theirs = G::place(other);
        above = G::times(above, G::plus(place, G::minus(theirs)));
        below = G::times(below, G::plus(own, G::minus(theirs)));
    }
    G::inverse(below).map(|below| G::times(above, below))
}

/// The value at `place` of the least polynomial through `values`. None if two participants share a
/// place.
pub(crate) fn interpolate<G: PrimeGroup>(
    values: &[(MemberId, G::Scalar)],
    place: G::Scalar,
) -> Option<G::Scalar> {
    let participants: Vec<MemberId> = values.iter().map(|(participant, _)| *participant).collect();
    values.iter().try_fold(G::zero(), |sum, (participant, value)| {
        Some(G::plus(sum, G::times(*value, lagrange::<G>(participant, &participants, place)?)))
    })
}

/// The value at `place` of the committed polynomial, times the generator: Σ A_k · place^k.
pub(crate) fn committed<G: PrimeGroup>(commitments: &[G::Element], place: G::Scalar) -> G::Element {
    let mut power = G::one();
    let mut terms = Vec::with_capacity(commitments.len());
    for commitment in commitments {
        terms.push((power, *commitment));
        power = G::times(power, place);
    }
    G::raise_many(&terms)
}
