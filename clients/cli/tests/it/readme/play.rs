//! Somebody types what README.md says, and looks at what comes.

use super::page::Page;
use crate::common::place::Place;
use crate::common::spaces::Spaces;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longest wait for anything.
const LIMIT: Duration = Duration::from_secs(90);
/// What stands for the build, which this test is part of.
const BUILD: &str = "cargo build --release";
const PATH: &str = "export PATH=\"$PWD/target/release:$PATH\"";
const BEGIN: &str = "mkdir -p ~/moot && cd ~/moot";

/// A terminal in which a command runs, and all that was printed there.
struct Terminal {
    line: String,
    child: Child,
    keys: ChildStdin,
    shown: Arc<Mutex<String>>,
}

impl Terminal {
    fn shown(&self) -> String {
        self.shown.lock().unwrap().clone()
    }

    fn types(&mut self, line: &str) {
        writeln!(self.keys, "{line}").unwrap();
    }

    /// Waits until all of these stand in one line.
    fn until(&self, parts: &[&str]) {
        let begun = Instant::now();
        while !self.shown().lines().any(|line| parts.iter().all(|part| line.contains(part))) {
            assert!(begun.elapsed() < LIMIT, "{}: {parts:?} do not come:\n{}", self.line, self.shown());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits for its end: its exit code.
    fn ends(&mut self) -> i32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap();
            }
            assert!(begun.elapsed() < LIMIT, "{} does not end:\n{}", self.line, self.shown());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // One that has ended already is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) struct Play {
    // Ended before the folder and the network go.
    terminals: BTreeMap<String, Terminal>,
    home: PathBuf,
    page: Page,
    adapt: Box<dyn Fn(&str) -> String>,
    spaces: Option<Spaces>,
    _place: Place,
}

impl Play {
    pub(super) fn new(place: Place, adapt: Box<dyn Fn(&str) -> String>, spaces: Option<Spaces>) -> Self {
        let home = place.path().join("home");
        std::fs::create_dir(&home).unwrap();
        Self { terminals: BTreeMap::new(), home, page: Page::read(), adapt, spaces, _place: place }
    }

    /// From the first line to the last.
    pub(super) fn through(mut self) {
        let mut blocks = std::mem::take(&mut self.page.blocks).into_iter();
        let mut next = || blocks.next().expect("README.md has another block of commands");
        let begin = next();
        assert_eq!(begin, [BUILD, PATH, BEGIN], "how README.md begins; this test stands for the build");
        self.does(BEGIN, 0);
        self.all(&next());
        self.all(&next());
        self.chats(&next());
        self.join(&next());
        self.votes(&next());
        self.look_around(&next());
        self.come_back();
        assert!(blocks.next().is_none(), "README.md has more commands than are played here");
    }

    fn all(&self, lines: &[String]) {
        lines.iter().for_each(|line| drop(self.does(line, 0)));
    }

    /// Three terminals, in each of which somebody talks.
    fn chats(&mut self, lines: &[String]) {
        assert_eq!(lines.len(), 3);
        lines.iter().for_each(|line| self.opens(line));
        self.share_a_key();
        for (name, words) in [("anna", "good morning"), ("ben", "and to you")] {
            self.terminal(name).types(words);
            let others = self.terminals.iter().filter(|(other, _)| *other != name);
            others.for_each(|(_, terminal)| terminal.until(&[&format!("{name}:"), words]));
        }
    }

    /// Each says what README.md says that it says.
    fn share_a_key(&self) {
        let [names, key] = self.page.quoted("in some order").try_into().unwrap();
        let names: Vec<&str> = names.split(", ").collect();
        assert_eq!((names.as_slice(), key.as_str()), (&["anna", "ben", "cleo"][..], "share key ..."));
        let said: Vec<&str> = names.iter().copied().chain(key.strip_suffix(" ...")).collect();
        self.terminals.values().for_each(|terminal| terminal.until(&said));
    }

    fn join(&mut self, lines: &[String]) {
        let [identity, join] = lines else { panic!("{lines:?}") };
        self.does(identity, 0);
        self.opens(join);
        for voter in ["anna", "ben"] {
            self.terminals[voter].until(&["dora", "/yes dora"]);
        }
        assert!(
            self.page.prose.contains("Each of them types `/yes dora`"),
            "what they are told is what README says"
        );
    }

