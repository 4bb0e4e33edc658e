//! Joint sharing without a dealer: every first holder deals a secret of its own. Their sum, which
//! nobody knows, is the group's.
//!
//! A rushing participant that saw the others' commitments before it chose its own could bias the
//! sum or cancel the others' part (Gennaro, Jarecki, Krawczyk, Rabin 1999/2007). So all commit to a
//! digest first, and prove that they know their own constant term. Each opens exactly `threshold`
//! commitments, so that nobody can raise the degree. A liar can still refuse to open, once for each
//! place that it loses. The run is then given up, and the next draws everything anew.

use super::dealing::{Dealing, Dealt, Plan};
use super::{Form, Holding, Share, Sharing, context, listed, sorted, wrong_signers};
use crate::PrimeGroup;
use crate::base::{Danger, Entropy, MemberId, Mutant, Secret};
use crate::run::{Fault, FaultKind, Incoming, Next, Run, RunId};
use std::collections::BTreeMap;

/// A holder in the making of a shared secret.
pub struct Joint<G: PrimeGroup> {
    me: MemberId,
    holders: Vec<MemberId>,
    dealing: Dealing<G>,
}

impl<G: PrimeGroup> Joint<G> {
    /// `me` is one of `holders`, of whom any `threshold` shall determine the secret.
    ///
    /// # Errors
    /// [`FaultKind::LocalSigners`].
    pub fn new(run: RunId, me: MemberId, holders: &[MemberId], threshold: usize) -> Result<Self, Fault> {
        let holders = sorted(holders)?;
        if !holders.contains(&me) || !(1..=holders.len()).contains(&threshold) {
            return Err(wrong_signers());
        }
        let plan = Plan {
            context: context::<G>(
                b"folkmoot joint sharing v1",
                &[&run.0, &(threshold as u64).to_be_bytes(), &listed(&holders)],
            ),
            dealers: holders.clone(),
            holders,
            forms: vec![Form::Open(threshold)],
            expected: BTreeMap::new(),
        };
        let mut joint = Self::of(plan, me, None);
        // `SHR-29`: there is no secret yet to stand behind what is drawn, but there is a run. Where
        // entropy repeats, one nonce would answer two runs' challenges, and the secret follows.
        joint.dealing = joint.dealing.hedged(Some(Secret::new(Vec::new())));
        Ok(joint)
    }

    /// The same, without its rule: for tests that show what it is for.
    #[must_use]
    pub fn with_danger(self, danger: Mutant) -> Self {
        if danger.is(Danger::SigningNonceUnhedged) {
            return Self { dealing: self.dealing.hedged(None), ..self };
        }
        self
    }

    /// A dealing of one open polynomial, whose constant term is given or drawn.
    pub(super) fn of(plan: Plan<G>, me: MemberId, constant: Option<Secret<G::Scalar>>) -> Self {
        Self { me, holders: plan.holders.clone(), dealing: Dealing::new(plan, me, constant) }
    }
}

/// What a dealing of one open polynomial leaves at `me`.
fn held<G: PrimeGroup>(dealt: &Dealt<G>, me: MemberId, holders: &[MemberId]) -> Result<Holding<G>, Fault> {
    let commitments = dealt.pledges.first().cloned().unwrap_or_default();
    let sharing =
        Sharing::new(commitments, holders.to_vec()).map_err(|_| Fault::of_nobody(FaultKind::Again))?;
    let piece = dealt.pieces.as_ref().and_then(|pieces| pieces.first());
    let share = piece.map(|piece| Share::new(me, sharing.epoch(), piece.value));
    Ok(Holding { sharing, share })
}

impl<G: PrimeGroup> Run for Joint<G> {
    type Done = Holding<G>;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Holding<G>> {
        Next::Say(self.dealing.begin(entropy))
    }

    fn awaited(&self) -> Vec<MemberId> {
        self.dealing.awaited()
    }

    fn hear(&mut self, heard: Incoming, _: &mut dyn Entropy) -> Result<Next<Holding<G>>, Fault> {
        match self.dealing.hear(&heard)? {
            Next::Say(said) => Ok(Next::Say(said)),
            Next::Done(dealt) => Ok(Next::Done(held(&dealt, self.me, &self.holders)?)),
        }
    }
}
