//! Writing entries: over all heads, signed, and judged before they are handed out.

use super::entry::{Body, DecisionVotes, ENTRY_LABEL, Entry, PARENTS_MAX};
use super::{BuildError, Decision, EntryError, Transcript, judge};
use crate::{Identity, Request, Slot, VoteProof};
use bytes::Bytes;
use folkmoot_base::{Blob, Digest, EntryId, MemberId, SignatureBytes, UnixTime};

impl Transcript {
    /// An entry that admits the holder of this certificate (GMC, DER).
    ///
    /// # Errors
    /// [`BuildError::Refused`] if it would not stand.
    pub fn make_admit(&self, certificate: &[u8], author: &Identity) -> Result<Bytes, BuildError> {
        self.make(Body::Admit { certificate: Blob(Bytes::copy_from_slice(certificate)) }, author)
    }

    /// An entry that ends an admission whose certificate ran out before `time`.
    ///
    /// # Errors
    /// [`BuildError::Refused`] if it would not stand.
    pub fn make_expire(
        &self,
        member: MemberId,
        admission: EntryId,
        time: UnixTime,
        author: &Identity,
    ) -> Result<Bytes, BuildError> {
        self.make(Body::Expire { member, admission, time }, author)
    }

    /// An entry that carries out a decision; `votes` in any order.
    ///
    /// # Errors
    /// [`BuildError::Refused`] if it would not stand.
    pub fn make_decision(
        &self,
        decision: &Decision,
        slot: Slot,
        votes: &[VoteProof],
        author: &Identity,
    ) -> Result<Bytes, BuildError> {
        let votes = DecisionVotes { slot, votes: sorted(votes) };
        self.make(Body::Decide { decision: decision.clone(), votes }, author)
    }

    /// An entry that refuses a request for good; `votes` reject it, in any order.
    ///
    /// # Errors
    /// [`BuildError::Refused`] if it would not stand.
    pub fn make_refusal(
        &self,
        request: Digest,
        votes: &[VoteProof],
        author: &Identity,
    ) -> Result<Bytes, BuildError> {
        self.make(Body::Refuse { request, votes: sorted(votes) }, author)
    }

    /// The same for a request by CSR: whatever is proposed for that CSR later is refused too. For a
    /// request in CMS there is [`Self::make_refusal`].
    ///
    /// # Errors
    /// [`BuildError::Refused`] if it would not stand.
    pub fn make_refusal_of(
        &self,
        request: &Request,
        votes: &[VoteProof],
        author: &Identity,
    ) -> Result<Bytes, BuildError> {
        if request.csr().is_none() {
            return self.make_refusal(request.digest(), votes, author);
        }
        let request = Blob(Bytes::copy_from_slice(request.der()));
        self.make(Body::RefuseCsr { request, votes: sorted(votes) }, author)
    }

    /// Whether this decision would stand now, given enough votes. A voter should know this before
    /// it votes.
    ///
    /// # Errors
    /// `TRN-25` to `TRN-29`.
    pub fn would_stand(&self, decision: &Decision) -> Result<(), EntryError> {
        judge::sensible(decision, self.roster()).map(|_| ())
    }

    /// Whether an entry that admits by this certificate (GMC, DER) would stand now, whichever
    /// member writes it.
    ///
    /// # Errors
    /// `TRN-10` to `TRN-19`, `TRN-52` to `TRN-58`.
    pub fn check_admit(&self, certificate: &[u8]) -> Result<(), EntryError> {
        let certificate = Bytes::copy_from_slice(certificate);
        judge::admit(self.genesis_id(), &certificate, self.roster(), false).map(|_| ())
    }

    fn make(&self, body: Body, author: &Identity) -> Result<Bytes, BuildError> {
        let parents: Vec<EntryId> = self.heads().iter().take(PARENTS_MAX).copied().collect();
        let mut entry = Entry {
            group: self.group(),
            parents,
            author: author.member(),
            body,
            signature: SignatureBytes::NONE,
        };
        entry.signature = author.key().sign_wire(ENTRY_LABEL, &entry.signed_part());
        let bytes = entry.encode();
        let entry = self.admissible(&bytes)?;
        let branch = self.branch(&entry.parents);
        let past = branch.as_ref().unwrap_or_else(|| self.roster());
        judge::judge(&self.group(), Entry::id_of(&bytes), &entry, past, self.is_lax())
            .map_err(BuildError::Refused)?;
        Ok(bytes)
    }
}

/// The votes as an entry lists them.
fn sorted(votes: &[VoteProof]) -> Vec<VoteProof> {
    let mut votes = votes.to_vec();
    votes.sort_by_key(|vote| vote.voter);
    votes
}
