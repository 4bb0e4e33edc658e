//! What a transcript takes by the signatures of electorates alone: handovers, a later state, the
//! other sides of forks.

use super::{Taken, Transcript, check_claims};
use crate::proposal::Standing;
use crate::{Applied, Electorate, ItemError, State, StateError, Unproposed};
use folkmoot_base::Danger;
use folkmoot_identity::names::is_made;
use std::sync::Arc;

impl Transcript {
    /// Goes on to a later state without the decisions between: [`crate::Line::skip`], with every
    /// signature verified. Not `shown`: it need not show that our head is on its line.
    ///
    /// # Errors
    /// [`ItemError`]; the transcript is then as it was.
    pub fn skip(
        &mut self,
        handovers: &[Standing],
        last: &Standing,
        state: &[u8],
        shown: bool,
    ) -> Result<Taken, ItemError> {
        let mut electors = (self.state().head().number, self.state().electorate());
        for standing in handovers.iter().chain([last]) {
            electors = self.handed_over(standing, electors)?;
        }
        self.go_on(handovers.to_vec(), last.clone(), state, shown)
    }

    /// [`Self::skip`], whose signatures are verified.
    pub(crate) fn go_on(
        &mut self,
        handovers: Vec<Standing>,
        last: Standing,
        state: &[u8],
        shown: bool,
    ) -> Result<Taken, ItemError> {
        // Nothing is made of bytes that no quorum has named.
        if last.proposal.decision.state != State::digest_of(state) {
            return Err(Unproposed::State.into());
        }
        let state = self.read_state(state, &last)?;
        let named = |number: u64| handovers.iter().chain([&last]).find(|one| one.head().number == number);
        let at = |number| state.decision_at(number).or_else(|| Some(named(number)?.head()));
        self.check_awaited(state.head().number, at)?;
        self.line.go_on(handovers, last, state, shown)?;
        self.reached();
        self.forget();
        self.retake(None);
        Ok(self.told(true))
    }

    /// The state that a decision names. `ADM-90`: a quorum that lies may have named one with
    /// members whom no certificate could have let in.
    pub(super) fn read_state(&self, state: &[u8], last: &Standing) -> Result<State, ItemError> {
        let founding = Arc::new(self.signed.charter().clone());
        let state = State::decode(state, founding, last.head().digest).map_err(ItemError::State)?;
        let named = state.roster().values().all(|held| is_made(&held.name).is_ok());
        let any = named || self.state().is(Danger::AdmissionAnyName);
        if any { Ok(state) } else { Err(ItemError::State(StateError::Value("name"))) }
    }

    /// The number of a handover and those who commit after it, if it is of a later decision than
    /// `before` and `electors` have signed it.
    pub(crate) fn handed_over(
        &self,
        standing: &Standing,
        (before, electors): (u64, Electorate),
    ) -> Result<(u64, Electorate), ItemError> {
        let decision = &standing.proposal.decision;
        if decision.number <= before || decision.group != self.group() {
            return Err(Unproposed::Handover.into());
        }
        standing.check(&electors)?;
        check_claims(&standing.claims(&electors), &electors, self.group())?;
        Ok((decision.number, decision.electorate.clone().unwrap_or(electors)))
    }

    /// Keeps evidence of a fork: a decision that stands for a number that was decided otherwise.
    /// `ours`: the decision on our line, where that is not kept here.
    pub(crate) fn take_fork(&mut self, ours: Option<Standing>, theirs: Standing) -> Result<(), ItemError> {
        let number = theirs.proposal.decision.number;
        let kept = self.line.decisions().contains_key(&number);
        let named = theirs.proposal.decision.group == self.group() && number <= self.state().head().number;
        if !named || kept == ours.is_some() {
            return Err(ItemError::NoFork);
        }
        let electors = self.line.electors_of(number);
        if let Some(ours) = ours {
            if !self.state().has_on_line(&ours.head()) || ours.head().number != number {
                return Err(ItemError::NoFork);
            }
            ours.check(&electors)?;
            check_claims(&ours.claims(&electors), &electors, self.group())?;
            self.line.keep(ours);
        }
        theirs.check(&electors)?;
        check_claims(&theirs.claims(&electors), &electors, self.group())?;
        match self.line.apply(theirs)? {
            Applied::Fork(_) => Ok(()),
            _ => Err(ItemError::NoFork),
        }
    }
}
