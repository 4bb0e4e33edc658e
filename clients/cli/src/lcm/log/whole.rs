//! A file with whole events: if the disk is full, it ends where the last event that fitted does.

use std::fs::File;
use std::io::{self, ErrorKind, Write};

/// What waits in memory before it is written at once.
const WAITING_BYTES: usize = 64 << 10;

/// A log that is written.
#[derive(Debug)]
pub(super) struct Whole {
    file: File,
    /// What the file has.
    written: u64,
    /// Events that are to be written, and where each of them ends.
    waiting: Vec<u8>,
    ends: Vec<usize>,
}

impl Whole {
    pub(super) fn new(file: File) -> Self {
        Self { file, written: 0, waiting: Vec::new(), ends: Vec::new() }
    }

    /// How long the file is when all is written.
    pub(super) fn bytes(&self) -> u64 {
        self.written.saturating_add(count(self.waiting.len()))
    }

    /// Adds an event.
    pub(super) fn add(&mut self, event: &[u8]) -> io::Result<()> {
        self.waiting.extend_from_slice(event);
        self.ends.push(self.waiting.len());
        if self.waiting.len() >= WAITING_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes what waits. If that fails, nothing of an event that is not whole stays.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let (done, ended) = self.write_waiting();
        let whole = match &ended {
            Ok(()) => done,
            Err(_) => self.ends.iter().rev().find(|end| **end <= done).copied().unwrap_or(0),
        };
        self.written = self.written.saturating_add(count(whole));
        if ended.is_err() {
            // A pipe or a device has no length. What is wrong is told by the error before.
            let _ = self.file.set_len(self.written);
        }
        self.waiting.clear();
        self.ends.clear();
        ended
    }

    fn write_waiting(&mut self) -> (usize, io::Result<()>) {
        let mut done = 0_usize;
        while let Some(rest) = self.waiting.get(done..).filter(|rest| !rest.is_empty()) {
            match self.file.write(rest) {
                Ok(0) => return (done, Err(ErrorKind::WriteZero.into())),
                Ok(bytes) => done = done.saturating_add(bytes),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return (done, Err(error)),
            }
        }
        (done, Ok(()))
    }
}

fn count(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
