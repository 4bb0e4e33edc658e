//! A signature by exactly as many holders as the threshold (RFC 9591, section 5), over raw bytes: a TBSCertificate, or what else the
//! caller's format fixes.
//!
//! Nonces are drawn when the run starts, live in it alone, sign once and are erased before the part is said; a run that ends without
//! a signature takes them along. They are never written anywhere. Whoever runs this must not give two runs the same entropy.

use super::entropy::Asked;
use super::frame::{Frame, Step};
use super::library::{Seats, key_package, public_package, wrong_hands};
use super::words::{chunks, judge, tag, tagged};
use super::{FrostShare, FrostSharing};
use crate::base::{Digest, Entropy, MemberId};
use crate::{Fault, FaultKind, Heard, Next, Run, RunId, Said};
use frost_ed25519::keys::{KeyPackage, PublicKeyPackage};
use frost_ed25519::round1::{self, NonceCommitment, SigningCommitments, SigningNonces};
use frost_ed25519::round2::{self, SignatureShare};
use frost_ed25519::{
    CheaterDetection, Error, Identifier, Signature, SigningPackage, VerifyingKey, aggregate_custom,
};
use std::collections::BTreeMap;

/// Bytes of a signature: R ‖ s (RFC 8032).
pub const SIGNATURE_BYTES: usize = 64;

/// One signer's hand.
pub struct Sign {
    sharing: FrostSharing,
    key: KeyPackage,
    tag: Digest,
    seats: Seats,
    message: Vec<u8>,
    frame: Frame<State>,
}

enum State {
    Committed(Box<SigningNonces>),
    Signed(SigningPackage),
}

impl Sign {
    /// A hand of the holder of `share` among `signers`, over `message`.
    ///
    /// # Errors
    /// [`FaultKind::LocalHands`] unless the share is one of `sharing` and the signers, its holder among them, are holders and exactly as
    /// many as the threshold.
    pub fn new(
        run: RunId,
        sharing: &FrostSharing,
        share: &FrostShare,
        signers: &[MemberId],
        message: &[u8],
    ) -> Result<Self, Fault> {
        let seats = Seats::new(signers)?;
        let held = signers.iter().all(|signer| sharing.holds(signer)) && seats.has(&share.holder());
        if seats.count() != sharing.threshold() || !held || share.check(sharing).is_err() {
            return Err(wrong_hands());
        }
        let key = key_package(sharing, share).map_err(|error| seats.fault(&error))?;
        let tag = tag(b"folkmoot frost sign v1", &run, &seats.hands(), &[&sharing.epoch(), message]);
        let (sharing, message) = (sharing.clone(), message.to_vec());
        Ok(Self { sharing, key, tag, seats, message, frame: Frame::Idle })
    }

    fn begin(&self, entropy: &mut dyn Entropy) -> Result<(State, Said), Fault> {
        let (nonces, commitments) = round1::commit(self.key.signing_share(), &mut Asked(entropy));
        let mut to_all = self.tag.to_vec();
        for commitment in [commitments.hiding(), commitments.binding()] {
            to_all.extend(commitment.serialize().map_err(|error| self.seats.fault(&error))?);
        }
        Ok((State::Committed(Box::new(nonces)), Said { to_all, ..Said::default() }))
    }

    /// The part of this hand.
    fn part(&self, nonces: &SigningNonces, heard: &Heard) -> Result<(State, Said), Fault> {
        let committed = judge(heard, &self.seats.hands(), |_, words| pair(tagged(words, &self.tag)?))?;
        let mut commitments = BTreeMap::new();
        for (hand, pair) in committed {
            commitments.insert(self.seats.place(&hand)?, pair);
        }
        let package = SigningPackage::new(commitments, &self.message);
        let part = round2::sign(&package, nonces, &self.key).map_err(|error| self.seats.fault(&error))?;
        Ok((State::Signed(package), Said { to_all: part.serialize(), ..Said::default() }))
    }

    fn join(&self, package: &SigningPackage, heard: &Heard) -> Result<[u8; SIGNATURE_BYTES], Fault> {
        let parts = judge(heard, &self.seats.hands(), |_, words| {
            SignatureShare::deserialize(words).map_err(|_| FaultKind::PeerMalformed)
        })?;
        let places = parts.into_iter().map(|(hand, part)| Ok((self.seats.place(&hand)?, part)));
        let parts: BTreeMap<Identifier, SignatureShare> = places.collect::<Result<_, Fault>>()?;
        let signature = self.aggregate(package, &parts).map_err(|error| self.seats.fault(&error))?;
        let bytes = signature.serialize().map_err(|error| self.seats.fault(&error))?;
        let unattributable = || Fault::of_nobody(FaultKind::Unattributable);
        self.sharing.key().verify(&self.message, &bytes).map_err(|_| unattributable())?;
        bytes.as_slice().try_into().map_err(|_| unattributable())
    }

    /// The sum of the parts; only if it does not verify are the signers' verifying shares worked out and each part held against its
    /// own, which names every false one.
    fn aggregate(
        &self,
        package: &SigningPackage,
        parts: &BTreeMap<Identifier, SignatureShare>,
    ) -> Result<Signature, Error> {
        let key = VerifyingKey::deserialize(&self.sharing.key().bytes())?;
        let bare = PublicKeyPackage::new(BTreeMap::new(), key, None);
        aggregate_custom(package, parts, &bare, CheaterDetection::Disabled).or_else(|_| {
            let all = public_package(&self.sharing, &self.seats.hands())?;
            aggregate_custom(package, parts, &all, CheaterDetection::AllCheaters)
        })
    }
}

impl Run for Sign {
    type Done = [u8; SIGNATURE_BYTES];

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Self::Done> {
        let begun = self.begin(entropy);
        self.frame.begin(begun)
    }

    fn awaited(&self) -> Vec<MemberId> {
        self.seats.hands()
    }

    fn hear(&mut self, heard: Heard, _: &mut dyn Entropy) -> Result<Next<Self::Done>, Fault> {
        let step = match self.frame.take()? {
            State::Committed(nonces) => {
                let (stage, said) = self.part(&nonces, &heard)?;
                Step::On(stage, said)
            }
            State::Signed(package) => Step::Done(self.join(&package, &heard)?),
        };
        Ok(self.frame.go(step))
    }
}

/// Read by the library, which takes an element in its one form, of prime order and not the identity, and nothing else.
fn pair(words: &[u8]) -> Result<SigningCommitments, FaultKind> {
    let [hiding, binding] = chunks(words, 2)? else { return Err(FaultKind::PeerCommitment) };
    let read = |bytes| NonceCommitment::deserialize(bytes).map_err(|_| FaultKind::PeerMalformed);
    Ok(SigningCommitments::new(read(hiding)?, read(binding)?))
}
