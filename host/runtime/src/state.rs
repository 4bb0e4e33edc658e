//! The state folder: one identity, one charter, one store, one process at a time.
//!
//! ```text
//! STATE/              0700
//!   identity.key      0600  PKCS#8, PEM, under a passphrase or open: the key of node and member
//!   identity.pem      the self-signed identity certificate, for the others
//!   charter.cms       the charter with its founders' signatures, DER
//!   member.sqlite     the store
//!   lock              held while a process runs on the folder
//!   control.sock      0600  while it runs: the control socket of the command line
//! ```

use crate::{StateError, store};
use folkmoot_identity::{Identity, IdentityCertificate, Passphrase, SealedKeyError, is_sealed_key};
use folkmoot_system::{Lock, in_words, is_passing, settle};
use std::fs::{File, OpenOptions};
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

impl StateFolder {
    /// The folder at `path`; made with mode 0700 if it is not there.
    ///
    /// # Errors
    /// [`StateError::LocalFile`].
    pub fn open(path: &Path) -> Result<Self, StateError> {
        if path.exists() && !path.is_dir() {
            let detail = "it is not a folder".into();
            return Err(StateError::LocalFile { path: path.to_owned(), detail, passing: false });
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
        let taken = Lock::take(&self.path).map_err(|error| file(&self.path.join("lock"), &error))?;
        taken.ok_or_else(|| StateError::LocalInUse { path: self.path.clone() })
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
        self.write_key(key_pem)
    }

    /// Puts another form of the same key in its place: a crash leaves the one or the other. What
    /// was there is overwritten, as far as the disk lets a program do that.
    ///
    /// # Errors
    /// [`StateError::LocalInUse`], [`StateError::LocalNoIdentity`], [`StateError::LocalFile`].
    pub fn replace_key(&self, key_pem: &str) -> Result<(), StateError> {
        drop(self.read_key()?);
        // Nobody else replaces it meanwhile.
        let _lock = self.lock()?;
        let path = self.key_path();
        let old = OpenOptions::new().write(true).open(&path).map_err(|error| file(&path, &error))?;
        self.write_key(key_pem)?;
        erase(old).map_err(|error| file(&path, &error))
    }

    fn write_key(&self, key_pem: &str) -> Result<(), StateError> {
        let (path, draft) = (self.key_path(), self.path.join("identity.key.new"));
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

    /// Takes over key and certificate of another folder, whose key the group has decided on, and
    /// empties that folder. Of a stop at any place the same call goes on.
    ///
    /// # Errors
    /// [`StateError::LocalInUse`], [`StateError::LocalFile`].
    pub fn take_key_of(&self, next: &Self) -> Result<(), StateError> {
        let (key, certificate) = (next.read_key()?, next.read_certificate()?);
        let _lock = self.lock()?;
        write_whole(&self.certificate_path(), &certificate)?;
        self.write_key(&key)?;
        std::fs::remove_dir_all(&next.path).map_err(|error| file(&next.path, &error))
    }

    /// Whether the private key is under a passphrase.
    ///
    /// # Errors
    /// As [`Self::read_key`].
    pub fn is_sealed(&self) -> Result<bool, StateError> {
        Ok(is_sealed_key(&self.read_key()?))
    }

    /// The identity: its key, opened with the passphrase if it is under one, and its certificate.
    /// To open it takes a fifth of a second, as it does anybody who tries passphrases.
    ///
    /// # Errors
    /// [`StateError::LocalSealed`] if there is a passphrase and none was given,
    /// [`StateError::LocalPassphrase`] if it is another; else as [`Self::read_key`] and
    /// [`Self::read_certificate`], and [`StateError::LocalMalformed`].
    pub fn identity(&self, passphrase: Option<&Passphrase>) -> Result<Identity, StateError> {
        let (key, certificate) = (self.read_key()?, self.read_certificate()?);
        let certificate = String::from_utf8_lossy(&certificate);
        IdentityCertificate::from_pem(&certificate).map_err(|error| StateError::LocalMalformed {
            path: self.certificate_path(),
            detail: error.to_string(),
        })?;
        let path = self.key_path();
        let opened = match passphrase {
            _ if !is_sealed_key(&key) => Identity::from_pem(&key, &certificate).map_err(SealedKeyError::from),
            None => return Err(StateError::LocalSealed { path }),
            Some(passphrase) => Identity::from_sealed_pem(&key, passphrase, &certificate),
        };
        opened.map_err(|error| match error {
            SealedKeyError::LocalWrong => StateError::LocalPassphrase { path },
            error => StateError::LocalMalformed { path, detail: error.to_string() },
        })
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
            Err(_) => {
                Err(StateError::LocalMalformed { path, detail: "it is not text, as a key in PEM is".into() })
            }
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

/// Overwrites a file that has no name any more.
fn erase(mut old: File) -> std::io::Result<()> {
    let length = usize::try_from(old.metadata()?.len().min(FILE_BYTES_MAX)).unwrap_or_default();
    old.write_all(&vec![0; length])?;
    old.sync_all()
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
    folkmoot_system::write_whole(path, bytes).map_err(|error| file(path, &error))
}

fn file(path: &Path, error: &std::io::Error) -> StateError {
    StateError::LocalFile { path: path.to_owned(), detail: in_words(error), passing: is_passing(error) }
}
