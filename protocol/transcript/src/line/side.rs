//! The other side of a fork: what is shown of it, and going over to it.
//!
//! ```text
//! ours      ... --- n-1 --- n  --- ... --- Rejoin(n') = head       nothing follows; the members go to n'
//! theirs             \----- n' --- ... --- head'                   shown: n', the handovers after it, the last, its state
//! ```
//! Promises: a member goes over only where its own line sent it, or its person does; and only to a
//! line that the electors at the fork, and those whom they named, have decided. Of two lines that
//! send their members to each other the one with the lower digest at the fork stays.

use super::{Applied, FORKS_MAX, Fork, Line, SIDES_MAX, contradictions, run_decision};
use crate::proposal::Standing;
use crate::{Change, Head, State, Unproposed};
use folkmoot_base::{Danger, Digest};
use std::collections::{BTreeMap, BTreeSet};

impl Line {
    /// Takes what somebody on another line shows of it: `decisions` are its first decision after
    /// the fork and the last ones under each electorate since, `last` is the one that the state
    /// follows. Signatures are verified ([`Standing::claims`] with the electors of each). Goes over
    /// to it if ours ended for it; otherwise the fork is evidence.
    ///
    /// # Errors
    /// `LINE-73` they do not begin at a fork with ours, or are not of those who could decide them;
    /// `LINE-71` the state is not the one that the last names. The line is then as it was.
    pub fn meet(
        &mut self,
        decisions: &[Standing],
        last: &Standing,
        state: State,
    ) -> Result<Applied, Unproposed> {
        let (ours, first) = self.check_side(decisions, last, &state)?;
        let asked = self.state.rejoin() == Some(first.head()) || self.state.is(Danger::LineRejoinUnasked);
        let coming = state.rejoin() == Some(ours);
        let falls = asked && first.head().digest < ours.digest;
        self.keep_side(&first);
        if coming && !falls && !self.state.is(Danger::LineNoTie) {
            self.note_coming(first.head(), chain(decisions, last));
        } else if asked {
            return Ok(self.go_over(&first, decisions, last, state));
        }
        let liars = self.forks.get(&first.head()).map(|fork| fork.liars.clone());
        Ok(Applied::Fork(liars.unwrap_or_default()))
    }

    /// Goes over to the other line of a known fork because the person says so, whatever ours
    /// decided: as [`Self::meet`].
    ///
    /// # Errors
    /// As [`Self::meet`]; `LINE-74` no such fork is known; `LINE-75` that line goes over to ours.
    pub fn resolve(
        &mut self,
        decisions: &[Standing],
        last: &Standing,
        state: State,
    ) -> Result<Applied, Unproposed> {
        let (ours, first) = self.check_side(decisions, last, &state)?;
        if !self.forks.contains_key(&first.head()) {
            return Err(Unproposed::Unasked);
        }
        if state.rejoin() == Some(ours) && !state.may_outlast() {
            return Err(Unproposed::TheyCome);
        }
        Ok(self.go_over(&first, decisions, last, state))
    }

    /// Takes what shows that another line comes to ours, as [`Fork::coming`] has it: that does not
    /// take its state. Signatures are verified. Whether it is new.
    ///
    /// # Errors
    /// `LINE-73`, also if the last decision does not send anybody to ours.
    pub fn hear_coming(&mut self, coming: &[Standing]) -> Result<bool, Unproposed> {
        let (last, decisions) = coming.split_last().ok_or(Unproposed::NoFork)?;
        let (ours, first) = self.check_chain(decisions, last)?;
        let mut effects = last.proposal.decision.effects.iter();
        if !effects.any(|approved| approved.effect.change == Change::Rejoin { head: ours }) {
            return Err(Unproposed::NoFork);
        }
        self.keep_side(&first);
        Ok(self.note_coming(first.head(), coming.to_vec()))
    }

