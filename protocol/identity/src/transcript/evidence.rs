//! The votes in a transcript, taken out as signed messages that stand alone. A person can check
//! them with OpenSSL.
//!
//! A certificate or entry keeps only the parts of a vote that cannot be computed: voter, expiry,
//! signature. The rest follows from its subject. So the voter's message comes out again byte for
//! byte if the voter's identity certificate is available. Founders' certificates are in the
//! charter; those of members admitted later are not in the transcript.

use super::Transcript;
use super::entry::{Body, Entry};
use crate::{Gmc, IdentityCertificate, Motion, SignedCharter, Vote, VoteProof};
use folkmoot_base::{Digest, EntryId, MemberId};
use std::collections::BTreeMap;

/// The evidence for one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Which entry.
    pub entry: EntryId,
    /// Its votes, each as the voter signed it.
    pub votes: Vec<Vote>,
    /// Voters whose identity certificate was not available.
    pub unnamed: Vec<MemberId>,
    /// The certificate that it admits, if it admits one.
    pub certificate: Option<Gmc>,
}

impl Transcript {
    /// The charter as its founders signed it.
    pub fn signed_charter(&self) -> Option<SignedCharter> {
        let genesis = Entry::decode(self.get(&self.genesis_id())?).ok()?;
        let Body::Genesis { charter } = genesis.body else { return None };
        SignedCharter::complete_from_der(&charter.0).ok()
    }

    /// The evidence for every admission and decision, in order. `more` are identity certificates
    /// besides the founders'.
    pub fn evidence(&self, more: &[IdentityCertificate]) -> Vec<Evidence> {
        let signed = self.signed_charter();
        let founders = signed.iter().flat_map(SignedCharter::certificates);
        let people: BTreeMap<MemberId, &IdentityCertificate> =
            more.iter().chain(founders).map(|certificate| (certificate.member(), certificate)).collect();
        let charters = self.charters();
        self.entries().filter_map(|bytes| self.carries(bytes, &charters, &people)).collect()
    }

    /// The digests of all versions of the charter: the founding one, and each after a change.
    /// Quorums make them one line.
    fn charters(&self) -> Vec<Digest> {
        let mut versions = vec![self.roster().founding_charter().clone()];
        for entry in self.entries().filter_map(|bytes| Entry::decode(bytes).ok()) {
            let Body::Decide { decision, .. } = entry.body else { continue };
            let super::Decision::ChangeCharter { field, value } = decision.plain() else { continue };
            let (field, value) = (String::from_utf8_lossy(&field.0), String::from_utf8_lossy(&value.0));
            let next: Vec<_> = versions
                .last()
                .and_then(|charter| charter.with_change(&field, &value).ok())
                .into_iter()
                .collect();
            versions.extend(next);
        }
        versions.iter().map(crate::Charter::digest).collect()
    }

    fn carries(
        &self,
        bytes: &[u8],
        charters: &[Digest],
        people: &BTreeMap<MemberId, &IdentityCertificate>,
    ) -> Option<Evidence> {
        let (mut votes, mut unnamed) = (Vec::new(), Vec::new());
        let (motions, proofs, certificate): (Vec<Motion>, Vec<VoteProof>, _) =
            match Entry::decode(bytes).ok()?.body {
                // A refusal carries rejections: nothing rests on them.
                Body::Genesis { .. } | Body::Expire { .. } | Body::Refuse { .. } | Body::RefuseCsr { .. } => {
                    return None;
                }
                Body::Admit { certificate } => {
                    let gmc = Gmc::from_der(&certificate.0).ok()?;
                    (vec![gmc.body().motion().ok()?], gmc.votes().to_vec(), Some(gmc))
                }
                Body::Decide { decision, votes } => {
                    let motion = |charter: &Digest| decision.motion(self.group(), *charter, votes.slot);
                    (charters.iter().map(motion).collect(), votes.votes, None)
                }
            };
        for proof in proofs {
            let vote = people.get(&proof.voter).and_then(|voter| {
                motions.iter().find_map(|motion| Vote::from_proof(&proof, motion, voter).ok())
            });
            match vote {
                Some(vote) => votes.push(vote),
                None => unnamed.push(proof.voter),
            }
        }
        Some(Evidence { entry: Entry::id_of(bytes), votes, unnamed, certificate })
    }
}
