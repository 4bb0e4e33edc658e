//! What must hold, judged from the history of decisions and not from the stamps that states keep.

use crate::node::{Fault, Node};
use crate::world::World;
use folkmoot_base::{Digest, MemberId};
use folkmoot_identity::Charter;
use folkmoot_transcript::{Approval, Change, Decision, Head, Standing, State, admission, contradictions};
use std::collections::{BTreeMap, BTreeSet};

/// Every decision that anybody applied, with the state after it.
#[derive(Debug)]
pub struct Records {
    states: BTreeMap<Head, State>,
    decisions: BTreeMap<Head, Standing>,
    /// The digest of the state at each mark (head, digest of the set) with its roster.
    marks: BTreeMap<(Head, Digest), (Digest, Vec<MemberId>)>,
}

impl Records {
    pub(crate) fn new(charter: &Charter) -> Self {
        let state = State::founded(charter.clone());
        Self {
            states: BTreeMap::from([(state.head(), state)]),
            decisions: BTreeMap::new(),
            marks: BTreeMap::new(),
        }
    }

    pub(crate) fn heads(&self) -> impl Iterator<Item = Head> {
        self.states.keys().copied()
    }

    pub(crate) fn state(&self, head: &Head) -> Option<&State> {
        self.states.get(head)
    }

    /// Decisions, those of later ballots, and forks that somebody has seen.
    pub fn tally(&self) -> [usize; 3] {
        let later = self.decisions.values().filter(|standing| standing.proposal.ballot() > 0).count();
        let numbers: BTreeSet<u64> = self.decisions.keys().map(|head| head.number).collect();
        [self.decisions.len(), later, self.decisions.len() - numbers.len()]
    }

    /// The states from the founding to this head, this one first.
    fn back(&self, head: &Head) -> Vec<&State> {
        let mut line = Vec::new();
        let mut at = *head;
        while let Some(state) = self.states.get(&at) {
            line.push(state);
            let Some(standing) = self.decisions.get(&at) else { break };
            at = standing.proposal.parent();
        }
        line
    }

    fn decision(&self, head: &Head) -> Option<&Decision> {
        self.decisions.get(head).map(|standing| &standing.proposal.decision)
    }

    /// Whether an approval may count at this head, by the history alone.
    fn may_count(&self, approval: &Approval, head: &Head, touches: &dyn Fn(&Change) -> bool) -> bool {
        let line = self.back(head);
        let Some(base) = line.iter().position(|state| state.head() == approval.base) else { return false };
        // From the base to the head the voter had a vote, and nothing was decided about the
        // subject.
        let later: Vec<&&State> = line.iter().take(base + 1).collect();
        let voted =
            later.iter().all(|state| state.places().iter().any(|place| place.voter == approval.voter));
        let changed = later.iter().take(base).any(|state| {
            let decision = self.decision(&state.head());
            decision.is_some_and(|one| one.effects.iter().any(|effect| touches(&effect.effect.change)))
        });
        voted && !changed
    }
}

