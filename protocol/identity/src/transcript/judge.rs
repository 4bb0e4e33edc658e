//! Whether an entry stands. It is judged by the roster of its own past alone: no clock, no order of
//! arrival (DECISIONS T7).

use super::entry::{Body, DecisionVotes, Entry};
use super::sharing::{combined, issued, sharing};
use super::{Decision, EntryError, VOTERS_MAX};
use crate::roster::{Admission, Effect, Roster};
use crate::{
    Below, CertificateError, Charter, CharterError, Gmc, Lack, Motion, Policy, Request, RequestError, Serial,
    Verdict, VoteProof,
};
use bytes::Bytes;
use folkmoot_base::{Digest, EntryId, GroupId, MemberId, UnixTime, limits};
use folkmoot_signing::Mode;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What an entry that stands does to the roster of any set of entries that contains its past.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// Genesis: done when the roster was made.
    Nothing,
    Admit {
        request: Digest,
        admission: Arc<Admission>,
    },
    Expire {
        member: MemberId,
        admission: EntryId,
        /// When it ended.
        at: UnixTime,
        entry: EntryId,
    },
    Decide {
        serial: u64,
        digest: Digest,
        effect: Effect,
        entry: EntryId,
        /// The member that it removes, by the admission that it names.
        removed: Option<(MemberId, EntryId)>,
    },
    Refuse {
        request: Digest,
        /// The serial number that its CSR gives to every certificate, if it is by CSR.
        csr: Option<Serial>,
    },
}

/// What a decision does to electorate and charter, and the member that it removes, by the admission
/// that it names.
type Consequence = (Effect, Option<(MemberId, EntryId)>);

impl Act {
    /// Whether this roster already has what the entry says.
    pub(super) fn is_known(&self, roster: &Roster) -> bool {
        match self {
            Self::Nothing => true,
            Self::Admit { request, admission } => {
                roster.is_used(request) || admission.knows != roster.removals_known(&admission.member)
            }
            Self::Expire { member, admission, .. } => !roster.holds(member, admission),
            Self::Decide { serial, digest, .. } => roster.decided(*serial, digest),
            Self::Refuse { request, .. } => roster.is_refused(request),
        }
    }

    pub(super) fn apply(&self, roster: &mut Roster) {
        match self {
            Self::Nothing => {}
            Self::Admit { request, admission } => roster.admit(*request, admission.clone()),
            Self::Refuse { request, csr } => roster.refuse(*request, *csr),
            Self::Expire { member, admission, at, entry } => {
                roster.expire((*member, *admission), *at, *entry);
            }
            Self::Decide { serial, digest, effect, entry, .. } => {
                roster.decide(*serial, *digest, effect.clone(), *entry);
            }
        }
    }
}

/// Judges one entry whose signature is verified; `past` is the roster of its ancestors, `lax` is
/// the mutant of `TRN-52`.
pub(super) fn judge(
    group: &GroupId,
    id: EntryId,
    entry: &Entry,
    past: &Roster,
    lax: bool,
) -> Result<Act, EntryError> {
    if !past.is_member(&entry.author) {
        return Err(EntryError::PeerNotMember(entry.author));
    }
    match &entry.body {
        Body::Genesis { .. } => Err(EntryError::WireOtherGenesis),
        Body::Admit { certificate } => admit(id, &certificate.0, past, lax),
        Body::Expire { member, admission, time } => expire(id, *member, *admission, *time, past),
        Body::Decide { decision, votes } => decide(group, id, decision, votes, past),
        Body::Refuse { request, votes } => refuse(group, *request, None, votes, past),
        Body::RefuseCsr { request, votes } => {
            let (request, csr) = by_csr(&request.0)?;
            refuse(group, request, Some(csr), votes, past)
        }
    }
}

