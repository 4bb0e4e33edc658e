//! The files of a recording: their names, and when a new one begins.
//!
//! ```text
//! FILE                          one file; an existing one stays, unless --force is given
//! FILE.00 FILE.01 FILE.02 ...   --increment: the first that does not exist; none is overwritten
//! FILE.0 <- FILE.1 <- ...       --rotate N: FILE.0 is the newest; FILE.(N-1) is overwritten
//! ```
//! The names are lcm-logger's. Each file is a whole log: its events count from 0, and a new one
//! begins between two events.

use super::whole::Whole;
use crate::args::lcm::Log;
use crate::exit::{Exit, Failure};
use folkmoot_lcm::Heard;
use folkmoot_pubsub::log::{Event, HEADER_BYTES, Step, step};
use std::fs::{File, OpenOptions, rename};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How files are called.
#[derive(Debug, Clone, Copy)]
enum Names {
    One {
        force: bool,
    },
    /// The next number to try.
    Increment(u32),
    /// How many there are at most.
    Rotate(u32),
}

/// When a new file begins.
#[derive(Debug, Clone, Copy)]
struct Limits {
    bytes: u64,
    age: Duration,
}

/// A recording.
#[derive(Debug)]
pub(super) struct Files {
    base: PathBuf,
    names: Names,
    limits: Limits,
    file: Whole,
    path: PathBuf,
    /// When the first event came that is in the file.
    begun: Option<Instant>,
    /// The number of the next event.
    number: i64,
    /// How many files were begun.
    count: u64,
    /// Where an event is put together.
    room: Vec<u8>,
}

impl Files {
    /// Begins the first one.
    pub(super) fn open(log: &Log) -> Result<Self, Failure> {
        let mut names = match (log.increment, log.rotate) {
            (true, _) => Names::Increment(0),
            (_, Some(files)) => Names::Rotate(files),
            _ => Names::One { force: log.force },
        };
        if let Names::Rotate(files) = names {
            (0..files).try_for_each(|number| is_log(&rotated(&log.file, number)))?;
        }
        let limits = Limits {
            bytes: log.split_mb.unwrap_or(u64::MAX),
            age: log.split_seconds.map_or(Duration::MAX, Duration::from_secs),
        };
        let (path, file) = names.open(&log.file)?;
        let (base, file) = (log.file.clone(), Whole::new(file));
        Ok(Self { base, names, limits, file, path, begun: None, number: 0, count: 1, room: Vec::new() })
    }

    /// The file that is written now.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Writes a message; how many bytes that took. `told` hears of a new file.
    pub(super) fn write(&mut self, heard: &Heard, told: impl FnOnce(&Path)) -> Result<u64, Failure> {
        self.encode(heard)?;
        let bytes = u64::try_from(self.room.len()).unwrap_or(u64::MAX);
        if self.is_over(bytes) {
            self.next()?;
            told(&self.path);
            self.encode(heard)?;
        }
        self.begun.get_or_insert_with(Instant::now);
        self.number = self.number.saturating_add(1);
        self.file.add(&self.room).map_err(|error| Failure::file(&self.path, &error))?;
        Ok(bytes)
    }

    /// Writes what waits in memory.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        self.file.flush().map_err(|error| Failure::file(&self.path, &error))
    }

    fn encode(&mut self, heard: &Heard) -> Result<(), Failure> {
        self.room.clear();
        let Heard { channel, time, payload, .. } = heard;
        let event = Event { number: self.number, time: *time, channel: *channel, payload };
        event.encode(&mut self.room).map_err(Failure::bug)
    }

    /// Whether this event has no place in the file. A file has one at least.
    fn is_over(&self, bytes: u64) -> bool {
        let long = self.file.bytes().saturating_add(bytes) > self.limits.bytes;
        self.begun.is_some_and(|begun| long || begun.elapsed() >= self.limits.age)
    }

    fn next(&mut self) -> Result<(), Failure> {
        self.flush()?;
        let (path, file) = self.names.open(&self.base)?;
        (self.path, self.file) = (path, Whole::new(file));
        (self.begun, self.number) = (None, 0);
        self.count = self.count.saturating_add(1);
        Ok(())
    }
}

impl Names {
    /// Begins a file.
    fn open(&mut self, base: &Path) -> Result<(PathBuf, File), Failure> {
        let (path, new) = match self {
            Self::One { force } => (base.to_owned(), !*force),
            Self::Increment(next) => return increment(base, next),
            Self::Rotate(files) => {
                rotate(base, *files)?;
                (rotated(base, 0), false)
            }
        };
        match create(&path, new) {
            Ok(file) => Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && !path.is_dir() => Err(exists(&path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(Failure::file(&path, &ErrorKind::IsADirectory.into()))
            }
            Err(error) => Err(Failure::file(&path, &error)),
        }
    }
}

fn create(path: &Path, new: bool) -> std::io::Result<File> {
    OpenOptions::new().write(true).create_new(new).create(!new).truncate(!new).open(path)
}

fn exists(file: &Path) -> Failure {
    let file = file.display();
    let text = format!(
        "{file} exists. To overwrite it, give --force; to write the next free one of {file}.00, {file}.01, ..., give --increment"
    );
    Failure::new(Exit::Configuration, text)
}

/// The first file that does not exist, from this number on.
fn increment(base: &Path, next: &mut u32) -> Result<(PathBuf, File), Failure> {
    loop {
        let path = named(base, &format!("{next:02}"));
        *next = next.saturating_add(1);
        match create(&path, true) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && *next < u32::MAX => {}
            Err(error) => return Err(Failure::file(&path, &error)),
        }
    }
}

/// Makes room for a new `FILE.0`: each file has the next number, and what had the last one is gone.
fn rotate(base: &Path, files: u32) -> Result<(), Failure> {
    for number in (1..files).rev() {
        let (from, to) = (rotated(base, number.saturating_sub(1)), rotated(base, number));
        match rename(&from, &to) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(Failure::file(&from, &error)),
            _ => {}
        }
    }
    Ok(())
}

/// Whether a file that is to be renamed, and overwritten in the end, is a log or nothing.
fn is_log(path: &Path) -> Result<(), Failure> {
    let mut head = Vec::new();
    let wanted = u64::try_from(HEADER_BYTES).unwrap_or(u64::MAX);
    // To open a pipe would wait for its other end.
    let read = match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => Err(error),
        Ok(about) if !about.is_file() => Ok(false),
        Ok(_) => File::open(path)
            .and_then(|file| file.take(wanted).read_to_end(&mut head))
            .map(|_| !matches!(step(&head, false), Step::Skip(_))),
    };
    match read {
        Ok(true) => Ok(()),
        Ok(false) => {
            let text = format!(
                "{} is not a log of LCM, and --rotate would rename and overwrite it. Move it away, or record under another name",
                path.display()
            );
            Err(Failure::new(Exit::Configuration, text))
        }
        Err(error) => Err(Failure::file(path, &error)),
    }
}

fn rotated(base: &Path, number: u32) -> PathBuf {
    named(base, &number.to_string())
}

fn named(base: &Path, suffix: &str) -> PathBuf {
    let mut name = base.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}
