//! What liars do with their own keys and with every key that the group has expelled.

use crate::node::{Fault, Node, START};
use crate::people::signature;
use crate::world::{DAY, World};
use folkmoot_base::{MemberId, UnixTime};
use folkmoot_identity::Verdict;
use folkmoot_transcript::{
    Approval, Approved, BallotMessage, Batch, Change, Commit, Decision, Effect, Electors, Force, Head,
    Judgement, Promise, Proof, Proposal, Report, Signed, Stage, Standing, State, Subject, admission,
};
use std::collections::BTreeSet;

impl World<'_> {
    pub(crate) fn lie(&mut self) -> Result<(), Fault> {
        let keys: Vec<MemberId> = self.stolen.iter().copied().collect();
        let Some(key) = self.dice.pick(&keys).copied() else { return Ok(()) };
        let target = self.dice.roll(self.honest);
        match self.dice.roll(17) {
            10 | 11 => self.part(&keys, target)?,
            12 => self.late_report(key, target)?,
            13 => self.show_kept(target),
            14 | 15 => self.say_again(target),
            16 => self.lead(&keys, target)?,
            0 | 1 => self.false_approval(key, target),
            2 => self.early_approval(key, target),
            3 => self.false_commit(key, target)?,
            4 if self.dice.chance(50) => self.false_report(key, target)?,
            4 => self.false_promise(key, target)?,
            5 | 6 => self.two_proposals(key, target)?,
            _ => self.takeover(&keys, target)?,
        }
        Ok(())
    }

    fn any_head(&mut self) -> Head {
        let heads: Vec<Head> = self.records.heads().collect();
        self.dice.pick(&heads).copied().unwrap_or(Head { number: 0, digest: [0; 32] })
    }

    /// An approval over any base, of any turn, for as long as it likes.
    fn false_approval(&mut self, voter: MemberId, target: usize) {
        let base = self.any_head();
        let people = self.people.everybody().len();
        let requests = self.contents.requests();
        let mut effect = None;
        let subject: Subject = if self.dice.chance(50) {
            let person = self.dice.roll(people);
            match self.dice.pick(&requests).copied() {
                Some(request) if self.dice.chance(50) => admission(request),
                _ => match self.admit(person, base, 300) {
                    Some(admit) => admission(admit.request),
                    None => return,
                },
            }
        } else {
            let state = self.records.state(&base).cloned();
            effect = state.and_then(|state| self.effect(&state));
            match &effect {
                Some(effect) => effect.subject(),
                None => return,
            }
        };
        let turn = u32::try_from(self.dice.roll(3)).unwrap_or_default();
        let verdict = if self.dice.chance(70) { Verdict::Approve } else { Verdict::Reject };
        let expires =
            UnixTime(START + self.seconds + 86_400 * u64::try_from(self.dice.roll(300)).unwrap_or(1));
        let approval = Approval { voter, base, subject, turn, verdict, expires };
        let (seconds, admit) = (self.seconds, self.contents.get(&subject.digest).cloned());
        let Some(node) = self.nodes.get_mut(target) else { return };
        node.take_approval(Signed { approval, signature: Some(signature()) }, seconds);
        if let Some(effect) = effect {
            node.take_effect(&effect);
        }
        if let Some(admit) = admit {
            node.take_admit(&admit, seconds);
        }
    }

    /// An approval of something open, over a base from before the liar had a vote.
    fn early_approval(&mut self, voter: MemberId, target: usize) {
        let seconds = self.seconds;
        let Some(node) = self.nodes.get_mut(target) else { return };
        let Some(since) = node.state().since(&voter).filter(|since| *since > 0) else { return };
        let Some(base) = node.state().decision_at(since - 1) else { return };
        let subjects: Vec<Subject> = node.set().effects().map(Effect::subject).collect();
        let Some(subject) = self.dice.pick(&subjects).copied() else { return };
        let expires = UnixTime(START + self.seconds + 86_400);
        let approval = Approval { voter, base, subject, turn: 9, verdict: Verdict::Approve, expires };
        node.take_approval(Signed { approval, signature: Some(signature()) }, seconds);
    }

    pub(crate) fn tell(&mut self, target: usize, message: BallotMessage) -> Result<(), Fault> {
        let present = self.present(self.nodes.get(target).map_or(0, |node| node.side));
        let (seconds, contents) = (self.seconds, &self.contents);
        match self.nodes.get_mut(target) {
            Some(node) => node.hear(message, seconds, &present, contents),
            None => Ok(()),
        }
    }

    /// A proposal that anybody has heard of, about the decision that follows the target's head.
    fn heard_at(&mut self, target: usize) -> Option<Proposal> {
        let state = self.nodes.get(target)?.state().clone();
        self.heard(&state)
    }

    fn false_commit(&mut self, voter: MemberId, target: usize) -> Result<(), Fault> {
        let Some(proposal) = self.heard_at(target) else { return Ok(()) };
        let commit = Commit { voter, signature: signature() };
        let (parent, report) = (proposal.parent(), proposal.report());
        self.tell(target, BallotMessage::Commit { parent, report, commit })
    }

    fn false_promise(&mut self, voter: MemberId, target: usize) -> Result<(), Fault> {
        let Some(head) = self.nodes.get(target).map(|node| node.state().head()) else { return Ok(()) };
        let ballot = u32::try_from(1 + self.dice.roll(4)).unwrap_or(1);
        let report = if self.dice.chance(50) { self.heard_at(target) } else { None };
        let promise =
            Promise { voter, report: report.as_ref().map(Proposal::report), signature: signature() };
        let judgements = report.as_ref().map_or_else(Vec::new, |report| self.judgements(report));
        self.tell(target, BallotMessage::Promise { parent: head, ballot, promise, report, judgements })
    }

    /// The owner of a ballot proposes to hold what nobody approved, and reports to all that it has
    /// committed to that.
    fn false_report(&mut self, owner: MemberId, target: usize) -> Result<(), Fault> {
        let Some(node) = self.nodes.get(target) else { return Ok(()) };
        let state = node.state().clone();
        let time = UnixTime(START + self.seconds).max(state.time());
        let late: Vec<_> = node.set().late().map(|(admit, _)| admit.request).collect();
        let Some(request) = self.dice.pick(&late).copied() else { return Ok(()) };
        let Some(ballot) = (0..3).find(|ballot| state.owner(*ballot) == owner) else { return Ok(()) };
        let batch = Batch { time, holds: vec![request], ..Batch::default() };
        let contents = &self.contents;
        let Ok((decision, _)) = state.decide(batch, |request| contents.get(request)) else { return Ok(()) };
        let mut promises = if ballot == 0 { Vec::new() } else { self.promises(&state, ballot) };
        promises.retain(|promise| promise.report.is_none());
        let stages = vec![Stage { ballot, promises, signature: signature() }];
        let proposal = Proposal { decision, stages };
        self.report(owner, &proposal)
    }

    /// Says to all that it has committed to this proposal, in promises of later ballots.
    pub(crate) fn report(&mut self, owner: MemberId, proposal: &Proposal) -> Result<(), Fault> {
        let (parent, report) = (proposal.parent(), Some(proposal.report()));
        let promise = Promise { voter: owner, report, signature: signature() };
        let judgements = self.judgements(proposal);
        for later in 1..=3 {
            let message = BallotMessage::Promise {
                parent,
                ballot: proposal.ballot() + later,
                promise: promise.clone(),
                report: Some(proposal.clone()),
                judgements: judgements.clone(),
            };
            for honest in 0..self.honest {
                self.tell(honest, message.clone())?;
            }
        }
        Ok(())
    }

    /// The judgements on a proposal that anybody has heard, and those that liars add.
    pub(crate) fn judgements(&self, proposal: &Proposal) -> Vec<Judgement> {
        let (parent, judged) = (proposal.parent(), proposal.judged());
        let heard = self.nodes.iter().flat_map(|node| &node.said).filter_map(|message| match message {
            BallotMessage::Judgement { report, judgement, .. } if *report == judged => Some(judgement.voter),
            _ => None,
        });
        let voters: BTreeSet<MemberId> = heard.chain(self.stolen.iter().copied()).collect();
        let state = self.records.state(&parent);
        let voters = voters.into_iter().filter(|voter| state.is_some_and(|state| state.may_vote(voter)));
        voters.map(|voter| Judgement { voter, signature: signature() }).collect()
    }

    /// A proposal, as its owner says it.
    pub(crate) fn proposed(&self, proposal: Proposal) -> BallotMessage {
        let judgements = if proposal.is_fresh() { Vec::new() } else { self.judgements(&proposal) };
        BallotMessage::Proposal { proposal, judgements }
    }

    /// The owner of a ballot proposes two decisions: to two people, in either order.
    fn two_proposals(&mut self, owner: MemberId, target: usize) -> Result<(), Fault> {
        let Some(state) = self.nodes.get(target).map(|node| node.state().clone()) else { return Ok(()) };
        let owned: Vec<u32> = (0..6).filter(|ballot| state.owner(*ballot) == owner).collect();
        let Some(ballot) = self.dice.pick(&owned).copied() else { return Ok(()) };
        let other = self.dice.roll(self.honest);
        let two = [0, 1].map(|_| self.false_proposal(&state, ballot, target));
        let two: Vec<Proposal> = two.into_iter().flatten().collect();
        let told: Vec<BallotMessage> =
            two.iter().flat_map(|proposal| self.with_judgements(&state, proposal)).collect();
        for message in told.iter().rev() {
            self.tell(other, message.clone())?;
        }
        for message in told {
            self.tell(target, message)?;
        }
        match (two.first(), two.last()) {
            (Some(one), Some(two)) if self.dice.chance(50) => {
                self.commit_to_both(&state, [one, two], [target, other])
            }
            _ => Ok(()),
        }
    }

    /// A proposal, and that all liars judge it right.
    fn with_judgements(&self, state: &State, proposal: &Proposal) -> Vec<BallotMessage> {
        let (parent, report) = (proposal.parent(), proposal.judged());
        let liars = self.stolen.iter().filter(|liar| state.may_vote(liar));
        let judged = liars.map(|liar| {
            let judgement = Judgement { voter: *liar, signature: signature() };
            BallotMessage::Judgement { parent, report, judgement }
        });
        [self.proposed(proposal.clone())].into_iter().chain(judged).collect()
    }

    /// The liars carry between two people what these have said, and commit to one proposal at each.
    fn commit_to_both(
        &mut self,
        state: &State,
        two: [&Proposal; 2],
        places: [usize; 2],
    ) -> Result<(), Fault> {
        let [one, other] = places;
        for (from, to) in [(one, other), (other, one)] {
            let said = self.nodes.get(from).map(|node| node.said.clone()).unwrap_or_default();
            let ballots = said.into_iter().filter(|message| message.parent() == state.head());
            for message in ballots {
                self.tell(to, message)?;
            }
        }
        let liars: Vec<MemberId> = self.stolen.iter().copied().filter(|liar| state.may_vote(liar)).collect();
        for (proposal, place) in two.into_iter().zip(places) {
            for voter in &liars {
                let commit = Commit { voter: *voter, signature: signature() };
                let (parent, report) = (proposal.parent(), proposal.report());
                self.tell(place, BallotMessage::Commit { parent, report, commit })?;
            }
        }
        Ok(())
    }

    fn false_proposal(&mut self, state: &State, ballot: u32, target: usize) -> Option<Proposal> {
        let mut promises = self.promises(state, ballot);
        let follow = promises.iter().filter_map(|promise| promise.report).max();
        let earlier = follow.and_then(|report| self.proposal(&report));
        let (decision, mut stages) = match earlier {
            Some(earlier) => (earlier.decision, earlier.stages),
            None if self.dice.chance(40) => (self.old_decision(state, target)?, Vec::new()),
            None => (self.part_of_what_is_due(state, target)?, Vec::new()),
        };
        if ballot == 0 {
            promises.clear();
        }
        stages.push(Stage { ballot, promises, signature: signature() });
        Some(Proposal { decision, stages })
    }

    /// The promises for a ballot that anybody has heard, and those that liars add, with no report.
    pub(crate) fn promises(&self, state: &State, ballot: u32) -> Vec<Promise> {
        let heard = self.nodes.iter().flat_map(|node| &node.said);
        let given = heard.filter_map(|message| match message {
            BallotMessage::Promise { parent, ballot: of, promise, .. }
                if *parent == state.head() && *of == ballot =>
            {
                Some((promise.voter, promise.clone()))
            }
            _ => None,
        });
        let mut promises: std::collections::BTreeMap<MemberId, Promise> = given.collect();
        for liar in &self.stolen {
            let promise = Promise { voter: *liar, report: None, signature: signature() };
            promises.insert(*liar, promise);
        }
        promises.into_values().filter(|promise| state.may_vote(&promise.voter)).collect()
    }

    fn proposal(&self, report: &Report) -> Option<Proposal> {
        let all = self.nodes.iter().flat_map(|node| &node.said);
        all.filter_map(|message| match message {
            BallotMessage::Proposal { proposal, .. } if proposal.report() == *report => {
                Some(proposal.clone())
            }
            _ => None,
        })
        .next()
    }

    /// A decision on this state that these keys approve alone, as far as they can; otherwise one
    /// that only holds, or an empty hand.
    pub(crate) fn some_decision(&mut self, state: &State, keys: &BTreeSet<MemberId>) -> Option<Decision> {
        let voters: Vec<MemberId> = state.voters().into_iter().filter(|voter| keys.contains(voter)).collect();
        let later = *self.dice.pick(&[0, 0, DAY / 2, 3 * DAY, 174 * 365 * DAY]).unwrap_or(&0);
        let time = UnixTime((START + self.seconds).max(state.time().0) + later);
        let mut effects = Vec::new();
        if self.dice.chance(70) {
            let change = if self.dice.chance(60) {
                Change::Electorate { voters: voters.clone() }
            } else {
                self.effect(state)?.change
            };
            let effect = Effect { change, force: Force::Yes };
            let subject = effect.subject();
            let proof = |voter: &MemberId| {
                let approval = Approval {
                    voter: *voter,
                    base: state.head(),
                    subject,
                    turn: 9,
                    verdict: Verdict::Approve,
                    expires: UnixTime(time.0 + 86_400),
                };
                Proof::of(&approval, signature())
            };
            effects.push(Approved { effect, proofs: voters.iter().map(proof).collect() });
        }
        let person = self.dice.roll(crate::people::PEOPLE);
        let admit = self.admit(person, state.head(), 300)?;
        if self.dice.chance(50) {
            let subject = admission(admit.request);
            let (base, expires) = (state.head(), UnixTime(time.0 + DAY));
            for voter in voters {
                let verdict = Verdict::Approve;
                let approval = Approval { voter, base, subject, turn: 0, verdict, expires };
                self.contents.add_yes(&Signed { approval, signature: Some(signature()) });
            }
        }
        let batch = Batch { time, effects, holds: vec![admit.request], refusals: Vec::new() };
        let contents = &self.contents;
        state.decide(batch, |request| contents.get(request)).ok().map(|(decision, _)| decision)
    }

    /// A decision that the target would commit to: some of what counts there.
    fn part_of_what_is_due(&mut self, state: &State, target: usize) -> Option<Decision> {
        let node = self.nodes.get(target)?;
        let time = UnixTime(START + self.seconds).max(state.time());
        let (held, approved) = (node.set().holdable(state, time), node.set().approved(state, time));
        let holds = held.into_iter().filter(|_| self.dice.chance(60)).collect();
        let effects = approved.into_iter().filter(|_| self.dice.chance(60)).collect();
        let batch = Batch { time, effects, holds, refusals: Vec::new() };
        let contents = &self.contents;
        state.decide(batch, |request| contents.get(request)).ok().map(|(decision, _)| decision)
    }

    /// Those who once were a quorum write another decision over the state in which they were, and
    /// show it to somebody.
    fn takeover(&mut self, keys: &[MemberId], target: usize) -> Result<(), Fault> {
        let there = self.nodes.get(target).map(|node| node.state().head());
        let head = there.filter(|_| self.dice.chance(50)).unwrap_or_else(|| self.any_head());
        let Some(state) = self.records.state(&head).cloned() else { return Ok(()) };
        let keys: BTreeSet<MemberId> = keys.iter().copied().filter(|key| state.may_vote(key)).collect();
        if !state.is_quorum(&keys) {
            return Ok(());
        }
        let Some(decision) = self.some_decision(&state, &keys) else { return Ok(()) };
        let Some(standing) = committed(decision, &state, &keys) else { return Ok(()) };
        let contents = &self.contents;
        match self.nodes.get_mut(target) {
            Some(node) => Node::apply(node, &standing, self.seconds, contents),
            None => Ok(()),
        }
    }
}

/// A decision that these keys alone propose and commit to, as voters of this state.
pub(crate) fn committed(decision: Decision, voters: &State, keys: &BTreeSet<MemberId>) -> Option<Standing> {
    let keys: Vec<MemberId> = keys.iter().copied().filter(|key| voters.may_vote(key)).collect();
    let number = decision.number.saturating_sub(1);
    let ballot = (0..8).find(|ballot| keys.contains(&Electors::owner(voters, number, *ballot)))?;
    let promise = |voter: &MemberId| Promise { voter: *voter, report: None, signature: signature() };
    let promises = if ballot == 0 { Vec::new() } else { keys.iter().map(promise).collect() };
    let stages = vec![Stage { ballot, promises, signature: signature() }];
    let commit = |voter: &MemberId| Commit { voter: *voter, signature: signature() };
    let commits = keys.iter().map(commit).collect();
    Some(Standing { proposal: Proposal { decision, stages }, commits })
}
