//! What was decided before this process met its group is no news: a newcomer is told how much there
//! is of it, and a member that was away is told when it was.

use super::process::Process;
use crate::exit::Failure;
use folkmoot::{Event, MemberId, UnixTime};
use folkmoot_transcript::{Ending, Transcript, admission};
use serde_json::{Value, json};

/// Whoever was alone for less than this was not away.
const AWAY_SECONDS: u64 = 60;

/// How far this process has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Met {
    started: UnixTime,
    /// It asks to be let in, and has not been.
    newcomer: bool,
    /// It is in a view with others.
    others: bool,
}

impl Met {
    pub(super) fn new(newcomer: bool) -> Self {
        Self { started: folkmoot::tools::wall_clock(), newcomer, others: false }
    }

    /// In a view of so many.
    pub(super) fn view(&mut self, members: usize) {
        (self.newcomer, self.others) = (false, members > 1);
    }

    /// Whether something that was decided then has been missed.
    fn missed(&self, decided: UnixTime, now: UnixTime) -> bool {
        !self.others && (decided <= self.started || decided.0.saturating_add(AWAY_SECONDS) < now.0)
    }
}

/// When somebody came or went, and whether `me` approved of that.
fn when(transcript: &Transcript, member: &MemberId, me: &MemberId) -> Option<(UnixTime, bool)> {
    let (roster, decisions) = (transcript.roster(), transcript.line().decisions());
    let decision = |number: &u64| decisions.get(number).map(|standing| &standing.proposal.decision);
    let Some(held) = roster.member(member) else {
        let Some(Ending::Expelled { number }) = roster.former(member).map(|former| former.ending) else {
            return None;
        };
        let decision = decision(&number)?;
        let mut proofs = decision.effects.iter().flat_map(|approved| &approved.proofs);
        return Some((decision.time, proofs.any(|proof| proof.voter == *me)));
    };
    let mut approvals = transcript.set().approvals_of(admission(held.request));
    let own = approvals.any(|approval| approval.voter == *me);
    let holds = decisions.keys().filter_map(decision).find(|one| one.holds.contains(&held.request));
    let begins = || transcript.set().admit(&held.request).map(|admit| admit.begins);
    Some((holds.map(|one| one.time).or_else(begins)?, own))
}

impl Process {
    /// Says of a change of members in the past that it is one: `past` is `before-joining` or
    /// `while-away`, and `decided` the time. A newcomer that comes in is told how much was before.
    pub(super) async fn tell_past(&mut self, event: &Event, value: &mut Value) -> Result<(), Failure> {
        let (Event::Admitted { member, .. } | Event::Expelled { member }) = event else { return Ok(()) };
        let (member, me) = (*member, self.moot.me());
        if member == me {
            let comes = core::mem::take(&mut self.met.newcomer) && matches!(event, Event::Admitted { .. });
            return if comes { self.sum_up().await } else { Ok(()) };
        }
        let decided = self.with_transcript(move |known| when(known, &member, &me)).await?;
        let now = folkmoot::tools::wall_clock();
        let missed = decided.filter(|(at, own)| !own && self.met.missed(*at, now));
        let past = match (self.met.newcomer, missed) {
            (true, _) => "before-joining",
            (false, Some(_)) => "while-away",
            (false, None) => return Ok(()),
        };
        if let Some(fields) = value.as_object_mut() {
            let decided = decided.map(|(at, _)| at.to_string());
            fields.extend([("past".to_owned(), past.into()), ("decided".to_owned(), decided.into())]);
        }
        Ok(())
    }

    async fn sum_up(&self) -> Result<(), Failure> {
        let number = self.with_transcript(|known| known.state().head().number).await?;
        if number > 0 {
            self.show(&json!({ "event": "past", "decisions": number }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_decided_before_the_start_or_long_ago_has_been_missed_until_others_are_met() {
        let mut met = Met { started: UnixTime(1_000), newcomer: false, others: false };
        let missed = |met: &Met, at, now| met.missed(UnixTime(at), UnixTime(now));
        assert!(missed(&met, 1_000, 1_001) && missed(&met, 1_100, 1_161));
        assert!(!missed(&met, 1_001, 1_001) && !missed(&met, 1_100, 1_160));
        met.view(2);
        assert!(!missed(&met, 999, 1_001));
        met.view(1);
        assert!(missed(&met, 999, 1_001));
    }
}
