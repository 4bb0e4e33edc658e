//! Entropy that a secret stands behind: where the system's is bad, what is drawn is still as hard
//! to guess as the secret.

use crate::base::{Digest, Entropy, Secret, digest, draw};
use sha2::{Digest as _, Sha512};
use zeroize::Zeroize as _;

/// Gives SHA-512 over a secret key, 64 fresh bytes, what is drawn for, and a count. As long as
/// fresh entropy does not repeat for the same use, nothing repeats; and if it is known to others,
/// what is drawn is not.
pub(crate) struct Hedged<'a> {
    key: Secret<Vec<u8>>,
    bound: Digest,
    fresh: &'a mut dyn Entropy,
    count: u64,
}

impl<'a> Hedged<'a> {
    /// `purpose`: what is drawn for, in parts whose lengths are fixed.
    pub(crate) fn new(key: Secret<Vec<u8>>, purpose: &[&[u8]], fresh: &'a mut dyn Entropy) -> Self {
        Self { key, bound: digest(purpose), fresh, count: 0 }
    }
}

impl Entropy for Hedged<'_> {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(64) {
            let fresh = Secret::new(draw::<64>(self.fresh));
            let mut hash = Sha512::new();
            hash.update(b"folkmoot hedged nonce v1\0");
            hash.update(self.key.expose());
            hash.update(fresh.expose());
            hash.update(self.bound);
            hash.update(self.count.to_be_bytes());
            let mut wide: [u8; 64] = hash.finalize().into();
            chunk.iter_mut().zip(&wide).for_each(|(to, from)| *to = *from);
            wide.zeroize();
            self.count = self.count.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entropy that says the same for ever.
    struct Stuck(u8);

    impl Entropy for Stuck {
        fn fill(&mut self, out: &mut [u8]) {
            out.fill(self.0);
        }
    }

    #[test]
    fn entropy_that_is_stuck_draws_something_else_for_each_key_use_and_place() {
        let mut seen = std::collections::BTreeSet::new();
        for key in [1, 2] {
            for purpose in [b"one", b"two"] {
                for stuck in [0, 9] {
                    let mut fresh = Stuck(stuck);
                    let mut hedged = Hedged::new(Secret::new(vec![key; 32]), &[purpose], &mut fresh);
                    let drawn: [u8; 192] = draw(&mut hedged);
                    drawn.chunks(64).for_each(|part| assert!(seen.insert(part.to_vec())));
                }
            }
        }
        assert_eq!(seen.len(), 24);
    }
}
