//! What is open, for people: `folkmoot vote list`, `folkmoot why`.

use crate::Reason;
use crate::call::Call;
use crate::desk::Admission;
use crate::voting::approvers;
use core::time::Duration;
use folkmoot_base::{Digest, Instant, MemberId, NodeId, UnixTime};
use folkmoot_identity::{Identity, Mode, Verdict};
use folkmoot_transcript::{Effect, Transcript};
use std::collections::BTreeSet;

/// One open request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestStatus {
    /// Its name for votes.
    pub request: Digest,
    /// Who asks.
    pub member: MemberId,
    /// The name that the stranger asks for.
    pub name: String,
    /// The member who brought it.
    pub contact: MemberId,
    /// Who handed in the CSR, if the request is by CSR: its holder is not here.
    pub sponsor: Option<MemberId>,
    /// When it closes by itself.
    pub expires: UnixTime,
    /// Approving votes that count now.
    pub have: usize,
    /// Approving votes needed.
    pub need: usize,
    /// Who said yes.
    pub approved: Vec<MemberId>,
    /// Who said no.
    pub rejected: Vec<MemberId>,
    /// The charter's rule on admissions, and how far each part is met; `None` if there is none.
    pub rule: Option<String>,
    /// The roles that the charter gives this key.
    pub roles: Vec<String>,
    /// The term asked for.
    pub term: (UnixTime, UnixTime),
    /// If the members have done their part and the charter's authority has yet to sign: what it
    /// said last.
    pub waits: Option<Reason>,
    /// The voters have granted it, but nobody can sign until there are new shares: as many as could
    /// sign have left with old ones.
    pub stale: bool,
}

/// One open proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalStatus {
    /// Its name for votes.
    pub proposal: Digest,
    /// What is to be decided.
    pub effect: Effect,
    /// Who wants it.
    pub proposer: MemberId,
    /// When it closes by itself.
    pub expires: UnixTime,
    /// The number of the last decision.
    pub number: u64,
    /// The ballot on the next decision in which this voter is.
    pub ballot: u32,
    /// Approvals that count now.
    pub have: usize,
    /// Approving votes needed, at the least.
    pub need: usize,
    /// Whose approvals count now.
    pub approved: Vec<MemberId>,
    /// Who said no.
    pub rejected: Vec<MemberId>,
    /// What this member's person said.
    pub opinion: Option<bool>,
}

/// The state of the signing sessions, in which several members make one share or one signature.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SigningStatus {
    /// How many there are.
    pub open: usize,
    /// How long the session that moved least recently has stood still.
    pub still: Duration,
    /// Whether this member has a share of the sharing in use.
    pub holds: bool,
    /// Who approves each effect.
    pub approvals: Vec<BTreeSet<MemberId>>,
    /// Whose requests are open, and who is linked with this member.
    pub guests: Vec<MemberId>,
}

/// Everything open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// Requests for admission, sorted by name for votes.
    pub requests: Vec<RequestStatus>,
    /// Proposals, sorted by name for votes.
    pub proposals: Vec<ProposalStatus>,
}

impl Admission {
    /// The state of the signing sessions.
    pub fn signing(&self, now: Instant, transcript: &Transcript) -> SigningStatus {
        let still = self.desk.signers.sessions.values().map(|session| now.since(session.moved)).max();
        let sharing = transcript.roster().sharing();
        let guests = self.desk.requests.iter().filter(|open| open.is_ours(&self.desk.guests));
        let time = self.clock.unwrap_or_default().max(transcript.state().time());
        SigningStatus {
            open: self.desk.signers.sessions.len(),
            still: still.unwrap_or_default(),
            holds: sharing.is_some_and(|now| self.desk.signers.shares.of(&now.public).is_some()),
            approvals: transcript.set().effects().map(|effect| approvers(effect, transcript, time)).collect(),
            guests: guests.map(|open| open.request.member()).collect(),
        }
    }

    /// The nodes of the charter's authority that are linked here, and when one of them last said
    /// anything; `None` if the charter has no authority.
    pub fn authority(&self, transcript: &Transcript) -> Option<(Vec<NodeId>, Option<Instant>)> {
        let central = transcript.roster().charter().mode() == Mode::Centralised;
        central.then(|| self.desk.central.reached())
    }

    /// What is open now.
    pub fn status(&self, transcript: &Transcript, identity: &Identity) -> Status {
        let (clock, present, config) = (self.clock, &self.present, &self.config);
        let call = Call { now: Instant::default(), clock, transcript, identity, present, config };
        let roster = transcript.roster();
        let requests = self.desk.requests.iter().map(|open| RequestStatus {
            request: open.request.digest(),
            member: open.request.member(),
            name: open.request.body().name.clone(),
            contact: open.contact,
            sponsor: open.request.csr().map(|_| open.contact),
            expires: open.expires,
            have: open.have(transcript),
            need: open.need(transcript),
            approved: open.voters(transcript, Verdict::Approve),
            rejected: open.voters(transcript, Verdict::Reject),
            rule: open.tally(transcript),
            roles: roster.charter().policies().roles_of(&open.request.member()),
            term: (open.request.body().not_before, open.request.body().not_after),
            waits: self.desk.stands_with_authority(transcript, open),
            stale: self.desk.stands(transcript, open) == Some(Reason::SharesStale),
        });
        let ballot = self.desk.deciding.status().map_or(0, |status| status.promised);
        let proposals = self.desk.proposals.iter().map(|(digest, proposal)| {
            let approved = proposal.approvers(transcript, call.time());
            ProposalStatus {
                proposal: *digest,
                effect: proposal.effect.clone(),
                proposer: proposal.proposer,
                expires: proposal.expires,
                number: transcript.state().head().number,
                ballot,
                have: approved.len(),
                need: roster.decision_need(),
                approved: approved.into_iter().collect(),
                rejected: proposal.rejecters(transcript).into_iter().collect(),
                opinion: self.opinion(&call, &proposal.effect),
            }
        });
        Status { requests: requests.collect(), proposals: proposals.collect() }
    }

    fn opinion(&self, call: &Call<'_>, effect: &Effect) -> Option<bool> {
        self.desk.own_verdict(call, &effect.subject()).map(|verdict| verdict == Verdict::Approve)
    }
}
