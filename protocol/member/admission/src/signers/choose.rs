//! Whom a coordinator chooses among those who are ready.

use super::message::Purpose;
use super::multi::signs_unasked;
use super::participants::spare;
use super::session::{Participants, SigningSession};
use super::state::Signers;
use crate::call::Call;
use crate::requests::Requests;
use crate::roster::may_be_told_again;
use folkmoot_base::{Digest, MemberId, UnixTime};
use folkmoot_signing::shared::SharingFacts;
use folkmoot_transcript::{Approval, Roster};
use std::collections::BTreeSet;

impl Signers {
    /// Which of the ready signers take part, if they are enough. For a signature, those come first
    /// who took part in vain least often. If all take part, another coordinates the next session.
    pub(super) fn choose(
        &self,
        call: &Call<'_>,
        session: &SigningSession,
        requests: &Requests,
    ) -> Option<Participants> {
        let fit = |member: &&MemberId| self.others.is_fit(member);
        let ready: Vec<MemberId> = session.ready.keys().filter(fit).copied().collect();
        if session.purpose.gives_shares() {
            return self.choose_takers(call, session, &ready, requests);
        }
        if session.purpose.makes_sharing() {
            return self.choose_of(call, session, &ready, requests);
        }
        let failed = |signer: &MemberId| self.others.failures(signer);
        let levels: BTreeSet<u32> = ready.iter().map(failed).collect();
        // Others are waited for before one that took part in vain does so again.
        levels.into_iter().filter(|most| *most == 0 || session.gathered).find_map(|most| {
            let ready: Vec<MemberId> =
                ready.iter().filter(|signer| failed(signer) <= most).copied().collect();
            self.choose_of(call, session, &ready, requests)
        })
    }

    /// Which of the ready signers shall get shares. Those who were silent or lied do not, if the
    /// others are enough whatever happens; otherwise only those of whom everybody knows it do not
    /// (`ADM-72`).
    fn choose_takers(
        &self,
        call: &Call<'_>,
        session: &SigningSession,
        fit: &[MemberId],
        requests: &Requests,
    ) -> Option<Participants> {
        let roster = call.transcript.roster();
        let threshold = u32::try_from(roster.threshold()).ok()?;
        let known = |signer: &&MemberId| !self.others.is_set_aside(signer);
        let best: Vec<MemberId> = fit.iter().filter(known).copied().collect();
        let voters = best.iter().filter(|signer| roster.may_vote(signer)).count();
        if voters >= spare(roster.charter().scheme(), threshold) {
            return self.choose_of(call, session, &best, requests);
        }
        let ready: Vec<MemberId> = session.ready.keys().filter(known).copied().collect();
        self.choose_of(call, session, &ready, requests)
    }

    fn choose_of(
        &self,
        call: &Call<'_>,
        session: &SigningSession,
        ready: &[MemberId],
        requests: &Requests,
    ) -> Option<Participants> {
        let roster = call.transcript.roster();
        let scheme = roster.charter().scheme();
        let (me, waited) = (call.me(), session.gathered);
        let voters: Vec<MemberId> = ready.iter().filter(|signer| roster.may_vote(signer)).copied().collect();
        let all = roster.electorate().iter().filter(|voter| roster.may_vote(voter)).count();
        let enough = |voters: &Vec<MemberId>, need: usize| {
            let quorum = roster.is_quorum(&voters.iter().copied().collect());
            quorum && voters.len() >= need && (waited || voters.len() == all)
        };
        // The coordinator itself first: it is the one that waits for the result.
        let holders = |facts: &SharingFacts, count: usize| {
            // A coordinator that has lost its share leaves it to the others.
            let lost = !self.shares.has_current() && self.shares.waiting_of(&facts.epoch).is_none();
            let hold = |signer: &&MemberId| facts.holders.contains(signer) && !(lost && **signer == me);
            let (first, rest): (Vec<_>, Vec<_>) =
                ready.iter().filter(hold).partition(|signer| **signer == session.coordinator);
            let mut signers: Vec<MemberId> = first.into_iter().chain(rest).copied().take(count).collect();
            signers.sort();
            (signers.len() == count).then_some(signers)
        };
        match &session.purpose {
            Purpose::Found { threshold } => {
                let need = scheme.signers(usize::try_from(*threshold).ok()?);
                enough(&voters, need).then(|| Participants { givers: voters.clone(), takers: voters.clone() })
            }
            // A session of the authority has no members that give.
            Purpose::Deal { threshold } => {
                let need = scheme.signers(usize::try_from(*threshold).ok()?);
                enough(&voters, need).then(|| Participants { givers: Vec::new(), takers: voters.clone() })
            }
            Purpose::Reshare { threshold } => {
                let now = roster.sharing()?;
                let givers = holders(&now.facts, now.facts.threshold)?;
                let need = scheme.signers(usize::try_from(*threshold).ok()?);
                enough(&voters, need).then(|| Participants { givers, takers: voters.clone() })
            }
            Purpose::Authority { epoch, .. } => {
                let facts = &self.shares.waiting_of(epoch)?.facts;
                Some(Participants {
                    givers: holders(facts, scheme.signers(facts.threshold))?,
                    takers: Vec::new(),
                })
            }
            Purpose::Certify { .. } | Purpose::Revoke { .. } => {
                let facts = &roster.sharing()?.facts;
                Some(Participants {
                    givers: holders(facts, scheme.signers(facts.threshold))?,
                    takers: Vec::new(),
                })
            }
            Purpose::Repair { holder } => choose_helpers(roster, holder, ready),
            Purpose::Multi { request, wording } => {
                self.choose_signers(call, ready, (request, wording.expires), requests)
            }
        }
    }

    /// Of those ready, as many as the charter asks for and no more.
    fn choose_signers(
        &self,
        call: &Call<'_>,
        ready: &[MemberId],
        (request, expires): (&Digest, UnixTime),
        requests: &Requests,
    ) -> Option<Participants> {
        let (open, transcript) = (requests.get(request)?, call.transcript);
        let roster = transcript.roster();
        if signs_unasked(call) {
            let givers: Vec<MemberId> = ready
                .iter()
                .filter(|signer| roster.may_vote(signer))
                .take(open.need(transcript))
                .copied()
                .collect();
            return (givers.len() >= open.need(transcript))
                .then_some(Participants { givers, takers: Vec::new() });
        }
        let fit = |vote: &Approval| ready.contains(&vote.voter) && vote.expires >= expires;
        let enough = open.enough_of(transcript, fit)?;
        let mut givers: Vec<MemberId> = enough.into_iter().map(|signed| signed.approval.voter).collect();
        givers.sort_unstable();
        Some(Participants { givers, takers: Vec::new() })
    }
}

/// As many other holders as the threshold, if the one that has lost its share is here.
fn choose_helpers(roster: &Roster, holder: &MemberId, ready: &[MemberId]) -> Option<Participants> {
    let facts = &roster.sharing()?.facts;
    if may_be_told_again(roster, holder) {
        // The authority says it, and no member helps.
        return None;
    }
    let hold = |signer: &&MemberId| facts.holders.contains(signer) && *signer != holder;
    let givers: Vec<MemberId> = ready.iter().filter(hold).copied().take(facts.threshold).collect();
    let enough = givers.len() == facts.threshold && ready.contains(holder);
    enough.then(|| Participants { givers, takers: vec![*holder] })
}
