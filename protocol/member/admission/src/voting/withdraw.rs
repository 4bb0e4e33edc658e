//! Proposals that are taken back.
//!
//! A proposal has no owner in the transcript: it is what its voters approve (LINE). So a proposer
//! that has a vote takes back its own yes, in the transcript, by a no. If nobody else approves, the
//! proposal is closed at each member that knows that no. If somebody does, it goes on as theirs.

use super::Voting;
use super::proposals::{Proposal, approvers};
use crate::call::{Call, Out};
use crate::message::OpenMessage;
use crate::{AdmissionError, Closed};
use folkmoot_base::{Digest, MemberId};
use folkmoot_identity::Verdict;

impl Voting {
    /// A person here takes back what it proposed.
    pub(crate) fn withdraw(
        &mut self,
        call: &Call<'_>,
        digest: &Digest,
        out: &mut Out,
    ) -> Result<Digest, AdmissionError> {
        let proposal = self.proposals.get(digest).ok_or(AdmissionError::LocalUnknown)?;
        if proposal.proposer != call.me() {
            return Err(AdmissionError::LocalNotOurs);
        }
        let effect = proposal.effect.clone();
        if call.transcript.roster().may_vote(&call.me()) {
            self.reject(call, &effect, out)?;
            return Ok(*digest);
        }
        out.multicast(&OpenMessage::TakenBack { proposal: *digest });
        if approvers(&effect, call.transcript, call.time()).is_empty() {
            self.close_proposal(digest, Closed::Withdrawn, out);
        }
        Ok(*digest)
    }

    /// `ADM-92`: a member without a vote takes back what it proposed.
    pub(crate) fn taken_back(
        &mut self,
        call: &Call<'_>,
        sender: MemberId,
        digest: &Digest,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        let Some(proposal) = self.proposals.get(digest) else { return Ok(()) };
        if proposal.proposer != sender {
            return Err(AdmissionError::PeerNotProposer(sender));
        }
        if approvers(&proposal.effect, call.transcript, call.time()).is_empty() {
            self.close_proposal(digest, Closed::Withdrawn, out);
        }
        Ok(())
    }

    /// `ADM-92`: whether the proposer says no, by the transcript, and nobody says yes.
    pub(super) fn is_withdrawn(&self, call: &Call<'_>, proposal: &Proposal) -> bool {
        let (effect, by) = (&proposal.effect, proposal.proposer);
        let anew = by == call.me() && self.words.verdict(call, &effect.subject()) == Some(Verdict::Approve);
        !anew
            && call.transcript.rejecters(effect).contains(&by)
            && approvers(effect, call.transcript, call.time()).is_empty()
    }

    /// Closes what its proposers have taken back.
    pub(crate) fn close_withdrawn(&mut self, call: &Call<'_>, out: &mut Out) {
        let withdrawn = self.proposals.over(|_, one| self.is_withdrawn(call, one).then_some(()));
        for (digest, ()) in withdrawn {
            self.close_proposal(&digest, Closed::Withdrawn, out);
        }
    }
}
