//! How a batch becomes a decision: proposals of a ballot's owner, promises, commits.
//!
//! ```text
//! ballot 0             owner proposes D --> each voter judges D --> a quorum: each commits to D --> a quorum: D stands
//! deadline, ballot 1   each voter promises: "nothing below 1; I committed to D in 0", with the judgements
//!                      owner of 1, with a quorum of promises, proposes the highest reported: D, again
//! ```
//! Ballot b of decision n+1 belongs to the voter in place (n + b) mod v. A proposal carries the
//! promises that it rests on, and those of the ballots before, down to the one in which the
//! decision was fresh. So nobody can report a commit that could not have been given. The judgements
//! of that ballot travel with it, and are no part of it: whatever is followed was right in its time
//! to some honest voter. Source:
//! Lamport, Paxos Made Simple (2001), section 2.2, with the accepted values proven by signatures.

use crate::decision::{Decision, Electorate};
use crate::{Head, SignatureBytes, State, Unproposed};
use folkmoot_base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize, encode};
use folkmoot_base::{Digest, GroupId, MemberId, digest};
use folkmoot_identity::Quorum;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A commit that a voter reports: in which ballot, to what.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TlsSize, TlsSerialize, TlsDeserializeBytes,
)]
pub struct Report {
    /// The ballot.
    pub ballot: u32,
    /// The digest of the decision.
    pub decision: Digest,
}

/// What a voter signs about the decision that follows one head.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, TlsSize, TlsSerialize, TlsDeserializeBytes,
)]
#[repr(u8)]
pub enum Statement {
    /// The owner of a ballot proposes a decision.
    #[tls_codec(discriminant = 1)]
    Propose {
        /// The head that it follows.
        parent: Head,
        /// The ballot.
        ballot: u32,
        /// The digest of the decision.
        decision: Digest,
        /// The digest of the promises that the proposal rests on.
        promises: Digest,
    },
    /// A voter commits in no ballot below this one any more.
    #[tls_codec(discriminant = 2)]
    Promise {
        /// The head that is to be followed.
        parent: Head,
        /// The ballot.
        ballot: u32,
        /// The voter's highest commit so far.
        report: Option<Report>,
    },
    /// A voter commits to a decision.
    #[tls_codec(discriminant = 3)]
    Commit {
        /// The head that it follows.
        parent: Head,
        /// The ballot.
        ballot: u32,
        /// The digest of the decision.
        decision: Digest,
    },
    /// A voter has found a fresh proposal right. This binds it to nothing.
    #[tls_codec(discriminant = 4)]
    Judge {
        /// The head that it follows.
        parent: Head,
        /// The ballot in which the decision is fresh.
        ballot: u32,
        /// The digest of the decision.
        decision: Digest,
    },
}

/// The domain label of every statement's signature.
pub const STATEMENT_LABEL: &[u8] = b"folkmoot statement v1";

impl Statement {
    /// What is signed besides the label: group, then the statement.
    pub fn bytes(&self, group: &GroupId) -> Vec<u8> {
        let mut out = group.0.to_vec();
        out.extend(encode(self));
        out
    }
}

/// A statement that somebody is said to have signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Who.
    pub voter: MemberId,
    /// What.
    pub statement: Statement,
    /// The signature, to be verified.
    pub signature: SignatureBytes,
}

/// A voter's promise, as proposals carry it.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Promise {
    /// Who.
    pub voter: MemberId,
    /// The voter's highest commit so far.
    pub report: Option<Report>,
    /// The voter's signature.
    pub signature: SignatureBytes,
}

/// One ballot in which a decision was proposed.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Stage {
    /// The ballot.
    pub ballot: u32,
    /// The promises of a quorum, sorted by voter; none in ballot 0.
    pub promises: Vec<Promise>,
    /// The owner's signature.
    pub signature: SignatureBytes,
}

/// A decision as the owner of a ballot proposes it, with what entitles the owner to.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Proposal {
    /// The decision.
    pub decision: Decision,
    /// The ballots in which it was proposed, from the one in which it was fresh to the present one.
    pub stages: Vec<Stage>,
}

/// A voter's commit, as decisions carry it.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Commit {
    /// Who.
    pub voter: MemberId,
    /// The voter's signature.
    pub signature: SignatureBytes,
}

/// A voter's judgement of a fresh proposal.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Judgement {
    /// Who.
    pub voter: MemberId,
    /// The voter's signature.
    pub signature: SignatureBytes,
}

