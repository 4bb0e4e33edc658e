//! An authority deals: in centralised groups, at the beginning and again at every change.

use super::{Share, Sharing, SharingError, sorted};
use crate::PrimeGroup;
use crate::base::{Entropy, MemberId};
use crate::polynomial::Polynomial;
use std::collections::BTreeMap;

/// Each holder's share.
pub type Shares<G> = BTreeMap<MemberId, Share<G>>;

/// Shares `secret` among `holders` so that any `threshold` of the shares determine it. To change
/// holders or threshold, the authority deals the same secret again: another polynomial, another
/// epoch. The polynomial is erased before this returns.
///
/// # Errors
/// [`SharingError::LocalHolders`] for no holders, a holder twice, more than 256, or a threshold of
/// zero or above the number of holders; also for a secret of zero.
pub fn deal<G: PrimeGroup>(
    secret: &G::Scalar,
    holders: &[MemberId],
    threshold: usize,
    entropy: &mut dyn Entropy,
) -> Result<(Sharing<G>, Shares<G>), SharingError> {
    let holders = sorted(holders).map_err(|_| SharingError::LocalHolders)?;
    if !(1..=holders.len()).contains(&threshold) {
        return Err(SharingError::LocalHolders);
    }
    let polynomial = Polynomial::<G>::random(*secret, threshold.saturating_sub(1), entropy);
    let sharing = Sharing::new(polynomial.commitments(), holders)?;
    let epoch = sharing.epoch();
    let share = |holder: &MemberId| Share::new(*holder, epoch, polynomial.at(G::place(holder)));
    let shares = sharing.holders().iter().map(|holder| (*holder, share(holder))).collect();
    Ok((sharing, shares))
}
