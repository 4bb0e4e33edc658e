//! Drawn numbers: the same for the same seed.

use std::time::Duration;

/// SplitMix64.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// One of `0..count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(count).unwrap()).unwrap()
    }

    /// A delay up to `most` milliseconds, in steps of a tenth.
    pub(crate) fn delay(&mut self, most: usize) -> Duration {
        Duration::from_micros(u64::try_from(self.below(most * 10)).unwrap() * 100)
    }

    /// The number in the environment variable `name`, or `usual`.
    pub(crate) fn setting(name: &str, usual: u64) -> u64 {
        std::env::var(name)
            .map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
    }
}
