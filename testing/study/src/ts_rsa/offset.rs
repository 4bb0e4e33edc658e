//! From parts to a signature: t-bounded coalition offsetting. **Insecure**: the number of offsets
//! tells something about d.

use super::key::TsRsaSharing;
use crypto_bigint::BoxedUint;
use folkmoot_signing::modular::{Residue, invert_public, pow_public};

/// What a signing run comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offset {
    /// m^d mod N, big endian, as long as N.
    pub signature: Vec<u8>,
    /// k: how often N had to be taken off the sum of the exponents. Everybody sees it, and it
    /// leaks: Σ d_j = d + kN.
    pub offsets: u16,
}

/// The signature of `m` that the parts make. None if it takes t offsets or more: then some part is
/// false, and nobody can tell whose.
pub(super) fn combine(sharing: &TsRsaSharing, m: &Residue, parts: &[Residue]) -> Option<Offset> {
    let exponent = BoxedUint::from(sharing.exponent);
    let step = invert_public(&pow_public(m, sharing.modulus.number()))?;
    let mut y = parts.iter().fold(sharing.modulus.one(), |product, part| product.mul(part));
    for offsets in 0..sharing.threshold {
        if pow_public(&y, &exponent) == *m {
            return Some(Offset { signature: sharing.modulus.encode(&y), offsets });
        }
        y = y.mul(&step);
    }
    None
}
