//! A signature by exactly as many holders as the threshold (RFC 9591, section 5), over raw bytes: a
//! TBSCertificate, or whatever else the caller's format fixes.
//!
//! Nonces are drawn when the run starts, exist in it alone, sign once, and are erased before the
//! part is sent. A run that ends without a signature erases them too. They are never written
//! anywhere. Run, signers, share-epoch and message are known before they are drawn, and stand
//! behind them with the share: where entropy repeats, others of these have other nonces. One run
//! that is begun twice with one entropy has the same, so the caller names no two runs alike.

use super::entropy::Asked;
use super::library::{Signers, key_package, public_package, verifying_key};
use super::{FrostShare, FrostSharing};
use crate::base::{Danger, Digest, Entropy, MemberId, Mutant, Secret, digest};
use crate::hedge::Hedged;
use crate::run::whole_round;
use crate::sharing::{each, said, to_all, wrong_signers};
use crate::{Fault, FaultKind, Incoming, Next, Outgoing, Run, RunId};
use frost_ed25519::keys::{KeyPackage, PublicKeyPackage};
use frost_ed25519::round1::{self, NonceCommitment, SigningCommitments, SigningNonces};
use frost_ed25519::round2::{self, SignatureShare};
use frost_ed25519::{CheaterDetection, Error, Identifier, Signature, SigningPackage, aggregate_custom};
use std::collections::BTreeMap;

/// Bytes of a signature: R ‖ s (RFC 8032).
pub const SIGNATURE_BYTES: usize = 64;

/// A signer of one message.
pub struct Sign {
    sharing: FrostSharing,
    key: KeyPackage,
    tag: Digest,
    signers: Signers,
    message: Vec<u8>,
    stage: Stage,
    danger: Mutant,
}

enum Stage {
    Idle,
    Committed(Box<SigningNonces>),
    Signed(SigningPackage),
    /// Over; why, for whoever asks next.
    Over(Fault),
}

impl Sign {
    /// The holder of `share` is one of `signers`, who sign `message`.
    ///
    /// # Errors
    /// [`FaultKind::LocalSigners`] unless the share is one of `sharing` and the signers, its holder
    /// among them, are holders and exactly as many as the threshold.
    pub fn new(
        run: RunId,
        sharing: &FrostSharing,
        share: &FrostShare,
        signers: &[MemberId],
        message: &[u8],
    ) -> Result<Self, Fault> {
        let known = signers.iter().all(|signer| sharing.holders().contains(signer));
        let signers = Signers::new(signers)?;
        let members = signers.members();
        if !known || members.len() != sharing.threshold() || !signers.has(&share.holder()) {
            return Err(wrong_signers());
        }
        share.check(sharing).map_err(|_| wrong_signers())?;
        let key = key_package(sharing, share).map_err(|error| signers.fault(&error))?;
        let tag = tag(&run, &members, &[&sharing.epoch(), message]);
        let (sharing, message) = (sharing.clone(), message.to_vec());
        Ok(Self { sharing, key, tag, signers, message, stage: Stage::Idle, danger: Mutant::NONE })
    }

    /// The same, without its rule: for tests that show what it is for.
    #[must_use]
    pub fn with_danger(self, danger: Mutant) -> Self {
        Self { danger, ..self }
    }

    /// `FRO-17`: the library draws nonces from share and entropy alone. Where entropy repeats,
    /// three parts with the same nonces are three equations, and the share follows.
    fn draw(&self, entropy: &mut dyn Entropy) -> (SigningNonces, SigningCommitments) {
        let share = self.key.signing_share();
        if self.danger.is(Danger::SigningNonceUnhedged) {
            return round1::commit(share, &mut Asked(entropy));
        }
        let purpose: [&[u8]; 3] = [b"folkmoot frost nonces v1", &[0], &self.tag];
        let mut hedged = Hedged::new(Secret::new(share.serialize()), &purpose, entropy);
        round1::commit(share, &mut Asked(&mut hedged))
    }

    fn begin(&self, entropy: &mut dyn Entropy) -> Result<(SigningNonces, Outgoing), Error> {
        let (nonces, commitments) = self.draw(entropy);
        let mut message = self.tag.to_vec();
        for commitment in [commitments.hiding(), commitments.binding()] {
            message.extend(commitment.serialize()?);
        }
        Ok((nonces, to_all(message)))
    }

    /// This signer's part.
    fn part(&self, nonces: &SigningNonces, heard: &Incoming) -> Result<(SigningPackage, Outgoing), Fault> {
        let commitments = each(self.signers.members(), |signer| commitments(said(heard, signer), &self.tag))?;
        let package = SigningPackage::new(self.signers.identified(commitments), &self.message);
        let part = round2::sign(&package, nonces, &self.key).map_err(|error| self.signers.fault(&error))?;
        Ok((package, to_all(part.serialize())))
    }

