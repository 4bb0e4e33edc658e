//! What stays if there is too much: the same at everybody who has the same.

use super::{Kept, Set, is_shown};
use crate::{Change, Effect, Refusal, Signed, State, Subject};
use folkmoot_base::{Danger, Digest, MemberId};
use folkmoot_identity::VoteKind;
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
            self.bound_shown();
        }
    }

    /// An approval without a signature of its own goes with the admission whose certificate proves
    /// it.
    pub(super) fn bound_shown(&mut self) {
        let admits = &self.admits;
        self.approvals.retain(|_, signed| is_shown(admits, signed));
        let approvals = &self.approvals;
        self.replaced.retain(|key, signed| approvals.contains_key(key) && is_shown(admits, signed));
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

    /// Drops those of these approvals that have no signature of their own.
    pub(crate) fn forget_unsigned(&mut self, state: &State, names: &BTreeSet<Digest>) {
        if names.is_empty() {
            return;
        }
        let stays =
            |signed: &Signed| signed.signature.is_some() || !names.contains(&signed.approval.digest());
        self.approvals.retain(|_, signed| stays(signed));
        let approvals = &self.approvals;
        self.replaced.retain(|key, signed| approvals.contains_key(key) && stays(signed));
        self.changed();
        self.judge_all(state);
    }

    /// What a refusal says of a CSR stays as long as somebody rejects the request.
    pub(super) fn bound_refusals(&mut self) {
        let gone = |refusal: &&Refusal| !self.is_rejected(&refusal.request);
        let gone: Vec<Refusal> = self.refusals.iter().filter(gone).copied().collect();
        for refusal in &gone {
            self.refusals.remove(refusal);
        }
    }

    /// An effect stays as long as a voter sponsors it: it is among the first that this voter
    /// approves, by digest. So nobody's flood drives out what another voter wants. Another key for
    /// somebody who is no member any more can neither be decided nor shown to anybody.
    pub(super) fn bound_effects(&mut self, state: &State) {
        let mut kept: BTreeSet<Subject> = BTreeSet::new();
        for place in state.places() {
            let yes = self.approvals.iter().filter(|((subject, voter), signed)| {
                *voter == place.voter && subject.kind != VoteKind::Admit && signed.approval.is_yes()
            });
            let most = if state.is(Danger::LineNoBounds) { usize::MAX } else { SPONSORED_MAX };
            kept.extend(yes.map(|((subject, _), _)| *subject).take(most));
        }
        self.effects.retain(|subject, effect| kept.contains(subject) && is_of_a_member(state, effect));
    }
}

fn is_of_a_member(state: &State, effect: &Effect) -> bool {
    match &effect.change {
        Change::Rotate { member, .. } => state.roster().contains_key(member),
        _ => true,
    }
}
