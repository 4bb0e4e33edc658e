//! A threshold that follows the group's size: the members' programs propose and approve its
//! updates; no person is asked.
//!
//! The charter, which everybody signed, says when an update is due and to what, so there is nothing
//! to judge. A quorum of voters must have seen the size. Each voter waits its turn before it
//! proposes, so that normally only the first speaks.

use crate::ballots::is_update;
use crate::desk::{Admission, Call};
use folkmoot_base::UnixTime;

/// Seconds between one voter's turn and the next one's, and before a closed proposal is made again.
const TURN_SECONDS: u64 = 2;
/// Turns are counted up to here; all voters after that speak together.
const TURNS_MAX: u64 = 30;

impl Admission {
    /// `ADM-37`: proposes the update that is due, if nobody has.
    pub(crate) fn follow_size(&mut self, call: &Call<'_>, time: UnixTime) {
        let (me, roster) = (call.identity.member(), call.transcript.roster());
        let due = roster.threshold_update().filter(|update| call.transcript.would_stand(update).is_ok());
        let open = self.ballots.proposals().any(|(_, proposal)| is_update(&proposal.decision, roster));
        let Some(update) = due.filter(|_| roster.may_vote(&me) && !open) else {
            self.resize_at = None;
            return;
        };
        let place = roster.electorate().voters.iter().position(|voter| *voter == me).unwrap_or_default();
        let turn = u64::try_from(place).unwrap_or(TURNS_MAX).min(TURNS_MAX).saturating_mul(TURN_SECONDS);
        let at = *self.resize_at.get_or_insert(UnixTime(time.0.saturating_add(turn)));
        if time < at {
            return;
        }
        self.resize_at = None;
        if let Err(error) = self.propose(call, update) {
            self.trace(format!("update of the threshold not proposed: {error}"));
        }
    }

    /// `ADM-37`: approves every update that is due, whoever proposed it.
    pub(crate) fn approve_updates(&mut self, call: &Call<'_>) {
        let roster = call.transcript.roster();
        if !roster.may_vote(&call.identity.member()) {
            return;
        }
        let open = self.ballots.proposals().filter(|(_, one)| one.opinion.is_none());
        let updates: Vec<_> =
            open.filter(|(_, one)| is_update(&one.decision, roster)).map(|(digest, _)| *digest).collect();
        for update in updates {
            if let Err(error) = self.vote_proposal(call, update, true) {
                self.trace(format!("update of the threshold not approved: {error}"));
            }
        }
    }
}