    fn votes(&mut self, lines: &[String]) {
        assert_eq!(lines.len(), 2);
        self.all(lines);
        let four = ["anna", "ben", "cleo", "dora", "share key"];
        self.terminals.values().for_each(|terminal| terminal.until(&four));
    }

    fn look_around(&mut self, lines: &[String]) {
        let [status, why, expel, approve, again] = lines else { panic!("{lines:?}") };
        let told = said(&self.does(status, 0));
        for name in ["anna", "ben", "cleo", "dora"] {
            let line = told.lines().find(|line| line.starts_with(name) && line.contains("present"));
            assert!(line.is_some(), "{name}: {told}");
        }
        assert!(!told.contains("0.0.0.0"), "no address that nobody can use: {told}");
        assert!(said(&self.does(why, 0)).contains("in the view"));
        self.does(expel, 0);
        self.terminals["anna"].until(&["expel dora"]);
        self.does(approve, 0);
        assert_eq!(self.terminal("dora").ends(), 7, "{}", self.terminals["dora"].shown());
        let gone = self.until_code(again, 1);
        assert!(gone.contains("expelled"), "{gone}");
    }

    /// `/quit`, and the same line again.
    fn come_back(&mut self) {
        assert!(self.page.prose.contains("`/quit` ends a chat"));
        self.terminals.remove("dora");
        let mut anna = self.terminals.remove("anna").unwrap();
        anna.types("/quit");
        assert_eq!(anna.ends(), 0, "{}", anna.shown());
        let line = anna.line.clone();
        self.opens(&line);
        self.share_a_key();
        for name in ["anna", "ben", "cleo"] {
            self.terminal(name).types("/quit");
            assert_eq!(self.terminal(name).ends(), 0, "{}", self.terminals[name].shown());
        }
    }

    fn terminal(&mut self, name: &str) -> &mut Terminal {
        self.terminals.get_mut(name).unwrap()
    }

    /// A shell on the machine of whoever types this line, in the folder where README.md is by now.
    fn shell(&self, line: &str) -> Command {
        let who = line.split("--state ").nth(1).and_then(|rest| rest.split(' ').next());
        let mut words: Vec<String> = match &self.spaces {
            Some(spaces) => spaces.enter(who.unwrap_or("anna")),
            None => Vec::new(),
        };
        words.extend(["sh".into(), "-c".into(), (self.adapt)(line)]);
        let mut command = Command::new(&words[0]);
        let own = Path::new(env!("CARGO_BIN_EXE_folkmoot")).parent().unwrap();
        let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default());
        let moot = self.home.join("moot");
        command.args(&words[1..]).current_dir(if moot.exists() { moot } else { self.home.clone() });
        for name in ["FOLKMOOT_STATE", "XDG_STATE_HOME", "FOLKMOOT_LOG"] {
            command.env_remove(name);
        }
        command.env("HOME", &self.home).env("PATH", path);
        command
    }

    /// A command that ends by itself, with this exit code.
    fn does(&self, line: &str, code: i32) -> Output {
        let output = self.shell(line).stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{line}: {told}{}", said(&output));
        output
    }

    /// The same again and again, until it ends so.
    fn until_code(&self, line: &str, code: i32) -> String {
        let begun = Instant::now();
        loop {
            let output = self.shell(line).stdin(Stdio::null()).output().unwrap();
            if output.status.code() == Some(code) {
                return said(&output);
            }
            assert!(begun.elapsed() < LIMIT, "{line}: {}", said(&output));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// A terminal of its own for this line.
    fn opens(&mut self, line: &str) {
        let name = line.split("--state ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().to_owned();
        let mut command = self.shell(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let shown = Arc::new(Mutex::new(String::new()));
        keep(child.stdout.take().unwrap(), &shown);
        keep(child.stderr.take().unwrap(), &shown);
        let keys = child.stdin.take().unwrap();
        self.terminals.insert(name, Terminal { line: line.to_owned(), child, keys, shown });
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn keep(from: impl Read + Send + 'static, shown: &Arc<Mutex<String>>) {
    let shown = Arc::clone(shown);
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let mut shown = shown.lock().unwrap();
            shown.push_str(&line);
            shown.push('\n');
        }
    });
}
