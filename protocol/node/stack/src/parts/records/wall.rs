//! The time on the wall clock, and what waits for it.
//!
//! ```text
//! own clock 120 s past an end            the node has a Past of a link or of its member ordered, up to this end
//! own clock  60 s past an end            it takes a Past at its place in the order, up to this end (LINE-33)
//! a term begins, an approval ends, a decision's time is too far ahead of it: the item waits (LINE-36, LINE-77)
//! no clock                               no Past, and nothing waits
//! ```
//! A node that took something at a place in the order where the others did not would be alone with
//! its roster. So it lets others' clocks come there, too, before it has a Past ordered. What comes
//! too early waits, and is ordered when the clock has come to it (`NODE-10`). Where clocks differ
//! by more, one node may take what the other does not. A ring that stands goes on. In a new
//! configuration the two leave each other out, until the slower clock has come there: what has been
//! ordered is ordered again by whoever could not take it.

use super::Records;
use crate::parts::{Orders, Outbox};
use base::UnixTime;
use folkmoot_base as base;
use folkmoot_transcript::{Item, PAST_TAKEN_SECONDS, Taken, Transcript, is_clock};

/// The time on the wall clock, and the latest Past that waits for it.
#[derive(Debug)]
pub(super) struct Wall {
    /// When our own identity was made: a clock before that does not count.
    begun: UnixTime,
    time: Option<UnixTime>,
    /// Whether the clock has been asked about what the store has let in.
    asked: bool,
    past: UnixTime,
}

impl Wall {
    pub(super) fn new(begun: UnixTime) -> Self {
        Self { begun, time: None, asked: false, past: UnixTime(0) }
    }

    /// The time, if there is a clock that counts.
    pub(super) fn clock(&self) -> Option<UnixTime> {
        self.time
    }
}

impl Records {
    /// A clock that is earlier than the making of our own identity does not count. The first time
    /// that does judges what the store has let in, and so does one that goes back: the clock before
    /// it was ahead, and we may have cut off those with whom we would agree on a ring. What has
    /// changed by that.
    pub(crate) fn hear_clock(&mut self, time: UnixTime, orders: &mut Orders<'_>) -> Option<Taken> {
        let believed = is_clock(time, self.wall.begun);
        let before = self.wall.time.unwrap_or_default();
        let back = time.0.saturating_add(PAST_TAKEN_SECONDS) < before.0;
        self.wall.time = believed.then_some(time);
        let started = (believed && (back || !self.wall.asked)).then(|| {
            self.wall.asked = true;
            self.ask_again(Transcript::hear_clock)
        });
        self.order_due(orders);
        started
    }

    /// `LINE-37`: what a clock has let in is asked again before we agree with others. What has
    /// changed by that.
    pub(crate) fn ask_clock_again(&mut self) -> Option<Taken> {
        self.wall.time?;
        Some(self.ask_again(|_, _| Taken::default()))
    }

    fn ask_again(&mut self, then: impl FnOnce(&mut Transcript, UnixTime) -> Taken) -> Taken {
        let (mark, clock) = (self.transcript.mark(), self.wall.time.unwrap_or_default());
        let again = self.transcript.ask_again(clock);
        let then = then(&mut self.transcript, clock);
        if self.transcript.mark() != mark {
            self.stage.renew();
            (self.mark_due, self.announce) = (true, true);
        }
        Taken { came: &again.came | &then.came, went: &again.went | &then.went, ..then }
    }

    /// Orders what waited for our clock, if that has come there.
    pub(crate) fn order_due(&mut self, orders: &mut Orders<'_>) {
        let Some(clock) = self.wall.time else { return };
        let mut due = self.transcript.due(clock);
        if self.takes_early(self.wall.past, clock) {
            due.push(Item::Past { time: self.wall.past }.encode().into());
        }
        for item in due {
            orders.out.trace("transcript", "what waited for this clock is ordered (NODE-10)".to_owned());
            if let Err(error) = self.stage_due(&item, orders) {
                orders.out.refuse("transcript", &base::whole(&error));
            }
        }
        self.finish_stage();
    }

    /// Whether a Past would say something, by a clock that the others' may be behind.
    fn takes_early(&self, past: UnixTime, clock: UnixTime) -> bool {
        let early = UnixTime(clock.0.saturating_sub(PAST_TAKEN_SECONDS));
        let known = self.known();
        known.set().takes_past(known.state(), past, early).is_some()
    }

    /// `NODE-10`: whether a Past is not ordered yet, because our clock has not come to it. It
    /// waits.
    pub(super) fn is_early(&mut self, past: UnixTime, out: &mut Outbox) -> bool {
        let known = self.known();
        let new = past > known.set().past() && past > known.state().time();
        let early = new && self.wall.time.is_none_or(|clock| !self.takes_early(past, clock));
        let early = early && !self.danger.is(base::Danger::LineEndsEarly);
        if early {
            self.not_yet(past, out);
        }
        early
    }

    /// A Past had its place in the order, and our clock had not come to all of it.
    pub(super) fn not_yet(&mut self, past: UnixTime, out: &mut Outbox) {
        if past > self.transcript.set().past() && past > self.wall.past {
            self.wall.past = past;
            let text = "a time is said to be past that is not, by this machine's clock (NODE-10)";
            out.refuse("transcript", &text);
        }
    }
}
