//! The state folder: one identity, one charter, one store, one process at a time.
//!
//! ```text
//! STATE/              0700
//!   identity.key      0600  PKCS#8, PEM: the key of node and member
//!   identity.pem      the self-signed identity certificate, for the others
//!   charter.cms       the charter with its founders' signatures, DER
//!   member.sqlite     the store
//!   lock              held while a process runs on the folder
//!   control.sock      0600  while it runs: the control socket of the command line
//! ```

use crate::{StateError, store};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Longest file that is read from a state folder, the store aside: a charter with many founders
/// fits.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A state folder, not locked: for reading and for making identities.
#[derive(Debug, Clone)]
pub struct StateFolder {
    path: PathBuf,
}

/// The right to run on a state folder; given back when dropped or when the process ends, however it
/// ends.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held, not used: closing the file gives the lock back")] File);

impl StateFolder {
    /// The folder at `path`; made with mode 0700 if it is not there.
    ///
    /// # Errors
    /// [`StateError::LocalFile`].
    pub fn open(path: &Path) -> Result<Self, StateError> {
        if path.exists() && !path.is_dir() {
            return Err(StateError::LocalFile { path: path.to_owned(), detail: "it is not a folder".into() });
        }
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|error| file(path, &error))?;
        Ok(Self { path: path.to_owned() })
    }

    /// The folder at `path`, there or not: for reading. Nothing is made.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the private key is kept.
    pub fn key_path(&self) -> PathBuf {
        self.path.join("identity.key")
    }

    /// Where the identity certificate is kept.
    pub fn certificate_path(&self) -> PathBuf {
        self.path.join("identity.pem")
    }

    /// Where the signed charter is kept.
    pub fn charter_path(&self) -> PathBuf {
        self.path.join("charter.cms")
    }

    /// Where the store is kept.
    pub fn store_path(&self) -> PathBuf {
        self.path.join(store::FILE)
    }

    /// Takes the folder for this process.
    ///
    /// # Errors
    /// [`StateError::LocalInUse`] if another process has it.
    pub fn lock(&self) -> Result<Lock, StateError> {
        let path = self.path.join("lock");
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| file(&path, &error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Lock(lock)),
            Err(TryLockError::WouldBlock) => Err(StateError::LocalInUse { path: self.path.clone() }),
            Err(TryLockError::Error(error)) => Err(file(&path, &error)),
        }
    }

    /// Whether there is an identity.
    pub fn has_identity(&self) -> bool {
        self.key_path().exists()
    }

    /// Writes a new identity. Never overwrites one.
    ///
    /// # Errors
    /// [`StateError::LocalExists`], [`StateError::LocalFile`].
    pub fn write_identity(&self, key_pem: &str, certificate_pem: &str) -> Result<(), StateError> {
        let path = self.key_path();
        let absent =
            || if path.exists() { Err(StateError::LocalExists { path: path.clone() }) } else { Ok(()) };
        absent()?;
        // Nobody else makes one here meanwhile.
        let _lock = self.lock()?;
        absent()?;
        // The key last: a stop in between leaves no identity, and the next one made here replaces
        // the certificate.
        write_whole(&self.certificate_path(), certificate_pem.as_bytes())?;
        let draft = self.path.join("identity.key.new");
        let write = || {
            match std::fs::remove_file(&draft) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let out = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&draft)?;
            settle(out, key_pem.as_bytes(), &draft, &path)
        };
        write().map_err(|error| file(&path, &error))
    }

    /// The private key, PEM.
    ///
    /// # Errors
    /// [`StateError::LocalNoIdentity`]; [`StateError::LocalExposed`] if others could read it.
    pub fn read_key(&self) -> Result<Zeroizing<String>, StateError> {
        let path = self.key_path();
        if !path.exists() {
            return Err(StateError::LocalNoIdentity { path: self.path.clone() });
        }
        let mode =
            std::fs::metadata(&path).map_err(|error| file(&path, &error))?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(StateError::LocalExposed { path, mode });
        }
        let bytes = Zeroizing::new(read(&path)?);
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(Zeroizing::new(text.to_owned())),
            Err(error) => Err(StateError::LocalMalformed { path, detail: error.to_string() }),
        }
    }

    /// The identity certificate, PEM.
    ///
    /// # Errors
    /// [`StateError::LocalNoCertificate`], [`StateError::LocalFile`].
    pub fn read_certificate(&self) -> Result<Vec<u8>, StateError> {
        let path = self.certificate_path();
        if !path.exists() && self.has_identity() {
            return Err(StateError::LocalNoCertificate { path });
        }
        read(&path)
    }

    /// The signed charter, DER.
    ///
    /// # Errors
    /// [`StateError::LocalNoCharter`], [`StateError::LocalFile`].
    pub fn read_charter(&self) -> Result<Vec<u8>, StateError> {
        let path = self.charter_path();
        if !path.exists() {
            return Err(StateError::LocalNoCharter { path: self.path.clone() });
        }
        read(&path)
    }

    /// Keeps the signed charter. The same again is fine; another is refused.
    ///
    /// # Errors
    /// [`StateError::LocalOtherCharter`], [`StateError::LocalFile`].
    pub fn write_charter(&self, charter: &[u8]) -> Result<(), StateError> {
        let path = self.charter_path();
        if !path.exists() {
            return write_whole(&path, charter);
        }
        if read(&path)? == charter { Ok(()) } else { Err(StateError::LocalOtherCharter { path }) }
    }
}

/// Reads a file of at most [`FILE_BYTES_MAX`] bytes.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, StateError> {
    let open = File::open(path).map_err(|error| file(path, &error))?;
    let mut out = Vec::new();
    open.take(FILE_BYTES_MAX + 1).read_to_end(&mut out).map_err(|error| file(path, &error))?;
    if u64::try_from(out.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
        return Err(StateError::LocalMalformed {
            path: path.to_owned(),
            detail: "it is far too long".into(),
        });
    }
    Ok(out)
}

/// Writes a file so that a crash leaves either what was there or all of it, and returns when the
/// disk has it.
///
/// # Errors
/// [`StateError::LocalFile`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StateError> {
    let draft = path.with_extension("new");
    let write = || settle(File::create(&draft)?, bytes, &draft, path);
    write().map_err(|error| file(path, &error))
}

/// Fills a draft and puts it in its place.
fn settle(mut out: File, bytes: &[u8], draft: &Path, path: &Path) -> std::io::Result<()> {
    out.write_all(bytes)?;
    out.sync_all()?;
    put_in_place(draft, path)
}

/// Gives a draft its name, and returns when the disk has that.
pub(crate) fn put_in_place(draft: &Path, path: &Path) -> std::io::Result<()> {
    std::fs::rename(draft, path)?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

fn file(path: &Path, error: &std::io::Error) -> StateError {
    StateError::LocalFile { path: path.to_owned(), detail: in_words(error) }
}

/// What the system said, without its number.
pub fn in_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.as_str(), |(words, _)| words).to_lowercase()
}
