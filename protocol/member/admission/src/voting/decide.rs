//! What the voters decide, from proposal to decision: expulsion, a change of the charter, a new
//! electorate.

use super::Voting;
use super::leave::check_wish;
use super::proposals::{Proposal, approvers};
use crate::call::{Call, Out};
use crate::message::OpenMessage;
use crate::{AdmissionError, Closed, Event, store};
use folkmoot_base::{Digest, MemberId, UnixTime};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Approval, Change, Decision, Effect, Item, Subject};

impl Voting {
    pub(crate) fn expel(
        &mut self,
        call: &Call<'_>,
        member: MemberId,
        out: &mut Out,
    ) -> Result<Digest, AdmissionError> {
        if !call.transcript.roster().is_member(&member) {
            return Err(AdmissionError::LocalNotMember(member));
        }
        self.propose(call, Change::Remove { member }.into(), out)
    }

    /// A person here wants an effect, and approves it if it has a vote. Gives the proposal's name
    /// for votes.
    pub(crate) fn propose(
        &mut self,
        call: &Call<'_>,
        effect: Effect,
        out: &mut Out,
    ) -> Result<Digest, AdmissionError> {
        let (me, digest) = (call.me(), effect.subject().digest);
        self.stands(call, &effect).map_err(AdmissionError::LocalDecision)?;
        let votes = call.transcript.roster().may_vote(&me);
        if call.transcript.is_rejected(&effect, Some(&me)) {
            return Err(AdmissionError::LocalRejected);
        }
        if self.proposals.get(&digest).is_none() {
            self.proposals.room(&me, call.transcript.roster())?;
            self.open_proposal(call, me, effect.clone(), out)?;
            out.multicast(&OpenMessage::Proposal { effect: effect.clone() });
            out.soon();
        }
        if votes {
            self.approve(call, &effect, out)?;
        }
        Ok(digest)
    }

    /// Says yes to an effect, and makes known what the yes is to.
    pub(crate) fn approve(
        &mut self,
        call: &Call<'_>,
        effect: &Effect,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        self.check_approval(call, effect)?;
        check_wish(call, effect).map_err(AdmissionError::LocalDecision)?;
        self.words.speak(call, subject(call, effect), Verdict::Approve, expiry(call)?, out)?;
        if call.transcript.set().effect(&effect.subject()).is_none() {
            out.item(Item::Effect(effect.clone()).encode());
        }
        Ok(())
    }

    /// Says no to an effect.
    pub(crate) fn reject(
        &mut self,
        call: &Call<'_>,
        effect: &Effect,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        self.words.speak(call, subject(call, effect), Verdict::Reject, expiry(call)?, out)
    }

    /// A person here votes. It may change its mind: the last word stands.
    pub(crate) fn vote(
        &mut self,
        call: &Call<'_>,
        digest: Digest,
        approve: bool,
        out: &mut Out,
    ) -> Result<Digest, AdmissionError> {
        if !call.transcript.roster().may_vote(&call.me()) {
            return Err(AdmissionError::LocalNotVoter);
        }
        let effect = self.proposals.get(&digest).ok_or(AdmissionError::LocalUnknown)?.effect.clone();
        match approve {
            true => self.approve(call, &effect, out)?,
            false => self.reject(call, &effect, out)?,
        }
        Ok(digest)
    }

    /// A member proposes. Of a voter the transcript hears it too.
    pub(crate) fn hear(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        effect: Effect,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        if self.proposals.get(&effect.subject().digest).is_some()
            || call.transcript.is_rejected(&effect, None)
        {
            return Ok(());
        }
        self.stands(call, &effect).map_err(AdmissionError::PeerDecision)?;
        check_wish(call, &effect).map_err(AdmissionError::PeerDecision)?;
        self.proposals.room(&sender, call.transcript.roster())?;
        let proposal = Proposal { effect: effect.clone(), proposer: sender, expires: UnixTime(u64::MAX) };
        // It was taken back, or is proposed again: then a yes is on its way.
        if self.is_withdrawn(call, &proposal) {
            return Ok(());
        }
        self.open_proposal(call, sender, effect, out)
    }

    fn open_proposal(
        &mut self,
        call: &Call<'_>,
        proposer: MemberId,
        effect: Effect,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let proposal = Proposal { effect: effect.clone(), proposer, expires: expiry(call)? };
        out.persist(store::put_proposal(&proposal));
        self.proposals.insert(proposal);
        let proposal = effect.subject().digest;
        out.event(Event::ProposalArrived { proposal, effect, proposer });
        Ok(())
    }

