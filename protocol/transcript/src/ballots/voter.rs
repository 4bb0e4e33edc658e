//! Commits and promises.

use super::{Ballots, Look, PATIENCE};
use crate::Unproposed;
use crate::proposal::{Judgement, Promise, Proposal, Report};
use core::time::Duration;
use folkmoot_base::{Danger, MemberId};

/// By how many times patience grows, at the most.
const PATIENCE_GROWTH_MAX: u32 = 15;

impl Ballots {
    /// Judges and commits to whatever it may. It commits once in a ballot, in none below what it
    /// promised or committed in.
    pub(super) fn commit_all(&mut self, look: &Look<'_>) {
        if !look.state.may_vote(&self.me) {
            return;
        }
        self.judge_all(look);
        if self.record.owed.is_some() {
            return;
        }
        let reports: Vec<Report> = self.proposals.keys().copied().collect();
        for report in reports {
            let Some(proposal) = self.proposals.get(&report).cloned() else { continue };
            if self.may_commit(look, &proposal) {
                self.note_commit(proposal);
                self.record.promised = self.record.promised.max(report.ballot);
                self.persist();
                self.say_commit(look, report);
            }
        }
    }

    /// `LINE-66`: once a quorum has judged it, no clock is asked.
    fn may_commit(&self, look: &Look<'_>, proposal: &Proposal) -> bool {
        let ballot = proposal.ballot();
        let last = self.record.committed.as_ref().map(Proposal::ballot);
        let once = last.is_none_or(|last| last < ballot) || self.danger.is(Danger::LineTwoCommits);
        let promised = ballot >= self.record.promised || self.danger.is(Danger::LineBelowPromise);
        once && promised && self.is_judged(look, proposal) && self.is_vouched(look, proposal)
    }

    fn note_commit(&mut self, proposal: Proposal) {
        self.record.judgements = self.judgements_of(&proposal);
        self.record.committed = Some(proposal);
    }

    /// A commit that this voter gave before its disk was restored can be reported once it is known
    /// to what, and by whose judgements.
    pub(super) fn pay(&mut self, look: &Look<'_>) {
        let owed = self.record.owed.and_then(|owed| self.proposals.get(&owed));
        if let Some(proposal) = owed.filter(|proposal| self.is_judged(look, proposal)).cloned() {
            self.record.owed = None;
            self.note_commit(proposal);
            self.persist();
        }
    }

    /// `LINE-06`, `LINE-54`: whether the approvals here let in whomever a proposal holds, and the
    /// line that it goes over to is known here.
    pub(super) fn is_vouched(&self, look: &Look<'_>, proposal: &Proposal) -> bool {
        let vouched =
            |request: &folkmoot_base::Digest| look.set.vouches(look.state, request, proposal.decision.time);
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
    fn bound_by(&mut self, ballot: u32, report: Option<&(Proposal, Vec<Judgement>)>) {
        let last = self.record.committed.as_ref().map(Proposal::ballot);
        let forgot = report.filter(|(proposal, _)| last.is_none_or(|last| last < proposal.ballot()));
        if ballot <= self.record.promised && forgot.is_none() {
            return;
        }
        if let Some((proposal, judgements)) = forgot {
            self.keep_judgements(proposal.judged(), judgements.clone());
            self.note_commit(proposal.clone());
        }
        self.record.promised = self.record.promised.max(ballot);
        self.persist();
    }

    /// `LINE-68`: a promise counts if a quorum has judged what it reports, and that can be worked
    /// out here.
    pub(super) fn hear_promise(
        &mut self,
        look: &Look<'_>,
        ballot: u32,
        promise: Promise,
        report: Option<(Proposal, Vec<Judgement>)>,
    ) -> Result<(), Unproposed> {
        let voter: MemberId = promise.voter;
        if !look.state.may_vote(&voter) || ballot == 0 {
            return Ok(());
        }
        let highest = self.promised.entry(voter).or_default();
        *highest = ballot.max(*highest);
        if report.as_ref().map(|(proposal, _)| proposal.report()) != promise.report {
            return Err(Unproposed::NotHighest);
        }
        if report.as_ref().is_some_and(|(proposal, _)| proposal.ballot() >= ballot) {
            return Err(Unproposed::Promises);
        }
        if voter == self.me {
            self.bound_by(ballot, report.as_ref());
        }
        if ballot > self.last_ballot(look) {
            return Ok(());
        }
        if let Some((report, judgements)) = report {
            if !self.is_vouched(look, &report) {
                return Ok(());
            }
            let name = report.report();
            // One for each voter besides.
            let most = look.state.places().len().saturating_add(2);
            self.hear_proposal(look, report, judgements, most)?;
            if !self.proposals.contains_key(&name) {
                return Ok(());
            }
        }
        // A voter promises a ballot once: the first word stands.
        self.promises.entry(ballot).or_default().entry(voter).or_insert(promise);
        Ok(())
    }
}
