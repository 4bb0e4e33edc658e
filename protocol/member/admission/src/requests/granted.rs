//! What was made for the requests that were voted for: certificates, multisignatures, signatures of
//! the group's key; and what the authority said of the others.

use super::open::Open;
use super::vote::proofs;
use crate::AdmissionError;
use crate::call::Call;
use crate::desk::Desk;
use crate::message::Reason;
use bytes::Bytes;
use folkmoot_base::{Danger, Digest, MemberId, UnixTime};
use folkmoot_identity::{Gmc, Grounds, Mode, Multi, Scheme};
use folkmoot_transcript::Transcript;
use std::collections::BTreeSet;

impl Desk {
    /// Tells its guest once. If the guest asks again, the answer is the same.
    pub(crate) fn hear_denied(&mut self, call: &Call<'_>, request: Digest, reason: Reason) {
        let Some(open) = self.requests.get(&request) else { return };
        let borne_out = self.bears_out(call, open, reason);
        let reason = if borne_out { reason } else { Reason::AwaitingAuthority };
        if self.central.denied.insert(request, reason) != Some(reason) {
            self.answer(call, &request);
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

    /// A member passes on a certificate that the authority signed. It proves itself.
    pub(crate) fn hear_granted(&mut self, call: &Call<'_>, der: &[u8]) -> Result<(), AdmissionError> {
        let gmc = Gmc::from_der(der).map_err(AdmissionError::PeerCertificate)?;
        let digest = gmc.body().request_digest().map_err(AdmissionError::PeerCertificate)?;
        self.take_granted(call, &digest, der).map(|_| ())
    }

    /// `ADM-57`: takes a certificate that the authority signed for a request that is open here. Of
    /// two the first counts, unless it does not stand and the other does. Returns whether it was
    /// taken.
    pub(crate) fn take_granted(
        &mut self,
        call: &Call<'_>,
        request: &Digest,
        der: &[u8],
    ) -> Result<bool, AdmissionError> {
        let gmc = Gmc::from_der(der).map_err(AdmissionError::PeerCertificate)?;
        let digest = gmc.body().request_digest().map_err(AdmissionError::PeerCertificate)?;
        let charter = call.transcript.roster().charter();
        if digest != *request || charter.mode() == Mode::Decentralised {
            return Err(AdmissionError::PeerNotGranted);
        }
        gmc.check_central(charter).map_err(AdmissionError::PeerCertificate)?;
        let open = self.requests.get(request);
        let approvals = open.and_then(|open| open.enough(call.transcript)).unwrap_or_default();
        let stands = |der: &[u8]| call.transcript.make_admit(der, &approvals).is_ok();
        let better = |held: &Bytes| held != der && !stands(held) && stands(der);
        if self.requests.get(request).is_none() || !self.signers.issued.get(request).is_none_or(better) {
            return Ok(false);
        }
        self.signers.issued.insert(*request, gmc.der().clone());
        self.central.asked.remove(request);
        self.answer(call, request);
        Ok(true)
    }

    /// A certificate that another member is to enter, or to tell its guest, and may have missed.
    /// The voters and everyone who reaches the authority tell it again with all else that is
    /// unfinished.
    pub(crate) fn granted_elsewhere(&self, call: &Call<'_>, open: &Open) -> Option<&Bytes> {
        let central = call.transcript.roster().charter().mode() == Mode::Centralised;
        let ours = open.is_ours(&self.guests);
        let speaks = self.central.is_linked() || open.said(call.transcript, &call.me()).is_some();
        self.signers.issued.get(&open.request.digest()).filter(|_| central && !ours && speaks)
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
            Scheme::Asm => self.signers.multis.get(&digest).cloned().map(Grounds::Multi),
            _ => self.central.combined.get(&digest).cloned().map(Grounds::Combined),
        }
    }

    /// Drops certificates of closed requests and of a sharing that is over.
    pub(crate) fn forget_issued(&mut self, call: &Call<'_>) {
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
        let open = &self.requests;
        self.signers.issued.retain(|request, der: &mut Bytes| {
            let of_now = Gmc::from_der(der).is_ok_and(|gmc| stands(&gmc));
            of_now && open.get(request).is_some()
        });
    }

    /// Drops multisignatures of closed requests, those whose signers no longer suffice, and those
    /// that ran out.
    pub(crate) fn forget_multis(&mut self, call: &Call<'_>) {
        let roster = call.transcript.roster();
        let suffices = |open: &Open, multi: &Multi| {
            let signers: BTreeSet<MemberId> = multi.signers().iter().copied().collect();
            let vote = signers.iter().all(|signer| roster.may_vote(signer));
            vote && roster.lets_in(&open.request.member(), &signers)
        };
        let open = &self.requests;
        self.signers.multis.retain(|request, multi| {
            multi.expires() >= call.early() && open.get(request).is_some_and(|open| suffices(open, multi))
        });
    }
}
