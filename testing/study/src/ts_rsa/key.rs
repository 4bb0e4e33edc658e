//! The public side, a share, and Lagrange's coefficients over Z_N. **Insecure**: see the module.

use crypto_bigint::{BoxedUint, Odd};
use folkmoot_base::{MemberId, Secret, codec, digest};
use folkmoot_signing::danger::ForStudy;
use folkmoot_signing::modular::{Modulus, encode};

/// Where the polynomial is evaluated for a member.
pub type PlaceOf = fn(&MemberId) -> u64;

/// The first 64 bits of SHA-256 of the id under a label, never zero. The difference of two places
/// is smaller than p and q, hence has an inverse modulo N, unless two members share a place, which
/// happens to one pair in 2^64: then [`folkmoot_signing::FaultKind::LocalSigners`].
pub fn hashed_place(member: &MemberId) -> u64 {
    let hash = digest(&[b"folkmoot ts-rsa place v1\0", &member.0]);
    let first = hash.first_chunk().map_or(1, |bytes| u64::from_be_bytes(*bytes));
    first.max(1)
}

/// What all holders know. **Insecure**: for study.
#[derive(Debug, Clone)]
pub struct TsRsaSharing {
    pub(super) modulus: Modulus,
    pub(super) exponent: u32,
    pub(super) threshold: u16,
    pub(super) place: PlaceOf,
}

impl TsRsaSharing {
    /// How many holders sign.
    pub fn threshold(&self) -> u16 {
        self.threshold
    }

    /// The modulus, big endian.
    pub fn modulus(&self) -> Vec<u8> {
        encode(self.modulus.number(), self.modulus.bytes())
    }

    /// The public exponent.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// Where the polynomial is evaluated for `member`.
    pub fn place(&self, member: &MemberId) -> u64 {
        (self.place)(member)
    }

    /// The same key after a reshare to another threshold.
    #[must_use]
    pub fn with_threshold(&self, threshold: u16, _: ForStudy) -> Self {
        Self { threshold, ..self.clone() }
    }

    /// λ of `hand` among `hands` for the value at `place`, modulo N: ∏ (place − id_k) / (id_hand −
    /// id_k). None if two share a place, or a difference has no inverse.
    pub(super) fn lagrange(&self, hand: &MemberId, hands: &[MemberId], place: u64) -> Option<BoxedUint> {
        let number = |value: u64| self.modulus.residue(&BoxedUint::from(value)).retrieve();
        let (target, own, divisor) = (number(place), number(self.place(hand)), self.modulus.divisor());
        let (mut above, mut below) = (number(1), number(1));
        for other in hands.iter().filter(|other| *other != hand) {
            let theirs = number(self.place(other));
            above = above.mul_mod(&target.sub_mod(&theirs, divisor), divisor);
            below = below.mul_mod(&own.sub_mod(&theirs, divisor), divisor);
        }
        let odd: &Odd<BoxedUint> = self.modulus.number().as_odd_vartime()?;
        let inverse: BoxedUint = Option::from(below.invert_odd_mod_vartime(odd))?;
        Some(above.mul_mod(&inverse, divisor))
    }

    /// A number said to one hand: version 1 ‖ as many bytes as N has.
    pub(super) fn write(&self, number: &BoxedUint) -> Secret<Vec<u8>> {
        let mut words = Vec::with_capacity(self.modulus.bytes().saturating_add(1));
        words.push(codec::WIRE_VERSION);
        words.extend_from_slice(&encode(number, self.modulus.bytes()));
        Secret::new(words)
    }

    /// What follows the version: as many bytes as N has.
    pub(super) fn body<'a>(&self, words: &'a [u8]) -> Option<&'a [u8]> {
        let (version, body) = words.split_first()?;
        (*version == codec::WIRE_VERSION && body.len() == self.modulus.bytes()).then_some(body)
    }

    /// Reads what [`Self::write`] writes: below N, zero allowed.
    pub(super) fn read(&self, words: &[u8]) -> Option<BoxedUint> {
        let bytes = self.body(words)?;
        let number = folkmoot_signing::modular::decode(bytes, self.modulus.precision())?;
        (number < *self.modulus.number()).then_some(number)
    }
}

/// A share: a number modulo N that nothing verifies. **Insecure**: for study. Erased when dropped.
#[derive(Debug, Clone)]
pub struct TsRsaShare(pub(super) Secret<BoxedUint>);

impl TsRsaShare {
    /// The share as big-endian bytes, as long as the modulus.
    pub fn to_bytes(&self, sharing: &TsRsaSharing) -> Secret<Vec<u8>> {
        Secret::new(encode(self.0.expose(), sharing.modulus.bytes()))
    }

    /// Reads [`Self::to_bytes`]: any number below N passes, for there is nothing to check it
    /// against. That is the flaw.
    pub fn from_bytes(bytes: &[u8], sharing: &TsRsaSharing, _: ForStudy) -> Option<Self> {
        let number = folkmoot_signing::modular::decode(bytes, sharing.modulus.precision())?;
        let good = bytes.len() == sharing.modulus.bytes() && number < *sharing.modulus.number();
        good.then(|| Self(Secret::new(number)))
    }

    /// ss_j · λ_j(place) mod N, for `hand` among `hands`.
    pub(super) fn weighted(
        &self,
        sharing: &TsRsaSharing,
        hand: &MemberId,
        hands: &[MemberId],
        place: u64,
    ) -> Option<Secret<BoxedUint>> {
        let weight = sharing.lagrange(hand, hands, place)?;
        Some(Secret::new(self.0.expose().mul_mod(&weight, sharing.modulus.divisor())))
    }

    /// d_j, the exponent with which `hand` signs among `hands`, big endian: what the published
    /// scheme computes, to be looked at.
    pub fn exponent(
        &self,
        sharing: &TsRsaSharing,
        hand: &MemberId,
        hands: &[MemberId],
    ) -> Option<Secret<Vec<u8>>> {
        self.partial(sharing, hand, hands, 0)
    }

    /// pss_j(new), before shuffling: from this and the public λ anyone computes ss_j, which is why
    /// it is shuffled.
    pub fn partial(
        &self,
        sharing: &TsRsaSharing,
        hand: &MemberId,
        hands: &[MemberId],
        place: u64,
    ) -> Option<Secret<Vec<u8>>> {
        let number = self.weighted(sharing, hand, hands, place)?;
        Some(Secret::new(encode(number.expose(), sharing.modulus.bytes())))
    }
}
