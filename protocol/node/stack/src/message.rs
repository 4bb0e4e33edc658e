//! What two nodes say to each other on the transcript channel of their link, guests included.
//!
//! ```text
//! any node  --Mark(head, set)----> peer   at link up, and whenever the sender's transcript changes
//! any node  --Fetch(have)--------> peer   after a Mark that differs: its head, and a part of its set
//! peer      --Items(items)-------> node   what it lacks of that part; at most ITEMS_BATCH_BYTES; the node fetches again
//! peer      --Piece(of an item)--> node   the beginning of an item that is longer
//! node      --Want(piece)--------> peer   the next piece
//! node      --Side(decision)-----> peer   on another line: what leads over to it, from this decision on; answered by pieces
//!                                         on our own line: whether that line comes to ours; answered by Items
//! member    --Locators(places)---> member where rostered nodes were last reached; from rostered nodes only
//! member    --Seek(nodes)--------> member where are these? answered with Locators; from rostered nodes only
//! ```

use base::codec::{TlsDeserializeBytes, TlsSerialize, TlsSize};
use base::{Blob, Digest, Head, NodeId};
use folkmoot_base as base;
use folkmoot_transcript::{Have, ITEM_BYTES_MAX, NAMES_MAX, PACKAGE_BYTES_MAX};

/// Most bytes of items in one answer; the frame that holds them stays below `LONG_FRAME_BYTES_MAX`.
pub const ITEMS_BATCH_BYTES: usize = 50 * 1024;
/// Most items in one answer.
pub const ITEMS_BATCH_MAX: usize = 1_024;
/// Bytes of each piece of a long item; the last may be shorter.
pub const PIECE_BYTES: usize = 48 * 1024;
/// Most pieces of one item.
pub(crate) const ITEM_PIECES_MAX: usize = ITEM_BYTES_MAX.div_ceil(PIECE_BYTES);
/// Most pieces of one item, or of a package for somebody who was left behind.
pub const PIECES_MAX: usize = PACKAGE_BYTES_MAX.div_ceil(PIECE_BYTES);
/// Most locators, or ids of nodes, in one message.
pub const LOCATORS_MAX: usize = 64;

const _: () = assert!(ITEMS_BATCH_BYTES + 8 * ITEMS_BATCH_MAX < base::limits::LONG_FRAME_BYTES_MAX);
const _: () = assert!(PIECE_BYTES + 4096 < base::limits::LONG_FRAME_BYTES_MAX);
const _: () = assert!(NAMES_MAX * 32 + 4096 < base::limits::LONG_FRAME_BYTES_MAX);
const _: () =
    assert!(LOCATORS_MAX * (40 + base::limits::LOCATOR_BYTES_MAX) < base::limits::LONG_FRAME_BYTES_MAX);
const _: () = assert!(ITEM_BYTES_MAX == folkmoot_group::ITEM_BYTES_MAX);
const _: () = assert!(ITEM_BYTES_MAX == folkmoot_attach::wire::ITEM_BYTES_MAX);
const _: () = assert!(PACKAGE_BYTES_MAX == folkmoot_attach::wire::PACKAGE_BYTES_MAX);
const _: () = assert!(ITEM_BYTES_MAX < PACKAGE_BYTES_MAX);

/// A message on the transcript channel.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
#[repr(u8)]
pub enum Sync {
    /// Where the sender's transcript stands.
    #[tls_codec(discriminant = 1)]
    Mark {
        /// Its last decision.
        head: Head,
        /// The digest of its set.
        set: Digest,
    },
    /// What the sender has: its head, and a part of its set.
    #[tls_codec(discriminant = 2)]
    Fetch(Have),
    /// Items that the receiver lacks, in an order in which it can take them; none if it lacks
    /// nothing of that part.
    #[tls_codec(discriminant = 3)]
    Items(Vec<Blob>),
    /// Where rostered nodes were last reached.
    #[tls_codec(discriminant = 4)]
    Locators(Vec<Place>),
    /// Nodes on the roster to which the sender has no link.
    #[tls_codec(discriminant = 5)]
    Seek(Vec<NodeId>),
    /// A piece of an item, or of a package, that is too long for one frame.
    #[tls_codec(discriminant = 6)]
    Piece {
        /// SHA-256 of the whole item.
        name: Digest,
        /// How many pieces it has.
        of: u16,
        /// Which piece this is, from 0.
        index: u16,
        /// Its bytes.
        bytes: Blob,
    },
    /// The receiver is asked for another piece of an item that it has shown.
    #[tls_codec(discriminant = 7)]
    Want {
        /// SHA-256 of the whole item.
        name: Digest,
        /// Which piece, from 0.
        index: u16,
    },
    /// The sender, which is on another line, goes over to the receiver's; or it is on the
    /// receiver's line, which decided to go over to the line of this decision, and waits to hear
    /// that this one comes over instead.
    #[tls_codec(discriminant = 8)]
    Side {
        /// The other line's decision at the fork.
        first: Head,
    },
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
            Self::Mark { .. } | Self::Want { .. } | Self::Side { .. } => true,
            Self::Fetch(have) => {
                have.names.len() <= NAMES_MAX
                    && have.from <= have.until
                    && have.names.is_sorted_by(|a, b| a < b)
                    && have.names.iter().all(|name| (have.from..=have.until).contains(name))
            }
            Self::Items(items) => items.len() <= ITEMS_BATCH_MAX,
            Self::Locators(places) => places.len() <= LOCATORS_MAX,
            Self::Seek(nodes) => nodes.len() <= LOCATORS_MAX,
            Self::Piece { of, index, bytes, .. } => {
                let last = index.saturating_add(1) == *of;
                let fits = if last { bytes.0.len() <= PIECE_BYTES } else { bytes.0.len() == PIECE_BYTES };
                (1..=PIECES_MAX).contains(&usize::from(*of)) && index < of && !bytes.0.is_empty() && fits
            }
        }
    }
}
