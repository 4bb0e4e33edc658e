//! Forks: what members of two lines show one another, and who goes over.

use crate::contents::Contents;
use crate::node::{Fault, Node, Step};
use crate::world::World;
use folkmoot_transcript::{Applied, Change, Head, Standing, State};
use std::collections::BTreeSet;

impl Node {
    /// Learns of other lines what another knows, and goes over if its own line has ended for one.
    pub(crate) fn learn_sides(
        &mut self,
        other: &Self,
        seconds: u64,
        contents: &Contents,
    ) -> Result<(), Fault> {
        for fork in other.line.forks().values() {
            self.apply(&fork.theirs, seconds, contents)?;
            if !fork.coming.is_empty() {
                // Of a line that it does not know it cannot say anything.
                drop(self.line.hear_coming(&fork.coming));
            }
        }
        if let Some((decisions, last)) = self.other_line(other) {
            let before = self.state().clone();
            let met = self.line.meet(&decisions, &last, other.state().clone());
            if met == Ok(Applied::Next) {
                self.gone_over(&before, seconds, contents, Step::Crossed(other.state().head()));
            }
        }
        Ok(())
    }

    /// What `other` shows of its line, if it is the other line of a fork that is known here.
    fn other_line(&self, other: &Self) -> Option<(Vec<Standing>, Standing)> {
        let on_theirs = |head: &Head| other.state().decision_at(head.number) == Some(*head);
        let known = self.line.forks().values().map(|fork| fork.theirs.head());
        let number = known.chain(self.state().rejoin()).find(on_theirs)?.number;
        other.line.side_from(number)
    }

    /// Its person goes over to the line of `other`, if that is the other side of a known fork.
    pub(crate) fn resolve(&mut self, other: &Self, seconds: u64, contents: &Contents) {
        let Some((decisions, last)) = self.other_line(other) else { return };
        let before = self.state().clone();
        if self.line.resolve(&decisions, &last, other.state().clone()) == Ok(Applied::Next) {
            self.gone_over(&before, seconds, contents, Step::Resolved);
        }
    }

    /// Whom only the line that was left held is judged anew.
    fn gone_over(&mut self, before: &State, seconds: u64, contents: &Contents, step: Step) {
        for admit in contents.admits().filter(|admit| before.is_used(&admit.request)) {
            self.take_admit(admit, seconds);
        }
        self.ask(seconds);
        self.start_anew(step);
    }
}

impl World<'_> {
    /// A person who knows of a fork goes over alone.
    pub(crate) fn resolve(&mut self) {
        let forked = |node: &Node| !node.line.forks().is_empty();
        let places = (0..self.honest).filter(|place| self.nodes.get(*place).is_some_and(forked));
        let places: Vec<usize> = places.collect();
        let Some(to) = self.dice.pick(&places).copied() else { return };
        let from = self.dice.roll(self.nodes.len());
        let (seconds, contents) = (self.seconds, &self.contents);
        if let Some((source, target)) = two(&mut self.nodes, from, to) {
            target.resolve(source, seconds, contents);
        }
    }

    /// The first decisions after every fork that anybody knows of: what a Rejoin can name.
    pub(crate) fn sides(&self) -> Vec<Head> {
        let forks = self.nodes.iter().flat_map(|node| node.line.forks().values());
        let heads: BTreeSet<Head> = forks.flat_map(|fork| [fork.ours.head(), fork.theirs.head()]).collect();
        heads.into_iter().collect()
    }

    /// Nobody who has met the line for which its own ended stays behind; but of two lines that
    /// ended for each other only one.
    pub(crate) fn check_waiting(&self) -> Result<(), Fault> {
        let honest = || self.nodes.iter().take(self.honest);
        for one in honest() {
            let Some(theirs) = one.state().rejoin() else { continue };
            // A quorum that lies may move the time so far that ours is known no more: then only a
            // person can tell that the other line is of the same group.
            let Some(ours) = one.state().decision_at(theirs.number) else { continue };
            let shows = |other: &&Node| {
                other.state().decision_at(theirs.number) == Some(theirs)
                    && other.line.side_from(theirs.number).is_some()
                    && !(one.state().may_outlast() && other.state().rejoin() == Some(ours))
            };
            if let Some(other) = honest().find(shows) {
                return Err(format!("{} waits for the line of {}, and was shown it", one.me, other.me));
            }
        }
        Ok(())
    }

    /// Whether a decision sends its members to this line.
    pub(crate) fn sends_to(decision: &folkmoot_transcript::Decision, line: &[Head]) -> bool {
        decision.effects.iter().any(|approved| match &approved.effect.change {
            Change::Rejoin { head } => line.contains(head),
            _ => false,
        })
    }
}

/// Two of these.
pub(crate) fn two(nodes: &mut [Node], from: usize, to: usize) -> Option<(&Node, &mut Node)> {
    if from == to || from.max(to) >= nodes.len() {
        return None;
    }
    let (low, high) = nodes.split_at_mut(from.max(to));
    if from < to {
        Some((low.get(from)?, high.first_mut()?))
    } else {
        Some((high.first()?, low.get_mut(to)?))
    }
}
