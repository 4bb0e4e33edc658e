//! The date, where no other clock could stop ours: `LINE-95`.
//!
//! ```text
//! alone a quorum, clock 30 days past T(n) --> nothing is proposed or judged --> its person has seen the date --> decided
//! ```
//! Bound: the person's word is for one head and one day of the clock. It is not kept on disk.

use super::Ballots;
use crate::State;
use folkmoot_base::UnixTime;

/// So long after the date that its person has seen may the time of a decision be, in seconds.
const WORD_SECONDS: u64 = 86_400;

impl Ballots {
    /// This voter's person has seen this date, and says that it is right.
    pub fn know_date(&mut self, date: UnixTime) {
        self.date = Some(date);
    }

    /// Whether a decision waits for the person's word on the date; `false`: none is due yet, and
    /// the next one will wait; `None`: there is nothing to ask by this clock.
    pub fn asks_date(&self, state: &State, clock: UnixTime) -> Option<bool> {
        self.is_held(state, clock).then_some(self.holds_back)
    }

    /// `LINE-95`: whether a decision of this time waits for the person's word on the date.
    pub(super) fn is_held(&self, state: &State, time: UnixTime) -> bool {
        let of_its_day = |date: UnixTime| (date.0..=date.0.saturating_add(WORD_SECONDS)).contains(&time.0);
        state.asks_date(&self.me, time) && !self.date.is_some_and(of_its_day)
    }
}
