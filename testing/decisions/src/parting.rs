//! Liars who part the group: a fork, made on purpose; and people who want to end one.

use crate::node::{Fault, Node, START};
use crate::people::signature;
use crate::world::{DAY, World};
use folkmoot_base::{MemberId, UnixTime};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{
    Approval, BallotMessage, Batch, Change, Commit, Decision, Effect, Head, Judgement, Proposal, Signed,
    Stage, State,
};

impl World<'_> {
    /// The owner of a ballot proposes one thing to each side, of what all approve; and all liars
    /// commit to both.
    pub(crate) fn part(&mut self, keys: &[MemberId], target: usize) -> Result<(), Fault> {
        let Some(node) = self.nodes.get(target) else { return Ok(()) };
        let (state, time) = (node.state().clone(), UnixTime(START + self.seconds));
        let Some(ballot) = (0..3).find(|ballot| keys.contains(&state.owner(*ballot))) else { return Ok(()) };
        for place in 0..self.honest {
            let side = self.dice.roll(2);
            self.nodes.get_mut(place).into_iter().for_each(|node| node.side = side);
        }
        for side in 0..2 {
            let Some(effect) = self.effect(&state) else { return Ok(()) };
            self.all_want(&effect)?;
            let Some(decision) = self.of(&state, &effect, time.max(state.time()), target) else { continue };
            let promises = if ballot == 0 { Vec::new() } else { self.promises(&state, ballot) };
            let stages = vec![Stage { ballot, promises, signature: signature() }];
            self.say_on(side, &state, keys, Proposal { decision, stages })?;
        }
        if self.dice.chance(50) { self.reunite() } else { Ok(()) }
    }

    /// Both sides meet and see that their lines differ; some of them want to end that.
    fn reunite(&mut self) -> Result<(), Fault> {
        self.nodes.iter_mut().for_each(|node| node.side = 0);
        for from in 0..self.nodes.len() {
            for to in (0..self.honest).filter(|to| *to != from) {
                self.carry(from, to, 80)?;
            }
        }
        self.note()?;
        for _ in 0..self.dice.roll(3) {
            self.heal()?;
        }
        Ok(())
    }

    /// Everybody approves this, and hears that all do.
    fn all_want(&mut self, effect: &Effect) -> Result<(), Fault> {
        let seconds = self.seconds;
        for node in &mut self.nodes {
            if node.state().may_vote(&node.me) {
                node.approve(effect.subject(), Verdict::Approve, 30 * DAY, seconds);
            }
            node.take_effect(effect);
        }
        let said: Vec<_> = self.nodes.iter().flat_map(|node| node.set().approvals().cloned()).collect();
        let said = said.into_iter().filter(|signed| signed.approval.subject == effect.subject());
        for signed in said.collect::<Vec<_>>() {
            self.nodes.iter_mut().for_each(|node| node.take_approval(signed.clone(), seconds));
        }
        Ok(())
    }

    fn of(&self, state: &State, effect: &Effect, time: UnixTime, target: usize) -> Option<Decision> {
        let approved = self.nodes.get(target)?.set().approved(state, time);
        let effects = approved.into_iter().filter(|one| one.effect == *effect).collect();
        let batch = Batch { time, effects, ..Batch::default() };
        state.decide(batch, |request| self.contents.get(request)).ok().map(|(decision, _)| decision)
    }

    /// Everybody honest on this side hears the proposal, the commits of the liars, and one another.
    fn say_on(
        &mut self,
        side: usize,
        state: &State,
        keys: &[MemberId],
        proposal: Proposal,
    ) -> Result<(), Fault> {
        let (parent, report, judged) = (proposal.parent(), proposal.report(), proposal.judged());
        let mut told = vec![self.proposed(proposal)];
        for voter in keys.iter().copied().filter(|key| state.may_vote(key)) {
            let judgement = Judgement { voter, signature: signature() };
            told.push(BallotMessage::Judgement { parent, report: judged, judgement });
            let commit = Commit { voter, signature: signature() };
            told.push(BallotMessage::Commit { parent, report, commit });
        }
        let there = |node: &Node| node.side == side;
        let places = (0..self.honest).filter(|place| self.nodes.get(*place).is_some_and(there));
        let places: Vec<usize> = places.collect();
        for place in &places {
            for message in &told {
                self.tell(*place, message.clone())?;
            }
        }
        for from in &places {
            for to in places.iter().filter(|to| *to != from) {
                self.carry(*from, *to, 100)?;
            }
        }
        Ok(())
    }

    /// Those who are on one line want to go over to another that they know, and liars go along.
    pub(crate) fn heal(&mut self) -> Result<(), Fault> {
        let knows = |node: &Node| !node.line.forks().is_empty();
        let places = (0..self.honest).filter(|place| self.nodes.get(*place).is_some_and(knows));
        let places: Vec<usize> = places.collect();
        let Some(node) = self.dice.pick(&places).and_then(|place| self.nodes.get(*place)) else {
            return Ok(());
        };
        let (state, side) = (node.state().clone(), node.side);
        let sides: Vec<Head> = node.line.forks().values().map(|fork| fork.theirs.head()).collect();
        let Some(head) = self.dice.pick(&sides).copied() else { return Ok(()) };
        self.want_to_go(&Effect::from(Change::Rejoin { head }), &state)?;
        let keys: Vec<MemberId> = self.stolen.iter().copied().collect();
        for _ in 0..4 {
            self.work_all(2)?;
            let Some(proposal) = self.heard(&state) else { continue };
            self.say_on(side, &state, &keys, proposal)?;
        }
        Ok(())
    }

    /// Whoever is on this line approves, most of the time.
    fn want_to_go(&mut self, effect: &Effect, state: &State) -> Result<(), Fault> {
        let seconds = self.seconds;
        let subject = effect.subject();
        let expires = UnixTime(START + seconds + DAY);
        let keys: Vec<MemberId> = self.stolen.iter().copied().filter(|key| state.may_vote(key)).collect();
        for node in self.nodes.iter_mut().filter(|node| node.state().head() == state.head()) {
            if node.state().may_vote(&node.me) && self.dice.chance(90) {
                node.approve(subject, Verdict::Approve, 30 * DAY, seconds);
            }
            for voter in &keys {
                let base = state.head();
                let approval =
                    Approval { voter: *voter, base, subject, turn: 7, verdict: Verdict::Approve, expires };
                node.take_approval(Signed { approval, signature: Some(signature()) }, seconds);
            }
            node.take_effect(effect);
        }
        Ok(())
    }

    /// A proposal that anybody has heard of, about the decision that follows this state.
    pub(crate) fn heard(&mut self, state: &State) -> Option<Proposal> {
        let all = self.nodes.iter().flat_map(|node| &node.said);
        let proposals = all.filter_map(|message| match message {
            BallotMessage::Proposal { proposal, .. } if proposal.parent() == state.head() => {
                Some(proposal.clone())
            }
            _ => None,
        });
        let proposals: Vec<Proposal> = proposals.collect();
        self.dice.pick(&proposals).cloned()
    }
}
