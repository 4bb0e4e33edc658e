//! Replays: entries in which former members repeat what is known, over the past in which they were
//! members. A former member can write any number of them, so they are not ordered just because a
//! guest sends them. But an entry that says something new may have them as parents, and then they
//! are ordered with it.
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

/// Entries that are valid and say nothing new, and a transcript that contains them.
#[derive(Debug)]
pub(crate) struct Aside {
    /// The heads of the transcript that they were added to.
    base: Digest,
    transcript: Transcript,
    kept: Vec<Bytes>,
}

impl Node {
    /// Whether this peer is not a member, according to our transcript and the entries on their way.
    /// A node that is itself a guest cannot know.
    pub(crate) fn is_guest(&self, peer: &NodeId) -> bool {
        let known = self.staged.as_ref().unwrap_or(&self.transcript);
        self.is_rostered(&self.me) && !self.has_standing(peer) && !known.roster().is_rostered(peer)
    }

    /// `NODE-11`: whether all these entries, some of which we do not have, say nothing new and are
    /// by former members. Entries that are not valid are left to [`Self::stage`], which reports
    /// them.
    pub(crate) fn is_replay(&mut self, entries: &[Blob]) -> bool {
        let known = self.staged.as_ref().unwrap_or(&self.transcript);
        let base = known.heads_digest();
        let aside = self.aside.take().filter(|aside| aside.base == base);
        let mut aside = aside.unwrap_or_else(|| Aside { base, transcript: known.clone(), kept: Vec::new() });
        let (before, mut news) = (aside.kept.len(), false);
        for entry in entries {
            // An entry that waits for its time, and those that follow it, are no news yet.
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
            // The others first: it follows them.
            for entry in aside.kept {
                let _ = self.stage(&entry);
            }
        } else if aside.kept.len() <= ASIDE_MAX {
            self.aside = Some(aside);
        }
        more && !news
    }
}
