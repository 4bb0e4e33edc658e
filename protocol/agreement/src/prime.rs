//! What GDH needs of a group: prime order, so that shares have inverses.

use crate::base::Entropy;
use zeroize::Zeroize;

/// A group of prime order with unclamped scalars. Decoding refuses everything but the one encoding of an element.
pub trait PrimeGroup: Send + Sync + 'static {
    /// An element. `Zeroize`: the group secret is one.
    type Element: Clone + PartialEq + Zeroize + Send;
    /// An exponent modulo the order.
    type Scalar: Clone + Zeroize + Send;
    /// Length of an encoded element, in bytes.
    const ELEMENT_BYTES: usize;

    /// The generator.
    fn generator() -> Self::Element;
    /// Whether `element` is the identity.
    fn is_identity(element: &Self::Element) -> bool;
    /// A uniformly random exponent that is not zero.
    fn draw(entropy: &mut dyn Entropy) -> Self::Scalar;
    /// `1 / scalar`; the argument is not zero.
    fn invert(scalar: &Self::Scalar) -> Self::Scalar;
    /// `left · right`.
    fn multiply(left: &Self::Scalar, right: &Self::Scalar) -> Self::Scalar;
    /// `element ^ scalar`.
    fn raise(element: &Self::Element, scalar: &Self::Scalar) -> Self::Element;
    /// The one encoding, [`Self::ELEMENT_BYTES`] long.
    fn encode(element: &Self::Element) -> Vec<u8>;
    /// The element that `bytes` encodes, if any. The identity is decoded too: the caller refuses it by name.
    fn decode(bytes: &[u8]) -> Option<Self::Element>;
}