/// A decision that stands: a quorum has committed to it in one ballot.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Standing {
    /// The decision, as proposed in that ballot.
    pub proposal: Proposal,
    /// The commits, sorted by voter, each once.
    pub commits: Vec<Commit>,
}

/// What the owner of a ballot signs for the promises that it rests on.
pub(crate) fn promises_digest(promises: &[Promise]) -> Digest {
    let encoded: Vec<Vec<u8>> = promises.iter().map(encode).collect();
    let mut parts: Vec<&[u8]> = vec![b"folkmoot promises v1\0"];
    parts.extend(encoded.iter().map(Vec::as_slice));
    digest(&parts)
}

/// The report that must be followed: of the highest ballot; of two there, the lower digest.
pub(crate) fn highest(promises: &[Promise]) -> Option<Report> {
    let reports = promises.iter().filter_map(|promise| promise.report);
    reports.max_by_key(|report| (report.ballot, Reverse(report.decision)))
}

impl Proposal {
    /// The head that it follows.
    pub fn parent(&self) -> Head {
        Head { number: self.decision.number.saturating_sub(1), digest: self.decision.parent }
    }

    /// The ballot in which it is proposed now.
    pub fn ballot(&self) -> u32 {
        self.stages.last().map_or(0, |stage| stage.ballot)
    }

    /// Whether nobody has committed to it before, as far as its promises say.
    pub fn is_fresh(&self) -> bool {
        self.stages.len() == 1
    }

    /// The report of a commit to it in its present ballot.
    pub fn report(&self) -> Report {
        Report { ballot: self.ballot(), decision: self.decision.digest() }
    }

    /// What voters have judged of it: the ballot in which the decision was fresh, and the decision.
    pub fn judged(&self) -> Report {
        let ballot = self.stages.first().map_or(0, |stage| stage.ballot);
        Report { ballot, decision: self.decision.digest() }
    }

    /// Whether its owners were entitled to propose it to these electors: `LINE-61` to `LINE-63`.
    /// Signatures are judged by [`Self::claims`].
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, electors: &dyn Electors) -> Result<(), Unproposed> {
        let decision = self.decision.digest();
        let mut before: Option<Report> = None;
        for stage in &self.stages {
            if before.is_some_and(|before| before.ballot >= stage.ballot) {
                return Err(Unproposed::Ballots);
            }
            check_promises(stage, electors)?;
            if highest(&stage.promises) != before {
                return Err(Unproposed::NotHighest);
            }
            before = Some(Report { ballot: stage.ballot, decision });
        }
        if before.is_some() { Ok(()) } else { Err(Unproposed::Ballots) }
    }

    /// Everything in it that somebody must have signed.
    pub fn claims(&self, electors: &dyn Electors) -> Vec<Claim> {
        let (parent, decision) = (self.parent(), self.decision.digest());
        let mut claims = Vec::new();
        for Stage { ballot, promises, signature } in &self.stages {
            let ballot = *ballot;
            let said = Statement::Propose { parent, ballot, decision, promises: promises_digest(promises) };
            let owner = electors.owner(parent.number, ballot);
            claims.push(Claim { voter: owner, statement: said, signature: signature.clone() });
            claims.extend(promises.iter().map(|promise| promise.claim(parent, ballot)));
        }
        claims
    }
}

impl Promise {
    /// What its voter must have signed.
    pub fn claim(&self, parent: Head, ballot: u32) -> Claim {
        let statement = Statement::Promise { parent, ballot, report: self.report };
        Claim { voter: self.voter, statement, signature: self.signature.clone() }
    }
}

impl Commit {
    /// What its voter must have signed.
    pub fn claim(&self, parent: Head, report: Report) -> Claim {
        let statement = Statement::Commit { parent, ballot: report.ballot, decision: report.decision };
        Claim { voter: self.voter, statement, signature: self.signature.clone() }
    }
}

impl Judgement {
    /// What its voter must have signed.
    pub fn claim(&self, parent: Head, judged: Report) -> Claim {
        let statement = Statement::Judge { parent, ballot: judged.ballot, decision: judged.decision };
        Claim { voter: self.voter, statement, signature: self.signature.clone() }
    }
}