pub(super) fn admit(id: EntryId, der: &Bytes, past: &Roster, lax: bool) -> Result<Act, EntryError> {
    let certificate = Gmc::from_der(der).map_err(EntryError::PeerCertificate)?;
    let member = certificate.member();
    if certificate.is_founder() {
        return Err(EntryError::PeerNoVotes(member));
    }
    granted(&certificate, past, lax)?;
    let body = certificate.body();
    let request = body.request_digest().map_err(EntryError::PeerCertificate)?;
    if past.is_used(&request) {
        return Err(EntryError::PeerUsed(member));
    }
    if past.is_refused(&request) {
        return Err(EntryError::PeerRefused(member));
    }
    if past.is_refused_csr(&body.serial) {
        return Err(EntryError::PeerRefusedCsr(member));
    }
    body.check_removals(past).map_err(EntryError::PeerCertificate)?;
    if past.charter().policies().policy == Policy::List && past.is_struck(&member) {
        return Err(EntryError::PeerCertificate(CertificateError::PeerNotListed));
    }
    if certificate.is_issued() && past.has_issued(&body.serial) {
        return Err(EntryError::PeerSerialNumber(member));
    }
    if !past.is_member(&member) && past.len() >= limits::MEMBERS_MAX {
        return Err(EntryError::PeerGroupFull);
    }
    let approvals = certificate.approvals();
    if let Some((voter, _)) = approvals.iter().find(|(_, expires)| *expires < body.not_before) {
        return Err(EntryError::PeerVoteEnded(*voter));
    }
    if let Some(days) = past.charter().policies().request_days {
        let end = UnixTime(body.not_before.0.saturating_add(u64::from(days).saturating_mul(86_400)));
        if let Some((voter, _)) = approvals.iter().find(|(_, expires)| *expires > end) {
            return Err(EntryError::PeerVoteOutlasts(*voter));
        }
    }
    let admission = Admission {
        member,
        entry: id,
        name: certificate.name().to_owned(),
        key: certificate.key().clone(),
        not_after: body.not_after,
        certificate: Some(der.clone()),
        issued: certificate.is_issued().then_some(body.serial),
        knows: past.removals_known(&member),
        outlived: past.ends_known(&member),
    };
    Ok(Act::Admit { request, admission: Arc::new(admission) })
}

/// Whether the right parties have granted it, by the charter's scheme and mode: `TRN-57`, `TRN-58`
/// if an authority signs.
fn granted(certificate: &Gmc, past: &Roster, lax: bool) -> Result<(), EntryError> {
    let charter = past.charter();
    let central = charter.mode() == Mode::Centralised;
    // Votes and multisignatures are judged with it.
    if central && (charter.scheme().shared() || past.is_for_authority()) {
        certificate.check_central(charter).map_err(EntryError::PeerCertificate)?;
    }
    match charter.scheme().shared() {
        _ if past.is_for_authority() => {
            let bare = certificate.body().membership.votes.as_ref().is_some_and(Vec::is_empty);
            bare.then_some(()).ok_or(EntryError::PeerCertificate(CertificateError::PeerAuthority))
        }
        true if central => combined(certificate, past, lax),
        true => issued(certificate, past, lax),
        false => voted(certificate, past),
    }
}

/// `TRN-10` to `TRN-12`, `TRN-17`, `TRN-55`: enough approve, each of them a voter, by votes or one
/// multisignature.
fn voted(certificate: &Gmc, past: &Roster) -> Result<(), EntryError> {
    certificate
        .check_authority_of(past.charter(), past.threshold(), |voter| past.voter_key(voter))
        .map_err(EntryError::PeerCertificate)?;
    let yes: BTreeSet<MemberId> = certificate.approvals().into_iter().map(|(voter, _)| voter).collect();
    if !past.lets_in(&certificate.member(), &yes) {
        return Err(EntryError::PeerMinority { got: yes.len(), need: past.admission_need(&yes) });
    }
    Ok(())
}

