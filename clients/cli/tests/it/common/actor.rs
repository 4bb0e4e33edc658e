//! One member as a real process, asked through the command line as a person would.

use super::place::Place;
use super::program::{self, authority, call, code, good, member, program, wait_for_ready};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for anything.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) struct Actor {
    pub(crate) id: String,
    pub(crate) locator: String,
    pub(crate) state: PathBuf,
    /// No member: the group's authority.
    is_authority: bool,
    child: Option<Child>,
    /// What the process said of itself when it started last.
    pub(crate) ready: Value,
}

impl Actor {
    pub(crate) fn new(place: &Place, name: &str) -> Self {
        Self::called(place, name, name)
    }

    /// Called `name`, which others may be called, too.
    pub(crate) fn called(place: &Place, folder: &str, name: &str) -> Self {
        Self::drawn(place, folder, &[name])
    }

    /// With a key of this algorithm.
    pub(crate) fn with(place: &Place, name: &str, algorithm: &str) -> Self {
        Self::drawn(place, name, &[name, "--algorithm", algorithm])
    }

    fn drawn(place: &Place, folder: &str, words: &[&str]) -> Self {
        let state = place.path().join(folder);
        let made = good(&state, &[&["identity", "new", "--no-passphrase"], words].concat());
        let id = made["member"].as_str().unwrap().to_owned();
        Self { id, locator: String::new(), state, is_authority: false, child: None, ready: Value::Null }
    }

    /// The authority of the group that [`Place::found_with`] founds.
    pub(crate) fn authority(place: &Place, folder: &str, scheme: &str) -> Self {
        let state = place.path().join(folder);
        let made =
            good(&state, &["authority", "new", "--group", "test", "--scheme", scheme, "--no-passphrase"]);
        let id = made["member"].as_str().unwrap().to_owned();
        Self { id, locator: String::new(), state, is_authority: true, child: None, ready: Value::Null }
    }

    /// Another one with the office in this file.
    pub(crate) fn authority_of(place: &Place, folder: &str, office: &Path) -> Self {
        let mut made = Self::new(place, folder);
        made.good(&["authority", "take-over", &office.display().to_string()]);
        made.is_authority = true;
        made
    }

    /// One whose folder was made otherwise.
    pub(crate) fn of(state: PathBuf, id: &str) -> Self {
        Self {
            id: id.to_owned(),
            locator: String::new(),
            state,
            child: None,
            is_authority: false,
            ready: Value::Null,
        }
    }

    /// Starts the process, where it was before, and waits until it can be spoken to.
    pub(crate) fn start(&mut self, place: &Place, at: &[String], more: &[&str]) {
        let more: Vec<&str> = ["--quiet"].iter().chain(more).copied().collect();
        let start = if self.is_authority { authority } else { member };
        let mut child = start(&self.state, &place.signed(), &self.locator, at, &more);
        let ready = wait_for_ready(&mut child);
        self.locator = ready["locator"].as_str().unwrap().to_owned();
        self.ready = ready;
        self.child = Some(child);
    }

    /// `folkmoot join` or `folkmoot chat`, with somebody at the keyboard. Without `at`, the charter
    /// says where.
    pub(crate) fn talk(&self, place: &Place, how: &str, at: &str) -> Talk {
        let mut command = program(&self.state);
        command.args([how, "--listen", "127.0.0.1:0"]);
        command.args(["--at", at].iter().filter(|_| !at.is_empty()));
        command.args((how == "chat").then_some("--charter")).arg(place.signed());
        let child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Talk(child)
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        call(&self.state, args)
    }

    /// A command that must succeed.
    pub(crate) fn good(&self, args: &[&str]) -> Value {
        good(&self.state, args)
    }

    /// A command again and again, until its data are as they shall be.
    pub(crate) fn until(&self, args: &[&str], done: impl Fn(&Value) -> bool) -> Value {
        self.until_told(args, done).0
    }

    fn until_told(&self, args: &[&str], done: impl Fn(&Value) -> bool) -> (Value, i32) {
        let begun = Instant::now();
        loop {
            let output = self.run(args);
            let told = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
            if done(&told) {
                println!("{} {args:?} after {:?}", self.state.display(), begun.elapsed());
                return (told, code(&output));
            }
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(begun.elapsed() < LIMIT, "{} {args:?}: {told} {complaint}", self.state.display());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until `folkmoot why` says that `who` is `state`; the exit code is 0 only for those
    /// present.
    pub(crate) fn why(&self, who: &str, state: &str) -> Value {
        let (told, code) = self.until_told(&["why", who], |told| told["state"] == state);
        assert_eq!(code, i32::from(state != "present"), "{told}");
        told
    }

    /// A request on the control socket that must be obeyed.
    pub(crate) fn ask(&self, request: &Value) -> Value {
        program::ask(&self.state, request).unwrap_or_else(|why| panic!("{request}: {why}"))
    }

    pub(crate) fn cut(&self, others: &[&Self]) {
        let others = others.iter().flat_map(|other| ["--cut", &other.locator]);
        self.good(&["fault"].into_iter().chain(others).collect::<Vec<_>>());
    }

    pub(crate) fn heal(&self) {
        self.good(&["fault", "--heal"]);
    }

    /// Waits until the process ends by itself: its exit code.
    pub(crate) fn ends(&mut self) -> i32 {
        let begun = Instant::now();
        let child = self.child.as_mut().unwrap();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status.code().unwrap();
            }
            assert!(begun.elapsed() < LIMIT, "{} does not end", self.state.display());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until one of these ends by itself.
    pub(crate) fn one_ends(mut actors: [&mut Self; 2]) -> &mut Self {
        let begun = Instant::now();
        loop {
            let is_over = |actor: &mut &mut Self| actor.child.as_mut().unwrap().try_wait().unwrap().is_some();
            if let Some(over) = actors.iter_mut().position(is_over) {
                let [first, second] = actors;
                return if over == 0 { first } else { second };
            }
            assert!(begun.elapsed() < LIMIT, "neither ends");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Whether its processes have ever said this on the standard error.
    pub(crate) fn said(&self, what: &str) -> bool {
        std::fs::read_to_string(self.state.join("log")).unwrap().contains(what)
    }

    /// Sends the process a signal, as in `TERM`.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.as_ref().unwrap().id().to_string();
        let sent = Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap();
        assert!(sent.success(), "{signal} {pid}");
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// A talk that goes on.
pub(crate) struct Talk(Child);

impl Talk {
    /// One that was started otherwise.
    pub(crate) fn of(child: Child) -> Self {
        Self(child)
    }

    pub(crate) fn types(&mut self, line: &str) {
        writeln!(self.0.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Nothing more is typed.
    pub(crate) fn closes(&mut self) {
        self.0.stdin.take();
    }

    /// Ctrl-C.
    pub(crate) fn interrupt(&self) {
        let sent = std::process::Command::new("kill").args(["-INT", &self.0.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// SIGKILL.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Waits for its end. Until then nobody closes what is open.
    pub(crate) fn end(mut self) -> Output {
        let typing = self.0.stdin.take();
        let output = self.0.wait_with_output().unwrap();
        drop(typing);
        output
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.kill();
    }
}
