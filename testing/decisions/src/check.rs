//! What must hold, judged from the history of decisions and not from the stamps that states keep.

use crate::clock::is_ahead;
use crate::meeting::check_ballots;
use crate::node::{Fault, Node, Step};
use crate::validity::check_able;
use crate::wishes::named;
use crate::world::World;
use folkmoot_base::{Digest, MemberId};
use folkmoot_identity::Charter;
use folkmoot_transcript::{Approval, Change, Decision, Head, Standing, State, contradictions};
use std::collections::{BTreeMap, BTreeSet};

/// How often what was seen.
pub type Tally = BTreeMap<&'static str, usize>;

/// Every decision that anybody applied, with the state after it.
#[derive(Debug)]
pub struct Records {
    states: BTreeMap<Head, State>,
    decisions: BTreeMap<Head, Standing>,
    /// The digest of the state at each mark (head, digest of the set) with its roster.
    marks: BTreeMap<(Head, Digest), (Digest, Vec<MemberId>)>,
    /// How often honest members went over to another line.
    went: Tally,
}

impl Records {
    pub(crate) fn new(charter: &Charter) -> Self {
        let state = State::founded(charter.clone());
        Self {
            states: BTreeMap::from([(state.head(), state)]),
            decisions: BTreeMap::new(),
            marks: BTreeMap::new(),
            went: Tally::new(),
        }
    }

    pub(crate) fn heads(&self) -> impl Iterator<Item = Head> {
        self.states.keys().copied()
    }

    pub(crate) fn state(&self, head: &Head) -> Option<&State> {
        self.states.get(head)
    }

    /// What was seen, by name: decisions, those of later ballots, forks, what was decided.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::new();
        let mut count = |name, number| *tally.entry(name).or_default() += number;
        let numbers: BTreeSet<u64> = self.decisions.keys().map(|head| head.number).collect();
        count("forks", self.decisions.len() - numbers.len());
        for standing in self.decisions.values() {
            let decision = &standing.proposal.decision;
            count("decisions", 1);
            count("later ballots", usize::from(standing.proposal.ballot() > 0));
            count("held", decision.holds.len());
            count("refused", decision.refusals.len());
            decision.effects.iter().for_each(|effect| count(kind(&effect.effect.change), 1));
        }
        self.went.iter().for_each(|(name, number)| count(name, *number));
        tally
    }

    /// The states from the founding to this head, this one first.
    pub(crate) fn back(&self, head: &Head) -> Vec<&State> {
        let mut line = Vec::new();
        let mut at = *head;
        while let Some(state) = self.states.get(&at) {
            line.push(state);
            let Some(standing) = self.decisions.get(&at) else { break };
            at = standing.proposal.parent();
        }
        line
    }

    /// The heads from this one back to the founding.
    pub(crate) fn line(&self, head: &Head) -> Vec<Head> {
        self.back(head).into_iter().map(State::head).collect()
    }

    pub(crate) fn decision(&self, head: &Head) -> Option<&Decision> {
        self.decisions.get(head).map(|standing| &standing.proposal.decision)
    }

    /// Whether an approval may count at this head, by the history alone.
    pub(crate) fn may_count(
        &self,
        approval: &Approval,
        head: &Head,
        touches: &dyn Fn(&Change) -> bool,
    ) -> bool {
        let line = self.back(head);
        let Some(base) = line.iter().position(|state| state.head() == approval.base) else { return false };
        // From the base to the head the voter had a vote, nothing was decided about the subject,
        // and the line's time was not taken back.
        let later: Vec<&&State> = line.iter().take(base + 1).collect();
        let voted =
            later.iter().all(|state| state.places().iter().any(|place| place.voter == approval.voter));
        let changed = later.iter().take(base).any(|state| {
            let decision = self.decision(&state.head());
            let ends = |change: &Change| touches(change) || matches!(change, Change::Retime { .. });
            decision.is_some_and(|one| one.effects.iter().any(|effect| ends(&effect.effect.change)))
        });
        voted && !changed
    }
}

