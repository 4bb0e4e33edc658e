//! Generation of a key that nobody ever has, without a dealer (Komlo and Goldberg 2020, figure 1; the library's `dkg`).
//!
//! Each hand deals a secret of its own to all, the key is the sum. The library checks its proof that it knows that secret, which is
//! what keeps a hand from choosing its commitments by the others' so as to know the key. Ours is the rest: each commits to its package
//! before any is opened, under the run's name, so that a package counts in one run only and no hand fits its own to the others'; each
//! package has exactly as many commitments as the threshold (one more would raise it); and bad shares are disputed in the open.

use super::Held;
use super::dealt::{Dealt, Packages};
use super::entropy::Asked;
use super::frame::{Frame, Step};
use super::library::{Seats, commitments, count, wrong_hands};
use super::words::{self, judge, tag};
use crate::base::{Digest, Entropy, MemberId, digest};
use crate::{Edwards, Fault, FaultKind, Heard, Next, PrimeGroup, Run, RunId, Said};
use curve25519_dalek::EdwardsPoint;
use frost_ed25519::keys::dkg::{part1, part2, part3, round1};
use frost_ed25519::{
    Ciphersuite, Ed25519Group, Ed25519ScalarField, Ed25519Sha512, Error, Field, Group, Identifier, Signature,
    SigningKey, VerifyingKey,
};
use std::collections::BTreeMap;

/// Bytes of the proof that ends a package: R ‖ z.
const PROOF: usize = 64;

/// One founder's hand in the making of a key.
pub struct Dkg {
    me: MemberId,
    tag: Digest,
    threshold: usize,
    seats: Seats,
    frame: Frame<State>,
}

enum State {
    Committed { secret: round1::SecretPackage, words: Vec<u8> },
    Opened { secret: round1::SecretPackage, digests: BTreeMap<MemberId, Digest> },
    Dealt(Box<Dealt>),
}

/// A package of round 1, read.
struct Opened {
    commitments: Vec<EdwardsPoint>,
    package: round1::Package,
}

impl Dkg {
    /// A hand of `me` among `hands`, for a key of which `threshold` sign.
    ///
    /// # Errors
    /// [`FaultKind::LocalHands`] unless 1 <= threshold <= hands <= [`crate::HANDS_MAX`], none twice, `me` among them.
    pub fn new(me: MemberId, run: RunId, hands: &[MemberId], threshold: usize) -> Result<Self, Fault> {
        let seats = Seats::new(hands)?;
        if threshold == 0 || threshold > seats.count() || !seats.has(&me) {
            return Err(wrong_hands());
        }
        let on: &[&[u8]] = &[&count(threshold)?.to_be_bytes()];
        let tag = tag(b"folkmoot frost dkg v1", &run, &seats.hands(), on);
        Ok(Self { me, tag, threshold, seats, frame: Frame::Idle })
    }

    fn begin(&self, entropy: &mut dyn Entropy) -> Result<(State, Said), Fault> {
        let own = self.seats.place(&self.me)?;
        let (all, min) = (count(self.seats.count())?, count(self.threshold)?);
        let entropy = &mut Asked(entropy);
        let dealt = if min == 1 { part1_of_one(own, all, entropy) } else { part1(own, all, min, entropy) };
        let (secret, package) = dealt.map_err(|error| self.seats.fault(&error))?;
        let words = write(&package).map_err(|error| self.seats.fault(&error))?;
        let said = Said { to_all: self.digest_of(&self.me, &words).to_vec(), ..Said::default() };
        Ok((State::Committed { secret, words }, said))
    }

    fn digest_of(&self, hand: &MemberId, words: &[u8]) -> Digest {
        digest(&[b"folkmoot frost dkg package v1", &[0], &self.tag, &hand.0, words])
    }

    /// The committed packages, opened: those committed to, of the right length, proven.
    fn open(
        &self,
        secret: round1::SecretPackage,
        digests: &BTreeMap<MemberId, Digest>,
        heard: &Heard,
    ) -> Result<Step<State, Held>, Fault> {
        let opened = judge(heard, &self.seats.hands(), |hand, words| {
            if digests.get(hand) != Some(&self.digest_of(hand, words)) {
                return Err(FaultKind::PeerReveal);
            }
            read(words, self.threshold)
        })?;
        let sum = (0..self.threshold).map(|term| sum_of(&opened, term)).collect();
        let packages: Packages = opened
            .iter()
            .filter(|(hand, _)| **hand != self.me)
            .map(|(hand, opened)| Ok((self.seats.place(hand)?, opened.package.clone())))
            .collect::<Result<_, Fault>>()?;
        let dealt = part2(secret, &packages).map_err(|error| self.seats.fault(&error))?;
        let polynomials = opened.into_iter().map(|(hand, opened)| (hand, opened.commitments)).collect();
        let (dealt, said) = Dealt::new((self.me, &self.seats), packages, dealt, (sum, polynomials));
        Ok(Step::On(State::Dealt(dealt), said))
    }