    /// What somebody on the other line of a fork at this number needs to [`Self::meet`] ours: the
    /// decision of that number with the handovers since, and the last decision. None if the
    /// decision is not kept any more.
    pub fn side_from(&self, number: u64) -> Option<(Vec<Standing>, Standing)> {
        let head = self.state.head().number;
        let last = self.decisions.get(&head).filter(|_| head >= number)?.clone();
        self.decisions.get(&number)?;
        let chain = self.decisions.range(number..head);
        let chain =
            chain.filter(|(at, standing)| **at == number || standing.proposal.decision.electorate.is_some());
        Some((chain.map(|(_, standing)| standing.clone()).collect(), last))
    }

    /// The decision of this number on our line, as far as it is known.
    fn head_at(&self, number: u64) -> Option<Head> {
        let kept = self.decisions.get(&number).map(Standing::head);
        let founding = || State::founded(self.state.founding_charter().clone()).head();
        kept.or_else(|| self.state.decision_at(number)).or_else(|| (number == 0).then(founding))
    }

    /// `LINE-73`: what is shown begins with another decision than ours for its number, after the
    /// same one; each of the decisions is committed by those whom the ones before name; the last is
    /// on the line of the first. Returns our decision at the fork, and the first of theirs.
    fn check_side(
        &self,
        decisions: &[Standing],
        last: &Standing,
        state: &State,
    ) -> Result<(Head, Standing), Unproposed> {
        let (ours, first) = self.check_chain(decisions, last)?;
        if last.proposal.decision.state != state.digest() || last.head() != state.head() {
            return Err(Unproposed::State);
        }
        let all = decisions.iter().chain([last]).map(|one| &one.proposal.decision);
        let before = self.running_at(first.head().number.saturating_sub(1));
        let unchecked = self.state.is(Danger::LineNoRunning) || self.state.is(Danger::LineSideUnchecked);
        if all.fold(before, run_decision) != state.running() && !unchecked {
            return Err(Unproposed::Handover);
        }
        if state.has_on_line(&first.head()) { Ok((ours, first)) } else { Err(Unproposed::TooOld) }
    }

    fn check_chain(&self, decisions: &[Standing], last: &Standing) -> Result<(Head, Standing), Unproposed> {
        let first = decisions.first().unwrap_or(last);
        let number = first.head().number;
        let ours = self.head_at(number).ok_or(Unproposed::NoFork)?;
        let before = self.head_at(number.saturating_sub(1));
        let parent = first.proposal.parent();
        let kept = self.decisions.get(&number).map(|ours| ours.proposal.parent());
        if number == 0 || ours == first.head() || (before != Some(parent) && kept != Some(parent)) {
            return Err(Unproposed::NoFork);
        }
        let mut electors = self.electors_of(number);
        let mut reached = number.saturating_sub(1);
        for standing in decisions.iter().chain([last]) {
            let decision = &standing.proposal.decision;
            if decision.number <= reached || decision.group != self.state.group() {
                return Err(Unproposed::Handover);
            }
            if !self.state.is(Danger::LineSideUnchecked) {
                standing.check(&electors)?;
            }
            reached = decision.number;
            if let Some(next) = &decision.electorate {
                electors = next.clone();
            }
        }
        Ok((ours, first.clone()))
    }

    /// Keeps the other side as evidence, if our decision at the fork is kept.
    fn keep_side(&mut self, theirs: &Standing) {
        let number = theirs.head().number;
        let Some(ours) = self.decisions.get(&number).cloned() else { return };
        let liars = contradictions(&ours, theirs, &self.electors_of(number));
        self.keep_fork(Fork { ours, theirs: theirs.clone(), liars, coming: Vec::new() });
    }

