//! Where our clock is asked: what waits for it, and what it has let in.
//!
//! ```text
//! term begins > 5 min ahead of our clock    the item of the admission waits, outside the set
//! approval ends > 91 days ahead             it waits, too, and vouches only for what was decided by it
//! clock more than a day before T(n)         it is none: it lets nothing in and holds nothing back
//! ```
//! Bounds: [`WAITING_MAX`] items, [`WAITING_BYTES_MAX`] bytes: of more those that came last go.

use super::catch_up::approval_item;
use super::{Taken, Transcript};
use crate::{Admit, Decision, Item, Roster, SKEW_SECONDS};
use bytes::Bytes;
use folkmoot_base::{Danger, Digest, UnixTime};
use std::collections::BTreeMap;

/// A clock may be so far before the making of one's own identity, in seconds.
const BEFORE_SECONDS: u64 = 60;
/// A clock that is so far behind the last decision's time is none, in seconds.
const BEHIND_SECONDS: u64 = 86_400;
/// Most items of admissions that wait.
const WAITING_MAX: usize = 256;
/// Most bytes that they have together.
const WAITING_BYTES_MAX: usize = 1024 * 1024;

/// Items of admissions whose terms have not begun, by request, each with the begin.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    items: BTreeMap<Digest, (UnixTime, Bytes)>,
    bytes: usize,
}

impl Waiting {
    fn add(&mut self, admit: &Admit, item: &[u8]) {
        let fits = self.bytes.saturating_add(item.len()) <= WAITING_BYTES_MAX;
        if fits && self.items.len() < WAITING_MAX && !self.items.contains_key(&admit.request) {
            self.bytes = self.bytes.saturating_add(item.len());
            self.items.insert(admit.request, (admit.begins, Bytes::copy_from_slice(item)));
        }
    }

    fn remove(&mut self, request: &Digest) -> Option<Bytes> {
        let (_, item) = self.items.remove(request)?;
        self.bytes = self.bytes.saturating_sub(item.len());
        Some(item)
    }

    fn begun(&mut self, clock: UnixTime) -> Vec<Bytes> {
        let begun = self.items.extract_if(.., |_, (begins, _)| has_begun(*begins, clock));
        let begun: Vec<Bytes> = begun.map(|(_, (_, item))| item).collect();
        let gone: usize = begun.iter().map(Bytes::len).sum();
        self.bytes = self.bytes.saturating_sub(gone);
        begun
    }
}

/// `LINE-37`: whether a clock counts for somebody whose identity was made at `made`. One from
/// before that is none: a machine without a battery says 1970 until somebody sets its clock.
pub fn is_clock(clock: UnixTime, made: UnixTime) -> bool {
    clock.0 > 0 && clock.0.saturating_add(BEFORE_SECONDS) >= made.0
}

fn has_begun(begins: UnixTime, clock: UnixTime) -> bool {
    begins.0 <= clock.0.saturating_add(SKEW_SECONDS)
}

impl Transcript {
    /// A clock that is far behind the last decision's time is none.
    pub fn sound(&self, clock: Option<UnixTime>) -> Option<UnixTime> {
        clock.filter(|clock| clock.0.saturating_add(BEHIND_SECONDS) >= self.state().time().0)
    }

    /// `LINE-36`: whether an admission waits for the clock, outside the set. It does so here.
    pub(super) fn waits(&mut self, admit: &Admit, item: &[u8], clock: Option<UnixTime>) -> bool {
        let early = clock.is_some_and(|clock| !has_begun(admit.begins, clock));
        if early && !self.state().is(Danger::LineBeginsLater) {
            self.waiting.add(admit, item);
            return true;
        }
        false
    }

    /// How many admissions and approvals wait for the clock.
    pub fn waiting(&self) -> usize {
        self.waiting.items.len().saturating_add(self.set().waiting())
    }

    /// What our clock is well past is over, before what has come is judged.
    pub(super) fn ask(&mut self, clock: Option<UnixTime>) {
        let Some(clock) = clock else { return };
        let (state, set) = self.line.set_mut();
        if !set.is_loading() && set.raise(state, clock) {
            self.raised = Some(set.past());
        }
    }

