//! ristretto255: prime order, no cofactor; for signatures that only our own verifier reads.

use super::PrimeGroup;
use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::{Identity as _, IsIdentity as _, VartimeMultiscalarMul as _};
use curve25519_dalek::{RistrettoPoint, Scalar, constants};

/// The group (RFC 9496).
#[derive(Debug, Clone, Copy)]
pub struct Ristretto;

impl PrimeGroup for Ristretto {
    type Scalar = Scalar;
    type Element = RistrettoPoint;
    const SCALAR_BYTES: usize = 32;
    const ELEMENT_BYTES: usize = 32;
    const NAME: &'static [u8] = b"ristretto255";

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

    fn raise_generator(scalar: &Scalar) -> RistrettoPoint {
        constants::RISTRETTO_BASEPOINT_TABLE * scalar
    }

    fn raise(element: &RistrettoPoint, scalar: &Scalar) -> RistrettoPoint {
        element * scalar
    }

    fn raise_many(terms: &[(Scalar, RistrettoPoint)]) -> RistrettoPoint {
        let scalars = terms.iter().map(|(scalar, _)| scalar);
        RistrettoPoint::vartime_multiscalar_mul(scalars, terms.iter().map(|(_, element)| element))
    }

    fn add(left: &RistrettoPoint, right: &RistrettoPoint) -> RistrettoPoint {
        left + right
    }

    fn identity() -> RistrettoPoint {
        RistrettoPoint::identity()
    }

    fn encode(element: &RistrettoPoint) -> Vec<u8> {
        element.compress().as_bytes().to_vec()
    }

    fn decode(bytes: &[u8]) -> Option<RistrettoPoint> {
        let element = CompressedRistretto::from_slice(bytes).ok()?.decompress()?;
        if element.is_identity() { None } else { Some(element) }
    }
}
