//! A sharing: what all know of a key that is held in shares.

use crate::base::{Digest, MemberId, digest};
use crate::polynomial::committed;
use crate::{Edwards, HANDS_MAX, PrimeGroup, SigningError};
use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use curve25519_dalek::{EdwardsPoint, Scalar};
use std::collections::BTreeMap;

/// Bytes of a [`FrostKey`].
pub const KEY_BYTES: usize = 32;
/// Bytes of a [`FrostKey`] as SPKI.
pub const SPKI_BYTES: usize = 44;
/// Everything of an Ed25519 SPKI before the key, fixed by RFC 8410.
const SPKI_HEAD: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// The version of the encoding; its first byte.
const FORM: u8 = 1;

/// The public key of a sharing: an ordinary Ed25519 key (RFC 8032), in the subgroup of prime order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FrostKey([u8; KEY_BYTES]);

impl FrostKey {
    /// The key as Ed25519 verifiers take it.
    pub fn bytes(&self) -> [u8; KEY_BYTES] {
        self.0
    }

    /// The key as SPKI DER (RFC 8410), as certificates carry it.
    pub fn spki_der(&self) -> [u8; SPKI_BYTES] {
        let mut spki = [0; SPKI_BYTES];
        for (to, from) in spki.iter_mut().zip(SPKI_HEAD.iter().chain(&self.0)) {
            *to = *from;
        }
        spki
    }

    /// Checks an Ed25519 signature over the bytes of `message` (RFC 8032; without cofactor, s in range).
    ///
    /// # Errors
    /// [`SigningError::PeerSignature`].
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SigningError> {
        let key = UnparsedPublicKey::new(&ED25519, self.0);
        key.verify(message, signature).map_err(|_| SigningError::PeerSignature)
    }
}

impl core::fmt::Debug for FrostKey {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let head: String = self.0.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        write!(out, "FrostKey({head}..)")
    }
}

/// The public side of a shared key: Feldman's commitments to the polynomial, as many as the threshold, and who holds shares of it.
/// Whatever it says of shares follows from the commitments, so no two parts of it can disagree.
#[derive(Clone, PartialEq, Eq)]
pub struct FrostSharing {
    commitments: Vec<EdwardsPoint>,
    holders: Vec<MemberId>,
}

impl FrostSharing {
    /// From the commitments, encoded, the key's first, and the holders in any order.
    ///
    /// # Errors
    /// [`SigningError::WireSharing`] unless 1 <= commitments <= holders <= [`HANDS_MAX`], no holder is twice, and every commitment is
    /// an element of the group of prime order other than the identity.
    pub fn from_commitments(
        commitments: &[[u8; 32]],
        holders: impl IntoIterator<Item = MemberId>,
    ) -> Result<Self, SigningError> {
        let elements = commitments.iter().map(|bytes| Edwards::decode(bytes)).collect::<Option<Vec<_>>>();
        Self::from_elements(elements.ok_or(SigningError::WireSharing)?, holders.into_iter().collect())
    }

    /// From the threshold and every holder's verifying share, encoded.
    ///
    /// # Errors
    /// [`SigningError::WireSharing`] if the numbers are out of their limits, or the shares are not all of one polynomial of degree
    /// `threshold` − 1.
    pub fn from_verifying_shares(
        threshold: usize,
        shares: &BTreeMap<MemberId, [u8; 32]>,
    ) -> Result<Self, SigningError> {
        if threshold > shares.len() || shares.len() > HANDS_MAX {
            return Err(SigningError::WireSharing);
        }
        let known = shares
            .iter()
            .take(threshold)
            .map(|(holder, bytes)| Some((Edwards::place(holder), Edwards::decode(bytes)?)));
        let known: Vec<_> = known.collect::<Option<_>>().ok_or(SigningError::WireSharing)?;
        let commitments = coefficients(&known).ok_or(SigningError::WireSharing)?;
        let sharing = Self::from_elements(commitments, shares.keys().copied().collect())?;
        let fits = shares.iter().all(|(holder, bytes)| sharing.verifying_share(holder) == *bytes);
        if fits { Ok(sharing) } else { Err(SigningError::WireSharing) }
    }

    pub(super) fn from_elements(
        commitments: Vec<EdwardsPoint>,
        mut holders: Vec<MemberId>,
    ) -> Result<Self, SigningError> {
        let count = holders.len();
        holders.sort();
        holders.dedup();
        let counts = !commitments.is_empty() && commitments.len() <= count && count <= HANDS_MAX;
        if !counts || holders.len() != count || commitments.contains(&Edwards::identity()) {
            return Err(SigningError::WireSharing);
        }
        Ok(Self { commitments, holders })
    }

    /// How many holders sign together.
    pub fn threshold(&self) -> usize {
        self.commitments.len()
    }

    /// Who holds a share, sorted.
    pub fn holders(&self) -> &[MemberId] {
        &self.holders
    }

    /// Whether `member` holds a share.
    pub fn holds(&self, member: &MemberId) -> bool {
        self.holders.binary_search(member).is_ok()
    }

