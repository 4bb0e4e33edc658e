//! A folder in which a story happens: commands that end, programs that go on, and what is noted.

use super::events::kinds;
use super::mask::Mask;
use crate::common::place::Place;
use serde_json::{Value, json};
use std::fs::{OpenOptions, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longest wait for anything.
pub(super) const LIMIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);
/// What is said on the standard error of how far something is, as often as that takes.
const PROGRESS: &str = "progress: ";

/// What was noted of a command.
pub(super) struct Note {
    /// The words that were typed, after the folder.
    pub(super) line: String,
    pub(super) told: Value,
}

/// A program that went on, and what is to be said of it.
pub(super) type Told<'a> = (&'a str, &'a Running);

pub(super) struct Stage {
    place: Place,
    notes: Vec<Note>,
}

impl Stage {
    pub(super) fn new(name: &str) -> Self {
        Self { place: Place::new(&format!("golden-{name}")), notes: Vec::new() }
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(super) fn notes(self) -> Vec<Note> {
        self.notes
    }

    /// A command in this folder that ends by itself, or is ended.
    fn command(&self, who: &str, line: &str) -> Command {
        let mut command = Command::new("timeout");
        command.args(["60", env!("CARGO_BIN_EXE_folkmoot"), "--json", "--state", who]).args(words(line));
        self.at_home(&mut command);
        command.stdin(Stdio::null());
        command
    }

    fn at_home(&self, command: &mut Command) {
        command.current_dir(self.place.path()).env("HOME", self.place.path()).env("NO_COLOR", "1");
        for name in ["FOLKMOOT_STATE", "XDG_STATE_HOME", "FOLKMOOT_LOG", "LCM_DEFAULT_URL"] {
            command.env_remove(name);
        }
    }

    fn run(&self, who: &str, line: &str) -> Output {
        self.command(who, line).output().unwrap()
    }

    /// A file with these words, which only its owner can read.
    pub(super) fn secret(&self, name: &str, words: &str) {
        let file = self.file(name);
        std::fs::write(&file, format!("{words}\n")).unwrap();
        std::fs::set_permissions(file, Permissions::from_mode(0o600)).unwrap();
    }

    /// A command that must succeed: what it prints.
    pub(super) fn good(&self, who: &str, line: &str) -> Value {
        let output = self.run(who, line);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "--state {who} {line}: {complaint}");
        value(&output)
    }

    /// A command again and again, until what it prints is so.
    pub(super) fn until(&self, who: &str, line: &str, done: impl Fn(&Value) -> bool) -> Value {
        value(&self.run_until(who, line, done))
    }

    fn run_until(&self, who: &str, line: &str, done: impl Fn(&Value) -> bool) -> Output {
        let begun = Instant::now();
        loop {
            let output = self.run(who, line);
            let told = value(&output);
            if done(&told) {
                return output;
            }
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert!(begun.elapsed() < LIMIT, "--state {who} {line}: {told} {complaint}");
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits until these are in one view that stands, and nobody else is.
    pub(super) fn share(&self, names: &[&str]) {
        let begun = Instant::now();
        loop {
            let all: Vec<Value> = names.iter().map(|name| value(&self.run(name, "status"))).collect();
            if all.iter().all(|told| is_whole(told, names.len()) && told["epoch"] == all[0]["epoch"]) {
                return;
            }
            assert!(begun.elapsed() < LIMIT, "{names:?} are not in one view: {all:?}");
            std::thread::sleep(PAUSE);
        }
    }

    /// A command whose output is noted: what it prints.
    pub(super) fn note(&mut self, who: &str, case: &str, line: &str) -> Value {
        let output = self.run(who, line);
        self.keep(who, case, line, &output);
        value(&output)
    }

    /// The same when what it prints is so: on a busy machine a view may just be another one.
    pub(super) fn note_when(
        &mut self,
        who: &str,
        case: &str,
        line: &str,
        done: impl Fn(&Value) -> bool,
    ) -> Value {
        let output = self.run_until(who, line, done);
        self.keep(who, case, line, &output);
        value(&output)
    }

    /// A command that waits for something, while other commands run.
    pub(super) fn begin(&self, who: &str, line: &str) -> Child {
        let mut command = self.command(who, line);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The end of what was begun, noted.
    pub(super) fn end(&mut self, who: &str, case: &str, line: &str, child: Child) -> Value {
        let output = child.wait_with_output().unwrap();
        self.keep(who, case, line, &output);
        value(&output)
    }

    /// The last that a program said of which it depends on the time how often it says something.
    pub(super) fn note_last(&mut self, line: &str, (case, program): Told<'_>) {
        let place = self.place.path().display().to_string();
        let mask = Mask { place: &place, line };
        let last = mask.value(program.said().last().expect("it says something"));
        let told = json!({
            "case": case, "line": mask.text(&program.line), "exit": program.code, "last": last,
        });
        self.notes.push(Note { line: line.to_owned(), told });
    }

    fn keep(&mut self, who: &str, case: &str, line: &str, output: &Output) {
        let place = self.place.path().display().to_string();
        let mask = Mask { place: &place, line };
        let told = json!({
            "case": case,
            "line": mask.text(&format!("--state {who} {line}")),
            "exit": output.status.code(),
            "stdout": lines(&output.stdout, &mask),
            "stderr": lines(&output.stderr, &mask),
        });
        self.notes.push(Note { line: line.to_owned(), told });
    }

    /// Starts a program that goes on, and is told things on its standard input.
    pub(super) fn start(&self, who: &str, line: &str) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
        command.args(["--json", "--state", who]).args(words(line));
        self.at_home(&mut command);
        let complaints = self.file(&format!("{who}.log"));
        let log = OpenOptions::new().create(true).append(true).open(&complaints).unwrap();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let said = Arc::new(Mutex::new(Vec::new()));
        let (out, to) = (BufReader::new(child.stdout.take().unwrap()), Arc::clone(&said));
        let reader = std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or(Value::String(line));
                to.lock().unwrap().push(value);
            }
        });
        Running {
            line: format!("--state {who} {line}"),
            child,
            said,
            reader: Some(reader),
            code: None,
            complaints,
        }
    }

    /// A member that runs, and where it listens.
    pub(super) fn member(&self, who: &str, line: &str) -> (Running, String) {
        let running = self.start(who, &format!("{line} --listen 127.0.0.1:0 --while-stdin"));
        let ready = running.says(|event| event["event"] == "ready");
        (running, ready["locator"].as_str().unwrap().to_owned())
    }

    /// What programs said that went on, under the name of their command, in words of `others`, too.
    pub(super) fn note_events(&mut self, line: &str, programs: &[Told<'_>], others: &[Told<'_>]) {
        let events = |all: &[Told<'_>]| all.iter().flat_map(|(_, one)| one.said()).collect::<Vec<_>>();
        let own = events(programs);
        let kinds = kinds(&own, &[own.clone(), events(others)].concat());
        let ends = programs.iter().map(|(case, one)| json!({ "case": case, "exit": one.code }));
        let told = json!({ "events": kinds, "ends": ends.collect::<Vec<_>>() });
        self.notes.push(Note { line: line.to_owned(), told });
    }

    /// What else was seen of a command.
    pub(super) fn note_list(&mut self, line: &str, case: &str, told: Vec<String>) {
        self.notes.push(Note { line: line.to_owned(), told: json!({ "case": case, "told": told }) });
    }
}

