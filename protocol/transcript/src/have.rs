//! What two members tell each other to find out what each lacks.
//!
//! ```text
//! asker -> peer   Have    head(32+8) from(32) until(32) names[32]    what the asker has of that part of the set
//! peer -> asker   items   what the asker lacks: decisions after the head, then that part of the set
//! ```
//! A set of any size is compared part by part: [`NAMES_MAX`] names at a time.

use crate::Transcript;
use bytes::Bytes;
use folkmoot_base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, Head};
use std::collections::BTreeSet;

/// Most names in one part.
pub const NAMES_MAX: usize = 1_024;

/// What a member has: its head, and a part of its set.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Have {
    /// The last decision.
    pub head: Head,
    /// The lowest name that the part may have.
    pub from: Digest,
    /// The highest name that it may have.
    pub until: Digest,
    /// The names of what the asker has in it, sorted.
    pub names: Vec<Digest>,
}

impl Transcript {
    /// What is here, beginning with this name.
    pub fn part(&self, from: Digest) -> Have {
        self.part_besides(from, &BTreeSet::new())
    }

    /// The same as if these were here, too: names of what is known and was not taken.
    pub fn part_besides(&self, from: Digest, besides: &BTreeSet<Digest>) -> Have {
        let mut all = self.have();
        all.extend(besides);
        let names: Vec<Digest> = all.range(from..).take(NAMES_MAX).copied().collect();
        let full = names.len() == NAMES_MAX;
        let until = names.last().copied().filter(|_| full).unwrap_or([0xff; 32]);
        Have { head: self.state().head(), from, until, names }
    }

    /// What somebody who has this lacks: [`Self::lacking`].
    pub fn lacking_part(&self, have: &Have, bytes_max: usize) -> Vec<Bytes> {
        let mut known: BTreeSet<Digest> = have.names.iter().copied().collect();
        let outside = |name: &Digest| *name < have.from || *name > have.until;
        known.extend(self.have().into_iter().filter(outside));
        self.lacking(have.head, &known, bytes_max)
    }
}
