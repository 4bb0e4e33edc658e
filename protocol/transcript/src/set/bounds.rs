//! What stays if there is too much: the same at everybody who has the same.

use super::{Set, admission, is_shown};
use crate::{Approval, Change, Effect, Refusal, Signed, State, Subject};
use folkmoot_base::{Danger, Digest, MemberId};
use std::collections::{BTreeMap, BTreeSet};

/// Most admissions that no decision holds.
pub const ADMITS_MAX: usize = 4_096;
/// Most approvals of one voter.
pub const APPROVALS_MAX: usize = 4_096;
/// Most effects that one voter keeps in the set by approving them.
pub const SPONSORED_MAX: usize = 16;
/// So many bytes of effects, and one more effect, one voter keeps at most.
pub const SPONSORED_BYTES: usize = 256 * 1024;
/// Most admissions that do not count and that one voter approves; and most besides.
pub const LATE_MAX: usize = 128;
/// Longest item of an admission that does not count.
pub const LATE_BYTES_MAX: usize = 8 * 1024;
/// Most refusals that one voter keeps in the set by rejecting their requests.
pub const REFUSALS_MAX: usize = 128;

impl Set {
    /// Of the admissions that do not count each voter keeps those with the lowest requests that it
    /// approves. So nobody's flood drives out what another voter wants. Of the others those with
    /// the lowest requests stay, and those that count stay. Past moves with the ends that come and
    /// go: then all are judged by it again.
    pub(super) fn bound_admits(&mut self, state: &State) {
        self.drop_admits(state);
        while self.judged != self.time(state) {
            self.judge_all(state);
            self.drop_admits(state);
        }
    }

    fn drop_admits(&mut self, state: &State) {
        if state.is(Danger::LineNoBounds) {
            return;
        }
        for request in self.too_late(state) {
            self.drop_admit(state, request);
        }
        while self.admits.len() > ADMITS_MAX {
            let Some(request) = self.admits.keys().next_back().copied() else { return };
            self.drop_admit(state, request);
        }
    }

    /// The admissions that do not count and for which there is no room.
    fn too_late(&self, state: &State) -> Vec<Digest> {
        let late = || self.admits.iter().filter(|(_, kept)| kept.verdict.is_err());
        if late().count() <= LATE_MAX && !late().any(|(_, kept)| kept.long) {
            return Vec::new();
        }
        let mut room: BTreeMap<MemberId, usize> =
            state.places().iter().map(|place| (place.voter, LATE_MAX)).collect();
        let mut others = LATE_MAX;
        let mut gone = Vec::new();
        for (request, kept) in late() {
            let yes = self.signed_of(admission(*request)).filter(|signed| signed.approval.is_yes());
            // Each voter that has room uses it up, not only the first.
            let mut has_room = |signed: &&Signed| room.get_mut(&signed.approval.voter).is_some_and(take_one);
            if kept.long || (yes.filter(&mut has_room).count() == 0 && !take_one(&mut others)) {
                gone.push(*request);
            }
        }
        gone
    }

    pub(super) fn drop_admit(&mut self, state: &State, request: Digest) {
        self.admits.remove(&request);
        self.drop_unshown(state, admission(request));
        self.changed();
    }

    /// The unsigned approvals of an admission that is no longer in the set.
    fn drop_unshown(&mut self, state: &State, subject: Subject) {
        let unsigned: Vec<Signed> =
            self.signed_of(subject).filter(|signed| signed.signature.is_none()).cloned().collect();
        for gone in unsigned {
            self.approvals.remove(&(subject, gone.approval.voter));
            self.no_longer_given(&gone.approval);
        }
        self.replaced.retain(|(one, ..), signed| *one != subject || signed.signature.is_some());
        self.stand_again(state);
    }

    pub(super) fn drop_approval(&mut self, key: (Subject, MemberId)) {
        if let Some(gone) = self.approvals.remove(&key) {
            self.no_longer_given(&gone.approval);
        }
        self.drop_replaced(key);
    }

    /// An approval stands: it is among its voter's.
    pub(super) fn note_given(&mut self, approval: &Approval) {
        self.given.entry(approval.voter).or_default().insert(approval.digest(), approval.subject);
    }

    pub(super) fn no_longer_given(&mut self, approval: &Approval) {
        if let Some(given) = self.given.get_mut(&approval.voter) {
            given.remove(&approval.digest());
        }
    }

    /// Whether more approvals of this voter stand than are kept.
    pub(super) fn has_too_many(&self, voter: &MemberId) -> bool {
        self.given.get(voter).is_some_and(|given| given.len() > APPROVALS_MAX)
    }

    /// Whether more of them came than a set keeps and its admissions bring.
    pub(super) fn has_far_too_many(&self, voter: &MemberId) -> bool {
        let most = APPROVALS_MAX.saturating_add(ADMITS_MAX);
        self.given.get(voter).is_some_and(|given| given.len() > most)
    }

    /// Of each voter's approvals the lowest digests stay, as by [`Self::bound_approvals`].
    pub(super) fn bound_all_approvals(&mut self) {
        let many: Vec<MemberId> =
            self.given.keys().filter(|voter| self.has_too_many(voter)).copied().collect();
        for voter in many {
            let given = self.given.get(&voter).into_iter().flatten();
            let gone: Vec<Subject> = given.skip(APPROVALS_MAX).map(|(_, subject)| *subject).collect();
            gone.into_iter().for_each(|subject| self.drop_approval((subject, voter)));
        }
    }

