//! Ends of terms that are still to come. An Expire names a time, and its author chooses it: whoever names one far ahead ends every
//! term in the group by itself. So nobody takes an entry whose time its own clock has not reached; it is fetched again later.
//!
//! ```text
//! author's clock - 60 s >= time named > end of the term          what an honest member writes (admission)
//! own clock + 60 s      >= time named                            what a node takes (NODE-10): clocks may differ by two minutes
//! ```
//! Whether an entry stands is no matter of clocks (DECISIONS T7): this is when it is taken, and all take it in the end.

use crate::Node;
use base::{Instant, NodeId, UnixTime};
use folkmoot_base as base;
use folkmoot_identity::transcript::{Body, Entry};

/// Seconds by which the time in an entry may be ahead of the own clock.
const AHEAD_SECONDS: u64 = 60;

/// What the clock on the wall says, and whether an entry waits for it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wall {
    time: Option<UnixTime>,
    waits: bool,
}

impl Node {
    /// A clock from before the own identity was made is none: a machine without a battery says 1970 until somebody tells it better.
    pub(crate) fn hear_clock(&mut self, now: Instant, time: UnixTime) {
        let begun = self.config.identity.certificate().not_before();
        let believed = begun.0.saturating_sub(AHEAD_SECONDS) <= time.0;
        self.wall.time = believed.then_some(time);
        if core::mem::take(&mut self.wall.waits) {
            let peers: Vec<NodeId> = self.peers.keys().copied().collect();
            peers.into_iter().for_each(|peer| self.fetch_if_behind(now, peer));
        }
    }

    /// `NODE-10`: whether this entry ends a term at a time that has not come by the own clock. It is then not taken, but it will be.
    pub(crate) fn is_early(&mut self, entry: &[u8]) -> bool {
        let Some(now) = self.wall.time else { return false };
        let Ok(Body::Expire { time, .. }) = Entry::decode(entry).map(|entry| entry.body) else {
            return false;
        };
        let early = time.0 > now.0.saturating_add(AHEAD_SECONDS);
        self.wall.waits |= early;
        early
    }

    pub(crate) fn refuse_early(&mut self) {
        self.refuse(
            "transcript",
            &"NODE-10: a term is said to have ended that has not, by this machine's clock",
        );
    }
}
