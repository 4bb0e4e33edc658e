//! A person at a terminal who is asked things.

use super::program::program;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

/// A program whose standard input is a terminal, and everything that the terminal and the program
/// have shown.
pub(crate) struct Typist {
    ours: File,
    child: Child,
    complaints: std::process::ChildStderr,
    shown: Vec<u8>,
}

impl Typist {
    pub(crate) fn new(state: &Path, line: &[&str]) -> Self {
        Self::at(program(state).args(line))
    }

    /// The same at any command.
    pub(crate) fn at(command: &mut Command) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let theirs = File::options().read(true).write(true).open(name).unwrap();
        let mut child = command.stdin(theirs).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let complaints = child.stderr.take().unwrap();
        Self { ours: File::from(ours), child, complaints, shown: Vec::new() }
    }

    /// Waits for a question.
    pub(crate) fn asks(&mut self, question: &str) {
        let begun = Instant::now();
        let from = self.shown.len();
        let mut byte = [0];
        loop {
            let seen = String::from_utf8_lossy(&self.shown[from..]).into_owned();
            if seen.contains(question) && seen.ends_with(": ") {
                return;
            }
            assert!(begun.elapsed() < LIMIT && self.complaints.read(&mut byte).unwrap() == 1, "{seen}");
            self.shown.push(byte[0]);
        }
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.ours.write_all(keys.as_bytes()).unwrap();
    }

    /// Its end: exit code, and all that was shown.
    pub(crate) fn ends(mut self) -> (i32, String) {
        self.complaints.read_to_end(&mut self.shown).unwrap();
        let code = self.child.wait().unwrap().code().unwrap();
        // What the terminal echoed, if it did.
        let mut echoed = [0; 4_096];
        rustix::fs::fcntl_setfl(&self.ours, rustix::fs::OFlags::NONBLOCK).unwrap();
        if let Ok(length) = self.ours.read(&mut echoed) {
            self.shown.extend_from_slice(&echoed[..length]);
        }
        (code, String::from_utf8_lossy(&self.shown).into_owned())
    }
}
