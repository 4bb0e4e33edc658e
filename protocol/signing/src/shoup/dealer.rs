//! The dealer: it knows the whole key, and deals it.

use super::error::ShoupError;
use super::share::ShoupShare;
use super::sharing::{Seat, ShoupSharing, check_counts};
use crate::base::{Entropy, MemberId, Secret, codec};
use crate::danger::ForStudy;
use crate::hedge::Derived;
use crate::modular::{RingPolynomial, decode, encode, pow};
use crate::rsa::{EXPONENT, ModulusSize, Reader, RsaPublicKey};
use crate::rsa_draw::Draw;
use crypto_bigint::{BoxedUint, ConcatenatingMul as _, Resize as _};
use crypto_primes::hazmat::{SetBits, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime, sieve_and_find};
use std::collections::BTreeSet;
use zeroize::Zeroize as _;

/// The domain label of the polynomials that a dealer's primes give.
const POLYNOMIAL: &[u8] = b"folkmoot shoup polynomial v1\0";

/// How long a dealer knows the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DealerTerm {
    /// For one deal: then it erases the key. For another threshold, another key is needed.
    SetUp,
    /// As long as the dealer lives (an authority): it deals the same key again.
    Standing,
}

/// The result of a deal.
#[derive(Debug)]
pub struct Dealt {
    /// For everybody.
    pub sharing: ShoupSharing,
    /// One for each seat, in order. Each goes to its holder alone, sealed. Those of spare seats are
    /// kept, sealed, by whoever hands them out.
    pub shares: Vec<ShoupShare>,
}

/// A dealer. Its secrets are erased when dropped.
pub struct Dealer {
    key: RsaPublicKey,
    term: DealerTerm,
    secret: Option<Known>,
}

struct Known {
    /// p ‖ q, the larger one first.
    primes: Secret<Vec<u8>>,
    /// M = p'q', the order of the squares.
    order: Secret<BoxedUint>,
    /// d = 1/e mod M.
    exponent: Secret<BoxedUint>,
}

impl Dealer {
    /// Makes a key: seconds for 1024 bits, minutes for 3072.
    ///
    /// # Errors
    /// [`ShoupError::LocalPrimes`] if the library finds none, which does not happen.
    pub fn generate(
        size: ModulusSize,
        term: DealerTerm,
        entropy: &mut dyn Entropy,
    ) -> Result<Self, ShoupError> {
        loop {
            let p = safe_prime(size.bits() / 2, entropy)?;
            let q = safe_prime(size.bits() / 2, entropy)?;
            if p.expose() != q.expose() {
                return Self::of(size, term, &p, &q);
            }
        }
    }

    /// Takes two safe primes, big endian, each half as long as the modulus, and proves again that
    /// they are prime.
    ///
    /// # Errors
    /// [`ShoupError::LocalPrimes`].
    pub fn from_primes(size: ModulusSize, term: DealerTerm, p: &[u8], q: &[u8]) -> Result<Self, ShoupError> {
        let read = |bytes| decode(bytes, size.bits() / 2).map(Secret::new).ok_or(ShoupError::LocalPrimes);
        let (p, q) = (read(p)?, read(q)?);
        for prime in [&p, &q] {
            if prime.expose().bits() != size.bits() / 2 || !is_prime(Flavor::Safe, prime.expose()) {
                return Err(ShoupError::LocalPrimes);
            }
        }
        Self::of(size, term, &p, &q)
    }

