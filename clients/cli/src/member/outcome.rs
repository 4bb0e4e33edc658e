//! What became of a vote: whether it counts, beside whose, and what the matter waits for.
//!
//! ```text
//! order --> the member's transcript has the word --> counted: 1 of 2 votes, by whom
//!       |                                        '-> the matter is over: admitted, decided, rejected
//!       '-> not within a few seconds             --> waiting: not ordered yet
//! ```

use super::decide::Matter;
use super::process::Process;
use super::render;
use crate::exit::{Exit, Failure};
use folkmoot::{Awaits, Closed, Counting, Outcome, Stands};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// So many seconds an answer waits for the vote's place in the group's order, unless told
/// otherwise, and at most.
const ORDERED: u64 = 4;
const ORDERED_MAX: u64 = 10;
/// The member is looked at so often meanwhile, if it says nothing.
const LOOK: Duration = Duration::from_millis(50);

/// A vote that was given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ballot {
    pub(super) approve: bool,
    /// So many seconds may pass until it is ordered.
    pub(super) wait: Option<u64>,
}

impl Process {
    /// Waits until the vote counts, or for a few seconds, and says which.
    pub(super) async fn outcome(&mut self, matter: &Matter, ballot: Ballot) -> Result<Value, Failure> {
        if self.office().await?.is_some() {
            return self.at_office(matter, ballot.approve).await;
        }
        let end = Instant::now() + Duration::from_secs(ballot.wait.unwrap_or(ORDERED).min(ORDERED_MAX));
        let mut need = 0;
        loop {
            let known = self.moot.outcome(matter.subject).await?;
            need = known.as_ref().and_then(|known| known.need).unwrap_or(need);
            let is_late = Instant::now() >= end;
            if is_settled(known.as_ref(), ballot.approve) || is_late {
                if let Some(why) = known.as_ref().and_then(|known| uncounted(known, ballot.approve)) {
                    let hint = format!("the vote is known to the group and does not count: {why}");
                    return Err(Failure::new(Exit::Refused, hint));
                }
                return Ok(self.told(known.as_ref(), matter, ballot.approve, need));
            }
            if let Ok(event) = tokio::time::timeout(LOOK, self.moot.next()).await
                && let Some(event) = event?
            {
                self.hear(event).await?;
            }
        }
    }

    /// The authority's own person decides alone, at once.
    async fn at_office(&self, matter: &Matter, approve: bool) -> Result<Value, Failure> {
        let open = self.moot.petitions().await?.iter().any(|one| one.subject == matter.subject);
        let over = (!open).then_some(if approve { "admitted" } else { "rejected" });
        let waits = (open && approve).then_some("admission");
        Ok(json!({
            "state": "counted", "have": u8::from(approve), "need": 1, "waits": waits, "over": over,
            "approved": [], "rejected": [],
        }))
    }

    fn told(&self, known: Option<&Outcome>, matter: &Matter, approve: bool, need: u32) -> Value {
        let over = known.map_or(Some("overtaken"), |known| over_word(known.stands, matter.kind));
        let counted = known.is_some_and(|known| counts(known, approve));
        let (state, waits) = match (over, counted) {
            (Some(_), true) => ("counted", None),
            (Some(_), false) => ("overtaken", None),
            (None, true) => ("counted", known.and_then(|known| waits_word(known.stands))),
            (None, false) => ("waiting", Some("order")),
        };
        let (yes, no) = known.map_or((&[][..], &[][..]), |known| (&known.approved, &known.rejected));
        json!({
            "state": state, "have": yes.len(), "need": need, "waits": waits, "over": over,
            "approved": render::all(&self.names, yes), "rejected": render::all(&self.names, no),
            "rule": known.and_then(|known| known.rule.clone()),
        })
    }
}

fn is_settled(known: Option<&Outcome>, approve: bool) -> bool {
    known.is_none_or(|known| matches!(known.stands, Stands::Over(_)) || counts(known, approve))
}

fn counts(known: &Outcome, approve: bool) -> bool {
    known.vote == Some((approve, Counting::Counted))
}

/// Why the vote does not count, though the group knows it.
fn uncounted(known: &Outcome, approve: bool) -> Option<&str> {
    match (&known.vote, known.stands) {
        (Some((said, Counting::Uncounted(why))), Stands::Open(_)) if *said == approve => Some(why),
        _ => None,
    }
}

/// How it ended, in a word.
fn over_word(stands: Stands, kind: &str) -> Option<&'static str> {
    let Stands::Over(why) = stands else { return None };
    Some(match why {
        Closed::Granted if kind == "proposal" => "decided",
        Closed::Granted => "admitted",
        Closed::Rejected => "rejected",
        Closed::Expired => "expired",
        Closed::Overtaken => "overtaken",
        Closed::Crowded => "crowded",
        Closed::Withdrawn => "withdrawn",
    })
}

/// What it waits for, in a word.
fn waits_word(stands: Stands) -> Option<&'static str> {
    let Stands::Open(awaits) = stands else { return None };
    Some(match awaits {
        Awaits::Votes => "votes",
        Awaits::Decision => "decision",
        Awaits::Admission => "admission",
        Awaits::Authority => "authority",
        Awaits::NewShares => "new-shares",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(stands: Stands, vote: Option<(bool, Counting)>) -> Outcome {
        let (approved, rejected) = (Vec::new(), Vec::new());
        Outcome { subject: [0; 32], stands, vote, approved, rejected, need: Some(2), rule: None }
    }

    #[test]
    fn a_vote_is_settled_once_it_counts_or_the_matter_is_over() {
        let open = Stands::Open(Awaits::Votes);
        for (vote, settled) in [
            (None, false),
            (Some((true, Counting::Waiting)), false),
            (Some((false, Counting::Counted)), false),
            (Some((true, Counting::Uncounted("it ran out".into()))), false),
            (Some((true, Counting::Counted)), true),
        ] {
            assert_eq!(is_settled(Some(&outcome(open, vote)), true), settled);
        }
        assert!(is_settled(Some(&outcome(Stands::Over(Closed::Withdrawn), None)), true));
        let refused = outcome(open, Some((true, Counting::Uncounted("it ran out".into()))));
        assert_eq!((uncounted(&refused, true), uncounted(&refused, false)), (Some("it ran out"), None));
    }

    #[test]
    fn each_end_has_a_word_of_its_own() {
        let all = [
            Closed::Granted,
            Closed::Rejected,
            Closed::Expired,
            Closed::Overtaken,
            Closed::Crowded,
            Closed::Withdrawn,
        ];
        let words: std::collections::BTreeSet<_> =
            all.into_iter().filter_map(|why| over_word(Stands::Over(why), "proposal")).collect();
        assert_eq!(words.len(), all.len());
        assert_eq!(over_word(Stands::Over(Closed::Granted), "request"), Some("admitted"));
        assert_eq!(over_word(Stands::Open(Awaits::Votes), "request"), None);
        assert_eq!(waits_word(Stands::Open(Awaits::NewShares)), Some("new-shares"));
    }
}
