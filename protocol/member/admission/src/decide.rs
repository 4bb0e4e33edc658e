//! Decisions of the voters, from proposal to entry: expulsion, a change of the charter, a new
//! electorate.

use crate::ballots::{Carry, Proposal};
use crate::desk::{Admission, Call};
use crate::message::OpenMessage;
use crate::pause::ENTRY_PATIENCE;
use crate::vote::{check_frame, verdict};
use crate::{AdmissionError, BALLOTS_MAX, Closed, Event, Output, store};
use core::time::Duration;
use folkmoot_base::{Blob, Digest, MemberId, UnixTime};
use folkmoot_identity::{Decision, Slot, Verdict, Vote, VoteContent};

/// How long each voter but the proposer waits for the ones before it to make the entry.
const TURN: Duration = Duration::from_millis(400);

impl Admission {
    pub(crate) fn expel(&mut self, call: &Call<'_>, member: MemberId) -> Result<(), AdmissionError> {
        let target =
            call.transcript.roster().member(&member).ok_or(AdmissionError::LocalNotMember(member))?;
        self.propose(call, Decision::Remove { member, admission: target.entry })
    }

    /// A person here wants a decision, and approves it if it has a vote.
    pub(crate) fn propose(&mut self, call: &Call<'_>, decision: Decision) -> Result<(), AdmissionError> {
        let (me, digest) = (call.identity.member(), decision.digest());
        if self.ballots.was_rejected(&digest) {
            return Err(AdmissionError::LocalRejected);
        }
        call.transcript.would_stand(&decision).map_err(AdmissionError::LocalDecision)?;
        if self.ballots.get(&digest).is_none() {
            self.ballots.room(&me)?;
            self.open_proposal(call, me, decision.clone())?;
            self.multicast(&OpenMessage::Proposal { decision });
            self.pause.soon();
        }
        if call.transcript.roster().may_vote(&me) {
            self.vote_proposal(call, digest, true)?;
        }
        Ok(())
    }

    /// A person here votes. [`Self::cast`] casts the vote as soon as a ballot has room for it.
    pub(crate) fn vote_proposal(
        &mut self,
        call: &Call<'_>,
        digest: Digest,
        approve: bool,
    ) -> Result<(), AdmissionError> {
        if !call.transcript.roster().may_vote(&call.identity.member()) {
            return Err(AdmissionError::LocalNotVoter);
        }
        let proposal = self.ballots.get_mut(&digest).ok_or(AdmissionError::LocalUnknown)?;
        match proposal.opinion {
            Some(before) if before == approve => return Ok(()),
            Some(_) => return Err(AdmissionError::LocalVotedAlready),
            None => proposal.opinion = Some(approve),
        }
        self.out.push_back(Output::Persist(store::put_proposal(proposal)));
        self.pause.soon();
        Ok(())
    }

    pub(crate) fn hear_proposal(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        decision: Decision,
    ) -> Result<(), AdmissionError> {
        let digest = decision.digest();
        if self.ballots.get(&digest).is_some() || self.ballots.was_rejected(&digest) {
            return Ok(());
        }
        call.transcript.would_stand(&decision).map_err(AdmissionError::PeerDecision)?;
        self.ballots.room(&sender)?;
        self.open_proposal(call, sender, decision)
    }

    fn open_proposal(
        &mut self,
        call: &Call<'_>,
        proposer: MemberId,
        decision: Decision,
    ) -> Result<(), AdmissionError> {
        let expires = self.expiry(call)?;
        let proposal = Proposal::new(decision.clone(), proposer, expires, None);
        self.out.push_back(Output::Persist(store::put_proposal(&proposal)));
        self.ballots.insert(proposal);
        let proposal = decision.digest();
        self.out.push_back(Output::Event(Event::ProposalArrived { proposal, decision, proposer }));
        Ok(())
    }