    /// Sorts each voter's approvals anew.
    pub(super) fn count_given(&mut self) {
        self.given.clear();
        for ((subject, voter), signed) in &self.approvals {
            self.given.entry(*voter).or_default().insert(signed.approval.digest(), *subject);
        }
    }

    /// An approval without a signature of its own goes with the admission whose certificate proves
    /// it.
    pub(super) fn bound_shown(&mut self, state: &State) {
        let admits = &self.admits;
        self.approvals.retain(|_, signed| is_shown(admits, signed));
        self.replaced.retain(|_, signed| is_shown(admits, signed));
        self.count_given();
        self.stand_again(state);
    }

    /// Drops the admissions and what only their certificates prove: they are taken anew.
    pub(crate) fn forget_admits(&mut self, state: &State) {
        self.admits.clear();
        self.bound_shown(state);
        self.changed();
    }

    /// Of one voter's approvals those with the lowest digests stay: a voter who floods the set
    /// harms its own vote. The subject of the one that is dropped.
    pub(super) fn bound_approvals(&mut self, state: &State, voter: &MemberId) -> Option<Subject> {
        if !self.has_too_many(voter) || state.is(Danger::LineNoBounds) {
            return None;
        }
        let (_, subject) = self.given.get(voter)?.last_key_value()?;
        let subject = *subject;
        self.drop_approval((subject, *voter));
        Some(subject)
    }

    /// Drops those of these approvals that have no signature of their own.
    pub(crate) fn forget_unsigned(&mut self, state: &State, names: &BTreeSet<Digest>) {
        if names.is_empty() {
            return;
        }
        let stays =
            |signed: &Signed| signed.signature.is_some() || !names.contains(&signed.approval.digest());
        self.approvals.retain(|_, signed| stays(signed));
        self.replaced.retain(|_, signed| stays(signed));
        self.count_given();
        self.stand_again(state);
        self.changed();
        self.judge_all(state);
    }

    /// What a refusal says of a CSR stays as long as somebody rejects the request: each voter keeps
    /// those with the lowest requests.
    pub(super) fn bound_refusals(&mut self, state: &State) {
        if self.refusals.is_empty() {
            return;
        }
        let most = if state.is(Danger::LineNoBounds) { usize::MAX } else { REFUSALS_MAX };
        let mut room: BTreeMap<MemberId, usize> = BTreeMap::new();
        let mut gone: Vec<Refusal> = Vec::new();
        for refusal in &self.refusals {
            let no = self.signed_of(admission(refusal.request)).filter(|signed| !signed.approval.is_yes());
            let kept = no.filter(|no| take_one(room.entry(no.approval.voter).or_insert(most))).count();
            if kept == 0 {
                gone.push(*refusal);
            }
        }
        for refusal in &gone {
            self.refusals.remove(refusal);
        }
    }

    /// An effect stays as long as a voter sponsors it: it is among the first, by subject, that this
    /// voter approves and that have not been decided since. So nobody's flood drives out what
    /// another voter wants, and what was decided takes no room. Another key for somebody who is no
    /// member any more can neither be decided nor shown to anybody.
    pub(super) fn bound_effects(&mut self, state: &State) {
        if self.effects.is_empty() {
            return;
        }
        let all = state.is(Danger::LineNoBounds);
        let most = if all { (usize::MAX, usize::MAX) } else { (SPONSORED_MAX, SPONSORED_BYTES) };
        let mut room: BTreeMap<MemberId, (usize, usize)> =
            state.places().iter().map(|place| (place.voter, most)).collect();
        let mut kept: BTreeSet<Subject> = BTreeSet::new();
        let yes = self.approvals.iter().filter(|(_, signed)| signed.approval.is_yes());
        for ((subject, voter), _) in
            yes.filter(|((subject, _), signed)| self.sponsors(state, subject, signed))
        {
            let Some((left, bytes)) = room.get_mut(voter) else { continue };
            if *bytes > 0 && take_one(left) {
                let long = self.effects.get(subject).map_or(0, |effect| effect.change.long());
                *bytes = bytes.saturating_sub(long);
                kept.insert(*subject);
            }
        }
        self.effects.retain(|subject, effect| kept.contains(subject) && is_of_a_member(state, effect));
    }

    /// Whether an approval is of an effect that is here, and not older than its stamp.
    fn sponsors(&self, state: &State, subject: &Subject, signed: &Signed) -> bool {
        self.effects.get(subject).is_some_and(|effect| {
            let named = effect.change.request().and_then(|request| self.admit(request));
            signed.approval.base.number >= state.stamp_with(&effect.change, named)
        })
    }
}

/// Takes one of what is left, if anything is.
fn take_one(left: &mut usize) -> bool {
    let some = *left > 0;
    *left = left.saturating_sub(1);
    some
}

fn is_of_a_member(state: &State, effect: &Effect) -> bool {
    match &effect.change {
        Change::Rotate { member, .. } => state.roster().contains_key(member),
        _ => true,
    }
}
