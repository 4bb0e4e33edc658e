//! What must survive, in one SQLite file: keys and values in named tables, each row with a
//! checksum.
//!
//! ```text
//! engine --commit(batch)--> writer thread: BEGIN, all rows, COMMIT (WAL, synchronous=FULL) --done--> engine
//! ```
//! A batch is one transaction: after a crash either all of it is there or nothing.
//! [`Writer::commit`] returns only when the disk has it, so whatever relies on it may go out
//! afterwards (DECISIONS O4).
//!
//! Deleted rows are overwritten. Those of tables with secrets leave the log of writes as well, with
//! the same commit.

use crate::StoreError;
use bytes::Bytes;
use folkmoot_base::{Persist, StoreKey, digest};
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// The format this release reads and writes; in the file as `user_version`.
pub const FORMAT: i64 = 1;
/// Marks the file as ours ("FKMT"); in the file as `application_id`.
const APPLICATION_ID: i64 = 0x464b_4d54;
/// The file's name inside a state folder.
pub(crate) const FILE: &str = "member.sqlite";
/// Table names a store may hold; more is damage.
const TABLES_MAX: usize = 64;
/// The tables known today. Others are taken too, so that a layer can add one.
const TABLES: [&str; 12] = [
    "ring",
    "transcript",
    "carried",
    "vote",
    "request",
    "closed",
    "share",
    "revoked",
    "office",
    "keying",
    "locator",
    "log",
];

/// Tables whose rows are secrets, though sealed: a row deleted there is to be nowhere on the disk.
const SECRETS: [&str; 2] = ["office", "share"];
/// How long another's write, or its look at the whole store, is waited for.
const BUSY: Duration = Duration::from_secs(60);
/// The same where it is only to empty the log of writes, which can be done later.
const BUSY_CLEANING: Duration = Duration::from_millis(100);

/// Table, key, value and checksum, as a row has them.
type Row = (String, Vec<u8>, Vec<u8>, Vec<u8>);
/// What to write, and whom to tell.
type Batch = (Vec<Persist>, oneshot::Sender<Result<(), StoreError>>);

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
    /// The log of writes may have what was deleted from a table of secrets.
    unclean: bool,
}

