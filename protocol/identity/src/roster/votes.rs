//! Whose votes suffice for what.

use super::Roster;
use crate::{Below, Decision, Policy};
use folkmoot_base::MemberId;
use std::collections::BTreeSet;

impl Roster {
    /// Whether `yes` suffice for a decision of any kind: the threshold, and a quorum (DECISIONS
    /// T4).
    pub fn decides(&self, yes: &BTreeSet<MemberId>) -> bool {
        self.electorate.is_quorum(yes) && yes.len() >= self.threshold()
    }

    /// Whether `yes` suffice for this decision: a removal may need a rule besides (`TRN-33`).
    pub fn carries(&self, decision: &Decision, yes: &BTreeSet<MemberId>) -> bool {
        let removes = matches!(decision.plain(), Decision::Remove { .. });
        let signs = yes.len() >= self.signers_for(decision);
        signs && self.decides(yes) && (!removes || self.charter.policies().let_go(&self.voting(yes)).is_ok())
    }

    /// How many voters a sharing needs besides: as many as sign by its scheme, because a voter for
    /// a sharing has its share on disk. Fewer could erase the old shares for new ones that sign
    /// nothing (threshold ECDSA takes 2t-1).
    pub(crate) fn signers_for(&self, decision: &Decision) -> usize {
        match decision.plain() {
            Decision::Sharing { .. } => self.charter.scheme().signers(self.threshold()),
            _ => 0,
        }
    }

    /// How many votes a decision needs, at the least.
    pub fn decision_need(&self) -> usize {
        self.threshold().max(self.electorate.voters.len().div_ceil(2))
    }

    /// Whether `yes` suffice to admit somebody whom no list names: [`Self::lets_in`].
    pub fn admits(&self, yes: &BTreeSet<MemberId>) -> bool {
        self.suffices(None, yes)
    }

    /// Whether `yes` suffice to admit `holder`: by the charter's policy, and by a quorum too if the
    /// charter forbids a minority to admit (DECISIONS T3).
    pub fn lets_in(&self, holder: &MemberId, yes: &BTreeSet<MemberId>) -> bool {
        self.suffices(Some(holder), yes)
    }

    fn suffices(&self, holder: Option<&MemberId>, yes: &BTreeSet<MemberId>) -> bool {
        if self.is_for_authority() {
            return true;
        }
        let policy = self.charter.policies().let_in(holder, &self.voting(yes), self.threshold());
        policy.is_ok() && (self.charter.minority_may_admit() || self.electorate.is_quorum(yes))
    }

    fn voting(&self, yes: &BTreeSet<MemberId>) -> BTreeSet<MemberId> {
        self.electorate.voters.iter().filter(|voter| yes.contains(voter)).copied().collect()
    }

    /// How many votes an admission needs if `yes` are for it already: more than these, if these do
    /// not admit.
    pub fn admission_need(&self, yes: &BTreeSet<MemberId>) -> usize {
        if self.is_for_authority() {
            return 0;
        }
        let least = self.charter.policies().least(self.threshold());
        let least = if self.charter.minority_may_admit() { least } else { least.max(self.decision_need()) };
        if self.admits(yes) { least } else { least.max(yes.len().saturating_add(1)) }
    }

    /// How many votes it takes, before any quorum: the charter's threshold, or all voters if they
    /// are fewer and the charter resets it then.
    pub fn threshold(&self) -> usize {
        let asked = usize::try_from(self.charter.threshold()).unwrap_or(usize::MAX);
        if self.charter.policies().below != Below::Reset {
            return asked;
        }
        self.below_threshold().map_or(asked, |voters| voters.max(1))
    }

    /// How many voters there are, if they are fewer than the charter asks votes for and it says who
    /// admits then.
    pub fn below_threshold(&self) -> Option<usize> {
        let asked = usize::try_from(self.charter.threshold()).unwrap_or(usize::MAX);
        let voters = self.voters().len();
        (self.charter.policies().below != Below::Nobody && voters < asked).then_some(voters)
    }

    /// Whether the charter's authority decides on admissions without votes: by policy, or because
    /// there are fewer voters than the threshold asks for and the charter lets it decide then
    /// (`TRN-58`).
    pub fn is_for_authority(&self) -> bool {
        let policies = self.charter.policies();
        policies.policy == Policy::Authority
            || (policies.below == Below::Authority && self.below_threshold().is_some())
    }
}
