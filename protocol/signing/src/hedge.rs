//! Entropy that a secret stands behind: where the system's is bad, what is drawn is still as hard
//! to guess as the secret. And entropy that is a secret's alone, so that it can be drawn again.

use crate::base::{Digest, Entropy, Secret, digest, draw};
use sha2::{Digest as _, Sha512};
use zeroize::Zeroize as _;

/// SHA-512 over a label, a secret, whatever the caller adds, what is drawn for, and a count.
struct Stream {
    label: &'static [u8],
    key: Secret<Vec<u8>>,
    bound: Digest,
    count: u64,
}

impl Stream {
    fn new(label: &'static [u8], key: Secret<Vec<u8>>, purpose: &[&[u8]]) -> Self {
        Self { label, key, bound: digest(purpose), count: 0 }
    }

    fn fill(&mut self, out: &mut [u8], mut add: impl FnMut(&mut Sha512)) {
        for chunk in out.chunks_mut(64) {
            let mut hash = Sha512::new();
            hash.update(self.label);
            hash.update(self.key.expose());
            add(&mut hash);
            hash.update(self.bound);
            hash.update(self.count.to_be_bytes());
            let mut wide: [u8; 64] = hash.finalize().into();
            chunk.iter_mut().zip(&wide).for_each(|(to, from)| *to = *from);
            wide.zeroize();
            self.count = self.count.wrapping_add(1);
        }
    }
}

/// Adds 64 fresh bytes to a secret key. As long as fresh entropy does not repeat for the same use,
/// nothing repeats; and if it is known to others, what is drawn is not.
pub(crate) struct Hedged<'a> {
    stream: Stream,
    fresh: &'a mut dyn Entropy,
}

impl<'a> Hedged<'a> {
    /// `purpose`: what is drawn for, in parts whose lengths are fixed.
    pub(crate) fn new(key: Secret<Vec<u8>>, purpose: &[&[u8]], fresh: &'a mut dyn Entropy) -> Self {
        Self { stream: Stream::new(b"folkmoot hedged nonce v1\0", key, purpose), fresh }
    }
}

impl Entropy for Hedged<'_> {
    fn fill(&mut self, out: &mut [u8]) {
        let fresh = &mut *self.fresh;
        self.stream.fill(out, |hash| hash.update(Secret::new(draw::<64>(fresh)).expose()));
    }
}

/// Adds nothing to a secret: for one secret and purpose it always gives the same. Whoever does not
/// have the secret cannot tell it from fresh entropy.
pub(crate) struct Derived(Stream);

impl Derived {
    /// `purpose`: what is drawn for, a label first.
    pub(crate) fn new(key: Secret<Vec<u8>>, purpose: &[&[u8]]) -> Self {
        Self(Stream::new(b"folkmoot derived v1\0", key, purpose))
    }
}

impl Entropy for Derived {
    fn fill(&mut self, out: &mut [u8]) {
        self.0.fill(out, |_| ());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stuck::Stuck;

    #[test]
    fn what_is_derived_is_the_same_for_one_secret_and_purpose_and_for_no_other() {
        let of = |key: u8, purpose: &[u8]| {
            draw::<192>(&mut Derived::new(Secret::new(vec![key; 32]), &[b"label", purpose]))
        };
        assert_eq!(of(1, b"one"), of(1, b"one"));
        let mut seen = std::collections::BTreeSet::new();
        for (key, purpose) in [(1, b"one"), (2, b"one"), (1, b"two")] {
            of(key, purpose).chunks(64).for_each(|part| assert!(seen.insert(part.to_vec())));
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
