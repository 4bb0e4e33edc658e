//! New shares of the same secret: other holders, another threshold, or only another epoch (Desmedt,
//! Jajodia 1997; checks of Wong, Wang, Wing 2002).
//!
//! Exactly `threshold` old holders each deal their share times λ; what they deal adds up to the
//! secret. Each dealer's first commitment must be its public share times λ, so that a dealer of
//! another number is named. Used for a new threshold, and with the old one as the refresh after
//! every leave: what the leaver holds belongs to an epoch that is over. That protects only if those
//! who stay erase their old shares: `threshold` holders of one epoch who keep theirs have the
//! secret for good. With a threshold of one there is no refresh: every share is the secret.

use super::dealing::Plan;
use super::joint::Joint;
use super::{Form, Holding, Share, Sharing, context, listed, sorted, wrong_signers};
use crate::PrimeGroup;
use crate::base::{Entropy, MemberId, Secret};
use crate::polynomial::lagrange;
use crate::run::{Fault, FaultKind, Incoming, Next, Run, RunId};
use std::collections::BTreeMap;

/// A participant in a redistribution: an old holder who deals, a new holder, or both.
pub struct Redistribute<G: PrimeGroup> {
    public: G::Element,
    /// The dealing, of constant terms that add up to the old secret.
    dealing: Joint<G>,
}

/// Who gives shares, who gets them, and how many are to determine the secret from then on.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// Exactly the old threshold of old holders.
    pub dealers: &'a [MemberId],
    /// The new holders.
    pub holders: &'a [MemberId],
    /// The new threshold.
    pub threshold: usize,
}

impl<G: PrimeGroup> Redistribute<G> {
    /// `share` is `me`'s in `old`; needed of dealers.
    ///
    /// # Errors
    /// [`FaultKind::LocalSigners`]; [`FaultKind::LocalShare`] for a dealer's share that is not of
    /// `old`.
    pub fn new(
        run: RunId,
        me: MemberId,
        old: &Sharing<G>,
        share: Option<&Share<G>>,
        change: Change<'_>,
    ) -> Result<Self, Fault> {
        let (dealers, holders) = (sorted(change.dealers)?, sorted(change.holders)?);
        let known =
            dealers.len() == old.threshold() && dealers.iter().all(|dealer| old.holders().contains(dealer));
        let possible = known && (1..=holders.len()).contains(&change.threshold);
        if !possible || !(dealers.contains(&me) || holders.contains(&me)) {
            return Err(wrong_signers());
        }
        let constant = dealers.contains(&me).then(|| weighted(old, share, &me, &dealers)).transpose()?;
        let threshold = (change.threshold as u64).to_be_bytes();
        let parts: [&[u8]; 5] = [&run.0, &old.epoch(), &listed(&dealers), &threshold, &listed(&holders)];
        let plan = Plan {
            context: context::<G>(b"folkmoot redistribution v1", &parts),
            expected: publics(old, &dealers).ok_or_else(wrong_signers)?,
            dealers,
            holders,
            forms: vec![Form::Open(change.threshold)],
        };
        Ok(Self { public: old.public(), dealing: Joint::of(plan, me, constant) })
    }
}

/// `me`'s share times λ.
fn weighted<G: PrimeGroup>(
    old: &Sharing<G>,
    share: Option<&Share<G>>,
    me: &MemberId,
    dealers: &[MemberId],
) -> Result<Secret<G::Scalar>, Fault> {
    let share = own(old, share, me)?;
    let lambda = lagrange::<G>(me, dealers, G::zero()).ok_or_else(wrong_signers)?;
    Ok(Secret::new(G::times(*share.value(), lambda)))
}

/// `me`'s share, if it is one of `sharing`.
pub(crate) fn own<'a, G: PrimeGroup>(
    sharing: &Sharing<G>,
    share: Option<&'a Share<G>>,
    me: &MemberId,
) -> Result<&'a Share<G>, Fault> {
    share
        .filter(|share| share.holder() == *me && share.fits(sharing).is_ok())
        .ok_or_else(|| Fault::of_nobody(FaultKind::LocalShare))
}

/// Each dealer's public share times λ.
fn publics<G: PrimeGroup>(old: &Sharing<G>, dealers: &[MemberId]) -> Option<BTreeMap<MemberId, G::Element>> {
    let public = |dealer: &MemberId| {
        let lambda = lagrange::<G>(dealer, dealers, G::zero())?;
        Some((*dealer, G::raise(&old.public_share(dealer), &lambda)))
    };
    dealers.iter().map(public).collect()
}

impl<G: PrimeGroup> Run for Redistribute<G> {
    type Done = Holding<G>;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Holding<G>> {
        self.dealing.start(entropy)
    }

    fn awaited(&self) -> Vec<MemberId> {
        self.dealing.awaited()
    }

    fn hear(&mut self, heard: Incoming, entropy: &mut dyn Entropy) -> Result<Next<Holding<G>>, Fault> {
        let next = self.dealing.hear(heard, entropy)?;
        match &next {
            Next::Done(held) if held.sharing.public() != self.public => {
                Err(Fault::of_nobody(FaultKind::Unattributable))
            }
            _ => Ok(next),
        }
    }
}
