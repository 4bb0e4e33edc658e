//! One voter's part in the decision that follows the head.
//!
//! ```text
//! something to decide --> owner of ballot 0 proposes --> judge --> a quorum judges: commit --> a quorum: it stands
//!                    '--> nothing within PATIENCE --> promise the next ballot --> its owner proposes
//! ```
//! Promises: this voter commits once in a ballot, in no ballot below one that it promised, and only
//! to what it has worked out itself and a quorum has judged when it was fresh. Its promises and
//! commits are persisted before they are sent, so a restart adds nothing; its judgements bind it to
//! nothing. It promises at most as many ballots beyond the highest that was proposed as there are
//! places. Bounds: two proposals for each ballot within that range, and two commits and two
//! judgements of each voter. Relies on: messages whose signatures are verified, and a disk that is
//! not older than what it has sent.

mod date;
mod judge;
mod known;
mod message;
mod owner;
mod voter;

pub use message::{BallotMessage, BallotRecord};

use crate::proposal::{Commit, Judgement, Promise, Proposal, Report, Standing, Statement};
use crate::{Admit, Approved, Set, SignatureBytes, State, Unproposed, Wrong};
use core::time::Duration;
use folkmoot_base::{Digest, Instant, MemberId, Mutant, UnixTime};
use known::{Entries, Thing};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// How long a voter waits for the owner of a ballot.
pub const PATIENCE: Duration = Duration::from_secs(3);
/// How long something that counts may be left out of a fresh proposal, and what counts no more may
/// be in one.
pub const KNOWN_FOR: Duration = Duration::from_secs(60);
/// Proposals of one ballot that are kept unless a voter reports them.
const TWO: usize = 2;
/// How far the time of a fresh proposal may be from a voter's clock, in seconds.
pub const SKEW_SECONDS: u64 = 300;

/// What goes out. A record is persisted before anything that comes after it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BallotOutput {
    /// Persist this in place of the record before.
    Persist(BallotRecord),
    /// Send this to all members.
    Send(BallotMessage),
    /// This stands: apply it.
    Stands(Standing),
    /// An admission is named in a proposal and is not here: ask for it.
    Missing(Digest),
}

/// How far the ballots have come, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BallotStatus {
    /// The lowest ballot in which this voter may still commit.
    pub promised: u32,
    /// Its highest commit.
    pub committed: Option<Report>,
    /// What was proposed, and how many have committed to it.
    pub proposed: BTreeMap<Report, usize>,
    /// The highest ballot that each voter has promised.
    pub promised_by: BTreeMap<MemberId, u32>,
}

/// What a step looks at.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// The state at the head.
    pub state: &'a State,
    /// What no decision holds.
    pub set: &'a Set,
    /// Timers.
    pub now: Instant,
    /// The wall clock.
    pub clock: UnixTime,
    /// Who can be heard.
    pub present: &'a BTreeSet<MemberId>,
    /// Signs as this voter.
    pub sign: &'a dyn Fn(&Statement) -> SignatureBytes,
}

impl core::fmt::Debug for Look<'_> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.debug_struct("Look").field("head", &self.state.head()).field("clock", &self.clock).finish()
    }
}

type CommitsByVoter = BTreeMap<MemberId, Commit>;
type JudgementsByVoter = BTreeMap<MemberId, Judgement>;

/// One voter's ballots on the decision that follows one head.
#[derive(Debug)]
pub struct Ballots {
    me: MemberId,
    record: BallotRecord,
    /// Proposals that were heard and entitled, by ballot and decision: at most two in a ballot.
    proposals: BTreeMap<Report, Proposal>,
    commits: BTreeMap<Report, CommitsByVoter>,
    /// By the ballot in which the decision was fresh, and the decision.
    judgements: BTreeMap<Report, JudgementsByVoter>,
    promises: BTreeMap<u32, BTreeMap<MemberId, Promise>>,
    /// The highest ballot that each voter has promised.
    promised: BTreeMap<MemberId, u32>,
    /// Since when each thing that could be decided has been known here.
    known: BTreeMap<Thing, Instant>,
    /// Since when what could be decided here can be no more: for a minute, as far as it matters.
    lapsed: BTreeMap<Thing, Instant>,
    /// At which version of the set and which time that was noted last.
    watched: Option<(u64, UnixTime)>,
    /// When it was last looked at.
    looked: Instant,
    /// Sharings that could be decided although some of their holders have not said whether they
    /// stored them, and since when.
    lacking: BTreeMap<Digest, Instant>,
    /// When the present ballot began.
    began: Option<Instant>,
    stands: bool,
    /// The date that this voter's person has seen and found right.
    date: Option<UnixTime>,
    /// Whether something is due that waits for that.
    holds_back: bool,
    /// What could be carried out at this version of the set and this time.
    carriable: Option<(u64, UnixTime, Arc<Vec<Approved>>)>,
    /// What could be held and refused at the version of the set that was last seen.
    entries: Option<Arc<Entries>>,
    danger: Mutant,
    out: VecDeque<BallotOutput>,
}

