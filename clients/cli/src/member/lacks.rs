//! Finds the certificates that are on this authority's disk and not in the replicas' log: this
//! authority once ran without the log, or all replicas lost theirs. They go into the log like any
//! other record. If the log has another certificate for the same request, the process ends
//! (ADM-81).

use crate::exit::Failure;
use folkmoot::{Bytes, StateFolder};
use folkmoot_authority::replicas::{Status, WANTS_MAX, request_of};
use folkmoot_base::Digest;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Most of them at once: the other places are for what is issued now.
const TOGETHER_MAX: usize = WANTS_MAX / 2;

/// The comparison, once after each start.
#[derive(Debug)]
pub(super) enum Lacks {
    /// The log is being handed back: what came of it, and how much it has.
    Hears { come: BTreeSet<Digest>, length: u64 },
    /// What is not in it yet.
    Brings(BTreeMap<Digest, Bytes>),
}

impl Lacks {
    pub(super) fn new() -> Self {
        Self::Hears { come: BTreeSet::new(), length: u64::MAX }
    }

    /// The log has this record.
    pub(super) fn hear(&mut self, record: &Bytes) {
        let Ok(request) = request_of(record) else { return };
        match self {
            Self::Hears { come, .. } => drop(come.insert(request)),
            Self::Brings(lacking) => drop(lacking.remove(&request)),
        }
    }

    /// What is to go into the log now. `home`: the authority's folder.
    pub(super) async fn next(&mut self, home: &Path, status: &Status) -> Result<Vec<Bytes>, Failure> {
        if !status.is_ready() {
            return Ok(Vec::new());
        }
        if let Self::Hears { come, length } = self {
            // What is on its way may be dropped, and the log be shorter then.
            *length = status.length.min(*length);
            if u64::try_from(come.len()).is_ok_and(|come| come < *length) {
                return Ok(Vec::new());
            }
            let folder = StateFolder::at(home);
            let issued = tokio::task::spawn_blocking(move || folkmoot_authority::issued_by(&folder));
            let mut issued = issued.await.map_err(Failure::bug)??;
            issued.retain(|request, _| !come.contains(request));
            *self = Self::Brings(issued);
        }
        match self {
            Self::Brings(lacking) => Ok(lacking.values().take(TOGETHER_MAX).cloned().collect()),
            Self::Hears { .. } => Ok(Vec::new()),
        }
    }
}