    fn end(&self, dealt: Dealt) -> Result<Held, Fault> {
        dealt.end((self.me, &self.seats), |secret, packages, taken| {
            part3(secret, packages, taken).map(|(key, _)| key)
        })
    }
}

impl Run for Dkg {
    type Done = Held;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Held> {
        let begun = self.begin(entropy);
        self.frame.begin(begun)
    }

    fn awaited(&self) -> Vec<MemberId> {
        match self.frame.stage() {
            Some(State::Dealt(dealt)) => dealt.awaited(),
            _ => self.seats.hands(),
        }
    }

    fn hear(&mut self, heard: Heard, _: &mut dyn Entropy) -> Result<Next<Held>, Fault> {
        let step = match self.frame.take()? {
            State::Committed { secret, words } => {
                let digest_of =
                    |_: &MemberId, words: &[u8]| words.try_into().map_err(|_| FaultKind::PeerMalformed);
                let digests = judge(&heard, &self.seats.hands(), digest_of)?;
                Step::On(State::Opened { secret, digests }, Said { to_all: words, ..Said::default() })
            }
            State::Opened { secret, digests } => self.open(secret, &digests, &heard)?,
            State::Dealt(mut dealt) => match dealt.hear(heard)? {
                Some(said) => Step::On(State::Dealt(dealt), said),
                None => Step::Done(self.end(*dealt)?),
            },
        };
        Ok(self.frame.go(step))
    }
}

/// A package: its commitments, then its proof.
fn write(package: &round1::Package) -> Result<Vec<u8>, Error> {
    let mut words = package.commitment().serialize_whole()?;
    words.extend(package.proof_of_knowledge().serialize()?);
    Ok(words)
}

fn read(words: &[u8], threshold: usize) -> Result<Opened, FaultKind> {
    let length = words.len().checked_sub(PROOF).ok_or(FaultKind::PeerMalformed)?;
    let (polynomial, proof) = words.split_at_checked(length).ok_or(FaultKind::PeerMalformed)?;
    let elements = words::elements(polynomial, threshold)?;
    let vector = commitments(&elements).map_err(|_| FaultKind::PeerMalformed)?;
    let proof = Signature::deserialize(proof).map_err(|_| FaultKind::PeerMalformed)?;
    Ok(Opened { commitments: elements, package: round1::Package::new(vector, proof) })
}

fn sum_of(opened: &BTreeMap<MemberId, Opened>, term: usize) -> EdwardsPoint {
    let terms = opened.values().filter_map(|opened| opened.commitments.get(term));
    terms.fold(Edwards::identity(), |sum, element| Edwards::add(&sum, element))
}

/// The library's `part1` for a threshold of one, which it refuses although its other parts do not mind: a polynomial of degree zero.
fn part1_of_one(
    own: Identifier,
    all: u16,
    entropy: &mut Asked<'_>,
) -> Result<(round1::SecretPackage, round1::Package), Error> {
    let key = SigningKey::new(entropy);
    let public = VerifyingKey::from(&key).serialize()?;
    let (nonce, image) = Ed25519Sha512::generate_nonce(entropy);
    let image = Ed25519Group::serialize(&image)?;
    let covered = [own.serialize().as_slice(), &public, &image].concat();
    let challenge = Ed25519Sha512::HDKG(&covered).ok_or(Error::DKGNotSupported)?;
    let secret = key.to_scalar();
    let answer = Ed25519ScalarField::serialize(&(nonce + secret * challenge));
    let proof = Signature::deserialize(&[image, answer].concat())?;
    let vector = frost_ed25519::keys::VerifiableSecretSharingCommitment::deserialize([public])?;
    let package = round1::Package::new(vector.clone(), proof);
    Ok((round1::SecretPackage::new(own, vec![secret], vector, 1, all), package))
}
