//! The mark of a transcript: what nodes compare before they merge their tables.
//!
//! ```text
//! Mark = head(40) set(32) names[16]     equal where head and set are; the names tell others what its node has
//! ```

use folkmoot_base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, Head};
use std::collections::BTreeSet;

/// Most names in a mark.
pub const MARK_NAMES_MAX: usize = 2_048;

/// The first bytes of the name of an item.
pub type ShortName = [u8; 16];

/// Head and digest of the set: two transcripts that have these equal are equal.
pub(crate) type MarkId = (Head, Digest);

/// Where a node's transcript stands.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Mark {
    /// The last decision.
    pub head: Head,
    /// The digest of the set beside it.
    pub set: Digest,
    /// The beginnings of the names of what is in the set, sorted: at most [`MARK_NAMES_MAX`], the
    /// lowest if there are more.
    pub names: Vec<ShortName>,
}

impl Default for Mark {
    fn default() -> Self {
        Self { head: Head { number: 0, digest: [0; 32] }, set: [0; 32], names: Vec::new() }
    }
}

impl Mark {
    /// The mark of a transcript whose set has these names. Without names the mark is as good for
    /// comparing, but nobody can tell what its node lacks.
    pub fn new(head: Head, set: Digest, names: impl IntoIterator<Item = Digest>) -> Self {
        let short: BTreeSet<ShortName> = names.into_iter().map(|name| short(&name)).collect();
        Self { head, set, names: short.into_iter().take(MARK_NAMES_MAX).collect() }
    }

    /// Whether the set has an item of this name, as far as the mark tells. Beyond the last name of
    /// a full mark nothing is known, and the answer is no.
    pub fn has(&self, name: &Digest) -> bool {
        self.names.binary_search(&short(name)).is_ok()
    }

    pub(crate) fn id(&self) -> MarkId {
        (self.head, self.set)
    }

    pub(crate) fn is_sorted(&self) -> bool {
        self.names.is_sorted_by(|a, b| a < b)
    }
}

fn short(name: &Digest) -> ShortName {
    let mut out = ShortName::default();
    out.iter_mut().zip(name).for_each(|(to, from)| *to = *from);
    out
}
