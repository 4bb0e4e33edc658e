//! What a stopped member's disk holds: read from a copy, so that the member itself finds everything
//! as the kill left it.

use bytes::Bytes;
use folkmoot_base::{Digest, MemberId, StoreKey, codec};
use folkmoot_runtime::Store;
use folkmoot_transcript::{Approval, BallotRecord, Item, SignedApproval, Standing, TABLE, Transcript};
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

    /// What this voter said: on its way, or in the transcript.
    fn words(&self, voter: &MemberId) -> impl Iterator<Item = Approval> {
        let own = self.rows("vote").filter(|(key, _)| key.first() == Some(&b'w'));
        let own = own.map(|(_, value)| codec::decode::<SignedApproval>(value).unwrap());
        let known = self.items().filter_map(|item| match item {
            Item::Approval(signed) => Some(signed),
            _ => None,
        });
        let all: Vec<Approval> = own.chain(known).map(|signed| signed.approval).collect();
        let voter = *voter;
        all.into_iter().filter(move |approval| approval.voter == voter)
    }

    /// What this voter says to a subject: its last word.
    pub(crate) fn word(&self, voter: &MemberId, subject: &[u8]) -> Option<bool> {
        let words = self.words(voter).filter(|approval| approval.subject.digest == subject);
        words.max_by_key(|approval| approval.turn).map(|approval| approval.is_yes())
    }

    /// The proposals that are open, by subject.
    pub(crate) fn proposals(&self) -> impl Iterator<Item = &[u8]> {
        self.rows("request").filter_map(|(key, _)| key.strip_prefix(b"p"))
    }

    /// What this voter said about decisions, by the head that they follow.
    pub(crate) fn ballots(&self) -> impl Iterator<Item = BallotRecord> {
        let ballots = self.rows("vote").filter(|(key, _)| key.first() == Some(&b'b'));
        ballots.map(|(_, value)| codec::decode(value).unwrap())
    }

    /// Whether an own request, or the certificate that came of it, is kept.
    pub(crate) fn has_asked(&self) -> bool {
        self.rows("request").any(|(key, _)| key == b"own")
    }

    /// The longest value of all.
    pub(crate) fn longest(&self) -> &[u8] {
        self.tables.values().flat_map(BTreeMap::values).max_by_key(|value| value.len()).unwrap()
    }

    /// The items of the transcript.
    pub(crate) fn items(&self) -> impl Iterator<Item = Item> {
        let items = self.rows("transcript").filter(|(key, _)| key.first() == Some(&b'i'));
        items.map(|(_, item)| Item::decode(item).unwrap())
    }

    /// The decisions of the line that are kept, by number.
    pub(crate) fn decisions(&self) -> BTreeMap<Vec<u8>, Digest> {
        let kept = self.rows("transcript").filter_map(|(key, value)| Some((key.strip_prefix(b"d")?, value)));
        let digest = |value: &Vec<u8>| codec::decode::<Standing>(value).unwrap().head().digest;
        kept.map(|(number, value)| (number.to_vec(), digest(value))).collect()
    }

    /// The transcript that the disk has, of the group with this charter.
    pub(crate) fn transcript(&self, charter: &Path) -> Transcript {
        let founded = Transcript::founded(&std::fs::read(charter).unwrap()).unwrap();
        let rows = self.rows("transcript").map(|(key, value)| {
            (StoreKey { table: TABLE, key: key.clone().into() }, Bytes::from(value.clone()))
        });
        founded.restore(&rows.collect::<Vec<_>>()).unwrap()
    }
}

fn number(value: &[u8]) -> u64 {
    value.first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}
