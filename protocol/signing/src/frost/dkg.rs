//! Generation of a key that nobody ever has, without a dealer (Komlo and Goldberg 2020, figure 1; the library's `dkg`).
//!
//! Each hand deals a secret of its own to all, the key is the sum. The library checks its proof that it knows that secret, which is
//! what keeps a hand from choosing its commitments by the others' so as to know the key. Ours is the rest: each commits to its package
//! before any is opened, under the run's name, so that a package counts in one run only and no hand fits its own to the others'; each
//! package has exactly as many commitments as the threshold (one more would raise it); and bad shares are disputed in the open.

use super::entropy::Asked;
use super::handover::{Handover, Image, Numbers};
use super::library::{Seats, commitments, count, wrong_hands};
use super::words::{self, judge, tag};
use super::{FrostSharing, Held};
use crate::base::{Digest, Entropy, MemberId, Secret, digest};
use crate::polynomial::committed;
use crate::{Edwards, Fault, FaultKind, Heard, Next, PrimeGroup, Run, RunId, Said};
use curve25519_dalek::EdwardsPoint;
use frost_ed25519::keys::SigningShare;
use frost_ed25519::keys::dkg::{part1, part2, part3, round1, round2};
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
    state: State,
}

enum State {
    Idle,
    Committed { secret: round1::SecretPackage, words: Vec<u8> },
    Opened { secret: round1::SecretPackage, digests: BTreeMap<MemberId, Digest> },
    Dealt(Box<Dealt>),
    Over(Fault),
}

/// What a hand keeps once all have dealt.
pub(super) struct Dealt {
    pub(super) secret: round2::SecretPackage,
    pub(super) packages: Packages,
    /// The commitments of the sharing to come.
    pub(super) sum: Vec<EdwardsPoint>,
    pub(super) shares: Handover,
}

/// The others' packages of round 1.
pub(super) type Packages = BTreeMap<Identifier, round1::Package>;

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
        Ok(Self { me, tag, threshold, seats, state: State::Idle })
    }

    fn begin(&mut self, entropy: &mut dyn Entropy) -> Result<Said, Fault> {
        let own = self.seats.place(&self.me)?;
        let (all, min) = (count(self.seats.count())?, count(self.threshold)?);
        let entropy = &mut Asked(entropy);
        let dealt = if min == 1 { part1_of_one(own, all, entropy) } else { part1(own, all, min, entropy) };
        let (secret, package) = dealt.map_err(|error| self.seats.fault(&error))?;
        let words = write(&package).map_err(|error| self.seats.fault(&error))?;
        let said = Said { to_all: self.digest_of(&self.me, &words).to_vec(), ..Said::default() };
        self.state = State::Committed { secret, words };
        Ok(said)
    }

    fn digest_of(&self, hand: &MemberId, words: &[u8]) -> Digest {
        digest(&[b"folkmoot frost dkg package v1", &[0], &self.tag, &hand.0, words])
    }

    /// The committed packages, opened: those committed to, of the right length, proven.
    fn open(
        &mut self,
        secret: round1::SecretPackage,
        digests: &BTreeMap<MemberId, Digest>,
        heard: &Heard,
    ) -> Result<Said, Fault> {
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
        let (secret, given) = part2(secret, &packages).map_err(|error| self.seats.fault(&error))?;
        let given =
            given.into_iter().map(|(hand, package)| (hand, Secret::new(package.signing_share().serialize())));
        let polynomials = opened.into_iter().map(|(hand, opened)| (hand, opened.commitments)).collect();
        let hands = self.seats.hands();
        let shares =
            Handover::new(self.me, hands.clone(), hands, image(polynomials), self.seats.named(given));
        let said = shares.give();
        self.state = State::Dealt(Box::new(Dealt { secret, packages, sum, shares }));
        Ok(said)
    }

    fn end(&self, dealt: Dealt) -> Result<Held, Fault> {
        let Dealt { secret, packages, sum, shares } = dealt;
        let taken = read_shares(&self.seats, &shares.taken())?;
        let (key, _) = part3(&secret, &packages, &taken).map_err(|error| self.seats.fault(&error))?;
        let sharing = FrostSharing::from_elements(sum, self.seats.hands());
        let sharing = sharing.map_err(|_| Fault::of_nobody(FaultKind::Again))?;
        Held::new(sharing, self.me, key.signing_share().serialize()).map_err(|_| wrong_hands())
    }
}

impl Run for Dkg {
    type Done = Held;

    fn start(&mut self, entropy: &mut dyn Entropy) -> Next<Held> {
        let said = self.begin(entropy);
        Next::Say(said.unwrap_or_else(|fault| {
            self.state = State::Over(fault);
            Said::default()
        }))
    }

    fn awaited(&self) -> Vec<MemberId> {
        match &self.state {
            State::Dealt(dealt) => dealt.shares.awaited(),
            _ => self.seats.hands(),
        }
    }

    fn hear(&mut self, heard: Heard, _: &mut dyn Entropy) -> Result<Next<Held>, Fault> {
        let over = State::Over(Fault::of_nobody(FaultKind::LocalRound));
        match std::mem::replace(&mut self.state, over) {
            State::Idle => Err(Fault::of_nobody(FaultKind::LocalRound)),
            State::Committed { secret, words } => {
                let digest_of =
                    |_: &MemberId, words: &[u8]| words.try_into().map_err(|_| FaultKind::PeerMalformed);
                let digests = judge(&heard, &self.seats.hands(), digest_of)?;
                self.state = State::Opened { secret, digests };
                Ok(Next::Say(Said { to_all: words, ..Said::default() }))
            }
            State::Opened { secret, digests } => self.open(secret, &digests, &heard).map(Next::Say),
            State::Dealt(mut dealt) => match dealt.shares.hear(heard)? {
                Some(said) => {
                    self.state = State::Dealt(dealt);
                    Ok(Next::Say(said))
                }
                None => self.end(*dealt).map(Next::Done),
            },
            State::Over(fault) => Err(fault),
        }
    }
}

/// What each hand's share of each hand's polynomial is, times the generator.
pub(super) fn image(polynomials: BTreeMap<MemberId, Vec<EdwardsPoint>>) -> Image {
    Box::new(move |giver, taker| {
        let polynomial = polynomials.get(giver).map(Vec::as_slice).unwrap_or_default();
        committed::<Edwards>(polynomial, Edwards::place(taker))
    })
}

/// Shares that were taken, as the library wants them.
pub(super) fn read_shares(
    seats: &Seats,
    taken: &Numbers,
) -> Result<BTreeMap<Identifier, round2::Package>, Fault> {
    let each = taken.iter().map(|(hand, number)| {
        let share = SigningShare::deserialize(number.expose()).map_err(|error| seats.fault(&error))?;
        Ok((seats.place(hand)?, round2::Package::new(share)))
    });
    each.collect()
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
