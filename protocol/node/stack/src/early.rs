//! Entries that end a term before our own clock says so. An Expire names a time, and its author
//! chooses it. An author that names a time far ahead could end every term in the group on its own.
//! So a node accepts no entry whose time its own clock has not reached, and fetches the entry again
//! when the clock has.
//!
//! ```text
//! author's clock - 60 s > end of the term, time named = end of the term + 1 s      what an honest member writes (admission)
//! own clock + 60 s     >= time named                                               what a node takes (NODE-10)
//! end of the term + 1 day >= time named                                            what a node takes that has no clock
//! ```
//! No clock decides whether an entry is valid (DECISIONS T7). A clock only decides when a node
//! accepts it, and in the end all nodes do.

use crate::Node;
use base::{Instant, UnixTime};
use folkmoot_base as base;
use folkmoot_identity::transcript::{Body, Entry};

/// Seconds by which the time in an entry may be ahead of our own clock.
const AHEAD_SECONDS: u64 = 60;
/// Seconds after the end of a term that an entry may name if this node has no clock: a later time
/// may never come.
const AFTER_SECONDS: u64 = 86_400;

/// The time on the wall clock, and when the first entry that waits for it is due.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wall {
    time: Option<UnixTime>,
    due: Option<UnixTime>,
}

impl Node {
    /// A clock that is earlier than the making of our own identity does not count. A machine
    /// without a battery says 1970 until somebody sets its clock.
    pub(crate) fn hear_clock(&mut self, now: Instant, time: UnixTime) {
        let begun = self.config.identity.certificate().not_before();
        let believed = begun.0.saturating_sub(AHEAD_SECONDS) <= time.0;
        self.wall.time = believed.then_some(time);
        let Some(due) = self.wall.due.filter(|due| believed && !is_ahead(*due, time)) else { return };
        self.trace("transcript", format!("ends of terms until {} s are fetched again", due.0));
        self.wall.due = None;
        self.fetch_what_was_not_taken(now);
    }

    /// `NODE-10`: whether this entry ends a term at a time that our own clock has not reached. It
    /// is not accepted now, but it will be.
    pub(crate) fn is_early(&mut self, entry: &[u8]) -> bool {
        let Ok(entry) = Entry::decode(entry) else { return false };
        let Body::Expire { member, admission, time } = entry.body else { return false };
        let known = self.staged.as_ref().unwrap_or(&self.transcript);
        let early = match self.wall.time {
            Some(now) => is_ahead(time, now),
            None => {
                let end = known.roster().admission(&member, &admission).map(|held| held.not_after.0);
                end.is_some_and(|end| time.0 > end.saturating_add(AFTER_SECONDS))
            }
        };
        if early && known.is_signed(&entry) {
            self.wall.due = Some(self.wall.due.map_or(time, |due| due.min(time)));
        }
        early
    }

    pub(crate) fn refuse_early(&mut self) {
        self.refuse(
            "transcript",
            &"a term that is said to have ended has not, by this machine's clock (NODE-10)",
        );
    }
}

fn is_ahead(time: UnixTime, now: UnixTime) -> bool {
    time.0 > now.0.saturating_add(AHEAD_SECONDS)
}