/// `LINE-68`: whether these are judgements of a quorum of these electors, sorted, each voter once.
pub(crate) fn check_judgements(judgements: &[Judgement], electors: &dyn Electors) -> Result<(), Unproposed> {
    let yes: BTreeSet<MemberId> = judgements.iter().map(|judgement| judgement.voter).collect();
    let sorted = judgements.is_sorted_by(|a, b| a.voter < b.voter);
    let voters = yes.iter().all(|voter| electors.may_vote(voter));
    if sorted && voters && electors.is_quorum(&yes) { Ok(()) } else { Err(Unproposed::Judgements) }
}

/// In ballot 0 none; above, a quorum of voters, each of whom reports a lower ballot or none.
fn check_promises(stage: &Stage, state: &dyn Electors) -> Result<(), Unproposed> {
    let sorted = stage.promises.is_sorted_by(|a, b| a.voter < b.voter);
    let yes: BTreeSet<MemberId> = stage.promises.iter().map(|promise| promise.voter).collect();
    let voters = yes.iter().all(|voter| state.may_vote(voter));
    let enough = if stage.ballot == 0 { yes.is_empty() } else { state.is_quorum(&yes) };
    let lower = stage.promises.iter().filter_map(|promise| promise.report);
    let lower = lower.into_iter().all(|report| report.ballot < stage.ballot);
    if sorted && voters && enough && lower { Ok(()) } else { Err(Unproposed::Promises) }
}

impl Standing {
    /// Whether a quorum of these electors has committed to it: `LINE-61` to `LINE-63`, `LINE-65`.
    /// Signatures are judged by [`Self::claims`].
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, electors: &dyn Electors) -> Result<(), Unproposed> {
        self.proposal.check(electors)?;
        let yes: BTreeSet<MemberId> = self.commits.iter().map(|commit| commit.voter).collect();
        let sorted = self.commits.is_sorted_by(|a, b| a.voter < b.voter);
        if sorted && yes.iter().all(|voter| electors.may_vote(voter)) && electors.is_quorum(&yes) {
            Ok(())
        } else {
            Err(Unproposed::Commits)
        }
    }

    /// Everything in it that somebody must have signed.
    pub fn claims(&self, electors: &dyn Electors) -> Vec<Claim> {
        let (parent, report) = (self.proposal.parent(), self.proposal.report());
        let mut claims = self.proposal.claims(electors);
        claims.extend(self.commits.iter().map(|commit| commit.claim(parent, report)));
        claims
    }

    /// Where it puts those who apply it.
    pub fn head(&self) -> Head {
        self.proposal.decision.head()
    }
}

/// Those whose commits make a decision stand.
pub trait Electors {
    /// Whose ballot it is, of the decision that follows the one of this number.
    fn owner(&self, number: u64, ballot: u32) -> MemberId;
    /// Whether this member's statements count.
    fn may_vote(&self, member: &MemberId) -> bool;
    /// Whether `yes` are a quorum.
    fn is_quorum(&self, yes: &BTreeSet<MemberId>) -> bool;
}

fn turn(places: usize, number: u64, ballot: u32) -> usize {
    let places = u64::try_from(places).unwrap_or(1).max(1);
    usize::try_from(number.wrapping_add(u64::from(ballot)) % places).unwrap_or_default()
}

impl Electors for State {
    fn owner(&self, number: u64, ballot: u32) -> MemberId {
        let place = self.places().get(turn(self.places().len(), number, ballot));
        place.map_or(MemberId([0; 32]), |place| place.voter)
    }

    fn may_vote(&self, member: &MemberId) -> bool {
        State::may_vote(self, member)
    }

    fn is_quorum(&self, yes: &BTreeSet<MemberId>) -> bool {
        State::is_quorum(self, yes)
    }
}

impl Electors for Electorate {
    fn owner(&self, number: u64, ballot: u32) -> MemberId {
        let place = self.places.get(turn(self.places.len(), number, ballot));
        place.map_or(MemberId([0; 32]), |place| place.member)
    }

    fn may_vote(&self, member: &MemberId) -> bool {
        self.places.iter().any(|place| place.member == *member && !place.key.0.is_empty())
    }

    fn is_quorum(&self, yes: &BTreeSet<MemberId>) -> bool {
        let places: Vec<MemberId> = self.places.iter().map(|place| place.member).collect();
        let rule = if self.quorum == 2 { Quorum::TwoThirds } else { Quorum::Majority };
        rule.holds(&places, yes)
    }
}

impl State {
    /// Whose ballot it is, of the decision that follows this state.
    pub fn owner(&self, ballot: u32) -> MemberId {
        Electors::owner(self, self.head().number, ballot)
    }
}
