//! What this member says as a voter, and what it and the others propose. What comes of it is in the
//! transcript. Its ballots on the next decision are a part of their own ([`Deciding`]).

mod again;
mod ballots;
mod decide;
mod leave;
mod proposals;
mod rotate;
mod withdraw;
mod words;

pub(crate) use ballots::Deciding;
pub(crate) use proposals::{Proposal, approvers};
pub(crate) use rotate::{Asked, check_key, item, lacks_votes_only};

use crate::AdmissionError;
use crate::call::{Call, Out};
use crate::message::OpenMessage;
use crate::status::ProposalStatus;
use crate::store::StoredProposal;
use folkmoot_base::{Digest, MemberId, UnixTime, codec};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Change, Effect, Item, SignedApproval, Subject, Transcript};
use proposals::Proposals;
use rotate::Rotation;
use std::collections::BTreeSet;
use words::Words;

/// Open proposals, and own words on their way.
#[derive(Debug, Default)]
pub(crate) struct Voting {
    proposals: Proposals,
    words: Words,
    rotation: Option<Rotation>,
    /// The requests of new keys that are open at the desk.
    asked: Asked,
}

impl Voting {
    /// The open proposal of this name.
    pub(crate) fn effect(&self, proposal: &Digest) -> Option<&Effect> {
        self.proposals.get(proposal).map(|one| &one.effect)
    }

    /// What this member's person said about a subject: yes, no, or nothing.
    pub(crate) fn opinion(&self, call: &Call<'_>, subject: &Subject) -> Option<bool> {
        self.words.verdict(call, subject).map(|verdict| verdict == Verdict::Approve)
    }

    /// Takes a proposal from the disk.
    pub(crate) fn load_proposal(&mut self, value: &[u8]) -> Option<()> {
        let StoredProposal { proposer, expires, effect } = codec::decode(value).ok()?;
        self.proposals.insert(Proposal { effect, proposer, expires });
        Some(())
    }

    /// Takes an own word from the disk.
    pub(crate) fn load_word(&mut self, me: &MemberId, value: &[u8]) -> Option<()> {
        let word: SignedApproval = codec::decode(value).ok()?;
        self.words.restore(Some(word).filter(|word| word.approval.voter == *me)?);
        Some(())
    }

    /// Says yes or no as a voter ([`Words::speak`]).
    pub(crate) fn speak(
        &mut self,
        call: &Call<'_>,
        subject: (Subject, u64),
        verdict: Verdict,
        expires: UnixTime,
        out: &mut Out,
    ) -> Result<(), AdmissionError> {
        self.words.speak(call, subject, verdict, expires, out)
    }

    /// The transcript took something: forgets the words that it has, or that can count no more.
    pub(crate) fn settle(&mut self, call: &Call<'_>, out: &mut Out) {
        let (proposals, set) = (&self.proposals, call.transcript.set());
        let open = |subject: &Subject| proposals.get(&subject.digest).map(|one| &one.effect);
        self.words.settle(call, |subject| open(subject).or_else(|| set.effect(subject)), out);
    }

    /// Whether anything would be sent again.
    pub(crate) fn has_unfinished(&self, call: &Call<'_>) -> bool {
        let proposed = self.proposals.iter().any(|(_, proposal)| proposal.proposer == call.me());
        proposed || self.rotation.is_some() || !self.words.is_empty() || !self.unsaid(call).is_empty()
    }

    pub(crate) fn resend(&self, call: &Call<'_>, out: &mut Out) {
        for (_, own) in self.proposals.iter().filter(|(_, proposal)| proposal.proposer == call.me()) {
            out.multicast(&OpenMessage::Proposal { effect: own.effect.clone() });
        }
        for effect in self.unsaid(call) {
            out.item(Item::Effect(effect).encode());
        }
        self.resend_rotation(out);
        self.words.resend(out);
    }

    /// Effects that this member approves and the transcript does not have.
    fn unsaid(&self, call: &Call<'_>) -> Vec<Effect> {
        let open = self.proposals.iter().map(|(_, proposal)| &proposal.effect);
        let missing = open.filter(|effect| call.transcript.set().effect(&effect.subject()).is_none());
        missing.filter(|effect| self.words.backs(call, effect)).cloned().collect()
    }

    /// What is open, for people; `ballot` is the one in which this voter is.
    pub(crate) fn status(&self, call: &Call<'_>, ballot: u32) -> Vec<ProposalStatus> {
        let transcript = call.transcript;
        let status = self.proposals.iter().map(|(digest, proposal)| {
            let approved = proposal.approvers(transcript, call.time());
            ProposalStatus {
                proposal: *digest,
                effect: proposal.effect.clone(),
                proposer: proposal.proposer,
                expires: proposal.expires,
                number: transcript.state().head().number,
                ballot,
                have: approved.len(),
                need: transcript.roster().change_need(&proposal.effect.change, &approved),
                voters: transcript.roster().voters().len(),
                rule: rule_of(&proposal.effect.change, transcript, &approved),
                approved: approved.into_iter().collect(),
                rejected: proposal.rejecters(transcript).into_iter().collect(),
                opinion: self.opinion(call, &proposal.effect.subject()),
            }
        });
        status.collect()
    }
}

/// What these votes count for in the charter's rule on removals; `None` if it has none, or the
/// change is no removal.
fn rule_of(change: &Change, transcript: &Transcript, yes: &BTreeSet<MemberId>) -> Option<String> {
    let policies = transcript.roster().charter().policies();
    let rule = policies.remove.as_ref().filter(|_| change.goes().is_some())?;
    Some(rule.tally(yes, &policies.roles))
}
