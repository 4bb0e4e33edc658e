//! The line as one member holds it: the state at its head, the set beside it, and what contradicts
//! it.
//!
//! ```text
//! founding --- 1 --- 2 --- ... --- n = head        each applied once, never another for the same number
//!                     \--- 3'                      another that stands: somebody signed both; evidence
//! ```
//! Promises: the first standing decision on the head is applied, and no other for that number.
//! Bounds: [`FORKS_MAX`] forks, [`SIDES_MAX`] of one number.

mod side;

use crate::proposal::{Claim, Electors, Standing, Statement};
use crate::state::run;
use crate::{Decision, Electorate, Head, Set, State, Unproposed, Wrong};
use folkmoot_base::{Danger, Digest, MemberId, Mutant};
use folkmoot_identity::Charter;
use std::collections::{BTreeMap, BTreeSet};

/// Most forks that are kept as evidence.
pub const FORKS_MAX: usize = 16;
/// Most of them of one number: other decisions than ours.
pub const SIDES_MAX: usize = 4;

/// What became of a standing decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// It is the head now.
    Next,
    /// It was here.
    Known,
    /// Decisions between the head and it are missing.
    Ahead,
    /// It contradicts the line: those named signed what they had signed the contrary of.
    Fork(BTreeSet<MemberId>),
}

/// Two decisions that stand for one number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The one on our line.
    pub ours: Standing,
    /// The other.
    pub theirs: Standing,
    /// Who signed statements that contradict each other.
    pub liars: BTreeSet<MemberId>,
    /// What shows that the other line sends its members to ours: its decision at the fork, the last
    /// ones under each electorate since, and the Rejoin. Empty if it does not.
    pub coming: Vec<Standing>,
}

impl Fork {
    /// Whether somebody who votes at this state committed to the other decision. What former voters
    /// committed to alone they may have made up at any time since.
    pub fn is_by_voters(&self, state: &State) -> bool {
        let mut committed = self.theirs.commits.iter().map(|commit| &commit.voter);
        committed.any(|voter| state.may_vote(voter)) || state.is(Danger::LineKeepsMadeUp)
    }
}

/// One member's line.
#[derive(Debug, Clone)]
pub struct Line {
    state: State,
    set: Set,
    /// The decisions of this line that are recent, or the last under an electorate, with the state
    /// that they followed for the recent ones.
    decisions: BTreeMap<u64, Standing>,
    /// By the decision that is not ours.
    forks: BTreeMap<Head, Fork>,
}

impl Line {
    /// The line that this charter begins.
    pub fn founded(charter: Charter) -> Self {
        Self {
            state: State::founded(charter),
            set: Set::default(),
            decisions: BTreeMap::new(),
            forks: BTreeMap::new(),
        }
    }

    /// Makes it judge wrongly on purpose from now on, in tests of the tests.
    pub fn endanger(&mut self, danger: Mutant) {
        self.state.endanger(danger);
    }

    /// The state at the head.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What no decision holds yet.
    pub fn set(&self) -> &Set {
        &self.set
    }

    /// The set, to add to it: with the state that it is judged by.
    pub fn set_mut(&mut self) -> (&State, &mut Set) {
        (&self.state, &mut self.set)
    }

    /// What two members compare: equal where line and set are.
    pub fn mark(&self) -> (Head, Digest) {
        (self.state.head(), self.set.digest())
    }

    /// The decisions that are kept, by number.
    pub fn decisions(&self) -> &BTreeMap<u64, Standing> {
        &self.decisions
    }

    /// The forks that are known, by the decision that is not ours.
    pub fn forks(&self) -> &BTreeMap<Head, Fork> {
        &self.forks
    }

    /// Applies a standing decision whose signatures are verified ([`Standing::claims`] with
    /// [`Self::electors_of`]).
    ///
    /// # Errors
    /// Why it does not stand; the line is then as it was.
    pub fn apply(&mut self, standing: Standing) -> Result<Applied, Unproposed> {
        let number = standing.proposal.decision.number;
        if number <= self.state.head().number {
            return self.compare(standing);
        }
        if number > self.state.head().number.saturating_add(1) {
            return Ok(Applied::Ahead);
        }
        if standing.proposal.parent() != self.state.head() {
            return Err(Unproposed::Parent);
        }
        standing.check(&self.state)?;
        self.check_holds(&standing)?;
        let next = self.state.after(&standing.proposal.decision, |request| self.set.admit(request))?;
        self.decisions.insert(number, standing);
        self.state = next;
        self.set.advance(&self.state);
        self.forget();
        Ok(Applied::Next)
    }

