//! Decisions whose time is more than a day ahead of our clock: they stand, and wait.
//!
//! ```text
//! head --- n+1, T = 2200 (shown, not applied) --- n+2 = Retime (T is today: both are applied)
//! ```
//! A quorum that lies could otherwise end every term, and with them the group, by its word on the
//! time alone. Whom such a decision removes is out here at once: nothing is lost by that, if the
//! decision is honest, and much if it is not taken. Bounds: [`AHEAD_MAX`] decisions.

use super::{Taken, Transcript};
use crate::proposal::Standing;
use crate::{Change, Item, ItemError};
use bytes::Bytes;
use folkmoot_base::{Danger, MemberId, UnixTime};
use std::collections::BTreeSet;

/// How far ahead of our clock a decision's time may be, in seconds.
const AHEAD_SECONDS: u64 = 86_400;
/// Most decisions that wait.
const AHEAD_MAX: usize = 16;

impl Transcript {
    /// The decisions that stand and wait for our clock, in order.
    pub fn ahead(&self) -> &[Standing] {
        let follows = self.ahead.first().is_some_and(|one| one.proposal.parent() == self.state().head());
        if follows { &self.ahead } else { &[] }
    }

    /// Whom decisions that wait for our clock remove: they are out here already.
    pub fn hidden(&self) -> BTreeSet<MemberId> {
        let effects = self.ahead().iter().flat_map(|standing| &standing.proposal.decision.effects);
        let removed = effects.filter_map(|approved| match &approved.effect.change {
            Change::Remove { member } | Change::Rotate { member, .. } => Some(*member),
            Change::Leave(leave) => Some(leave.member),
            _ => None,
        });
        removed.collect()
    }

    /// `LINE-77`: takes a decision whose time is far ahead of our clock, or that follows one. It is
    /// verified like any other, on a copy. None if it does not concern this.
    pub(crate) fn take_ahead(
        &mut self,
        standing: &Standing,
        clock: Option<UnixTime>,
    ) -> Result<Option<Taken>, ItemError> {
        let Some(clock) = clock.filter(|_| !self.state().is(Danger::LineAheadOfClock)) else {
            return Ok(None);
        };
        let known = self.ahead().iter().any(|one| one.head() == standing.head());
        let parent = standing.proposal.parent();
        let follows = !known && self.ahead().last().is_some_and(|last| last.head() == parent);
        if !known && !follows && (parent != self.state().head() || !is_ahead(standing, clock)) {
            return Ok(None);
        }
        let waits = is_ahead(if known { self.ahead().last().unwrap_or(standing) } else { standing }, clock);
        if known && waits {
            return Ok(Some(Taken::default()));
        }
        let mut line: Vec<Standing> = if known || follows { self.ahead().to_vec() } else { Vec::new() };
        line.extend((!known).then(|| standing.clone()));
        if line.len() > AHEAD_MAX {
            return Err(ItemError::Ahead);
        }
        let mut copy = self.clone();
        copy.ahead.clear();
        for one in &line {
            copy.apply(one.clone(), None)?;
        }
        if waits {
            self.ahead = line;
            return Ok(Some(self.told(true)));
        }
        let before = std::mem::replace(self, copy);
        self.told(true);
        Ok(Some(Taken::between(true, &before.roster, &self.roster)))
    }

    /// The decisions that waited, if the clock has come to the last of them: they wait no more.
    pub(super) fn ahead_due(&mut self, clock: UnixTime) -> Vec<Bytes> {
        let due = self.ahead().last().is_some_and(|last| !is_ahead(last, clock));
        let due = if due { std::mem::take(&mut self.ahead) } else { Vec::new() };
        due.into_iter().map(|standing| Item::Decision(standing).encode().into()).collect()
    }

    /// Applies the decisions that wait for our clock although it has not come to them: our person
    /// says so.
    pub fn take_ahead_of_clock(&mut self) -> Taken {
        let before = self.roster.clone();
        for standing in std::mem::take(&mut self.ahead) {
            // What does not stand any more falls, and what follows it with it.
            drop(self.apply(standing, None));
        }
        let new = self.roster.head() != before.head();
        Taken::between(new, &before, &self.roster)
    }

    /// `LINE-77`: whether a line with this time may be followed without its decisions.
    pub(crate) fn check_time(&self, time: UnixTime, clock: Option<UnixTime>) -> Result<(), ItemError> {
        let far = clock.is_some_and(|clock| time.0 > clock.0.saturating_add(AHEAD_SECONDS));
        if far && !self.state().is(Danger::LineAheadOfClock) {
            Err(ItemError::TimeAhead(time))
        } else {
            Ok(())
        }
    }
}

fn is_ahead(standing: &Standing, clock: UnixTime) -> bool {
    standing.proposal.decision.time.0 > clock.0.saturating_add(AHEAD_SECONDS)
}