    fn of(
        size: ModulusSize,
        term: DealerTerm,
        p: &Secret<BoxedUint>,
        q: &Secret<BoxedUint>,
    ) -> Result<Self, ShoupError> {
        // The larger one first, so that a key has one encoding.
        let (p, q) = (p.expose().max(q.expose()), p.expose().min(q.expose()));
        if p == q {
            return Err(ShoupError::LocalPrimes);
        }
        let key =
            RsaPublicKey::of_modulus(&p.concatenating_mul(q), size).map_err(|_| ShoupError::LocalPrimes)?;
        let order = Secret::new(p.shr(1).concatenating_mul(q.shr(1)));
        let odd = order.expose().as_odd_vartime().ok_or(ShoupError::LocalPrimes)?;
        let e = BoxedUint::from(u64::from(EXPONENT)).resize_unchecked(size.bits());
        let exponent: Option<BoxedUint> = e.invert_odd_mod(odd).into();
        let exponent = Secret::new(exponent.ok_or(ShoupError::LocalPrimes)?);
        let half = usize::try_from(size.bits() / 16).unwrap_or_default();
        let mut primes = Vec::with_capacity(half.saturating_mul(2));
        for prime in [p, q] {
            let mut bytes = encode(prime, half);
            primes.extend_from_slice(&bytes);
            bytes.zeroize();
        }
        Ok(Self { key, term, secret: Some(Known { primes: Secret::new(primes), order, exponent }) })
    }

    /// The key that is dealt.
    pub fn key(&self) -> &RsaPublicKey {
        &self.key
    }

    /// Deals `seats` shares of which `threshold` make a signature: a new v each time, and so a new
    /// polynomial and new verification values, for the same key. `holders` get the first seats, in
    /// this order; the others are spare. Shares of two deals do not go together, but enough shares
    /// of one old deal sign as before: their holders must erase them.
    ///
    /// # Errors
    /// [`ShoupError::LocalThreshold`], [`ShoupError::LocalHolders`]; [`ShoupError::LocalErased`] if
    /// the dealer was for the set-up only and has dealt (SHO-06).
    pub fn deal(
        &mut self,
        threshold: u16,
        seats: u16,
        holders: &[MemberId],
        entropy: &mut dyn Entropy,
    ) -> Result<Dealt, ShoupError> {
        check_counts(threshold, seats)?;
        let different = holders.iter().collect::<BTreeSet<_>>().len() == holders.len();
        if holders.len() > usize::from(seats) || !different {
            return Err(ShoupError::LocalHolders);
        }
        let known = self.secret.as_ref().ok_or(ShoupError::LocalErased)?;
        let modulus = self.key.modulus();
        // A random square. With the primes it says which polynomial is dealt.
        let base = modulus.residue(&modulus.draw(entropy)).square();
        let held = holders.iter().map(|member| Seat::Holding(*member));
        let taken: Vec<Seat> = held.chain(core::iter::repeat(Seat::Spare)).take(usize::from(seats)).collect();
        let named = (base.retrieve(), threshold, taken);
        let values = evaluate(known, &self.key, &named).ok_or(ShoupError::LocalPrimes)?;
        let images = values.iter().map(|value| pow(&base, value.expose()).retrieve()).collect();
        let (base, threshold, seats) = named;
        let sharing = ShoupSharing { key: self.key.clone(), threshold, base, images, seats };
        if self.term == DealerTerm::SetUp {
            self.secret = None;
        }
        let epoch = sharing.epoch();
        let shares = (1..).zip(values).map(|(seat, secret)| ShoupShare { epoch, seat, secret }).collect();
        Ok(Dealt { sharing, shares })
    }

    /// The share of `seat` once more, as it was dealt. It follows from the primes and the sharing,
    /// so nothing is kept for it, and each process that has the primes can say it. A sharing that
    /// this dealer has not dealt, to these holders in these seats, gets nothing.
    ///
    /// # Errors
    /// [`ShoupError::LocalErased`]; [`ShoupError::PeerSharing`] for a sharing of another key, or
    /// one that no shares could have; [`ShoupError::PeerShare`] if it was not dealt so (SHO-17).
    pub fn deal_again(&self, sharing: &ShoupSharing, seat: u16) -> Result<ShoupShare, ShoupError> {
        let known = self.secret.as_ref().ok_or(ShoupError::LocalErased)?;
        if sharing.key != self.key {
            return Err(ShoupError::PeerSharing);
        }
        sharing.check()?;
        let named = (sharing.base.clone(), sharing.threshold, sharing.seats.clone());
        let values = evaluate(known, &self.key, &named).ok_or(ShoupError::LocalPrimes)?;
        let place = usize::from(seat).checked_sub(1).ok_or(ShoupError::PeerShare)?;
        let secret = values.into_iter().nth(place).ok_or(ShoupError::PeerShare)?;
        let share = ShoupShare { epoch: sharing.epoch(), seat, secret };
        share.check(sharing)?;
        Ok(share)
    }

