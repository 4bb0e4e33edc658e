//! One member as a real process on its own state folder: started, heard, asked, killed, started
//! again from its disk.

use super::disk::Disk;
use super::heard::Heard;
use crate::common::program::{ask, good, member};
use folkmoot_base::MemberId;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a process may take to open its folder and socket, or to close them.
const START: Duration = Duration::from_secs(60);

/// One life of a process: what it printed until it was killed, or stopped in good order.
pub(crate) struct Life {
    pub(crate) who: String,
    pub(crate) number: usize,
    pub(crate) killed: bool,
    pub(crate) heard: Arc<Heard>,
}

struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    heard: Arc<Heard>,
}

/// One member.
pub(crate) struct Actor {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) state: PathBuf,
    pub(crate) locator: String,
    /// The lives that have ended.
    pub(crate) lives: Vec<Life>,
    /// What the disk held at the end of each life.
    pub(crate) disks: Vec<Disk>,
    process: Option<Process>,
}

impl Actor {
    /// Makes the identity; starts nothing.
    pub(crate) fn new(place: &Path, name: &str) -> Self {
        let state = place.join(name);
        let made = good(&state, &["identity", "new", name, "--no-passphrase"]);
        Self {
            name: name.into(),
            id: made["member"].as_str().unwrap().into(),
            state,
            locator: String::new(),
            lives: Vec::new(),
            disks: Vec::new(),
            process: None,
        }
    }

    /// Starts the process without waiting for it.
    pub(crate) fn spawn(&mut self, charter: &Path, at: &[String], apply: bool) {
        assert!(self.process.is_none(), "{} runs already", self.name);
        let more: &[&str] = if apply { &["--apply"] } else { &[] };
        let mut child = member(&self.state, charter, &self.locator, at, more);
        let stdin = child.stdin.take();
        let heard = Heard::listen(child.stdout.take().unwrap());
        self.process = Some(Process { child, stdin, heard });
    }

    /// Waits until the process can be spoken to.
    pub(crate) fn ready(&mut self) -> Result<(), String> {
        let ready = self.heard().wait(START, |heard| heard.find("ready", 0));
        match ready {
            Some(event) => {
                event["locator"].as_str().unwrap().clone_into(&mut self.locator);
                Ok(())
            }
            None => Err(format!("{} did not start: {}", self.name, self.last_words())),
        }
    }

    pub(crate) fn runs(&self) -> bool {
        self.process.is_some()
    }

    /// What the running process has printed.
    pub(crate) fn heard(&self) -> Arc<Heard> {
        Arc::clone(&self.process.as_ref().unwrap().heard)
    }

    pub(crate) fn ask(&self, request: &Value) -> Result<Value, String> {
        ask(&self.state, request).map_err(|why| format!("{}: {why}. {}", self.name, self.last_words()))
    }

    /// Asks again and again until `done` brings something.
    pub(crate) fn until<T>(
        &self,
        request: &Value,
        limit: Duration,
        what: &str,
        done: impl Fn(&Value) -> Option<T>,
    ) -> Result<T, String> {
        let end = Instant::now() + limit;
        loop {
            let answer = self.ask(request)?;
            if let Some(found) = done(&answer) {
                return Ok(found);
            }
            if Instant::now() > end {
                return Err(format!("{}: {what} did not happen; last seen: {answer}", self.name));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// SIGKILL; then what was printed until then, and a copy of the disk.
    pub(crate) fn kill(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        process.child.kill().unwrap();
        process.child.wait().unwrap();
        self.buried(process, true);
    }

    /// Ends the process in good order, as its parent's end does.
    pub(crate) fn stop(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        drop(process.stdin.take());
        let end = Instant::now() + START;
        while process.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < end, "{} does not stop: {}", self.name, self.last_words());
            std::thread::sleep(Duration::from_millis(5));
        }
        self.buried(process, false);
    }

    fn buried(&mut self, process: Process, killed: bool) {
        process.heard.end();
        let life = Life { who: self.name.clone(), number: self.lives.len(), killed, heard: process.heard };
        self.lives.push(life);
        self.disks.push(Disk::copy(&self.state));
        assert!(!self.log_text().contains("panicked"), "{}: {}", self.name, self.last_words());
    }

    /// The last look at the disk.
    pub(crate) fn disk(&self) -> &Disk {
        self.disks.last().unwrap()
    }

    /// Whether the last disk has this voter's yes to a subject.
    pub(crate) fn said_yes(&self, subject: &[u8]) -> bool {
        self.disk().word(&MemberId::from_hex(&self.id).unwrap(), subject) == Some(true)
    }

    /// Whether it has the yes to this proposal; without one, to any.
    pub(crate) fn kept_yes(&self, subject: Option<&[u8]>) -> bool {
        let mut open = self.disk().proposals();
        match subject {
            // A proposal that is gone was carried out.
            Some(subject) => open.all(|one| one != subject) || self.said_yes(subject),
            None => open.any(|one| self.said_yes(one)),
        }
    }

    fn log(&self) -> PathBuf {
        self.state.join("log")
    }

    fn log_text(&self) -> String {
        std::fs::read_to_string(self.log()).unwrap_or_default()
    }

    pub(crate) fn last_words(&self) -> String {
        let log = self.log_text();
        let lines: Vec<&str> = log.lines().collect();
        let last = &lines[lines.len().saturating_sub(8)..];
        if last.is_empty() { "it said nothing".into() } else { format!("it said:\n  {}", last.join("\n  ")) }
    }

    /// One line on how it stands.
    pub(crate) fn standing(&self) -> String {
        let activity = match self.ask(&json!({ "op": "status" })) {
            Ok(status) => {
                let people = status["people"].as_array().cloned().unwrap_or_default();
                let people: Vec<String> =
                    people.iter().map(|one| format!("{} {}", one["name"], one["state"])).collect();
                format!("{} ({})", status["activity"], people.join(", "))
            }
            Err(error) => error,
        };
        format!("{}: {activity}; {}", self.name, self.heard().picture())
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
    }
}
