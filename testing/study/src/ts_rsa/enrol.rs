//! A share for a newcomer, made by t holders and shuffled. **Insecure**: nobody can tell whether it
//! is a share; see the module.
//!
//! ```text
//! first   each helper j, to each helper k > j alone:  version 1 | δ_jk
//! second  each helper j, to the newcomer alone:       version 1 | ss_j·λ_j(new) + Σ δ_jk (k > j) − Σ δ_kj (k < j)  mod N
//! ```
//! Nothing is said to all. λ is public: without the δ the newcomer would compute each ss_j.

use super::key::{TsRsaShare, TsRsaSharing};
use super::{of, of_nobody, whole_round};
use crypto_bigint::BoxedUint;
use folkmoot_base::{Entropy, MemberId, Secret};
use folkmoot_signing::danger::ForStudy;
use folkmoot_signing::{Fault, FaultKind, Incoming, Next, Outgoing, Run};
use std::collections::{BTreeMap, BTreeSet};

/// One hand in the making of a newcomer's share: a helper, who comes to none, or the newcomer, who
/// comes to the share. **Insecure**: for study.
#[derive(Debug)]
pub struct TsRsaEnrol {
    sharing: TsRsaSharing,
    me: MemberId,
    newcomer: MemberId,
    helpers: Vec<MemberId>,
    /// A helper's share with its weight for the newcomer's place.
    weighted: Option<Secret<BoxedUint>>,
    /// Whether the first round is over.
    shuffled: bool,
    /// Whether a round was refused, or the run has come to its end.
    over: bool,
    /// The δ drawn here, by whom they are for.
    drawn: BTreeMap<MemberId, Secret<BoxedUint>>,
}

impl TsRsaEnrol {
    /// By exactly t helpers, who hold shares; the newcomer has none.
    ///
    /// # Errors
    /// [`FaultKind::LocalSigners`].
    pub fn new(
        sharing: &TsRsaSharing,
        share: Option<&TsRsaShare>,
        me: MemberId,
        newcomer: MemberId,
        helpers: &[MemberId],
        _: ForStudy,
    ) -> Result<Self, Fault> {
        let refuse = || of_nobody(FaultKind::LocalSigners);
        let helpers: Vec<MemberId> = helpers.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let seated = if share.is_some() { helpers.contains(&me) } else { me == newcomer };
        if helpers.len() != usize::from(sharing.threshold) || helpers.contains(&newcomer) || !seated {
            return Err(refuse());
        }
        let place = sharing.place(&newcomer);
        let weigh = |share: &TsRsaShare| share.weighted(sharing, &me, &helpers, place).ok_or_else(refuse);
        let weighted = share.map(weigh).transpose()?;
        let sharing = sharing.clone();
        Ok(Self {
            sharing,
            me,
            newcomer,
            helpers,
            weighted,
            shuffled: false,
            over: false,
            drawn: BTreeMap::new(),
        })
    }

    /// The second round's words of a helper.
    fn shuffle(&self, heard: &Incoming) -> Result<Outgoing, Fault> {
        let divisor = self.sharing.modulus.divisor();
        let mut sum = match &self.weighted {
            Some(weighted) => weighted.clone(),
            None => return Ok(Outgoing::default()),
        };
        for drawn in self.drawn.values() {
            sum = Secret::new(sum.expose().add_mod(drawn.expose(), divisor));
        }
        for other in self.helpers.iter().filter(|other| **other < self.me) {
            let theirs = self.told(heard, other)?;
            sum = Secret::new(sum.expose().sub_mod(theirs.expose(), divisor));
        }
        let words = self.sharing.write(sum.expose());
        Ok(Outgoing { to_all: Vec::new(), to_each: BTreeMap::from([(self.newcomer, words)]) })
    }

    fn told(&self, heard: &Incoming, by: &MemberId) -> Result<Secret<BoxedUint>, Fault> {
        let number = heard.to_me.get(by).and_then(|words| self.sharing.read(words.expose()));
        number.map(Secret::new).ok_or_else(|| of(FaultKind::PeerMalformed, *by))
    }

    /// The sum of what the helpers said: f(new), if all of them were honest.
    fn sum(&self, heard: &Incoming) -> Result<Option<TsRsaShare>, Fault> {
        if self.weighted.is_some() {
            return Ok(None);
        }
        let mut sum = Secret::new(BoxedUint::zero_with_precision(self.sharing.modulus.precision()));
        for helper in &self.helpers {
            let part = self.told(heard, helper)?;
            sum = Secret::new(sum.expose().add_mod(part.expose(), self.sharing.modulus.divisor()));
        }
        Ok(Some(TsRsaShare(sum)))
    }
}

impl Run for TsRsaEnrol {
    type Done = Option<TsRsaShare>;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Self::Done> {
        let mut said = Outgoing::default();
        let later = self.helpers.iter().filter(|other| self.weighted.is_some() && **other > self.me);
        for other in later {
            let delta = Secret::new(self.sharing.modulus.draw(entropy));
            said.to_each.insert(*other, self.sharing.write(delta.expose()));
            self.drawn.insert(*other, delta);
        }
        Next::Say(said)
    }

    fn awaited(&self) -> Vec<MemberId> {
        if self.over { Vec::new() } else { self.helpers.clone() }
    }

    fn hear(&mut self, heard: Incoming, _entropy: &mut dyn Entropy) -> Result<Next<Self::Done>, Fault> {
        if core::mem::replace(&mut self.over, true) {
            return Err(of_nobody(FaultKind::LocalRound));
        }
        whole_round(&heard, &self.helpers)?;
        if let Some((hand, _)) = heard.to_all.iter().find(|(_, words)| !words.is_empty()) {
            return Err(of(FaultKind::PeerMalformed, *hand));
        }
        if self.shuffled {
            return self.sum(&heard).map(Next::Done);
        }
        self.shuffled = true;
        let said = self.shuffle(&heard)?;
        self.over = false;
        Ok(Next::Say(said))
    }
}
