//! ORD-17: what a causal packet names. Its sender had delivered that, so whoever receives the
//! packet delivers that first.
//!
//! ```text
//! names | how many 1 | (member 1 | number 4) ...
//! ```
//! Of each other stream it is the last packet that is causal or stronger, and only if the sender
//! delivered it since its own last packet that is causal or stronger: that one is delivered first
//! in any case.

use crate::data::{Class, Data, HEADER_BYTES};
use bytes::{BufMut, BytesMut};
use folkmoot_base::limits::NODES_MAX;

/// Length of a name.
const NAME_BYTES: usize = 5;
/// Length of what says how many there are.
const COUNT_BYTES: usize = 1;

/// A packet of another stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// Whose stream: the index of the member.
    pub source: u8,
    /// Its number there.
    pub number: u64,
}

/// The length of so many names.
pub(crate) fn names_bytes(count: usize) -> usize {
    count.saturating_mul(NAME_BYTES).saturating_add(COUNT_BYTES)
}

/// Appends names to the header of a causal packet: ascending, fewer than there are members.
pub fn put_names(frame: &mut BytesMut, names: impl Iterator<Item = Name> + Clone) {
    frame.put_u8(u8::try_from(names.clone().count()).unwrap_or(u8::MAX));
    for name in names {
        frame.put_u8(name.source);
        // Numbers are below the end of the range: PACKET_NUMBER_MAX.
        frame.put_u32(u32::try_from(name.number).unwrap_or(u32::MAX));
    }
}

impl Data {
    /// Where the pieces begin.
    pub(crate) fn body(&self) -> usize {
        let names = match self.class {
            Class::Causal => names_bytes(self.frame.get(HEADER_BYTES).copied().unwrap_or(0).into()),
            _ => 0,
        };
        HEADER_BYTES.saturating_add(names)
    }

    /// What it names.
    pub fn names(&self) -> impl Iterator<Item = Name> + '_ {
        let bytes = self.frame.get(HEADER_BYTES..self.body()).unwrap_or_default();
        let (names, _) = bytes.get(COUNT_BYTES..).unwrap_or_default().as_chunks::<NAME_BYTES>();
        names
            .iter()
            .map(|[source, number @ ..]| Name { source: *source, number: u32::from_be_bytes(*number).into() })
    }

    /// RING-02: the names are whole, ascending, and not of its sender's own stream.
    pub(crate) fn names_are_legal(&self) -> bool {
        let legal = |name: Name| {
            name.number >= 1 && name.source != self.sender && usize::from(name.source) < NODES_MAX
        };
        let ascending = self.names().map(|name| name.source).is_sorted_by(|a, b| a < b);
        self.body() <= self.frame.len() && ascending && self.names().all(legal)
    }

    /// RING-06, RING-32: whether it is of a ring of so many members: its sender, and whom it names.
    pub(crate) fn is_within(&self, members: usize) -> bool {
        usize::from(self.sender) < members && self.names().all(|name| usize::from(name.source) < members)
    }
}