    /// What a standing dealer keeps, sealed, to go on after a restart: version 1 ‖ bits u16 ‖ p ‖
    /// q, where p is the larger one.
    ///
    /// # Errors
    /// [`ShoupError::LocalErased`] if the dealer is for the set-up only: it must not be kept.
    pub fn encode(&self) -> Result<Secret<Vec<u8>>, ShoupError> {
        let known = self.secret.as_ref().filter(|_| self.term == DealerTerm::Standing);
        let primes = known.ok_or(ShoupError::LocalErased)?.primes.expose();
        let mut out = Vec::with_capacity(primes.len().saturating_add(3));
        out.push(codec::WIRE_VERSION);
        out.extend_from_slice(&u16::try_from(self.key.size().bits()).unwrap_or(u16::MAX).to_be_bytes());
        out.extend_from_slice(primes);
        Ok(Secret::new(out))
    }

    /// Reads what [`Self::encode`] writes, and proves the primes again; 1024 bits only for study.
    ///
    /// # Errors
    /// [`ShoupError::LocalDealer`], [`ShoupError::LocalPrimes`].
    pub fn decode(bytes: &[u8], study: Option<ForStudy>) -> Result<Self, ShoupError> {
        let mut reader = Reader::behind_version(bytes).ok_or(ShoupError::LocalDealer)?;
        let bits = u32::from(reader.u16().ok_or(ShoupError::LocalDealer)?);
        let size = ModulusSize::of_bits(bits, study).ok_or(ShoupError::LocalDealer)?;
        let half = usize::try_from(bits / 16).unwrap_or_default();
        let mut prime = || reader.take(half).ok_or(ShoupError::LocalDealer);
        let (p, q) = (prime()?, prime()?);
        reader.end().filter(|()| p > q).ok_or(ShoupError::LocalDealer)?;
        Self::from_primes(size, DealerTerm::Standing, p, q)
    }
}

/// v, the threshold, and who holds which seat: what names a polynomial.
type Named = (BoxedUint, u16, Vec<Seat>);

/// The values, by seat, of the polynomial over Z_M with d at zero that the primes give to what is
/// named. Nobody without the primes can tell it from a random one.
fn evaluate(known: &Known, key: &RsaPublicKey, named: &Named) -> Option<Vec<Secret<BoxedUint>>> {
    let (base, threshold, seats) = named;
    let order = known.order.expose().as_nz_vartime()?;
    let degree = usize::from(*threshold).saturating_sub(1);
    let mut bytes = encode(base, key.modulus().bytes());
    bytes.extend_from_slice(&threshold.to_be_bytes());
    seats.iter().for_each(|seat| seat.write(&mut bytes));
    let mut drawn = Derived::new(known.primes.clone(), &[POLYNOMIAL, &bytes]);
    let polynomial = RingPolynomial::random(order, known.exponent.clone(), degree, &mut drawn);
    let last = u64::try_from(seats.len()).ok()?;
    Some((1..=last).map(|seat| polynomial.at(seat)).collect())
}

/// A safe prime of `bits` bits whose first two bits are ones, so that two of them make a modulus of
/// full length.
fn safe_prime(bits: u32, entropy: &mut dyn Entropy) -> Result<Secret<BoxedUint>, ShoupError> {
    let sieve = SmallFactorsSieveFactory::<BoxedUint>::new(Flavor::Safe, bits, SetBits::TwoMsb)
        .map_err(|_| ShoupError::LocalPrimes)?;
    let found = sieve_and_find(&mut Draw(entropy), sieve, |_, candidate| is_prime(Flavor::Safe, candidate));
    found.ok().flatten().map(Secret::new).ok_or(ShoupError::LocalPrimes)
}

impl core::fmt::Debug for Dealer {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(out, "Dealer({:?}, {:?}, ..)", self.key, self.term)
    }
}
