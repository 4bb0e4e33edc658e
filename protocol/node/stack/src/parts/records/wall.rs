//! Ends of terms that our own clock has not come to. An Expire names no time: it is true or not by
//! the clock of whoever takes it (`LINE-33`). Clocks differ, and a node that took an end at a place
//! in the order where the others did not would be alone with its roster. So a node says that a term
//! is over one minute later than it takes somebody's word for it.
//!
//! ```text
//! own clock > end of the term + 120 s     it has the end ordered, its own member's or one from a link
//! own clock > end of the term +  60 s     it takes the end at its place in the order
//! no clock                                the time of the last decision says both
//! ```
//! What comes too early waits, and is ordered when the clock has come to it (`NODE-10`). Where two
//! clocks differ by more than a minute, one node may take what the other does not. A ring that
//! stands goes on. In a new configuration the two leave each other out, until the slower clock has
//! come there: an end that has been ordered is ordered again by whoever could not take it.

use super::Records;
use crate::parts::{Orders, Outbox};
use base::{Digest, MemberId, UnixTime};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_transcript::{EXPIRE_SECONDS, Item, ItemError, Transcript};
use std::collections::BTreeMap;

/// Seconds by which a clock may be before the making of our own identity.
const BEFORE_SECONDS: u64 = 60;
/// Most ends that wait.
const WAITING_MAX: usize = 4_096;

/// The time on the wall clock, and the ends of terms that wait for it.
#[derive(Debug)]
pub(super) struct Wall {
    /// When our own identity was made: a clock before that does not count.
    begun: UnixTime,
    time: Option<UnixTime>,
    waiting: BTreeMap<(MemberId, Digest), Waiting>,
}

/// An end of a term that waits.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    ends: UnixTime,
    /// Seconds past it at which it is ordered.
    after: u64,
}

impl Wall {
    pub(super) fn new(begun: UnixTime) -> Self {
        Self { begun, time: None, waiting: BTreeMap::new() }
    }

    /// The time, if there is a clock that counts.
    pub(super) fn clock(&self) -> Option<UnixTime> {
        self.time
    }

    fn wait(&mut self, end: (MemberId, Digest), waiting: Waiting) {
        let known = self.waiting.get(&end);
        let after = known.map_or(waiting.after, |known| known.after.min(waiting.after));
        if self.waiting.len() < WAITING_MAX || known.is_some() {
            self.waiting.insert(end, Waiting { after, ..waiting });
        }
    }

    /// Whether the clock has come so far; without one the time of the last decision says so.
    fn is_past(&self, waiting: &Waiting, decided: UnixTime) -> bool {
        match self.time {
            Some(clock) => clock.0 > waiting.ends.0.saturating_add(waiting.after),
            None => decided > waiting.ends,
        }
    }
}

impl Records {
    /// A clock that is earlier than the making of our own identity does not count. A machine
    /// without a battery says 1970 until somebody sets its clock.
    pub(crate) fn hear_clock(&mut self, time: UnixTime, orders: &mut Orders<'_>) {
        let believed = self.wall.begun.0.saturating_sub(BEFORE_SECONDS) <= time.0;
        self.wall.time = believed.then_some(time);
        self.order_ends(orders);
    }

    /// Orders the ends whose time has come, and forgets those that nobody waits for any more.
    pub(crate) fn order_ends(&mut self, orders: &mut Orders<'_>) {
        let decided = self.transcript.state().time();
        let over = |(end, waiting): (&(MemberId, Digest), &Waiting)| {
            let open = is_open(&self.transcript, end);
            (!open || self.wall.is_past(waiting, decided)).then_some((*end, open))
        };
        let over: Vec<_> = self.wall.waiting.iter().filter_map(over).collect();
        for (end, open) in over {
            self.wall.waiting.remove(&end);
            if open && let Err(error) = self.stage_end(end, orders) {
                orders.out.refuse("transcript", &base::whole(&error));
            }
        }
        self.finish_stage();
    }

    fn stage_end(
        &mut self,
        (member, request): (MemberId, Digest),
        orders: &mut Orders<'_>,
    ) -> Result<bool, ItemError> {
        let item = Bytes::from(Item::Expire { member, request }.encode());
        let text = format!("the term of {member} is over by this clock, too (NODE-10)");
        orders.out.trace("transcript", text);
        self.stage_past(&item, orders)
    }

    /// `NODE-10`: whether this end is not ordered yet, because our clock has not come to it. It
    /// waits.
    pub(super) fn is_early(&mut self, member: MemberId, request: Digest, out: &mut Outbox) -> bool {
        let end = (member, request);
        let Some(ends) = end_of(self.known(), &end) else { return false };
        let waiting = Waiting { ends, after: 2 * EXPIRE_SECONDS };
        let early = !self.wall.is_past(&waiting, self.known().state().time())
            && !self.danger.is(base::Danger::LineEndsEarly);
        if early && is_open(self.known(), &end) {
            self.wall.wait(end, waiting);
            refuse_early(out);
        }
        early
    }

    /// An end had its place in the order, and our clock had not come to it.
    pub(super) fn not_yet(&mut self, member: MemberId, request: Digest, out: &mut Outbox) {
        let end = (member, request);
        let Some(ends) = end_of(&self.transcript, &end).filter(|_| is_open(&self.transcript, &end)) else {
            return;
        };
        self.wall.wait(end, Waiting { ends, after: EXPIRE_SECONDS });
        refuse_early(out);
    }
}

fn refuse_early(out: &mut Outbox) {
    out.refuse("transcript", &"a term that is said to have ended has not, by this machine's clock (NODE-10)");
}

/// When the admission ends of which this is said to be the end: none if it is not known here.
fn end_of(transcript: &Transcript, (member, request): &(MemberId, Digest)) -> Option<UnixTime> {
    let held = transcript.state().roster().get(member).filter(|held| held.request == *request);
    let open = transcript.set().admit(request).filter(|admit| admit.member == *member);
    held.map(|held| held.ends).or(open.map(|admit| admit.ends))
}

/// Whether the term is known here and nobody has ended it.
fn is_open(transcript: &Transcript, end: &(MemberId, Digest)) -> bool {
    let said = transcript.set().expires().any(|one| (one.member, one.request) == *end);
    !said && end_of(transcript, end).is_some()
}
