//! What was issued, as a folder's disk has it: a replica's log in its order, or what an authority keeps for itself.

use crate::AuthorityError;
use crate::replicas::{LOG_TABLE, Log};
use bytes::Bytes;
use folkmoot_admission::{LogRecord, OFFICE_TABLE};
use folkmoot_base::{Digest, Persist, StoreKey, codec};
use folkmoot_runtime::{StateFolder, Store};

/// A certificate that was issued, or is about to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Where it stands in the log, from 1 on; none in an authority's own folder, which has no order.
    pub place: Option<u64>,
    /// For which request.
    pub request: Digest,
    /// The certificate (X.509, DER).
    pub der: Bytes,
    /// Whether it is known to stand for good. One that is not was told to nobody, and another log may have another in its place.
    pub stands: bool,
}

/// Everything in a folder on which nobody runs: in the log's order if it is a replica's, else in that of the requests' digests.
///
/// # Errors
/// [`AuthorityError`]; [`AuthorityError::LocalFile`] if the log is damaged.
pub fn records(folder: &StateFolder) -> Result<Vec<Record>, AuthorityError> {
    // A folder that holds no identity is a mistyped one: nothing is written there, not even a lock.
    folder.read_key()?;
    if !folder.store_path().exists() {
        return Ok(Vec::new());
    }
    let _lock = folder.lock()?;
    let stored = Store::open(&folder.store_path())?.load()?;
    let mut all = issued(&stored);
    let log = read_log(&stored, folder)?;
    for place in 1..=log.length() {
        let record = log.record(place).and_then(|record| codec::decode::<LogRecord>(record).ok());
        let LogRecord { request, der } =
            record.ok_or_else(|| damaged(folder, format!("the record at {place}")))?;
        all.push(Record { place: Some(place), request, der: der.0, stands: place <= log.floor });
    }
    Ok(all)
}

/// Puts the log of another replica, on whose folder (or a copy of it) nobody runs, into this one, whose replica knows no log: its owner says that
/// this log is the log, where too few are left who know it. How many records it has.
///
/// # Errors
/// [`AuthorityError::LocalKnows`], [`AuthorityError::LocalNoLog`]; [`AuthorityError::LocalFile`] if a log is damaged.
pub fn take_log(folder: &StateFolder, from: &StateFolder) -> Result<u64, AuthorityError> {
    folder.read_key()?;
    let no_log = || AuthorityError::LocalNoLog { path: from.path().to_owned() };
    if !from.store_path().exists() {
        return Err(no_log());
    }
    let _locks = (folder.lock()?, from.lock()?);
    let (mut store, other) = (Store::open(&folder.store_path())?, Store::open(&from.store_path())?);
    if read_log(&store.load()?, folder)?.knows() {
        return Err(AuthorityError::LocalKnows { path: folder.path().to_owned() });
    }
    let log = read_log(&other.load()?, from)?;
    if !log.knows() {
        return Err(no_log());
    }
    // What is half filled gives way.
    let old = store.load()?.into_iter().filter(|(key, _)| key.table == LOG_TABLE);
    let mut rows: Vec<Persist> = old.map(|(key, _)| Persist { key, value: None }).collect();
    rows.extend(log.rows_for_another());
    store.commit(&rows)?;
    Ok(log.length())
}

fn read_log(stored: &[(StoreKey, Bytes)], folder: &StateFolder) -> Result<Log, AuthorityError> {
    Log::load(stored).map_err(|error| damaged(folder, error.to_string()))
}

fn damaged(folder: &StateFolder, detail: String) -> AuthorityError {
    AuthorityError::LocalFile { path: folder.store_path(), detail }
}

fn issued(stored: &[(StoreKey, Bytes)]) -> Vec<Record> {
    let ours = stored.iter().filter(|(at, _)| at.table == OFFICE_TABLE);
    let read = |(at, der): &(StoreKey, Bytes)| {
        let request = at.key.strip_prefix(b"i")?.try_into().ok()?;
        Some(Record { place: None, request, der: der.clone(), stands: true })
    };
    ours.filter_map(read).collect()
}
