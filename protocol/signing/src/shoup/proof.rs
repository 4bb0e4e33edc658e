//! A part of a signature, and the proof that it was made with its seat's share (Shoup 2000, section
//! 2). It proves that two discrete logarithms among the squares, whose order nobody knows, are
//! equal. A hash makes it non-interactive.
//!
//! ```text
//! version 1 | x_i, bits / 8 bytes | c 32 | z, bits / 8 + 65 bytes      big endian
//! ```

use super::integers::delta;
use super::share::ShoupShare;
use super::sharing::ShoupSharing;
use crate::base::{Digest, Entropy, Secret, codec, draw};
use crate::modular::{Residue, decode, encode, invert_public, pow, pow_public};
use crate::rsa::Reader;
use crate::run::RunId;
use crypto_bigint::{BoxedUint, ConcatenatingMul as _, Resize as _};
use sha2::{Digest as _, Sha256, Sha512};
use zeroize::Zeroize as _;

/// L, the bits of a challenge.
const CHALLENGE_BITS: u32 = 256;
/// Bytes of z beyond those of the modulus: r has 2L bits more than N, and s_i·c is smaller than r
/// can be, so z has at most 2L + 1.
const RESPONSE_EXTRA: usize = 65;

/// What is proven about: one message in one run under one sharing.
pub(super) struct Claim<'a> {
    sharing: &'a ShoupSharing,
    epoch: Digest,
    run: RunId,
    /// x^(2Δ).
    doubled: Residue,
    /// x̃ = x^(4Δ).
    tilde: Residue,
}

/// x_i with its proof, read but not verified.
pub(super) struct Part {
    pub(super) value: Residue,
    challenge: Digest,
    response: BoxedUint,
}

impl<'a> Claim<'a> {
    pub(super) fn new(sharing: &'a ShoupSharing, run: RunId, x: &Residue) -> Self {
        let doubled = pow_public(&x.square(), &delta(sharing.size()));
        let tilde = doubled.square();
        Self { sharing, epoch: sharing.epoch(), run, doubled, tilde }
    }

    /// Makes the part of `share`: x_i = x^(2Δ·s_i), c, z = s_i·c + r. The message to all.
    pub(super) fn part(&self, share: &ShoupShare, entropy: &mut dyn Entropy) -> Vec<u8> {
        let modulus = self.sharing.key.modulus();
        let value = pow(&self.doubled, share.secret.expose());
        let precision = response_precision(self.sharing);
        let random = Secret::new(self.nonce(share, precision, entropy));
        let first = pow(&modulus.residue(&self.sharing.base), random.expose());
        let second = pow(&self.tilde, random.expose());
        let challenge = self.challenge(share.seat, &value, &first, &second);
        let mut product =
            share.secret.expose().concatenating_mul(number(&challenge)).resize_unchecked(precision);
        let response = product.wrapping_add(random.expose());
        product.zeroize();
        let mut out = vec![codec::WIRE_VERSION];
        out.extend(modulus.encode(&value));
        out.extend_from_slice(&challenge);
        out.extend(encode(&response, modulus.bytes().saturating_add(RESPONSE_EXTRA)));
        out
    }

    /// r, hedged: a hash of entropy, share, seat, message and run, as long as the modulus and 512
    /// bits more. If entropy repeats, r does not repeat for another message or run, which would
    /// give the share away.
    fn nonce(&self, share: &ShoupShare, precision: u32, entropy: &mut dyn Entropy) -> BoxedUint {
        let modulus = self.sharing.key.modulus();
        let drawn = Secret::new(draw::<64>(entropy).to_vec());
        let secret = Secret::new(encode(share.secret.expose(), modulus.bytes()));
        let mut wide = Vec::with_capacity(modulus.bytes().saturating_add(64));
        for block in 0..modulus.bytes().div_ceil(64).saturating_add(1) {
            let mut hash = Sha512::new();
            hash.update(b"folkmoot shoup nonce v1\0");
            hash.update(u64::try_from(block).unwrap_or(u64::MAX).to_be_bytes());
            for part in [drawn.expose(), secret.expose(), &modulus.encode(&self.tilde)] {
                hash.update(part);
            }
            hash.update(self.run.0);
            hash.update(self.epoch);
            hash.update(share.seat.to_be_bytes());
            wide.extend_from_slice(&hash.finalize());
        }
        let number = BoxedUint::from_be_slice_truncated(&wide, precision);
        wide.zeroize();
        number
    }

