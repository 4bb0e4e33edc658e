//! Numbers modulo a large odd number, over `crypto-bigint`: the arithmetic of threshold RSA.
//!
//! Exponents that are secret go through [`pow`], in constant time for their precision; public ones
//! go through [`pow_public`]. What is kept of a secret is erased when dropped. What the library
//! holds in between is freed, not erased.

use crate::base::{Entropy, Secret};
use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, NonZero, Odd, Resize};
use zeroize::Zeroize;

/// A number modulo a [`Modulus`].
pub type Residue = BoxedMontyForm;

/// A public odd modulus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modulus(BoxedMontyParams);

impl Modulus {
    /// None if `number` is even, or less than three.
    pub fn new(number: &BoxedUint) -> Option<Self> {
        let bits = number.bits_vartime();
        let odd = Option::<Odd<BoxedUint>>::from(Odd::new(number.resize_unchecked(bits.max(1))))?;
        (bits > 1).then(|| Self(BoxedMontyParams::new_vartime(odd)))
    }

    /// The number itself, as precise as it is long.
    pub fn number(&self) -> &BoxedUint {
        self.0.modulus().as_ref()
    }

    /// The number itself, known not to be zero.
    pub fn divisor(&self) -> &NonZero<BoxedUint> {
        self.0.modulus().as_nz_ref()
    }

    /// Its length in bits.
    pub fn bits(&self) -> u32 {
        self.number().bits_vartime()
    }

    /// Length of a residue's encoding, in bytes.
    pub fn bytes(&self) -> usize {
        usize::try_from(self.bits().div_ceil(8)).unwrap_or(usize::MAX)
    }

    /// The precision of residues, in bits.
    pub fn precision(&self) -> u32 {
        self.number().bits_precision()
    }

    /// `number`, of whatever length, modulo this.
    pub fn residue(&self, number: &BoxedUint) -> Residue {
        BoxedMontyForm::new(number.rem(self.divisor()), &self.0)
    }

    /// One.
    pub fn one(&self) -> Residue {
        BoxedMontyForm::one(&self.0)
    }

    /// The residue that these bytes encode: big endian, [`Self::bytes`] of them, below the modulus,
    /// not zero.
    pub fn decode(&self, bytes: &[u8]) -> Option<Residue> {
        Some(self.residue(&self.decode_number(bytes)?))
    }

    /// The same as a number.
    pub fn decode_number(&self, bytes: &[u8]) -> Option<BoxedUint> {
        let number = decode(bytes, self.precision()).filter(|_| bytes.len() == self.bytes())?;
        (number < *self.number() && !bool::from(number.is_zero())).then_some(number)
    }

    /// The one encoding.
    pub fn encode(&self, residue: &Residue) -> Vec<u8> {
        encode(&residue.retrieve(), self.bytes())
    }

    /// A random residue, 2^-128 from uniform.
    pub fn draw(&self, entropy: &mut dyn Entropy) -> BoxedUint {
        draw_below(self.divisor(), entropy)
    }
}

/// `base` to a secret power, in constant time.
pub fn pow(base: &Residue, exponent: &BoxedUint) -> Residue {
    base.pow(exponent)
}

/// `base` to a public power: takes as long as the exponent is.
pub fn pow_public(base: &Residue, exponent: &BoxedUint) -> Residue {
    base.pow_bounded_exp(exponent, exponent.bits_vartime())
}

/// `1 / residue`, for public ones; none if it shares a factor with the modulus.
pub fn invert_public(residue: &Residue) -> Option<Residue> {
    residue.invert_vartime().into()
}

/// The number that these bytes are, big endian, of this precision in bits. None if they are more
/// than it holds.
pub fn decode(bytes: &[u8], precision: u32) -> Option<BoxedUint> {
    BoxedUint::from_be_slice(bytes, precision).ok()
}

/// The last `length` bytes of a number, big endian, with zeros in front if it has fewer.
pub fn encode(number: &BoxedUint, length: usize) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let mut out = vec![0; length.saturating_sub(bytes.len())];
    out.extend_from_slice(bytes.get(bytes.len().saturating_sub(length)..).unwrap_or_default());
    out
}

/// A random number below `bound`, 2^-128 from uniform, with the precision of `bound`. The time that
/// it takes depends on that precision alone.
pub fn draw_below(bound: &NonZero<BoxedUint>, entropy: &mut dyn Entropy) -> BoxedUint {
    let precision = bound.as_ref().bits_precision().saturating_add(128);
    let bytes = usize::try_from(precision.div_ceil(8)).unwrap_or(usize::MAX);
    let mut drawn = vec![0; bytes];
    entropy.fill(&mut drawn);
    let mut wide = BoxedUint::from_be_slice_truncated(&drawn, precision);
    drawn.zeroize();
    let number = wide.rem(bound);
    wide.zeroize();
    number
}

/// A polynomial over the numbers modulo `modulus` (which may be secret), its constant term first.
/// Erased when dropped.
pub struct RingPolynomial<'a> {
    modulus: &'a NonZero<BoxedUint>,
    terms: Vec<Secret<BoxedUint>>,
}

impl<'a> RingPolynomial<'a> {
    /// Of these terms, each below the modulus and of its precision.
    pub fn of(modulus: &'a NonZero<BoxedUint>, terms: Vec<Secret<BoxedUint>>) -> Self {
        Self { modulus, terms }
    }

    /// Random, of `degree`, with this value at zero.
    pub fn random(
        modulus: &'a NonZero<BoxedUint>,
        at_zero: Secret<BoxedUint>,
        degree: usize,
        entropy: &mut dyn Entropy,
    ) -> Self {
        let mut terms = vec![at_zero];
        terms.extend((0..degree).map(|_| Secret::new(draw_below(modulus, entropy))));
        Self::of(modulus, terms)
    }

    /// The value at `place` (Horner).
    pub fn at(&self, place: u64) -> Secret<BoxedUint> {
        let place = BoxedUint::from(place);
        let mut sum = BoxedUint::zero_with_precision(self.modulus.as_ref().bits_precision());
        for term in self.terms.iter().rev() {
            let mut product = sum.mul_mod(&place, self.modulus);
            sum.zeroize();
            sum = product.add_mod(term.expose(), self.modulus);
            product.zeroize();
        }
        Secret::new(sum)
    }
}
