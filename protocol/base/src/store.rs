//! What must be on disk before any output that relies on it leaves (DECISIONS O4).

use bytes::Bytes;

/// All tables of the layers.
pub const TABLES: &[&str] = &["ring", "transcript", "vote", "request", "keying", "locator", "closed"];

/// A key in the store: a table and a key inside it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoreKey {
    /// The table. Each has one layer as its owner: "ring", "transcript", "vote", "request",
    /// "keying", "locator" ([`TABLES`]); "attached", if several members share a disk; and
    /// "carried", if the ring carries charters beside its own.
    pub table: &'static str,
    /// The key inside the table, at most 64 bytes (128 in "attached" and "carried").
    pub key: Bytes,
}

/// An output: write `value` under `key` (`None`: delete) and commit, before any later output takes
/// effect.
#[derive(Clone, PartialEq, Eq)]
pub struct Persist {
    /// The key.
    pub key: StoreKey,
    /// The value; `None` deletes.
    pub value: Option<Bytes>,
}

impl Persist {
    /// Writes `value` in `table` under `key`.
    pub fn put(table: &'static str, key: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        Self { key: StoreKey { table, key: key.into() }, value: Some(value.into()) }
    }

    /// Deletes `key` from `table`.
    pub fn delete(table: &'static str, key: impl Into<Bytes>) -> Self {
        Self { key: StoreKey { table, key: key.into() }, value: None }
    }
}

impl core::fmt::Debug for Persist {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let length = self.value.as_ref().map(Bytes::len);
        write!(out, "Persist({}, {} key bytes, {length:?} bytes)", self.key.table, self.key.key.len())
    }
}
