//! The office in a state folder, and on its way to a replica.

use crate::{AuthorityError, PUBLIC_FILE, Public};
use folkmoot_base::UnixTime;
use folkmoot_identity::{Identity, Scheme};
use folkmoot_runtime::{Office, OsEntropy, StateFolder, Store, in_words};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use zeroize::Zeroizing;

/// Longest file that [`take_over`] reads.
const FILE_BYTES_MAX: u64 = 16 * 1024;

/// Draws an office for the group of this name and keeps it in the folder, which holds an identity
/// and no office. Of Shoup's RSA it takes minutes: run it where it may block.
///
/// # Errors
/// [`AuthorityError`].
pub fn found(
    folder: &StateFolder,
    identity: &Identity,
    (group, scheme): (&str, Scheme),
    from: UnixTime,
) -> Result<Public, AuthorityError> {
    if kept(folder, identity)?.is_some() {
        return Err(AuthorityError::LocalExists { path: folder.path().to_owned() });
    }
    let mut entropy = entropy()?;
    let office = Office::draw(group, scheme, from, &mut entropy)
        .map_err(|error| AuthorityError::LocalOffice(error.to_string()))?;
    keep(folder, identity, &office)
}

/// Keeps an office in the folder, which holds an identity and no office, and writes what the
/// founders need of it.
///
/// # Errors
/// [`AuthorityError`].
pub fn keep(folder: &StateFolder, identity: &Identity, office: &Office) -> Result<Public, AuthorityError> {
    let _lock = folder.lock()?;
    let mut store = Store::open(&folder.store_path())?;
    if load(identity, &store, folder)?.is_some() {
        return Err(AuthorityError::LocalExists { path: folder.path().to_owned() });
    }
    store.commit(&office.persists(identity, &mut entropy()?))?;
    publish(folder, identity, office)
}

fn publish(folder: &StateFolder, identity: &Identity, office: &Office) -> Result<Public, AuthorityError> {
    let public = Public { certificate: office.certificate.clone(), node: identity.certificate().clone() };
    public.write(folder)?;
    Ok(public)
}

/// What founders need of the office in the folder. A stop may have come between the office and this
/// file, and whoever fills a folder from a safe may have left it out: it is written anew then, and
/// only then `open` is asked for the folder's identity.
///
/// # Errors
/// [`AuthorityError`], and those of `open`.
pub fn public<E: From<AuthorityError>>(
    folder: &StateFolder,
    open: impl FnOnce() -> Result<Identity, E>,
) -> Result<Public, E> {
    let path = folder.path().join(PUBLIC_FILE);
    if path.exists() {
        return Ok(Public::read(&path)?);
    }
    let identity = open()?;
    let none = || AuthorityError::LocalNone { path: folder.path().to_owned() };
    let office = kept(folder, &identity)?.ok_or_else(none)?;
    Ok(publish(folder, &identity, &office)?)
}

/// The office in the folder. Nobody may run on it meanwhile.
///
/// # Errors
/// [`AuthorityError`].
pub fn kept(folder: &StateFolder, identity: &Identity) -> Result<Option<Office>, AuthorityError> {
    if !folder.store_path().exists() {
        return Ok(None);
    }
    let _lock = folder.lock()?;
    load(identity, &Store::open(&folder.store_path())?, folder)
}

fn load(identity: &Identity, store: &Store, folder: &StateFolder) -> Result<Option<Office>, AuthorityError> {
    let detail = |error: &dyn std::error::Error| error.to_string();
    Office::load(identity, &store.load()?)
        .map_err(|error| AuthorityError::LocalFile { path: folder.store_path(), detail: detail(&error) })
}

/// Writes the office to a new file that its owner alone may read: for [`take_over`] on another
/// machine. Who has the file is the authority.
///
/// # Errors
/// [`AuthorityError`]; a file that is there is not overwritten.
pub fn hand_over(folder: &StateFolder, identity: &Identity, to: &Path) -> Result<(), AuthorityError> {
    let none = || AuthorityError::LocalNone { path: folder.path().to_owned() };
    let office = kept(folder, identity)?.ok_or_else(none)?;
    let open = OpenOptions::new().create_new(true).write(true).mode(0o600).open(to);
    let write = open.and_then(|mut out| {
        out.write_all(office.encode().expose())?;
        out.sync_all()
    });
    write.map_err(|error| file(to, &error))
}

/// Keeps the office of the file in this folder, which holds an identity of its own and no office.
/// The file stays: remove it.
///
/// # Errors
/// [`AuthorityError`].
pub fn take_over(folder: &StateFolder, identity: &Identity, from: &Path) -> Result<Public, AuthorityError> {
    let mode = std::fs::metadata(from).map_err(|error| file(from, &error))?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(AuthorityError::LocalExposed { path: from.to_owned(), mode });
    }
    // Room for all at once: no half-filled copy is left behind.
    let mut bytes =
        Zeroizing::new(Vec::with_capacity(usize::try_from(FILE_BYTES_MAX).unwrap_or_default() + 1));
    let read = File::open(from).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|error| file(from, &error))?;
    let office = Office::decode(&bytes)
        .map_err(|error| AuthorityError::LocalFile { path: from.to_owned(), detail: error.to_string() })?;
    keep(folder, identity, &office)
}

fn entropy() -> Result<OsEntropy, AuthorityError> {
    OsEntropy::new().map_err(AuthorityError::LocalOffice)
}

pub(crate) fn file(path: &Path, error: &std::io::Error) -> AuthorityError {
    AuthorityError::LocalFile { path: path.to_owned(), detail: in_words(error) }
}
