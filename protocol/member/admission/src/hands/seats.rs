//! Which seats a hand takes for right: it holds them against its own roster, at their place in the order, whoever leads.

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
            Purpose::Found { threshold } if seats.givers == seats.takers => {
                are_takers(roster, scheme, *threshold, &seats.takers)
            }
            Purpose::Found { .. } => Err("founders who are not those that get shares"),
            Purpose::Deal { threshold } => are_takers(roster, scheme, *threshold, &seats.takers),
            Purpose::Reshare { threshold } => {
                let now = roster.sharing().ok_or("new shares of a key that there is not")?;
                are_holders(&now.facts, now.facts.threshold, &seats.givers)?;
                are_takers(roster, scheme, *threshold, &seats.takers)
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
