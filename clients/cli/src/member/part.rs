//! How the member parts: a process that is told to stop leaves first, so that the others need not
//! miss it; and who left by its own wish is told apart from who was expelled.

use super::process::Process;
use super::stop_signal;
use crate::exit::Failure;
use folkmoot::{MemberId, UnixTime};
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

/// How a member went for good, by the decision that let it go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Departure {
    /// It asked for that itself: its signature is in the decision (`LINE-93`).
    OwnWish,
    /// The others wanted it.
    Expelled,
    /// This member was away, and the decision is not here.
    Unseen,
    /// Its certificate ran out then. Nobody decided anything.
    Ended(UnixTime),
    /// Its admission no longer counts. Nobody decided against it.
    Late,
}

/// How a former member went.
pub(super) fn departure(transcript: &Transcript, member: &MemberId) -> Departure {
    let number = match transcript.roster().former(member).map(|former| former.ending) {
        Some(Ending::Expelled { number }) => number,
        Some(Ending::Expired { at }) => return Departure::Ended(at),
        Some(Ending::Late) => return Departure::Late,
        Some(Ending::Replaced { .. }) | None => return Departure::Expelled,
    };
    let Some(standing) = transcript.line().decisions().get(&number) else { return Departure::Unseen };
    let effects = standing.proposal.decision.effects.iter();
    let mut changes = effects.map(|approved| &approved.effect.change);
    let asked = |change: &Change| matches!(change, Change::Leave(leave) if leave.member == *member);
    if changes.any(asked) { Departure::OwnWish } else { Departure::Expelled }
}

/// Says so in the event that somebody is no longer a member.
pub(super) fn tell_departure(event: &mut Value, how: Departure) {
    let Some(fields) = event.as_object_mut() else { return };
    let own = match how {
        Departure::OwnWish => Value::Bool(true),
        Departure::Expelled => Value::Bool(false),
        Departure::Unseen => Value::Null,
        Departure::Ended(at) => {
            fields.extend([("event".to_owned(), "expired".into()), ("at".to_owned(), at.to_string().into())]);
            return;
        }
        Departure::Late => {
            fields.insert("event".into(), "late".into());
            return;
        }
    };
    fields.insert("own_wish".into(), own);
}

/// Says so of somebody in the answer to `status`.
pub(super) fn say_for_good(person: &mut Value, how: Departure) {
    let Some(fields) = person.as_object_mut() else { return };
    match how {
        Departure::Expelled | Departure::Ended(_) | Departure::Late => {}
        Departure::OwnWish => {
            fields.insert("state".into(), "left-for-good".into());
            let why =
                "asked to leave the group for good, and the others agreed; it may ask for admission again";
            fields.insert("why".into(), why.into());
        }
        Departure::Unseen => {
            let why = "it was expelled, or left for good by its own wish, while this member was away";
            fields.insert("why".into(), why.into());
        }
    }
}
