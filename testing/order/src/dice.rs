//! Random bits from a number, the same in each run.

/// Random bits from a number (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Dice(pub u64);

impl Dice {
    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        let sides = u64::try_from(sides.max(1)).unwrap_or(1);
        usize::try_from(self.next() % sides).unwrap_or_default()
    }

    /// Yes, so many times in a thousand.
    pub(crate) fn chance(&mut self, permille: usize) -> bool {
        self.roll(1000) < permille
    }

    /// A number from `low` up to `high`.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.roll(high - low + 1)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}
