//! Files that are whole or not there, and folders that one process has at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The right to run on a folder; given back when dropped or when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held, not used: closing the file gives the lock back")] File);

impl Lock {
    /// Takes the folder for this process; `None` if another process has it.
    ///
    /// # Errors
    /// What the system says.
    pub fn take(folder: &Path) -> io::Result<Option<Self>> {
        let path = folder.join("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self(lock))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Writes a file so that a crash leaves either what was there or all of it, and returns when the
/// disk has it.
///
/// # Errors
/// What the system says.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("new");
    settle(File::create(&draft)?, bytes, &draft, path)
}

/// Fills a draft and puts it in its place.
///
/// # Errors
/// What the system says.
pub fn settle(mut out: File, bytes: &[u8], draft: &Path, path: &Path) -> io::Result<()> {
    out.write_all(bytes)?;
    out.sync_all()?;
    put_in_place(draft, path)
}

/// Gives a draft its name, and returns when the disk has that.
///
/// # Errors
/// What the system says.
pub fn put_in_place(draft: &Path, path: &Path) -> io::Result<()> {
    std::fs::rename(draft, path)?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Whether time alone may mend it, and nobody need decide anything: a disk that is full, an address
/// that is not there yet or that another program still has, too many open files.
pub fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{
        AddrInUse, AddrNotAvailable, HostUnreachable, NetworkDown, NetworkUnreachable, OutOfMemory,
        QuotaExceeded, ResourceBusy, StorageFull, TimedOut, WouldBlock,
    };
    // They have no kind: ENFILE, EMFILE, and ENOBUFS of Linux and of the BSDs.
    const NAMELESS: [i32; 4] = [23, 24, 105, 55];
    let kind = error.kind();
    matches!(kind, StorageFull | QuotaExceeded | AddrInUse | AddrNotAvailable | OutOfMemory | ResourceBusy)
        || matches!(kind, HostUnreachable | NetworkDown | NetworkUnreachable | TimedOut | WouldBlock)
        || error.raw_os_error().is_some_and(|code| NAMELESS.contains(&code))
}

/// What the system said, without its number.
pub fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    if error.kind() == io::ErrorKind::InvalidData && text.contains("valid UTF-8") {
        return "it is not text".to_owned();
    }
    text.split_once(" (os error").map_or(text.as_str(), |(words, _)| words).to_lowercase()
}
