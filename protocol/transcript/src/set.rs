//! The set: what no decision holds yet. Admissions, approvals, effects that want more approvals,
//! and one time that is past.
//!
//! ```text
//! set of A  ∪  set of B  =  one set, whatever order its parts came in
//! roster    =  what State(n) holds  +  the admissions of the set that count at n  -  what ended by Past
//! ```
//! Promise: two members with equal heads and equal sets have equal rosters. What counts follows
//! from State(n) and the set alone; no clock and no order of arrival enters. Bounds: [`ADMITS_MAX`]
//! admissions, [`APPROVALS_MAX`] approvals of one voter, [`SPONSORED_MAX`] effects that one voter
//! keeps here by approving them. Of too many admissions those that count stay first, then those
//! with the lowest digests.

mod bounds;
mod judge;
mod load;
mod past;
mod ready;
mod replaced;

pub use bounds::{
    ADMITS_MAX, APPROVALS_MAX, LATE_BYTES_MAX, LATE_MAX, REFUSALS_MAX as REFUSALS_OF_VOTER_MAX,
    SPONSORED_BYTES, SPONSORED_MAX,
};
pub use past::{PAST_SAID_SECONDS, PAST_TAKEN_SECONDS};

use crate::{
    Admit, Approval, Change, Effect, Head, Held, Refusal, SignatureBytes, State, Subject, Uncounted,
    VOTERS_MAX,
};
use folkmoot_base::{Danger, Digest, MemberId, UnixTime, digest};
use folkmoot_identity::VoteKind;
use replaced::Replaced;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// An approval, and the voter's signature on it; none if the certificate that carries it proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// What is approved.
    pub approval: Approval,
    /// By which signature.
    pub signature: Option<SignatureBytes>,
}

#[derive(Debug, Clone)]
struct Kept {
    admit: Admit,
    /// Whether it counts at the present state.
    verdict: Result<(), Uncounted>,
    /// The last moment at which it does, or did.
    last: Option<UnixTime>,
    /// Whether its item is longer than that of an admission that does not count may be.
    long: bool,
}

/// What no decision holds yet.
#[derive(Debug, Clone, Default)]
pub struct Set {
    admits: BTreeMap<Digest, Kept>,
    approvals: BTreeMap<(Subject, MemberId), Signed>,
    /// Yeses to admissions that their voters have taken back or said again.
    replaced: Replaced,
    effects: BTreeMap<Subject, Effect>,
    refusals: BTreeSet<Refusal>,
    /// Somebody's clock was past what ended before this: `LINE-33`.
    over: UnixTime,
    /// The last end before it, as far as ends are known here.
    past: OnceLock<UnixTime>,
    /// By which time the admissions were judged.
    judged: UnixTime,
    /// The time of the state, and when the terms in it end.
    terms: (UnixTime, BTreeSet<UnixTime>),
    /// Approvals that end too far ahead of our clock to be in the set, verified: they vouch for
    /// what somebody has decided by them.
    waiting: BTreeMap<(Subject, MemberId), Signed>,
    /// The approvals of each voter that stand, by name.
    given: BTreeMap<MemberId, BTreeMap<Digest, Subject>>,
    /// Whether many things come, and what follows from them is worked out at the end.
    loading: bool,
    /// Whether more came than a set keeps, since it began to load.
    overfull: bool,
    /// The lines that a Rejoin may name: by their first decisions after the fork, and whether each
    /// goes over to ours. Evidence, and no part of the digest.
    sides: BTreeMap<Head, bool>,
    /// How often it has changed.
    version: u64,
    digest: OnceLock<Digest>,
}

impl Set {
    /// A number that grows with every change.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Says which other lines are known here.
    pub(crate) fn show_sides(&mut self, sides: BTreeMap<Head, bool>) {
        self.sides = sides;
        self.version = self.version.wrapping_add(1);
    }

    /// `LINE-54`: whether the line that a Rejoin names is known here.
    pub(crate) fn shows(&self, state: &State, change: &Change) -> bool {
        let Change::Rejoin { head } = change else { return true };
        self.sides.contains_key(head) || state.is(Danger::LineRejoinUnseen)
    }

