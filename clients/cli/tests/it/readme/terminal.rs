//! A terminal of the play: a shell's line in it, who answers what it asks, and all that it showed.

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longest wait for anything.
pub(super) const LIMIT: Duration = Duration::from_secs(60);
/// How often it is looked.
pub(super) const PAUSE: Duration = Duration::from_millis(20);
/// How long the end of a program may be ahead of the end of what it showed.
const LATE: Duration = Duration::from_secs(1);
const WORD: &str = "correct horse battery staple";
/// What is asked, and what is typed then.
const ANSWERS: [(&str, &str); 4] = [
    ("New passphrase: ", WORD),
    ("The same passphrase again: ", WORD),
    ("Passphrase of ", WORD),
    ("Type yes or no: ", "yes"),
];

pub(super) struct Terminal {
    pub(super) line: String,
    child: Child,
    keys: File,
    shown: Arc<Mutex<Vec<u8>>>,
    is_over: Arc<AtomicBool>,
    /// How much was shown when it was answered last.
    answered: usize,
}

impl Terminal {
    /// Opens one in which this command runs, which begins a session there.
    pub(super) fn open(line: &str, mut command: Command) -> Self {
        // Nobody else has our end: if this process is killed, those in the terminal hang up.
        let keys =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).map(File::from).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let name = ptsname(&keys, Vec::new()).unwrap().into_string().unwrap();
        let theirs = || File::options().read(true).write(true).open(&name).unwrap();
        command.stdin(theirs()).stdout(theirs()).stderr(theirs());
        let child = command.spawn().unwrap();
        // So that the reading ends when the program does: nobody else has the terminal open then.
        drop(command);
        let (shown, is_over) = (Arc::default(), Arc::default());
        let terminal = Self { line: line.to_owned(), child, keys, shown, is_over, answered: 0 };
        terminal.listen();
        terminal
    }

    fn listen(&self) {
        let (shown, is_over) = (Arc::clone(&self.shown), Arc::clone(&self.is_over));
        let mut from = self.keys.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut some = [0; 4_096];
            while let Ok(length @ 1..) = from.read(&mut some) {
                shown.lock().unwrap().extend_from_slice(&some[..length]);
            }
            is_over.store(true, Ordering::Release);
        });
    }

    /// The lines that stand there.
    pub(super) fn shown(&self) -> Vec<String> {
        let bytes = self.shown.lock().unwrap().clone();
        seen(&String::from_utf8_lossy(&bytes))
    }

    pub(super) fn types(&mut self, text: &str) {
        self.keys.write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    /// Types the answer if something is asked.
    pub(super) fn answer(&mut self) {
        let bytes = self.shown.lock().unwrap().clone();
        let asked = String::from_utf8_lossy(&bytes[self.answered..]).into_owned();
        let last = asked.rsplit(['\n', '\r']).next().unwrap_or_default();
        let known = ANSWERS.iter().find(|(question, _)| last.contains(question) && last.ends_with(": "));
        if let Some((_, answer)) = known {
            self.answered = bytes.len();
            self.types(answer);
        }
    }

    /// Whether the program goes on.
    pub(super) fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub(super) fn signal(&self, name: &str) {
        let group = format!("-{}", self.child.id());
        let sent = Command::new("kill").args([&format!("-{name}"), "--", &group]).status().unwrap();
        assert!(sent.success(), "kill -{name} {}", self.line);
    }

    /// Waits for its end: its exit code.
    pub(super) fn ends(&mut self) -> i32 {
        let begun = Instant::now();
        let status = loop {
            self.answer();
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(begun.elapsed() < LIMIT, "{} does not end: {:#?}", self.line, self.shown()),
            }
            std::thread::sleep(PAUSE);
        };
        let ended = Instant::now();
        while !self.is_over.load(Ordering::Acquire) && ended.elapsed() < LATE {
            std::thread::sleep(PAUSE);
        }
        status.code().unwrap_or(-1)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            let group = format!("-{}", self.child.id());
            // One that has ended already is what is wanted.
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        }
        let _ = self.child.wait();
    }
}

/// What a person sees of what was sent to the terminal: no signs that steer it, and of a line that
/// was written anew its last form.
fn seen(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.replace("\r\n", "\n").split('\n') {
        let plain = without_steering(line);
        let last = plain.rsplit('\r').find(|part| !part.is_empty()).unwrap_or_default();
        lines.push(last.trim_end().to_owned());
    }
    // A prompt may stand at the end.
    while lines.last().is_some_and(|line| line.is_empty() || line == ">") {
        lines.pop();
    }
    lines
}

fn without_steering(line: &str) -> String {
    let (mut plain, mut signs) = (String::new(), line.chars());
    while let Some(sign) = signs.next() {
        if sign != '\u{1b}' {
            plain.push(sign);
        } else if signs.next() == Some('[') {
            // `K` wipes the line, at whose beginning it is.
            if signs.by_ref().find(|sign| ('@'..='~').contains(sign)) == Some('K') {
                plain.clear();
            }
        }
    }
    plain
}

#[test]
fn a_terminal_shows_its_lines_without_what_steers_it() {
    assert_eq!(seen("one\r\n\u{1b}[1mtwo\u{1b}[0m  \r\n"), ["one", "two"]);
    assert_eq!(seen("10 %\r\u{1b}[2K\r\nend"), ["", "end"]);
    assert_eq!(seen("10 %\r20 %\r\n\r\nend\r"), ["20 %", "", "end"]);
}