impl Store {
    /// Opens the store in `path`, or makes it; checks format and integrity.
    ///
    /// # Errors
    /// [`StoreError::LocalCorrupt`] for a damaged, truncated or foreign file,
    /// [`StoreError::LocalFormat`] for a newer one, [`StoreError::LocalDisk`] when the disk
    /// refuses. The file is left as it was.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            make(path)?;
        }
        if std::fs::metadata(path).is_ok_and(|file| file.len() == 0) {
            return Err(corrupt(path, "it is empty"));
        }
        let connection = connect(path, OpenFlags::empty())?;
        let mut store = Self { connection, path: path.to_owned(), unclean: true };
        store.check()?;
        store.settings()?;
        // A stop may have come between a commit and its cleaning.
        store.clean();
        Ok(store)
    }

    /// Everything in it, in the order of table and key.
    ///
    /// # Errors
    /// [`StoreError::LocalCorrupt`] for a row whose checksum does not fit.
    pub fn load(&self) -> Result<Vec<(StoreKey, Bytes)>, StoreError> {
        let mut names: Vec<&'static str> = TABLES.to_vec();
        let mut statement = self
            .connection
            .prepare("SELECT tab, key, value, sum FROM kv ORDER BY tab, key")
            .map_err(|error| classify(&self.path, &error))?;
        let mut rows = statement.query([]).map_err(|error| classify(&self.path, &error))?;
        let mut out = Vec::new();
        while let Some(row) = rows.next().map_err(|error| classify(&self.path, &error))? {
            let (table, key, value, sum) = self.row(row)?;
            if sum != checksum(&table, &key, &value) {
                return Err(corrupt(&self.path, &format!("a row of table {table:?} has a wrong checksum")));
            }
            let table =
                name(&mut names, table).ok_or_else(|| corrupt(&self.path, "it has too many tables"))?;
            out.push((StoreKey { table, key: key.into() }, value.into()));
        }
        Ok(out)
    }

    /// Writes `batch` in one transaction and returns when the disk has it.
    ///
    /// # Errors
    /// [`StoreError::LocalDisk`]; then nothing of the batch is in the store.
    pub fn commit(&mut self, batch: &[Persist]) -> Result<(), StoreError> {
        let path = self.path.clone();
        let refuse = |error: rusqlite::Error| classify(&path, &error);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(refuse)?;
        {
            let mut put = transaction
                .prepare_cached(
                    "INSERT INTO kv (tab, key, value, sum) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (tab, key) DO UPDATE SET value = excluded.value, sum = excluded.sum",
                )
                .map_err(refuse)?;
            let mut delete =
                transaction.prepare_cached("DELETE FROM kv WHERE tab = ?1 AND key = ?2").map_err(refuse)?;
            for Persist { key, value } in batch {
                let done = match value {
                    Some(value) => {
                        let sum = checksum(key.table, &key.key, value);
                        put.execute(params![key.table, key.key.as_ref(), value.as_ref(), sum.as_slice()])
                    }
                    None => delete.execute(params![key.table, key.key.as_ref()]),
                };
                done.map_err(refuse)?;
            }
        }
        transaction.commit().map_err(refuse)?;
        let erases = |persist: &Persist| persist.value.is_none() && SECRETS.contains(&persist.key.table);
        self.unclean |= batch.iter().any(erases);
        self.clean();
        Ok(())
    }

    /// Brings the log of writes home and empties it, if it may have what is to be gone. Whoever
    /// looks at the store meanwhile holds that up: then it is done at the next commit.
    fn clean(&mut self) {
        if !self.unclean {
            return;
        }
        let emptied = self.connection.busy_timeout(BUSY_CLEANING).and_then(|()| {
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        });
        self.unclean = emptied != Ok(0);
        if let Err(error) = self.connection.busy_timeout(BUSY) {
            tracing::debug!("the store does not wait for others: {error}");
        }
    }

    fn create(&self) -> Result<(), StoreError> {
        self.connection
            .execute_batch(&format!(
                "PRAGMA synchronous = FULL; BEGIN;
                 PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};
                 CREATE TABLE kv (tab TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, sum BLOB NOT NULL,
                                  PRIMARY KEY (tab, key)) STRICT, WITHOUT ROWID;
                 COMMIT;"
            ))
            .map_err(|error| classify(&self.path, &error))
    }

    fn check(&self) -> Result<(), StoreError> {
        let id = self.number("application_id")?;
        if id != APPLICATION_ID {
            return Err(corrupt(&self.path, "it was not written by folkmoot"));
        }
        let format = self.number("user_version")?;
        if format != FORMAT {
            return Err(StoreError::LocalFormat { path: self.path.clone(), found: format, known: FORMAT });
        }
        let verdict: String = self
            .connection
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .map_err(|error| classify(&self.path, &error))?;
        if verdict == "ok" { Ok(()) } else { Err(corrupt(&self.path, &verdict)) }
    }

    fn settings(&self) -> Result<(), StoreError> {
        self.connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA locking_mode = NORMAL;
                 PRAGMA secure_delete = ON;",
            )
            .map_err(|error| classify(&self.path, &error))
    }

    fn number(&self, pragma: &str) -> Result<i64, StoreError> {
        self.connection
            .query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
            .map_err(|error| classify(&self.path, &error))
    }

    fn row(&self, row: &rusqlite::Row<'_>) -> Result<Row, StoreError> {
        let read = || Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        read().map_err(|error: rusqlite::Error| classify(&self.path, &error))
    }
}

/// The store on a thread of its own, so that a slow disk holds up the engine but nobody else.
#[derive(Debug)]
pub struct Writer {
    /// There until the writer is dropped.
    batches: Option<mpsc::Sender<Batch>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Moves `store` to its thread. Dropping the writer ends the thread and closes the store: then
    /// it is one file again.
    ///
    /// # Errors
    /// [`StoreError::LocalDisk`] when the system gives no thread.
    pub fn start(mut store: Store) -> Result<Self, StoreError> {
        let (batches, orders) = mpsc::channel::<Batch>();
        let path = store.path.clone();
        let thread = std::thread::Builder::new()
            .name("folkmoot-store".into())
            .spawn(move || {
                while let Ok((batch, done)) = orders.recv() {
                    // Nobody waiting for the answer is no reason to stop.
                    let _ = done.send(store.commit(&batch));
                }
            })
            .map_err(|error| disk(&path, &error))?;
        Ok(Self { batches: Some(batches), thread: Some(thread) })
    }

