//! `LINE-78`: who may go on without the decisions between, and who takes them one by one.
//!
//! ```text
//! last shared a ring ---- 90 days ----.
//! own clock            one by one     |  a package will do
//! time of its line     one by one     |  a package will do       both: a wrong clock alone skips nothing
//! ```
//! Whoever takes decisions one by one counts the approvals of whom they hold. Whoever skips trusts
//! the quorums that committed to them. So a quorum that lies must not make anybody skip who could
//! have counted. How many decisions lie between says nothing: the number is that quorum's word.

use super::{Taken, Transcript};
use crate::proposal::Standing;
use crate::{Head, ItemError, LIFE_SECONDS};
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Danger, UnixTime};

/// So long after the last note that a ring was shared it is noted again, in seconds.
const NOTED_SECONDS: u64 = 3_600;

/// What a member has gone on over without the decisions between: it trusts the quorums of their
/// voters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Skipped {
    /// The last decision before.
    pub from: Head,
    /// The one that it went on to.
    pub to: Head,
}

/// That a member shared a ring.
#[derive(Debug, Clone, Copy, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct Shared {
    /// When, by its own clock.
    at: UnixTime,
    /// The number of its last decision then.
    number: u64,
}

impl Shared {
    /// Until when the decisions since are kept by others, if any were made.
    fn until(&self) -> u64 {
        self.at.0.saturating_add(LIFE_SECONDS)
    }
}

/// What a member knows of its own way along the line.
#[derive(Debug, Clone, Default)]
pub struct Way {
    /// When it last shared a ring, by its own clock.
    shared: Option<Shared>,
    /// Where it skipped last.
    skipped: Option<Skipped>,
}

impl Way {
    /// Notes that we share a ring with somebody now, as far as we know: whether that is new. A note
    /// of a clock that was ahead is put right by the next one. One that is too old stays until our
    /// line, of `number` decisions now, goes on: others may have been away with us.
    pub fn note(&mut self, now: UnixTime, number: u64) -> bool {
        let keeps = |noted: &Shared| {
            let old = now.0 > noted.until() && noted.number == number;
            old || noted.at.0.abs_diff(now.0) < NOTED_SECONDS
        };
        if self.shared.as_ref().is_some_and(keeps) {
            return false;
        }
        self.shared = Some(Shared { at: now, number });
        true
    }

    /// When we last shared a ring, by our own clock; none if we never did.
    pub fn last_shared(&self) -> Option<UnixTime> {
        self.shared.map(|shared| shared.at)
    }

    /// Whether it is so long ago that we shared a ring that the decisions since, up to one of
    /// `time`, need not be here any more: by a clock that is not far behind the line, and by the
    /// line itself.
    pub fn may_skip(&self, time: UnixTime, clock: Option<UnixTime>) -> bool {
        let Some(shared) = self.shared else { return true };
        let long_ago = |at: UnixTime| at.0 > shared.until();
        clock.is_some_and(long_ago) && long_ago(time)
    }
}

impl Transcript {
    /// Notes that we share a ring with somebody now: the note, if it is new. A clock that is none
    /// says nothing: the line's time is what is known then.
    pub(crate) fn note_ring(&mut self, clock: Option<UnixTime>) -> Option<Vec<u8>> {
        let last = || self.time().max(self.last_shared().unwrap_or_default());
        let (now, number) = (self.sound(clock).unwrap_or_else(last), self.state().head().number);
        let new = self.way.note(now, number);
        self.way.shared.filter(|_| new).map(|shared| codec::encode(&shared))
    }

    /// Whether a package may lead on is for our node to say: it knows when it shares a ring.
    pub fn leave_to_node(&mut self) {
        self.way.shared = None;
    }

    /// When we last shared a ring, by our own clock; none if we never did.
    pub fn last_shared(&self) -> Option<UnixTime> {
        self.way.last_shared()
    }

    /// What we went on over last without the decisions between.
    pub fn skipped(&self) -> Option<Skipped> {
        self.way.skipped
    }

    /// Takes back what a store has of the way along the line.
    pub(crate) fn recall_way(
        &mut self,
        shared: Option<&[u8]>,
        skipped: Option<&[u8]>,
    ) -> Result<(), ItemError> {
        let shared = shared.map(codec::decode).transpose()?;
        let skipped = skipped.map(codec::decode).transpose()?;
        self.way = Way { shared, skipped };
        Ok(())
    }

    /// Skips by a package, if we may: everything is verified before that is asked. `says`: our
    /// person lets us.
    pub(crate) fn skip_if_may(
        &mut self,
        (handovers, last, state): (&[Standing], &Standing, &[u8]),
        says: bool,
        clock: Option<UnixTime>,
    ) -> Result<Taken, ItemError> {
        let mut next = self.clone();
        let taken = next.skip(handovers, last, state, !says)?;
        if !says {
            self.check_time(last.proposal.decision.time, self.sound(clock))?;
            let may = self.way.may_skip(last.proposal.decision.time, self.sound(clock));
            if !may && !self.state().is(Danger::LineSkipsAnyway) {
                return Err(ItemError::OneByOne);
            }
        }
        next.way.skipped = Some(Skipped { from: self.state().head(), to: next.state().head() });
        *self = next;
        Ok(taken)
    }
}