    /// Whether the line that this Rejoin names goes over to ours.
    pub(super) fn is_coming(&self, change: &Change) -> bool {
        matches!(change, Change::Rejoin { head } if self.sides.get(head) == Some(&true))
    }

    /// `LINE-53`: whether something may follow the head: it is no Rejoin, or one that falls,
    /// because the other line goes over to ours.
    pub fn goes_on(&self, state: &State) -> bool {
        let coming = |head: Head| self.sides.get(&head) == Some(&true);
        state.rejoin().is_none_or(|head| state.may_outlast() && coming(head)) || state.is(Danger::LineGoesOn)
    }

    fn changed(&mut self) {
        self.version = self.version.wrapping_add(1);
        self.digest = OnceLock::new();
        self.past = OnceLock::new();
    }

    /// Takes an admission, or the share-epoch of another certificate of one that is here. Whether
    /// it was new and has been kept.
    pub fn take_admit(&mut self, state: &State, admit: Admit) -> bool {
        self.take_paper(state, admit, false, Vec::new())
    }

    /// Takes an admission, and the approvals that came with it. Whether any of it was new and has
    /// been kept. `long`: its item is longer than [`LATE_BYTES_MAX`].
    pub(crate) fn take_paper(
        &mut self,
        state: &State,
        admit: Admit,
        long: bool,
        proofs: Vec<Signed>,
    ) -> bool {
        let request = admit.request;
        let (mut came, mut new) = (false, false);
        if self.admits.contains_key(&request) {
            new = self.merge_admit(state, &admit);
        } else if !state.is_used(&request) {
            came = true;
            let (verdict, last) = (self.judge(state, &admit), self.last_of(state, &admit));
            let counts = verdict.is_ok();
            self.admits.insert(request, Kept { admit, verdict, last, long });
            self.changed();
            self.overfull |= self.loading && self.admits.len() > ADMITS_MAX;
            if counts && !self.loading {
                self.crowd(state);
            }
            if !self.loading {
                // It shows whose key an effect that names it is about.
                self.bound_effects(state);
            }
        }
        for proof in proofs {
            new |= self.take_approval_here(state, proof);
        }
        if !self.loading {
            self.bound_admits(state);
        }
        new || (came && self.admits.contains_key(&request))
    }

    fn merge_admit(&mut self, state: &State, admit: &Admit) -> bool {
        let Some(kept) = self.admits.get_mut(&admit.request) else { return false };
        let (new, many) = kept.admit.merge(admit, state.epoch());
        self.overfull |= many && self.loading;
        if new {
            self.changed();
            if !self.loading {
                self.judge_again(state, &admission(admit.request));
            }
        }
        new
    }

    /// Takes an approval whose signature is verified. Whether it is new and has been kept.
    pub fn take_approval(&mut self, state: &State, signed: Signed) -> bool {
        let of_admission = signed.approval.subject.kind == VoteKind::Admit;
        let new = self.take_approval_here(state, signed);
        if of_admission && !self.loading {
            self.bound_admits(state);
        }
        new
    }

    fn take_approval_here(&mut self, state: &State, signed: Signed) -> bool {
        let approval = signed.approval;
        let key = (approval.subject, approval.voter);
        match self.approvals.get_mut(&key) {
            Some(known) if known.approval == approval => {
                if known.signature.is_none() && signed.signature.is_some() {
                    known.signature = signed.signature;
                    self.changed();
                }
                return false;
            }
            _ if !could_count(state, &approval) || !is_shown(&self.admits, &signed) => return false,
            Some(known) if !approval.replaces(&known.approval) && !state.is(Danger::LineNoTurns) => {
                return self.take_replaced(state, signed);
            }
            _ => {}
        }
        self.note_given(&approval);
        if let Some(before) = self.approvals.insert(key, signed) {
            self.no_longer_given(&before.approval);
            self.take_replaced(state, before);
        }
        self.changed();
        if self.loading {
            self.overfull |= self.has_far_too_many(&approval.voter);
            return true;
        }
        let dropped = self.bound_approvals(state, &approval.voter);
        for subject in [Some(approval.subject), dropped].into_iter().flatten() {
            if subject.kind == VoteKind::Admit {
                self.judge_again(state, &subject);
                self.bound_refusals(state);
            } else {
                self.bound_effects(state);
            }
        }
        self.approvals.contains_key(&key)
    }

