//! ristretto255: prime order, no cofactor; for signatures that only our own verifier reads.

use super::PrimeGroup;
use super::dalek::dalek_group;
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

    dalek_group!(RistrettoPoint, constants::RISTRETTO_BASEPOINT_TABLE);

    fn decode(bytes: &[u8]) -> Option<RistrettoPoint> {
        let element = CompressedRistretto::from_slice(bytes).ok()?.decompress()?;
        if element.is_identity() { None } else { Some(element) }
    }
}