impl World<'_> {
    /// Looks at everything after a step.
    pub(crate) fn note(&mut self) -> Result<(), Fault> {
        self.note_approvals();
        self.note_steps()?;
        self.check_forks()
    }

    /// Replays what was decided since the last look, and how everybody came to its head.
    fn note_steps(&mut self) -> Result<(), Fault> {
        let logs: Vec<Vec<Step>> = self.nodes.iter_mut().map(|node| std::mem::take(&mut node.log)).collect();
        let mut fresh: Vec<(usize, Standing)> = Vec::new();
        for (place, log) in logs.iter().enumerate() {
            let applied = log.iter().filter_map(|step| match step {
                Step::Applied(standing, _) => Some((place, Standing::clone(standing))),
                _ => None,
            });
            fresh.extend(applied);
        }
        fresh.sort_by_key(|(_, standing)| standing.head().number);
        for (place, standing) in fresh {
            self.note_decision(place < self.honest, standing)?;
        }
        for (place, log) in logs.iter().enumerate() {
            self.check_steps(place, log)?;
        }
        Ok(())
    }

    pub(crate) fn note_decision(&mut self, honest: bool, standing: Standing) -> Result<(), Fault> {
        let (head, decision) = (standing.head(), &standing.proposal.decision);
        let tried = self.tried.filter(|(tried, _)| *tried == standing.proposal.parent());
        let Some(before) = self.records.states.get(&standing.proposal.parent()).cloned() else {
            return Err(format!("{head} was applied on what nobody has"));
        };
        if let Some((_, ballot)) = tried.filter(|_| honest) {
            check_ballots(&standing, &before, ballot)?;
        }
        if self.records.states.contains_key(&head) {
            return Ok(());
        }
        let contents = &self.contents;
        let after = before.after(decision, |request| contents.get(request));
        let after = after.map_err(|why| format!("an applied decision does not follow: {why}"))?;
        if honest {
            self.check_effects(&before, decision)?;
            self.check_holds(&before, decision)?;
            self.check_right(&before, decision)?;
        }
        check_able(&before, &after, decision)?;
        for member in before.roster().keys().filter(|member| !after.roster().contains_key(*member)) {
            self.stolen.insert(*member);
        }
        self.records.decisions.insert(head, standing);
        self.records.states.insert(head, after);
        Ok(())
    }

    /// No decision that an honest member applied is undone, but by a Rejoin of its line or by its
    /// person.
    fn check_steps(&mut self, place: usize, log: &[Step]) -> Result<(), Fault> {
        let (Some(node), Some(at)) = (self.nodes.get(place), self.heads.get_mut(place)) else {
            return Ok(());
        };
        for step in log {
            let (next, good) = match step {
                Step::Applied(standing, clock) => {
                    if clock.is_some_and(|clock| is_ahead(standing, clock)) && place < self.honest {
                        return Err(format!("{} applied a decision far ahead of its clock", node.me));
                    }
                    (standing.head(), standing.proposal.parent() == *at)
                }
                Step::Skipped(head) => (*head, self.records.line(head).contains(at)),
                Step::Crossed(head) => {
                    let line = self.records.line(head);
                    let last = self.records.decision(at);
                    (*head, last.is_some_and(|decision| Self::sends_to(decision, &line)))
                }
                Step::Resolved => (node.state().head(), true),
            };
            if !good && place < self.honest {
                return Err(format!("{} went from {at} to {next}: an applied decision is undone", node.me));
            }
            let went = match step {
                Step::Crossed(_) => "went over by a Rejoin",
                Step::Resolved => "went over alone",
                Step::Applied(..) => "applied",
                Step::Skipped(_) => "skipped",
            };
            if place < self.honest {
                *self.records.went.entry(went).or_default() += 1;
            }
            *at = next;
        }
        Ok(())
    }

    /// Every effect has enough approvals that may count by the history and had not run out.
    fn check_effects(&self, before: &State, decision: &Decision) -> Result<(), Fault> {
        for approved in &decision.effects {
            let mine = &approved.effect.change;
            let touches = |other: &Change| self.is_about_the_same(before, mine, other);
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
            self.check_members(node)?;
        }
        Ok(())
    }

    /// Unequal lines name somebody who signed both, and nobody honest.
    fn check_forks(&self) -> Result<(), Fault> {
        for (place, one) in self.nodes.iter().take(self.honest).enumerate() {
            for other in self.nodes.iter().take(self.honest).skip(place + 1) {
                self.check_fork(one, other)?;
            }
            // A thief of its key may have bound it.
            if let Some(key) = one.baseless.iter().find(|key| !self.stolen.contains(*key)) {
                return Err(format!("{key} committed to what it has no approvals of"));
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

    /// Whether deciding the other ends what was approved of the one.
    fn is_about_the_same(&self, state: &State, one: &Change, other: &Change) -> bool {
        let let_in = named(one).and_then(|request| self.contents.get(&request)).map(|admit| admit.member);
        let names = |out| one.keys(state.charter().scheme()).contains(&out) || let_in == Some(out);
        if expelled(other).is_some_and(names) {
            return true;
        }
        match (one, other) {
            (Change::Charter { field, .. }, Change::Charter { field: other, .. }) => field == other,
            (Change::Electorate { .. }, Change::Electorate { .. })
            | (Change::Sharing { .. }, Change::Sharing { .. })
            | (Change::Rejoin { .. }, Change::Rejoin { .. }) => true,
            _ => false,
        }
    }
}

fn kind(change: &Change) -> &'static str {
    match change {
        Change::Remove { .. } => "removals",
        Change::Charter { .. } => "charter",
        Change::Electorate { .. } => "electorates",
        Change::Sharing { .. } => "sharings",
        Change::Hold { .. } => "holdings by people",
        Change::Rotate { .. } => "keys",
        Change::Rejoin { .. } => "rejoins",
        Change::Leave(_) => "departures",
        Change::Retime { .. } => "retimes",
    }
}

/// The key that a change puts out.
pub(crate) fn expelled(change: &Change) -> Option<MemberId> {
    match change {
        Change::Remove { member } | Change::Rotate { member, .. } => Some(*member),
        Change::Leave(leave) => Some(leave.member),
        _ => None,
    }
}
