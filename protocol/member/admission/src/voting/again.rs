//! A yes to an admission that no decision holds is said again before it ends. Otherwise whoever was
//! admitted on the smaller side of a split would fall out because votes are short.
//!
//! ```text
//! yes, until day 3 --- day 2: said again, next turn, until the end of the term --- a decision holds it
//! ```
//! Only what this voter's own key has said is said again, and nothing that its person has taken
//! back, or that has run out. Bounds: [`AT_ONCE`] in one call; each time it lasts up to 90 days.

use super::Voting;
use crate::call::{Call, Out};
use folkmoot_base::{Danger, UnixTime};
use folkmoot_transcript::{Admit, Approval, admission};

/// So long before its end a yes is said again, in seconds.
const BEFORE_SECONDS: u64 = 86_400;
/// Most that are said again at once: the rest follows with the next clock.
const AT_ONCE: usize = 16;
const DAY_SECONDS: u64 = 86_400;

impl Voting {
    /// `ADM-96`: says again what ends within a day.
    pub(crate) fn say_again(&mut self, call: &Call<'_>, out: &mut Out) {
        let is_clock = call.transcript.sound(call.clock).is_some();
        if !is_clock || call.config.danger.is(Danger::AdmissionSaysOnce) {
            return;
        }
        let due = call.transcript.set().counted().filter_map(|admit| due(call, admit));
        let mut said = 0;
        for (own, until) in due {
            if said < AT_ONCE && self.words.say_again(call, &own, until, out) {
                said += 1;
            }
        }
    }
}

/// This voter's yes to an admission that counts, if it is to be said again, and until when.
fn due(call: &Call<'_>, admit: &Admit) -> Option<(Approval, UnixTime)> {
    let (state, me) = (call.transcript.state(), call.me());
    let own = call.transcript.set().approval(&admission(admit.request), &me)?.approval;
    let soon = own.expires.0 <= call.time().0.saturating_add(BEFORE_SECONDS);
    let stands = soon && own.is_yes() && state.may_vote(&me);
    let counts = stands && state.counts(&own, state.removed_at(&admit.member), call.time()).is_ok();
    counts.then(|| (own, last(call, admit)))
}

/// The latest end of a yes that counts for this admission: of its term, and within `request_days`.
fn last(call: &Call<'_>, admit: &Admit) -> UnixTime {
    let days = call.transcript.state().charter().policies().request_days;
    let asked = days.map(|days| u64::from(days).saturating_mul(DAY_SECONDS));
    let asked = asked.map(|seconds| UnixTime(admit.begins.0.saturating_add(seconds)));
    asked.map_or(admit.ends, |asked| asked.min(admit.ends))
}
