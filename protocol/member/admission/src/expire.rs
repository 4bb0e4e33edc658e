//! Certificates that ran out: one member has to say so in the transcript.
//!
//! Each waits its turn after it noticed, by its place among the members, so that normally the first
//! speaks alone; a second entry for the same end does no harm.

use crate::Output;
use crate::desk::{Admission, Call};
use folkmoot_base::UnixTime;

/// Seconds between one member's turn and the next one's.
const TURN_SECONDS: u64 = 2;
/// Turns are counted up to here; all members after that speak together.
const TURNS_MAX: u64 = 30;
/// Seconds after which an entry that did not come back is made again.
const AGAIN_SECONDS: u64 = 30;
/// Most entries made at one reading of the clock.
const BATCH_MAX: usize = 16;

impl Admission {
    pub(crate) fn expire_members(&mut self, call: &Call<'_>, time: UnixTime) {
        let roster = call.transcript.roster();
        let me = call.identity.member();
        if !roster.is_member(&me) {
            return;
        }
        self.expiring.retain(|(member, admission), _| roster.holds(member, admission));
        let sure = UnixTime(time.0.saturating_sub(self.config.skew_seconds));
        let late: Vec<_> =
            roster.run_out(sure).map(|held| (held.member, held.entry, held.not_after)).collect();
        if late.is_empty() {
            return;
        }
        let place = roster.members().position(|held| held.member == me).unwrap_or_default();
        let turn = u64::try_from(place).unwrap_or(TURNS_MAX).min(TURNS_MAX).saturating_mul(TURN_SECONDS);
        let mut room = BATCH_MAX;
        for (member, admission, end) in late {
            let first = UnixTime(time.0.saturating_add(turn));
            let due = self.expiring.entry((member, admission)).or_insert(first);
            if room == 0 || time < *due {
                continue;
            }
            *due = UnixTime(time.0.saturating_add(AGAIN_SECONDS));
            room = room.saturating_sub(1);
            // No later than necessary: anyone with a slower clock takes it that much sooner.
            let over = UnixTime(end.0.saturating_add(1));
            match call.transcript.make_expire(member, admission, over, call.identity) {
                Ok(entry) => self.out.push_back(Output::Entry(entry)),
                Err(error) => self.trace(format!("end of {member} not entered: {error}")),
            }
        }
    }
}
