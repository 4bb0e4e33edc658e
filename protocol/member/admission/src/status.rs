//! What is open, for people: `folkmoot vote list`, `folkmoot why`.

use crate::Reason;
use core::time::Duration;
use folkmoot_base::{Digest, MemberId, UnixTime};
use folkmoot_identity::Endorsement;
use folkmoot_transcript::Effect;
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
    /// Whoever asks is a member, and asks for a new certificate.
    pub renews: bool,
    /// It is of another key for this member: people vote on the proposal that says so, and not on
    /// an admission.
    pub rotates: Option<MemberId>,
    /// What this member's person said.
    pub opinion: Option<bool>,
    /// How many voters there are.
    pub voters: usize,
    /// What the newcomer shows of who it is, if that counts now.
    pub endorsement: Option<Endorsement>,
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
    /// How many voters there are.
    pub voters: usize,
    /// The charter's rule on removals, and how far each part is met; `None` if none applies.
    pub rule: Option<String>,
    /// Whose approvals count now.
    pub approved: Vec<MemberId>,
    /// Who said no.
    pub rejected: Vec<MemberId>,
    /// What this member's person said.
    pub opinion: Option<bool>,
}

/// How a member that has no share of the sharing in use gets one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShareWay {
    /// It has its share.
    Held,
    /// As many other holders as the threshold give it the same again, as soon as they are here.
    Others,
    /// The authority says it again, as soon as it is reached.
    Authority,
    /// It votes, and holds none yet: the next sharing has one for it.
    Next,
    /// Nobody can give it again: members cannot, and the dealer has erased the secret.
    Lost,
    /// It is not to have one.
    NotOurs,
}

/// How it stands with the shares of the group's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareStatus {
    /// The share-epoch in use.
    pub epoch: Digest,
    /// This member's place among its holders, from 1; `None`: it is none of them.
    pub number: Option<usize>,
    /// How many holders there are.
    pub holders: usize,
    /// How many shares determine the key.
    pub threshold: usize,
    /// How many of them sign.
    pub signers: usize,
    /// Whether this member has its share, and if not, what gives it one.
    pub way: ShareWay,
    /// Other holders that have lost theirs and asked for it within 30 s.
    pub asking: Vec<MemberId>,
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
