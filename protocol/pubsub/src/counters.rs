//! What a receiver did, and what was lost on the way to it.

/// What a [`crate::Receiver`] did. All count from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Messages that came whole.
    pub messages: u64,
    /// Bytes of their payloads.
    pub bytes: u64,
    /// Datagrams refused, whatever is wrong with them (PUB-01 to PUB-04); not the secured ones.
    pub bad: u64,
    /// Datagrams of the secured form.
    pub secured: u64,
    /// Messages that their senders numbered and that have not come (PUB-10).
    pub missing: u64,
    /// Messages that came after a later one of the same sender.
    pub late: u64,
    /// Messages whose number had come already; they are delivered all the same, as LCM does.
    pub repeated: u64,
    /// How often a sender's numbers jumped, as after its restart.
    pub jumps: u64,
    /// Fragments that came twice with the same bytes (PUB-06).
    pub duplicates: u64,
    /// Incomplete messages dropped because a fragment contradicted those before it (PUB-05 and
    /// PUB-06).
    pub contradicted: u64,
    /// Incomplete messages dropped because there were too many, or too long ones (PUB-07, PUB-08).
    pub crowded: u64,
    /// Incomplete messages dropped because nothing more came (PUB-09).
    pub stale: u64,
    /// Senders forgotten because there were too many (PUB-11).
    pub forgotten: u64,
}

/// Adds to a counter that ends at its greatest value.
pub(crate) fn add(counter: &mut u64, count: u64) {
    *counter = counter.saturating_add(count);
}
