//! Randomness of a run: every generator is ChaCha20 under the run's seed and its own purpose. If
//! one part draws more or less, the draws of all others stay as they were.

use folkmoot_base::{Entropy, digest};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

/// A seeded generator with the few draws that a schedule needs.
#[derive(Debug)]
pub struct Rng(ChaCha20Rng);

impl Rng {
    /// The generator for `purpose` (and its `index`-th user) under `seed`.
    pub fn new(seed: u64, purpose: &str, index: u64) -> Self {
        let key = digest(&[b"folkmoot sim", &seed.to_be_bytes(), purpose.as_bytes(), &index.to_be_bytes()]);
        Self(ChaCha20Rng::from_seed(key))
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `low..high` (`low` if the range is empty).
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        let span = high.saturating_sub(low);
        if span == 0 { low } else { low.saturating_add(self.number() % span) }
    }

    /// An index below `length` (0 if there is none).
    pub fn below(&mut self, length: usize) -> usize {
        usize::try_from(self.range(0, length as u64)).unwrap_or(0)
    }

    /// True in `parts` of a million draws.
    pub fn chance(&mut self, parts: u32) -> bool {
        parts > 0 && self.range(0, 1_000_000) < u64::from(parts)
    }

    /// One of `options`.
    pub fn pick<'a, T>(&mut self, options: &'a [T]) -> Option<&'a T> {
        options.get(self.below(options.len()))
    }

    /// An index drawn by weight.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let total = weights.iter().map(|weight| u64::from(*weight)).sum();
        let mut left = self.range(0, total);
        for (index, weight) in weights.iter().enumerate() {
            match left.checked_sub(u64::from(*weight)) {
                Some(rest) => left = rest,
                None => return index,
            }
        }
        0
    }

    /// Random bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut out = vec![0; length];
        self.0.fill_bytes(&mut out);
        out
    }
}

impl Entropy for Rng {
    fn fill(&mut self, out: &mut [u8]) {
        self.0.fill_bytes(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_and_purpose_draw_the_same_and_others_do_not() {
        let draws = |seed, purpose, index| {
            let mut rng = Rng::new(seed, purpose, index);
            (0..8).map(|_| rng.number()).collect::<Vec<_>>()
        };
        assert_eq!(draws(1, "net", 0), draws(1, "net", 0));
        assert_ne!(draws(1, "net", 0), draws(2, "net", 0));
        assert_ne!(draws(1, "net", 0), draws(1, "net", 1));
        assert_ne!(draws(1, "net", 0), draws(1, "schedule", 0));
    }

    #[test]
    fn weighted_draws_stay_in_range() {
        let mut rng = Rng::new(3, "test", 0);
        for _ in 0..1_000 {
            assert!([1, 3].contains(&rng.weighted(&[0, 5, 0, 1])));
        }
    }
}
