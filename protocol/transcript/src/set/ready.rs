//! What a decision could carry out now.

use super::Set;
use super::judge::Room;
use crate::state::check_begin;
use crate::{Admit, Approved, Effect, Proof, Refusal, Refused, State, Subject};
use folkmoot_base::{Digest, UnixTime};
use folkmoot_identity::{Adopt, VoteKind};
use std::collections::{BTreeMap, BTreeSet};

impl Set {
    /// The effects that enough voters approve at `time`, with the approvals that a decision of that
    /// time may carry. Whether each may be carried out is not judged here.
    pub fn approved(&self, state: &State, time: UnixTime) -> Vec<Approved> {
        let ready = |effect: &Effect| {
            if !self.shows(state, &effect.change) || self.is_coming(&effect.change) {
                return None;
            }
            let proofs = self.proofs(state, effect, time);
            let yes = proofs.iter().map(|proof| proof.voter).collect();
            state.carries(&effect.change, &yes).is_ok().then(|| Approved { effect: effect.clone(), proofs })
        };
        self.effects.values().filter_map(ready).collect()
    }

    /// The approvals of an effect that count at `time`, as a decision carries them.
    pub fn proofs(&self, state: &State, effect: &Effect, time: UnixTime) -> Vec<Proof> {
        let subject = effect.subject();
        let named = effect.change.request().and_then(|request| self.admit(request));
        let stamp = state.stamp_with(&effect.change, named);
        let yes = self.signed_of(subject).filter(|signed| signed.approval.is_yes());
        let counting = yes.filter(|signed| state.counts(&signed.approval, stamp, time).is_ok());
        counting.filter_map(|signed| Some(Proof::of(&signed.approval, signed.signature.clone()?))).collect()
    }

    /// The admissions that a decision of programs may hold at `time`: those that count then, and,
    /// where the charter says so, those that would if their approvals had not run out.
    pub fn holdable(&self, state: &State, time: UnixTime) -> BTreeSet<Digest> {
        let auto = state.charter().adopt() == Adopt::Auto;
        let time = time.max(self.time(state));
        let begun = |admit: &Admit| check_begin(state, admit, time).is_ok();
        let mut room = Room::at(state);
        let mut held = BTreeSet::new();
        for admit in self.counted().filter(|admit| begun(admit)) {
            if self.judge_at(state, admit, time, time).is_ok() && room.take(admit).is_ok() {
                held.insert(admit.request);
            }
        }
        for admit in self.admits().filter(|admit| auto && begun(admit)) {
            let open = !held.contains(&admit.request);
            if open && self.judge_at(state, admit, time, UnixTime(0)).is_ok() && room.take(admit).is_ok() {
                held.insert(admit.request);
            }
        }
        held
    }

    /// The requests that enough voters reject, for a decision to say so.
    pub fn refusable(&self, state: &State) -> Vec<Refused> {
        let rejected = self
            .approvals
            .iter()
            .filter(|((subject, _), signed)| subject.kind == VoteKind::Admit && !signed.approval.is_yes());
        let requests: BTreeSet<Subject> = rejected.map(|((subject, _), _)| *subject).collect();
        let csr: BTreeMap<Digest, &Refusal> =
            self.refusals.iter().map(|refusal| (refusal.request, refusal)).collect();
        let refused = requests.into_iter().filter(|subject| self.is_objected(state, &subject.digest));
        let refused = refused.map(|subject| Refused {
            request: subject.digest,
            csr: csr.get(&subject.digest).and_then(|refusal| refusal.csr),
            proofs: self.rejections(state, &subject.digest),
        });
        refused.filter(|refused| !state.has_refused(&refused.refusal())).collect()
    }

    fn rejections(&self, state: &State, request: &Digest) -> Vec<Proof> {
        let no = self.objections(state, request);
        no.filter_map(|signed| Some(Proof::of(&signed.approval, signed.signature.clone()?))).collect()
    }
}