/// A program that goes on; it is ended when it is dropped.
pub(super) struct Running {
    line: String,
    child: Child,
    said: Arc<Mutex<Vec<Value>>>,
    reader: Option<JoinHandle<()>>,
    /// How it ended.
    code: Option<i32>,
    complaints: PathBuf,
}

impl Running {
    /// All that it has said so far.
    pub(super) fn said(&self) -> Vec<Value> {
        self.said.lock().unwrap().clone()
    }

    /// Waits until it has said something that is so.
    pub(super) fn says(&self, is: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            if let Some(found) = self.said().into_iter().find(&is) {
                return found;
            }
            assert!(begun.elapsed() < LIMIT, "{} does not say it: {}", self.line, self.complaints());
            std::thread::sleep(PAUSE);
        }
    }

    fn complaints(&self) -> String {
        std::fs::read_to_string(&self.complaints).unwrap_or_default()
    }

    pub(super) fn types(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Waits for its end, and until all that it said is read.
    pub(super) fn ends(&mut self) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < LIMIT, "{} does not end: {}", self.line, self.complaints());
            std::thread::sleep(PAUSE);
        };
        self.reader.take().into_iter().for_each(|reader| reader.join().unwrap());
        self.code = status.code();
    }

    /// Ctrl-C, and its end.
    pub(super) fn stops(&mut self) {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success(), "kill -INT {}", self.line);
        self.ends();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended already is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a status, or a roster, has so many members in one view that stands.
pub(super) fn is_whole(told: &Value, count: usize) -> bool {
    let people = told.as_array().or(told["people"].as_array());
    let here = people.into_iter().flatten().filter(|one| one["state"] == "present").count();
    here == count && (told.is_array() || told["activity"] == "steady")
}

/// The words of a line as a shell splits it.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    let words = parts.flat_map(|(place, part)| match place % 2 {
        1 => vec![part.to_owned()],
        _ => part.split_whitespace().map(str::to_owned).collect(),
    });
    words.collect()
}

/// The last JSON value that was printed.
fn value(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default()
}

/// The lines of an output: values where they are, and text, where not.
fn lines(bytes: &[u8], mask: &Mask<'_>) -> Vec<Value> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let all: Option<Vec<Value>> = text.lines().map(|line| serde_json::from_str(line).ok()).collect();
    match all {
        Some(values) => values.iter().map(|value| mask.value(value)).collect(),
        None => {
            let text = mask.text(text.trim_end());
            let lines = text.lines().filter(|line| !line.starts_with(PROGRESS));
            lines.map(|line| line.into()).collect()
        }
    }
}
