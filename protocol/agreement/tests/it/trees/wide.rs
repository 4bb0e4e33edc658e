//! A group for counting: too small to be safe, large enough that no two values are equal by chance.

use folkmoot_agreement::PrimeGroup;
use folkmoot_base::{Entropy, draw};

/// The squares modulo 2^62 − 10565, a safe prime.
#[derive(Debug, Clone, Copy)]
pub struct Wide;

const P: u64 = (1 << 62) - P_BELOW;
const P_BELOW: u64 = 10_565;
const Q: u64 = (P - 1) / 2;

fn times(left: u64, right: u64, modulus: u64) -> u64 {
    u64::try_from(u128::from(left) * u128::from(right) % u128::from(modulus)).unwrap()
}

fn power(mut base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let mut value = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            value = times(value, base, modulus);
        }
        base = times(base, base, modulus);
        exponent >>= 1;
    }
    value
}

impl PrimeGroup for Wide {
    type Element = u64;
    type Scalar = u64;
    const SCALAR_BYTES: usize = 8;
    const ELEMENT_BYTES: usize = 8;
    const NAME: &'static [u8] = b"wide";

    fn plus(left: u64, right: u64) -> u64 {
        (left + right) % Q
    }
    fn minus(scalar: u64) -> u64 {
        (Q - scalar) % Q
    }
    fn times(left: u64, right: u64) -> u64 {
        times(left, right, Q)
    }
    fn inverse(scalar: u64) -> Option<u64> {
        (scalar != 0).then(|| power(scalar, Q - 2, Q))
    }
    fn zero() -> u64 {
        0
    }
    fn one() -> u64 {
        1
    }
    fn draw(entropy: &mut dyn Entropy) -> u64 {
        (u64::from_be_bytes(draw(entropy)) % Q).max(1)
    }
    fn from_wide(bytes: &[u8; 64]) -> u64 {
        bytes.iter().fold(0, |rest, byte| Self::plus(times(rest, 256, Q), u64::from(*byte)))
    }
    fn to_scalar(_: &[u8], element: &u64) -> u64 {
        (element % Q).max(1)
    }
    fn encode_scalar(scalar: &u64) -> Vec<u8> {
        scalar.to_be_bytes().to_vec()
    }
    fn decode_scalar(bytes: &[u8]) -> Option<u64> {
        let scalar = u64::from_be_bytes(bytes.try_into().ok()?);
        (scalar < Q).then_some(scalar)
    }
    fn generator() -> u64 {
        4
    }
    fn raise(element: &u64, scalar: &u64) -> u64 {
        power(*element, *scalar, P)
    }
    fn add(left: &u64, right: &u64) -> u64 {
        times(*left, *right, P)
    }
    fn negate(element: &u64) -> u64 {
        power(*element, P - 2, P)
    }
    fn identity() -> u64 {
        1
    }
    fn encode(element: &u64) -> Vec<u8> {
        element.to_be_bytes().to_vec()
    }
    fn decode_any(bytes: &[u8]) -> Option<u64> {
        // Whether it is a square is not checked: nobody lies here, and the check would cost as much
        // as everything that is counted.
        let element = u64::from_be_bytes(bytes.try_into().ok()?);
        (element > 0 && element < P).then_some(element)
    }
}