    /// The items that waited for this clock and need not any more, to be taken (again). Decisions
    /// that have waited are among them.
    pub fn due(&mut self, clock: UnixTime) -> Vec<Bytes> {
        let Some(clock) = self.sound(Some(clock)) else { return Vec::new() };
        let mut due = self.waiting.begun(clock);
        let (state, set) = self.line.set_mut();
        for signed in set.near(state, clock) {
            match approval_item(&signed) {
                Some((_, item)) => due.push(item),
                // Its certificate alone proves it.
                None => due.extend(self.papers(&signed.approval.subject.digest).cloned()),
            }
        }
        due.extend(self.ahead_due(clock));
        due
    }

    /// Lets the clock do its work where nobody shares our order yet: takes what is due, and says
    /// what is past.
    pub fn hear_clock(&mut self, clock: UnixTime) -> Taken {
        let before = self.roster.clone();
        let mut new = false;
        for item in self.due(clock) {
            new |= self.take(&item, Some(clock)).is_ok_and(|taken| taken.new);
        }
        self.asked(&before, Taken { new, ..Taken::default() }, Some(clock))
    }

    /// `LINE-37`: asks the clock again about what it has let in: what it has not come to waits
    /// again. For a start, and before one agrees with others on a ring.
    pub fn ask_again(&mut self, clock: UnixTime) -> Taken {
        let Some(clock) = self.sound(Some(clock)) else { return Taken::default() };
        let (state, set) = self.line.set_mut();
        let mut new = set.ask_again(state, clock);
        let far = set.let_out(state, clock);
        new |= far;
        let early: Vec<Digest> =
            set.admits().filter(|admit| !has_begun(admit.begins, clock)).map(|admit| admit.request).collect();
        for request in early {
            new |= self.let_out(&request);
        }
        self.told(new)
    }

    /// The same at a start, where the clock also judges what the store has let in and ran out
    /// since.
    pub fn ask_at_start(&mut self, clock: UnixTime) -> Taken {
        let before = self.roster.clone();
        let again = self.ask_again(clock);
        self.asked(&before, again, Some(clock))
    }

    /// Has the clock end what ran out of that which `done` let in. What has changed since `before`.
    pub(crate) fn asked(&mut self, before: &Roster, done: Taken, clock: Option<UnixTime>) -> Taken {
        self.ask(self.sound(clock));
        let new = self.told(done.new).new;
        Taken { liars: done.liars, ..Taken::between(new, before, &self.roster) }
    }

    pub(super) fn let_out(&mut self, request: &Digest) -> bool {
        if self.state().is(Danger::LineBeginsLater) || self.state().is(Danger::LineNeverAsksAgain) {
            return false;
        }
        let papers: Vec<Bytes> = self.papers(request).cloned().collect();
        let (state, set) = self.line.set_mut();
        let Some(admit) = set.take_out(state, request) else { return false };
        for item in papers {
            self.waiting.add(&admit, &item);
        }
        self.forget();
        true
    }

    /// What a decision holds or names is taken although it waits for our clock: those who decided
    /// have come to it. Which requests came by that.
    pub(super) fn bring_in(&mut self, decision: &Decision) -> Vec<Digest> {
        let waits = |request: &Digest| Some((*request, self.waiting.remove(request)?));
        let came: Vec<(Digest, Bytes)> = decision.requests().filter_map(waits).collect();
        for (_, item) in &came {
            if let Ok(Item::Admit { certificate, approvals }) = Item::decode(item) {
                // It was verified when it came.
                drop(self.take_admit(item, &certificate.0, &approvals, None));
            }
        }
        came.into_iter().map(|(request, _)| request).collect()
    }

    /// `LINE-33`: takes a time that is past, as far as our clock goes. Without one nothing is. Our
    /// own word on it has been said by that.
    pub(super) fn take_past(&mut self, time: UnixTime, clock: Option<UnixTime>) -> bool {
        let (state, set) = self.line.set_mut();
        let took = clock.is_some_and(|clock| set.take_past(state, time, clock));
        let said = self.raised.is_some_and(|raised| raised <= time);
        if said {
            self.raised = None;
        }
        took || said
    }

    /// The time that is past by this clock, and that nobody has said yet.
    pub fn unsaid_past(&self, clock: UnixTime) -> Option<UnixTime> {
        let clock = self.sound(Some(clock))?;
        let due = self.set().raised(self.state(), clock);
        due.or(self.raised.filter(|raised| *raised == self.set().past()))
    }
}
