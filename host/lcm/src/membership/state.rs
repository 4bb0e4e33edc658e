//! The state folder: what each domain's machine must not forget, and the lock.

use super::MembershipError;
use folkmoot_base::hex;
use folkmoot_pubsub::discovery::message::tag;
use folkmoot_pubsub::secured::Domain;
use folkmoot_system::{Lock, write_whole};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A state folder that this process has.
#[derive(Debug)]
pub(super) struct State {
    folder: PathBuf,
    _lock: Lock,
}

impl State {
    pub(super) fn open(folder: &Path) -> Result<Self, MembershipError> {
        let failed = |error| MembershipError::LocalFile { path: folder.to_owned(), error };
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let lock = Lock::take(folder).map_err(failed)?;
        let lock = lock.ok_or_else(|| MembershipError::LocalInUse(folder.to_owned()))?;
        Ok(Self { folder: folder.to_owned(), _lock: lock })
    }

    pub(super) fn path(&self, domain: &Domain) -> PathBuf {
        let name = hex(&tag(domain.to_string().as_bytes()));
        self.folder.join(name).with_extension("counters")
    }

    pub(super) fn read(&self, domain: &Domain) -> Result<Option<Vec<u8>>, MembershipError> {
        let path = self.path(domain);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(MembershipError::LocalFile { path, error }),
        }
    }

    /// Returns when the disk has it.
    pub(super) async fn write(&self, domain: &Domain, bytes: Vec<u8>) -> io::Result<()> {
        let path = self.path(domain);
        let write = tokio::task::spawn_blocking(move || write_whole(&path, &bytes));
        write.await.map_err(io::Error::other)?
    }
}
