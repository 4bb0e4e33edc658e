//! How often anyone who is linked here may speak: a burst at once, then one message per period.

use core::time::Duration;
use folkmoot_base::Instant;

/// How much one side may say.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    /// At once.
    pub(crate) burst: u32,
    /// Time after which it may say one thing more.
    pub(crate) refill: Duration,
}

/// What is left of it.
#[derive(Debug)]
pub(crate) struct Tokens {
    left: u32,
    refilled: Instant,
}

impl Allowance {
    /// All of it.
    pub(crate) fn full(self, now: Instant) -> Tokens {
        Tokens { left: self.burst, refilled: now }
    }

    /// Whether one more thing may be said now.
    pub(crate) fn take(self, tokens: &mut Tokens, now: Instant) -> bool {
        let earned = now.since(tokens.refilled).as_millis() / self.refill.as_millis().max(1);
        if earned > 0 {
            let earned = u32::try_from(earned).unwrap_or(self.burst);
            tokens.left = tokens.left.saturating_add(earned).min(self.burst);
            tokens.refilled = now;
        }
        let may = tokens.left > 0;
        tokens.left = tokens.left.saturating_sub(1);
        may
    }
}
