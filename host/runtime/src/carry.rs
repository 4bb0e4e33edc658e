//! The charters of groups that a node carries beside its ring's own, read from files.

use crate::state::read;
use crate::{CarryError, RuntimeError};
use bytes::Bytes;
use folkmoot_base::GroupId;
use folkmoot_base::limits::CHARTERS_MAX;
use folkmoot_identity::SignedCharter;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads and verifies them: by the groups that they found.
pub(crate) fn charters(
    files: &[PathBuf],
    ring: &GroupId,
) -> Result<BTreeMap<GroupId, SignedCharter>, RuntimeError> {
    if files.len() > CHARTERS_MAX {
        return Err(CarryError::LocalTooMany { count: files.len() }.into());
    }
    let mut named: BTreeMap<GroupId, &Path> = BTreeMap::new();
    let mut charters = BTreeMap::new();
    for path in files {
        let charter = SignedCharter::complete_from_der(&read(path)?)
            .map_err(|error| CarryError::LocalNotCharter { path: path.clone(), detail: error.to_string() })?;
        let group = charter.charter().group();
        if group == *ring {
            return Err(CarryError::LocalOwn { path: path.clone() }.into());
        }
        if let Some(first) = named.insert(group, path) {
            let error = CarryError::LocalTwice { first: first.to_owned(), second: path.clone() };
            return Err(error.into());
        }
        charters.insert(group, charter);
    }
    Ok(charters)
}

pub(crate) fn der(charter: &SignedCharter) -> Bytes {
    Bytes::copy_from_slice(charter.der())
}
