//! What a stopped member's disk holds: read from a copy, so that the member itself finds everything
//! as the kill left it.

use folkmoot_runtime::Store;
use std::collections::BTreeMap;
use std::path::Path;

/// The rows of one store, by table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    pub(crate) tables: BTreeMap<String, BTreeMap<Vec<u8>, Vec<u8>>>,
}

impl Disk {
    /// Copies the store out of `state` and reads the copy with the shipped reader, which checks it.
    pub(crate) fn copy(state: &Path) -> Self {
        let scratch = state.join("scratch");
        let _ = std::fs::remove_dir_all(&scratch);
        std::fs::create_dir_all(&scratch).unwrap();
        for name in ["member.sqlite", "member.sqlite-wal"] {
            if state.join(name).exists() {
                std::fs::copy(state.join(name), scratch.join(name)).unwrap();
            }
        }
        let mut tables: BTreeMap<String, BTreeMap<Vec<u8>, Vec<u8>>> = BTreeMap::new();
        if scratch.join("member.sqlite").exists() {
            let store = Store::open(&scratch.join("member.sqlite")).unwrap();
            for (key, value) in store.load().unwrap() {
                tables.entry(key.table.to_owned()).or_default().insert(key.key.to_vec(), value.to_vec());
            }
        }
        Self { tables }
    }

    pub(crate) fn rows(&self, table: &str) -> impl Iterator<Item = (&Vec<u8>, &Vec<u8>)> {
        self.tables.get(table).into_iter().flatten()
    }

    /// The highest ring number that was ever shown to anybody.
    pub(crate) fn ring_seq(&self) -> u64 {
        self.rows("ring").map(|(_, value)| number(value)).max().unwrap_or(0)
    }

    /// The key agreement's instance counter, the highest of all groups.
    pub(crate) fn instance(&self) -> u64 {
        self.rows("keying").map(|(_, value)| number(value)).max().unwrap_or(0)
    }

    /// Whether an own vote on this request is kept.
    pub(crate) fn has_vote(&self, subject: &[u8]) -> bool {
        self.rows("vote").any(|(key, _)| key.strip_prefix(b"a") == Some(subject))
    }

    /// Own approvals of decisions: (serial, ballot) to what was signed.
    pub(crate) fn decisions(&self) -> impl Iterator<Item = (&[u8], &Vec<u8>)> {
        self.rows("vote").filter_map(|(key, value)| Some((key.strip_prefix(b"d")?, value)))
    }

    /// What the person here said to the proposals that are kept: by subject; `Some(true)` is yes.
    pub(crate) fn opinions(&self) -> BTreeMap<Vec<u8>, Option<bool>> {
        // proposer(33) expires(8) opinion(1)
        let opinion = |value: &Vec<u8>| match value.get(41) {
            Some(1) => Some(true),
            Some(2) => Some(false),
            _ => None,
        };
        self.rows("request")
            .filter_map(|(key, value)| Some((key.strip_prefix(b"p")?.to_vec(), opinion(value))))
            .collect()
    }

    /// Whether an own request, or the certificate that came of it, is kept.
    pub(crate) fn has_asked(&self) -> bool {
        self.rows("request").any(|(key, _)| key == b"own")
    }

    /// The longest value of all.
    pub(crate) fn longest(&self) -> &[u8] {
        self.tables.values().flat_map(BTreeMap::values).max_by_key(|value| value.len()).unwrap()
    }

    /// Entries of the transcript.
    pub(crate) fn entries(&self) -> BTreeMap<Vec<u8>, Vec<u8>> {
        self.tables.get("transcript").cloned().unwrap_or_default()
    }
}

fn number(value: &[u8]) -> u64 {
    value.first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}
