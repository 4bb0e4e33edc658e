//! When a message is sent again: after pauses that double.

use core::time::Duration;
use folkmoot_base::{Entropy, Instant, draw};

/// First pause before something unanswered is sent again; it doubles.
const FIRST: Duration = Duration::from_secs(2);
/// Longest such pause.
const LONGEST: Duration = Duration::from_secs(60);
/// How long a signing session may stand still, and the least time that an answer is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// How long an entry that was handed over may take to come back in order before it is made again.
pub(crate) const ENTRY_PATIENCE: Duration = Duration::from_secs(5);

/// When to speak again.
#[derive(Debug)]
pub(crate) struct Pause {
    length: Duration,
    due: Option<Instant>,
    soon: bool,
}

impl Default for Pause {
    fn default() -> Self {
        Self { length: FIRST, due: None, soon: false }
    }
}

impl Pause {
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Begin again with the shortest pause.
    pub(crate) fn soon(&mut self) {
        self.soon = true;
    }

    /// Whether it is time; doubles the pause if so.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let now_due = self.due.is_some_and(|due| due <= now);
        if now_due {
            self.due = None;
            self.length = self.length.saturating_mul(2).min(LONGEST);
        }
        now_due
    }

    /// Sets the timer if there is anything to wait for: to the pause and up to a quarter more, so
    /// that members do not all speak at once.
    pub(crate) fn arrange(&mut self, now: Instant, busy: bool, entropy: &mut dyn Entropy) {
        if !busy {
            self.due = None;
            self.length = FIRST;
            self.soon = false;
            return;
        }
        if core::mem::take(&mut self.soon) {
            self.length = FIRST;
            self.due = None;
        }
        if self.due.is_none() {
            let [draw] = draw::<1>(entropy);
            let spread = self.length.saturating_mul(u32::from(draw)) / 1024;
            self.due = Some(now + self.length.saturating_add(spread));
        }
    }
}
