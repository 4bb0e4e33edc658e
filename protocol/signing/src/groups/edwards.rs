//! The subgroup of prime order of edwards25519: shares of it make ordinary Ed25519 signatures.

use super::PrimeGroup;
use curve25519_dalek::edwards::CompressedEdwardsY;
use curve25519_dalek::traits::{Identity as _, IsIdentity as _, VartimeMultiscalarMul as _};
use curve25519_dalek::{EdwardsPoint, Scalar, constants};

/// The group (RFC 8032). Decoding refuses points outside the subgroup, and points written in another way than the shortest.
#[derive(Debug, Clone, Copy)]
pub struct Edwards;

impl PrimeGroup for Edwards {
    type Scalar = Scalar;
    type Element = EdwardsPoint;
    const SCALAR_BYTES: usize = 32;
    const ELEMENT_BYTES: usize = 32;
    const NAME: &'static [u8] = b"edwards25519";

    fn plus(left: Scalar, right: Scalar) -> Scalar {
        left + right
    }

    fn minus(scalar: Scalar) -> Scalar {
        -scalar
    }

    fn times(left: Scalar, right: Scalar) -> Scalar {
        left * right
    }

    fn inverse(scalar: Scalar) -> Option<Scalar> {
        (scalar != Scalar::ZERO).then(|| scalar.invert())
    }

    fn zero() -> Scalar {
        Scalar::ZERO
    }

    fn one() -> Scalar {
        Scalar::ONE
    }

    fn from_wide(bytes: &[u8; 64]) -> Scalar {
        Scalar::from_bytes_mod_order_wide(bytes)
    }

    fn encode_scalar(scalar: &Scalar) -> Vec<u8> {
        scalar.as_bytes().to_vec()
    }

    fn decode_scalar(bytes: &[u8]) -> Option<Scalar> {
        Scalar::from_canonical_bytes(bytes.try_into().ok()?).into()
    }

    fn raise_generator(scalar: &Scalar) -> EdwardsPoint {
        constants::ED25519_BASEPOINT_TABLE * scalar
    }

    fn raise(element: &EdwardsPoint, scalar: &Scalar) -> EdwardsPoint {
        element * scalar
    }

    fn raise_many(terms: &[(Scalar, EdwardsPoint)]) -> EdwardsPoint {
        let scalars = terms.iter().map(|(scalar, _)| scalar);
        EdwardsPoint::vartime_multiscalar_mul(scalars, terms.iter().map(|(_, element)| element))
    }

    fn add(left: &EdwardsPoint, right: &EdwardsPoint) -> EdwardsPoint {
        left + right
    }

    fn identity() -> EdwardsPoint {
        EdwardsPoint::identity()
    }

    fn encode(element: &EdwardsPoint) -> Vec<u8> {
        element.compress().as_bytes().to_vec()
    }

    fn decode(bytes: &[u8]) -> Option<EdwardsPoint> {
        let element = CompressedEdwardsY::from_slice(bytes).ok()?.decompress()?;
        let good =
            element.is_torsion_free() && !element.is_identity() && element.compress().as_bytes() == bytes;
        good.then_some(element)
    }
}
