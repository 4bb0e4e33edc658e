//! What a member knows of the other signers: who was silent, who failed, who lied.

use super::session::{Participants, SigningSession};
use crate::call::Call;
use crate::desk::Desk;
use folkmoot_base::MemberId;

impl Desk {
    pub(super) fn note_liars(&mut self, culprits: &[MemberId], all_know: bool) {
        for liar in culprits {
            *self.signers.liars.entry(*liar).or_default() |= all_know;
        }
        if all_know {
            self.signers.set_aside.extend(culprits.iter().copied());
        }
    }

    /// Notes who was awaited and silent in a session for new shares that stood still. All who took
    /// part know the same.
    pub(super) fn set_aside_of(&mut self, call: &Call<'_>, session: &SigningSession) {
        if session.participants.is_none() && session.key.is_some() {
            // Too few came, or too few were left: anyone who was left out may come again.
            self.signers.set_aside.clear();
        }
        let me = call.me();
        let awaited =
            session.run.as_ref().filter(|_| session.ordered).map(|run| run.awaited()).unwrap_or_default();
        let mut silent =
            awaited.into_iter().filter(|signer| *signer != me && !session.said.contains_key(signer));
        let left_out = |participants: &Participants| {
            session.ready.keys().any(|signer| !participants.all().contains(signer))
        };
        if session.round == 0
            && session.participants.as_ref().is_some_and(left_out)
            && silent.clone().next().is_some()
        {
            // It may miss those whom we left out, because it was absent when we learned why: all
            // learn it again, together.
            self.signers.set_aside.clear();
            return;
        }
        self.signers.set_aside.extend(&mut silent);
    }

    /// Notes who was silent, and who took part in vain, in a session that we coordinated and that
    /// stood still.
    pub(super) fn count_failure(&mut self, call: &Call<'_>, session: &SigningSession) {
        let (me, roster) = (call.me(), call.transcript.roster());
        let awaited = session.run.as_ref().map(|run| run.awaited()).unwrap_or_default();
        if awaited.is_empty() {
            // Too few came: anyone who was left out before may come again.
            self.signers.silent.clear();
        }
        if !session.ordered {
            // Nobody has heard who takes part.
            return;
        }
        for signer in awaited.into_iter().filter(|signer| *signer != me) {
            if !session.said.contains_key(&signer) {
                self.signers.silent.insert(signer);
            }
            let failures = self.signers.failures.entry(signer).or_default();
            *failures = failures.saturating_add(1);
        }
        self.signers.failures.retain(|signer, _| roster.is_member(signer));
    }
}
