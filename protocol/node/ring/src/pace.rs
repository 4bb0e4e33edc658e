//! How soon a token that was passed on is repeated.
//!
//! While there is anything to do, the token comes again soon, and one that does not is repeated
//! soon. In a ring that rests one member holds it, and a repeat would say nothing new: a
//! member waits as long as the token last took to come again, and then repeats it as usual. If
//! anything is lost, the round takes longer; that member sees it, and the ring does not
//! rest. So where tokens are lost often, they are repeated soon all the time.

use crate::config::Config;
use core::time::Duration;
use folkmoot_base::Instant;

/// After so many quiet rounds on end, none of them slow, a ring rests.
const ROUNDS: usize = 8;

/// What this member knows of the token's rounds.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    came: Option<Instant>,
    /// Between its last two visits, and between those before.
    interval: Duration,
    before: Duration,
    left: Option<Instant>,
    /// How long the last round took from here, and the quickest of all.
    round: Duration,
    quickest: Option<Duration>,
}

impl Pace {
    /// The token has come.
    pub(crate) fn came(&mut self, now: Instant) {
        self.before = self.interval;
        self.interval = self.came.replace(now).map_or(Duration::ZERO, |before| now.since(before));
        if let Some(left) = self.left.take() {
            self.round = now.since(left);
            self.quickest = Some(self.quickest.map_or(self.round, |quickest| quickest.min(self.round)));
        }
    }

    /// When the token last came.
    pub(crate) fn came_at(&self) -> Option<Instant> {
        self.came
    }

    /// The token goes on.
    pub(crate) fn leaves(&mut self, now: Instant) {
        self.left = Some(now);
    }

    /// Whether the last round took so long that some pass was repeated.
    pub(crate) fn was_slow(&self, config: &Config) -> bool {
        self.quickest.is_some_and(|quickest| self.round >= quickest + config.timing.token_repeat)
    }

    /// After how many quiet visits on end a ring of so many members rests.
    pub(crate) fn rest(members: usize) -> usize {
        members.saturating_mul(ROUNDS)
    }

    /// How long to wait for a sign of progress in a ring that rests. If the token came late,
    /// something was lost in this round already, and there is no time to wait.
    pub(crate) fn patience(&self, config: &Config) -> Duration {
        let repeat = config.timing.token_repeat;
        if self.interval >= self.before + repeat {
            return repeat;
        }
        let round = self.quickest.unwrap_or_default();
        let spare = config.timing.token_loss.saturating_sub(round);
        (self.interval + repeat).min(spare / 2)
    }
}