    /// Keeps at most [`SIDES_MAX`] forks of each number, and [`FORKS_MAX`] in all. What former
    /// voters alone committed to goes first: they can make up any number of sides. Else the first
    /// of a number stay: a voter may have committed to a Rejoin towards any of them, and only those
    /// who know that one can follow. And in all those of the highest numbers stay: who once was a
    /// quorum makes forks of old numbers only.
    pub(super) fn keep_fork(&mut self, fork: Fork) {
        let theirs = fork.theirs.head();
        self.forks.entry(theirs).or_insert(fork);
        let of_number = |known: &Head| known.number == theirs.number;
        if self.forks.keys().filter(|known| of_number(known)).count() > SIDES_MAX {
            let made_up = self.made_up(of_number);
            let older = made_up.first().filter(|_| !made_up.contains(&theirs));
            self.forks.remove(older.unwrap_or(&theirs));
        }
        while self.forks.len() > FORKS_MAX {
            match self.made_up(|_| true).first() {
                Some(made_up) => self.forks.remove(made_up),
                None => self.forks.pop_first().map(|(_, fork)| fork),
            };
        }
        self.show_sides();
    }

    /// The forks of these numbers whose other side former voters alone committed to, and that
    /// nobody here wants to go over to.
    fn made_up(&self, of: impl Fn(&Head) -> bool) -> BTreeSet<Head> {
        let wanted = self.set.effects().filter_map(|effect| match effect.change {
            Change::Rejoin { head } => Some(head),
            _ => None,
        });
        let wanted: BTreeSet<Head> = wanted.chain(self.state.rejoin()).collect();
        let forks = self.forks.iter().filter(|(theirs, fork)| of(theirs) && !fork.is_by_voters(&self.state));
        forks.map(|(theirs, _)| *theirs).filter(|theirs| !wanted.contains(theirs)).collect()
    }

    fn note_coming(&mut self, theirs: Head, coming: Vec<Standing>) -> bool {
        let fork = self.forks.get_mut(&theirs).filter(|fork| fork.coming.is_empty());
        let new = fork.map(|fork| fork.coming = coming).is_some();
        self.show_sides();
        new
    }

    fn show_sides(&mut self) {
        let side = |fork: &Fork| (fork.theirs.head(), !fork.coming.is_empty());
        self.set.show_sides(self.forks.values().map(side).collect());
    }

    /// Takes the other line in place of ours after the fork. The decision that was ours there is
    /// evidence; the set is judged anew.
    fn go_over(
        &mut self,
        first: &Standing,
        decisions: &[Standing],
        last: &Standing,
        state: State,
    ) -> Applied {
        let number = first.head().number;
        let electors = self.electors_of(number);
        let asked = self.state.rejoin() == Some(first.head());
        let way = self.side_from(number).filter(|_| asked);
        let coming = way.map(|(decisions, last)| chain(&decisions, &last)).unwrap_or_default();
        let left: BTreeMap<u64, Standing> = self.decisions.split_off(&number);
        let later = self.forks.split_off(&Head { number, digest: Digest::default() });
        let here: Vec<Fork> =
            later.into_values().filter(|fork| fork.theirs.head().number == number).collect();
        let was = left.get(&number).or_else(|| here.first().map(|fork| &fork.ours)).cloned();
        for standing in decisions.iter().chain([last]) {
            self.decisions.insert(standing.head().number, standing.clone());
        }
        let danger = self.state.danger();
        self.state = state;
        self.state.endanger(danger);
        let fork = |theirs: Standing, coming: Vec<Standing>| {
            let liars: BTreeSet<_> = contradictions(first, &theirs, &electors);
            Fork { ours: first.clone(), theirs, liars, coming }
        };
        let others = here.into_iter().filter(|known| known.theirs.head() != first.head());
        let others = others.map(|known| fork(known.theirs, Vec::new()));
        let forks: Vec<Fork> = was.map(|was| fork(was, coming)).into_iter().chain(others).collect();
        forks.into_iter().for_each(|fork| self.keep_fork(fork));
        self.show_sides();
        self.set.advance(&self.state);
        self.forget();
        Applied::Next
    }
}

fn chain(decisions: &[Standing], last: &Standing) -> Vec<Standing> {
    decisions.iter().chain([last]).cloned().collect()
}
