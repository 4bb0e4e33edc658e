//! What is past: one member has to say so.
//!
//! Each waits its turn after it noticed, by its place among the members, so that normally the first
//! speaks alone; a second item of the same time is the same item.

use crate::call::{Call, Out};
use folkmoot_base::UnixTime;
use folkmoot_transcript::Item;

/// Seconds between one member's turn and the next one's.
const TURN_SECONDS: u64 = 2;
/// Turns are counted up to here; all members after that speak together.
const TURNS_MAX: u64 = 30;
/// Seconds after which an item that did not come back is made again.
const AGAIN_SECONDS: u64 = 30;

/// The Past that was noticed, and when it is our turn to say it (again).
#[derive(Debug, Default)]
pub(crate) struct Expiring(Option<(UnixTime, UnixTime)>);

impl Expiring {
    /// `ADM-36`: says what is past by a clock that is well past it.
    pub(crate) fn work(&mut self, call: &Call<'_>, time: UnixTime, out: &mut Out) {
        let (me, roster) = (call.me(), call.transcript.roster());
        let past = roster.is_member(&me).then(|| call.transcript.unsaid_past(time)).flatten();
        let Some(past) = past else {
            self.0 = None;
            return;
        };
        let place = roster.members().keys().position(|member| *member == me).unwrap_or_default();
        let turn = u64::try_from(place).unwrap_or(TURNS_MAX).min(TURNS_MAX).saturating_mul(TURN_SECONDS);
        let first = UnixTime(time.0.saturating_add(turn));
        let due = self.0.filter(|(noticed, _)| *noticed == past).map_or(first, |(_, due)| due);
        let again = UnixTime(time.0.saturating_add(AGAIN_SECONDS));
        self.0 = Some((past, if time < due { due } else { again }));
        if time >= due {
            out.item(Item::Past { time: past }.encode());
        }
    }
}