    /// Writes `batch` in one transaction; returns when the disk has it.
    ///
    /// # Errors
    /// As [`Store::commit`]; [`StoreError::LocalStopped`] when the thread is gone.
    pub async fn commit(&self, batch: Vec<Persist>) -> Result<(), StoreError> {
        self.begin(batch)?.await.map_err(|_| StoreError::LocalStopped)?
    }

    /// [`Self::commit`] that does not wait: what comes back says when the disk has it. Batches are
    /// written in the order of the calls; callers wait for one before they begin many.
    pub(crate) fn begin(
        &self,
        batch: Vec<Persist>,
    ) -> Result<oneshot::Receiver<Result<(), StoreError>>, StoreError> {
        let (done, answer) = oneshot::channel();
        let batches = self.batches.as_ref().ok_or(StoreError::LocalStopped)?;
        batches.send((batch, done)).map_err(|_| StoreError::LocalStopped)?;
        Ok(answer)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.batches.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so itself.
            let _ = thread.join();
        }
    }
}

fn connect(path: &Path, more: OpenFlags) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let open = || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        Ok(connection)
    };
    open().map_err(|error: rusqlite::Error| classify(path, &error))
}

/// Makes an empty store under another name and moves it to its place, so that a crash leaves either
/// none or a whole one.
fn make(path: &Path) -> Result<(), StoreError> {
    let disk = |error: std::io::Error| disk(path, &error);
    let log = path.with_extension("sqlite-wal");
    if log.exists() {
        return Err(corrupt(
            path,
            &format!("it is missing, but {} is there: move that away, too", log.display()),
        ));
    }
    let draft = path.with_extension("new");
    for name in [draft.clone(), path.with_extension("new-journal")] {
        match std::fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(disk(error)),
            _ => {}
        }
    }
    let connection = connect(&draft, OpenFlags::SQLITE_OPEN_CREATE)?;
    let store = Store { connection, path: path.to_owned(), unclean: false };
    store.create()?;
    drop(store);
    folkmoot_system::put_in_place(&draft, path).map_err(disk)
}

/// The first eight bytes of a digest over the row: finds damage that SQLite's own check cannot see.
fn checksum(table: &str, key: &[u8], value: &[u8]) -> Vec<u8> {
    let length = u64::try_from(key.len()).unwrap_or(u64::MAX).to_be_bytes();
    digest(&[b"folkmoot row v1", table.as_bytes(), &[0], &length, key, value])
        .iter()
        .take(8)
        .copied()
        .collect()
}

/// The one `'static` copy of a table's name. A name not known today is kept for the life of the
/// process, at most [`TABLES_MAX`] of them.
fn name(names: &mut Vec<&'static str>, table: String) -> Option<&'static str> {
    if let Some(known) = names.iter().find(|known| **known == table) {
        return Some(known);
    }
    if names.len() >= TABLES_MAX {
        return None;
    }
    let kept: &'static str = Box::leak(table.into_boxed_str());
    names.push(kept);
    Some(kept)
}

fn corrupt(path: &Path, detail: &str) -> StoreError {
    StoreError::LocalCorrupt { path: path.to_owned(), detail: detail.to_owned() }
}

fn classify(path: &Path, error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, OutOfMemory,
    };
    if matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked)) {
        return StoreError::LocalBusy { path: path.to_owned() };
    }
    let damaged = match error {
        rusqlite::Error::SqliteFailure(failure, text) => {
            matches!(failure.code, DatabaseCorrupt | NotADatabase)
                || text.as_deref().is_some_and(|text| text.contains("no such"))
        }
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::QueryReturnedNoRows => true,
        _ => false,
    };
    if damaged {
        return corrupt(path, &error.to_string());
    }
    let passing = match error.sqlite_error_code() {
        Some(DiskFull | OutOfMemory) => true,
        // It does not say why. The system does, if it is so still.
        Some(CannotOpen) => std::fs::File::open(path).is_err_and(|error| folkmoot_system::is_passing(&error)),
        _ => false,
    };
    StoreError::LocalDisk { path: path.to_owned(), detail: error.to_string(), passing }
}

fn disk(path: &Path, error: &std::io::Error) -> StoreError {
    let passing = folkmoot_system::is_passing(error);
    StoreError::LocalDisk { path: path.to_owned(), detail: error.to_string(), passing }
}
