//! Judgements: whether a fresh proposal is right by what this voter knows, and what others say.
//!
//! ```text
//! fresh proposal --> worked out here, near our clock, whole, nothing in it that counts no more --> a judgement, to all
//! judgements of a quorum, beside a report or by themselves --> it may be committed to and followed, whatever the clock
//! ```
//! Promise: whatever is committed to or followed here was right in its time to some honest voter,
//! unless the liars are a quorum. A judgement binds nobody, so it does not wait for the disk.

use super::known::{Thing, may_hold};
use super::{BallotMessage, BallotOutput, Ballots, KNOWN_FOR, Look, SKEW_SECONDS, TWO, owner};
use crate::proposal::{Judgement, Proposal, Report, Statement, check_judgements};
use crate::{
    Admit, Approval, Approved, Batch, Change, Decision, EFFECTS_MAX, HOLDS_MAX, REFUSALS_MAX, State,
    Unproposed,
};
use folkmoot_base::{Danger, Digest, Instant, MemberId, UnixTime};
use std::collections::BTreeSet;

/// So old is the last decision before others join whoever goes on with ballots for nothing: a day.
const ASKED_SECONDS: u64 = 86_400;

impl Ballots {
    /// Judges every fresh proposal that it has not judged yet, also below its own promise.
    pub(super) fn judge_all(&mut self, look: &Look<'_>) {
        let open = |(report, proposal): &(&Report, &Proposal)| {
            let judged = self.judgements.get(report).is_some_and(|by| by.contains_key(&self.me));
            let time = proposal.decision.time;
            proposal.is_fresh()
                && !judged
                && self.is_near(look, &proposal.decision)
                && !self.is_held(look.state, time)
        };
        let open: Vec<Proposal> =
            self.proposals.iter().filter(open).map(|(_, proposal)| proposal.clone()).collect();
        for proposal in open {
            if self.is_right(look, &proposal) {
                let report = proposal.report();
                self.say_judgement(look, report);
                self.record.judged = Some(report);
                self.persist();
            }
        }
    }

    pub(super) fn say_judgement(&mut self, look: &Look<'_>, report: Report) {
        let parent = self.record.parent;
        let statement = Statement::Judge { parent, ballot: report.ballot, decision: report.decision };
        let judgement = Judgement { voter: self.me, signature: (look.sign)(&statement) };
        self.judgements.entry(report).or_default().insert(self.me, judgement.clone());
        self.out.push_back(BallotOutput::Send(BallotMessage::Judgement { parent, report, judgement }));
    }

    /// `LINE-67`: whether the time of a decision is near this voter's clock. Its own rules say that
    /// it is not before that of the last one. So a clock that is far before the line judges
    /// nothing.
    fn is_near(&self, look: &Look<'_>, decision: &Decision) -> bool {
        let off = decision.time.0.abs_diff(look.clock.0);
        let other = off > 0 && self.danger.is(Danger::LineOwnClock);
        !other && (off <= SKEW_SECONDS || self.danger.is(Danger::LineAnyClock))
    }

    /// `LINE-67`: whether a fresh proposal is right by what this voter knows now.
    fn is_right(&mut self, look: &Look<'_>, proposal: &Proposal) -> bool {
        let decision = &proposal.decision;
        self.is_vouched(look, proposal)
            && (self.counts_still(look, decision) || self.danger.is(Danger::LineCeasedCounts))
            && (self.is_whole(look, decision) || self.danger.is(Danger::LineLeavesOut))
            && (!is_bare(decision)
                || self.may_be_empty(look, decision.time)
                || after(look, decision).is_some_and(|after| moves(look.state, &after)))
    }

    /// Whether everything in a decision counts here, or did a minute ago. Approvals that an effect
    /// brings along are believed, unless this voter knows that they were taken back or ran out.
    fn counts_still(&self, look: &Look<'_>, decision: &Decision) -> bool {
        let long_over = |yes: &Approval| {
            let word = look.set.approval(&yes.subject, &yes.voter).map(|signed| signed.approval);
            let taken_back = word.is_some_and(|word| !word.is_yes() && word.replaces(yes));
            taken_back || yes.expires.0.saturating_add(KNOWN_FOR.as_secs()) < look.clock.0
        };
        decision.holds.iter().all(|request| self.counts(look, &Thing::Holding(*request)))
            && decision.refusals.iter().all(|one| self.counts(look, &Thing::Refusal(one.refusal())))
            && decision.effects.iter().all(|one| {
                let counts = self.counts(look, &Thing::Effect(one.effect.subject().digest));
                counts || !one.approvals().any(|yes| long_over(&yes))
            })
    }

