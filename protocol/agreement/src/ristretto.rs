//! ristretto255: prime order, no cofactor, decoding validates.

use crate::PrimeGroup;
use crate::base::{Entropy, draw};
use curve25519_dalek::constants::{RISTRETTO_BASEPOINT_POINT, RISTRETTO_BASEPOINT_TABLE};
use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::{Identity as _, IsIdentity as _};
use curve25519_dalek::{RistrettoPoint, Scalar};
use sha2::{Digest as _, Sha512};
use zeroize::Zeroize as _;

/// The group for use (RFC 9496).
#[derive(Debug, Clone, Copy)]
pub struct Ristretto;

impl PrimeGroup for Ristretto {
    type Element = RistrettoPoint;
    type Scalar = Scalar;
    const ELEMENT_BYTES: usize = 32;

    fn generator() -> RistrettoPoint {
        RISTRETTO_BASEPOINT_POINT
    }

    fn is_identity(element: &RistrettoPoint) -> bool {
        element.is_identity()
    }

    fn draw(entropy: &mut dyn Entropy) -> Scalar {
        loop {
            let mut wide: [u8; 64] = draw(entropy);
            let scalar = Scalar::from_bytes_mod_order_wide(&wide);
            wide.zeroize();
            if scalar != Scalar::ZERO {
                return scalar;
            }
        }
    }

    fn invert(scalar: &Scalar) -> Scalar {
        scalar.invert()
    }

    fn multiply(left: &Scalar, right: &Scalar) -> Scalar {
        left * right
    }

    /// The generator by its table: that a base is the generator is no secret.
    fn raise(element: &RistrettoPoint, scalar: &Scalar) -> RistrettoPoint {
        if *element == RISTRETTO_BASEPOINT_POINT {
            RISTRETTO_BASEPOINT_TABLE * scalar
        } else {
            element * scalar
        }
    }

    fn combine(left: &RistrettoPoint, right: &RistrettoPoint) -> RistrettoPoint {
        left + right
    }

    fn inverse(element: &RistrettoPoint) -> RistrettoPoint {
        -element
    }

    fn identity() -> RistrettoPoint {
        RistrettoPoint::identity()
    }

    /// SHA-512 over a label and the encoding, reduced: off uniform by less than 2^-250. Zero becomes one.
    fn to_scalar(element: &RistrettoPoint) -> Scalar {
        hashed(b"folkmoot element to exponent v1", element)
    }

    /// As [`Self::to_scalar`], under its own label.
    fn lent_scalar(key: &RistrettoPoint) -> Scalar {
        hashed(b"folkmoot dutta-barua lent share v1", key)
    }

    fn encode_scalar(scalar: &Scalar) -> Vec<u8> {
        scalar.as_bytes().to_vec()
    }

    fn decode_scalar(bytes: &[u8]) -> Option<Scalar> {
        let scalar = Option::<Scalar>::from(Scalar::from_canonical_bytes(bytes.try_into().ok()?))?;
        (scalar != Scalar::ZERO).then_some(scalar)
    }

    fn encode(element: &RistrettoPoint) -> Vec<u8> {
        element.compress().as_bytes().to_vec()
    }

    fn decode(bytes: &[u8]) -> Option<RistrettoPoint> {
        CompressedRistretto::from_slice(bytes).ok()?.decompress()
    }
}

fn hashed(label: &[u8], element: &RistrettoPoint) -> Scalar {
    let mut encoded = element.compress();
    let mut wide: [u8; 64] =
        Sha512::new().chain_update(label).chain_update(encoded.as_bytes()).finalize().into();
    let scalar = Scalar::from_bytes_mod_order_wide(&wide);
    wide.zeroize();
    encoded.zeroize();
    if scalar == Scalar::ZERO { Scalar::ONE } else { scalar }
}
