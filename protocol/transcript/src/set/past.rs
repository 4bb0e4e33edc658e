//! Past: one time in the set, before which what had ended is over. A line that rests would judge
//! for ever by the time of its last decision.
//!
//! ```text
//! own clock 6 minutes past an end      this member raises Past to it, whatever it was about to take
//! own clock 60 s past an end           it takes another's Past as far as this end
//! own clock not past Past              somebody's clock was wrong: Past goes back to the last end that it is past
//! ```
//! Past is one second after an end that is known here: of a term, or of a yes to an admission. It
//! merges by maximum, has no author, and counts only above the time of the last decision. It
//! follows from the other things in the set and from how far somebody's clock was: if an end leaves
//! the set, Past is that of the end before. An end ends membership until a decision holds it; it
//! moves no vote.

use super::{Kept, Set};
use crate::{Admit, Approval, LIFE_SECONDS, Signed, State};
use folkmoot_base::{Danger, Digest, MemberId, UnixTime};
use folkmoot_identity::VoteKind;
use std::collections::BTreeSet;

/// How far one's own clock must be past an end before one takes it from others, in seconds.
pub const PAST_TAKEN_SECONDS: u64 = 60;
/// How far it must be past an end before one says so oneself, in seconds: clocks that differ by
/// less than the difference of the two take it together.
pub const PAST_SAID_SECONDS: u64 = 360;
/// How long after a clock, and the time of the last decision, an approval may end that comes into
/// the set: a day more than voters' programs sign.
const APPROVED_SECONDS: u64 = LIFE_SECONDS + 86_400;
/// Most approvals that wait for the clock.
const WAITING_MAX: usize = 1_024;

impl Set {
    /// What had ended by this time is over; zero if the time of the last decision says as much.
    pub fn past(&self) -> UnixTime {
        *self.past.get_or_init(|| {
            let ends = (self.over > UnixTime(0)).then(|| self.said_ends()).into_iter().flatten();
            let last = ends.filter(|end| *end >= self.terms.0 && *end < self.over).max();
            last.map(after).unwrap_or_default()
        })
    }

    /// Takes the time of a state and the ends of terms in it.
    pub(super) fn take_terms(&mut self, state: &State) {
        let ends = state.roster().values().map(|held| held.ends).filter(|end| end.0 < u64::MAX);
        self.terms = (state.time(), ends.collect());
        if self.over <= state.time() {
            self.over = UnixTime(0);
        }
    }

    /// The time at which what no decision holds is judged.
    pub fn time(&self, state: &State) -> UnixTime {
        if state.is(Danger::LineNoPast) { state.time() } else { state.time().max(self.past()) }
    }

    /// Takes another's Past, as far as this clock and the ends that are known here go: `LINE-33`.
    /// Whether it was new and has been taken.
    pub fn take_past(&mut self, state: &State, past: UnixTime, clock: UnixTime) -> bool {
        self.takes_past(state, past, clock).is_some_and(|past| self.raise_to(state, past))
    }

    /// What Past would become by another's, as far as this clock and the ends that are known here
    /// go; none if it would stay.
    pub fn takes_past(&self, state: &State, past: UnixTime, clock: UnixTime) -> Option<UnixTime> {
        let sure = if state.is(Danger::LineEndsEarly) {
            UnixTime(u64::MAX)
        } else {
            UnixTime(clock.0.saturating_sub(PAST_TAKEN_SECONDS))
        };
        let last = self.said_ends().filter(|end| *end < past && *end < sure).max()?;
        Some(after(last)).filter(|past| *past > self.past() && *past > state.time())
    }

    /// `LINE-33`: raises Past to the last end that this clock is well past. Whether that is new.
    pub fn raise(&mut self, state: &State, clock: UnixTime) -> bool {
        match self.raised(state, clock) {
            Some(past) => self.raise_to(state, past),
            None => false,
        }
    }

    /// What Past would be raised to by this clock; none if it is there.
    pub(crate) fn raised(&self, state: &State, clock: UnixTime) -> Option<UnixTime> {
        let sure = UnixTime(clock.0.saturating_sub(PAST_SAID_SECONDS));
        let last = self.known_ends().filter(|end| *end < sure).max()?;
        Some(after(last)).filter(|past| *past > self.past() && *past > state.time())
    }

    /// `LINE-37`: Past goes back to the last end that this clock is past: it has been raised by a
    /// clock that was wrong. Whether it did.
    pub fn ask_again(&mut self, state: &State, clock: UnixTime) -> bool {
        if self.over <= clock || state.is(Danger::LineNeverAsksAgain) {
            return false;
        }
        let before = self.past();
        self.over = clock;
        self.judge_anew(state);
        self.past() != before
    }

    fn raise_to(&mut self, state: &State, past: UnixTime) -> bool {
        if past <= self.past() || past <= state.time() {
            return false;
        }
        self.over = past;
        self.judge_anew(state);
        true
    }

    fn judge_anew(&mut self, state: &State) {
        self.changed();
        if !self.loading {
            self.judge_all(state);
            self.bound_admits(state);
        }
    }

    /// When members come to their ends here: when terms in the state end, and when each admission
    /// counts for the last time.
    fn known_ends(&self) -> impl Iterator<Item = UnixTime> {
        self.terms.1.iter().copied().chain(self.admits.values().filter_map(|kept| kept.last))
    }

