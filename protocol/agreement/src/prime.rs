//! What the modules add to a group of prime order: which elements they refuse, and elements as
//! exponents.

use crate::{AgreementError, PrimeGroup};

/// Decodes one value: an element of the group (AGR-01).
pub(crate) fn element_or_identity<G: PrimeGroup>(bytes: &[u8]) -> Result<G::Element, AgreementError> {
    if bytes.len() != G::ELEMENT_BYTES {
        return Err(AgreementError::PeerMalformed);
    }
    G::decode_any(bytes).ok_or(AgreementError::PeerNotInGroup)
}

/// Decodes one value: an element of the group, not the identity (AGR-01, AGR-02).
pub(crate) fn element<G: PrimeGroup>(bytes: &[u8]) -> Result<G::Element, AgreementError> {
    let element = element_or_identity::<G>(bytes)?;
    if element == G::identity() { Err(AgreementError::PeerIdentity) } else { Ok(element) }
}

/// `1 / scalar`; the argument is not zero.
pub(crate) fn invert<G: PrimeGroup>(scalar: &G::Scalar) -> G::Scalar {
    G::inverse(*scalar).unwrap_or_else(G::zero)
}

/// The fixed map from secret elements to exponents (trees).
pub(crate) fn to_scalar<G: PrimeGroup>(element: &G::Element) -> G::Scalar {
    G::to_scalar(b"folkmoot element to exponent v1", element)
}

/// Another such map, under another label: what a Dutta–Barua group lends its speaker, made from the
/// key that it has.
pub(crate) fn lent_scalar<G: PrimeGroup>(key: &G::Element) -> G::Scalar {
    G::to_scalar(b"folkmoot dutta-barua lent share v1", key)
}
