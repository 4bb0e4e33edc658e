//! Schnorr's three moves (CRYPTO 1989), the basis of both proofs of possession and multisignatures:
//! R = r·G, c, s = r + c·x.

use crate::PrimeGroup;
use crate::base::{Digest, Entropy, Secret, draw};
use sha2::{Digest as _, Sha512};
use zeroize::Zeroize;

/// The number r behind one R. Not to be copied; answering consumes it; erased when dropped.
pub(super) struct Nonce<G: PrimeGroup>(pub(super) Secret<G::Scalar>);

impl<G: PrimeGroup> Nonce<G> {
    /// Draws one: SHA-512 over the secret key, 64 fresh bytes and what it is for. The hash makes
    /// bad entropy as good as the key's secrecy, as long as it does not repeat for the same use.
    /// The nonce is not deterministic: the others' R being unknown, a deterministic one would
    /// answer two challenges with one r.
    pub(super) fn draw(secret: &G::Scalar, bound: &Digest, entropy: &mut dyn Entropy) -> Self {
        let key = Secret::new(G::encode_scalar(secret));
        loop {
            let fresh = Secret::new(draw::<64>(entropy));
            let mut wide =
                wide(&[b"folkmoot asm nonce v1", &[0], G::NAME, &[0], key.expose(), fresh.expose(), bound]);
            let number = G::from_wide(&wide);
            wide.zeroize();
            if number != G::zero() {
                return Self(Secret::new(number));
            }
        }
    }

    /// R.
    pub(super) fn element(&self) -> G::Element {
        G::raise_generator(self.0.expose())
    }

    /// s. Once.
    pub(super) fn answer(self, challenge: G::Scalar, secret: &G::Scalar) -> G::Scalar {
        G::plus(*self.0.expose(), G::times(challenge, *secret))
    }
}

/// c, of `label`, what is signed or proven, and R.
pub(super) fn challenge<G: PrimeGroup>(label: &[u8], bound: &Digest, element: &G::Element) -> G::Scalar {
    G::from_wide(&wide(&[label, &[0], G::NAME, &[0], bound, &G::encode(element)]))
}

/// Whether s·G = R + c·Y: two exponentiations.
pub(super) fn fits<G: PrimeGroup>(
    element: &G::Element,
    key: &G::Element,
    challenge: G::Scalar,
    answer: G::Scalar,
) -> bool {
    G::raise_generator(&answer) == G::add(element, &G::raise_many(&[(challenge, *key)]))
}

fn wide(parts: &[&[u8]]) -> [u8; 64] {
    let mut hash = Sha512::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}
