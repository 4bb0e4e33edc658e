//! Proposals and the votes on them, ballot by ballot, for one electorate serial.
//!
//! ```text
//! ballot 0   A: alice      B: bob      -: carol      neither can win without carol; carol can still make either win
//!            A: alice      B: bob      C: carol      dead: no decision can find a quorum any more --> ballot 1
//! ```
//! A voter approves at most one decision in a ballot. It goes to the next ballot only when the
//! votes that it holds prove the present one dead: no decision, heard of or not, could still find
//! enough approvals there. By induction at most one decision of a serial is ever carried out
//! (DECISIONS T4). A ballot split between decisions waits for the silent voter who could decide it.
//! A voter is not silent if its machine is there and no person is asked for what it wants
//! (`ADM-38`). A rejection spends nothing: it says that this voter will not approve this decision
//! in this ballot.

use crate::message::OpenMessage;
use crate::{AdmissionError, BALLOTS_MAX, MEMBER_PROPOSALS_MAX, PROPOSALS_MAX};
use folkmoot_base::{Blob, Digest, Instant, MemberId, UnixTime};
use folkmoot_identity::{Decision, Roster, Slot, Threshold, Verdict, Vote, VoteProof};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A decision that wants votes.
#[derive(Debug, Clone)]
pub(crate) struct Proposal {
    pub(crate) decision: Decision,
    pub(crate) proposer: MemberId,
    pub(crate) expires: UnixTime,
    /// What the person here said.
    pub(crate) opinion: Option<bool>,
}

impl Proposal {
    pub(crate) fn new(
        decision: Decision,
        proposer: MemberId,
        expires: UnixTime,
        opinion: Option<bool>,
    ) -> Self {
        Self { decision, proposer, expires, opinion }
    }
}

/// A vote and what it is on.
#[derive(Debug, Clone)]
struct Cast {
    digest: Digest,
    decision: Decision,
    vote: Vote,
}

/// An entry to be made, unless another makes it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Carry {
    pub(crate) proposal: Digest,
    pub(crate) ballot: u32,
    pub(crate) due: Instant,
}

/// The book of one serial.
#[derive(Debug, Default)]
pub(crate) struct Ballots {
    pub(crate) serial: u64,
    pub(crate) carry: Option<Carry>,
    proposals: BTreeMap<Digest, Proposal>,
    approvals: BTreeMap<(u32, MemberId), Cast>,
    rejections: BTreeMap<(u32, MemberId, Digest), Cast>,
    /// Rejected at this serial: not opened again by a late vote.
    rejected: BTreeSet<Digest>,
}

impl Ballots {
    pub(crate) fn due(&self) -> Option<Instant> {
        self.carry.map(|carry| carry.due)
    }

    pub(crate) fn proposals(&self) -> impl Iterator<Item = (&Digest, &Proposal)> {
        self.proposals.iter()
    }

    pub(crate) fn get(&self, proposal: &Digest) -> Option<&Proposal> {
        self.proposals.get(proposal)
    }

    pub(crate) fn get_mut(&mut self, proposal: &Digest) -> Option<&mut Proposal> {
        self.proposals.get_mut(proposal)
    }

    pub(crate) fn was_rejected(&self, proposal: &Digest) -> bool {
        self.rejected.contains(proposal)
    }

    /// `ADM-32`.
    pub(crate) fn room(&self, proposer: &MemberId) -> Result<(), AdmissionError> {
        let by_one = self.proposals.values().filter(|proposal| proposal.proposer == *proposer).count();
        if self.proposals.len() >= PROPOSALS_MAX || by_one >= MEMBER_PROPOSALS_MAX {
            return Err(AdmissionError::PeerTooManyProposals);
        }
        Ok(())
    }

    pub(crate) fn insert(&mut self, proposal: Proposal) {
        self.proposals.insert(proposal.decision.digest(), proposal);
    }

    pub(crate) fn remove(&mut self, proposal: &Digest) -> Option<Proposal> {
        self.proposals.remove(proposal)
    }

    pub(crate) fn reject(&mut self, proposal: &Digest) -> Option<Proposal> {
        self.rejected.insert(*proposal);
        self.remove(proposal)
    }

