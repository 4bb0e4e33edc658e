//! What the owner of a ballot proposes.

use super::judge::{is_bare, moves, past_is_ahead};
use super::known::{is_retime, may_hold, time_of};
use super::{Ballots, Look, SKEW_SECONDS};
use crate::proposal::{Promise, Proposal, Stage, Statement, highest, promises_digest};
use crate::{Approved, Batch, Change, EFFECTS_MAX, Effect, HOLDS_MAX, REFUSALS_MAX, State};
use core::time::Duration;
use folkmoot_base::{Danger, Digest, UnixTime};
use folkmoot_signing::shared;
use std::collections::BTreeSet;
use std::sync::Arc;

/// So many entries that no decision holds are enough for one.
const ENTRIES_DUE: usize = 64;
/// The oldest of fewer entries waits so long.
const ENTRIES_AGE: Duration = Duration::from_secs(600);
/// A voter's term that ends within so many seconds is a reason to hold what counts.
const TERM_SECONDS: u64 = 3_600;
/// How long a sharing that could be decided waits for those of its holders that have said nothing.
const STORED_WAIT: Duration = Duration::from_secs(10);

impl Ballots {
    /// Proposes in the ballots that this voter owns: in ballot 0 what is due; above, with a quorum
    /// of promises, what they report, or, if they report nothing, what there is.
    pub(super) fn own(&mut self, look: &Look<'_>, wanted: bool) {
        let done = self.record.proposed.as_ref().map(Proposal::ballot);
        if self.record.promised == 0 && done.is_none() && look.state.owner(0) == self.me {
            if self.is_due(look) {
                self.propose(look, 0, Vec::new());
            }
            return;
        }
        if !wanted {
            return;
        }
        let mine = self.promises.iter().rev().find(|(ballot, promises)| {
            look.state.owner(**ballot) == self.me
                && done.is_none_or(|done| done < **ballot)
                && **ballot >= self.record.promised
                && look.state.is_quorum(&promises.keys().copied().collect())
        });
        let Some((ballot, promises)) = mine else { return };
        let (ballot, promises) = (*ballot, promises.values().cloned().collect());
        self.propose(look, ballot, promises);
    }

    fn propose(&mut self, look: &Look<'_>, ballot: u32, promises: Vec<Promise>) {
        let follow = highest(&promises).filter(|_| !self.danger.is(Danger::LineOwnChoice));
        let (decision, mut stages) = match follow {
            Some(report) => match self.proposals.get(&report) {
                Some(reported) => (reported.decision.clone(), reported.stages.clone()),
                None => return,
            },
            None => match self.fresh(look) {
                Some(decision) => (decision, Vec::new()),
                None => return,
            },
        };
        let statement = Statement::Propose {
            parent: self.record.parent,
            ballot,
            decision: decision.digest(),
            promises: promises_digest(&promises),
        };
        stages.push(Stage { ballot, promises, signature: (look.sign)(&statement) });
        let proposal = Proposal { decision, stages };
        self.record.proposed = Some(proposal.clone());
        self.persist();
        self.say_proposal(proposal.clone());
        self.proposals.insert(proposal.report(), proposal);
        self.commit_all(look);
    }

    /// What there is to decide. Nothing at all is proposed only where this voter would judge that.
    fn fresh(&mut self, look: &Look<'_>) -> Option<crate::Decision> {
        let time = time_of(look);
        if time.0 > look.clock.0.saturating_add(SKEW_SECONDS) || self.is_held(look.state, time) {
            return None;
        }
        let batch = self.batch(look, time);
        let decided = look.state.decide(batch, |request| Self::admit(look, request));
        let (decision, after) = decided.ok()?;
        let does = !is_bare(&decision) || moves(look.state, &after);
        (does || self.may_be_empty(look, time)).then_some(decision)
    }

    /// Everything that can be decided now, up to the bounds. Effects in the order of their names,
    /// each that still stands after those before it, again and again until none does: one may stand
    /// only behind another of a later name. A decision whose time goes back has the effect that
    /// allows it in any case.
    fn batch(&mut self, look: &Look<'_>, time: UnixTime) -> Batch {
        let entries = self.entries(look);
        let held = entries.held.iter().filter(|request| may_hold(look, request, time));
        let holds = held.copied().take(HOLDS_MAX).collect();
        let refusals = entries.refused.iter().take(REFUSALS_MAX).cloned().collect();
        let goes_back = |one: &Approved| time < look.state.time() && is_retime(look, one);
        let (back, mut approved): (Vec<Approved>, Vec<Approved>) =
            look.set.approved(look.state, time).into_iter().partition(goes_back);
        approved.retain(|one| !self.waits(look, &one.effect));
        let mut batch = Batch { time, effects: back, holds, refusals };
        while take_more(look, &mut batch, &mut approved) {}
        batch
    }

