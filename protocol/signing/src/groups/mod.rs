//! What shared secrets need of a group of prime order: a field to draw polynomials over, and elements to commit with.

mod curve;
mod dalek;
mod edwards;
mod ristretto;

pub use curve::P256;
pub use edwards::Edwards;
pub use ristretto::Ristretto;

use crate::base::{Entropy, MemberId, draw};
use sha2::{Digest as _, Sha512};
use zeroize::Zeroize;

/// A group of prime order q with its field of q numbers. Written additively, as on curves. Decoding takes one encoding only.
pub trait PrimeGroup: Clone + Copy + Send + Sync + core::fmt::Debug + 'static {
    /// A number modulo q.
    type Scalar: Copy + PartialEq + Zeroize + Send + Sync;
    /// An element.
    type Element: Copy + PartialEq + Send + Sync;
    /// Length of an encoded number, in bytes.
    const SCALAR_BYTES: usize;
    /// Length of an encoded element, in bytes.
    const ELEMENT_BYTES: usize;
    /// The group's name, covered by hashes.
    const NAME: &'static [u8];

    /// `left + right`.
    fn plus(left: Self::Scalar, right: Self::Scalar) -> Self::Scalar;
    /// `-scalar`.
    fn minus(scalar: Self::Scalar) -> Self::Scalar;
    /// `left · right`.
    fn times(left: Self::Scalar, right: Self::Scalar) -> Self::Scalar;
    /// `1 / scalar`; none of zero.
    fn inverse(scalar: Self::Scalar) -> Option<Self::Scalar>;
    /// Zero.
    fn zero() -> Self::Scalar;
    /// One.
    fn one() -> Self::Scalar;
    /// A uniformly random number that is not zero.
    fn draw(entropy: &mut dyn Entropy) -> Self::Scalar {
        loop {
            let mut wide: [u8; 64] = draw(entropy);
            let scalar = Self::from_wide(&wide);
            wide.zeroize();
            if scalar != Self::zero() {
                return scalar;
            }
        }
    }
    /// A number from 64 uniformly random bytes (a wide hash).
    fn from_wide(bytes: &[u8; 64]) -> Self::Scalar;
    /// Where the polynomials of shared secrets are evaluated for `member`: SHA-512 of its id under a label, never zero; nobody
    /// chooses its own.
    fn place(member: &MemberId) -> Self::Scalar {
        let mut hash = Sha512::new();
        for part in [b"folkmoot share place v1".as_slice(), &[0], Self::NAME, &[0], &member.0] {
            hash.update(part);
        }
        let place = Self::from_wide(&hash.finalize().into());
        if place == Self::zero() { Self::one() } else { place }
    }
    /// The one encoding, [`Self::SCALAR_BYTES`] long.
    fn encode_scalar(scalar: &Self::Scalar) -> Vec<u8>;
    /// The number that `bytes` encodes, zero included.
    fn decode_scalar(bytes: &[u8]) -> Option<Self::Scalar>;

    /// The generator, `times` a number.
    fn raise_generator(scalar: &Self::Scalar) -> Self::Element;
    /// `element · scalar`, in constant time.
    fn raise(element: &Self::Element, scalar: &Self::Scalar) -> Self::Element;
    /// The sum of `elements · scalars`, for public values: may take variable time.
    fn raise_many(terms: &[(Self::Scalar, Self::Element)]) -> Self::Element;
    /// `left + right`.
    fn add(left: &Self::Element, right: &Self::Element) -> Self::Element;
    /// The neutral element.
    fn identity() -> Self::Element;
    /// The one encoding, [`Self::ELEMENT_BYTES`] long.
    fn encode(element: &Self::Element) -> Vec<u8>;
    /// The element that `bytes` encodes; not the identity, nor one outside the group of prime order.
    fn decode(bytes: &[u8]) -> Option<Self::Element>;
}