    /// `LINE-06`: whoever applies a decision asks itself of each admission that it holds whether
    /// the approvals that are here let its holder in. A quorum that is smaller than the threshold
    /// admits nobody by that.
    fn check_holds(&self, standing: &Standing) -> Result<(), Wrong> {
        let decision = &standing.proposal.decision;
        if self.state.is(Danger::LineHoldsUnseen) {
            return Ok(());
        }
        let here = |request: &&Digest| self.set.admit(request).is_some();
        let mut holds = decision.holds.iter().filter(here);
        let lacks = holds.find(|request| !self.set.vouches(&self.state, request, decision.time));
        lacks.map_or(Ok(()), |request| Err(Wrong::Unvouched(*request)))
    }

    /// The decisions of this line that are kept and recent.
    pub(crate) fn recent(&self) -> impl Iterator<Item = &Standing> {
        self.decisions.values().filter(|one| self.state.decision_at(one.head().number).is_some())
    }

    /// [`State::running`] after the decision of this number, by the handovers that are kept.
    pub(crate) fn running_at(&self, number: u64) -> Digest {
        let founded = State::founded(self.state.founding_charter().clone());
        let kept = self.decisions.range(..=number).map(|(_, one)| &one.proposal.decision);
        kept.fold(founded.running(), run_decision)
    }

    /// Goes on to a later state without the decisions between: `handovers` are the last decisions
    /// under each electorate since the head, `last` is the one that the state follows, each
    /// committed by a quorum of the electorate that the one before names.
    ///
    /// # Errors
    /// `LINE-70` a decision is not of those who could commit it, or one of them is left out;
    /// `LINE-71` the state is not the one that the last decision names; `LINE-72` it does not show
    /// that our head is on its line.
    pub fn skip(
        &mut self,
        handovers: &[Standing],
        last: &Standing,
        state: State,
    ) -> Result<Applied, Unproposed> {
        self.go_on(handovers.to_vec(), last.clone(), state, true)
    }

    /// [`Self::skip`] by decisions that nobody else keeps. Not `shown`: it need not show that our
    /// head is on its line.
    pub(crate) fn go_on(
        &mut self,
        handovers: Vec<Standing>,
        last: Standing,
        state: State,
        shown: bool,
    ) -> Result<Applied, Unproposed> {
        let mut electors = self.state.electorate();
        let mut number = self.state.head().number;
        let mut proven = !shown || number == 0 || state.has_on_line(&self.state.head());
        for standing in handovers.iter().chain([&last]) {
            let decision = &standing.proposal.decision;
            if decision.number <= number || decision.group != self.state.group() {
                return Err(Unproposed::Handover);
            }
            standing.check(&electors)?;
            proven = proven || standing.proposal.parent() == self.state.head();
            number = decision.number;
            if let Some(next) = &decision.electorate {
                electors = next.clone();
            }
        }
        if last.proposal.decision.state != state.digest() || last.head() != state.head() {
            return Err(Unproposed::State);
        }
        let all = handovers.iter().chain([&last]).map(|one| &one.proposal.decision);
        let complete = all.fold(self.state.running(), run_decision) == state.running();
        if electors != state.electorate() || (!complete && !self.state.is(Danger::LineNoRunning)) {
            return Err(Unproposed::Handover);
        }
        if !proven {
            return Err(Unproposed::TooOld);
        }
        let kept = handovers.into_iter().filter(|standing| standing.proposal.decision.electorate.is_some());
        self.decisions.extend(kept.chain([last]).map(|standing| (standing.head().number, standing)));
        let danger = self.state.danger();
        self.state = state;
        self.state.endanger(danger);
        self.set.advance(&self.state);
        Ok(Applied::Next)
    }

    /// Takes back decisions of this line that were kept, without judging them.
    pub(crate) fn recall(&mut self, decisions: &BTreeMap<u64, Standing>) {
        let ours = decisions
            .iter()
            .filter(|(number, standing)| self.state.decision_at(**number) == Some(standing.head()));
        let ours: Vec<(u64, Standing)> = ours.map(|(number, one)| (*number, one.clone())).collect();
        self.decisions.extend(ours);
    }

    /// Keeps the decisions that are recent, or the last under an electorate.
    fn forget(&mut self) {
        let state = &self.state;
        self.decisions.retain(|number, standing| {
            standing.proposal.decision.electorate.is_some() || state.decision_at(*number).is_some()
        });
    }

