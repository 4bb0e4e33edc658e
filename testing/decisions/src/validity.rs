//! Who is in and what is decided has what it asks for, by the history alone.

use crate::check::expelled;
use crate::node::{Fault, Node};
use crate::wishes::named;
use crate::world::World;
use folkmoot_base::{MemberId, UnixTime};
use folkmoot_identity::{Adopt, Policy};
use folkmoot_transcript::{Admit, Change, Decision, Head, PAST_SAID_SECONDS, SKEW_SECONDS, State};
use std::collections::BTreeSet;

impl World<'_> {
    /// Whose votes for an admission may count at a state, by the history, and had not run out.
    fn approving(&self, admit: &Admit, state: &State, time: UnixTime) -> BTreeSet<MemberId> {
        let touches = |other: &Change| expelled(other) == Some(admit.member);
        let yes = self.contents.yes(&admit.request).iter().map(|signed| &signed.approval);
        let counts =
            yes.filter(|yes| yes.expires >= time && self.records.may_count(yes, &state.head(), &touches));
        counts.map(|yes| yes.voter).collect()
    }

    /// Whether an admission has what the charter asks for, at a time.
    fn is_let_in(&self, admit: &Admit, state: &State, time: UnixTime) -> Result<(), Fault> {
        if state.is_for_authority() {
            return Ok(());
        }
        if state.charter().policies().policy == Policy::List {
            let listed = state.charter().policies().list.contains(&admit.member);
            let since = self.named_since(state, &admit.member);
            return if listed && since { Ok(()) } else { Err(format!("{} is not listed", admit.member)) };
        }
        let yes = self.approving(admit, state, time).len();
        if yes < state.threshold() {
            return Err(format!("{} is let in at {time} by {yes} approvals that may count", admit.member));
        }
        Ok(())
    }

    /// Whether the list has been decided since this key was expelled.
    fn named_since(&self, state: &State, member: &MemberId) -> bool {
        for at in self.records.back(&state.head()) {
            let Some(decision) = self.records.decision(&at.head()) else { continue };
            for approved in decision.effects.iter().rev() {
                match &approved.effect.change {
                    Change::Charter { field, .. } if field.0[..] == b"list"[..] => return true,
                    change if expelled(change) == Some(*member) => return false,
                    _ => {}
                }
            }
        }
        true
    }

    /// Whatever a decision holds is let in at the state before it, by what has not run out at its
    /// time: also if all who committed to it lie.
    pub(crate) fn check_holds(&self, before: &State, decision: &Decision) -> Result<(), Fault> {
        let auto = before.charter().adopt() == Adopt::Auto;
        let time = if auto { UnixTime(0) } else { decision.time };
        for request in &decision.holds {
            let Some(admit) = self.contents.get(request) else { continue };
            self.is_let_in(admit, before, time).map_err(|why| format!("a decision holds: {why}"))?;
            if admit.begins.0 > decision.time.0 + SKEW_SECONDS {
                return Err(format!("a decision holds {} before its term begins", admit.member));
            }
        }
        Ok(())
    }

    /// Unless the liars are a quorum, somebody honest has judged what was decided.
    pub(crate) fn check_right(&self, before: &State, decision: &Decision) -> Result<(), Fault> {
        let digest = decision.head().digest;
        if before.is_quorum(&self.stolen) || self.judged.contains(&digest) {
            return Ok(());
        }
        Err(format!("{} was decided, and nobody honest has judged it", decision.head()))
    }

    /// Whoever the set lets in has approvals that may count and that have not run out by this
    /// node's clock; nobody was refused.
    pub(crate) fn check_admits(&self, node: &Node) -> Result<(), Fault> {
        let (state, set) = (node.state(), node.set());
        let clock = node.sound(self.seconds);
        let past =
            clock.map_or(UnixTime(0), |clock| UnixTime(clock.0.saturating_sub(PAST_SAID_SECONDS + 60)));
        for admit in set.counted() {
            let refused = self.records.back(&state.head()).into_iter().any(|at| {
                let decision = self.records.decision(&at.head());
                let recent = state.decision_at(at.head().number).is_some();
                recent && decision.is_some_and(|one| one.refusals.iter().any(|no| no.refusal().covers(admit)))
            });
            if refused {
                return Err(format!("{} is let in, and was refused", admit.member));
            }
            self.is_let_in(admit, state, state.time().max(past))?;
            // A clock that is behind the line is none.
            let early = |clock: UnixTime| admit.begins.0 > clock.max(state.time()).0 + SKEW_SECONDS;
            if node.asked && clock.is_some_and(early) {
                return Err(format!("{} is in before its term begins", admit.member));
            }
        }
        Ok(())
    }

    /// Whoever was expelled is in only if somebody has approved that since. And the group can
    /// still decide.
    pub(crate) fn check_members(&self, node: &Node) -> Result<(), Fault> {
        let state = node.state();
        let members = node.set().members(state);
        let line = self.records.line(&state.head());
        let mut seen = BTreeSet::new();
        for (back, head) in line.iter().enumerate() {
            let Some(decision) = self.records.decision(head) else { continue };
            let since = line.get(..=back).unwrap_or_default();
            for out in decision.effects.iter().filter_map(|one| expelled(&one.effect.change)) {
                // Whoever is led over decisions trusts those who made them.
                let wanted = since.iter().any(|base| {
                    self.unseen.contains(base) || self.wanted.get(&out).is_some_and(|one| one.contains(base))
                });
                // Approved and decided between two looks, so that nobody saw the effect by itself.
                let wanted = wanted || since.iter().any(|head| self.lets_in(head, &out, since));
                if seen.insert(out) && members.contains_key(&out) && !wanted && !self.lets_in_unasked(state) {
                    return Err(format!("{out} was expelled, and is back unasked"));
                }
            }
        }
        let voters = state.voters();
        let stay: BTreeSet<MemberId> =
            voters.iter().filter(|voter| members.contains_key(*voter)).copied().collect();
        check_stay(state, &voters, &stay)
    }

    /// Whether a decision lets this key in by people's approvals from this part of the line.
    fn lets_in(&self, head: &Head, member: &MemberId, since: &[Head]) -> bool {
        let Some(decision) = self.records.decision(head) else { return false };
        decision.effects.iter().any(|approved| {
            let admit = named(&approved.effect.change).and_then(|request| self.contents.get(&request));
            admit.is_some_and(|admit| admit.member == *member)
                && approved.approvals().any(|yes| yes.is_yes() && since.contains(&yes.base))
        })
    }

    /// Whether somebody else than the voters lets people in.
    fn lets_in_unasked(&self, state: &State) -> bool {
        state.is_for_authority() || state.charter().policies().policy == Policy::List
    }

    /// Everybody honest who is held, and whose term has not ended, is in.
    pub(crate) fn check_nobody_cut_off(&self) -> Result<(), Fault> {
        for node in self.nodes.iter().take(self.honest) {
            let Some(clock) = node.sound(self.seconds) else { continue };
            let (state, members) = (node.state(), node.set().members(node.state()));
            let now = clock.max(state.time());
            if node.set().past() > now {
                return Err(format!("{} takes for past what is to come", node.me));
            }
            let cut = state
                .roster()
                .iter()
                .find(|(member, held)| held.ends > now && !members.contains_key(*member));
            if let Some((member, _)) = cut {
                return Err(format!("{} has cut off {member}", node.me));
            }
        }
        Ok(())
    }
}

/// A decision that nobody forces leaves voters who can decide.
pub(crate) fn check_able(before: &State, after: &State, decision: &Decision) -> Result<(), Fault> {
    if decision.effects.iter().any(|one| one.effect.is_forced()) || !can_go_on(before, &before.voters()) {
        return Ok(());
    }
    if can_go_on(after, &after.voters()) {
        Ok(())
    } else {
        Err(format!("{} leaves too few voters", after.head()))
    }
}

fn check_stay(state: &State, voters: &BTreeSet<MemberId>, stay: &BTreeSet<MemberId>) -> Result<(), Fault> {
    if !can_go_on(state, voters) || can_go_on(state, stay) {
        return Ok(());
    }
    Err("the terms of so many have ended that nobody can decide".to_owned())
}

fn can_go_on(state: &State, voters: &BTreeSet<MemberId>) -> bool {
    voters.len() >= state.threshold() && state.is_quorum(voters)
}
