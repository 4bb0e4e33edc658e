//! Going over to another line of decisions, taking one of ours that waits for the clock, or
//! skipping those between, because the person says so.

use super::process::Process;
use crate::exit::{Exit, Failure};
use crate::words::of_head;
use folkmoot::tools::Command;
use folkmoot_base::Head;
use folkmoot_transcript::KnownHead;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// The member is looked at so often meanwhile, if it says nothing.
const LOOK: Duration = Duration::from_millis(100);

impl Process {
    pub(super) async fn resolve(&mut self, text: &str, everybody: bool, wait: u64) -> Result<Value, Failure> {
        let named: KnownHead = text
            .parse()
            .map_err(|error: folkmoot_transcript::NoHead| Failure::new(Exit::Usage, error.to_string()))?;
        if let Some(waits) = self.waits(&named).await? {
            if everybody {
                let why = "this decision is of the line that this member is on, and waits here: --everybody is for \
                           another line";
                return Err(Failure::new(Exit::Usage, why));
            }
            return self.go_to(waits, wait).await;
        }
        let theirs = self.other_line(&named).await?;
        if everybody {
            let answer = json!({ "theirs": theirs.whole(), "theirs_words": of_head(&theirs) });
            return self.propose(Command::Rejoin { head: theirs }, false, answer).await;
        }
        self.go_to(theirs, wait).await
    }

    /// A decision of our own line, if it waits for this machine's clock, or is offered in place of
    /// those between; or our head, if the next one waits for the date.
    async fn waits(&self, named: &KnownHead) -> Result<Option<Head>, Failure> {
        let times = self.moot.times().await?;
        let ours = times.date.map(|_| times.head);
        let known = times.ahead.iter().chain(times.offered.last()).map(|one| one.head);
        Ok(known.chain(ours).find(|head| named.names(head)))
    }

    async fn go_to(&mut self, theirs: Head, wait: u64) -> Result<Value, Failure> {
        self.moot.order(Command::Resolve { head: theirs }).await?;
        let end = Instant::now() + Duration::from_secs(wait);
        loop {
            let on_it =
                move |state: &folkmoot_transcript::State| state.has_on_line(&theirs).then(|| state.head());
            if let Some(head) = self.with_transcript(move |known| on_it(known.state())).await? {
                return Ok(json!({
                    "theirs": theirs.whole(), "theirs_words": of_head(&theirs), "head": head.whole(),
                    "head_words": of_head(&head),
                }));
            }
            if Instant::now() >= end {
                let hint = "no member on the other line has shown it yet. While this program runs, the member \
                            goes over as soon as it meets one";
                return Err(Failure::new(Exit::TimedOut, hint));
            }
            if let Ok(event) = tokio::time::timeout(LOOK, self.moot.next()).await
                && let Some(event) = event?
            {
                self.hear(event).await?;
            }
        }
    }

    /// The other line's decision at a fork that was shown to this member.
    async fn other_line(&self, named: &KnownHead) -> Result<Head, Failure> {
        let forks = self.with_transcript(|known| {
            known.line().forks().values().map(|fork| fork.theirs.head()).collect::<Vec<_>>()
        });
        let forks = forks.await?;
        let found = forks.iter().find(|head| named.names(head));
        found.copied().ok_or_else(|| {
            let known: Vec<String> =
                forks.iter().map(|head| format!("{} (in words: {})", head.whole(), of_head(head))).collect();
            let hint = match known.as_slice() {
                [] => "no other line of decisions has been shown to this member".to_owned(),
                known => format!(
                    "no other line has this decision; those that were shown begin with {}",
                    known.join(", ")
                ),
            };
            Failure::new(Exit::Usage, hint)
        })
    }
}
