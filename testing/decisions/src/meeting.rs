//! The end of a run: everybody who is honest meets, and what has enough approvals is decided.

use crate::node::{Fault, Node};
use crate::world::World;
use folkmoot_transcript::{Approved, Batch, Head, Standing, State, Subject};
use std::collections::{BTreeMap, BTreeSet};

impl World<'_> {
    /// Everybody who is honest meets, and the liars are silent: whatever has enough approvals is
    /// decided soon, and all agree.
    pub(crate) fn meet(&mut self) -> Result<(), Fault> {
        for (place, node) in self.nodes.iter_mut().enumerate() {
            node.side = if place < self.honest { 0 } else { 7 };
        }
        let rounds = 120;
        for round in 0..rounds {
            for from in 0..self.honest {
                for to in (0..self.honest).filter(|to| *to != from) {
                    self.carry(from, to, 100)?;
                }
            }
            self.note()?;
            self.note_ballots();
            if self.is_settled() && round > 8 {
                break;
            }
            self.work_all(2)?;
            self.note()?;
        }
        self.check_settled()
    }

    fn is_forked(&self) -> bool {
        let mut heads: BTreeMap<u64, BTreeSet<Head>> = BTreeMap::new();
        for node in self.nodes.iter().take(self.honest) {
            for standing in node.line.decisions().values() {
                heads.entry(standing.head().number).or_default().insert(standing.head());
            }
        }
        heads.values().any(|heads| heads.len() > 1)
    }

    fn can_decide(&self) -> bool {
        let Some(node) = self.nodes.first() else { return false };
        let state = node.state();
        // Whose key is stolen is bound by what the thief says with it.
        let honest = self.nodes.iter().take(self.honest).map(|node| node.me);
        let able = honest.filter(|me| state.may_vote(me) && !self.stolen.contains(me)).collect();
        state.is_quorum(&able)
    }

    /// What everybody honest could carry out and enough approve.
    fn pending(&self) -> BTreeSet<Subject> {
        let clock = self.nodes.first().map(|node| node.clock(self.seconds)).unwrap_or_default();
        let at = |node: &Node| -> BTreeSet<Subject> {
            let state = node.state();
            let time = clock.max(state.time());
            // Programs hold first what counts: beside that it has to stand.
            let holds: Vec<_> = node.set().holdable(state).into_iter().collect();
            let stands = |approved: &Approved| {
                let (effects, holds) = (vec![approved.clone()], holds.clone());
                let batch = Batch { time, effects, holds, refusals: Vec::new() };
                state.decide(batch, |request| node.set().admit(request)).is_ok()
            };
            let goes_on = node.set().goes_on(state);
            let ready = node.set().approved(state, time).into_iter().filter(|one| goes_on && stands(one));
            ready.map(|approved| approved.effect.subject()).collect()
        };
        let mut all = self.nodes.iter().take(self.honest).map(at);
        let first = all.next().unwrap_or_default();
        all.fold(first, |common, one| common.intersection(&one).copied().collect())
    }

    /// From when on everybody honest has the same, and something to decide: the highest ballot
    /// then.
    fn note_ballots(&mut self) {
        let honest = self.nodes.iter().take(self.honest);
        let ballot = honest.map(Node::ballot).max().unwrap_or_default();
        let Some(head) = self.nodes.first().map(|node| node.state().head()) else { return };
        let begun = self.tried.is_some_and(|(tried, _)| tried == head);
        if !begun && self.agree() && self.can_decide() && !self.pending().is_empty() {
            self.tried = Some((head, ballot));
        }
    }

    fn agree(&self) -> bool {
        let mut marks = self.nodes.iter().take(self.honest).map(|node| node.line.mark());
        let first = marks.next();
        marks.all(|mark| Some(mark) == first)
    }

    fn is_settled(&self) -> bool {
        self.agree() && self.pending().is_empty()
    }

    fn check_settled(&mut self) -> Result<(), Fault> {
        self.check_marks()?;
        self.check_waiting()?;
        if self.is_forked() || !self.can_decide() || self.nodes.iter().any(|node| node.left_behind) {
            return Ok(());
        }
        if let Some(pending) = self.pending().first() {
            return Err(format!("a quorum is there, enough approve, and it is not decided: {pending:?}"));
        }
        let marks: BTreeSet<_> = self.nodes.iter().take(self.honest).map(|node| node.line.mark()).collect();
        if marks.len() > 1 { Err("all have met and do not agree".to_owned()) } else { Ok(()) }
    }
}

/// From when all knew what to decide, at the ballot `from`, it takes one ballot more than there are
/// voters: each owner had its turn, and one ballot was under way.
pub(crate) fn check_ballots(standing: &Standing, before: &State, from: u32) -> Result<(), Fault> {
    let (ballot, voters) = (standing.proposal.ballot(), before.places().len());
    let took = usize::try_from(ballot.saturating_sub(from)).unwrap_or(usize::MAX);
    if took > voters + 1 {
        return Err(format!("{} took {took} ballots, and there are {voters} voters", standing.head()));
    }
    Ok(())
}