    /// All ends that are here, whatever counts: of terms, asked for or held, and of yeses to
    /// admissions. Somebody may have known one of them as a member's end before a voter said
    /// something else.
    fn said_ends(&self) -> impl Iterator<Item = UnixTime> {
        let yes = |one: &&Approval| one.subject.kind == VoteKind::Admit && one.is_yes();
        let yes = self.approvals().map(|signed| &signed.approval).filter(yes).map(|one| one.expires);
        let terms = self.admits().map(|admit| admit.ends).chain(self.terms.1.iter().copied());
        terms.chain(yes)
    }

    /// The last moment at which an admission counts by the approvals that are here.
    pub fn counts_until(&self, request: &Digest) -> Option<UnixTime> {
        self.admits.get(request).and_then(|kept| kept.last)
    }

    /// Members whose terms are over by Past, in no decision yet: `LINE-35` keeps voters whom the
    /// group needs.
    pub(super) fn ended(&self, state: &State) -> Vec<MemberId> {
        let time = self.time(state);
        if time <= state.time() {
            return Vec::new();
        }
        let renewed: BTreeSet<MemberId> =
            self.counted().filter(|admit| admit.ends >= time).map(|admit| admit.member).collect();
        state.ending(time, &renewed)
    }

    /// Whether a member's time is over, and nothing else takes its place from it: its term in the
    /// state, or an admission that no decision holds.
    pub fn is_over(&self, state: &State, member: &MemberId) -> bool {
        let time = self.time(state);
        let held = state.roster().get(member).is_some_and(|held| held.ends < time);
        let ran_out = |kept: &Kept| kept.admit.member == *member && kept.last.is_some_and(|last| last < time);
        (held || self.admits.values().any(ran_out)) && !state.is(Danger::LineOverIsOut)
    }

    /// The voters whose terms are over and who stay, because too few would be left: until they are
    /// renewed or replaced.
    pub fn overdue(&self, state: &State) -> BTreeSet<MemberId> {
        let time = self.time(state);
        let members = self.members(state);
        let over = members.into_iter().filter(|(_, held)| held.ends < time);
        over.map(|(member, _)| member).collect()
    }

    /// `LINE-36`: takes an approval whose signature is verified, or lets it wait outside the set if
    /// it ends too far ahead of this clock. Whether it is new and has been kept in the set.
    pub fn hear_approval(&mut self, state: &State, signed: Signed, clock: Option<UnixTime>) -> bool {
        if clock.is_some_and(|clock| Self::is_far(state, &signed.approval, clock)) {
            self.wait(signed);
            return false;
        }
        self.take_approval(state, signed)
    }

    /// Whether an approval ends so far ahead of this clock that it waits outside the set.
    pub(crate) fn is_far(state: &State, approval: &Approval, clock: UnixTime) -> bool {
        let last = clock.max(state.time()).0.saturating_add(APPROVED_SECONDS);
        approval.expires.0 > last
    }

    /// Keeps an approval outside the set. Of one voter and subject the one that would stand.
    pub(crate) fn wait(&mut self, signed: Signed) {
        let key = (signed.approval.subject, signed.approval.voter);
        let stands = |known: &Signed| signed.approval.replaces(&known.approval);
        if self.waiting.get(&key).is_none_or(stands) {
            self.waiting.insert(key, signed);
        }
        while self.waiting.len() > WAITING_MAX {
            self.waiting.pop_last();
        }
    }

    /// Approvals that end too far ahead of this clock wait outside the set again. Whether there
    /// were any.
    pub fn let_out(&mut self, state: &State, clock: UnixTime) -> bool {
        if state.is(Danger::LineNeverAsksAgain) {
            return false;
        }
        let is_far = |signed: &Signed| Self::is_far(state, &signed.approval, clock);
        let stood: Vec<Signed> =
            self.approvals.extract_if(.., |_, signed| is_far(signed)).map(|(_, signed)| signed).collect();
        let besides = self.replaced.extract_if(.., |_, signed| is_far(signed)).map(|(_, signed)| signed);
        let far: Vec<Signed> = besides.chain(stood.iter().cloned()).collect();
        if far.is_empty() {
            return false;
        }
        stood.iter().for_each(|signed| self.no_longer_given(&signed.approval));
        far.into_iter().for_each(|signed| self.wait(signed));
        // A nearer yes of the same voter stands instead.
        self.stand_again(state);
        self.bound_refusals(state);
        self.bound_effects(state);
        self.judge_anew(state);
        true
    }

    /// Takes an admission out of the set: its term has not begun by this clock.
    pub fn take_out(&mut self, state: &State, request: &Digest) -> Option<Admit> {
        let admit = self.admit(request)?.clone();
        self.drop_admit(state, *request);
        self.crowd(state);
        self.bound_admits(state);
        Some(admit)
    }

    /// How many approvals wait for the clock.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The approvals that waited and are near enough by this clock: they wait no more.
    pub fn near(&mut self, state: &State, clock: UnixTime) -> Vec<Signed> {
        let near = self.waiting.extract_if(.., |_, signed| !Self::is_far(state, &signed.approval, clock));
        near.map(|(_, signed)| signed).collect()
    }

    /// The yeses to an admission that do not stand and may have let somebody commit to it: those
    /// that were taken back or said again, and those that wait for the clock.
    pub fn besides(&self, request: &Digest) -> impl Iterator<Item = &Approval> {
        let subject = super::admission(*request);
        let range = (subject, MemberId([0; 32]))..=(subject, MemberId([0xff; 32]));
        let waiting = self.waiting.range(range).map(|(_, signed)| &signed.approval);
        self.replaced_of(request).map(|signed| &signed.approval).chain(waiting)
    }
}

/// Past, when this end is over.
fn after(end: UnixTime) -> UnixTime {
    UnixTime(end.0.saturating_add(1))
}
