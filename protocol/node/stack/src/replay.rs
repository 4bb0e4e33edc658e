//! Replays: entries in which former members repeat what is known, over the past in which they were
//! members. A former member can write any number of them, so the word of a guest alone does not
//! bring them into the order. But an entry that says something new may stand on them, and then they
//! come along.
//!
//! ```text
//! batch of a guest --> tried beside the transcript --> something new among it?
//!     yes: all of it is ordered, and with it what was kept beside
//!     no:  it is kept beside, at most 256 entries, for the next batch
//! ```

use crate::Node;
use base::{Blob, Digest, NodeId};
use bytes::Bytes;
use folkmoot_base as base;
use folkmoot_identity::transcript::Transcript;

/// Most entries that are kept beside the transcript.
const ASIDE_MAX: usize = 256;

/// Entries that stand and say nothing new, and the transcript with them.
#[derive(Debug)]
pub(crate) struct Aside {
    /// The heads that it began from.
    base: Digest,
    transcript: Transcript,
    kept: Vec<Bytes>,
}

impl Node {
    /// Whether this peer is no member by what we have and know to be on its way. One who is a guest
    /// itself cannot tell.
    pub(crate) fn is_guest(&self, peer: &NodeId) -> bool {
        let known = self.staged.as_ref().unwrap_or(&self.transcript);
        self.is_rostered(&self.me) && !self.has_standing(peer) && !known.roster().is_rostered(peer)
    }

    /// `NODE-11`: whether these entries, of which some are not here, say nothing new, all of them,
    /// and are by former members. What does not stand is for [`Self::stage`] to name.
    pub(crate) fn is_replay(&mut self, entries: &[Blob]) -> bool {
        let known = self.staged.as_ref().unwrap_or(&self.transcript);
        let base = known.heads_digest();
        let aside = self.aside.take().filter(|aside| aside.base == base);
        let mut aside = aside.unwrap_or_else(|| Aside { base, transcript: known.clone(), kept: Vec::new() });
        let (before, mut news) = (aside.kept.len(), false);
        for entry in entries {
            // What waits for its time, and what stands on it, is no news yet.
            if self.is_early(&entry.0) {
                continue;
            }
            let appended = aside.transcript.append(&entry.0).ok().filter(|appended| appended.new);
            if let Some(appended) = appended {
                aside.kept.push(entry.0.clone());
                news |= !appended.replay;
            }
        }
        let more = aside.kept.len() > before;
        if news {
            // The others first: it stands on them.
            for entry in aside.kept {
                let _ = self.stage(&entry);
            }
        } else if aside.kept.len() <= ASIDE_MAX {
            self.aside = Some(aside);
        }
        more && !news
    }
}
