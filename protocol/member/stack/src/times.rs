//! How the time of the line and this machine's clock stand, and what waits for the clock; from the
//! transcript alone, for people.
//!
//! ```text
//! clock ............ T(n)                  behind by more than a day: the clock is none
//! T(n) ... clock ............... T(n+1)    a decision that waits; whom it removes is out here
//! ```

use crate::Member;
use folkmoot_base::{Head, MemberId, UnixTime};
use folkmoot_transcript::{Skipped, Standing, State};

/// What ends, or is needed, within so many seconds is told.
const SOON_SECONDS: u64 = 30 * 86_400;

/// How the time of the line stands beside this machine's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Times {
    /// The time of the last decision; zero before the first.
    pub line: UnixTime,
    /// The last decision.
    pub head: Head,
    /// Who committed to it; nobody before the first.
    pub by: Vec<MemberId>,
    /// This machine's clock, once it is known.
    pub clock: Option<UnixTime>,
    /// Whether this clock is so far behind the line's time that it is none.
    pub is_none: bool,
    /// When this member's identity was made, if this clock shows an earlier time.
    pub made: Option<UnixTime>,
    /// The decisions that stand and wait for this clock, in order.
    pub ahead: Vec<Ahead>,
    /// Whom they remove.
    pub out: Vec<MemberId>,
    /// What others show for decisions that nobody has shown this member one by one, the last one at
    /// the end: its person may skip to it.
    pub offered: Vec<Ahead>,
    /// What this member went on over last without the decisions between.
    pub skipped: Option<Skipped>,
    /// How many admissions and approvals wait for this clock.
    pub waiting: usize,
    /// Voters whose terms are over and who stay, because too few would be left.
    pub overdue: Vec<MemberId>,
    /// Until when admissions count that no decision holds, if that is within 30 days.
    pub counting: Vec<(MemberId, UnixTime)>,
    /// From when on no voter can be spared, if the first voter's term ends within 30 days; zero if
    /// that is so already.
    pub needed: Option<UnixTime>,
    /// Whether a decision waits until this member's person has seen the date: the member alone is a
    /// quorum, and its clock is 30 days after the last decision. `false`: none is due yet, and the
    /// next one will wait. `None`: nothing is asked.
    pub date: Option<bool>,
}

/// A decision that waits for this machine's clock, or for its person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ahead {
    /// Which.
    pub head: Head,
    /// Its time.
    pub time: UnixTime,
    /// Who committed to it.
    pub by: Vec<MemberId>,
}

impl From<&Standing> for Ahead {
    fn from(standing: &Standing) -> Self {
        let time = standing.proposal.decision.time;
        Self { head: standing.head(), time, by: committers(standing) }
    }
}

fn committers(standing: &Standing) -> Vec<MemberId> {
    standing.commits.iter().map(|commit| commit.voter).collect()
}

impl Member {
    /// How the time of the line stands beside this machine's clock.
    pub fn times(&self) -> Times {
        let (transcript, state) = (&self.transcript, self.transcript.state());
        let (set, clock) = (transcript.set(), self.sight.time());
        let shown = Some(self.sight.clock).filter(|clock| clock.0 > 0);
        let last = transcript.line().decisions().get(&state.head().number);
        let made = self.config.identity.certificate().not_before();
        let soon = clock.map_or(UnixTime(0), |clock| UnixTime(clock.0.saturating_add(SOON_SECONDS)));
        let until = |admit: &folkmoot_transcript::Admit| {
            set.counts_until(&admit.request).filter(|until| *until <= soon).map(|until| (admit.member, until))
        };
        Times {
            line: state.time(),
            head: state.head(),
            by: last.map(committers).unwrap_or_default(),
            clock: shown,
            is_none: shown.is_some() && transcript.sound(shown).is_none(),
            made: shown.filter(|clock| *clock < made).map(|_| made),
            ahead: transcript.ahead().iter().map(Ahead::from).collect(),
            out: transcript.hidden().into_iter().filter(|one| state.roster().contains_key(one)).collect(),
            offered: self.offers().to_vec(),
            skipped: transcript.skipped(),
            waiting: transcript.waiting(),
            overdue: set.overdue(state).into_iter().filter(|one| state.may_vote(one)).collect(),
            counting: set.counted().filter_map(until).collect(),
            needed: needed(state, soon),
            date: self.asks_date(),
        }
    }

    /// What others show for the decisions between, as long as it leads on.
    pub(crate) fn offers(&self) -> &[Ahead] {
        let head = self.transcript.state().head().number;
        let on = self.offered.last().is_some_and(|last| last.head.number > head);
        if on { &self.offered } else { &[] }
    }
}

/// From when on no voter can be spared, if that is to be told.
fn needed(state: &State, soon: UnixTime) -> Option<UnixTime> {
    let first = state.voter_ends().map(|(end, _)| end).min();
    state.all_needed_from().filter(|from| from.0 == 0 || first.is_some_and(|first| first <= soon))
}
