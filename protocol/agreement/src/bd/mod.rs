//! Burmester–Desmedt: two rounds in which everybody speaks, with three exponentiations each,
//! whatever the size. Every event takes a fresh run.
//!
//! ```text
//! all in order of place, on a circle:   ═SHARE z_i = g^r_i═> all,  ═LINK X_i = (z_(i+1) / z_(i−1))^r_i═> all
//! key = z_(i−1)^(n·r_i) · X_i^(n−1) · X_(i+1)^(n−2) · … · X_(i−2) = g^(r_1·r_2 + r_2·r_3 + … + r_n·r_1)
//! ```
//! It keeps nothing, so every run starts from nothing, and a change in the middle costs no more
//! than a new run. Source: Burmester, Desmedt, "A secure and efficient conference key distribution
//! system", EUROCRYPT '94. Departures: those of [`crate::circle`]; the key is summed up step by
//! step round the circle, which is the same product without the n − 1 small exponents; no
//! signatures here, because keying signs.

use crate::circle::{Run, Seating};
use crate::{AgreementError, ModuleName, Plan, PrimeGroup};

/// A run for the parties of `plan`, whatever they bring.
///
/// # Errors
/// None that a plan allows.
pub fn run<G: PrimeGroup>(plan: &Plan) -> Result<Run<G>, AgreementError> {
    let speakers = (0..plan.size()).collect();
    let seating = Seating { speakers, me: plan.me(), lends: false, lent: None, order: None };
    Run::new(ModuleName::Bd, seating)
}
