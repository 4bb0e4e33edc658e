//! What the voters decide, from proposal to decision: expulsion, a change of the charter, a new
//! electorate.

use super::proposals::{Proposal, is_rejected};
use crate::call::Call;
use crate::desk::Desk;
use crate::message::OpenMessage;
use crate::{AdmissionError, Closed, Event, store};
use folkmoot_base::{Digest, MemberId, UnixTime};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Approval, Change, Decision, Effect, Item, Subject};

impl Desk {
    pub(crate) fn expel(&mut self, call: &Call<'_>, member: MemberId) -> Result<(), AdmissionError> {
        if !call.transcript.roster().is_member(&member) {
            return Err(AdmissionError::LocalNotMember(member));
        }
        self.propose(call, Change::Remove { member }.into())
    }

    /// A person here wants an effect, and approves it if it has a vote.
    pub(crate) fn propose(&mut self, call: &Call<'_>, effect: Effect) -> Result<(), AdmissionError> {
        let (me, digest) = (call.me(), effect.subject().digest);
        call.transcript.would_stand(&effect).map_err(AdmissionError::LocalDecision)?;
        let votes = call.transcript.roster().may_vote(&me);
        if is_rejected(&effect, call.transcript, Some(&me)) {
            return Err(AdmissionError::LocalRejected);
        }
        if self.proposals.get(&digest).is_none() {
            self.proposals.room(&me, call.transcript.roster())?;
            self.open_proposal(call, me, effect.clone())?;
            self.out.multicast(&OpenMessage::Proposal { effect: effect.clone() });
            self.out.soon();
        }
        if votes { self.approve(call, &effect) } else { Ok(()) }
    }

    /// Says yes to an effect, and makes known what the yes is to.
    pub(crate) fn approve(&mut self, call: &Call<'_>, effect: &Effect) -> Result<(), AdmissionError> {
        self.speak(call, subject(call, effect), Verdict::Approve, self.expiry(call)?)?;
        if call.transcript.set().effect(&effect.subject()).is_none() {
            self.out.item(Item::Effect(effect.clone()).encode());
        }
        Ok(())
    }

    /// Says no to an effect.
    pub(crate) fn reject(&mut self, call: &Call<'_>, effect: &Effect) -> Result<(), AdmissionError> {
        self.speak(call, subject(call, effect), Verdict::Reject, self.expiry(call)?)
    }

    /// A person here votes. It may change its mind: the last word stands.
    pub(crate) fn vote_proposal(
        &mut self,
        call: &Call<'_>,
        digest: Digest,
        approve: bool,
    ) -> Result<(), AdmissionError> {
        if !call.transcript.roster().may_vote(&call.me()) {
            return Err(AdmissionError::LocalNotVoter);
        }
        let effect = self.proposals.get(&digest).ok_or(AdmissionError::LocalUnknown)?.effect.clone();
        if approve {
            return self.approve(call, &effect);
        }
        self.reject(call, &effect)
    }

    /// A member proposes. Of a voter the transcript hears it too.
    pub(crate) fn hear_proposal(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        effect: Effect,
    ) -> Result<(), AdmissionError> {
        if self.proposals.get(&effect.subject().digest).is_some()
            || is_rejected(&effect, call.transcript, None)
        {
            return Ok(());
        }
        call.transcript.would_stand(&effect).map_err(AdmissionError::PeerDecision)?;
        self.proposals.room(&sender, call.transcript.roster())?;
        self.open_proposal(call, sender, effect)
    }

    fn open_proposal(
        &mut self,
        call: &Call<'_>,
        proposer: MemberId,
        effect: Effect,
    ) -> Result<(), AdmissionError> {
        let proposal = Proposal { effect: effect.clone(), proposer, expires: self.expiry(call)? };
        self.out.persist(store::put_proposal(&proposal));
        self.proposals.insert(proposal);
        let proposal = effect.subject().digest;
        self.out.event(Event::ProposalArrived { proposal, effect, proposer });
        Ok(())
    }