fn expire(
    id: EntryId,
    member: MemberId,
    admission: EntryId,
    time: UnixTime,
    past: &Roster,
) -> Result<Act, EntryError> {
    if !past.holds(&member, &admission) {
        return Err(EntryError::PeerTarget(member));
    }
    let target = past.admission(&member, &admission).ok_or(EntryError::PeerTarget(member))?;
    if time <= target.not_after {
        return Err(EntryError::PeerTooEarly { not_after: target.not_after, time });
    }
    Ok(Act::Expire { member, admission, at: target.not_after, entry: id })
}

fn decide(
    group: &GroupId,
    id: EntryId,
    decision: &Decision,
    votes: &DecisionVotes,
    past: &Roster,
) -> Result<Act, EntryError> {
    let want = past.electorate().serial;
    if votes.slot.serial != want {
        return Err(EntryError::PeerSerial { got: votes.slot.serial, want });
    }
    count(group, decision, votes, past)?;
    let (effect, removed) = sensible(decision, past)?;
    Ok(Act::Decide { serial: want, digest: decision.digest(), effect, entry: id, removed })
}

/// What a decision does, whoever voted for it: `TRN-25` to `TRN-29`.
pub(super) fn sensible(decision: &Decision, past: &Roster) -> Result<Consequence, EntryError> {
    let (effect, removed) = consequence(decision, past)?;
    check_outcome(&effect, past, decision.is_forced())?;
    Ok((effect, removed))
}

/// `TRN-21` to `TRN-24`: the votes are distinct, from voters, for this decision, and enough.
fn count(
    group: &GroupId,
    decision: &Decision,
    votes: &DecisionVotes,
    past: &Roster,
) -> Result<(), EntryError> {
    if !votes.votes.is_sorted_by(|a, b| a.voter < b.voter) {
        return Err(EntryError::PeerVotesOrder);
    }
    let motion = decision.motion(*group, past.charter().digest(), votes.slot);
    let mut yes = BTreeSet::new();
    for vote in &votes.votes {
        let key = past.voter_key(&vote.voter).ok_or(EntryError::PeerNotVoter(vote.voter))?;
        vote.verify(&motion, key).map_err(|_| EntryError::PeerVote(vote.voter))?;
        yes.insert(vote.voter);
    }
    let signers = past.signers_for(decision);
    if !past.decides(&yes) || yes.len() < signers {
        let need = past.decision_need().max(signers);
        return Err(EntryError::PeerTooFewVotes { got: yes.len(), need });
    }
    match decision.plain() {
        Decision::Remove { .. } => past.charter().policies().let_go(&yes).map_err(EntryError::PeerRule),
        _ => Ok(()),
    }
}

/// What the decision does. A removal ends every admission of the member that does not have the
/// removal in its own past (`TRN-59`). So a member that was admitted on both sides of a split is
/// out after one vote, and no entry written afterwards over an older past brings anybody back.
fn consequence(decision: &Decision, past: &Roster) -> Result<Consequence, EntryError> {
    match decision.plain() {
        Decision::Remove { member, admission } => {
            if !past.holds(member, admission) {
                return Err(EntryError::PeerTarget(*member));
            }
            Ok((Effect::Remove(*member), Some((*member, *admission))))
        }
        Decision::ChangeCharter { field, value } => {
            let (field, value) = (text(&field.0)?, text(&value.0)?);
            let charter = past.charter().with_change(&field, &value).map_err(EntryError::PeerChange)?;
            let (old, next, members) =
                (past.charter().threshold_rule(), charter.threshold_rule(), past.len());
            if old != next && !old.may_become(next, members) {
                return Err(EntryError::PeerThreshold { next, members });
            }
            Ok((Effect::Charter { field, value }, None))
        }
        Decision::Electorate { voters } => {
            let distinct: BTreeSet<&MemberId> = voters.iter().collect();
            let legal = (1..=VOTERS_MAX).contains(&voters.len()) && distinct.len() == voters.len();
            if !legal || !voters.iter().all(|voter| past.is_member(voter)) {
                return Err(EntryError::PeerElectorate);
            }
            Ok((Effect::Electorate(voters.clone()), None))
        }
        Decision::Sharing { public, authority } => {
            let sharing = sharing(&public.0, &authority.0, past)?;
            Ok((Effect::Sharing(Arc::new(sharing)), None))
        }
        // `plain` never gives a forced decision.
        Decision::Forced(_) => Err(EntryError::PeerElectorate),
    }
}

