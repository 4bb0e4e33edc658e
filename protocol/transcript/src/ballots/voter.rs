//! Commits and promises.

use super::{Ballots, Entries, KNOWN_FOR, Look, PATIENCE, SKEW_SECONDS};
use crate::proposal::{Promise, Proposal, Report};
use crate::{Approved, EFFECTS_MAX, HOLDS_MAX, REFUSALS_MAX, Refused, State, Unproposed};
use core::time::Duration;
use folkmoot_base::{Danger, MemberId};

/// By how many times patience grows, at the most.
const PATIENCE_GROWTH_MAX: u32 = 15;

impl Ballots {
    /// Commits to whatever it may: once in a ballot, in none below what it promised or committed
    /// in.
    pub(super) fn commit_all(&mut self, look: &Look<'_>) {
        if !look.state.may_vote(&self.me) || self.record.owed.is_some() {
            return;
        }
        let reports: Vec<Report> = self.proposals.keys().copied().collect();
        for report in reports {
            let Some(proposal) = self.proposals.get(&report).cloned() else { continue };
            if self.may_commit(look, &proposal) {
                self.record.committed = Some(proposal);
                self.record.promised = self.record.promised.max(report.ballot);
                self.persist();
                self.say_commit(look, report);
            }
        }
    }

    fn may_commit(&mut self, look: &Look<'_>, proposal: &Proposal) -> bool {
        let ballot = proposal.ballot();
        let last = self.record.committed.as_ref().map(Proposal::ballot);
        let once = last.is_none_or(|last| last < ballot) || self.danger.is(Danger::LineTwoCommits);
        let promised = ballot >= self.record.promised || self.danger.is(Danger::LineBelowPromise);
        let (time, clock) = (proposal.decision.time.0, look.clock.0);
        let ahead = time > clock.saturating_add(SKEW_SECONDS);
        let behind = proposal.is_fresh() && time.saturating_add(SKEW_SECONDS) < clock;
        let other = time != clock && self.danger.is(Danger::LineOwnClock);
        if !once || !promised || ahead || behind || other {
            return false;
        }
        if proposal.is_fresh() { self.is_whole(look, proposal) } else { self.is_vouched(look, proposal) }
    }

    /// `LINE-67`: what a fresh proposal holds counts here, and it leaves nothing out that has
    /// counted here for a minute.
    fn is_whole(&mut self, look: &Look<'_>, proposal: &Proposal) -> bool {
        let (carriable, entries) = (self.carriable(look), self.entries(look));
        let Entries { held: holdable, refused: refusable, .. } = &*entries;
        let decision = &proposal.decision;
        let held = decision.holds.iter().all(|request| holdable.contains(request));
        if !held || !Self::shows(look, proposal) {
            return false;
        }
        let long = |name: &folkmoot_base::Digest| {
            self.known.get(name).is_some_and(|since| look.now.since(*since) >= KNOWN_FOR)
        };
        let genuine = |one: &Refused| refusable.iter().any(|known| known.refusal() == one.refusal());
        let refused = |one: &Refused| decision.refusals.iter().any(|there| there.request == one.request);
        let room = decision.refusals.len() < REFUSALS_MAX;
        if !decision.refusals.iter().all(genuine)
            || (room && refusable.iter().any(|one| long(&one.request) && !refused(one)))
        {
            return false;
        }
        let full = decision.holds.len() >= HOLDS_MAX;
        if !full && holdable.iter().any(|request| long(request) && !decision.holds.contains(request)) {
            return false;
        }
        let Ok(after) = look.state.after(decision, |request| Self::admit(look, request)) else {
            return false;
        };
        let full = decision.effects.len() >= EFFECTS_MAX;
        full || !carriable.iter().any(|approved| {
            let subject = approved.effect.subject();
            let there = decision.effects.iter().any(|one| one.effect.subject() == subject);
            long(&subject.digest) && !there && after_still(look, &after, approved)
        })
    }

    /// `LINE-06`, `LINE-54`: whether the approvals here let in whomever a proposal holds, and the
    /// line that it goes over to is known here.
    fn is_vouched(&self, look: &Look<'_>, proposal: &Proposal) -> bool {
        let vouched = |request: &folkmoot_base::Digest| look.set.vouches(look.state, request);
        let vouched = proposal.decision.holds.iter().all(vouched) && Self::shows(look, proposal);
        vouched || self.danger.is(Danger::LineTrustsReports)
    }

