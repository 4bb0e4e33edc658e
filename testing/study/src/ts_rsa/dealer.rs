//! The dealer over Z_N. **Insecure**: see the module.

use super::key::{PlaceOf, TsRsaShare, TsRsaSharing};
use crypto_bigint::{BoxedUint, ConcatenatingMul as _, NonZero, Resize as _};
use folkmoot_base::{Entropy, MemberId, Secret};
use folkmoot_signing::danger::ForStudy;
use folkmoot_signing::modular::{Modulus, RingPolynomial};

/// Who knows d. **Insecure**: for study.
pub struct TsRsaDealer {
    modulus: Modulus,
    exponent: u32,
    private: Secret<BoxedUint>,
    place: PlaceOf,
}

impl TsRsaDealer {
    /// Of two odd primes, big endian, not checked to be such, and a public exponent. None if the
    /// exponent has no inverse modulo (p − 1)(q − 1).
    pub fn new(p: &[u8], q: &[u8], exponent: u32, place: PlaceOf, _: ForStudy) -> Option<Self> {
        let (p, q) = (BoxedUint::from_be_slice_vartime(p), BoxedUint::from_be_slice_vartime(q));
        let modulus = Modulus::new(&p.concatenating_mul(&q))?;
        let one = BoxedUint::one();
        let order = p.wrapping_sub(&one).concatenating_mul(q.wrapping_sub(&one));
        let order: NonZero<BoxedUint> = Option::from(NonZero::new(order))?;
        let e = BoxedUint::from(exponent).resize_unchecked(order.as_ref().bits_precision());
        let private: BoxedUint = Option::from(e.invert_mod(&order))?;
        let private = Secret::new(private.resize_unchecked(modulus.precision()));
        Some(Self { modulus, exponent, private, place })
    }

    /// d, to hold the test's finding against.
    pub fn private_exponent(&self) -> Secret<Vec<u8>> {
        Secret::new(folkmoot_signing::modular::encode(self.private.expose(), self.modulus.bytes()))
    }

    /// Deals to these holders, by a random polynomial. None if the threshold is zero.
    pub fn deal(
        &self,
        threshold: u16,
        holders: &[MemberId],
        entropy: &mut dyn Entropy,
    ) -> Option<(TsRsaSharing, Vec<TsRsaShare>)> {
        let degree = usize::from(threshold).checked_sub(1)?;
        let polynomial =
            RingPolynomial::random(self.modulus.divisor(), self.private.clone(), degree, entropy);
        Some(self.hand_out(threshold, holders, &polynomial))
    }

    /// Deals by the polynomial d + terms[0]·z + terms[1]·z² + ..., for vectors.
    pub fn deal_by(&self, terms: &[u64], holders: &[MemberId]) -> Option<(TsRsaSharing, Vec<TsRsaShare>)> {
        let number = |term: &u64| Secret::new(self.modulus.residue(&BoxedUint::from(*term)).retrieve());
        let all = core::iter::once(self.private.clone()).chain(terms.iter().map(number)).collect();
        let threshold = u16::try_from(terms.len().checked_add(1)?).ok()?;
        Some(self.hand_out(threshold, holders, &RingPolynomial::of(self.modulus.divisor(), all)))
    }

    fn hand_out(
        &self,
        threshold: u16,
        holders: &[MemberId],
        polynomial: &RingPolynomial<'_>,
    ) -> (TsRsaSharing, Vec<TsRsaShare>) {
        let shares = holders.iter().map(|holder| TsRsaShare(polynomial.at((self.place)(holder)))).collect();
        let (modulus, exponent, place) = (self.modulus.clone(), self.exponent, self.place);
        (TsRsaSharing { modulus, exponent, threshold, place }, shares)
    }
}

impl core::fmt::Debug for TsRsaDealer {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "TsRsaDealer({} bits, ..)", self.modulus.bits())
    }
}
