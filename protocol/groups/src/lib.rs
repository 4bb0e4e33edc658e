//! Groups of prime order: the arithmetic under signatures and key agreement.
//!
//! ```text
//! P256        ECDSA signatures                                    elements of 33 bytes
//! Edwards     Ed25519 signatures: the subgroup of prime order     elements of 32 bytes
//! Ristretto   key agreement, and signatures that we alone read    elements of 32 bytes
//! ```
//! Decoding takes one encoding of a value and no other. Whatever may be secret goes through
//! operations in constant time; only [`PrimeGroup::raise_many`] may take variable time.

mod dalek;
mod p256;

pub use dalek::{Edwards, Ristretto};
pub use p256::P256;

use folkmoot_base::{Entropy, MemberId, draw};
use sha2::{Digest as _, Sha512};
use zeroize::Zeroize;

/// A group of prime order q with its field of q numbers. Written additively, as on curves.
pub trait PrimeGroup: Clone + Copy + Send + Sync + core::fmt::Debug + 'static {
    /// A number modulo q, not clamped.
    type Scalar: Copy + PartialEq + Zeroize + Send + Sync;
    /// An element. `Zeroize`: some elements are secret.
    type Element: Copy + PartialEq + Zeroize + Send + Sync;
    /// Length of an encoded number, in bytes.
    const SCALAR_BYTES: usize;
    /// Length of an encoded element, in bytes.
    const ELEMENT_BYTES: usize;
    /// The group's name, which hashes cover.
    const NAME: &'static [u8];

    /// `left + right`.
    fn plus(left: Self::Scalar, right: Self::Scalar) -> Self::Scalar;
    /// `-scalar`.
    fn minus(scalar: Self::Scalar) -> Self::Scalar;
    /// `left · right`.
    fn times(left: Self::Scalar, right: Self::Scalar) -> Self::Scalar;
    /// `1 / scalar`; zero has none.
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
    /// The point at which the polynomials of shared secrets are evaluated for `member`: SHA-512 of
    /// its id under a label, never zero. Nobody chooses its own.
    fn place(member: &MemberId) -> Self::Scalar {
        hashed::<Self>(&[b"folkmoot share place v1", &[0], Self::NAME, &[0], &member.0])
    }
    /// A fixed map from elements to numbers, one for each label: SHA-512 over label and encoding,
    /// reduced. The result is off uniform by less than 2^-250, and never zero.
    fn to_scalar(label: &[u8], element: &Self::Element) -> Self::Scalar {
        let mut encoded = Self::encode(element);
        let scalar = hashed::<Self>(&[label, &encoded]);
        encoded.zeroize();
        scalar
    }
    /// The one encoding, [`Self::SCALAR_BYTES`] long.
    fn encode_scalar(scalar: &Self::Scalar) -> Vec<u8>;
    /// The number that `bytes` encodes, zero included.
    fn decode_scalar(bytes: &[u8]) -> Option<Self::Scalar>;

    /// The generator.
    fn generator() -> Self::Element;
    /// The generator times `scalar`, in constant time.
    fn raise_generator(scalar: &Self::Scalar) -> Self::Element {
        Self::raise(&Self::generator(), scalar)
    }
    /// `element · scalar`, in constant time.
    fn raise(element: &Self::Element, scalar: &Self::Scalar) -> Self::Element;
    /// The sum of `elements · scalars`, for public values: may take variable time.
    fn raise_many(terms: &[(Self::Scalar, Self::Element)]) -> Self::Element {
        let products = terms.iter().map(|(scalar, element)| Self::raise(element, scalar));
        products.fold(Self::identity(), |sum, product| Self::add(&sum, &product))
    }
    /// `left + right`.
    fn add(left: &Self::Element, right: &Self::Element) -> Self::Element;
    /// `-element`.
    fn negate(element: &Self::Element) -> Self::Element;
    /// The neutral element.
    fn identity() -> Self::Element;
    /// The one encoding, [`Self::ELEMENT_BYTES`] long.
    fn encode(element: &Self::Element) -> Vec<u8>;
    /// The element that `bytes` encodes, if it is one of the group of prime order. The identity is
    /// decoded too, if the group has an encoding of it.
    fn decode_any(bytes: &[u8]) -> Option<Self::Element>;
    /// The element that `bytes` encodes; not the identity, nor one outside the group of prime
    /// order.
    fn decode(bytes: &[u8]) -> Option<Self::Element> {
        Self::decode_any(bytes).filter(|element| *element != Self::identity())
    }
}

/// SHA-512 of `parts`, reduced; zero becomes one.
fn hashed<G: PrimeGroup>(parts: &[&[u8]]) -> G::Scalar {
    let mut hash = Sha512::new();
    parts.iter().for_each(|part| hash.update(part));
    let mut wide: [u8; 64] = hash.finalize().into();
    let scalar = G::from_wide(&wide);
    wide.zeroize();
    if scalar == G::zero() { G::one() } else { scalar }
}