/// `TRN-26`: nobody means to vote for a group that could never decide, admit or remove again,
/// unless they say so. A group that has no voter left is a mistake even then.
fn check_outcome(effect: &Effect, past: &Roster, forced: bool) -> Result<(), EntryError> {
    let (voters, charter) = past.outcome(effect).ok_or(EntryError::PeerElectorate)?;
    // A place in the electorate gives no vote once its holder's term is over.
    let stay: BTreeSet<MemberId> = voters.into_iter().filter(|voter| past.is_member(voter)).collect();
    let (before, threshold) = (past.voters(), votes_asked(&charter, forced));
    // A decision may leave impossible what already was: it may be the way back.
    let worse = stay.len() < before.len() || threshold > votes_asked(past.charter(), forced);
    if stay.is_empty() || (stay.len() < threshold && worse) {
        return Err(EntryError::PeerDeadEnd { voters: stay.len(), threshold });
    }
    if forced {
        return Ok(());
    }
    let lacked = past.charter().policies().out_of_reach(&before);
    match charter.policies().out_of_reach(&stay).into_iter().find(|lack| !lacked.contains(lack)) {
        Some(Lack::Admit) => Err(EntryError::PeerUnreachable { what: "admit" }),
        Some(Lack::Remove) => Err(EntryError::PeerUnreachable { what: "remove" }),
        None => Ok(()),
    }
}

/// How many voters are needed so that the group can go on: one, if the voters force it or the
/// charter resets the threshold.
fn votes_asked(charter: &Charter, forced: bool) -> usize {
    let reset = forced || charter.policies().below == Below::Reset;
    let threshold = if reset { 1 } else { usize::try_from(charter.threshold()).unwrap_or(usize::MAX) };
    charter.scheme().signers(threshold)
}

/// What refuses a request by CSR: its digest, and the serial number that its CSR gives.
fn by_csr(der: &[u8]) -> Result<(Digest, Serial), EntryError> {
    let request = Request::from_der(der).map_err(EntryError::PeerRequest)?;
    let csr = request.csr().ok_or(EntryError::PeerRequest(RequestError::WireDomain))?;
    Ok((request.digest(), csr.serial()))
}

/// `TRN-32`: as many voters as the charter says object, each for this request.
fn refuse(
    group: &GroupId,
    request: Digest,
    csr: Option<Serial>,
    votes: &[VoteProof],
    past: &Roster,
) -> Result<Act, EntryError> {
    if !votes.is_sorted_by(|a, b| a.voter < b.voter) {
        return Err(EntryError::PeerVotesOrder);
    }
    let motion = Motion::admit(*group, past.charter().digest(), request);
    for vote in votes {
        let key = past.voter_key(&vote.voter).ok_or(EntryError::PeerNotVoter(vote.voter))?;
        vote.verify_as(&motion, Verdict::Reject, key).map_err(|_| EntryError::PeerVote(vote.voter))?;
    }
    let need = past.charter().policies().objections.unwrap_or_default();
    let need = usize::try_from(need).unwrap_or(usize::MAX);
    if need == 0 || votes.len() < need || past.is_used(&request) || past.is_refused(&request) {
        return Err(EntryError::PeerObjections { got: votes.len(), need });
    }
    Ok(Act::Refuse { request, csr })
}

fn text(bytes: &Bytes) -> Result<String, EntryError> {
    std::str::from_utf8(bytes)
        .map(str::to_owned)
        .map_err(|_| EntryError::PeerChange(CharterError::WireMalformed("not UTF-8".into())))
}
