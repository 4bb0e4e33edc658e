//! Reads a transcript back: stored entries come in any order, and go in parents first.

use super::{Body, Entry, EntryError, LoadError, Transcript};
use bytes::Bytes;
use folkmoot_base::EntryId;
use std::collections::{BTreeMap, VecDeque};

/// An entry that waits for this many of its parents.
struct Waiting {
    number: usize,
    bytes: Bytes,
    parents: Vec<EntryId>,
    missing: usize,
}

pub(super) fn load(entries: impl IntoIterator<Item = Bytes>) -> Result<Transcript, LoadError> {
    let mut genesis = None;
    let mut waiting = BTreeMap::new();
    for (number, bytes) in entries.into_iter().enumerate() {
        let entry = Entry::decode(&bytes).map_err(|why| LoadError::LocalCorrupt { number, why })?;
        if let Body::Genesis { charter } = &entry.body {
            genesis.get_or_insert((number, charter.0.clone(), bytes));
            continue;
        }
        let missing = entry.parents.len();
        waiting.insert(Entry::id_of(&bytes), Waiting { number, bytes, parents: entry.parents, missing });
    }
    let (number, charter, bytes) = genesis.ok_or(LoadError::LocalNoGenesis)?;
    let corrupt = |why| LoadError::LocalCorrupt { number, why };
    let mut transcript = Transcript::genesis(&charter).map_err(corrupt)?;
    transcript.append(&bytes).map_err(corrupt)?;
    append_all(&mut transcript, waiting)?;
    Ok(transcript)
}

fn append_all(transcript: &mut Transcript, mut waiting: BTreeMap<EntryId, Waiting>) -> Result<(), LoadError> {
    let mut children: BTreeMap<EntryId, Vec<EntryId>> = BTreeMap::new();
    for (id, entry) in &waiting {
        for parent in &entry.parents {
            children.entry(*parent).or_default().push(*id);
        }
    }
    let mut ready = VecDeque::from([transcript.genesis_id()]);
    ready.extend(waiting.iter().filter(|(_, entry)| entry.missing == 0).map(|(id, _)| *id));
    while let Some(id) = ready.pop_front() {
        if let Some(Waiting { number, bytes, .. }) = waiting.remove(&id) {
            transcript.append(&bytes).map_err(|why| LoadError::LocalCorrupt { number, why })?;
        }
        for child in children.remove(&id).unwrap_or_default() {
            let Some(entry) = waiting.get_mut(&child) else { continue };
            entry.missing = entry.missing.saturating_sub(1);
            if entry.missing == 0 {
                ready.push_back(child);
            }
        }
    }
    match waiting.into_values().next() {
        Some(Waiting { number, parents, .. }) => {
            let why = EntryError::MissingParents(transcript.unknown(&parents));
            Err(LoadError::LocalCorrupt { number, why })
        }
        None => Ok(()),
    }
}
