//! What DSA needs of a group beyond adding and multiplying.

use crate::P256;
use crate::PrimeGroup;
use crate::base::Digest;
use p256::elliptic_curve::ops::Reduce;
use p256::elliptic_curve::point::AffineCoordinates as _;
use p256::elliptic_curve::scalar::IsHigh as _;
use p256::{FieldBytes, ProjectivePoint, Scalar};

/// A group in which (EC)DSA signatures are made.
pub trait DsaGroup: PrimeGroup {
    /// Whether the share stands behind what a signer draws. Off in vectors alone, whose numbers are
    /// given.
    const HEDGES: bool = true;

    /// The number r that an element gives a signature.
    fn number(element: &Self::Element) -> Self::Scalar;
    /// The number h that a digest is signed as.
    fn message(digest: &Digest) -> Self::Scalar;
    /// Of s and −s, which verify both, the one that is taken.
    fn low(s: Self::Scalar) -> Self::Scalar;
}

impl DsaGroup for P256 {
    /// The first coordinate, modulo the order (FIPS 186-5 §6.4.1).
    fn number(element: &ProjectivePoint) -> Scalar {
        <Scalar as Reduce<FieldBytes>>::reduce(&element.to_affine().x())
    }

    fn message(digest: &Digest) -> Scalar {
        <Scalar as Reduce<FieldBytes>>::reduce(&(*digest).into())
    }

    fn low(s: Scalar) -> Scalar {
        if bool::from(s.is_high()) { -s } else { s }
    }
}
