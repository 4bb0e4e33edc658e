//! Whose approvals suffice for what.

use super::{IDLE_SECONDS, State};
use crate::{Approval, Change, Uncounted};
use folkmoot_base::{Danger, MemberId, UnixTime};
use folkmoot_identity::{Below, Policy, Threshold};
use folkmoot_signing::shared;
use std::collections::BTreeSet;

const DAY_SECONDS: u64 = 86_400;

impl State {
    /// Whether this member's approvals and commits count: it has a place, and its membership holds.
    /// A voter whose term is over still votes until a decision ends the term.
    pub fn may_vote(&self, member: &MemberId) -> bool {
        self.since(member).is_some() && self.roster.contains_key(member)
    }

    /// Those who [`Self::may_vote`].
    pub fn voters(&self) -> BTreeSet<MemberId> {
        self.places.iter().map(|place| place.voter).filter(|voter| self.roster.contains_key(voter)).collect()
    }

    /// The number of the decision since which this member has its place.
    pub fn since(&self, member: &MemberId) -> Option<u64> {
        self.places.iter().find(|place| place.voter == *member).map(|place| place.since)
    }

    /// Whether `yes` are a quorum of the places: two quorums share a voter.
    pub fn is_quorum(&self, yes: &BTreeSet<MemberId>) -> bool {
        let places: Vec<MemberId> = self.places.iter().map(|place| place.voter).collect();
        let alone = self.danger.is(Danger::LineNoQuorum) && !yes.is_empty();
        alone || self.charter.quorum().holds(&places, yes)
    }

    /// `LINE-95`: whether a decision of this time needs the word of this voter's person on the
    /// date. The voter alone is a quorum, so no other clock could stop its own; and the time of the
    /// last decision is long past.
    pub fn asks_date(&self, voter: &MemberId, time: UnixTime) -> bool {
        let last = self.time().0;
        let far = last > 0 && time.0 >= last.saturating_add(IDLE_SECONDS);
        far && self.is_alone(voter) && !self.danger.is(Danger::LineAloneUnasked)
    }

    /// `LINE-04`: so old is the last decision when this voter has one made that only tells the
    /// time, in seconds. A voter that alone is a quorum does so a day before it would have to ask
    /// its person.
    pub fn idle_seconds(&self, voter: &MemberId) -> u64 {
        if self.is_alone(voter) { IDLE_SECONDS.saturating_sub(DAY_SECONDS) } else { IDLE_SECONDS }
    }

    fn is_alone(&self, voter: &MemberId) -> bool {
        self.may_vote(voter) && self.is_quorum(&BTreeSet::from([*voter]))
    }

    /// Whether `yes` suffice for an effect, before its own rule: the threshold, and a quorum.
    pub fn decides(&self, yes: &BTreeSet<MemberId>) -> bool {
        yes.len() >= self.threshold() && self.is_quorum(yes)
    }

    /// How many approvals an effect takes at the least, for a message to people.
    pub fn decision_need(&self) -> usize {
        self.threshold().max(self.places.len().div_ceil(2))
    }

    /// How many approvals it takes before any quorum: the charter's threshold, or all voters if
    /// they are fewer and the charter resets it then.
    pub fn threshold(&self) -> usize {
        let asked = self.asked();
        match self.charter.policies().below {
            Below::Reset => self.below_threshold().map_or(asked, |voters| voters.max(1)),
            Below::Nobody | Below::Authority => asked,
        }
    }

    fn asked(&self) -> usize {
        usize::try_from(self.charter.threshold()).unwrap_or(usize::MAX)
    }

    /// How many voters there are, if they are fewer than the charter asks for and it says who
    /// admits then.
    pub fn below_threshold(&self) -> Option<usize> {
        let voters = self.voters().len();
        (self.charter.policies().below != Below::Nobody && voters < self.asked()).then_some(voters)
    }

    /// Whether the charter's authority admits without approvals: by policy, or because there are
    /// too few voters and the charter says so.
    pub fn is_for_authority(&self) -> bool {
        let policies = self.charter.policies();
        policies.policy == Policy::Authority
            || (policies.below == Below::Authority && self.below_threshold().is_some())
    }