    /// Whether this very vote is in the book.
    pub(crate) fn knows(&self, cms: &[u8]) -> bool {
        self.approvals.values().chain(self.rejections.values()).any(|cast| cast.vote.der() == cms)
    }

    /// `ADM-34`: takes a vote of this serial unless it contradicts an earlier one of the same
    /// voter. Whether it is new.
    pub(crate) fn count(
        &mut self,
        ballot: u32,
        decision: Decision,
        vote: Vote,
    ) -> Result<bool, AdmissionError> {
        let (voter, digest) = (vote.voter(), decision.digest());
        let rejection = (ballot, voter, digest);
        let approved = self.approvals.get(&(ballot, voter)).map(|cast| cast.digest);
        let cast = Cast { digest, decision, vote };
        match cast.vote.content().verdict {
            Verdict::Approve if approved == Some(digest) => Ok(false),
            Verdict::Reject if self.rejections.contains_key(&rejection) => Ok(false),
            Verdict::Approve if approved.is_none() && !self.rejections.contains_key(&rejection) => {
                self.approvals.insert((ballot, voter), cast);
                Ok(true)
            }
            Verdict::Reject
                if approved != Some(digest) && self.rejections_of(ballot, &voter) < PROPOSALS_MAX =>
            {
                self.rejections.insert(rejection, cast);
                Ok(true)
            }
            Verdict::Approve | Verdict::Reject => Err(AdmissionError::PeerTwoVotes(voter)),
        }
    }

    /// Restores an own vote from disk. A vote of an older serial than those held is history; one of
    /// a newer serial replaces them.
    pub(crate) fn restore(&mut self, slot: Slot, decision: Decision, vote: Vote) {
        if slot.serial > self.serial {
            self.turn(slot.serial);
        }
        if slot.serial == self.serial {
            // A second approval at one slot cannot be on disk: the first stands in any case.
            let _ = self.count(slot.ballot, decision, vote);
        }
    }

    /// Goes on to another serial. Returns this member's votes of the old one, which are to be
    /// forgotten on disk.
    pub(crate) fn next(&mut self, serial: u64, me: &MemberId) -> Vec<(Digest, Slot, Verdict)> {
        let mine = self.casts(me).map(|(ballot, cast)| {
            (cast.digest, Slot { serial: self.serial, ballot }, cast.vote.content().verdict)
        });
        let mine = mine.collect();
        self.turn(serial);
        mine
    }

    /// The ballot in which to vote now: the first that is not dead. `None` if all are.
    pub(crate) fn current(&self, roster: &Roster) -> Option<u32> {
        (0..BALLOTS_MAX).find(|ballot| !self.is_dead(*ballot, roster))
    }

    /// Whether this decision could still find enough approvals in this ballot.
    pub(crate) fn is_possible(&self, ballot: u32, decision: &Decision, roster: &Roster) -> bool {
        let proposal = decision.digest();
        let could = |voter: &&MemberId| match self.approvals.get(&(ballot, **voter)) {
            Some(cast) => cast.digest == proposal,
            None => !self.rejections.contains_key(&(ballot, **voter, proposal)),
        };
        roster.carries(decision, &roster.electorate().voters.iter().filter(could).copied().collect())
    }

    fn is_dead(&self, ballot: u32, roster: &Roster) -> bool {
        let silent = |voter: &&MemberId| !self.approvals.contains_key(&(ballot, **voter));
        let silent = roster.electorate().voters.iter().filter(silent).copied().collect();
        let in_ballot = self.approvals.range((ballot, MemberId([0; 32]))..=(ballot, MemberId([0xff; 32])));
        let named: BTreeMap<Digest, &Decision> =
            in_ballot.map(|(_, cast)| (cast.digest, &cast.decision)).collect();
        !roster.decides(&silent) && !named.values().any(|decision| self.is_possible(ballot, decision, roster))
    }

