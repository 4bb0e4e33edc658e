//! Reads from a folder what was issued: a replica's log in its order, or what an authority keeps
//! for itself.

use crate::AuthorityError;
use crate::replicas::{LOG_TABLE, Log};
use bytes::Bytes;
use folkmoot_admission::{LogRecord, OFFICE_TABLE};
use folkmoot_base::{Blob, Digest, GroupId, Persist, StoreKey, codec};
use folkmoot_identity::SignedCharter;
use folkmoot_runtime::{RING_TABLE, STORE_KEY_RING_SEQ, StateFolder, Store, stored_ring_seq};
use std::collections::BTreeMap;

/// A certificate that was issued, or is about to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Where it stands in the log, from 1 on; none in an authority's own folder, which has no
    /// order.
    pub place: Option<u64>,
    /// For which request.
    pub request: Digest,
    /// The certificate (X.509, DER).
    pub der: Bytes,
    /// Whether it is known to stand for good. One that is not was told to nobody, and another log
    /// may have another in its place.
    pub stands: bool,
}

/// Everything in a folder on which nobody runs: in the log's order if it is a replica's, else in
/// that of the requests' digests.
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
            record.ok_or_else(|| damaged(folder, format!("the record at place {place} cannot be read")))?;
        all.push(Record { place: Some(place), request, der: der.0, stands: place <= log.floor });
    }
    Ok(all)
}

/// Puts the log of another replica, on whose folder (or a copy of it) nobody runs, into this one,
/// whose replica knows no log: its owner says that this log is the log, where too few are left who
/// know it. How many records it has.
///
/// With it goes the ring's number, by which views are in order: else the one that took the log
/// would begin again from views before those in which the others had it, and its log would count
/// for the older one (AUTH-15).
///
/// # Errors
/// [`AuthorityError::LocalKnows`], [`AuthorityError::LocalNoLog`],
/// [`AuthorityError::LocalOtherGroup`]; [`AuthorityError::LocalFile`] if a log is damaged.
pub fn take_log(folder: &StateFolder, from: &StateFolder) -> Result<u64, AuthorityError> {
    folder.read_key()?;
    let no_log = || AuthorityError::LocalNoLog { path: from.path().to_owned() };
    if !from.store_path().exists() {
        return Err(no_log());
    }
    if let (Some(ours), Some(theirs)) = (group(folder)?, group(from)?)
        && ours != theirs
    {
        return Err(AuthorityError::LocalOtherGroup { path: from.path().to_owned() });
    }
    let _locks = (folder.lock()?, from.lock()?);
    let (mut store, other) = (Store::open(&folder.store_path())?, Store::open(&from.store_path())?);
    let (ours, theirs) = (store.load()?, other.load()?);
    if read_log(&ours, folder)?.knows() {
        return Err(AuthorityError::LocalKnows { path: folder.path().to_owned() });
    }
    let log = read_log(&theirs, from)?;
    let Some(epoch) = log.epoch else { return Err(no_log()) };
    let seen = [ring_seq(&ours, folder)?, ring_seq(&theirs, from)?, epoch.configuration.ring_seq];
    // What is half filled gives way.
    let old = ours.into_iter().filter(|(key, _)| key.table == LOG_TABLE);
    let mut rows: Vec<Persist> = old.map(|(key, _)| Persist { key, value: None }).collect();
    rows.extend(log.rows_for_another());
    let newest = seen.into_iter().max().unwrap_or_default().to_be_bytes();
    rows.push(Persist::put(RING_TABLE, STORE_KEY_RING_SEQ, newest.to_vec()));
    store.commit(&rows)?;
    Ok(log.length())
}

/// Which group a folder's charter founds; none if it has no charter yet.
fn group(folder: &StateFolder) -> Result<Option<GroupId>, AuthorityError> {
    if !folder.charter_path().exists() {
        return Ok(None);
    }
    let signed = SignedCharter::complete_from_der(&folder.read_charter()?);
    let wrong = |error| AuthorityError::LocalFile {
        path: folder.charter_path(),
        detail: format!("it is not valid: {error}"),
    };
    signed.map(|signed| Some(signed.charter().group())).map_err(wrong)
}

fn ring_seq(stored: &[(StoreKey, Bytes)], folder: &StateFolder) -> Result<u64, AuthorityError> {
    let row = stored.iter().find(|(at, _)| at.table == RING_TABLE && at.key == STORE_KEY_RING_SEQ);
    stored_ring_seq(row.map(|(_, value)| value.as_ref())).map_err(|error| damaged(folder, error.to_string()))
}

fn read_log(stored: &[(StoreKey, Bytes)], folder: &StateFolder) -> Result<Log, AuthorityError> {
    Log::load(stored).map_err(|error| damaged(folder, error.to_string()))
}

fn damaged(folder: &StateFolder, detail: String) -> AuthorityError {
    AuthorityError::LocalFile { path: folder.store_path(), detail }
}

/// What an authority has issued, as records for the log, by the disk of a folder on which it runs:
/// another connection to its store.
///
/// # Errors
/// [`AuthorityError`].
pub fn issued_by(folder: &StateFolder) -> Result<BTreeMap<Digest, Bytes>, AuthorityError> {
    let stored = Store::open(&folder.store_path())?.load()?;
    let encode = |one: Record| {
        (one.request, codec::encode(&LogRecord { request: one.request, der: Blob(one.der) }).into())
    };
    Ok(issued(&stored).into_iter().map(encode).collect())
}

fn issued(stored: &[(StoreKey, Bytes)]) -> Vec<Record> {
    let ours = stored.iter().filter(|(at, _)| at.table == OFFICE_TABLE);
    let read = |(at, der): &(StoreKey, Bytes)| {
        let request = at.key.strip_prefix(b"i")?.try_into().ok()?;
        Some(Record { place: None, request, der: der.clone(), stands: true })
    };
    ours.filter_map(read).collect()
}
