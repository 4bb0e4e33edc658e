//! What was issued: the record that a log orders for all replicas, and what is kept of it.
//!
//! ```text
//! record   request digest(32) certificate      version byte first; table "office", key "i" ‖ request digest: the certificate
//! ```

use super::office::OFFICE_TABLE;
use crate::AdmissionError;
use bytes::Bytes;
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, Instant, NodeId, Persist, StoreKey, UnixTime, digest, limits};
use folkmoot_identity::{GMC_BYTES_MAX, Gmc, GroupKey, Serial};
use folkmoot_transcript::Roster;
use std::collections::{BTreeMap, BTreeSet};

/// Most certificates that an authority issues, ever.
pub const ISSUED_MAX: usize = limits::ENTRIES_MAX;

/// One certificate, for one request: the first record of a request in the log is the one that
/// counts.
#[derive(Debug, Clone, PartialEq, Eq, TlsSize, TlsSerialize, TlsDeserializeBytes)]
pub struct LogRecord {
    /// For which request.
    pub request: Digest,
    /// The certificate (X.509).
    pub der: Blob,
}

impl LogRecord {
    pub(super) fn encode(&self) -> Bytes {
        codec::encode(self).into()
    }

    /// What a record says it is; its certificate is not checked.
    pub(super) fn claim(bytes: &[u8]) -> Option<Self> {
        let long = bytes.len() > GMC_BYTES_MAX.saturating_add(64);
        codec::decode::<Self>(bytes).ok().filter(|_| !long)
    }

    /// Reads a record whose certificate `key` has signed.
    pub(super) fn read(bytes: &[u8], key: &GroupKey) -> Result<(Digest, Gmc), AdmissionError> {
        let refuse = |what| Err(AdmissionError::LocalRecord(what));
        if bytes.len() > GMC_BYTES_MAX.saturating_add(64) {
            return refuse("it is too long");
        }
        let Ok(record) = codec::decode::<Self>(bytes) else { return refuse("it is not canonically encoded") };
        match granted(&record.der.0, key) {
            Some((request, gmc)) if request == record.request => Ok((request, gmc)),
            _ => refuse("it holds no certificate by the authority's key for this request"),
        }
    }
}

fn granted(der: &[u8], key: &GroupKey) -> Option<(Digest, Gmc)> {
    let gmc = Gmc::from_der(der).ok()?;
    gmc.check_issued(key).ok()?;
    Some((gmc.body().request_digest().ok()?, gmc))
}

/// A certificate whose holder the transcript does not have yet.
#[derive(Debug)]
struct Open {
    der: Bytes,
    not_after: UnixTime,
}

/// Everything issued. Certificates that the transcript has, or whose term is over, are on disk
/// only.
#[derive(Debug, Default)]
pub(super) struct Issued {
    open: BTreeMap<Digest, Open>,
    /// The request of each certificate, and a digest of the certificate.
    known: BTreeMap<Digest, Digest>,
    serials: BTreeSet<Serial>,
}

impl Issued {
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.known.len() >= ISSUED_MAX
    }

    pub(super) fn knows(&self, request: &Digest) -> bool {
        self.known.contains_key(request)
    }

    /// Whether these very bytes were issued.
    pub(super) fn is_held(&self, record: &LogRecord) -> bool {
        self.known.get(&record.request) == Some(&digest(&[&record.der.0]))
    }

    pub(super) fn get(&self, request: &Digest) -> Option<&Bytes> {
        self.open.get(request).map(|open| &open.der)
    }

    pub(super) fn has_serial(&self, serial: &Serial) -> bool {
        self.serials.contains(serial)
    }

    /// Keeps one. The result puts it on disk before anyone is told.
    pub(super) fn insert(&mut self, request: Digest, gmc: &Gmc) -> Persist {
        self.remember(request, gmc);
        Persist::put(OFFICE_TABLE, [b"i".as_slice(), &request].concat(), gmc.der().clone())
    }

    fn remember(&mut self, request: Digest, gmc: &Gmc) {
        let (der, not_after) = (gmc.der().clone(), gmc.body().not_after);
        self.known.insert(request, digest(&[&der]));
        self.serials.insert(gmc.body().serial);
        self.open.insert(request, Open { der, not_after });
    }

    /// Drops it from memory, not from the disk.
    pub(super) fn forget(&mut self, roster: &Roster) {
        self.open.retain(|request, _| !roster.is_used(request));
    }

    pub(super) fn forget_ended(&mut self, time: UnixTime, skew_seconds: u64) {
        self.open.retain(|_, open| open.not_after.0.saturating_add(skew_seconds) >= time.0);
    }

    pub(super) fn load(
        &mut self,
        key: &GroupKey,
        stored: &[(StoreKey, Bytes)],
    ) -> Result<(), AdmissionError> {
        let ours = stored.iter().filter(|(at, _)| at.table == OFFICE_TABLE);
        for (name, value) in ours.filter_map(|(at, value)| Some((at.key.strip_prefix(b"i")?, value))) {
            let read = granted(value, key).filter(|(request, _)| name == request);
            let (request, gmc) = read.ok_or(AdmissionError::LocalCorrupt(OFFICE_TABLE))?;
            self.remember(request, &gmc);
        }
        Ok(())
    }
}

/// A record on its way through the log.
#[derive(Debug)]
pub(super) struct Logging {
    pub(super) record: Bytes,
    pub(super) gmc: Gmc,
    /// Who asked for it.
    pub(super) askers: BTreeSet<NodeId>,
    /// When it is handed in again.
    pub(super) due: Instant,
}
