//! A virtual disk: what was committed, in order. A restart finds exactly that, or what was there
//! some time ago.

use bytes::Bytes;
use folkmoot_base::{Persist, StoreKey};
use std::collections::BTreeMap;

/// What a restart reads.
pub type Contents = BTreeMap<StoreKey, Bytes>;

/// One player's disk.
#[derive(Debug, Default, Clone)]
pub struct VirtualDisk {
    contents: Contents,
    log: Vec<Persist>,
    bytes: usize,
    most: usize,
}

impl VirtualDisk {
    /// Commits one write.
    pub fn commit(&mut self, write: Persist) {
        let key = write.key.table.len().saturating_add(write.key.key.len());
        let long = |value: Option<&Bytes>| value.map_or(0, |value| value.len().saturating_add(key));
        self.bytes = self.bytes.saturating_sub(long(self.contents.get(&write.key)));
        self.bytes = self.bytes.saturating_add(long(write.value.as_ref()));
        self.most = self.most.max(self.bytes);
        apply(&mut self.contents, &write);
        self.log.push(write);
    }

    /// Keys and values on it, in bytes: now, and when it held most. Nothing counts that
    /// [`Self::rewind`] does.
    pub fn bytes(&self) -> (usize, usize) {
        (self.bytes, self.most)
    }

    /// Forgets how it came to what it holds: it can no longer be rewound.
    pub fn forget(&mut self) {
        self.log.clear();
    }

    /// Everything that was committed.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// How many writes were committed.
    pub fn writes(&self) -> usize {
        self.log.len()
    }

    /// Goes back to what was committed by the first `writes` writes.
    pub fn rewind(&mut self, writes: usize) {
        self.log.truncate(writes);
        self.contents.clear();
        for write in &self.log {
            apply(&mut self.contents, write);
        }
    }
}

fn apply(contents: &mut Contents, write: &Persist) {
    match &write.value {
        Some(value) => contents.insert(write.key.clone(), value.clone()),
        None => contents.remove(&write.key),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_how_much_it_holds() {
        let mut disk = VirtualDisk::default();
        disk.commit(Persist::put("ring", vec![1], vec![0; 100]));
        disk.commit(Persist::put("ring", vec![1], vec![0; 10]));
        disk.commit(Persist::delete("ring", vec![2]));
        assert_eq!(disk.bytes(), (15, 105));
        disk.commit(Persist::delete("ring", vec![1]));
        assert_eq!(disk.bytes(), (0, 105));
    }

    #[test]
    fn rewinds_to_any_earlier_state() {
        let mut disk = VirtualDisk::default();
        disk.commit(Persist::put("ring", vec![1], vec![1]));
        disk.commit(Persist::put("ring", vec![1], vec![2]));
        disk.commit(Persist::delete("ring", vec![1]));
        assert!(disk.contents().is_empty());
        disk.rewind(2);
        assert_eq!(disk.contents().values().next(), Some(&Bytes::from_static(&[2])));
        disk.rewind(0);
        assert!(disk.contents().is_empty());
    }
}
