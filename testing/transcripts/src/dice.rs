//! Chance that a seed determines.

use folkmoot_base::{Entropy, digest};

/// A sequence of numbers and bytes that follows from a seed.
#[derive(Debug, Clone)]
pub struct Dice {
    seed: u64,
    count: u64,
}

impl Dice {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, count: 0 }
    }

    /// A number below `below`, which is at least 1.
    pub fn roll(&mut self, below: usize) -> usize {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        let below = u64::try_from(below.max(1)).unwrap_or(1);
        usize::try_from(u64::from_be_bytes(bytes) % below).unwrap_or_default()
    }

    /// [`Self::roll`] as seconds or a number on the wire.
    pub fn long(&mut self, below: usize) -> u64 {
        u64::try_from(self.roll(below)).unwrap_or_default()
    }

    /// Whether a chance of so many in a hundred comes true.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }

    /// One of them.
    pub fn pick<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        let at = self.roll(of.len());
        of.get(at).cloned()
    }

    /// Some of them, in their order: each with a chance of so many in a hundred.
    pub fn some<T: Clone>(&mut self, of: &[T], percent: usize) -> Vec<T> {
        of.iter().filter(|_| self.chance(percent)).cloned().collect()
    }
}

impl Entropy for Dice {
    fn fill(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(32) {
            self.count += 1;
            let block = digest(&[&self.seed.to_be_bytes(), &self.count.to_be_bytes()]);
            chunk.iter_mut().zip(block).for_each(|(to, from)| *to = from);
        }
    }
}
