//! `ADM-95`: a member asks to be let go for good. Its own signature is in what the voters decide.
//! So nobody takes an expelled member for one that left, or the other way round.

use super::Voting;
use super::decide::expiry;
use crate::AdmissionError;
use crate::call::{Call, Out};
use folkmoot_base::Digest;
use folkmoot_transcript::{Change, Effect, Force, Leave, Unfit};

impl Voting {
    /// A person here wants to leave for good. Said again while it is open, it is the same proposal.
    pub(crate) fn leave(
        &mut self,
        call: &Call<'_>,
        force: Force,
        out: &mut Out,
    ) -> Result<Digest, AdmissionError> {
        let me = call.me();
        if !call.transcript.roster().is_member(&me) {
            return Err(AdmissionError::LocalNotMember(me));
        }
        let own = |effect: &&Effect| {
            effect.force == force
                && matches!(&effect.change, Change::Leave(leave) if leave.member == me)
                && call.transcript.would_stand(effect).is_ok()
        };
        let open = self.proposals.iter().map(|(_, one)| &one.effect).find(own).cloned();
        let effect = match open {
            Some(effect) => effect,
            None => {
                let (group, since) = (call.transcript.group(), call.transcript.state().head().number);
                let leave = Leave::sign(call.identity.key(), group, since, expiry(call)?);
                Effect { change: Change::Leave(leave), force }
            }
        };
        self.propose(call, effect, out)
    }
}

/// Whether a wish to leave holds still, by our clock: while nothing is decided, the transcript has
/// no time.
pub(super) fn check_wish(call: &Call<'_>, effect: &Effect) -> Result<(), Unfit> {
    match &effect.change {
        Change::Leave(leave) if leave.until < call.time() => Err(Unfit::Leave("its time is over")),
        _ => Ok(()),
    }
}
