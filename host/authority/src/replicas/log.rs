//! The log of one replica, as memory and disk have it.
//!
//! | table | key | value |
//! |---|---|---|
//! | log | "r" ‖ place u64 | a record |
//! | log | "s" | since, epoch, length, floor, handed |

use super::ReplicasError;
use super::message::{Holding, request_of};
use bytes::Bytes;
use folkmoot_admission::ISSUED_MAX;
use folkmoot_base::codec::{self, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, Persist, StoreKey, ViewId, digest};
use std::collections::BTreeMap;

/// The store's table of the log.
pub const LOG_TABLE: &str = "log";
/// Most records of a log: as many certificates as an authority issues, ever.
pub const LOG_MAX: u64 = ISSUED_MAX as u64;
const STATE: &[u8] = b"s";
const RECORD: &[u8] = b"r";

#[derive(Debug, Clone, Copy, TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct Stored {
    since: Option<u64>,
    epoch: Option<ViewId>,
    length: u64,
    floor: u64,
    handed: u64,
}

/// One order of records. Places count from 1.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// The record at each place, and the digest of all up to it.
    records: Vec<(Bytes, Digest)>,
    places: BTreeMap<Digest, u64>,
    pub(super) since: Option<u64>,
    pub(crate) epoch: Option<ViewId>,
    /// Places up to here stand for good.
    pub(crate) floor: u64,
    /// Places up to here are on the authority's own disk.
    pub(super) handed: u64,
}

impl Log {
    pub(crate) fn load(stored: &[(StoreKey, Bytes)]) -> Result<Self, ReplicasError> {
        let corrupt = ReplicasError::LocalCorrupt;
        let rows: BTreeMap<&[u8], &Bytes> = stored
            .iter()
            .filter(|(at, _)| at.table == LOG_TABLE)
            .map(|(at, value)| (at.key.as_ref(), value))
            .collect();
        let Some(state) = rows.get(STATE) else {
            return if rows.is_empty() {
                Ok(Self::default())
            } else {
                Err(corrupt("it has records but no state"))
            };
        };
        let state: Stored = codec::decode(state).map_err(|_| corrupt("its state cannot be read"))?;
        let mut log = Self { since: state.since, epoch: state.epoch, ..Self::default() };
        for place in 1..=state.length.min(LOG_MAX) {
            let record = rows.get(name(place).as_slice()).ok_or(corrupt("a record is missing"))?;
            let request = request_of(record).map_err(|_| corrupt("a record cannot be read"))?;
            if log.place(&request).is_some() {
                return Err(corrupt("it has two records for one request"));
            }
            log.push(request, Bytes::clone(record));
        }
        let whole = u64::try_from(rows.len()).unwrap_or(u64::MAX) == log.length().saturating_add(1);
        if !whole || state.length != log.length() || state.floor > state.length || state.handed > state.floor
        {
            return Err(corrupt("its state and its records do not match"));
        }
        (log.floor, log.handed) = (state.floor, state.handed);
        Ok(log)
    }

    pub(crate) fn length(&self) -> u64 {
        u64::try_from(self.records.len()).unwrap_or(u64::MAX)
    }

    pub(super) fn holding(&self) -> Holding {
        let (length, tip) = (self.length(), self.tip(self.length()).unwrap_or_default());
        Holding { since: self.since, epoch: self.epoch, length, floor: self.floor, tip }
    }

    pub(super) fn place(&self, request: &Digest) -> Option<u64> {
        self.places.get(request).copied()
    }

    pub(crate) fn record(&self, place: u64) -> Option<&Bytes> {
        self.at(place).map(|(record, _)| record)
    }

    /// The chain's digest at a place that the log has; at 0 it is zero.
    pub(super) fn tip(&self, place: u64) -> Option<Digest> {
        if place == 0 { Some(Digest::default()) } else { self.at(place).map(|(_, tip)| *tip) }
    }

    fn at(&self, place: u64) -> Option<&(Bytes, Digest)> {
        self.records.get(usize::try_from(place.checked_sub(1)?).ok()?)
    }

    /// The next place. Its row.
    pub(super) fn push(&mut self, request: Digest, record: Bytes) -> Persist {
        let before = self.tip(self.length()).unwrap_or_default();
        let tip = digest(&[b"folkmoot log v1", &before, &record]);
        self.records.push((record.clone(), tip));
        let place = self.length();
        self.places.entry(request).or_insert(place);
        Persist::put(LOG_TABLE, name(place), record)
    }

    /// What stands at a place: if we have another there, it and all after it were never handed back
    /// anywhere.
    pub(super) fn put(&mut self, place: u64, request: Digest, record: Bytes, rows: &mut Vec<Persist>) {
        if self.record(place) == Some(&record) {
            return;
        }
        self.truncate(place.saturating_sub(1), rows);
        rows.push(self.push(request, record));
    }

    pub(super) fn truncate(&mut self, length: u64, rows: &mut Vec<Persist>) {
        while self.length() > length {
            rows.push(Persist::delete(LOG_TABLE, name(self.length())));
            self.records.pop();
        }
        self.places.retain(|_, place| *place <= length);
    }

    /// Whether it was once in sync with the others'.
    pub(crate) fn knows(&self) -> bool {
        self.epoch.is_some()
    }

    /// All of it as rows for the disk of another, whose authority has none of it yet.
    pub(crate) fn rows_for_another(&self) -> Vec<Persist> {
        let places = (1..).zip(&self.records);
        let records = places.map(|(place, (record, _))| Persist::put(LOG_TABLE, name(place), record.clone()));
        records.chain([self.state_with(0)]).collect()
    }

    /// The row of everything but the records.
    pub(super) fn state(&self) -> Persist {
        self.state_with(self.handed)
    }

    fn state_with(&self, handed: u64) -> Persist {
        let (since, epoch, length, floor) = (self.since, self.epoch, self.length(), self.floor);
        Persist::put(LOG_TABLE, STATE, codec::encode(&Stored { since, epoch, length, floor, handed }))
    }
}

fn name(place: u64) -> Vec<u8> {
    [RECORD, &place.to_be_bytes()].concat()
}
