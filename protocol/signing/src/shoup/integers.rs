//! Public integers of the scheme: Δ = l!, Lagrange's coefficients times Δ, and the way from w to
//! the signature.
//!
//! With at most 256 seats every factor is at most 2^8, so Δ < 2^(8l), and neither Δ·∏j nor 4Δ²·a
//! passes 2^(16l + 32).

use crate::modular::{Residue, invert_public, pow_public};
use crate::rsa::{EXPONENT, RsaPublicKey};
use crypto_bigint::{BoxedUint, ConcatenatingSquare as _, Limb, NonZero, Odd, Resize as _};

/// l!, with a precision that holds everything made of it.
pub(super) fn delta(seats: u16) -> BoxedUint {
    let precision = u32::from(seats).saturating_mul(16).saturating_add(64);
    let one = BoxedUint::one_with_precision(precision);
    (2..=seats).fold(one, |product, factor| times(&product, factor))
}

fn times(number: &BoxedUint, factor: u16) -> BoxedUint {
    number.wrapping_mul(BoxedUint::from(u64::from(factor)))
}

/// λ of `seat` among `seats` for the value at zero, times Δ: a whole number (Shoup 2000, section
/// 2), and whether it is negative.
fn coefficient(seat: u16, seats: &[u16], delta: &BoxedUint) -> Option<(BoxedUint, bool)> {
    let (mut number, mut negative) = (delta.clone(), false);
    for other in seats.iter().filter(|other| **other != seat) {
        number = times(&number, *other);
        negative ^= *other < seat;
    }
    for other in seats.iter().filter(|other| **other != seat) {
        let below = NonZero::new(Limb::from(seat.abs_diff(*other)));
        let (quotient, _) = number.div_rem_limb(Option::from(below)?);
        number = quotient;
    }
    Some((number, negative))
}

/// w = ∏ x_i^(2λ_i), for which w^e = x^(4Δ²). None if two seats are one, or a part shares a factor
/// with the modulus.
fn gather(key: &RsaPublicKey, delta: &BoxedUint, parts: &[(u16, Residue)]) -> Option<Residue> {
    let seats: Vec<u16> = parts.iter().map(|(seat, _)| *seat).collect();
    let (mut above, mut below) = (key.modulus().one(), key.modulus().one());
    for (seat, part) in parts {
        let (number, negative) = coefficient(*seat, &seats, delta)?;
        let term = pow_public(&part.square(), &number);
        let side = if negative { &mut below } else { &mut above };
        *side = side.mul(&term);
    }
    Some(above.mul(&invert_public(&below)?))
}

/// The signature of representative `x` that these parts make: y = w^a · x^b where 4Δ²a + eb = 1.
/// The caller must verify that it is one.
pub(super) fn combine(
    key: &RsaPublicKey,
    delta: &BoxedUint,
    x: &Residue,
    parts: &[(u16, Residue)],
) -> Option<Residue> {
    let w = gather(key, delta, parts)?;
    let prime = BoxedUint::from(u64::from(EXPONENT));
    let four = times(&delta.concatenating_square().resize(delta.bits_precision()), 4);
    let odd: Odd<BoxedUint> = Option::from(Odd::new(prime.clone()))?;
    let rest = four.rem_vartime(odd.as_nz_ref());
    let a: BoxedUint = Option::from(rest.invert_odd_mod_vartime(&odd))?;
    let minus_b = four.wrapping_mul(&a).div_rem_vartime(odd.as_nz_ref()).0;
    Some(pow_public(&w, &a).mul(&invert_public(&pow_public(x, &minus_b))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_whole_and_give_the_value_at_zero() {
        for seats in [vec![1], vec![2, 5], vec![1, 3, 4], vec![5, 2, 4, 1], vec![1, 2, 3, 4, 5]] {
            let delta = delta(5);
            // f(z) = 7 + 3z + ... + 3z^(t-1): the sum of λ_i f(i) is Δ f(0).
            let f = |z: i128| (1..seats.len()).fold(7, |sum, power| sum + 3 * z.pow(power as u32));
            let mut sum = 0_i128;
            for seat in &seats {
                let (number, negative) = coefficient(*seat, &seats, &delta).unwrap();
                let number = i128::from(number.as_words()[0]);
                sum += if negative { -number } else { number } * f(i128::from(*seat));
            }
            assert_eq!(sum, 7 * 120, "{seats:?}");
        }
    }

    #[test]
    fn the_largest_numbers_fit() {
        let delta = delta(256);
        assert_eq!(delta.bits_vartime(), 1684, "256! has 1684 bits");
        assert!(u32::from(256_u16) * 16 + 64 > 2 * 1684 + 2 + 17);
        let seats: Vec<u16> = (1..=256).collect();
        // All seats together: λ_i is Δ times a binomial coefficient.
        for (seat, times_delta) in [(1, 256_u64), (2, 256 * 255 / 2), (255, 256), (256, 1)] {
            let (number, _) = coefficient(seat, &seats, &delta).unwrap();
            assert_eq!(number, delta.wrapping_mul(BoxedUint::from(times_delta)), "seat {seat}");
        }
    }
}
