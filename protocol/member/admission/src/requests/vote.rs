//! Votes on requests: given here, or taken by the transcript.

use super::Requests;
use crate::Event;
use crate::call::{Call, Out};
use folkmoot_base::{Blob, Digest, UnixTime};
use folkmoot_identity::{Signature, VoteProof};
use folkmoot_transcript::{Approval, Item, Signed, Subject};

impl Requests {
    /// What a vote on this request names, with the decision that last removed its holder, and when
    /// the vote runs out.
    pub(crate) fn motion(&self, call: &Call<'_>, request: &Digest) -> Option<((Subject, u64), UnixTime)> {
        let open = self.open.get(request)?;
        let stamp = call.transcript.state().removed_at(&open.admit.member);
        Some(((open.subject(), stamp), open.expires))
    }

    /// `ADM-21`: a rejected request by CSR is shown whole, so that nothing that is proposed for
    /// that CSR later admits anybody. The transcript takes it once a rejection is there.
    pub(crate) fn show_refused_csr(&self, call: &Call<'_>, digest: &Digest, out: &mut Out) {
        let Some(open) = self.open.get(digest).filter(|open| open.request.csr().is_some()) else {
            return;
        };
        let known = call.transcript.set().refusals().any(|refusal| refusal.request == *digest);
        let objects = call.transcript.roster().charter().policies().objections.is_some();
        if known || !objects {
            return;
        }
        let request = Blob::from(open.request.der().to_vec());
        out.item(Item::Refusal { request }.encode());
    }

    /// The transcript has a voter's word.
    pub(crate) fn notice_approval(&mut self, call: &Call<'_>, approval: &Approval, out: &mut Out) {
        let (motion, voter, approve) = (approval.subject.digest, approval.voter, approval.is_yes());
        let Some(open) = self.open.get(&motion) else { return };
        let (have, need) = (open.have(call.transcript), open.need(call.transcript));
        out.event(Event::VoteCast { motion, voter, approve, have, need });
        if !approve {
            self.show_refused_csr(call, &motion, out);
        }
        self.answer(call, &motion, out);
    }
}

/// An approval as a certificate carries it; none if its voter has not signed it alone.
pub(super) fn proof(signed: &Signed) -> Option<VoteProof> {
    let Approval { voter, base, turn, expires, .. } = signed.approval;
    let signature = Signature::from_wire(signed.signature.as_ref()?).ok()?;
    Some(VoteProof { voter, base, turn, expires, signature })
}

/// The same for several, sorted by voter.
pub(super) fn proofs(signed: &[&Signed]) -> Vec<VoteProof> {
    let mut proofs: Vec<VoteProof> = signed.iter().filter_map(|one| proof(one)).collect();
    proofs.sort_by_key(|proof| proof.voter);
    proofs
}
