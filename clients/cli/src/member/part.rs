//! How the member parts: a process that is told to stop leaves first, so that the others need not
//! miss it; and who left by its own wish is told apart from who was expelled.

use super::process::Process;
use super::stop_signal;
use crate::exit::Failure;
use folkmoot::MemberId;
use folkmoot_transcript::{Change, Ending, Transcript};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// Longest wait until the others know. A second signal ends it.
const PARTING: Duration = Duration::from_secs(4);

impl Process {
    /// Leaves the view, if there is anybody else in it.
    pub(super) async fn part(&mut self) -> Result<(), Failure> {
        if self.picture.view.as_ref().is_none_or(|(_, members, _)| members.len() < 2) {
            return Ok(());
        }
        self.session.leave().await?;
        let end = Instant::now() + PARTING;
        let again = stop_signal(false);
        tokio::pin!(again);
        while self.picture.view.is_some() {
            let event = tokio::select! {
                event = self.moot.next() => event,
                () = tokio::time::sleep_until(end) => return Ok(()),
                () = &mut again => return Ok(()),
            };
            match event? {
                Some(event) => self.hear(event).await?,
                None => return Ok(()),
            }
        }
        Ok(())
    }
}

/// Whether a former member asked for its removal itself.
pub(super) fn left_for_good(transcript: &Transcript, member: &MemberId) -> bool {
    let Some(Ending::Expelled { number }) = transcript.roster().former(member).map(|former| former.ending)
    else {
        return false;
    };
    let Some(standing) = transcript.line().decisions().get(&number) else { return false };
    let removal = |change: &Change| matches!(change, Change::Remove { member: gone } if gone == member);
    let mut removals =
        standing.proposal.decision.effects.iter().filter(|approved| removal(&approved.effect.change));
    removals.any(|approved| approved.proofs.iter().any(|proof| proof.voter == *member))
}

/// Says so of somebody in the answer to `status`.
pub(super) fn say_for_good(person: &mut Value) {
    if let Some(fields) = person.as_object_mut() {
        fields.insert("state".into(), "left-for-good".into());
        let why = "asked to leave the group for good, and the others agreed; it may ask for admission again";
        fields.insert("why".into(), why.into());
    }
}