    /// `ADM-33` to `ADM-35`. Our own vote comes back too: after a restart from an older disk it
    /// binds us again.
    pub(crate) fn hear_decision_vote(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        decision: Decision,
        cms: &[u8],
    ) -> Result<(), AdmissionError> {
        if self.ballots.knows(cms) {
            return Ok(());
        }
        let vote = Vote::from_der(cms).map_err(AdmissionError::WireVote)?;
        let (voter, motion) = (vote.voter(), vote.content().motion);
        check_frame(&vote, call, self.clock, self.config.skew_seconds)?;
        let slot = motion.slot.ok_or(AdmissionError::PeerVoteDecision(voter))?;
        if motion != decision.motion(motion.group, motion.charter, slot) {
            return Err(AdmissionError::PeerVoteDecision(voter));
        }
        let want = call.transcript.roster().electorate().serial;
        if slot.serial != want || slot.serial != self.ballots.serial || slot.ballot >= BALLOTS_MAX {
            return Err(AdmissionError::PeerSlot { voter, got: slot.serial, ballot: slot.ballot, want });
        }
        self.hear_proposal(call, sender, decision.clone())?;
        self.count_decision_vote(call, decision, slot, vote)
    }

    fn count_decision_vote(
        &mut self,
        call: &Call<'_>,
        decision: Decision,
        slot: Slot,
        vote: Vote,
    ) -> Result<(), AdmissionError> {
        let (voter, approve) = (vote.voter(), vote.content().verdict == Verdict::Approve);
        if !self.ballots.count(slot.ballot, decision.clone(), vote.clone())? {
            return Ok(());
        }
        if voter == call.identity.member() && !self.forgets_votes() {
            self.out.push_back(Output::Persist(store::put_decision_vote(&decision, slot, &vote)));
        }
        let (roster, motion) = (call.transcript.roster(), decision.digest());
        let (have, need) =
            (self.ballots.approvers(slot.ballot, &motion, roster).len(), roster.decision_need());
        self.out.push_back(Output::Event(Event::VoteCast { motion, voter, approve, have, need }));
        if self.ballots.is_rejected(&motion, roster)
            && let Some(proposal) = self.ballots.reject(&motion)
        {
            self.proposal_closed(proposal, Closed::Rejected);
        }
        Ok(())
    }

    /// Signs what the person here wants and the present ballot has room for; in the next ballot
    /// when this one is dead.
    pub(crate) fn cast(&mut self, call: &Call<'_>) {
        let (me, roster) = (call.identity.member(), call.transcript.roster());
        if !roster.may_vote(&me) || roster.electorate().serial != self.ballots.serial {
            return;
        }
        if self.votes_twice() {
            return self.cast_twice(call);
        }
        // This ends: each pass signs a vote that later passes do not, and there are boundedly many.
        while let Some(ballot) = self.ballots.current(roster) {
            let no = self.ballots.refusals(ballot, &me).into_iter().next().map(|decision| (decision, false));
            let next =
                no.or_else(|| self.ballots.choice(ballot, &me, roster).map(|decision| (decision, true)));
            let Some((decision, approve)) = next else { return };
            if let Err(error) = self.sign(call, &decision, ballot, approve) {
                self.trace(format!("vote not cast: {error}"));
                return;
            }
        }
    }

    pub(crate) fn sign(
        &mut self,
        call: &Call<'_>,
        decision: &Decision,
        ballot: u32,
        approve: bool,
    ) -> Result<(), AdmissionError> {
        let expires = self.expiry(call)?;
        let slot = Slot { serial: self.ballots.serial, ballot };
        let charter = call.transcript.roster().charter().digest();
        let motion = decision.motion(call.transcript.group(), charter, slot);
        let content = VoteContent { motion, verdict: verdict(approve), expires };
        let vote = Vote::sign(call.identity, content).map_err(AdmissionError::WireVote)?;
        let cms = Blob::from(vote.der().to_vec());
        self.count_decision_vote(call, decision.clone(), slot, vote)?;
        self.multicast(&OpenMessage::DecisionVote { decision: decision.clone(), cms });
        Ok(())
    }

