//! A person at a terminal: what is asked, and that nothing of what is typed is shown.

use super::{draft, key, locked, opens, phrase};
use crate::common::place::Place;
use crate::common::program::{good, program};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

/// A program whose standard input is a terminal, and everything that the terminal and the program
/// have shown.
struct Typist {
    ours: File,
    child: Child,
    complaints: std::process::ChildStderr,
    shown: Vec<u8>,
}

impl Typist {
    fn new(state: &Path, line: &[&str]) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
        let theirs = File::options().read(true).write(true).open(name).unwrap();
        let mut child = program(state)
            .args(line)
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let complaints = child.stderr.take().unwrap();
        Self { ours: File::from(ours), child, complaints, shown: Vec::new() }
    }

    /// Waits for a question.
    fn asks(&mut self, question: &str) {
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

    fn types(&mut self, keys: &str) {
        self.ours.write_all(keys.as_bytes()).unwrap();
    }

    /// Its end: exit code, and all that was shown.
    fn ends(mut self) -> (i32, String) {
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

#[test]
fn id_84_a_new_passphrase_is_asked_for_twice_and_not_shown() {
    let place = Place::new("typed");
    let anna = place.path().join("anna");
    let mut new = Typist::new(&anna, &["identity", "new", "anna"]);
    new.asks("New passphrase");
    new.types("correct hors\n");
    new.asks("again");
    new.types("correct horse\n");
    let (code, shown) = new.ends();
    assert!(code == 2 && shown.contains("differ"), "{shown}");
    assert!(!shown.contains("hors") && !anna.join("identity.key").exists(), "{shown}");
    let mut new = Typist::new(&anna, &["identity", "new", "anna"]);
    new.asks("New passphrase");
    new.types("wrong\u{15}correct hosr\u{7f}\u{7f}rse\n");
    new.asks("again");
    new.types("correct horse\n");
    let (code, shown) = new.ends();
    assert!(code == 0 && !shown.contains("hors"), "{shown}");
    draft(&place, &anna);
    assert!(opens(&place, &anna, Some("correct horse")));
    for (keys, word) in [("\n", "empty"), ("half\u{3}", "nothing was done"), ("\u{4}", "nothing was done")] {
        let mut given_up = Typist::new(&place.path().join("ben"), &["identity", "new", "ben"]);
        given_up.asks("New passphrase");
        given_up.types(keys);
        let (code, shown) = given_up.ends();
        assert!(code != 0 && shown.contains(word), "{keys:?} {shown}");
        assert!(!place.path().join("ben").exists());
    }
}

#[test]
fn id_84_whoever_mistypes_is_asked_again_three_times_in_all() {
    let place = Place::new("again");
    let anna = locked(&place, "anna", "correct horse");
    draft(&place, &anna);
    let text = place.path().join("charter.toml");
    let line = ["charter", "sign", text.to_str().unwrap()];
    let mut signs = Typist::new(&anna, &line);
    for typed in ["battery\n", "staple\n", "correct horse\n"] {
        signs.asks("Passphrase of");
        signs.types(typed);
    }
    let (code, shown) = signs.ends();
    assert_eq!(code, 0, "{shown}");
    let mut signs = Typist::new(&anna, &line);
    for _ in 0..3 {
        signs.asks("Passphrase of");
        signs.types("battery\n");
    }
    let (code, shown) = signs.ends();
    assert!(code == 3 && shown.contains("folkmoot expel"), "{shown}");
    assert!(!shown.contains("battery"), "{shown}");
    // Nobody is asked where a file was named, nor where the key is open.
    let wrong = phrase(&place, "battery");
    let (code, shown) = Typist::new(&anna, &[&line[..], &["--passphrase-file", &wrong]].concat()).ends();
    assert!(code == 3 && !shown.contains("Passphrase of"), "{shown}");
    good(
        &anna,
        &["identity", "passphrase", "--passphrase-file", &phrase(&place, "correct horse"), "--no-passphrase"],
    );
    assert!(key(&anna).starts_with("-----BEGIN PRIVATE KEY-----"));
    let (code, shown) = Typist::new(&anna, &line).ends();
    assert_eq!(code, 0, "{shown}");
}
