//! A key dealt by one hand, for charters with an authority: that hand could keep the key, and everybody trusts it not to.

use super::entropy::Asked;
use super::library::{Seats, count, elements, wrong_hands};
use super::{FrostSharing, Held};
use crate::base::{Entropy, MemberId, Secret};
use crate::polynomial::Polynomial;
use crate::{Edwards, Fault, PrimeGroup};
use frost_ed25519::SigningKey;
use frost_ed25519::keys::{self, IdentifierList};
use std::collections::BTreeMap;

/// Deals shares of a fresh key, `threshold` of which sign, to each of `holders` (the library's `generate_with_dealer`).
///
/// # Errors
/// [`crate::FaultKind::LocalHands`] unless 1 <= threshold <= holders <= [`crate::HANDS_MAX`], none of them twice.
pub fn deal(
    threshold: usize,
    holders: &[MemberId],
    entropy: &mut dyn Entropy,
) -> Result<BTreeMap<MemberId, Held>, Fault> {
    let secret = Secret::new(SigningKey::new(&mut Asked(entropy)).serialize());
    split(secret.expose(), threshold, holders, entropy)
}

/// [`deal`] of a key that exists: `secret` is a number modulo the group's order, little endian, not zero (not an RFC 8032 seed).
///
/// # Errors
/// As [`deal`]; also if `secret` is no such number.
pub fn split(
    secret: &[u8],
    threshold: usize,
    holders: &[MemberId],
    entropy: &mut dyn Entropy,
) -> Result<BTreeMap<MemberId, Held>, Fault> {
    let seats = Seats::new(holders)?;
    if threshold == 0 || threshold > seats.count() {
        return Err(wrong_hands());
    }
    if threshold == 1 { alike(secret, &seats, entropy) } else { apart(secret, threshold, &seats, entropy) }
}

/// The library deals from two on; with a threshold of one every share is the key.
fn alike(secret: &[u8], seats: &Seats, entropy: &mut dyn Entropy) -> Result<BTreeMap<MemberId, Held>, Fault> {
    let key = Edwards::decode_scalar(secret).filter(|key| *key != Edwards::zero()).ok_or_else(wrong_hands)?;
    let polynomial = Polynomial::<Edwards>::random(key, 0, entropy);
    let sharing = FrostSharing::from_elements(polynomial.commitments(), seats.hands());
    let sharing = sharing.map_err(|_| wrong_hands())?;
    let shares = seats
        .hands()
        .into_iter()
        .map(|hand| (hand, Edwards::encode_scalar(&polynomial.at(Edwards::place(&hand)))));
    held(&sharing, shares)
}

fn apart(
    secret: &[u8],
    threshold: usize,
    seats: &Seats,
    entropy: &mut dyn Entropy,
) -> Result<BTreeMap<MemberId, Held>, Fault> {
    let say = |error| seats.fault(&error);
    let key = SigningKey::deserialize(secret).map_err(|_| wrong_hands())?;
    let places = seats.hands().iter().map(|hand| seats.place(hand)).collect::<Result<Vec<_>, _>>()?;
    let (all, min) = (count(seats.count())?, count(threshold)?);
    let (shares, _) =
        keys::split(&key, all, min, IdentifierList::Custom(&places), &mut Asked(entropy)).map_err(say)?;
    let first = shares.values().next().ok_or_else(wrong_hands)?;
    let commitments = elements(first.commitment()).map_err(say)?;
    let sharing = FrostSharing::from_elements(commitments, seats.hands()).map_err(|_| wrong_hands())?;
    let shares =
        seats.named(shares.into_iter().map(|(place, share)| (place, share.signing_share().serialize())));
    held(&sharing, shares)
}

fn held(
    sharing: &FrostSharing,
    shares: impl IntoIterator<Item = (MemberId, Vec<u8>)>,
) -> Result<BTreeMap<MemberId, Held>, Fault> {
    let each = shares.into_iter().map(|(hand, number)| {
        let held = Held::new(sharing.clone(), hand, number).map_err(|_| wrong_hands())?;
        Ok((hand, held))
    });
    each.collect()
}
