//! The subgroup of prime order of edwards25519: shares of it make ordinary Ed25519 signatures.

use super::PrimeGroup;
use super::dalek::dalek_group;
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

    dalek_group!(EdwardsPoint, constants::ED25519_BASEPOINT_TABLE);

    fn decode(bytes: &[u8]) -> Option<EdwardsPoint> {
        let element = CompressedEdwardsY::from_slice(bytes).ok()?.decompress()?;
        let good =
            element.is_torsion_free() && !element.is_identity() && element.compress().as_bytes() == bytes;
        good.then_some(element)
    }
}
