//! What the modules need of a group: prime order, so that shares have inverses, and elements that serve as exponents.

use crate::AgreementError;
use crate::base::Entropy;
use zeroize::Zeroize;

/// A group of prime order with unclamped scalars. Decoding refuses everything but the one encoding of an element.
pub trait PrimeGroup: Clone + Send + Sync + 'static {
    /// An element. `Zeroize`: the group secret is one.
    type Element: Clone + PartialEq + Zeroize + Send + Sync;
    /// An exponent modulo the order.
    type Scalar: Clone + Zeroize + Send + Sync;
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
    /// `left · right` of elements (a point sum on a curve).
    fn combine(left: &Self::Element, right: &Self::Element) -> Self::Element;
    /// `1 / element`.
    fn inverse(element: &Self::Element) -> Self::Element;
    /// The neutral element.
    fn identity() -> Self::Element;
    /// The fixed map from secret elements to exponents (trees and Dutta–Barua joins); never zero.
    fn to_scalar(element: &Self::Element) -> Self::Scalar;
    /// Another such map, under another label: what a Dutta–Barua group lends its speaker, from the key it has.
    fn lent_scalar(key: &Self::Element) -> Self::Scalar;
    /// The one encoding of an exponent. For exponents that have become worthless (a run that failed).
    fn encode_scalar(scalar: &Self::Scalar) -> Vec<u8>;
    /// The exponent that `bytes` encodes, if it is that and not zero.
    fn decode_scalar(bytes: &[u8]) -> Option<Self::Scalar>;
    /// The one encoding, [`Self::ELEMENT_BYTES`] long.
    fn encode(element: &Self::Element) -> Vec<u8>;
    /// The element that `bytes` encodes, if any. The identity is decoded too: the caller refuses it by name.
    fn decode(bytes: &[u8]) -> Option<Self::Element>;
}

/// Decodes one value: an element of the group (AGR-01).
pub(crate) fn element_or_identity<G: PrimeGroup>(bytes: &[u8]) -> Result<G::Element, AgreementError> {
    if bytes.len() != G::ELEMENT_BYTES {
        return Err(AgreementError::PeerMalformed);
    }
    G::decode(bytes).ok_or(AgreementError::PeerNotInGroup)
}

/// Decodes one value: an element of the group, not the identity (AGR-01, AGR-02).
pub(crate) fn element<G: PrimeGroup>(bytes: &[u8]) -> Result<G::Element, AgreementError> {
    let element = element_or_identity::<G>(bytes)?;
    if G::is_identity(&element) { Err(AgreementError::PeerIdentity) } else { Ok(element) }
}
