//! The votes in a transcript, taken out as signed messages that stand alone. A person can check
//! them with OpenSSL.
//!
//! A certificate or decision keeps only the parts of a vote that cannot be computed: voter, base,
//! turn, end, signature. The rest follows from its subject. So the voter's message comes out again
//! byte for byte if the voter's identity certificate is available. Founders' certificates are in
//! the charter; those of members admitted later are not in the transcript.

use crate::item::{Item, body};
use crate::{Approval, SignatureBytes, Transcript};
use folkmoot_base::{Digest, MemberId};
use folkmoot_identity::{Gmc, IdentityCertificate, Signature, Vote};
use std::collections::BTreeMap;

/// The votes for one admission or decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedVotes {
    /// The request's digest, or the decision's.
    pub name: Digest,
    /// The votes, each as the voter signed it.
    pub votes: Vec<Vote>,
    /// Voters whose identity certificate was not available.
    pub unnamed: Vec<MemberId>,
    /// The certificate, of an admission.
    pub certificate: Option<Gmc>,
}

type People<'a> = BTreeMap<MemberId, &'a IdentityCertificate>;

impl Transcript {
    /// The votes for every admission and decision that is kept: admissions by request, then
    /// decisions in order. `more` are identity certificates besides the founders'.
    pub fn signed_votes(&self, more: &[IdentityCertificate]) -> Vec<SignedVotes> {
        let people: People<'_> = more
            .iter()
            .chain(self.signed_charter().certificates())
            .map(|certificate| (certificate.member(), certificate))
            .collect();
        let items = self.items();
        let admissions = items.filter_map(|item| match Item::decode(&item) {
            Ok(Item::Admit { certificate, approvals }) => {
                let gmc = Gmc::from_der(&certificate.0).ok()?;
                let request = gmc.body().request_digest().ok()?;
                let carried: Vec<(MemberId, Option<Vote>)> = gmc
                    .votes()
                    .iter()
                    .map(|vote| {
                        let said = vote.body(gmc.group(), request);
                        let voter = people.get(&vote.voter);
                        let made =
                            voter.map(|voter| Vote::from_signature(said, voter, vote.signature.clone()));
                        (vote.voter, made.and_then(Result::ok))
                    })
                    .collect();
                let beside: Vec<(MemberId, Option<Vote>)> =
                    approvals.iter().map(|one| self.vote(&people, &one.approval, &one.signature)).collect();
                let known = carried.into_iter().chain(beside);
                Some(SignedVotes::of(request, known, Some(gmc)))
            }
            _ => None,
        });
        let decisions = self.line().decisions().values().map(|standing| {
            let decision = &standing.proposal.decision;
            let approvals = decision.effects.iter().flat_map(|one| one.approvals().zip(&one.proofs));
            let votes = approvals.map(|(said, proof)| self.vote(&people, &said, &proof.signature));
            SignedVotes::of(standing.head().digest, votes, None)
        });
        let mut all: Vec<SignedVotes> = admissions.collect();
        all.extend(decisions);
        all
    }

    fn vote(
        &self,
        people: &People<'_>,
        said: &Approval,
        signature: &SignatureBytes,
    ) -> (MemberId, Option<Vote>) {
        let signature = Signature::from_wire(signature).ok();
        let vote = people.get(&said.voter).zip(signature).and_then(|(voter, signature)| {
            Vote::from_signature(body(self.group(), said), voter, signature).ok()
        });
        (said.voter, vote)
    }
}

impl SignedVotes {
    fn of(
        name: Digest,
        all: impl Iterator<Item = (MemberId, Option<Vote>)>,
        certificate: Option<Gmc>,
    ) -> Self {
        let mut votes = Self { name, votes: Vec::new(), unnamed: Vec::new(), certificate };
        for (voter, vote) in all {
            match vote {
                Some(vote) => votes.votes.push(vote),
                None => votes.unnamed.push(voter),
            }
        }
        votes
    }
}
