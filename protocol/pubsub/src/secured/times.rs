//! When a key is used and when it is erased, and how many messages it may seal.

use super::Danger;
use core::time::Duration;
use folkmoot_base::Mutant;

/// How many numbers a sender has under one key: half of those there are, so that everybody knows
/// which of two is the later one, also where they go round.
pub const NUMBERS_MAX: u64 = 1 << 31;

/// When the key of a domain gives way to the next one. All members have the same values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// How long after a new key is there the old one still seals, so that slower members have the
    /// new one by then. Not after an exclusion.
    pub switch: Duration,
    /// How long after that the old one still opens (PUB-21). Not after an exclusion.
    pub overlap: Duration,
    /// How many numbers a sender has under one key (PUB-22); at most [`NUMBERS_MAX`] counts.
    pub numbers: u64,
    /// Which check is left out, to show what it is for; none outside of tests.
    pub danger: Mutant<Danger>,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            switch: Duration::from_millis(50),
            overlap: Duration::from_millis(500),
            numbers: NUMBERS_MAX,
            danger: Mutant::NONE,
        }
    }
}

impl Times {
    /// How many numbers a sender has under one key.
    pub(super) fn most(&self) -> u64 {
        self.numbers.min(NUMBERS_MAX)
    }
}