    /// The transcript has an effect: if nobody has shown it here yet, it is open now.
    pub(crate) fn notice_effect(&mut self, call: &Call<'_>, effect: Effect) {
        let subject = effect.subject();
        if self.proposals.get(&subject.digest).is_some() || is_rejected(&effect, call.transcript, None) {
            return;
        }
        let sponsors = call.transcript.set().approvals_of(subject).filter(|one| one.is_yes());
        let sponsors: Vec<MemberId> = sponsors.map(|one| one.voter).collect();
        let Some(proposer) = sponsors.into_iter().find(|voter| self.makes_room(call, voter)) else { return };
        if let Err(error) = self.open_proposal(call, proposer, effect) {
            self.out.trace(format!("proposal not shown: {error}"));
        }
    }

    /// `ADM-32`: whether there is room for what this voter approves. What it approved before and
    /// the set has dropped makes room.
    fn makes_room(&mut self, call: &Call<'_>, voter: &MemberId) -> bool {
        let roster = call.transcript.roster();
        if self.proposals.room(voter, roster).is_err() {
            for lost in self.proposals.lost(voter, call.transcript) {
                self.close_proposal(&lost, Closed::Overtaken);
            }
        }
        self.proposals.room(voter, roster).is_ok()
    }

    /// The transcript has a voter's word on an effect.
    pub(crate) fn notice_word(&mut self, call: &Call<'_>, approval: &Approval) {
        let subject = approval.subject;
        let known = self.proposals.get(&subject.digest).map(|proposal| proposal.effect.clone());
        let Some(effect) = known.or_else(|| call.transcript.set().effect(&subject).cloned()) else { return };
        let roster = call.transcript.roster();
        let time = call.time();
        let have = super::proposals::approvers(&effect, call.transcript, time).len();
        let (motion, need) = (subject.digest, roster.decision_need());
        let (voter, approve) = (approval.voter, approval.is_yes());
        self.out.event(Event::VoteCast { motion, voter, approve, have, need });
        if is_rejected(&effect, call.transcript, None) {
            self.close_proposal(&subject.digest, Closed::Rejected);
        } else {
            self.notice_effect(call, effect);
        }
    }

    /// The line has another decision: proposals that it carried out are granted.
    pub(crate) fn notice_decision(&mut self, decision: &Decision) {
        for approved in &decision.effects {
            self.close_proposal(&approved.effect.subject().digest, Closed::Granted);
        }
    }

    /// Closes proposals that can no longer be carried out, for example because their member has
    /// gone.
    pub(crate) fn close_senseless(&mut self, call: &Call<'_>) {
        let senseless = |_: &Digest, one: &Proposal| call.transcript.would_stand(&one.effect).err();
        for (digest, _) in self.proposals.over(senseless) {
            self.close_proposal(&digest, Closed::Overtaken);
        }
    }

    pub(crate) fn close_expired_proposals(&mut self, time: UnixTime) {
        for (digest, ()) in self.proposals.over(|_, one| (one.expires < time).then_some(())) {
            self.close_proposal(&digest, Closed::Expired);
        }
    }

    fn close_proposal(&mut self, digest: &Digest, why: Closed) {
        let Some(proposal) = self.proposals.remove(digest) else { return };
        self.out.persist(store::delete_proposal(digest));
        let (proposal, effect) = (*digest, proposal.effect);
        self.out.event(Event::ProposalClosed { proposal, effect, why });
    }

    pub(crate) fn expiry(&self, call: &Call<'_>) -> Result<UnixTime, AdmissionError> {
        let time = call.clock.ok_or(AdmissionError::LocalNoClock)?;
        let hours = u64::from(call.transcript.roster().charter().request_hours());
        Ok(UnixTime(time.0.saturating_add(hours.saturating_mul(3_600))))
    }
}

/// What approvals of this effect name, and the decision that last changed it.
fn subject(call: &Call<'_>, effect: &Effect) -> (Subject, u64) {
    (effect.subject(), call.transcript.stamp_of(&effect.change))
}