    /// Whether the part of `seat` was made with its share: c = H(.., v^z·v_i^-c, x̃^z·x_i^-2c)
    /// (SHO-08).
    pub(super) fn proves(&self, seat: u16, part: &Part) -> bool {
        self.recompute(seat, part).is_some_and(|challenge| challenge == part.challenge)
    }

    fn recompute(&self, seat: u16, part: &Part) -> Option<Digest> {
        let modulus = self.sharing.key.modulus();
        let image = modulus.residue(self.sharing.images.get(usize::from(seat).checked_sub(1)?)?);
        let challenge = number(&part.challenge);
        let undo = |known: &Residue| invert_public(&pow_public(known, &challenge));
        let first = pow_public(&modulus.residue(&self.sharing.base), &part.response).mul(&undo(&image)?);
        let second = pow_public(&self.tilde, &part.response).mul(&undo(&part.value.square())?);
        Some(self.challenge(seat, &part.value, &first, &second))
    }

    fn challenge(&self, seat: u16, value: &Residue, first: &Residue, second: &Residue) -> Digest {
        let modulus = self.sharing.key.modulus();
        let mut hash = Sha256::new();
        hash.update(b"folkmoot shoup proof v1\0");
        hash.update(self.run.0);
        hash.update(self.epoch);
        hash.update(seat.to_be_bytes());
        for known in [&self.tilde, &value.square(), first, second] {
            hash.update(modulus.encode(known));
        }
        hash.finalize().into()
    }
}

impl Part {
    /// Reads a signer's message: one length, x_i below N and not zero, z in its range (SHO-07).
    pub(super) fn read(sharing: &ShoupSharing, message: &[u8]) -> Option<Self> {
        let modulus = sharing.key.modulus();
        let mut reader = Reader::behind_version(message)?;
        let value = modulus.decode(reader.take(modulus.bytes())?)?;
        let challenge = reader.array()?;
        let response = reader.take(modulus.bytes().checked_add(RESPONSE_EXTRA)?)?;
        reader.end()?;
        let in_range = response.first().is_some_and(|first| *first <= 1);
        let response = decode(response, response_precision(sharing)).filter(|_| in_range)?;
        Some(Self { value, challenge, response })
    }
}

fn response_precision(sharing: &ShoupSharing) -> u32 {
    sharing.key.modulus().precision().saturating_add(CHALLENGE_BITS * 2 + 64)
}

fn number(challenge: &Digest) -> BoxedUint {
    BoxedUint::from_be_slice_truncated(challenge, CHALLENGE_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::danger::ForStudy;
    use crate::rsa::ModulusSize;
    use crate::shoup::{Dealer, DealerTerm};
    use crate::stuck::Stuck;

    #[test]
    fn sho_15_entropy_that_repeats_repeats_no_nonce() {
        let line = include_str!("../../tests/data/safe-primes.txt").lines().nth(2).unwrap();
        let hex = |word: &str| -> Vec<u8> {
            (0..word.len()).step_by(2).map(|at| u8::from_str_radix(&word[at..at + 2], 16).unwrap()).collect()
        };
        let words: Vec<&str> = line.split(' ').collect();
        let size = ModulusSize::Bits1024(ForStudy);
        let mut dealer =
            Dealer::from_primes(size, DealerTerm::Standing, &hex(words[1]), &hex(words[2])).unwrap();
        let dealt = dealer.deal(2, 2, &[], &mut Stuck(1)).unwrap();
        let again = dealer.deal(1, 2, &[], &mut Stuck(2)).unwrap();
        let mut seen = Vec::new();
        for (sharing, shares) in [(&dealt.sharing, &dealt.shares), (&again.sharing, &again.shares)] {
            for (message, run, drawn) in [(&b"one"[..], 1, 1), (b"two", 1, 1), (b"one", 2, 1), (b"one", 1, 2)]
            {
                let x = sharing.key.representative(message).unwrap();
                let claim = Claim::new(sharing, RunId([run; 32]), &x);
                for share in shares {
                    let nonce = claim.nonce(share, response_precision(sharing), &mut Stuck(drawn));
                    assert_eq!(nonce, claim.nonce(share, response_precision(sharing), &mut Stuck(drawn)));
                    assert!(nonce.bits_vartime() > 1024 + 512 - 64 && nonce.bits_vartime() <= 1024 + 512);
                    seen.push(nonce);
                }
            }
        }
        let all = seen.len();
        seen.sort();
        seen.dedup();
        // Also of the second deal, where a threshold of one makes all shares one number.
        assert_eq!((all, seen.len()), (16, 16));
    }
}