    /// What somebody needs to [`Self::skip`] from a head of this number: the handovers since, and
    /// the last decision.
    pub fn handovers_since(&self, number: u64) -> Option<(Vec<Standing>, Standing)> {
        let head = self.state.head().number;
        let last = self.decisions.get(&head).filter(|_| head > number)?.clone();
        let since = self.decisions.range(number.saturating_add(1)..head);
        let since = since.filter(|(_, standing)| standing.proposal.decision.electorate.is_some());
        Some((since.map(|(_, standing)| standing.clone()).collect(), last))
    }

    /// Keeps a decision of this line that is recent, and whose signatures are verified.
    pub(crate) fn keep(&mut self, standing: Standing) {
        self.decisions.insert(standing.head().number, standing);
    }

    /// A decision of a number that was decided: the same, or the other side of a fork.
    fn compare(&mut self, theirs: Standing) -> Result<Applied, Unproposed> {
        let number = theirs.proposal.decision.number;
        if self.state.is(Danger::LineTakesForks) {
            // Only over the founding: of no other number is the state before it at hand.
            let mut founded = State::founded(self.state.founding_charter().clone());
            founded.endanger(self.state.danger());
            theirs.check(&founded)?;
            let state = founded.after(&theirs.proposal.decision, |request| self.set.admit(request))?;
            self.state = state;
            self.decisions = BTreeMap::from([(number, theirs)]);
            self.set.advance(&self.state);
            return Ok(Applied::Next);
        }
        let Some(ours) = self.decisions.get(&number) else { return Ok(Applied::Known) };
        if ours.head() == theirs.head() {
            return Ok(Applied::Known);
        }
        if ours.proposal.parent() != theirs.proposal.parent() {
            return Err(Unproposed::Parent);
        }
        let electors = self.electors_of(number);
        theirs.check(&electors)?;
        let liars = contradictions(ours, &theirs, &electors);
        let fork = Fork { ours: ours.clone(), theirs, liars: liars.clone(), coming: Vec::new() };
        self.keep_fork(fork);
        Ok(Applied::Fork(liars))
    }

    /// Who committed the decision of this number: those of the present state, or those whom the
    /// last change of the electorate before it names.
    pub fn electors_of(&self, number: u64) -> Electorate {
        if number > self.state.head().number {
            return self.state.electorate();
        }
        let before = self.decisions.range(..number).rev();
        let named = before.filter_map(|(_, standing)| standing.proposal.decision.electorate.clone()).next();
        named.unwrap_or_else(|| State::founded(self.state.founding_charter().clone()).electorate())
    }
}

/// [`State::running`] after one more decision.
fn run_decision(running: Digest, decision: &Decision) -> Digest {
    let electorate = decision.electorate.as_ref();
    electorate.map_or(running, |electorate| run(running, decision.number, electorate))
}

/// Who signed statements of both decisions that no honest voter signs together: two commits or two
/// proposals in one ballot, or a promise against an own commit.
pub fn contradictions(ours: &Standing, theirs: &Standing, electors: &dyn Electors) -> BTreeSet<MemberId> {
    let (ours, theirs) = (ours.claims(electors), theirs.claims(electors));
    let pairs = ours.iter().flat_map(|one| theirs.iter().map(move |other| (one, other)));
    let lies = pairs.filter(|(one, other)| one.voter == other.voter && contradict(one, other));
    lies.map(|(one, _)| one.voter).collect()
}

fn contradict(one: &Claim, other: &Claim) -> bool {
    match (one.statement, other.statement) {
        (Statement::Commit { ballot, decision, .. }, Statement::Commit { ballot: b, decision: d, .. }) => {
            ballot == b && decision != d
        }
        (Statement::Propose { ballot, decision, .. }, Statement::Propose { ballot: b, decision: d, .. }) => {
            ballot == b && decision != d
        }
        (Statement::Promise { .. }, Statement::Commit { .. }) => broken(&one.statement, &other.statement),
        (Statement::Commit { .. }, Statement::Promise { .. }) => broken(&other.statement, &one.statement),
        (Statement::Promise { ballot, report, .. }, Statement::Promise { ballot: b, report: r, .. }) => {
            ballot == b && report != r
        }
        _ => false,
    }
}

/// Whether a promise leaves out a commit that its voter gave in a lower ballot.
fn broken(promise: &Statement, commit: &Statement) -> bool {
    let Statement::Promise { ballot: promised, report, .. } = promise else { return false };
    let Statement::Commit { ballot, decision, .. } = commit else { return false };
    let told = report.is_some_and(|report| {
        report.ballot > *ballot || (report.ballot == *ballot && report.decision == *decision)
    });
    ballot < promised && !told
}
