//! Whether any t shares of a sharing make the same signature: what everybody can check of a deal
//! beyond its own share.
//!
//! A dealer could publish v_i that fit every holder's share and yet lie on no polynomial: parts
//! would be proven, no signature would come of them, and nobody would be named. So this looks at
//! the exponents of v, v_1^e, .., v_l^e, which are e·f(0) = 1, e·f(1), .., e·f(l). The places
//! follow one another, so they are values of a polynomial of degree t − 1 exactly if their
//! differences of order t vanish and those of order t − 1 do not all vanish. No exponents are
//! computed, and none needs to be known. This holds modulo the order of v. That is the whole order
//! of the squares if N is a product of safe primes and v² − 1 has no common factor with N
//! (Camenisch, Shoup 2003, section 5.2, on generators of such groups).

use super::error::ShoupError;
use super::sharing::ShoupSharing;
use crate::modular::{Modulus, Residue, invert_public, pow_public};
use crate::rsa::EXPONENT;
use crypto_bigint::BoxedUint;

/// A quotient of residues. Division is slow, and comparing needs none.
struct Quotient {
    above: Residue,
    below: Residue,
}

impl ShoupSharing {
    /// Whether any [`Self::threshold`] shares that fit make the same signature, and fewer do not:
    /// v_1 .. v_l are of one polynomial of that degree with d at zero, and v generates the squares.
    /// It relies on N being a product of safe primes, which only its dealer knows. [`Self::decode`]
    /// does not check this.
    ///
    /// # Errors
    /// [`ShoupError::PeerSharing`] (SHO-16).
    pub fn check(&self) -> Result<(), ShoupError> {
        of_one_polynomial(self).then_some(()).ok_or(ShoupError::PeerSharing)
    }
}

/// Whether it is so: takes about t·l·2 multiplications for l seats.
fn of_one_polynomial(sharing: &ShoupSharing) -> bool {
    let modulus = sharing.key.modulus();
    let base = modulus.residue(&sharing.base);
    let images: Vec<Residue> = sharing.images.iter().map(|image| modulus.residue(image)).collect();
    if !units(modulus, &base, &images) {
        return false;
    }
    let e = BoxedUint::from(u64::from(EXPONENT));
    let values = core::iter::once(base).chain(images.iter().map(|image| pow_public(image, &e)));
    let start: Vec<Quotient> = values.map(|above| Quotient { above, below: modulus.one() }).collect();
    let last = (1..sharing.threshold).fold(start, |values, _| differences(&values));
    !vanish(&last) && vanish(&differences(&last))
}

/// Whether v, v − 1, v + 1 and all v_i have inverses: all of them, if their product has one.
fn units(modulus: &Modulus, base: &Residue, images: &[Residue]) -> bool {
    let one = modulus.one();
    let around = base.square().sub(&one).mul(base);
    let product = images.iter().fold(around, |product, image| product.mul(image));
    invert_public(&product).is_some()
}

fn differences(values: &[Quotient]) -> Vec<Quotient> {
    let pairs = values.iter().zip(values.iter().skip(1));
    let difference = |(left, right): (&Quotient, &Quotient)| Quotient {
        above: right.above.mul(&left.below),
        below: right.below.mul(&left.above),
    };
    pairs.map(difference).collect()
}

fn vanish(differences: &[Quotient]) -> bool {
    differences.iter().all(|one| one.above == one.below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Entropy, MemberId};
    use crate::danger::ForStudy;
    use crate::rsa::ModulusSize;
    use crate::shoup::{Dealer, DealerTerm};

    struct Counting(u8);

    impl Entropy for Counting {
        fn fill(&mut self, out: &mut [u8]) {
            for byte in out {
                self.0 = self.0.wrapping_mul(5).wrapping_add(3);
                *byte = self.0;
            }
        }
    }

    fn dealt(threshold: u16, seats: u16) -> ShoupSharing {
        let line = include_str!("../../tests/data/safe-primes.txt").lines().nth(2).unwrap();
        let hex = |word: &str| -> Vec<u8> {
            (0..word.len()).step_by(2).map(|at| u8::from_str_radix(&word[at..at + 2], 16).unwrap()).collect()
        };
        let words: Vec<&str> = line.split(' ').collect();
        let size = ModulusSize::Bits1024(ForStudy);
        let mut dealer =
            Dealer::from_primes(size, DealerTerm::Standing, &hex(words[1]), &hex(words[2])).unwrap();
        let holders: Vec<MemberId> = (0..seats).map(|seat| MemberId([seat as u8; 32])).collect();
        dealer.deal(threshold, seats, &holders, &mut Counting(threshold as u8)).unwrap().sharing
    }

    #[test]
    fn sho_16_what_a_dealer_deals_is_of_one_polynomial() {
        for (threshold, seats) in [(1, 1), (1, 4), (2, 2), (2, 5), (3, 3), (5, 9), (9, 9)] {
            assert!(of_one_polynomial(&dealt(threshold, seats)), "{threshold} of {seats}");
        }
    }

    #[test]
    fn sho_16_values_of_no_polynomial_of_this_threshold_are_seen() {
        for (threshold, seats) in [(1, 1), (1, 4), (2, 2), (2, 5), (3, 3), (5, 9)] {
            let good = dealt(threshold, seats);
            let modulus = good.key.modulus().clone();
            let times = |left: &BoxedUint, right: &BoxedUint| {
                modulus.residue(left).mul(&modulus.residue(right)).retrieve()
            };
            for seat in 0..usize::from(seats) {
                // The share that fits is one too high.
                let mut bad = good.clone();
                bad.images[seat] = times(&good.images[seat], &good.base);
                assert!(!of_one_polynomial(&bad), "{threshold} of {seats}: seat {seat}");
            }
            // All moved alike: of one polynomial, but not of this key.
            let mut bad = good.clone();
            bad.images = good.images.iter().map(|image| times(image, &good.base)).collect();
            assert!(!of_one_polynomial(&bad), "{threshold} of {seats}: another key");
            for other in (1..=seats).filter(|other| *other != threshold) {
                let bad = ShoupSharing { threshold: other, ..good.clone() };
                assert!(!of_one_polynomial(&bad), "{threshold} of {seats} told as {other}");
            }
        }
    }

    #[test]
    fn sho_16_a_base_of_small_order_is_seen() {
        let good = dealt(2, 3);
        let modulus = good.key.modulus();
        let one = modulus.one().retrieve();
        for base in [one.clone(), modulus.number().wrapping_sub(&one)] {
            let bad = ShoupSharing { images: vec![base.clone(); 3], base, ..good.clone() };
            assert!(!of_one_polynomial(&bad));
        }
    }
}
