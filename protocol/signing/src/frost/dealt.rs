//! All have dealt to all, by commitments that all know: what is left is to hand the shares over and to add them up. The same for a
//! new key and for a refresh of one.

use super::handover::{Handover, Image, Numbers};
use super::library::{Seats, wrong_hands};
use super::{FrostSharing, Held};
use crate::base::{MemberId, Secret};
use crate::polynomial::committed;
use crate::{Edwards, Fault, FaultKind, Heard, PrimeGroup, Said};
use curve25519_dalek::EdwardsPoint;
use frost_ed25519::keys::dkg::{round1, round2};
use frost_ed25519::keys::{KeyPackage, SigningShare};
use frost_ed25519::{Error, Identifier};
use std::collections::BTreeMap;

/// The others' packages of round 1.
pub(super) type Packages = BTreeMap<Identifier, round1::Package>;
/// Shares in the library's words, by their giver or taker.
pub(super) type Shares = BTreeMap<Identifier, round2::Package>;
/// What all know of each hand's polynomial.
pub(super) type Polynomials = BTreeMap<MemberId, Vec<EdwardsPoint>>;

/// What a hand keeps once all have dealt.
pub(super) struct Dealt {
    secret: round2::SecretPackage,
    packages: Packages,
    /// The commitments of the sharing to come.
    sum: Vec<EdwardsPoint>,
    shares: Handover,
}

impl Dealt {
    /// `given` is what this hand gives to each other; it is said first.
    pub(super) fn new(
        (me, seats): (MemberId, &Seats),
        packages: Packages,
        (secret, given): (round2::SecretPackage, Shares),
        (sum, polynomials): (Vec<EdwardsPoint>, Polynomials),
    ) -> (Box<Self>, Said) {
        let given =
            given.into_iter().map(|(hand, package)| (hand, Secret::new(package.signing_share().serialize())));
        let hands = seats.hands();
        let shares = Handover::new(me, hands.clone(), hands, image(polynomials), seats.named(given));
        let said = shares.give();
        (Box::new(Self { secret, packages, sum, shares }), said)
    }

    pub(super) fn awaited(&self) -> Vec<MemberId> {
        self.shares.awaited()
    }

    /// Takes a round; says what is said in the next one, or nothing: all is settled.
    pub(super) fn hear(&mut self, heard: Heard) -> Result<Option<Said>, Fault> {
        self.shares.hear(heard)
    }

    /// What this hand has of the sharing, its share as `add` makes it of all that were given.
    pub(super) fn end(
        self,
        (me, seats): (MemberId, &Seats),
        add: impl FnOnce(&round2::SecretPackage, &Packages, &Shares) -> Result<KeyPackage, Error>,
    ) -> Result<Held, Fault> {
        let taken = read_shares(seats, &self.shares.taken())?;
        let key = add(&self.secret, &self.packages, &taken).map_err(|error| seats.fault(&error))?;
        let sharing = FrostSharing::from_elements(self.sum, seats.hands());
        let sharing = sharing.map_err(|_| Fault::of_nobody(FaultKind::Again))?;
        Held::new(sharing, me, key.signing_share().serialize()).map_err(|_| wrong_hands())
    }
}

/// What each hand's share of each hand's polynomial is, times the generator.
fn image(polynomials: Polynomials) -> Image {
    Box::new(move |giver, taker| {
        let polynomial = polynomials.get(giver).map(Vec::as_slice).unwrap_or_default();
        committed::<Edwards>(polynomial, Edwards::place(taker))
    })
}

/// Shares that were taken, as the library wants them.
fn read_shares(seats: &Seats, taken: &Numbers) -> Result<Shares, Fault> {
    let each = taken.iter().map(|(hand, number)| {
        let share = SigningShare::deserialize(number.expose()).map_err(|error| seats.fault(&error))?;
        Ok((seats.place(hand)?, round2::Package::new(share)))
    });
    each.collect()
}
