//! What stays if there is too much: the same at everybody who has the same.

use super::{Kept, Set, Signed};
use crate::{Refusal, State, Subject};
use folkmoot_base::{Danger, Digest, MemberId};
use std::collections::BTreeSet;

/// Most admissions that no decision holds.
pub const ADMITS_MAX: usize = 4_096;
/// Most approvals of one voter.
pub const APPROVALS_MAX: usize = 4_096;
/// Most effects that one voter keeps in the set by approving them.
pub const SPONSORED_MAX: usize = 16;

impl Set {
    /// Of the admissions those that count stay first, then those with the lowest digests.
    pub(super) fn bound_admits(&mut self, state: &State) {
        while self.admits.len() > ADMITS_MAX && !state.is(Danger::LineNoBounds) {
            let late = |(_, kept): &(&Digest, &Kept)| kept.verdict.is_err();
            let last = self.admits.iter().rev().find(late).or_else(|| self.admits.iter().next_back());
            let Some(request) = last.map(|(request, _)| *request) else { return };
            self.admits.remove(&request);
        }
    }

    /// Of one voter's approvals those with the lowest digests stay: a voter who floods the set
    /// harms its own vote.
    pub(super) fn bound_approvals(&mut self, state: &State, voter: &MemberId) {
        let of_voter = self.approvals.iter().filter(|((_, by), _)| by == voter);
        if of_voter.clone().count() <= APPROVALS_MAX || state.is(Danger::LineNoBounds) {
            return;
        }
        let highest = of_voter.max_by_key(|(_, signed)| signed.approval.digest());
        if let Some(key) = highest.map(|(key, _)| *key) {
            self.approvals.remove(&key);
            self.replaced.remove(&key);
        }
    }

    /// What a refusal says of a CSR stays as long as somebody rejects the request.
    pub(super) fn bound_refusals(&mut self) {
        let gone = |refusal: &&Refusal| !self.is_rejected(&refusal.request);
        let gone: Vec<Refusal> = self.refusals.iter().filter(gone).copied().collect();
        for refusal in &gone {
            self.refusals.remove(refusal);
        }
    }

    /// An effect stays as long as a voter sponsors it: it is among the first, by digest, that this
    /// voter approves and that have not been decided since. So nobody's flood drives out what
    /// another voter wants, and what was decided takes no room.
    pub(super) fn bound_effects(&mut self, state: &State) {
        let mut kept: BTreeSet<Subject> = BTreeSet::new();
        for place in state.places() {
            let yes = self.approvals.iter().filter(|((subject, voter), signed)| {
                *voter == place.voter && signed.approval.is_yes() && self.sponsors(state, subject, signed)
            });
            let most = if state.is(Danger::LineNoBounds) { usize::MAX } else { SPONSORED_MAX };
            kept.extend(yes.map(|((subject, _), _)| *subject).take(most));
        }
        self.effects.retain(|subject, _| kept.contains(subject));
    }

    /// Whether an approval is of an effect that is here, and not older than its stamp.
    fn sponsors(&self, state: &State, subject: &Subject, signed: &Signed) -> bool {
        self.effects.get(subject).is_some_and(|effect| {
            let named = effect.change.request().and_then(|request| self.admit(request));
            signed.approval.base.number >= state.stamp_with(&effect.change, named)
        })
    }
}