    /// Whether the approvals of `yes` let `holder` in: `LINE-24`, `LINE-25`.
    ///
    /// # Errors
    /// What they lack.
    pub fn lets_in(&self, holder: &MemberId, yes: &BTreeSet<MemberId>) -> Result<(), Uncounted> {
        if self.is_for_authority() {
            return Ok(());
        }
        let policies = self.charter.policies();
        policies.let_in(Some(holder), yes, self.threshold()).map_err(Uncounted::Policy)?;
        if self.charter.minority_may_admit() || self.is_quorum(yes) {
            Ok(())
        } else {
            Err(Uncounted::Minority { got: yes.len(), need: self.decision_need() })
        }
    }

    /// Whether an approval counts here, for a subject that last changed at `stamp`, at a time:
    /// `LINE-10` to `LINE-14`, `LINE-21`.
    ///
    /// # Errors
    /// Why not.
    pub fn counts(&self, approval: &Approval, stamp: u64, time: UnixTime) -> Result<(), Uncounted> {
        if !self.has_on_line(&approval.base) {
            return Err(Uncounted::OffLine(approval.voter));
        }
        let since = self.since(&approval.voter).filter(|_| self.may_vote(&approval.voter));
        let since = since.ok_or(Uncounted::NotVoter(approval.voter))?;
        if approval.base.number < since && !self.danger.is(Danger::LineNoSince) {
            return Err(Uncounted::BeforeSince(approval.voter));
        }
        if approval.base.number < stamp && !self.danger.is(Danger::LineNoStamps) {
            return Err(Uncounted::BeforeStamp(approval.voter));
        }
        if approval.expires < time && !self.danger.is(Danger::LineNoExpiry) {
            return Err(Uncounted::Expired(approval.voter));
        }
        if self.is_used(&approval.subject.digest) && !self.danger.is(Danger::LineKeepsUsed) {
            return Err(Uncounted::Used);
        }
        Ok(())
    }

    /// How many of those who approve a sharing have stored it, and how many must: a holder's
    /// approval says that its share is on disk. As many as sign, and a margin, so that enough are
    /// left whatever those who may be corrupt have said.
    fn stored(&self, change: &Change, yes: &BTreeSet<MemberId>) -> (usize, usize) {
        let Change::Sharing { public, .. } = change else { return (0, 0) };
        let scheme = self.charter.scheme();
        let Ok(facts) = shared::facts(scheme, &public.0) else { return (0, usize::MAX) };
        if self.is(Danger::LineFewKeepers) {
            return (yes.len(), scheme.signers(self.threshold()));
        }
        let stored = facts.holders.iter().filter(|holder| yes.contains(holder)).count();
        (stored, scheme.keepers(facts.threshold, facts.holders.len()))
    }

    /// Whether `yes` suffice for this change: `LINE-40`, `LINE-48`.
    ///
    /// # Errors
    /// What they lack.
    pub fn carries(&self, change: &Change, yes: &BTreeSet<MemberId>) -> Result<(), Uncounted> {
        if matches!(change, Change::Rejoin { .. }) && self.is(Danger::LineFewRejoin) {
            return Ok(());
        }
        if !self.decides(yes) {
            return Err(Uncounted::TooFew { got: yes.len(), need: self.decision_need() });
        }
        let (got, need) = self.stored(change, yes);
        if got < need {
            return Err(Uncounted::TooFew { got, need });
        }
        match change.goes() {
            Some(_) => self.charter.policies().let_go(yes).map_err(Uncounted::Rule),
            None => Ok(()),
        }
    }

    /// The threshold that is due if it follows the group's size and the size has moved.
    pub(super) fn threshold_update(&self) -> Option<Threshold> {
        self.charter.threshold_rule().update(self.roster.len())
    }

    /// Holders of shares of the group's key that have no vote any more. As many as the threshold
    /// could sign without the members.
    pub fn leavers_with_shares(&self) -> Vec<MemberId> {
        let holders = self.sharing.iter().flat_map(|sharing| &sharing.facts.holders);
        holders.filter(|holder| !self.may_vote(holder)).copied().collect()
    }
}
