//! What was made for the requests that were voted for: certificates, multisignatures, signatures of
//! the group's key; and what the authority said of the others.

use super::Requests;
use super::open::Open;
use super::vote::proofs;
use crate::AdmissionError;
use crate::call::{Call, Out};
use crate::message::Reason;
use bytes::Bytes;
use folkmoot_base::{Danger, Digest, MemberId, UnixTime};
use folkmoot_identity::{Combined, Gmc, Grounds, Mode, Multi, Scheme, Verdict};
use folkmoot_transcript::{Approval, Transcript};
use std::collections::{BTreeMap, BTreeSet};

/// What was made for open requests, and what the authority said of them.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// Certificates that the group or its authority has signed, until their holders are admitted.
    pub(super) issued: BTreeMap<Digest, Bytes>,
    /// Multisignatures of voters, until their holders are admitted.
    pub(super) multis: BTreeMap<Digest, Multi>,
    /// Signatures of the group's key on requests, until the authority has signed.
    pub(super) combined: BTreeMap<Digest, Combined>,
    pub(super) denied: BTreeMap<Digest, Reason>,
}

impl Requests {
    /// Whether there is a certificate for this request.
    pub(crate) fn has_certificate(&self, request: &Digest) -> bool {
        self.made.issued.contains_key(request)
    }

    pub(crate) fn has_multi(&self, request: &Digest) -> bool {
        self.made.multis.contains_key(request)
    }

    pub(crate) fn has_combined(&self, request: &Digest) -> bool {
        self.made.combined.contains_key(request)
    }

    /// The group has signed a certificate.
    pub(crate) fn take_issued(&mut self, call: &Call<'_>, request: Digest, der: Bytes, out: &mut Out) {
        self.made.issued.insert(request, der);
        self.answer(call, &request, out);
    }

    /// The voters have signed together. What they agreed on before a decision may not suffice after
    /// it: then they sign again.
    pub(crate) fn take_multi(&mut self, call: &Call<'_>, request: Digest, multi: Multi, out: &mut Out) {
        let Some(open) = self.open.get(&request) else { return };
        if !call.config.danger.is(Danger::AdmissionTakesAnyMulti) && !suffices(call, open, &multi) {
            return out.trace("a multisignature came too late: it does not suffice any more");
        }
        self.made.multis.insert(request, multi);
        self.answer(call, &request, out);
    }

    /// The group's key has signed a request, for the authority.
    pub(crate) fn take_combined(
        &mut self,
        call: &Call<'_>,
        request: Digest,
        combined: Combined,
        out: &mut Out,
    ) {
        self.made.combined.entry(request).or_insert(combined);
        self.answer(call, &request, out);
    }

    /// Tells its guest once. If the guest asks again, the answer is the same.
    pub(crate) fn hear_denied(&mut self, call: &Call<'_>, request: Digest, reason: Reason, out: &mut Out) {
        let Some(open) = self.open.get(&request) else { return };
        let borne_out = self.bears_out(call, open, reason);
        let reason = if borne_out { reason } else { Reason::AwaitingAuthority };
        if self.made.denied.insert(request, reason) != Some(reason) {
            self.answer(call, &request, out);
        }
    }

    /// `ADM-82`: whether we see for ourselves what the authority says. Our own transcript or
    /// charter must bear out a refusal for good. They, or our clock, must bear out one that has the
    /// guest begin again. Otherwise one node that lies, or whose clock is wrong, turns guests away
    /// without end.
    fn bears_out(&self, call: &Call<'_>, open: &Open, reason: Reason) -> bool {
        let (roster, body) = (call.transcript.roster(), open.request.body());
        let run_out = |time: UnixTime| {
            open.approvals(call.transcript).iter().any(|signed| signed.approval.expires < time)
        };
        match reason {
            Reason::Objected | Reason::NotListed => false,
            Reason::Votes => open.enough(call.transcript).is_none(),
            Reason::Stale => {
                let used = roster.is_used(&open.request.digest()) || roster.has_issued(&body.serial);
                used || open.is_stale(call.transcript)
            }
            Reason::Term => call.clock.is_some_and(|time| {
                let skew = call.config.skew_seconds;
                let ended = body.not_after.0.saturating_add(skew) < time.0 || open.expires < time;
                let begins = body.not_before.0 > time.0.saturating_add(skew);
                ended || begins || run_out(time)
            }),
            _ => true,
        }
    }

    /// `ADM-57`: takes a certificate that the authority signed for a request that is open here. Of
    /// two the first counts, unless it does not stand and the other does. Returns whether it was
    /// taken.
    pub(crate) fn take_granted(
        &mut self,
        call: &Call<'_>,
        request: &Digest,
        der: &[u8],
        out: &mut Out,
    ) -> Result<bool, AdmissionError> {
        let (gmc, digest) = certificate(der)?;
        let charter = call.transcript.roster().charter();
        if digest != *request || charter.mode() == Mode::Decentralised {
            return Err(AdmissionError::PeerNotGranted);
        }
        gmc.check_central(charter).map_err(AdmissionError::PeerCertificate)?;
        let open = self.open.get(request);
        let approvals = open.and_then(|open| open.enough(call.transcript)).unwrap_or_default();
        let stands = |der: &[u8]| call.transcript.make_admit(der, &approvals).is_ok();
        let better = |held: &Bytes| held != der && !stands(held) && stands(der);
        if self.open.get(request).is_none() || !self.made.issued.get(request).is_none_or(better) {
            return Ok(false);
        }
        self.made.issued.insert(*request, gmc.der().clone());
        self.answer(call, request, out);
        Ok(true)
    }