    /// Notes since when sharings could be decided that some holders have said nothing of.
    pub(super) fn note_lacking(&mut self, look: &Look<'_>) {
        let sharing = |effect: &&Effect| matches!(effect.change, Change::Sharing { .. });
        if !look.set.effects().any(|effect| sharing(&effect)) {
            self.lacking.clear();
            return;
        }
        let approved = look.set.approved(look.state, time_of(look));
        let there = approved.iter().map(|one| &one.effect).filter(sharing).filter(|one| lacks(look, one));
        let there: BTreeSet<Digest> = there.map(|effect| effect.subject().digest).collect();
        self.lacking.retain(|name, _| there.contains(name));
        for name in there {
            self.lacking.entry(name).or_insert(look.now);
        }
    }

    /// `LINE-69`: a sharing waits for all its holders to say that they have stored it, for
    /// [`STORED_WAIT`] at most.
    fn waits(&self, look: &Look<'_>, effect: &Effect) -> bool {
        if !matches!(effect.change, Change::Sharing { .. }) || !lacks(look, effect) {
            return false;
        }
        let since = self.lacking.get(&effect.subject().digest);
        since.is_none_or(|since| look.now.since(*since) < STORED_WAIT)
    }

    /// The effects that a decision of this moment could carry out.
    pub(super) fn carriable(&mut self, look: &Look<'_>) -> Arc<Vec<Approved>> {
        let (version, time) = (look.set.version(), time_of(look));
        if let Some((_, _, known)) = self.carriable.as_ref().filter(|(v, t, _)| (*v, *t) == (version, time)) {
            return known.clone();
        }
        let carriable = Arc::new(self.batch(look, time).effects);
        self.carriable = Some((version, time, carriable.clone()));
        carriable
    }

    /// Whether there is something to decide: what people approved, at once; what programs hold by
    /// themselves, in time; and whatever this voter judged or committed to, until it is decided.
    pub(super) fn is_due(&mut self, look: &Look<'_>) -> bool {
        let state = look.state;
        if self.has_begun() || past_is_ahead(look, time_of(look)) || !self.carriable(look).is_empty() {
            return true;
        }
        let entries = self.entries(look);
        let entries = entries.held.len() + entries.refused.len();
        let oldest = || self.known.values().any(|since| look.now.since(*since) >= ENTRIES_AGE);
        entries >= ENTRIES_DUE
            || (entries > 0 && (oldest() || ends_soon(state, look.clock)))
            || self.is_idle(look)
    }
}

/// Moves each effect that still stands behind those of a batch into it. Whether there was one, and
/// others are left.
fn take_more(look: &Look<'_>, batch: &mut Batch, approved: &mut Vec<Approved>) -> bool {
    let before = approved.len();
    approved.retain(|one| {
        let mut longer = batch.clone();
        add(look, &mut longer.effects, one);
        let fits = longer.effects.len() <= EFFECTS_MAX
            && look.state.takes(longer.clone(), |request| Ballots::admit(look, request));
        if fits {
            *batch = longer;
        }
        !fits
    });
    (1..before).contains(&approved.len())
}

/// Adds an effect behind others, but before a Retime: nothing that was approved before that stands
/// after it.
pub(super) fn add(look: &Look<'_>, effects: &mut Vec<Approved>, one: &Approved) {
    let back = effects.iter().rev().take_while(|one| is_retime(look, one)).count();
    effects.insert(effects.len() - back, one.clone());
}

/// Whether a holder of this sharing has said neither that it stored it nor that it has no share.
fn lacks(look: &Look<'_>, effect: &Effect) -> bool {
    let Change::Sharing { public, .. } = &effect.change else { return false };
    let Ok(facts) = shared::facts(look.state.charter().scheme(), &public.0) else { return false };
    let subject = effect.subject();
    facts.holders.iter().any(|holder| look.set.approval(&subject, holder).is_none())
}

/// Whether a voter's term ends within the hour.
fn ends_soon(state: &State, clock: UnixTime) -> bool {
    let ends = |voter: &_| state.roster().get(voter).map(|held| held.ends);
    state.voters().iter().filter_map(ends).any(|ends| ends.0 <= clock.0.saturating_add(TERM_SECONDS))
}