    /// The key under which the holders' signatures verify.
    pub fn key(&self) -> FrostKey {
        FrostKey(self.commitments.first().map_or([0; KEY_BYTES], |key| key.compress().to_bytes()))
    }

    /// The commitments, encoded, the key's first.
    pub fn commitments(&self) -> Vec<[u8; 32]> {
        self.commitments.iter().map(|element| element.compress().to_bytes()).collect()
    }

    /// What `member`'s share is times the generator, encoded; of a member without one, what it would be.
    pub fn verifying_share(&self, member: &MemberId) -> [u8; 32] {
        self.image(member).compress().to_bytes()
    }

    /// [`Self::verifying_share`] as an element.
    pub(super) fn image(&self, member: &MemberId) -> EdwardsPoint {
        committed::<Edwards>(&self.commitments, Edwards::place(member))
    }

    /// The commitments as elements.
    pub(super) fn elements(&self) -> &[EdwardsPoint] {
        &self.commitments
    }

    /// The share-epoch (DECISIONS N3): a digest of the commitments. It stays while newcomers are given shares of the same polynomial,
    /// and changes with every refresh and every change of the threshold.
    pub fn epoch(&self) -> Digest {
        digest(&[b"folkmoot frost share epoch v1", &[0], &super::words::write(&self.commitments)])
    }

    /// This sharing with `newcomer` among the holders; the same if it is one already.
    ///
    /// # Errors
    /// [`SigningError::WireSharing`] if there are [`HANDS_MAX`] holders.
    pub fn with_holder(&self, newcomer: MemberId) -> Result<Self, SigningError> {
        let mut holders = self.holders.clone();
        if !self.holds(&newcomer) {
            holders.push(newcomer);
        }
        Self::from_elements(self.commitments.clone(), holders)
    }

    /// The one encoding: version, threshold and number of holders as u16, commitments, holders' ids sorted.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![FORM];
        for count in [self.commitments.len(), self.holders.len()] {
            out.extend(u16::try_from(count).unwrap_or(u16::MAX).to_be_bytes());
        }
        out.extend(super::words::write(&self.commitments));
        out.extend(self.holders.iter().flat_map(|holder| holder.0));
        out
    }

    /// Reads what [`Self::encode`] writes, and nothing else.
    ///
    /// # Errors
    /// [`SigningError::WireSharing`].
    pub fn decode(bytes: &[u8]) -> Result<Self, SigningError> {
        let [FORM, t0, t1, n0, n1, rest @ ..] = bytes else { return Err(SigningError::WireSharing) };
        let threshold = usize::from(u16::from_be_bytes([*t0, *t1]));
        let count = usize::from(u16::from_be_bytes([*n0, *n1]));
        let (words, left) = rest.as_chunks::<32>();
        let (commitments, holders) = words.split_at_checked(threshold).ok_or(SigningError::WireSharing)?;
        if !left.is_empty() || holders.len() != count || count > HANDS_MAX || !holders.is_sorted() {
            return Err(SigningError::WireSharing);
        }
        Self::from_commitments(commitments, holders.iter().copied().map(MemberId))
    }
}

impl core::fmt::Debug for FrostSharing {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "FrostSharing({:?}, {} of {})", self.key(), self.threshold(), self.holders.len())
    }
}

/// The coefficients, times the generator, of the least polynomial through `known`: for each of its values Lagrange's polynomial is
/// multiplied out. None if two are at one place.
fn coefficients(known: &[(Scalar, EdwardsPoint)]) -> Option<Vec<EdwardsPoint>> {
    let bases = known.iter().enumerate().map(|(number, (place, _))| {
        let others =
            known.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, (place, _))| *place);
        basis(*place, others)
    });
    let bases: Vec<Vec<Scalar>> = bases.collect::<Option<_>>()?;
    let coefficient = |power: usize| {
        let terms =
            bases.iter().zip(known).filter_map(|(basis, (_, value))| Some((*basis.get(power)?, *value)));
        Edwards::raise_many(&terms.collect::<Vec<_>>())
    };
    Some((0..known.len()).map(coefficient).collect())
}

/// Lagrange's polynomial that is one at `place` and zero at all `others`, its constant term first.
fn basis(place: Scalar, others: impl Iterator<Item = Scalar>) -> Option<Vec<Scalar>> {
    let mut terms = vec![Edwards::one()];
    let mut below = Edwards::one();
    for other in others {
        let minus = Edwards::minus(other);
        below = Edwards::times(below, Edwards::plus(place, minus));
        let higher = std::iter::once(Edwards::zero()).chain(terms.iter().copied());
        let lower = terms.iter().copied().chain([Edwards::zero()]);
        terms =
            higher.zip(lower).map(|(high, low)| Edwards::plus(high, Edwards::times(minus, low))).collect();
    }
    let over = Edwards::inverse(below)?;
    Some(terms.into_iter().map(|term| Edwards::times(term, over)).collect())
}