    /// A certificate that another member is to enter, or to tell its guest, and may have missed.
    /// The voters and everyone who reaches the authority tell it again with all else that is
    /// unfinished.
    pub(super) fn granted_elsewhere(&self, call: &Call<'_>, open: &Open, reached: bool) -> Option<&Bytes> {
        let central = call.transcript.roster().charter().mode() == Mode::Centralised;
        let ours = self.is_ours(open);
        let speaks = reached || open.said(call.transcript, &call.me()).is_some();
        self.made.issued.get(&open.request.digest()).filter(|_| central && !ours && speaks)
    }

    /// What the authority's certificate for this request would rest on, once the members have done
    /// their part.
    pub(crate) fn grounds(&self, transcript: &Transcript, open: &Open) -> Option<Grounds> {
        let (votes, roster) = (open.enough(transcript)?, transcript.roster());
        if roster.is_for_authority() {
            return Some(Grounds::Votes(Vec::new()));
        }
        let digest = open.request.digest();
        match roster.charter().scheme() {
            Scheme::Plain => Some(Grounds::Votes(proofs(&votes))),
            Scheme::Asm => self.made.multis.get(&digest).cloned().map(Grounds::Multi),
            _ => self.made.combined.get(&digest).cloned().map(Grounds::Combined),
        }
    }

    /// Drops certificates of closed requests and of a sharing that is over.
    pub(super) fn forget_issued(&mut self, call: &Call<'_>) {
        let roster = call.transcript.roster();
        let epoch = roster.sharing().map(|now| now.facts.epoch);
        let lax = call.config.danger.is(Danger::AdmissionNoShareEpoch);
        let central = roster.charter().mode() == Mode::Centralised;
        let stands = |gmc: &Gmc| match central {
            // Votes and multisignatures have no epoch; where they no longer suffice, the entry will
            // not stand, and the guest asks anew.
            true => gmc.combined().is_none_or(|combined| Some(combined.epoch) == epoch),
            false => gmc.issued() == epoch || lax,
        };
        let (made, open) = (&mut self.made, &self.open);
        made.issued.retain(|request, der: &mut Bytes| {
            let of_now = Gmc::from_der(der).is_ok_and(|gmc| stands(&gmc));
            of_now && open.get(request).is_some()
        });
    }

    /// Drops multisignatures of closed requests, and those that would admit nobody now.
    pub(super) fn forget_multis(&mut self, call: &Call<'_>) {
        let (made, open) = (&mut self.made, &self.open);
        made.multis
            .retain(|request, multi| open.get(request).is_some_and(|open| suffices(call, open, multi)));
    }

    /// Drops what was made for closed requests, and signatures of the group's key that no longer
    /// hold.
    pub(crate) fn forget_grounds(&mut self, call: &Call<'_>) {
        let epoch = call.transcript.roster().sharing().map(|now| now.facts.epoch);
        let (made, open) = (&mut self.made, &self.open);
        made.combined
            .retain(|request, combined| open.get(request).is_some() && epoch == Some(combined.epoch));
        made.denied.retain(|request, _| open.get(request).is_some());
    }
}

/// Whether a multisignature on this request would admit now: each of its signers' votes counts, and
/// they are enough.
fn suffices(call: &Call<'_>, open: &Open, multi: &Multi) -> bool {
    if multi.expires() < call.early() {
        return false;
    }
    if open.rotates.is_some() {
        return true;
    }
    let (roster, state, member) = (call.transcript.roster(), call.transcript.state(), open.request.member());
    let vote = |signer: &MemberId| Approval {
        voter: *signer,
        base: multi.base(),
        subject: open.subject(),
        turn: multi.turn(),
        verdict: Verdict::Approve,
        expires: multi.expires(),
    };
    let counts =
        |signer| state.counts(&vote(signer), state.removed_at(&member), call.transcript.time()).is_ok();
    let signers: BTreeSet<MemberId> = multi.signers().iter().copied().collect();
    signers.iter().all(counts) && roster.lets_in(&member, &signers)
}

/// A certificate, and the digest of the request that it was granted for.
pub(crate) fn certificate(der: &[u8]) -> Result<(Gmc, Digest), AdmissionError> {
    let gmc = Gmc::from_der(der).map_err(AdmissionError::PeerCertificate)?;
    let digest = gmc.body().request_digest().map_err(AdmissionError::PeerCertificate)?;
    Ok((gmc, digest))
}
