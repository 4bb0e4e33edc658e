//! The two groups of curve25519-dalek. They differ in their points, and in how a point is read.

use crate::PrimeGroup;
use curve25519_dalek::edwards::CompressedEdwardsY;
use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::{Identity as _, VartimeMultiscalarMul as _};
use curve25519_dalek::{EdwardsPoint, RistrettoPoint, Scalar, constants};
use zeroize::Zeroize as _;

/// The subgroup of prime order of edwards25519 (RFC 8032). Decoding refuses points outside it, and
/// points that are written in another way than the shortest.
#[derive(Debug, Clone, Copy)]
pub struct Edwards;

/// ristretto255 (RFC 9496): prime order, no cofactor.
#[derive(Debug, Clone, Copy)]
pub struct Ristretto;

macro_rules! dalek_group {
    ($group:ty, $name:literal, $point:ty, $generator:path, $table:path, $decode:expr) => {
        impl PrimeGroup for $group {
            type Scalar = Scalar;
            type Element = $point;
            const SCALAR_BYTES: usize = 32;
            const ELEMENT_BYTES: usize = 32;
            const NAME: &'static [u8] = $name;

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

            fn generator() -> $point {
                $generator
            }

            fn raise_generator(scalar: &Scalar) -> $point {
                $table * scalar
            }

            /// The generator uses its precomputed table: it is no secret that a base is the
            /// generator.
            fn raise(element: &$point, scalar: &Scalar) -> $point {
                if *element == $generator { $table * scalar } else { element * scalar }
            }

            fn raise_many(terms: &[(Scalar, $point)]) -> $point {
                let scalars = terms.iter().map(|(scalar, _)| scalar);
                <$point>::vartime_multiscalar_mul(scalars, terms.iter().map(|(_, element)| element))
            }

            fn add(left: &$point, right: &$point) -> $point {
                left + right
            }

            fn negate(element: &$point) -> $point {
                -element
            }

            fn identity() -> $point {
                <$point>::identity()
            }

            fn encode(element: &$point) -> Vec<u8> {
                let mut encoded = element.compress();
                let bytes = encoded.as_bytes().to_vec();
                encoded.zeroize();
                bytes
            }

            fn decode_any(bytes: &[u8]) -> Option<$point> {
                $decode(bytes)
            }
        }
    };
}

dalek_group!(
    Edwards,
    b"edwards25519",
    EdwardsPoint,
    constants::ED25519_BASEPOINT_POINT,
    constants::ED25519_BASEPOINT_TABLE,
    |bytes: &[u8]| {
        let element = CompressedEdwardsY::from_slice(bytes).ok()?.decompress()?;
        let good = element.is_torsion_free() && element.compress().as_bytes() == bytes;
        good.then_some(element)
    }
);
dalek_group!(
    Ristretto,
    b"ristretto255",
    RistrettoPoint,
    constants::RISTRETTO_BASEPOINT_POINT,
    constants::RISTRETTO_BASEPOINT_TABLE,
    |bytes: &[u8]| CompressedRistretto::from_slice(bytes).ok()?.decompress()
);