    /// Whether every line that a proposal goes over to is known here.
    fn shows(look: &Look<'_>, proposal: &Proposal) -> bool {
        let mut effects = proposal.decision.effects.iter();
        effects.all(|approved| look.set.shows(look.state, &approved.effect.change))
    }

    /// When the present ballot has lasted too long: promises the first later one whose owner can be
    /// heard.
    pub(super) fn give_up(&mut self, look: &Look<'_>, wanted: bool) {
        if !wanted || self.record.owed.is_some() {
            self.began = None;
            return;
        }
        self.began.get_or_insert(look.now);
        if self.poll_timeout().is_some_and(|deadline| look.now < deadline) {
            return;
        }
        self.began = Some(look.now);
        let Some(ballot) = self.next_ballot(look) else {
            self.resend(look);
            return;
        };
        self.record.promised = ballot;
        self.persist();
        self.say_promise(look, ballot);
        self.own(look, true);
    }

    /// How long to wait for the owner of the present ballot: longer with each ballot, so that on a
    /// slow network one of them is heard in time. A quarter of that once somebody else has given up
    /// on it: so all are in one ballot most of the time, and a liar cannot hurry them much.
    pub(super) fn patience(&self) -> Duration {
        let grown = PATIENCE.saturating_mul(self.record.promised.min(PATIENCE_GROWTH_MAX).saturating_add(1));
        let followed = self.promised.values().any(|ballot| *ballot > self.record.promised);
        if followed { grown / 4 } else { grown }
    }

    /// The ballot to promise: the first after this voter's own whose owner can be heard; but the
    /// one that so many others have promised that no lower one can come to anything.
    fn next_ballot(&self, look: &Look<'_>) -> Option<u32> {
        let committed = self.record.committed.as_ref().map(Proposal::ballot);
        let proposed = self.proposals.keys().map(|report| report.ballot).max();
        let mine = self.record.promised.max(committed.unwrap_or_default()).max(proposed.unwrap_or_default());
        let range = mine.saturating_add(1)..=self.last_ballot(look);
        let heard = |ballot: &u32| look.present.contains(&look.state.owner(*ballot));
        let alone = |ballot: &u32| {
            let above = self.at_least(*ballot);
            let below = look.state.voters().into_iter().filter(|voter| !above.contains(voter)).collect();
            !look.state.is_quorum(&below)
        };
        let others = self.promised.values().copied().filter(|ballot| range.contains(ballot) && alone(ballot));
        others.max().or_else(|| range.clone().find(heard)).or_else(|| range.clone().next())
    }

    /// What this voter promised before its disk was restored from an older one binds it again.
    fn bound_by(&mut self, ballot: u32, report: Option<&Proposal>) {
        let last = |proposal: Option<&Proposal>| proposal.map(Proposal::ballot);
        let forgot = last(report) > last(self.record.committed.as_ref());
        if ballot <= self.record.promised && !forgot {
            return;
        }
        if forgot {
            self.record.committed = report.cloned();
        }
        self.record.promised = self.record.promised.max(ballot);
        self.persist();
    }

    /// `LINE-68`: a promise counts if the commit that it reports can be worked out here.
    pub(super) fn hear_promise(
        &mut self,
        look: &Look<'_>,
        ballot: u32,
        promise: Promise,
        report: Option<Proposal>,
    ) -> Result<(), Unproposed> {
        let voter: MemberId = promise.voter;
        if !look.state.may_vote(&voter) || ballot == 0 {
            return Ok(());
        }
        let highest = self.promised.entry(voter).or_default();
        *highest = ballot.max(*highest);
        if report.as_ref().map(Proposal::report) != promise.report {
            return Err(Unproposed::NotHighest);
        }
        if voter == self.me {
            self.bound_by(ballot, report.as_ref());
        }
        if ballot > self.last_ballot(look) {
            return Ok(());
        }
        if let Some(report) = report {
            let ahead = report.decision.time.0 > look.clock.0.saturating_add(SKEW_SECONDS);
            if ahead || report.ballot() >= ballot {
                return Err(Unproposed::Promises);
            }
            if !self.is_vouched(look, &report) {
                return Ok(());
            }
            let name = report.report();
            // One for each voter besides.
            self.hear_proposal(look, report, look.state.places().len().saturating_add(2))?;
            if !self.proposals.contains_key(&name) {
                return Ok(());
            }
        }
        // A voter promises a ballot once: the first word stands.
        self.promises.entry(ballot).or_default().entry(voter).or_insert(promise);
        Ok(())
    }
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
