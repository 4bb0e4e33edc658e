//! P-256: shares over it make ordinary ECDSA signatures.

use crate::PrimeGroup;
use p256::elliptic_curve::ff::{FromUniformBytes as _, PrimeField as _};
use p256::elliptic_curve::group::{Group as _, GroupEncoding as _};
use p256::elliptic_curve::ops::LinearCombination as _;
use p256::{ProjectivePoint, Scalar};

/// The group (FIPS 186-5), elements compressed to 33 bytes.
#[derive(Debug, Clone, Copy)]
pub struct P256;

impl PrimeGroup for P256 {
    type Scalar = Scalar;
    type Element = ProjectivePoint;
    const SCALAR_BYTES: usize = 32;
    const ELEMENT_BYTES: usize = 33;
    const NAME: &'static [u8] = b"p256";

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
        scalar.invert().into()
    }

    fn zero() -> Scalar {
        Scalar::ZERO
    }

    fn one() -> Scalar {
        Scalar::ONE
    }

    fn from_wide(bytes: &[u8; 64]) -> Scalar {
        Scalar::from_uniform_bytes(bytes)
    }

    fn encode_scalar(scalar: &Scalar) -> Vec<u8> {
        scalar.to_bytes().to_vec()
    }

    fn decode_scalar(bytes: &[u8]) -> Option<Scalar> {
        let bytes: [u8; 32] = bytes.try_into().ok()?;
        Scalar::from_repr(bytes.into()).into()
    }

    fn generator() -> ProjectivePoint {
        ProjectivePoint::GENERATOR
    }

    fn raise_generator(scalar: &Scalar) -> ProjectivePoint {
        ProjectivePoint::mul_by_generator(scalar)
    }

    fn raise(element: &ProjectivePoint, scalar: &Scalar) -> ProjectivePoint {
        *element * *scalar
    }

    fn raise_many(terms: &[(Scalar, ProjectivePoint)]) -> ProjectivePoint {
        let terms: Vec<_> = terms.iter().map(|(scalar, element)| (*element, *scalar)).collect();
        ProjectivePoint::lincomb_vartime(terms.as_slice())
    }

    fn add(left: &ProjectivePoint, right: &ProjectivePoint) -> ProjectivePoint {
        *left + *right
    }

    fn negate(element: &ProjectivePoint) -> ProjectivePoint {
        -element
    }

    fn identity() -> ProjectivePoint {
        ProjectivePoint::IDENTITY
    }

    fn encode(element: &ProjectivePoint) -> Vec<u8> {
        element.to_bytes().to_vec()
    }

    /// The identity is not decoded: its encoding has another length.
    fn decode_any(bytes: &[u8]) -> Option<ProjectivePoint> {
        let bytes: [u8; 33] = bytes.try_into().ok()?;
        // The library reads SEC1's compact form (tag 05) too, which would be a second encoding of
        // each element.
        if !matches!(bytes, [2 | 3, ..]) {
            return None;
        }
        ProjectivePoint::from_bytes(&bytes.into()).into()
    }
}
