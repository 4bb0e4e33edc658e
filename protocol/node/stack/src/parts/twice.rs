//! Two processes with one identity, as when a copied folder runs twice. Of another node: people are
//! told. Of this one: it stops if the other process started later (NODE-18, NODE-19).

use crate::parts::Outbox;
use base::{Instant, Locator, NodeId, Persist, StoreKey};
use bytes::Bytes;
use core::fmt;
use core::time::Duration;
use folkmoot_attach::ToMember;
use folkmoot_base as base;
use folkmoot_ring::{STORE_TABLE, StoredError, stored_ring_seq};
use std::collections::BTreeMap;

/// How long it is reported that a node runs twice, after that was last seen.
pub const TWICE_LIFE: Duration = Duration::from_secs(600);
/// Where the number of the last process is kept.
const STORE_KEY_STARTED: &[u8] = b"started";

/// A node that runs twice. Both processes have proved its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twice {
    /// The node.
    pub node: NodeId,
    /// Where its earlier process is.
    pub at: Locator,
    /// When that was last seen.
    pub heard: Instant,
}

impl fmt::Display for Twice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "it runs twice: the process at {} started earlier than the one that is linked, and was \
             told to stop (NODE-18). Was its folder copied?",
            self.at
        )
    }
}

/// The number of a process that starts now: what the clock reads, and more than any process before
/// had on this disk.
pub(crate) fn start_number(clock: u64, stored: &[(StoreKey, Bytes)]) -> Result<u64, StoredError> {
    let last = stored_number(STORE_KEY_STARTED, stored)?;
    Ok(last.map_or(clock, |last| clock.max(last.saturating_add(1))))
}

/// A number of the ring's table.
pub(crate) fn stored_number(name: &[u8], stored: &[(StoreKey, Bytes)]) -> Result<Option<u64>, StoredError> {
    let is = |key: &StoreKey| key.table == STORE_TABLE && key.key == name;
    let row = stored.iter().find(|(key, _)| is(key));
    row.map(|(_, value)| stored_ring_seq(Some(value))).transpose()
}

/// The row that keeps the number of this process.
pub(crate) fn start_row(started: u64) -> Persist {
    Persist::put(STORE_TABLE, STORE_KEY_STARTED, started.to_be_bytes().to_vec())
}

/// The nodes that were seen to run twice.
#[derive(Debug, Default)]
pub(crate) struct Twins(BTreeMap<NodeId, Twice>);

impl Twins {
    /// Those of the last [`TWICE_LIFE`].
    pub(crate) fn fresh(&self, now: Instant) -> Vec<Twice> {
        let fresh = |twice: &&Twice| now.since(twice.heard) < TWICE_LIFE;
        self.0.values().filter(fresh).cloned().collect()
    }

    /// NODE-18: a node with standing was seen to run twice. Members are told once.
    pub(crate) fn seen(&mut self, now: Instant, node: NodeId, at: Locator, out: &mut Outbox) {
        let before = self.0.insert(node, Twice { node, at: at.clone(), heard: now });
        if before.is_none_or(|before| now.since(before.heard) >= TWICE_LIFE) {
            out.tell(ToMember::RunsTwice { node, at });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, StoreKey, start_number, start_row};

    fn disk(started: u64) -> Vec<(StoreKey, Bytes)> {
        let row = start_row(started);
        row.value.map(|value| (row.key, value)).into_iter().collect()
    }

    #[test]
    fn node_19_a_process_has_a_higher_number_than_any_before_on_its_disk() {
        for (clock, last, started) in [(5, 3, 5), (3, 5, 6), (5, 5, 6), (5, u64::MAX, u64::MAX)] {
            assert_eq!(start_number(clock, &disk(last)).ok(), Some(started));
        }
        assert_eq!(start_number(5, &[]).ok(), Some(5));
        let (key, _) = disk(1).remove(0);
        assert!(start_number(5, &[(key, Bytes::from_static(&[1, 2]))]).is_err());
    }
}
