//! A voter that was broken on purpose ([`Danger::AdmissionVotesTwice`]). It goes to another ballot
//! without the proof that the one before is dead, so one serial can be decided twice.

use crate::ballots::Carry;
use crate::desk::{Admission, Call};
use crate::{BALLOTS_MAX, Output};
use core::time::Duration;
use folkmoot_base::{Danger, Digest};
use folkmoot_identity::{Decision, Slot};

/// How long it waits for a second decision.
const WAIT: Duration = Duration::from_secs(1);

impl Admission {
    pub(crate) fn votes_twice(&self) -> bool {
        self.config.danger.is(Danger::AdmissionVotesTwice)
    }

    /// Approves all that its person wants, each in a ballot of its own.
    pub(crate) fn cast_twice(&mut self, call: &Call<'_>) {
        let (me, roster) = (call.identity.member(), call.transcript.roster());
        let wanted = self.ballots.proposals().filter(|(digest, one)| {
            let cast = self.ballots.approvers(ballot_of(digest), digest, roster).contains(&me);
            one.opinion == Some(true) && !cast
        });
        let wanted: Vec<Decision> = wanted.map(|(_, one)| one.decision.clone()).collect();
        for decision in wanted {
            if let Err(error) = self.sign(call, &decision, ballot_of(&decision.digest()), true) {
                self.trace(format!("vote not cast: {error}"));
            }
        }
    }

    /// Has an entry made of every decision that found a quorum.
    pub(crate) fn carry_all(&mut self, call: &Call<'_>) {
        let roster = call.transcript.roster();
        let decided = self.ballots.decided_all(roster);
        let Some((ballot, first)) = decided.first() else {
            self.ballots.carry = None;
            return;
        };
        let (proposal, ballot) = (first.digest(), *ballot);
        let due = self.ballots.carry.map_or(call.now + WAIT, |carry| carry.due);
        self.ballots.carry = Some(Carry { proposal, ballot, due });
        if due > call.now {
            return;
        }
        self.ballots.carry = Some(Carry { proposal, ballot, due: call.now + WAIT + WAIT });
        for (ballot, decision) in decided {
            let slot = Slot { serial: self.ballots.serial, ballot };
            let proofs = self.ballots.proofs(ballot, &decision.digest(), roster);
            if let Ok(entry) = call.transcript.make_decision(&decision, slot, &proofs, call.identity) {
                self.out.push_back(Output::Entry(entry));
            }
        }
    }
}

fn ballot_of(proposal: &Digest) -> u32 {
    proposal.first().map_or(0, |byte| u32::from(*byte)) % BALLOTS_MAX
}
