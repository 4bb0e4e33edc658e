//! Effects that somebody proposes, for people: what is open, by whom, until when. What is approved
//! is in the transcript.

use crate::{AdmissionError, MEMBER_PROPOSALS_MAX, PROPOSALS_MAX};
use folkmoot_base::{Digest, MemberId, UnixTime};
use folkmoot_transcript::{Effect, Roster, Transcript};
use std::collections::{BTreeMap, BTreeSet};

/// An effect that wants approvals.
#[derive(Debug, Clone)]
pub(crate) struct Proposal {
    pub(crate) effect: Effect,
    pub(crate) proposer: MemberId,
    pub(crate) expires: UnixTime,
}

impl Proposal {
    /// Who approves it, as far as that counts at a time.
    pub(super) fn approvers(&self, transcript: &Transcript, time: UnixTime) -> BTreeSet<MemberId> {
        approvers(&self.effect, transcript, time)
    }

    /// Who rejects it.
    pub(super) fn rejecters(&self, transcript: &Transcript) -> BTreeSet<MemberId> {
        transcript.rejecters(&self.effect)
    }
}

/// Who approves this effect, as far as that counts for a decision of a time.
pub(crate) fn approvers(effect: &Effect, transcript: &Transcript, time: UnixTime) -> BTreeSet<MemberId> {
    let proofs = transcript.set().proofs(transcript.state(), effect, time);
    proofs.into_iter().map(|proof| proof.voter).collect()
}

/// The open proposals, by the digest of what approvals name.
#[derive(Debug, Default)]
pub(super) struct Proposals(BTreeMap<Digest, Proposal>);

impl Proposals {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Digest, &Proposal)> {
        self.0.iter()
    }

    pub(super) fn get(&self, proposal: &Digest) -> Option<&Proposal> {
        self.0.get(proposal)
    }

    pub(super) fn insert(&mut self, proposal: Proposal) {
        self.0.insert(proposal.effect.subject().digest, proposal);
    }

    pub(super) fn remove(&mut self, proposal: &Digest) -> Option<Proposal> {
        self.0.remove(proposal)
    }

    /// `ADM-32`: whether one more by this member has room. Each voter has room of its own, so that
    /// nobody's flood keeps out what a voter proposes; all others share theirs.
    pub(super) fn room(&self, proposer: &MemberId, roster: &Roster) -> Result<(), AdmissionError> {
        let by_one = self.0.values().filter(|proposal| proposal.proposer == *proposer).count();
        let shared = self.0.values().filter(|proposal| !roster.may_vote(&proposal.proposer)).count();
        let full = !roster.may_vote(proposer) && shared >= PROPOSALS_MAX;
        if full || by_one >= MEMBER_PROPOSALS_MAX {
            return Err(AdmissionError::PeerTooManyProposals);
        }
        Ok(())
    }

    /// Those of a member that the set does not have any more.
    pub(super) fn lost(&self, proposer: &MemberId, transcript: &Transcript) -> Vec<Digest> {
        let set = transcript.set();
        let lost = |one: &Proposal| one.proposer == *proposer && set.effect(&one.effect.subject()).is_none();
        self.0.iter().filter(|(_, one)| lost(one)).map(|(digest, _)| *digest).collect()
    }

    /// Those for which `over` gives a reason.
    pub(super) fn over<T>(&self, over: impl Fn(&Digest, &Proposal) -> Option<T>) -> Vec<(Digest, T)> {
        self.0.iter().filter_map(|(digest, one)| Some((*digest, over(digest, one)?))).collect()
    }
}
