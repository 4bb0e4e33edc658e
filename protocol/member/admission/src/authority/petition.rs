//! Requests that wait for the authority's person, or its hook, and how they lie on disk.
//!
//! | table | key | value |
//! |---|---|---|
//! | office | "p" ‖ request digest | asker(32) expires(8) verdict(1: 0 none, 1 yes, 2 no) CMS |

use super::office::OFFICE_TABLE;
use crate::AdmissionError;
use bytes::Bytes;
use folkmoot_base::codec::{self, Blob, TlsDeserializeBytes, TlsSerialize, TlsSize};
use folkmoot_base::{Digest, NodeId, Persist, StoreKey, UnixTime, limits};
use folkmoot_identity::Request;
use std::collections::{BTreeMap, BTreeSet};

/// Most requests that wait for a person.
pub const PETITIONS_MAX: usize = limits::REQUESTS_MAX;

/// One request that waits.
#[derive(Debug)]
pub(super) struct Petition {
    pub(super) request: Request,
    /// Who handed it in first.
    pub(super) from: NodeId,
    /// Who is to hear what comes of it.
    pub(super) askers: BTreeSet<NodeId>,
    pub(super) expires: UnixTime,
    /// What the person said.
    pub(super) verdict: Option<bool>,
}

#[derive(TlsSize, TlsSerialize, TlsDeserializeBytes)]
struct Stored {
    from: NodeId,
    expires: UnixTime,
    verdict: u8,
    cms: Blob,
}

/// All of them.
pub(super) type Petitions = BTreeMap<Digest, Petition>;

impl Petition {
    pub(super) fn persist(&self) -> Persist {
        let verdict = match self.verdict {
            None => 0,
            Some(true) => 1,
            Some(false) => 2,
        };
        let cms = Blob::from(self.request.der().to_vec());
        let stored = Stored { from: self.from, expires: self.expires, verdict, cms };
        Persist::put(OFFICE_TABLE, name(&self.request.digest()), codec::encode(&stored))
    }

    fn read(value: &[u8]) -> Option<Self> {
        let stored: Stored = codec::decode(value).ok()?;
        let verdict = match stored.verdict {
            0 => None,
            1 => Some(true),
            2 => Some(false),
            _ => return None,
        };
        let request = Request::from_der(&stored.cms.0).ok()?;
        let (from, expires) = (stored.from, stored.expires);
        Some(Self { request, from, askers: BTreeSet::new(), expires, verdict })
    }
}

pub(super) fn name(request: &Digest) -> Bytes {
    [b"p".as_slice(), request].concat().into()
}

/// Those on disk.
pub(super) fn load(stored: &[(StoreKey, Bytes)]) -> Result<Petitions, AdmissionError> {
    let ours = stored.iter().filter(|(at, _)| at.table == OFFICE_TABLE && at.key.starts_with(b"p"));
    let read = ours.map(|(at, value)| {
        let petition = Petition::read(value).filter(|petition| at.key == name(&petition.request.digest()));
        let petition = petition.ok_or(AdmissionError::LocalCorrupt(OFFICE_TABLE))?;
        Ok((petition.request.digest(), petition))
    });
    read.collect()
}