    /// Takes an effect that a voter here has approved. Whether it was new and has been kept.
    pub fn take_effect(&mut self, state: &State, effect: Effect) -> bool {
        let subject = effect.subject();
        if self.effects.contains_key(&subject) {
            return false;
        }
        self.effects.insert(subject, effect);
        self.changed();
        if self.loading {
            self.overfull |= self.effects.len() > VOTERS_MAX.saturating_mul(SPONSORED_MAX);
            return true;
        }
        self.bound_effects(state);
        self.effects.contains_key(&subject)
    }

    /// Takes what a rejected request by CSR says of that CSR: `refusal` as the request shows it.
    /// Whether it was new.
    pub fn take_refusal(&mut self, state: &State, refusal: Refusal) -> bool {
        if !self.is_rejected(&refusal.request) || refusal.csr.is_none() || !self.refusals.insert(refusal) {
            return false;
        }
        self.changed();
        if self.loading {
            return true;
        }
        self.bound_refusals(state);
        let kept = self.refusals.contains(&refusal);
        if kept {
            self.judge_again(state, &admission(refusal.request));
            self.bound_admits(state);
        }
        kept
    }

    /// Goes on to the state after a decision: what it holds or carried out leaves the set, and what
    /// can never count again with it.
    pub fn advance(&mut self, state: &State) {
        let over = self.admits.extract_if(.., |_, kept| kept.admit.ends < state.time());
        let over: BTreeSet<Digest> = over.map(|(request, _)| request).collect();
        let stays =
            |approval: &Approval| could_count(state, approval) && !over.contains(&approval.subject.digest);
        self.approvals.retain(|_, signed| stays(&signed.approval));
        self.count_given();
        self.replaced.retain(|_, signed| stays(&signed.approval));
        self.admits.retain(|request, _| !state.is_used(request));
        self.bound_shown(state);
        self.refusals.retain(|refusal| !state.has_refused(refusal));
        self.bound_refusals(state);
        self.waiting.retain(|_, signed| could_count(state, &signed.approval));
        self.take_terms(state);
        self.changed();
        self.judge_all(state);
        self.bound_admits(state);
        self.bound_effects(state);
    }

    /// The admissions, sorted by request.
    pub fn admits(&self) -> impl Iterator<Item = &Admit> {
        self.admits.values().map(|kept| &kept.admit)
    }

    /// The admission of this request.
    pub fn admit(&self, request: &Digest) -> Option<&Admit> {
        self.admits.get(request).map(|kept| &kept.admit)
    }

    /// The admissions that count, sorted by request.
    pub fn counted(&self) -> impl Iterator<Item = &Admit> {
        self.admits.values().filter(|kept| kept.verdict.is_ok()).map(|kept| &kept.admit)
    }

    /// Those that do not, each with the reason.
    pub fn late(&self) -> impl Iterator<Item = (&Admit, &Uncounted)> {
        self.admits.values().filter_map(|kept| kept.verdict.as_ref().err().map(|why| (&kept.admit, why)))
    }

    /// The approvals that stand, sorted by subject and voter; then those that were taken back.
    pub fn approvals(&self) -> impl Iterator<Item = &Signed> {
        self.approvals.values().chain(self.replaced.values())
    }

    /// The approvals of one subject.
    pub fn approvals_of(&self, subject: Subject) -> impl Iterator<Item = &Approval> {
        self.signed_of(subject).map(|signed| &signed.approval)
    }

    /// Whether somebody rejects this request.
    pub(super) fn is_rejected(&self, request: &Digest) -> bool {
        self.approvals_of(admission(*request)).any(|approval| !approval.is_yes())
    }

    fn signed_of(&self, subject: Subject) -> impl Iterator<Item = &Signed> {
        let range = (subject, MemberId([0; 32]))..=(subject, MemberId([0xff; 32]));
        self.approvals.range(range).map(|(_, signed)| signed)
    }

