//! Certificates that ran out: one member has to say so.
//!
//! Each waits its turn after it noticed, by its place among the members, so that normally the first
//! speaks alone; a second item for the same end is the same item.

use crate::call::{Call, Out};
use folkmoot_base::UnixTime;
use folkmoot_transcript::{Expire, Item};
use std::collections::BTreeMap;

/// Seconds between one member's turn and the next one's.
const TURN_SECONDS: u64 = 2;
/// Turns are counted up to here; all members after that speak together.
const TURNS_MAX: u64 = 30;
/// Seconds after which an item that did not come back is made again.
const AGAIN_SECONDS: u64 = 30;
/// Most items made at one reading of the clock.
const BATCH_MAX: usize = 16;

/// Which ends of certificates were noticed, and when it is our turn to enter them (again).
#[derive(Debug, Default)]
pub(crate) struct Expiring(BTreeMap<Expire, UnixTime>);

impl Expiring {
    /// `ADM-36`: says that terms are over, by a clock that may be ahead of the others' by the skew:
    /// nobody takes it before its own clock shows so.
    pub(crate) fn work(&mut self, call: &Call<'_>, time: UnixTime, out: &mut Out) {
        let (me, roster) = (call.me(), call.transcript.roster());
        if !roster.is_member(&me) {
            return;
        }
        let sure = call.early();
        let late = call.transcript.set().expirable(call.transcript.state(), sure);
        self.0.retain(|expire, _| late.contains(expire));
        if late.is_empty() {
            return;
        }
        let place = roster.members().keys().position(|member| *member == me).unwrap_or_default();
        let turn = u64::try_from(place).unwrap_or(TURNS_MAX).min(TURNS_MAX).saturating_mul(TURN_SECONDS);
        let mut room = BATCH_MAX;
        for expire in late {
            let first = UnixTime(time.0.saturating_add(turn));
            let due = self.0.entry(expire).or_insert(first);
            if room == 0 || time < *due {
                continue;
            }
            *due = UnixTime(time.0.saturating_add(AGAIN_SECONDS));
            room = room.saturating_sub(1);
            let item = Item::Expire { member: expire.member, request: expire.request };
            out.item(item.encode());
        }
    }
}
