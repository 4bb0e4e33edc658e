//! Which seats a hand takes for right: it holds them against its own roster, at their place in the order, whoever leads.
//!
//! **Who may be left out of new shares.** Once they are in use the old ones are erased, so a leader that seats as few as the scheme lets it and
//! then falls silent has those who are left too few to sign, for good. As many as `threshold − 1` may be corrupt (more know the key
//! anyhow): [`spare`] are enough whatever those do, and beyond that a leader may leave out whom it likes: whom it alone knows to
//! lie, who was silent. Where the threshold is too near the number of voters for that, everybody who is ready has a seat but those
//! whom a table for new shares has shown to lie or to be silent: all who sat there know the same of them, so that no honest leader
//! leaves out one whom the others miss, and whoever knows more sits there all the same: the run then shows it to all.

use super::{Purpose, Seats, Table};
use crate::desk::{Admission, Call};
use folkmoot_base::{Digest, MemberId};
use folkmoot_identity::Roster;
use folkmoot_signing::Scheme;
use folkmoot_signing::shared::SharingFacts;
use std::collections::BTreeSet;

impl Admission {
    /// `ADM-71`: whether these seats are such as the charter has: new shares go to voters alone, a quorum of them and as many as sign; those who
    /// use shares hold them, and are as many as it takes. A leader that gives others is wrong, or speaks of a roster that is over.
    pub(super) fn judge_seats(
        &self,
        call: &Call<'_>,
        table: &Table,
        seats: &Seats,
    ) -> Result<(), &'static str> {
        let roster = call.transcript.roster();
        let scheme = roster.charter().scheme();
        if !seats.all().iter().all(|hand| roster.is_member(hand)) {
            return Err("a seat for one who is no member");
        }
        match &table.purpose {
            Purpose::Found { .. } if seats.givers != seats.takers => {
                Err("founders who are not those that get shares")
            }
            Purpose::Found { threshold } | Purpose::Deal { threshold } => {
                are_takers(roster, scheme, *threshold, &seats.takers)?;
                self.misses_nobody(call, table, *threshold, &seats.takers)
            }
            Purpose::Reshare { threshold } => {
                let now = roster.sharing().ok_or("new shares of a key that there is not")?;
                are_holders(&now.facts, now.facts.threshold, &seats.givers)?;
                are_takers(roster, scheme, *threshold, &seats.takers)?;
                self.misses_nobody(call, table, *threshold, &seats.takers)
            }
            _ if !seats.takers.is_empty() => Err("shares where only a signature is made"),
            // Who has no such sharing was not ready for it, and has no seat.
            Purpose::Authority { epoch, .. } => self.waiting_of(epoch).map_or(Ok(()), |waiting| {
                are_holders(&waiting.facts, scheme.signers(waiting.facts.threshold), &seats.givers)
            }),
            Purpose::Certify { .. } | Purpose::Revoke { .. } => {
                let now = roster.sharing().ok_or("a signature of a key that there is not")?;
                are_holders(&now.facts, scheme.signers(now.facts.threshold), &seats.givers)
            }
            Purpose::Multi { request, .. } => self.are_signers(roster, request, &seats.givers),
        }
    }

    /// `ADM-72`: whether no voter is left without a share who said before the seats that it is ready.
    fn misses_nobody(
        &self,
        call: &Call<'_>,
        table: &Table,
        threshold: u32,
        takers: &[MemberId],
    ) -> Result<(), &'static str> {
        let roster = call.transcript.roster();
        if takers.len() >= spare(roster.charter().scheme(), threshold) {
            return Ok(());
        }
        let excused =
            |hand: &MemberId| self.hands.set_aside.contains(hand) || self.hands.liars.contains_key(hand);
        let missed = table.ready.iter().any(|(hand, ready)| {
            let out = roster.may_vote(hand) && !takers.contains(hand) && !excused(hand);
            // Said in its name by another, it is not here.
            out && (ready.proven || ready.word.verify(call.transcript, hand).is_ok())
        });
        if missed { Err("a voter left out who is ready, of so few") } else { Ok(()) }
    }

    /// Voters, whose votes would admit. Whether they voted so each knows of itself (`ADM-49`).
    fn are_signers(
        &self,
        roster: &Roster,
        request: &Digest,
        givers: &[MemberId],
    ) -> Result<(), &'static str> {
        let Some(open) = self.requests.get(request) else { return Ok(()) };
        if !givers.iter().all(|hand| roster.may_vote(hand)) {
            return Err("a signature by one who has no vote");
        }
        let enough = roster.lets_in(&open.request.member(), &givers.iter().copied().collect());
        if enough { Ok(()) } else { Err("fewer signers than the charter asks for") }
    }
}

/// So many holders that those who sign are left if as many are silent as may be corrupt.
pub(super) fn spare(scheme: Scheme, threshold: u32) -> usize {
    let threshold = usize::try_from(threshold).unwrap_or(usize::MAX);
    scheme.signers(threshold).saturating_add(threshold).saturating_sub(1)
}

/// Voters who get shares: a quorum, and as many as sign.
fn are_takers(
    roster: &Roster,
    scheme: Scheme,
    threshold: u32,
    takers: &[MemberId],
) -> Result<(), &'static str> {
    let need = scheme.signers(usize::try_from(threshold).unwrap_or(usize::MAX));
    let all: BTreeSet<MemberId> = takers.iter().copied().collect();
    if !takers.iter().all(|hand| roster.may_vote(hand)) {
        return Err("a share for one who has no vote");
    }
    if all.len() < need || !roster.electorate().is_quorum(&all) {
        return Err("shares for fewer than sign, or for no quorum");
    }
    Ok(())
}

/// Exactly `count` who hold shares of this sharing.
fn are_holders(facts: &SharingFacts, count: usize, givers: &[MemberId]) -> Result<(), &'static str> {
    if givers.len() != count || !givers.iter().all(|hand| facts.holders.contains(hand)) {
        return Err("more or fewer than it takes, or hands without a share");
    }
    Ok(())
}
