//! The end of a run: everybody who is honest meets, and what has enough approvals is decided.

use crate::node::{Fault, Node, START};
use crate::world::{DAY, World};
use folkmoot_base::UnixTime;
use folkmoot_identity::Verdict;
use folkmoot_transcript::{Approved, Batch, Change, Effect, Head, SKEW_SECONDS, Standing, State, Subject};
use std::collections::BTreeSet;

impl World<'_> {
    /// Everybody who is honest meets, and the liars are silent: whatever has enough approvals is
    /// decided soon, and all agree.
    pub(crate) fn meet(&mut self) -> Result<(), Fault> {
        for (place, node) in self.nodes.iter_mut().enumerate() {
            node.side = if place < self.honest { 0 } else { 7 };
        }
        self.put_right();
        self.let_on();
        for round in 0..160 {
            if round == 80 && self.agree() && self.begun().is_some() {
                // Whoever has judged something alone is joined when nothing was decided for a day.
                self.work_all(DAY)?;
            }
            self.take_time_back()?;
            // Whose sets differ gather again.
            for node in self.nodes.iter_mut().take(self.honest).filter(|node| !node.asked) {
                node.ask_again(self.seconds);
            }
            for from in 0..self.honest {
                for to in (0..self.honest).filter(|to| *to != from) {
                    self.carry(from, to, 100)?;
                }
            }
            self.note()?;
            self.note_ballots();
            let hopeless = round > 30 && (!self.can_decide() || self.is_forked());
            if hopeless || (self.is_settled() && round > 8) {
                break;
            }
            self.work_all(2)?;
            self.note()?;
        }
        self.check_settled()
    }

    /// Whether the lines of two have parted, by the history: a quorum that lies can move the time
    /// so far that neither knows of it any more.
    fn is_forked(&self) -> bool {
        let heads = self.nodes.iter().take(self.honest).map(|node| node.state().head());
        let lines: Vec<Vec<Head>> = heads.map(|head| self.records.line(&head)).collect();
        let longest = lines.iter().max_by_key(|line| line.len());
        let on_it = |line: &Vec<Head>| longest.is_some_and(|longest| longest.ends_with(line));
        !lines.iter().all(on_it)
    }

    /// Whose clock is far behind the line's time takes what decisions wait, and wants that back.
    fn take_time_back(&mut self) -> Result<(), Fault> {
        let (seconds, contents) = (self.seconds, &self.contents);
        for node in self.nodes.iter_mut().take(self.honest) {
            node.take_ahead(contents)?;
            let (state, clock) = (node.state(), node.clock(seconds));
            let ahead = clock.is_some_and(|clock| state.time().0 > clock.0 + SKEW_SECONDS);
            let back = Effect::from(Change::Retime { head: state.head() });
            if ahead && state.may_vote(&node.me) {
                node.approve(back.subject(), Verdict::Approve, DAY, seconds);
                node.take_effect(&back);
            }
        }
        Ok(())
    }

    fn can_decide(&self) -> bool {
        let Some(node) = self.nodes.first() else { return false };
        let state = node.state();
        // Whose key is stolen is bound by what the thief says with it. Whose clock is far behind the
        // line can only take its time back, if so many want that.
        let honest = self.nodes.iter().take(self.honest);
        let able = honest.filter(|node| {
            let clock = node.clock(self.seconds);
            let near = clock.is_some_and(|clock| clock.0 + SKEW_SECONDS >= state.time().0);
            state.may_vote(&node.me) && !self.stolen.contains(&node.me) && near
        });
        state.is_quorum(&able.map(|node| node.me).collect())
    }

    /// What everybody honest could carry out and enough approve, by any of their clocks.
    fn pending(&self) -> BTreeSet<Subject> {
        let now = START + self.seconds;
        let [early, late] =
            [now - SKEW_SECONDS, now + SKEW_SECONDS].map(|clock| self.pending_at(UnixTime(clock)));
        early.intersection(&late).copied().collect()
    }

    fn pending_at(&self, clock: UnixTime) -> BTreeSet<Subject> {
        let at = |node: &Node| -> BTreeSet<Subject> {
            let state = node.state();
            let time = clock.max(state.time());
            // Programs hold first what counts: beside that it has to stand.
            let holds: Vec<_> = node.set().holdable(state, time).into_iter().collect();
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

    /// What everybody has; of those without a clock only the head. They hold nothing back.
    fn agree(&self) -> bool {
        let honest = || self.nodes.iter().take(self.honest);
        let heads: BTreeSet<Head> = honest().map(|node| node.state().head()).collect();
        let marks: BTreeSet<_> =
            honest().filter(|node| node.skew.is_some()).map(|node| node.line.mark()).collect();
        heads.len() == 1 && marks.len() == 1
    }

    /// Somebody honest has judged what may follow its head, and that is open.
    fn begun(&self) -> Option<&Node> {
        let mut honest = self.nodes.iter().take(self.honest).filter(|node| node.skew.is_some());
        honest.find(|node| node.record().is_some_and(|record| record.judged.is_some()))
    }

    fn is_settled(&self) -> bool {
        self.agree() && self.pending().is_empty() && self.begun().is_none()
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
        if let Some(node) = self.begun() {
            return Err(format!("{} has judged something, and it stays in a drawer", node.me));
        }
        if !self.agree() {
            return Err("all have met and do not agree".to_owned());
        }
        self.check_nobody_cut_off()
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