    /// Whether so many said no, in any ballot, that the rest cannot decide.
    pub(crate) fn is_rejected(&self, proposal: &Digest, roster: &Roster) -> bool {
        let no = self.rejecters(proposal);
        let rest = roster.electorate().voters.iter().filter(|voter| !no.contains(voter)).copied().collect();
        match self.get(proposal) {
            Some(proposal) => !roster.carries(&proposal.decision, &rest),
            None => !roster.decides(&rest),
        }
    }

    pub(crate) fn rejecters(&self, proposal: &Digest) -> BTreeSet<MemberId> {
        let no = self.rejections.keys().filter(|(.., digest)| digest == proposal);
        no.map(|(_, voter, _)| *voter).collect()
    }

    /// Who approves in this ballot and has a vote.
    pub(crate) fn approvers(&self, ballot: u32, proposal: &Digest, roster: &Roster) -> BTreeSet<MemberId> {
        self.proofs(ballot, proposal, roster).iter().map(|proof| proof.voter).collect()
    }

    /// Who approves each decision in this ballot and has a vote.
    pub(crate) fn spent(&self, ballot: u32, roster: &Roster) -> Vec<BTreeSet<MemberId>> {
        let in_ballot = self.approvals.range((ballot, MemberId([0; 32]))..=(ballot, MemberId([0xff; 32])));
        let decisions: BTreeSet<Digest> = in_ballot.map(|(_, cast)| cast.digest).collect();
        decisions.iter().map(|digest| self.approvers(ballot, digest, roster)).collect()
    }

    pub(crate) fn proofs(&self, ballot: u32, proposal: &Digest, roster: &Roster) -> Vec<VoteProof> {
        let in_ballot = self.approvals.range((ballot, MemberId([0; 32]))..=(ballot, MemberId([0xff; 32])));
        let yes = in_ballot.filter(|((_, voter), cast)| cast.digest == *proposal && roster.may_vote(voter));
        yes.map(|(_, cast)| cast.vote.proof()).collect()
    }

    /// A decision that has enough approvals in one ballot.
    pub(crate) fn decided(&self, roster: &Roster) -> Option<(u32, Decision)> {
        self.decided_all(roster).into_iter().next()
    }

    /// All of them: one, unless somebody's machine was broken into.
    pub(crate) fn decided_all(&self, roster: &Roster) -> Vec<(u32, Decision)> {
        let slots: BTreeMap<(u32, Digest), &Decision> = self
            .approvals
            .iter()
            .map(|((ballot, _), cast)| ((*ballot, cast.digest), &cast.decision))
            .collect();
        let decided = slots.into_iter().filter(|((ballot, digest), decision)| {
            roster.carries(decision, &self.approvers(*ballot, digest, roster))
        });
        decided.map(|((ballot, _), decision)| (ballot, decision.clone())).collect()
    }

    /// What this member signs for next in this ballot, if anything.
    ///
    /// The first ballot is free. In a later one all follow one order of preference, so that it does
    /// not split like the one before: first what no person is asked for, then what is most approved
    /// in this ballot, then in all, then the smallest digest. A member votes for the first that can
    /// still win and that its person wants. It passes over those that its person rejects. It waits
    /// at one that its person has not judged, unless its machine wants something: [`Self::lost`].
    pub(crate) fn choice(&self, ballot: u32, me: &MemberId, roster: &Roster) -> Option<Decision> {
        if self.approvals.contains_key(&(ballot, *me)) {
            return None;
        }
        let all = |digest: &Digest| self.approvals.values().filter(|cast| cast.digest == *digest).count();
        let possible =
            self.proposals.iter().filter(|(_, one)| self.is_possible(ballot, &one.decision, roster));
        let open = possible.filter(|(_, proposal)| match proposal.opinion {
            Some(wanted) => wanted,
            None => ballot > 0,
        });
        let first = open.max_by_key(|(digest, proposal)| {
            let machines = ballot > 0 && asks_nobody(&proposal.decision, roster);
            (machines, self.approvers(ballot, digest, roster).len(), all(digest), Reverse(**digest))
        });
        let wanted = first.map(|(_, proposal)| proposal).filter(|proposal| proposal.opinion == Some(true));
        let wanted = wanted.or_else(|| self.lost(ballot, me, roster));
        wanted.map(|proposal| proposal.decision.clone())
    }

