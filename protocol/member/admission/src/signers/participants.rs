//! Which participants a signer accepts. It checks them against its own roster, at their place in
//! the order, whoever coordinates.
//!
//! **Who may be left out of new shares.** Once new shares are in use the old ones are erased. If a
//! coordinator could choose as few as the scheme allows and then fall silent, those who are left
//! would be too few to sign, for good. As many as `threshold − 1` may be corrupt (more know the key
//! in any case), so [`spare`] participants are enough whatever those do. Beyond that number a
//! coordinator may leave out whom it likes: one that it alone knows to lie, or one that was silent.
//! If the threshold is too near the number of voters for that, everybody who is ready takes part
//! except those whom a session for new shares has shown to lie or to be silent. All who took part
//! in it know the same of them, so no honest coordinator leaves out one whom the others miss. A
//! member that knows more takes part all the same: the run then shows it to all.

use super::message::Purpose;
use super::repair::are_helpers;
use super::session::{Participants, SigningSession};
use super::state::Signers;
use crate::call::Call;
use crate::requests::Requests;
use folkmoot_base::{Digest, MemberId};
use folkmoot_signing::Scheme;
use folkmoot_signing::shared::SharingFacts;
use folkmoot_transcript::Roster;
use std::collections::BTreeSet;

impl Signers {
    /// `ADM-71`: whether these participants fit the charter. New shares go to voters alone, to a
    /// quorum of them and to as many as sign. Those who use shares hold them, and are as many as it
    /// takes. A coordinator that names others is wrong, or speaks of a roster that is over.
    pub(super) fn judge_participants(
        &self,
        call: &Call<'_>,
        session: &SigningSession,
        participants: &Participants,
        requests: &Requests,
    ) -> Result<(), &'static str> {
        let roster = call.transcript.roster();
        let scheme = roster.charter().scheme();
        if !participants.all().iter().all(|signer| roster.is_member(signer)) {
            return Err("it names a participant who is not a member");
        }
        match &session.purpose {
            Purpose::Found { .. } if participants.givers != participants.takers => {
                Err("the founders named are not those who get shares")
            }
            Purpose::Found { threshold } | Purpose::Deal { threshold } => {
                are_takers(roster, scheme, *threshold, &participants.takers)?;
                self.misses_nobody(call, session, *threshold, &participants.takers)
            }
            Purpose::Reshare { threshold } => {
                let now = roster.sharing().ok_or("the key to be shared anew does not exist")?;
                are_holders(&now.facts, now.facts.threshold, &participants.givers)?;
                are_takers(roster, scheme, *threshold, &participants.takers)?;
                self.misses_nobody(call, session, *threshold, &participants.takers)
            }
            Purpose::Repair { holder } => {
                are_helpers(roster, holder, &participants.givers, &participants.takers)
            }
            _ if !participants.takers.is_empty() => {
                Err("it names holders of new shares, but only a signature is made")
            }
            // A member without that sharing was not ready for it, and takes no part.
            Purpose::Authority { epoch, .. } => self.shares.waiting_of(epoch).map_or(Ok(()), |waiting| {
                are_holders(&waiting.facts, scheme.signers(waiting.facts.threshold), &participants.givers)
            }),
            Purpose::Certify { .. } | Purpose::Revoke { .. } => {
                let now = roster.sharing().ok_or("the key to sign with does not exist")?;
                are_holders(&now.facts, scheme.signers(now.facts.threshold), &participants.givers)
            }
            Purpose::Multi { request, .. } => are_signers(roster, request, &participants.givers, requests),
        }
    }

    /// `ADM-72`: whether every voter that said it is ready, before the participants were named,
    /// gets a share.
    fn misses_nobody(
        &self,
        call: &Call<'_>,
        session: &SigningSession,
        threshold: u32,
        takers: &[MemberId],
    ) -> Result<(), &'static str> {
        let roster = call.transcript.roster();
        if takers.len() >= spare(roster.charter().scheme(), threshold) {
            return Ok(());
        }
        let excused = |signer: &MemberId| self.others.is_set_aside(signer) || self.others.lied(signer);
        let missed = session.ready.iter().any(|(signer, ready)| {
            let out = roster.may_vote(signer) && !takers.contains(signer) && !excused(signer);
            // If another said it in the signer's name, the signer is not here.
            out && (ready.proven || ready.message.verify(call.transcript, signer).is_ok())
        });
        if missed { Err("it leaves out a voter who is ready, although it names so few") } else { Ok(()) }
    }
}

/// These must be voters, and their votes must admit. Each knows of itself whether it voted so
/// (`ADM-49`).
fn are_signers(
    roster: &Roster,
    request: &Digest,
    givers: &[MemberId],
    requests: &Requests,
) -> Result<(), &'static str> {
    let Some(open) = requests.get(request) else { return Ok(()) };
    if !givers.iter().all(|signer| roster.may_vote(signer)) {
        return Err("it names a signer who has no vote");
    }
    let enough = roster.lets_in(&open.request.member(), &givers.iter().copied().collect());
    if enough { Ok(()) } else { Err("it names fewer signers than the charter asks for") }
}

/// So many holders that enough to sign are left even if as many as may be corrupt are silent.
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
    if !takers.iter().all(|signer| roster.may_vote(signer)) {
        return Err("a share would go to somebody who has no vote");
    }
    if all.len() < need || !roster.is_quorum(&all) {
        return Err("too few would get shares, or no quorum would");
    }
    Ok(())
}

/// Exactly `count` who hold shares of this sharing.
fn are_holders(facts: &SharingFacts, count: usize, givers: &[MemberId]) -> Result<(), &'static str> {
    if givers.len() != count || !givers.iter().all(|signer| facts.holders.contains(signer)) {
        return Err("it names too many or too few signers, or some without a share");
    }
    Ok(())
}
