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
pub(super) struct Walked {
    /// When it last shared a ring, by its own clock.
    shared: Option<Shared>,
    /// Where it skipped last.
    skipped: Option<Skipped>,
}

impl Transcript {
    /// Notes that we share a ring with somebody now: the note, if it is new. One of a clock that
    /// was ahead is put right by the next one. A clock that is none says nothing: the line's time
    /// is what is known then. A note that is too old stays until our line goes on: others may have
    /// been away with us.
    pub(crate) fn note_ring(&mut self, clock: Option<UnixTime>) -> Option<Vec<u8>> {
        let (noted, number) = (self.walked.shared, self.state().head().number);
        let now =
            self.sound(clock).unwrap_or_else(|| self.time().max(self.last_shared().unwrap_or_default()));
        let keeps = |noted: &Shared| {
            let old = now.0 > noted.until() && noted.number == number;
            old || noted.at.0.abs_diff(now.0) < NOTED_SECONDS
        };
        if noted.as_ref().is_some_and(keeps) {
            return None;
        }
        let shared = Shared { at: now, number };
        self.walked.shared = Some(shared);
        Some(codec::encode(&shared))
    }

    /// Whether a package may lead on is for our node to say: it knows when it shares a ring.
    pub fn leave_to_node(&mut self) {
        self.walked.shared = None;
    }

    /// When we last shared a ring, by our own clock; none if we never did.
    pub fn last_shared(&self) -> Option<UnixTime> {
        self.walked.shared.map(|shared| shared.at)
    }

    /// What we went on over last without the decisions between.
    pub fn skipped(&self) -> Option<Skipped> {
        self.walked.skipped
    }

    /// Takes back what a store has of the way along the line.
    pub(crate) fn recall_way(
        &mut self,
        shared: Option<&[u8]>,
        skipped: Option<&[u8]>,
    ) -> Result<(), ItemError> {
        let shared = shared.map(codec::decode).transpose()?;
        let skipped = skipped.map(codec::decode).transpose()?;
        self.walked = Walked { shared, skipped };
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
            self.check_skip(last, clock)?;
        }
        next.walked.skipped = Some(Skipped { from: self.state().head(), to: next.state().head() });
        *self = next;
        Ok(taken)
    }

    /// `LINE-78`: whether it is so long ago that we shared a ring that the decisions since need not
    /// be here any more.
    fn check_skip(&self, last: &Standing, clock: Option<UnixTime>) -> Result<(), ItemError> {
        let Some(shared) = self.walked.shared.filter(|_| !self.state().is(Danger::LineSkipsAnyway)) else {
            return Ok(());
        };
        let by_clock = self.sound(clock).is_some_and(|clock| clock.0 > shared.until());
        let by_line = last.proposal.decision.time.0 > shared.until();
        if by_clock && by_line { Ok(()) } else { Err(ItemError::OneByOne) }
    }
}