    /// `ADM-38`: what this member's machine wants and cannot get in this ballot any more, because
    /// others approved what people proposed. It is approved all the same. Otherwise a voter whose
    /// person has judged none of that would keep the ballot open for as long as that person is
    /// silent. Once enough such voters are spent the ballot is dead, and the next begins with what
    /// machines want.
    fn lost(&self, ballot: u32, me: &MemberId, roster: &Roster) -> Option<&Proposal> {
        let lost = self.proposals.iter().find(|(digest, proposal)| {
            proposal.opinion == Some(true)
                && asks_nobody(&proposal.decision, roster)
                && !self.rejections.contains_key(&(ballot, *me, **digest))
                && !self.is_possible(ballot, &proposal.decision, roster)
        });
        lost.map(|(_, proposal)| proposal).filter(|_| self.decided(roster).is_none())
    }

    /// What the person here rejects and this member has not rejected in this ballot.
    pub(crate) fn refusals(&self, ballot: u32, me: &MemberId) -> Vec<Decision> {
        let approved = self.approvals.get(&(ballot, *me)).map(|cast| cast.digest);
        let unsaid = self.proposals.iter().filter(|(digest, proposal)| {
            proposal.opinion == Some(false)
                && approved != Some(**digest)
                && !self.rejections.contains_key(&(ballot, *me, **digest))
        });
        unsaid.map(|(_, proposal)| proposal.decision.clone()).collect()
    }

    /// Whether anything here would be sent again by this member.
    pub(crate) fn concerns(&self, me: &MemberId) -> bool {
        let proposed = self.proposals.values().any(|proposal| proposal.proposer == *me);
        proposed || (!self.proposals.is_empty() && self.casts(me).next().is_some())
    }

    /// What this member said and would say again.
    pub(crate) fn own_messages(&self, me: &MemberId) -> Vec<OpenMessage> {
        if self.proposals.is_empty() {
            return Vec::new();
        }
        let proposed = self.proposals.values().filter(|proposal| proposal.proposer == *me);
        let proposed = proposed.map(|proposal| OpenMessage::Proposal { decision: proposal.decision.clone() });
        let votes = self.casts(me).map(|(_, cast)| OpenMessage::DecisionVote {
            decision: cast.decision.clone(),
            cms: Blob::from(cast.vote.der().to_vec()),
        });
        proposed.chain(votes).collect()
    }

    fn casts(&self, voter: &MemberId) -> impl Iterator<Item = (u32, &Cast)> {
        let voter = *voter;
        let yes = self.approvals.iter().filter(move |((_, by), _)| *by == voter);
        let no = self.rejections.iter().filter(move |((_, by, _), _)| *by == voter);
        yes.map(|((ballot, _), cast)| (*ballot, cast)).chain(no.map(|((ballot, ..), cast)| (*ballot, cast)))
    }

    fn rejections_of(&self, ballot: u32, voter: &MemberId) -> usize {
        let range = (ballot, *voter, [0; 32])..=(ballot, *voter, [0xff; 32]);
        self.rejections.range(range).count()
    }

    fn turn(&mut self, serial: u64) {
        self.serial = serial;
        self.carry = None;
        self.approvals.clear();
        self.rejections.clear();
        self.rejected.clear();
    }
}

/// Whether the voters' machines judge it without asking a person: nobody's hesitation may hold it
/// up.
fn asks_nobody(decision: &Decision, roster: &Roster) -> bool {
    matches!(decision, Decision::Sharing { .. }) || is_update(decision, roster)
}

/// Whether the decision does nothing but follow the group's size. Whether it is due is the
/// transcript's to judge.
pub(crate) fn is_update(decision: &Decision, roster: &Roster) -> bool {
    let Decision::ChangeCharter { field, value } = decision else { return false };
    let next = std::str::from_utf8(&value.0).ok().and_then(|word| Threshold::from_word(word).ok());
    match (roster.charter().threshold_rule(), next) {
        (Threshold::Ratio { percent, window, .. }, Some(Threshold::Ratio { percent: p, window: w, .. })) => {
            field.0.as_ref() == b"threshold" && (p, w) == (percent, window)
        }
        _ => false,
    }
}
