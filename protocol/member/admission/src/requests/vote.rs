//! Votes on requests: given here, or taken by the transcript.

use crate::call::Call;
use crate::desk::Desk;
use crate::{AdmissionError, Event};
use folkmoot_base::{Blob, Digest};
use folkmoot_identity::{Signature, Verdict, VoteKind, VoteProof};
use folkmoot_transcript::{Approval, Item, Signed};

impl Desk {
    /// A person votes on a request. It may change its mind until the request is granted: the last
    /// word stands.
    pub(crate) fn vote_request(
        &mut self,
        call: &Call<'_>,
        digest: Digest,
        approve: bool,
    ) -> Result<(), AdmissionError> {
        let open = self.requests.get(&digest).ok_or(AdmissionError::LocalUnknown)?;
        let stamp = call.transcript.state().removed_at(&open.admit.member);
        let (subject, expires) = ((open.subject(), stamp), open.expires);
        self.voting.speak(call, subject, verdict(approve), expires, &mut self.out)?;
        if !approve {
            self.show_refused_csr(call, &digest);
        }
        Ok(())
    }

    /// `ADM-21`: a rejected request by CSR is shown whole, so that nothing that is proposed for
    /// that CSR later admits anybody. The transcript takes it once a rejection is there.
    pub(crate) fn show_refused_csr(&mut self, call: &Call<'_>, digest: &Digest) {
        let Some(open) = self.requests.get(digest).filter(|open| open.request.csr().is_some()) else {
            return;
        };
        let known = call.transcript.set().refusals().any(|refusal| refusal.request == *digest);
        let objects = call.transcript.roster().charter().policies().objections.is_some();
        if known || !objects {
            return;
        }
        let request = Blob::from(open.request.der().to_vec());
        self.out.item(Item::Refusal { request }.encode());
    }

    /// The transcript has a voter's word.
    pub(crate) fn notice_approval(&mut self, call: &Call<'_>, approval: &Approval) {
        if approval.subject.kind != VoteKind::Admit {
            return self.voting.notice_word(call, approval, &mut self.out);
        }
        let (motion, voter, approve) = (approval.subject.digest, approval.voter, approval.is_yes());
        let Some(open) = self.requests.get(&motion) else { return };
        let (have, need) = (open.have(call.transcript), open.need(call.transcript));
        self.out.event(Event::VoteCast { motion, voter, approve, have, need });
        if !approve {
            self.show_refused_csr(call, &motion);
        }
        self.answer(call, &motion);
    }
}

pub(crate) fn verdict(approve: bool) -> Verdict {
    if approve { Verdict::Approve } else { Verdict::Reject }
}

/// An approval as a certificate carries it; none if its voter has not signed it alone.
pub(crate) fn proof(signed: &Signed) -> Option<VoteProof> {
    let Approval { voter, base, turn, expires, .. } = signed.approval;
    let signature = Signature::from_wire(signed.signature.as_ref()?).ok()?;
    Some(VoteProof { voter, base, turn, expires, signature })
}

/// The same for several, sorted by voter.
pub(crate) fn proofs(signed: &[&Signed]) -> Vec<VoteProof> {
    let mut proofs: Vec<VoteProof> = signed.iter().filter_map(|one| proof(one)).collect();
    proofs.sort_by_key(|proof| proof.voter);
    proofs
}
