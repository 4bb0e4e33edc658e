//! What two nodes say to each other on the transcript channel of their link, guests included.
//!
//! ```text
//! any node  --Heads(heads)-------> peer   at link up, and whenever the sender's heads change
//! any node  --Fetch(have)--------> peer   after Heads that name entries it lacks
//! peer      --Entries(entries)---> node   in topological order; at most ENTRIES_BATCH_BYTES; the node fetches again if it lacks more
//! member    --Locators(places)---> member where rostered nodes were last reached; from rostered nodes only
//! member    --Seek(nodes)--------> member where are these? answered with Locators; from rostered nodes only
//! ```

use base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use base::{Blob, EntryId, NodeId};
use folkmoot_base as base;

/// Most bytes of entries in one answer; the frame that holds them stays below
/// `LONG_FRAME_BYTES_MAX`.
pub const ENTRIES_BATCH_BYTES: usize = 50 * 1024;
/// Most heads in one message. A transcript with more heads is not synchronised until an entry joins
/// some of them.
pub const HEADS_MAX: usize = 256;
/// Most ids that a fetch names.
pub const HAVE_MAX: usize = 320;
/// Most locators, or ids of nodes, in one message.
pub const LOCATORS_MAX: usize = 64;

const _: () = assert!(ENTRIES_BATCH_BYTES + 4096 < base::limits::LONG_FRAME_BYTES_MAX);
const _: () = assert!(base::limits::ENTRY_BYTES_MAX < ENTRIES_BATCH_BYTES);

/// A message on the transcript channel.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Sync {
    /// All heads of the sender's transcript, sorted.
    #[tls_codec(discriminant = 1)]
    Heads(Vec<EntryId>),
    /// Entries that the sender has: its heads, and older ones at growing distances.
    #[tls_codec(discriminant = 2)]
    Fetch(Vec<EntryId>),
    /// Encoded entries that the receiver lacks, ancestors first.
    #[tls_codec(discriminant = 3)]
    Entries(Vec<Blob>),
    /// Where rostered nodes were last reached.
    #[tls_codec(discriminant = 4)]
    Locators(Vec<Place>),
    /// Nodes on the roster to which the sender has no link.
    #[tls_codec(discriminant = 5)]
    Seek(Vec<NodeId>),
}

/// One node and the text of its locator.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct Place {
    /// The node.
    pub node: NodeId,
    /// Its locator, in the text form of `Locator`.
    pub at: Blob,
}

impl Sync {
    /// Whether the message is within its bounds (rule NODE-02).
    pub fn within_bounds(&self) -> bool {
        match self {
            Self::Heads(heads) => heads.len() <= HEADS_MAX,
            Self::Fetch(have) => have.len() <= HAVE_MAX,
            Self::Entries(entries) => entries.iter().all(|e| e.0.len() <= base::limits::ENTRY_BYTES_MAX),
            Self::Locators(places) => places.len() <= LOCATORS_MAX,
            Self::Seek(nodes) => nodes.len() <= LOCATORS_MAX,
        }
    }
}
