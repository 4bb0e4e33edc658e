//! An RSA key pair drawn from handed-in entropy, as PKCS#8 (RFC 5208) with an RSAPrivateKey (RFC
//! 8017, A.1.2): exponent 65537, two primes of half the length whose first two bits are ones.
//!
//! The search for primes takes as long as it takes, which says nothing of the primes that it ends
//! with: what was passed over is not used. What is computed from them is erased when dropped; what
//! the library holds in between is freed, not erased.

use crate::base::{Entropy, Secret};
use crate::modular::{Modulus, encode, pow};
use core::convert::Infallible;
use crypto_bigint::rand_core::{TryCryptoRng, TryRng};
use crypto_bigint::{BoxedUint, ConcatenatingMul as _, NonZero, Resize as _};
use crypto_primes::hazmat::{SetBits, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime, sieve_and_find};

const EXPONENT: u64 = 65_537;
/// rsaEncryption with NULL.
const ALGORITHM: [u8; 15] =
    [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];

/// PKCS#8 of a fresh key whose modulus has so many bytes.
pub(crate) fn draw(modulus_bytes: usize, entropy: &mut dyn Entropy) -> Option<Secret<Vec<u8>>> {
    let bits = u32::try_from(modulus_bytes.checked_mul(4)?).ok()?;
    let (one, other) = (prime(bits, entropy)?, prime(bits, entropy)?);
    // An entropy that repeats makes one prime twice.
    let (p, q) = match one.expose().cmp(other.expose()) {
        core::cmp::Ordering::Greater => (one, other),
        core::cmp::Ordering::Less => (other, one),
        core::cmp::Ordering::Equal => return None,
    };
    private_key(p.expose(), q.expose(), modulus_bytes)
}

/// A prime p of `bits` bits for which the exponent has an inverse modulo p - 1.
fn prime(bits: u32, entropy: &mut dyn Entropy) -> Option<Secret<BoxedUint>> {
    let sieve = SmallFactorsSieveFactory::<BoxedUint>::new(Flavor::Any, bits, SetBits::TwoMsb).ok()?;
    let fits = |candidate: &BoxedUint| remainder(candidate) != 1 && is_prime(Flavor::Any, candidate);
    let found = sieve_and_find(&mut Draw(entropy), sieve, |_, candidate| fits(candidate));
    found.ok().flatten().map(Secret::new)
}

/// Modulo the public exponent.
fn remainder(number: &BoxedUint) -> u64 {
    let exponent = NonZero::new(BoxedUint::from(EXPONENT));
    let Some(exponent) = Option::<NonZero<BoxedUint>>::from(exponent) else { return 0 };
    let rest = number.rem(&exponent);
    rest.to_be_bytes().iter().fold(0, |sum: u64, byte| sum.wrapping_mul(256).wrapping_add(u64::from(*byte)))
}

/// `1 / number` modulo the public exponent, which is prime: `number` to the power of itself less 2.
fn invert(number: u64) -> u64 {
    let square = |x: u64| x.wrapping_mul(x) % EXPONENT;
    // 65535 is sixteen ones.
    (0..16).fold(1, |power, _| square(power).wrapping_mul(number) % EXPONENT)
}

/// d: `1 / 65537` modulo the order, which is (k · order + 1) / 65537 for the k that makes it whole.
fn exponent(order: &Secret<BoxedUint>) -> Option<Secret<BoxedUint>> {
    let k = EXPONENT.wrapping_sub(invert(remainder(order.expose())));
    let divisor = Option::<NonZero<BoxedUint>>::from(NonZero::new(BoxedUint::from(EXPONENT)))?;
    let sum = order.expose().concatenating_mul(&BoxedUint::from(k));
    let sum = Secret::new(sum.wrapping_add(BoxedUint::one()));
    let (d, rest) = sum.expose().div_rem(&divisor);
    bool::from(rest.is_zero()).then(|| Secret::new(d))
}

/// The key of these primes.
fn private_key(p: &BoxedUint, q: &BoxedUint, modulus_bytes: usize) -> Option<Secret<Vec<u8>>> {
    let half = modulus_bytes / 2;
    let one = BoxedUint::one();
    let (less_p, less_q) = (p.wrapping_sub(&one), q.wrapping_sub(&one));
    let order = Secret::new(less_p.concatenating_mul(&less_q));
    let d = exponent(&order)?;
    let below = |less: &BoxedUint| {
        let divisor = Option::<NonZero<BoxedUint>>::from(NonZero::new(less.clone()))?;
        Some(Secret::new(encode(&d.expose().rem(&divisor), half)))
    };
    let (d_p, d_q) = (below(&less_p)?, below(&less_q)?);
    let modulus = Modulus::new(p)?;
    let two = BoxedUint::from(2_u64).resize_unchecked(p.bits_precision());
    let inverse = pow(&modulus.residue(q), &p.wrapping_sub(&two)).retrieve();
    let inverse = Secret::new(encode(&inverse, half));
    let n = encode(&p.concatenating_mul(q), modulus_bytes);
    let d = Secret::new(encode(d.expose(), modulus_bytes));
    let (p, q) = (Secret::new(encode(p, half)), Secret::new(encode(q, half)));
    let mut key = Vec::with_capacity(modulus_bytes.saturating_mul(5));
    key.extend(integer(&[0]));
    let parts: [&[u8]; 8] = [
        &n,
        &EXPONENT.to_be_bytes(),
        d.expose(),
        p.expose(),
        q.expose(),
        d_p.expose(),
        d_q.expose(),
        inverse.expose(),
    ];
    for part in parts {
        key.extend(integer(part));
    }
    let key = Secret::new(key);
    let key = Secret::new(wrap(0x30, key.expose()));
    let key = Secret::new(wrap(0x04, key.expose()));
    Some(Secret::new(wrap(0x30, &[&integer(&[0]), &ALGORITHM[..], key.expose()].concat())))
}

/// A DER INTEGER of these bytes, big endian, not negative.
fn integer(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = bytes.get(zeros..).unwrap_or_default();
    let sign = digits.first().is_none_or(|first| *first >= 0x80).then_some(0);
    let content: Vec<u8> = sign.into_iter().chain(digits.iter().copied()).collect();
    wrap(0x02, &content)
}

/// A DER value of less than 64 KiB with this tag.
fn wrap(tag: u8, content: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(content.len()).unwrap_or(u16::MAX).to_be_bytes();
    let mut out = match content.len() {
        0..0x80 => vec![tag, low],
        0x80..0x100 => vec![tag, 0x81, low],
        _ => vec![tag, 0x82, high, low],
    };
    out.extend_from_slice(content);
    out
}

/// Our entropy in the library's terms.
pub(crate) struct Draw<'a>(pub(crate) &'a mut dyn Entropy);

impl TryRng for Draw<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes(crate::base::draw(self.0)))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes(crate::base::draw(self.0)))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill(out);
        Ok(())
    }
}

impl TryCryptoRng for Draw<'_> {}