    /// Whether a decision leaves nothing out that has been known here for a minute, up to its
    /// bounds.
    fn is_whole(&mut self, look: &Look<'_>, decision: &Decision) -> bool {
        let carriable = self.carriable(look);
        let long = |since: &Instant| look.now.since(*since) >= KNOWN_FOR;
        let mut known = self.known.iter().filter(|(_, since)| long(since)).map(|(thing, _)| thing);
        !known.any(|thing| match thing {
            Thing::Effect(digest) => {
                decision.effects.len() < EFFECTS_MAX && leaves_out(look, decision, &carriable, digest)
            }
            Thing::Holding(request) => {
                let open = decision.holds.len() < HOLDS_MAX && may_hold(look, request, decision.time);
                open && decision.holds.binary_search(request).is_err()
            }
            Thing::Refusal(known) => {
                let there = decision.refusals.iter().any(|one| one.request == known.request);
                decision.refusals.len() < REFUSALS_MAX && !there
            }
        })
    }

    /// Whether this voter has judged or committed at this number: then it goes on with ballots
    /// until the number is decided, so that nothing that was judged stays in a drawer.
    pub(super) fn has_begun(&self) -> bool {
        let begun = self.record.judged.is_some() || self.record.committed.is_some();
        begun && !self.danger.is(Danger::LineJudgedRests)
    }

    /// Whether a decision of this time that does nothing has a reason here.
    pub(super) fn may_be_empty(&self, look: &Look<'_>, time: UnixTime) -> bool {
        let due = self.has_begun() || self.is_asked(look) || past_is_ahead(look, time) || self.is_idle(look);
        due || self.danger.is(Danger::LineJudgesEmpty)
    }

    /// Whether the last decision is so old that the next may only tell the time: something is
    /// approved, and does not run out before.
    pub(super) fn is_idle(&self, look: &Look<'_>) -> bool {
        let time = look.state.time().0;
        let old = || look.clock.0 >= time.saturating_add(look.state.idle_seconds(&self.me));
        time > 0 && old() && look.set.approvals().next().is_some()
    }

    /// Whether another voter goes on with ballots, and nothing was decided for a day: it has judged
    /// something that did not come here, and alone cannot end that. So a liar makes one decision a
    /// day at most that does nothing.
    pub(super) fn is_asked(&self, look: &Look<'_>) -> bool {
        let old = look.clock.0 >= look.state.time().0.saturating_add(ASKED_SECONDS);
        let other = self.promised.iter().any(|(voter, ballot)| *voter != self.me && *ballot > 0);
        old && other && !self.danger.is(Danger::LineJudgedRests)
    }

    /// A voter judges at most two proposals of a ballot, as far as anybody keeps that.
    pub(super) fn hear_judgement(&mut self, look: &Look<'_>, report: Report, judgement: Judgement) {
        let voter = judgement.voter;
        let given = self.judgements.iter().filter(|(other, by)| {
            other.ballot == report.ballot && **other != report && by.contains_key(&voter)
        });
        let room = given.count() < TWO;
        if look.state.may_vote(&voter) && report.ballot <= self.last_ballot(look) && room {
            self.judgements.entry(report).or_default().entry(voter).or_insert(judgement);
        }
    }

    /// Keeps the judgements that came with a proposal.
    pub(super) fn keep_judgements(&mut self, judged: Report, judgements: Vec<Judgement>) {
        let kept = self.judgements.entry(judged).or_default();
        for one in judgements {
            kept.entry(one.voter).or_insert(one);
        }
    }