    fn join(&self, package: &SigningPackage, heard: &Incoming) -> Result<[u8; SIGNATURE_BYTES], Fault> {
        let parts = each(self.signers.members(), |signer| {
            SignatureShare::deserialize(said(heard, signer)).map_err(|_| FaultKind::PeerMalformed)
        })?;
        let signature = self.aggregate(package, &self.signers.identified(parts));
        let bytes = signature.and_then(|signature| signature.serialize());
        let bytes = bytes.map_err(|error| self.signers.fault(&error))?;
        let good = self.sharing.key().is_ok_and(|key| key.verify_raw(&self.message, &bytes).is_ok());
        let signature = bytes.as_slice().try_into().ok().filter(|_| good);
        signature.ok_or_else(|| Fault::of_nobody(FaultKind::Unattributable))
    }

    /// The sum of the parts. Only if it does not verify are the signers' verifying shares computed
    /// and each part checked against its own, which names every false one.
    fn aggregate(
        &self,
        package: &SigningPackage,
        parts: &BTreeMap<Identifier, SignatureShare>,
    ) -> Result<Signature, Error> {
        let bare = PublicKeyPackage::new(BTreeMap::new(), verifying_key(&self.sharing)?, None);
        aggregate_custom(package, parts, &bare, CheaterDetection::Disabled).or_else(|_| {
            let all = public_package(&self.sharing, &self.signers.members())?;
            aggregate_custom(package, parts, &all, CheaterDetection::AllCheaters)
        })
    }
}

impl Run for Sign {
    type Done = [u8; SIGNATURE_BYTES];

    /// A run that cannot begin says nothing. When it hears the first round, it says why.
    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Self::Done> {
        let (stage, said) = match self.begin(entropy) {
            Ok((nonces, said)) => (Stage::Committed(Box::new(nonces)), said),
            Err(error) => (Stage::Over(self.signers.fault(&error)), Outgoing::default()),
        };
        self.stage = stage;
        Next::Say(said)
    }

    fn awaited(&self) -> Vec<MemberId> {
        self.signers.members()
    }

    fn hear(&mut self, heard: Incoming, _: &mut dyn Entropy) -> Result<Next<Self::Done>, Fault> {
        // Whatever is refused ends the run.
        let over = Stage::Over(Fault::of_nobody(FaultKind::LocalRound));
        let stage = core::mem::replace(&mut self.stage, over);
        if let Stage::Over(fault) = stage {
            return Err(fault);
        }
        whole_round(&heard, &self.awaited())?;
        match stage {
            Stage::Committed(nonces) => {
                let (package, said) = self.part(&nonces, &heard)?;
                self.stage = Stage::Signed(package);
                Ok(Next::Say(said))
            }
            Stage::Signed(package) => Ok(Next::Done(self.join(&package, &heard)?)),
            Stage::Idle | Stage::Over(_) => Err(Fault::of_nobody(FaultKind::LocalRound)),
        }
    }
}

/// What names a run with all that its signers must agree on before they speak: who signs, and what.
fn tag(run: &RunId, signers: &[MemberId], on: &[&[u8]]) -> Digest {
    let ids: Vec<u8> = signers.iter().flat_map(|signer| signer.0).collect();
    let on: Vec<u8> = on.iter().flat_map(|part| digest(&[part])).collect();
    digest(&[b"folkmoot frost sign v1", &[0], &run.0, &digest(&[&ids]), &digest(&[&on])])
}

/// A commitment message: the run's `tag`, then two elements. The library takes an element in its
/// one form, of prime order and not the identity, and nothing else.
fn commitments(message: &[u8], tag: &Digest) -> Result<SigningCommitments, FaultKind> {
    let (theirs, elements) = message.split_first_chunk::<32>().ok_or(FaultKind::PeerMalformed)?;
    if theirs != tag {
        return Err(FaultKind::PeerCommitment);
    }
    let (elements, rest) = elements.as_chunks::<32>();
    match (elements, rest) {
        ([hiding, binding], []) => Ok(SigningCommitments::new(commitment(hiding)?, commitment(binding)?)),
        (_, []) => Err(FaultKind::PeerCommitment),
        _ => Err(FaultKind::PeerMalformed),
    }
}

fn commitment(bytes: &[u8]) -> Result<NonceCommitment, FaultKind> {
    NonceCommitment::deserialize(bytes).map_err(|_| FaultKind::PeerMalformed)
}
