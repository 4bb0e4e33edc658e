//! Yeses to admissions that their voters have taken back, or said again: somebody may have
//! committed to a decision with one of them.
//!
//! ```text
//! what a voter said of one admission:  what stands  |  of each base the yes with the latest end, besides
//! ```
//! Promise: what is dropped here could not count for longer than what stays. Bounds:
//! [`REPLACED_MAX`] of one voter and one admission: those that count first, then the latest bases.

use super::{Set, Signed, admission, could_count};
use crate::{Approval, State, Subject};
use folkmoot_base::{Digest, MemberId};
use folkmoot_identity::VoteKind;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Most yeses of one voter to one admission that are kept besides what stands.
const REPLACED_MAX: usize = 4;

/// By subject, voter and the number of the base.
pub(super) type Replaced = BTreeMap<(Subject, MemberId, u64), Signed>;

impl Set {
    /// Keeps a yes to an admission that does not stand. Whether it is new and stays.
    pub(super) fn take_replaced(&mut self, state: &State, signed: Signed) -> bool {
        let approval = signed.approval;
        let key = (approval.subject, approval.voter, approval.base.number);
        let rank =
            |one: &Signed| (one.approval.expires, Reverse(one.approval.digest()), one.signature.is_some());
        let wanted = approval.is_yes() && approval.subject.kind == VoteKind::Admit;
        let higher = |known: &Signed| rank(&signed) > rank(known);
        if !wanted || !could_count(state, &approval) || !self.replaced.get(&key).is_none_or(higher) {
            return false;
        }
        self.replaced.insert(key, signed);
        self.bound_replaced(state, approval.subject, approval.voter);
        self.changed();
        self.replaced.contains_key(&key)
    }

    fn bound_replaced(&mut self, state: &State, subject: Subject, voter: MemberId) {
        let all = || self.replaced.range((subject, voter, 0)..=(subject, voter, u64::MAX));
        if all().count() > REPLACED_MAX {
            let counts = |one: &Approval| state.counts(one, 0, state.time()).is_ok();
            let least = all().min_by_key(|(key, signed)| (counts(&signed.approval), key.2));
            if let Some(key) = least.map(|(key, _)| *key) {
                self.replaced.remove(&key);
            }
        }
    }

    /// Drops those of one voter to one admission.
    pub(super) fn drop_replaced(&mut self, (subject, voter): (Subject, MemberId)) {
        self.replaced.retain(|(one, who, _), _| (*one, *who) != (subject, voter));
    }

    /// What stood has gone with the certificate that proved it: what it replaced stands again.
    pub(super) fn stand_again(&mut self, state: &State) {
        let stands =
            |(subject, voter, _): &(Subject, MemberId, u64)| self.approvals.contains_key(&(*subject, *voter));
        let all = std::mem::take(&mut self.replaced);
        let (kept, back): (Replaced, Replaced) = all.into_iter().partition(|(key, _)| stands(key));
        self.replaced = kept;
        for signed in back.into_values() {
            self.take_approval_here(state, signed);
        }
    }

    /// Those of all voters to one admission.
    pub(super) fn replaced_of(&self, request: &Digest) -> impl Iterator<Item = &Signed> {
        let subject = admission(*request);
        let range = (subject, MemberId([0; 32]), 0)..=(subject, MemberId([0xff; 32]), u64::MAX);
        self.replaced.range(range).map(|(_, signed)| signed)
    }

    /// The yeses to a request: those that stand, and those that were taken back or said again.
    pub(crate) fn given(&self, request: &Digest) -> impl Iterator<Item = &Signed> {
        let stand = self.signed_of(admission(*request)).filter(|signed| signed.approval.is_yes());
        stand.chain(self.replaced_of(request))
    }
}
