//! What a member knows of the other signers: who was silent, who failed, who lied.

use super::session::{Participants, SigningSession};
use crate::call::Call;
use folkmoot_base::MemberId;
use std::collections::{BTreeMap, BTreeSet};

/// All that is known of them.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// Who was silent in a session that this member coordinated, until a session succeeds.
    silent: BTreeSet<MemberId>,
    /// How often each took part in a session that this member coordinated and that came to nothing,
    /// until a session succeeds. Those who did so least often come first: a participant that knows
    /// one of the others to lie may have refused.
    failures: BTreeMap<MemberId, u32>,
    /// Who lied or was silent in a session for new shares in which this member took part, until
    /// there are new shares, or too few come without them. Everybody who took part knows the same.
    set_aside: BTreeSet<MemberId>,
    /// Who was proven to lie, and whether in a session for new shares: then all who took part know
    /// it too.
    liars: BTreeMap<MemberId, bool>,
}

impl Others {
    /// Whether it was proven to lie.
    pub(super) fn lied(&self, signer: &MemberId) -> bool {
        self.liars.contains_key(signer)
    }

    /// Whether all who took part know that it lied or was silent.
    pub(super) fn is_set_aside(&self, signer: &MemberId) -> bool {
        self.set_aside.contains(signer)
    }

    /// Whether a coordinator would choose it.
    pub(super) fn is_fit(&self, signer: &MemberId) -> bool {
        !self.silent.contains(signer) && !self.lied(signer)
    }

    /// How often it took part in vain.
    pub(super) fn failures(&self, signer: &MemberId) -> u32 {
        self.failures.get(signer).copied().unwrap_or_default()
    }

    /// Whether its sessions are heeded. When new shares are made, anyone who stays away gets none,
    /// unless the others stay away too (`ADM-72`). A coordinator that was silent would choose
    /// itself again, and start another session before anybody else can.
    pub(super) fn may_coordinate(&self, coordinator: &MemberId, gives_shares: bool) -> bool {
        if gives_shares && self.is_set_aside(coordinator) {
            return false;
        }
        !self.liars.get(coordinator).is_some_and(|all_know| *all_know || !gives_shares)
    }

    /// A session that we coordinated succeeded.
    pub(super) fn succeeded(&mut self) {
        self.silent.clear();
        self.failures.clear();
    }

    /// There are new shares.
    pub(super) fn forget(&mut self) {
        self.succeeded();
        self.set_aside.clear();
    }

    pub(super) fn note_liars(&mut self, culprits: &[MemberId], all_know: bool) {
        for liar in culprits {
            *self.liars.entry(*liar).or_default() |= all_know;
        }
        if all_know {
            self.set_aside.extend(culprits.iter().copied());
        }
    }

    /// Notes who was awaited and silent in a session for new shares that stood still. All who took
    /// part know the same.
    pub(super) fn stood_still(&mut self, call: &Call<'_>, session: &SigningSession) {
        if session.participants.is_none() && session.key.is_some() {
            // Too few came, or too few were left: anyone who was left out may come again.
            self.set_aside.clear();
        } else if session.participants.is_none() {
            // We did not come, perhaps because its coordinator was silent before. If nobody else
            // wants new shares, nothing comes without it: it may lead again.
            self.set_aside.remove(&session.coordinator);
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
            self.set_aside.clear();
            return;
        }
        self.set_aside.extend(&mut silent);
    }

    /// Notes who was silent, and who took part in vain, in a session that we coordinated and that
    /// stood still.
    pub(super) fn failed(&mut self, call: &Call<'_>, session: &SigningSession) {
        let (me, roster) = (call.me(), call.transcript.roster());
        let awaited = session.run.as_ref().map(|run| run.awaited()).unwrap_or_default();
        if awaited.is_empty() {
            // Too few came: anyone who was left out before may come again.
            self.silent.clear();
        }
        if !session.ordered {
            // Nobody has heard who takes part.
            return;
        }
        for signer in awaited.into_iter().filter(|signer| *signer != me) {
            if !session.said.contains_key(&signer) {
                self.silent.insert(signer);
            }
            let failures = self.failures.entry(signer).or_default();
            *failures = failures.saturating_add(1);
        }
        self.failures.retain(|signer, _| roster.is_member(signer));
    }
}