    /// Makes the entry once enough voters approved: the proposer at once, the others in turn if it
    /// does not come.
    pub(crate) fn carry_out(&mut self, call: &Call<'_>) {
        let roster = call.transcript.roster();
        if roster.electorate().serial != self.ballots.serial {
            return;
        }
        if self.votes_twice() {
            return self.carry_all(call);
        }
        let Some((ballot, decision)) = self.ballots.decided(roster) else {
            self.ballots.carry = None;
            return;
        };
        let proposal = decision.digest();
        let waiting = self.ballots.carry.filter(|carry| carry.proposal == proposal && carry.ballot == ballot);
        let due = waiting.map_or_else(|| call.now + self.turn(call, &proposal), |carry| carry.due);
        self.ballots.carry = Some(Carry { proposal, ballot, due });
        if due > call.now {
            return;
        }
        self.ballots.carry = Some(Carry { proposal, ballot, due: call.now + ENTRY_PATIENCE });
        let slot = Slot { serial: self.ballots.serial, ballot };
        let proofs = self.ballots.proofs(ballot, &proposal, roster);
        match call.transcript.make_decision(&decision, slot, &proofs, call.identity) {
            Ok(entry) => {
                self.trace("entry of a decision handed over".to_owned());
                self.out.push_back(Output::Entry(entry));
            }
            Err(error) => self.trace(format!("decision not carried out: {error}")),
        }
    }

    fn turn(&self, call: &Call<'_>, proposal: &Digest) -> Duration {
        let me = call.identity.member();
        if self.ballots.get(proposal).is_some_and(|proposal| proposal.proposer == me) {
            return Duration::ZERO;
        }
        let place = call.transcript.roster().members().position(|admission| admission.member == me);
        TURN.saturating_mul(u32::try_from(place.unwrap_or_default()).unwrap_or(u32::MAX).saturating_add(1))
    }

    /// After the transcript moved on: votes of the old serial are history; a removal that is still
    /// wanted is voted on again.
    pub(crate) fn follow_serial(&mut self, call: &Call<'_>) {
        let (old, new) = (self.ballots.serial, call.transcript.roster().electorate().serial);
        if new <= old {
            return;
        }
        for (proposal, slot, verdict) in self.ballots.next(new, &call.identity.member()) {
            self.out.push_back(Output::Persist(store::delete_decision_vote(&proposal, slot, verdict)));
        }
        let roster = call.transcript.roster();
        let closed: Vec<(Digest, Closed)> = self
            .ballots
            .proposals()
            .filter_map(|(digest, proposal)| {
                if (old..new).any(|serial| roster.decided(serial, digest)) {
                    return Some((*digest, Closed::Granted));
                }
                let again = matches!(proposal.decision.plain(), Decision::Remove { .. });
                (!again).then_some((*digest, Closed::Overtaken))
            })
            .collect();
        self.close_proposals(closed);
        self.close_senseless(call);
        self.pause.soon();
    }

    /// Closes proposals that can no longer be carried out, for example because their member has
    /// gone.
    pub(crate) fn close_senseless(&mut self, call: &Call<'_>) {
        let senseless =
            self.ballots.proposals().filter(|(_, p)| call.transcript.would_stand(&p.decision).is_err());
        let closed = senseless.map(|(digest, _)| (*digest, Closed::Overtaken)).collect();
        self.close_proposals(closed);
    }

    pub(crate) fn close_expired_proposals(&mut self, time: UnixTime) {
        let late = self.ballots.proposals().filter(|(_, proposal)| proposal.expires < time);
        let closed = late.map(|(digest, _)| (*digest, Closed::Expired)).collect();
        self.close_proposals(closed);
    }

    fn close_proposals(&mut self, closed: Vec<(Digest, Closed)>) {
        for (digest, why) in closed {
            if let Some(proposal) = self.ballots.remove(&digest) {
                self.proposal_closed(proposal, why);
            }
        }
    }

    fn proposal_closed(&mut self, proposal: Proposal, why: Closed) {
        let (digest, decision) = (proposal.decision.digest(), proposal.decision);
        self.out.push_back(Output::Persist(store::delete_proposal(&digest)));
        self.out.push_back(Output::Event(Event::ProposalClosed { proposal: digest, decision, why }));
    }

    fn expiry(&self, call: &Call<'_>) -> Result<UnixTime, AdmissionError> {
        let time = self.clock.ok_or(AdmissionError::LocalNoClock)?;
        let hours = u64::from(call.transcript.roster().charter().request_hours());
        Ok(UnixTime(time.0.saturating_add(hours.saturating_mul(3_600))))
    }
}