    /// A voter's approval of a subject.
    pub fn approval(&self, subject: &Subject, voter: &MemberId) -> Option<&Signed> {
        self.approvals.get(&(*subject, *voter))
    }

    /// The approvals by which an admission could count here: each counts, whatever else it lacks.
    pub fn approving(&self, state: &State, admit: &Admit) -> Vec<&Signed> {
        let stamp = state.removed_at(&admit.member);
        let yes = self.signed_of(admission(admit.request)).filter(|signed| signed.approval.is_yes());
        let time = self.time(state);
        yes.filter(|signed| judge::approves(state, admit, stamp, &signed.approval, time).is_ok()).collect()
    }

    /// The rejections of a request that count here.
    pub fn rejecting(&self, state: &State, request: &Digest) -> BTreeSet<MemberId> {
        self.objections(state, request).map(|signed| signed.approval.voter).collect()
    }

    /// The effects that want approvals.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.effects.values()
    }

    /// The effect that approvals of this subject mean.
    pub fn effect(&self, subject: &Subject) -> Option<&Effect> {
        self.effects.get(subject)
    }

    /// What rejected requests by CSR say.
    pub fn refusals(&self) -> impl Iterator<Item = &Refusal> {
        self.refusals.iter()
    }

    /// Who is a member, and by which admission: of several the one that ends last.
    pub fn members(&self, state: &State) -> BTreeMap<MemberId, Held> {
        let mut members = state.roster().clone();
        for admit in self.counted() {
            let later = |held: &Held| (held.ends, held.request) < (admit.ends, admit.request);
            if members.get(&admit.member).is_none_or(later) {
                members.insert(admit.member, Held::from(admit));
            }
        }
        self.ended(state).iter().for_each(|member| drop(members.remove(member)));
        members
    }

    /// SHA-256 over the names of everything in it: equal for equal sets.
    pub fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| self.worked_out())
    }

    fn worked_out(&self) -> Digest {
        let approvals: Vec<Digest> = self.approvals.values().map(|signed| signed.approval.digest()).collect();
        let mut parts: Vec<&[u8]> = vec![b"folkmoot set v3\0"];
        parts.push(b"admits");
        parts.extend(self.admits.keys().map(<[u8; 32]>::as_slice));
        parts.push(b"epochs");
        for admit in self.admits() {
            parts.extend(admit.epochs.iter().flat_map(|epoch| [&admit.request[..], epoch]));
        }
        parts.push(b"approvals");
        parts.extend(approvals.iter().map(<[u8; 32]>::as_slice));
        let replaced: Vec<Digest> = self.replaced.values().map(|signed| signed.approval.digest()).collect();
        parts.push(b"replaced");
        parts.extend(replaced.iter().map(<[u8; 32]>::as_slice));
        parts.push(b"effects");
        parts.extend(self.effects.keys().map(|subject| subject.digest.as_slice()));
        parts.push(b"refusals");
        parts.extend(self.refusals.iter().map(|refusal| refusal.request.as_slice()));
        let past = self.past().0.to_be_bytes();
        if self.past() > UnixTime(0) {
            parts.extend([b"past".as_slice(), &past]);
        }
        digest(&parts)
    }
}

/// The subject of approvals of a request.
pub fn admission(request: Digest) -> Subject {
    Subject { kind: VoteKind::Admit, digest: request }
}

/// Whether an approval can be shown to somebody: it has a signature of its own, or the certificate
/// that proves it is of an admission of the set. Without this somebody who comes later could never
/// have the same set.
fn is_shown(admits: &BTreeMap<Digest, Kept>, signed: &Signed) -> bool {
    signed.signature.is_some() || admits.contains_key(&signed.approval.subject.digest)
}

/// Whether an approval could count if it had not run out: `LINE-10` to `LINE-12`. One that has run
/// out stays as long as its base is known: a no still stands in place of an earlier yes, and the
/// charter may let programs hold what only ran out of time.
fn could_count(state: &State, approval: &Approval) -> bool {
    state.counts(approval, 0, UnixTime(0)).is_ok()
}