impl World<'_> {
    /// Looks at everything after a step.
    pub(crate) fn note(&mut self) -> Result<(), Fault> {
        for node in &self.nodes {
            for signed in node.set().approvals().filter(|signed| signed.approval.is_yes()) {
                let approval = signed.approval;
                self.spoken.entry(approval.subject.digest).or_default().insert(approval.voter);
            }
        }
        for place in 0..self.nodes.len() {
            self.note_node(place)?;
        }
        self.check_forks()
    }

    fn note_node(&mut self, place: usize) -> Result<(), Fault> {
        let Some(node) = self.nodes.get(place) else { return Ok(()) };
        let head = node.state().head();
        if self.records.states.contains_key(&head) {
            return Ok(());
        }
        let honest = place < self.honest;
        // Several decisions may have been applied in one step: replay them.
        let fresh: Vec<Standing> = node.line.decisions().values().cloned().collect();
        for standing in fresh {
            let head = standing.head();
            if self.records.states.contains_key(&head) {
                continue;
            }
            let before = self.records.states.get(&standing.proposal.parent()).cloned();
            let Some(before) = before else { continue };
            let contents = &self.contents;
            let after = before.after(&standing.proposal.decision, |request| contents.get(request));
            let after = after.map_err(|why| format!("an applied decision does not follow: {why}"))?;
            if honest {
                self.check_effects(&before, &standing.proposal.decision)?;
                // A former quorum can do what it likes at somebody who is behind.
                if standing.commits.iter().any(|commit| !self.stolen.contains(&commit.voter)) {
                    self.check_holds(&before, &standing.proposal.decision)?;
                }
            }
            for member in before.roster().keys().filter(|member| !after.roster().contains_key(*member)) {
                self.stolen.insert(*member);
            }
            self.records.decisions.insert(head, standing);
            self.records.states.insert(head, after);
        }
        Ok(())
    }

    /// Every effect has enough approvals that may count by the history and had not run out.
    fn check_effects(&self, before: &State, decision: &Decision) -> Result<(), Fault> {
        for approved in &decision.effects {
            let mine = &approved.effect.change;
            let touches = |other: &Change| is_about_the_same(mine, other);
            let counting = approved.approvals().filter(|approval| {
                approval.expires >= decision.time
                    && self.records.may_count(approval, &before.head(), &touches)
            });
            let yes: BTreeSet<MemberId> = counting.map(|approval| approval.voter).collect();
            let all = approved.approvals().count();
            if yes.len() < all {
                return Err(format!(
                    "{mine:?} was carried out with {all} approvals; {} may count",
                    yes.len()
                ));
            }
        }
        Ok(())
    }

    /// Whoever is held was approved by enough voters at some time.
    fn check_holds(&self, before: &State, decision: &Decision) -> Result<(), Fault> {
        let none = BTreeSet::new();
        for request in &decision.holds {
            let yes = self.spoken.get(request).unwrap_or(&none);
            let yes = yes.iter().filter(|voter| before.may_vote(voter)).count();
            if yes < before.threshold() {
                return Err(format!("a decision holds a request that {yes} have approved"));
            }
        }
        Ok(())
    }

    /// Two with equal head and set have equal states and rosters; and whoever is let in has
    /// approvals that may count.
    pub(crate) fn check_marks(&mut self) -> Result<(), Fault> {
        for node in self.nodes.iter().take(self.honest) {
            let mark = node.line.mark();
            let roster: Vec<MemberId> = node.set().members(node.state()).into_keys().collect();
            let digest = node.state().digest();
            let known = self.records.marks.entry(mark).or_insert_with(|| (digest, roster.clone()));
            if *known != (digest, roster) {
                return Err("equal heads and sets, and unequal states or rosters".to_owned());
            }
        }
        for node in self.nodes.iter().take(self.honest) {
            self.check_admits(node)?;
        }
        Ok(())
    }

    fn check_admits(&self, node: &Node) -> Result<(), Fault> {
        let (state, set) = (node.state(), node.set());
        for admit in set.counted() {
            let touches =
                |other: &Change| matches!(other, Change::Remove { member } if *member == admit.member);
            let yes = set.approvals_of(admission(admit.request)).filter(|approval| {
                approval.is_yes()
                    && approval.expires >= state.time()
                    && self.records.may_count(approval, &state.head(), &touches)
            });
            let yes = yes.count();
            if yes < state.threshold() {
                return Err(format!("{} is let in by {yes} approvals that may count", admit.member));
            }
        }
        Ok(())
    }

    /// Unequal lines name somebody who signed both, and nobody honest.
    fn check_forks(&self) -> Result<(), Fault> {
        for (place, one) in self.nodes.iter().take(self.honest).enumerate() {
            for other in self.nodes.iter().take(self.honest).skip(place + 1) {
                self.check_fork(one, other)?;
            }
            if let Some(honest) = one.accused.iter().find(|accused| !self.stolen.contains(*accused)) {
                return Err(format!("{honest} is honest and is accused"));
            }
        }
        Ok(())
    }

    fn check_fork(&self, one: &Node, other: &Node) -> Result<(), Fault> {
        let pairs = one.line.decisions().iter();
        let mut pairs = pairs.filter_map(|(number, mine)| Some((mine, other.line.decisions().get(number)?)));
        let Some((mine, theirs)) = pairs.find(|(mine, theirs)| mine.head() != theirs.head()) else {
            return Ok(());
        };
        if mine.proposal.parent() != theirs.proposal.parent() {
            // An earlier fork that one of them no longer keeps.
            return Ok(());
        }
        let Some(before) = self.records.state(&mine.proposal.parent()) else { return Ok(()) };
        let liars = contradictions(mine, theirs, before);
        if liars.is_empty() {
            return Err(format!("two decisions stand for number {} and nobody lied", mine.head().number));
        }
        match liars.iter().find(|liar| !self.stolen.contains(*liar)) {
            Some(honest) => Err(format!("{honest} is honest, and both decisions have its word")),
            None => Ok(()),
        }
    }

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

    fn pending(&self) -> Option<String> {
        let clock = self.nodes.first()?.clock(self.seconds);
        self.nodes.iter().take(self.honest).find_map(|node| {
            let state = node.state();
            let time = clock.max(state.time());
            node.set().approved(state, time).into_iter().find_map(|approved| {
                let change = &approved.effect.change;
                let stands = state.would_stand(change, approved.effect.is_forced(), None).is_ok();
                stands.then(|| format!("{change:?}"))
            })
        })
    }

    fn is_settled(&self) -> bool {
        let mut marks = self.nodes.iter().take(self.honest).map(|node| node.line.mark());
        let first = marks.next();
        marks.all(|mark| Some(mark) == first) && self.pending().is_none()
    }

    fn check_settled(&mut self) -> Result<(), Fault> {
        self.check_marks()?;
        if self.is_forked() || !self.can_decide() || self.nodes.iter().any(|node| node.left_behind) {
            return Ok(());
        }
        if let Some(pending) = self.pending() {
            return Err(format!("a quorum is there, enough approve, and it is not decided: {pending}"));
        }
        let marks: BTreeSet<_> = self.nodes.iter().take(self.honest).map(|node| node.line.mark()).collect();
        if marks.len() > 1 { Err("all have met and do not agree".to_owned()) } else { Ok(()) }
    }
}

/// Whether deciding the one ends what was approved of the other.
fn is_about_the_same(one: &Change, other: &Change) -> bool {
    match (one, other) {
        (Change::Remove { member }, Change::Remove { member: other }) => member == other,
        (Change::Charter { field, .. }, Change::Charter { field: other, .. }) => field == other,
        (Change::Electorate { .. }, Change::Electorate { .. }) => true,
        _ => false,
    }
}