    /// `LINE-66`: whether a quorum has judged what a proposal is of, when that was fresh.
    pub(super) fn is_judged(&self, look: &Look<'_>, proposal: &Proposal) -> bool {
        let by = self.judgements.get(&proposal.judged());
        let yes: BTreeSet<MemberId> = by.into_iter().flat_map(|by| by.keys().copied()).collect();
        look.state.is_quorum(&yes) || self.danger.is(Danger::LineNoJudgements)
    }

    /// The judgements that are here on what a proposal is of.
    pub(super) fn judgements_of(&self, proposal: &Proposal) -> Vec<Judgement> {
        let by = self.judgements.get(&proposal.judged());
        by.into_iter().flat_map(|by| by.values().cloned()).collect()
    }

    /// `LINE-68`: whether judgements of a quorum come with what is followed or reported, and none
    /// without that.
    pub(super) fn check_judgements(
        &self,
        look: &Look<'_>,
        followed: Option<&Proposal>,
        judgements: &[Judgement],
    ) -> Result<(), Unproposed> {
        match followed {
            None if judgements.is_empty() => Ok(()),
            Some(_) if self.danger.is(Danger::LineNoJudgements) => Ok(()),
            Some(_) => check_judgements(judgements, look.state),
            None => Err(Unproposed::Judgements),
        }
    }
}

/// Whether something has ended since the last decision that none holds, and a decision of this time
/// would: it takes the time there, also for members without a clock.
pub(super) fn past_is_ahead(look: &Look<'_>, time: UnixTime) -> bool {
    let past = look.set.time(look.state);
    past > look.state.time() && past <= time
}

/// Whether nobody asked for anything in a decision.
pub(super) fn is_bare(decision: &Decision) -> bool {
    decision.effects.is_empty() && decision.holds.is_empty() && decision.refusals.is_empty()
}

/// Whether something follows by itself from one state to the next: terms end, the threshold follows
/// the size.
pub(super) fn moves(before: &State, after: &State) -> bool {
    before.roster() != after.roster() || before.charter().digest() != after.charter().digest()
}

fn after(look: &Look<'_>, decision: &Decision) -> Option<State> {
    look.state.after(decision, |request| look.set.admit(request)).ok()
}

/// Whether a decision lacks one of the effects that could be carried out, and that could be in it
/// or after it.
fn leaves_out(look: &Look<'_>, decision: &Decision, carriable: &[Approved], digest: &Digest) -> bool {
    let names = |one: &&Approved| one.effect.subject().digest == *digest;
    let left = carriable.iter().find(names).filter(|_| !decision.effects.iter().any(|one| names(&one)));
    left.is_some_and(|left| {
        let still = after(look, decision).is_some_and(|after| after_still(look, &after, left));
        still || takes_too(look, decision, left)
    })
}

/// Whether a decision could carry out one effect more, behind its own. Afterwards it may be too
/// late: whose term ends with the decision is out without having been expelled, and an electorate
/// that names it stands no more. A sharing may wait (`LINE-69`), and of a Retime it is enough that
/// it can follow.
fn takes_too(look: &Look<'_>, decision: &Decision, left: &Approved) -> bool {
    let change = &left.effect.change;
    let over = |admit: &Admit| admit.ends <= decision.time;
    if matches!(change, Change::Sharing { .. } | Change::Retime { .. })
        || change.request().and_then(|request| look.set.admit(request)).is_some_and(over)
    {
        return false;
    }
    let mut effects = decision.effects.clone();
    owner::add(look, &mut effects, left);
    let (holds, refusals) = (decision.holds.clone(), decision.refusals.clone());
    let batch = Batch { time: decision.time, effects, holds, refusals };
    look.state.takes(batch, |request| look.set.admit(request))
}

/// Whether an effect could still be carried out after a decision.
fn after_still(look: &Look<'_>, after: &State, approved: &Approved) -> bool {
    let change = &approved.effect.change;
    let named = change.request().and_then(|request| look.set.admit(request));
    let stamp = after.stamp_with(change, named);
    let yes = approved.approvals().filter(|one| after.counts(one, stamp, after.time()).is_ok());
    let yes = yes.map(|one| one.voter).collect();
    after.carries(change, &yes).is_ok()
        && after.would_stand(change, approved.effect.is_forced(), named).is_ok()
}