impl Ballots {
    /// The ballots of `me` on what follows this state; `record` is what was persisted, if anything.
    pub fn new(me: MemberId, state: &State, record: Option<BallotRecord>, danger: Mutant) -> Self {
        let record = record.filter(|record| record.parent == state.head());
        let record = record.unwrap_or_else(|| BallotRecord::new(state.head()));
        let by_voter = record.judgements.iter().map(|judgement| (judgement.voter, judgement.clone()));
        let judgements =
            record.committed.iter().map(|proposal| (proposal.judged(), by_voter.clone().collect()));
        Self {
            me,
            judgements: judgements.collect(),
            record,
            proposals: BTreeMap::new(),
            commits: BTreeMap::new(),
            promises: BTreeMap::new(),
            promised: BTreeMap::new(),
            known: BTreeMap::new(),
            lapsed: BTreeMap::new(),
            watched: None,
            looked: Instant(0),
            lacking: BTreeMap::new(),
            began: None,
            stands: false,
            date: None,
            holds_back: false,
            carriable: None,
            entries: None,
            danger,
            out: VecDeque::new(),
        }
    }

    /// What is to be done, in order.
    pub fn poll_output(&mut self) -> Option<BallotOutput> {
        self.out.pop_front()
    }

    /// When [`Self::work`] wants to be called again, at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.began.map(|began| began + self.patience())
    }

    /// How far the ballots have come.
    pub fn status(&self) -> BallotStatus {
        let commits = |report: &Report| self.commits.get(report).map_or(0, BTreeMap::len);
        BallotStatus {
            promised: self.record.promised,
            committed: self.record.committed.as_ref().map(Proposal::report),
            proposed: self.proposals.keys().map(|report| (*report, commits(report))).collect(),
            promised_by: self.promised.clone(),
        }
    }

    /// Says again what others may have missed.
    pub fn resend(&mut self, look: &Look<'_>) {
        let mine = self.record.proposed.iter().chain(&self.record.committed);
        let mine: Vec<Proposal> =
            mine.filter(|one| one.is_fresh() || self.is_judged(look, one)).cloned().collect();
        mine.into_iter().for_each(|one| self.say_proposal(one));
        if let Some(report) = self.record.judged {
            self.say_judgement(look, report);
        }
        if let Some(report) = self.record.committed.as_ref().map(Proposal::report) {
            self.say_commit(look, report);
        }
        if self.record.promised > 0 {
            self.say_promise(look, self.record.promised);
        }
    }

    /// Does what is due: proposes, or gives up on a ballot that came to nothing.
    pub fn work(&mut self, look: &Look<'_>) {
        if self.stands || look.state.head() != self.record.parent {
            return;
        }
        if !look.set.goes_on(look.state) {
            self.began = None;
            self.count(look);
            return;
        }
        let wanted = self.watch(look);
        self.pay(look);
        self.commit_all(look);
        if look.state.may_vote(&self.me) {
            self.holds_back = wanted && self.is_held(look.state, known::time_of(look));
            self.own(look, wanted);
            // What it has committed to is decided whatever the date.
            self.give_up(look, wanted && (!self.holds_back || self.record.committed.is_some()));
        }
        self.count(look);
    }

    /// Whether this has been heard, or can change nothing: then it need not be verified. Voters
    /// repeat what they say, and each of all members hears it.
    pub fn knows(&self, message: &BallotMessage) -> bool {
        self.stands
            || message.parent() != self.record.parent
            || match message {
                BallotMessage::Proposal { proposal, .. } => self.proposals.contains_key(&proposal.report()),
                BallotMessage::Promise { ballot, promise, report, .. } => {
                    let heard = self.promises.get(ballot).and_then(|by| by.get(&promise.voter));
                    heard == Some(promise) && report.as_ref().map(Proposal::report) == promise.report
                }
                BallotMessage::Commit { report, commit, .. } => {
                    self.commits.get(report).and_then(|by| by.get(&commit.voter)) == Some(commit)
                }
                // Another signature of the same says no more.
                BallotMessage::Judgement { report, judgement, .. } => {
                    self.judgements.get(report).is_some_and(|by| by.contains_key(&judgement.voter))
                }
            }
    }

    /// Hears a message whose signatures are verified.
    ///
    /// # Errors
    /// Why it does not stand; a message on another head is passed over.
    pub fn hear(&mut self, look: &Look<'_>, message: BallotMessage) -> Result<(), Unproposed> {
        if self.stands || message.parent() != self.record.parent {
            return Ok(());
        }
        match message {
            BallotMessage::Proposal { proposal, judgements } => {
                self.check_judgements(look, (!proposal.is_fresh()).then_some(&proposal), &judgements)?;
                self.hear_proposal(look, proposal, judgements, TWO)?;
            }
            BallotMessage::Promise { ballot, promise, report, judgements, .. } => {
                self.check_judgements(look, report.as_ref(), &judgements)?;
                self.hear_promise(look, ballot, promise, report.map(|report| (report, judgements)))?;
            }
            BallotMessage::Commit { report, commit, .. } => self.hear_commit(look, report, commit),
            BallotMessage::Judgement { report, judgement, .. } => {
                self.hear_judgement(look, report, judgement);
            }
        }
        self.work(look);
        Ok(())
    }

    /// Hears a proposal, with judgements that are verified. What a voter reports that it committed
    /// to must be known whatever else there is.
    fn hear_proposal(
        &mut self,
        look: &Look<'_>,
        proposal: Proposal,
        judgements: Vec<Judgement>,
        most: usize,
    ) -> Result<(), Unproposed> {
        if proposal.parent() != self.record.parent {
            return Ok(());
        }
        let (report, judged) = (proposal.report(), proposal.judged());
        if !self.proposals.contains_key(&report) {
            self.keep_proposal(look, report, proposal, most)?;
        }
        if self.proposals.contains_key(&report) {
            self.keep_judgements(judged, judgements);
        }
        Ok(())
    }

    /// `LINE-66`: a proposal counts if its owners were entitled to it and its decision can be
    /// worked out here. Of one ballot at most so many are kept: more come from an owner who lies.
    fn keep_proposal(
        &mut self,
        look: &Look<'_>,
        report: Report,
        proposal: Proposal,
        most: usize,
    ) -> Result<(), Unproposed> {
        let in_ballot = self.proposals.keys().filter(|known| known.ballot == report.ballot).count();
        if in_ballot >= most || report.ballot > self.last_ballot(look) {
            return Ok(());
        }
        proposal.check(look.state)?;
        match look.state.after(&proposal.decision, |request| look.set.admit(request)) {
            Ok(_) => {}
            Err(Wrong::Missing(request)) => {
                self.out.push_back(BallotOutput::Missing(request));
                return Ok(());
            }
            Err(why) => return Err(why.into()),
        }
        // What this voter said before its disk was restored binds it again.
        if look.state.owner(report.ballot) == self.me {
            let known = self.record.proposed.as_ref().map(Proposal::ballot);
            if known.is_none_or(|known| known < report.ballot) {
                self.record.proposed = Some(proposal.clone());
                self.persist();
            }
        }
        let highest = self.proposals.keys().map(|known| known.ballot).max();
        if highest.is_none_or(|highest| highest < report.ballot) {
            self.began = None;
        }
        self.proposals.insert(report, proposal);
        Ok(())
    }

    fn hear_commit(&mut self, look: &Look<'_>, report: Report, commit: Commit) {
        let given = self.commits.iter().filter(|(other, by)| {
            other.ballot == report.ballot && **other != report && by.contains_key(&commit.voter)
        });
        let room = given.count() < TWO;
        if !look.state.may_vote(&commit.voter) || report.ballot > self.last_ballot(look) || !room {
            return;
        }
        let last = self.record.committed.as_ref().map(Proposal::ballot);
        if commit.voter == self.me && last.is_none_or(|last| last < report.ballot) {
            // Said before this disk was restored from an older one.
            self.record.owed = Some(report);
            self.record.promised = self.record.promised.max(report.ballot.saturating_add(1));
            self.persist();
        }
        self.commits.entry(report).or_default().insert(commit.voter, commit);
    }

    /// The highest ballot that anybody here may promise or propose: as many beyond the highest that
    /// was proposed, or that a quorum has promised, as there are places.
    fn last_ballot(&self, look: &Look<'_>) -> u32 {
        let proposed = self.proposals.keys().map(|report| report.ballot).max().unwrap_or_default();
        let proven = self.promised_by_quorum(look).max(proposed);
        let places = u32::try_from(look.state.places().len()).unwrap_or(u32::MAX);
        proven.saturating_add(places)
    }

    /// The highest ballot of which a quorum has promised it or a later one.
    fn promised_by_quorum(&self, look: &Look<'_>) -> u32 {
        // Each ballot once: most voters promise the same one.
        let ballots: BTreeSet<u32> = self.promised.values().copied().collect();
        let proven = |ballot: &u32| look.state.is_quorum(&self.at_least(*ballot));
        ballots.into_iter().rev().find(proven).unwrap_or_default()
    }

    /// Who has promised this ballot or a later one.
    fn at_least(&self, ballot: u32) -> BTreeSet<MemberId> {
        self.promised.iter().filter(|(_, promised)| **promised >= ballot).map(|(voter, _)| *voter).collect()
    }

    /// A decision stands when a quorum has committed to it in one ballot.
    fn count(&mut self, look: &Look<'_>) {
        let stands = self.commits.iter().find_map(|(report, commits)| {
            let yes = commits.keys().copied().collect();
            let proposal = self.proposals.get(report).filter(|_| look.state.is_quorum(&yes))?;
            Some(Standing { proposal: proposal.clone(), commits: commits.values().cloned().collect() })
        });
        if let Some(standing) = stands {
            self.stands = true;
            self.began = None;
            self.out.push_back(BallotOutput::Stands(standing));
        }
    }

    fn persist(&mut self) {
        self.out.push_back(BallotOutput::Persist(self.record.clone()));
    }

    fn say_commit(&mut self, look: &Look<'_>, report: Report) {
        let parent = self.record.parent;
        let statement = Statement::Commit { parent, ballot: report.ballot, decision: report.decision };
        let commit = Commit { voter: self.me, signature: (look.sign)(&statement) };
        self.commits.entry(report).or_default().insert(self.me, commit.clone());
        self.out.push_back(BallotOutput::Send(BallotMessage::Commit { parent, report, commit }));
    }

    fn say_promise(&mut self, look: &Look<'_>, ballot: u32) {
        let parent = self.record.parent;
        let report = self.record.committed.as_ref().map(Proposal::report);
        let statement = Statement::Promise { parent, ballot, report };
        let promise = Promise { voter: self.me, report, signature: (look.sign)(&statement) };
        self.promises.entry(ballot).or_default().insert(self.me, promise.clone());
        self.promised.insert(self.me, ballot);
        let (report, judgements) = (self.record.committed.clone(), self.record.judgements.clone());
        let said = BallotMessage::Promise { parent, ballot, promise, report, judgements };
        self.out.push_back(BallotOutput::Send(said));
    }

    /// Says a proposal to all, and of what is followed the judgements.
    fn say_proposal(&mut self, proposal: Proposal) {
        let fresh = proposal.is_fresh();
        let judgements = if fresh { Vec::new() } else { self.judgements_of(&proposal) };
        self.out.push_back(BallotOutput::Send(BallotMessage::Proposal { proposal, judgements }));
    }

    fn admit<'a>(look: &Look<'a>, request: &Digest) -> Option<&'a Admit> {
        look.set.admit(request)
    }
}
