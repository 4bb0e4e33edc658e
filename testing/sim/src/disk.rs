//! A virtual disk: what was committed, in order. A restart finds exactly that, or what was there
//! some time ago.

use bytes::Bytes;
use folkmoot_base::{Persist, StoreKey};
use std::collections::BTreeMap;

/// What a restart reads.
pub type Contents = BTreeMap<StoreKey, Bytes>;

/// One player's disk.
#[derive(Debug, Default)]
pub struct VirtualDisk {
    contents: Contents,
    log: Vec<Persist>,
}

impl VirtualDisk {
    /// Commits one write.
    pub fn commit(&mut self, write: Persist) {
        apply(&mut self.contents, &write);
        self.log.push(write);
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