    /// The transcript has an effect: if nobody has shown it here yet, it is open now.
    pub(crate) fn notice_effect(&mut self, call: &Call<'_>, effect: Effect, out: &mut Out) {
        let subject = effect.subject();
        if self.proposals.get(&subject.digest).is_some() || call.transcript.is_rejected(&effect, None) {
            return;
        }
        let sponsors = call.transcript.set().approvals_of(subject).filter(|one| one.is_yes());
        let sponsors: Vec<MemberId> = sponsors.map(|one| one.voter).collect();
        let Some(proposer) = sponsors.into_iter().find(|voter| self.makes_room(call, voter, out)) else {
            return;
        };
        if let Err(error) = self.open_proposal(call, proposer, effect, out) {
            out.trace(format!("proposal not shown: {error}"));
        }
    }

    /// `ADM-32`: whether there is room for what this voter approves. What it approved before and
    /// the set has dropped makes room.
    fn makes_room(&mut self, call: &Call<'_>, voter: &MemberId, out: &mut Out) -> bool {
        let roster = call.transcript.roster();
        if self.proposals.room(voter, roster).is_err() {
            for lost in self.proposals.lost(voter, call.transcript) {
                self.close_proposal(&lost, Closed::Overtaken, out);
            }
        }
        self.proposals.room(voter, roster).is_ok()
    }

    /// The transcript has a voter's word on an effect.
    pub(crate) fn notice_word(&mut self, call: &Call<'_>, approval: &Approval, out: &mut Out) {
        let subject = approval.subject;
        let known = self.proposals.get(&subject.digest).map(|proposal| proposal.effect.clone());
        let Some(effect) = known.or_else(|| call.transcript.set().effect(&subject).cloned()) else { return };
        let roster = call.transcript.roster();
        let time = call.time();
        let approved = approvers(&effect, call.transcript, time);
        let (have, need) = (approved.len(), roster.change_need(&effect.change, &approved));
        let motion = subject.digest;
        let (voter, approve) = (approval.voter, approval.is_yes());
        out.event(Event::VoteCast { motion, voter, approve, have, need });
        if call.transcript.is_rejected(&effect, None) {
            self.close_proposal(&subject.digest, Closed::Rejected, out);
        } else {
            self.notice_effect(call, effect, out);
        }
        self.close_withdrawn(call, out);
    }

    /// The line has another decision: proposals that it carried out are granted.
    /// Of others those are over that are about the same: no approval of them counts any more.
    pub(crate) fn notice_decision(&mut self, call: &Call<'_>, decision: &Decision, out: &mut Out) {
        for approved in &decision.effects {
            self.close_proposal(&approved.effect.subject().digest, Closed::Granted, out);
        }
        let changed = |change: &Change| call.transcript.stamp_of(change) == decision.number;
        let over = |_: &Digest, one: &Proposal| {
            let none = one.approvers(call.transcript, call.time()).is_empty();
            (none && changed(&one.effect.change)).then_some(())
        };
        for (digest, ()) in self.proposals.over(over) {
            self.close_proposal(&digest, Closed::Overtaken, out);
        }
    }

    /// Closes proposals that can no longer be carried out, for example because their member has
    /// gone.
    pub(crate) fn close_senseless(&mut self, call: &Call<'_>, out: &mut Out) {
        let senseless = |_: &Digest, one: &Proposal| self.stands(call, &one.effect).err();
        for (digest, _) in self.proposals.over(senseless) {
            self.close_proposal(&digest, Closed::Overtaken, out);
        }
        self.close_withdrawn(call, out);
    }

    pub(crate) fn close_expired(&mut self, time: UnixTime, out: &mut Out) {
        for (digest, ()) in self.proposals.over(|_, one| (one.expires < time).then_some(())) {
            self.close_proposal(&digest, Closed::Expired, out);
        }
    }

    pub(super) fn close_proposal(&mut self, digest: &Digest, why: Closed, out: &mut Out) {
        let Some(proposal) = self.proposals.remove(digest) else { return };
        out.persist(store::delete_proposal(digest));
        let (proposal, effect) = (*digest, proposal.effect);
        out.event(Event::ProposalClosed { proposal, effect, why });
    }
}

/// What approvals of this effect name, and the decision that last changed it.
fn subject(call: &Call<'_>, effect: &Effect) -> (Subject, u64) {
    (effect.subject(), call.transcript.stamp_of(&effect.change))
}

/// When a proposal made now, and what is said of it, runs out.
pub(super) fn expiry(call: &Call<'_>) -> Result<UnixTime, AdmissionError> {
    let time = call.clock.ok_or(AdmissionError::LocalNoClock)?;
    let hours = u64::from(call.transcript.roster().charter().request_hours());
    Ok(UnixTime(time.0.saturating_add(hours.saturating_mul(3_600))))
}
