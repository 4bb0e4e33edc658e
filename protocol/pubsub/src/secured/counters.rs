//! What an opener refused, and why.

/// Datagrams and messages that an [`super::Opener`] refused. All count from its start. What breaks
/// the rules of a plain receiver is in [`crate::Counters::bad`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Refused {
    /// Plain datagrams, but for the self test (PUB-17).
    pub plain: u64,
    /// Sealed otherwise than it should be, or under another key (PUB-18, PUB-19).
    pub forged: u64,
    /// The name is none under this group's key (PUB-20).
    pub names: u64,
    /// On channels whose key is not here.
    pub unreadable: u64,
    /// Under keys that are not here any more, or not yet (PUB-21).
    pub epochs: u64,
    /// Numbers that came already, or are too old to know (PUB-23).
    pub replayed: u64,
    /// From senders that did not agree on the key (PUB-24).
    pub strangers: u64,
    /// Without a signature of their sender where there has to be one (PUB-25).
    pub unsigned: u64,
    /// Messages that were delivered where batches are signed, and of which too many others came
    /// before anybody attested them.
    pub unattested: u64,
}
