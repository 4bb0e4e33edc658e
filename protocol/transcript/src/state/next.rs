//! From one state to the next, by a decision.

use super::{State, run};
use crate::decision::{EFFECTS_MAX, HOLDS_MAX, REFUSALS_MAX};
use crate::{
    Admit, Approved, Change, Decision, Elector, Electorate, Head, LIFE_SECONDS, Proof, Refused, Refuted,
    SKEW_SECONDS, Uncounted, Unfit, Wrong,
};
use folkmoot_base::{Blob, Danger, Digest, UnixTime};
use folkmoot_identity::Quorum;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Programs decide something that only tells the time if the time before is so old, and something
/// is approved: 30 days, in seconds.
pub const IDLE_SECONDS: u64 = 30 * 86_400;

/// What a decision is made of, before the state after it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// The time.
    pub time: UnixTime,
    /// What people approved, in order.
    pub effects: Vec<Approved>,
    /// The requests to hold, sorted, each once.
    pub holds: Vec<Digest>,
    /// The requests to refuse, sorted, each once.
    pub refusals: Vec<Refused>,
}

impl State {
    /// The decision that makes of this batch the next state.
    ///
    /// # Errors
    /// [`Wrong`], as [`Self::after`].
    pub fn decide<'a>(
        &self,
        batch: Batch,
        admit: impl Fn(&Digest) -> Option<&'a Admit>,
    ) -> Result<(Decision, Self), Wrong> {
        let mut decision = self.bare(batch);
        let mut next = self.stepped(&decision, &admit)?;
        decision.electorate = next.handover(self);
        decision.state = next.digest();
        next.head = decision.head();
        Ok((decision, next))
    }

    /// Whether a decision could be made of this batch.
    pub(crate) fn takes<'a>(&self, batch: Batch, admit: impl Fn(&Digest) -> Option<&'a Admit>) -> bool {
        self.stepped(&self.bare(batch), &admit).is_ok()
    }

    /// The batch as a decision that does not yet say what comes of it.
    fn bare(&self, batch: Batch) -> Decision {
        Decision {
            group: self.group,
            number: self.head.number.saturating_add(1),
            parent: self.head.digest,
            time: batch.time,
            effects: batch.effects,
            holds: batch.holds,
            refusals: batch.refusals,
            electorate: None,
            state: [0; 32],
        }
    }

    /// The state after a decision, which is judged by this state and by itself. Whether enough
    /// approve what it holds is judged with the set, and whether it stands with its commits.
    ///
    /// # Errors
    /// `LINE-02` to `LINE-06`, `LINE-40` to `LINE-53`; [`Wrong::Missing`] names an admission that
    /// is not here, or not by a certificate of the sharing in use.
    pub fn after<'a>(
        &self,
        decision: &Decision,
        admit: impl Fn(&Digest) -> Option<&'a Admit>,
    ) -> Result<Self, Wrong> {
        let mut next = self.stepped(decision, &admit)?;
        if decision.state != next.digest() {
            return Err(Wrong::State);
        }
        if decision.electorate != next.handover(self) {
            return Err(Wrong::Electorate);
        }
        next.head = decision.head();
        Ok(next)
    }

    fn stepped<'a>(
        &self,
        decision: &Decision,
        admit: &impl Fn(&Digest) -> Option<&'a Admit>,
    ) -> Result<Self, Wrong> {
        self.check_frame(decision)?;
        let mut next = self.clone();
        next.rejoin = None;
        for request in &decision.holds {
            let admit = admit(request).ok_or(Wrong::Missing(*request))?;
            if next.is_used(request) {
                return Err(Wrong::HeldBefore(*request));
            }
            self.check_request(admit, self.time)
                .and_then(|()| check_begin(self, admit, decision.time))
                .map_err(|why| match why {
                    // Others have a certificate of this request that is not here.
                    Uncounted::Epoch if self.epoch().is_some() => Wrong::Missing(*request),
                    why => Wrong::Uncounted { request: *request, why },
                })?;
            next.hold(admit);
        }
        for refused in &decision.refusals {
            self.check_refused(refused)?;
            next.refused.insert(refused.refusal(), decision.number);
        }
        for (place, approved) in decision.effects.iter().enumerate() {
            next = next
                .carry_out(approved, decision.time, admit)
                .map_err(|why| lacks(approved, why, self.epoch().is_some(), place))?;
        }
        let mut next = next.by_itself(decision.time);
        if let Some(handover) = next.handover(self) {
            next.running = run(self.running, decision.number, &handover);
        }
        next.advance(decision);
        next.digest = OnceLock::new();
        Ok(next)
    }

    /// `LINE-02` to `LINE-05`: it follows this state, and its lists are sorted and not too long.
    /// `LINE-53`: the line goes on.
    fn check_frame(&self, decision: &Decision) -> Result<(), Wrong> {
        if decision.group != self.group {
            return Err(Wrong::Group);
        }
        if self.is_over() {
            return Err(Wrong::Over);
        }
        let parent = Head { number: decision.number.saturating_sub(1), digest: decision.parent };
        if decision.number == 0 || parent != self.head {
            return Err(Wrong::Parent { got: parent, want: self.head });
        }
        let back = Change::Retime { head: self.head };
        if decision.time < self.time && !decision.effects.iter().any(|one| one.effect.change == back) {
            return Err(Wrong::Time);
        }
        let sorted = decision.holds.is_sorted_by(|a, b| a < b)
            && decision.refusals.is_sorted_by(|a, b| a.refusal() < b.refusal());
        let small = decision.holds.len() <= HOLDS_MAX
            && decision.effects.len() <= EFFECTS_MAX
            && decision.refusals.len() <= REFUSALS_MAX;
        if sorted && small { Ok(()) } else { Err(Wrong::Lists) }
    }

    /// As many objections as the charter says, each counting here.
    fn check_refused(&self, refused: &Refused) -> Result<(), Wrong> {
        let need = self.charter.policies().objections.unwrap_or_default();
        let need = usize::try_from(need).unwrap_or(usize::MAX);
        let sorted = is_sorted(&refused.proofs);
        let no = refused.rejections().filter(|no| self.counts(no, 0, UnixTime(0)).is_ok()).count();
        if need == 0 || !sorted || no < need || self.has_refused(&refused.refusal()) {
            return Err(Wrong::Refusal { got: no, need });
        }
        Ok(())
    }

    /// Carries out an effect with its approvals, judged after what came before it in the decision.
    fn carry_out<'a>(
        &self,
        approved: &Approved,
        time: UnixTime,
        admit: &impl Fn(&Digest) -> Option<&'a Admit>,
    ) -> Result<Self, Refuted> {
        if !is_sorted(&approved.proofs) {
            return Err(Refuted::Order);
        }
        if self.rejoin.is_some() {
            return Err(Unfit::Over.into());
        }
        let change = &approved.effect.change;
        let named = change.request().and_then(admit);
        let stamp = self.stamp_with(change, named);
        let mut yes = BTreeSet::new();
        for approval in approved.approvals() {
            self.counts(&approval, stamp, time)?;
            yes.insert(approval.voter);
        }
        self.carries(change, &yes)?;
        self.check_leave(change, time)?;
        if let Some(named) = named {
            check_begin(self, named, time)?;
        }
        Ok(self.changed(change, approved.effect.is_forced(), named)?)
    }

    /// What follows without anybody's approval: terms that `time` is past end, as far as the rules
    /// allow, and the threshold follows the group's size.
    fn by_itself(mut self, time: UnixTime) -> Self {
        for member in self.ending(time, &BTreeSet::new()) {
            self.roster.remove(&member);
        }
        if let Some(threshold) = self.threshold_update() {
            let mut next = self.clone();
            next.changes.insert("threshold".to_owned(), threshold.to_string());
            if next.amend().is_ok() && self.check_outcome(&next, false).is_ok() {
                self = next;
            }
        }
        self
    }

    /// Forgets what can no longer matter, and takes number and time.
    fn advance(&mut self, decision: &Decision) {
        let time = decision.time;
        self.recent.insert(self.head.number, (self.head.digest, time));
        // A Retime brings back the times before it, too.
        self.recent.values_mut().for_each(|(_, until)| *until = time.min(*until));
        self.recent.retain(|_, (_, until)| until.0.saturating_add(LIFE_SECONDS) >= time.0);
        let oldest = self.recent.keys().next().copied().unwrap_or(decision.number);
        self.stamps.removed.retain(|_, stamp| *stamp > oldest);
        self.stamps.fields.retain(|_, stamp| *stamp > oldest);
        self.refused.retain(|_, number| *number > oldest);
        self.used.retain(|_, ends| *ends >= time);
        self.revoked.retain(|_, ends| *ends >= time);
        self.head.number = decision.number;
        self.time = time;
    }

    /// The electorate, if it is not that of `before`.
    fn handover(&self, before: &Self) -> Option<Electorate> {
        let (now, then) = (self.electorate(), before.electorate());
        (now != then).then_some(now)
    }

    /// The electorate as a decision tells it.
    pub fn electorate(&self) -> Electorate {
        let key = |member: &folkmoot_base::MemberId| {
            self.roster.get(member).map(|held| held.key.spki_der().to_vec())
        };
        let elector = |place: &super::Place| Elector {
            member: place.voter,
            key: Blob::from(key(&place.voter).unwrap_or_default()),
        };
        let quorum = match self.charter.quorum() {
            Quorum::Majority => 1,
            Quorum::TwoThirds => 2,
        };
        Electorate { quorum, places: self.places.iter().map(elector).collect() }
    }
}

/// `LINE-34`: nothing is held whose term begins later than a clock may be ahead of the decision's.
pub(crate) fn check_begin(state: &State, admit: &Admit, time: UnixTime) -> Result<(), Uncounted> {
    let late = admit.begins.0 > time.0.saturating_add(SKEW_SECONDS) && !state.is(Danger::LineBeginsLater);
    if late { Err(Uncounted::Begins) } else { Ok(()) }
}

/// Why an effect does not stand; of another key, which certificate of it others have and we lack.
fn lacks(approved: &Approved, why: Refuted, has_key: bool, place: usize) -> Wrong {
    match (&approved.effect.change, &why) {
        (Change::Rotate { request, .. }, Refuted::Unfit(Unfit::NoAdmit)) => Wrong::Missing(*request),
        (Change::Rotate { request, .. }, Refuted::Unfit(Unfit::Unsigned)) if has_key => {
            Wrong::Missing(*request)
        }
        _ => Wrong::Effect { place, why },
    }
}

fn is_sorted(proofs: &[Proof]) -> bool {
    proofs.is_sorted_by(|a, b| a.voter < b.voter)
}
