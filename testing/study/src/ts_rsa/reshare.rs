//! Other shares of the same key, for another threshold or to make old ones worthless. **Insecure**:
//! nothing proves a sub-share. So one old holder can spoil all new shares in silence, and one that
//! speaks last chooses its own; see the module.
//!
//! ```text
//! each old holder j, to each new holder i alone (itself too):  version 1 | g_j(id_i), g_j of degree t' − 1, g_j(0) = ss_j·λ_j(0)
//! ```

use super::key::{TsRsaShare, TsRsaSharing};
use super::{of, of_nobody, whole_round};
use crypto_bigint::BoxedUint;
use folkmoot_base::{Entropy, MemberId, Secret};
use folkmoot_signing::danger::ForStudy;
use folkmoot_signing::modular::RingPolynomial;
use folkmoot_signing::{Fault, FaultKind, Incoming, Next, Outgoing, Run};
use std::collections::BTreeSet;

/// One hand in a resharing: an old holder, a new one, or both. A new holder comes to its share of
/// the new sharing ([`TsRsaSharing::with_threshold`]). **Insecure**: for study.
#[derive(Debug)]
pub struct TsRsaReshare {
    sharing: TsRsaSharing,
    me: MemberId,
    old: Vec<MemberId>,
    new: Vec<MemberId>,
    threshold: u16,
    weighted: Option<Secret<BoxedUint>>,
    /// Whether the one round is over, or was refused.
    over: bool,
}

impl TsRsaReshare {
    /// From exactly t old holders to new ones with a new threshold. `share`: of the old sharing, if
    /// this hand is one of the old.
    ///
    /// # Errors
    /// [`FaultKind::LocalSigners`].
    pub fn new(
        sharing: &TsRsaSharing,
        share: Option<&TsRsaShare>,
        me: MemberId,
        old: &[MemberId],
        new: &[MemberId],
        threshold: u16,
        _: ForStudy,
    ) -> Result<Self, Fault> {
        let refuse = || of_nobody(FaultKind::LocalSigners);
        let sorted =
            |hands: &[MemberId]| hands.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let (old, new): (Vec<MemberId>, Vec<MemberId>) = (sorted(old), sorted(new));
        let enough = threshold >= 1 && usize::from(threshold) <= new.len();
        let seated = share.is_some() == old.contains(&me) && (old.contains(&me) || new.contains(&me));
        if old.len() != usize::from(sharing.threshold) || !enough || !seated {
            return Err(refuse());
        }
        let weigh = |share: &TsRsaShare| share.weighted(sharing, &me, &old, 0).ok_or_else(refuse);
        let weighted = share.map(weigh).transpose()?;
        Ok(Self { sharing: sharing.clone(), me, old, new, threshold, weighted, over: false })
    }
}

impl Run for TsRsaReshare {
    type Done = Option<TsRsaShare>;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Self::Done> {
        let Some(weighted) = &self.weighted else { return Next::Say(Outgoing::default()) };
        let degree = usize::from(self.threshold).saturating_sub(1);
        let divisor = self.sharing.modulus.divisor();
        let polynomial = RingPolynomial::random(divisor, weighted.clone(), degree, entropy);
        let value = |hand: &MemberId| self.sharing.write(polynomial.at(self.sharing.place(hand)).expose());
        let to_each = self.new.iter().map(|hand| (*hand, value(hand))).collect();
        Next::Say(Outgoing { to_all: Vec::new(), to_each })
    }

    fn awaited(&self) -> Vec<MemberId> {
        if self.over { Vec::new() } else { self.old.clone() }
    }

    fn hear(&mut self, heard: Incoming, _entropy: &mut dyn Entropy) -> Result<Next<Self::Done>, Fault> {
        if core::mem::replace(&mut self.over, true) {
            return Err(of_nobody(FaultKind::LocalRound));
        }
        whole_round(&heard, &self.old)?;
        if let Some((hand, _)) = heard.to_all.iter().find(|(_, words)| !words.is_empty()) {
            return Err(of(FaultKind::PeerMalformed, *hand));
        }
        if !self.new.contains(&self.me) {
            return Ok(Next::Done(None));
        }
        let mut sum = Secret::new(BoxedUint::zero_with_precision(self.sharing.modulus.precision()));
        for hand in &self.old {
            let part = heard.to_me.get(hand).and_then(|words| self.sharing.read(words.expose()));
            let part = Secret::new(part.ok_or_else(|| of(FaultKind::PeerMalformed, *hand))?);
            sum = Secret::new(sum.expose().add_mod(part.expose(), self.sharing.modulus.divisor()));
        }
        Ok(Next::Done(Some(TsRsaShare(sum))))
    }
}
