//! The outsider: the program, run on the charter and a file.

use super::world::{STORY, id};
use crate::common::place::Place;
use crate::common::program::{call, code, complaint};
use folkmoot_base::EntryId;
use serde_json::{Value, json};
use std::process::{Command, Output};

/// Has the file judged by the story's charter.
pub(crate) fn verify(name: &str, file: &[u8], heads: &[EntryId]) -> Output {
    verify_by(name, &STORY.charter, file, heads)
}

pub(crate) fn verify_by(name: &str, charter: &[u8], file: &[u8], heads: &[EntryId]) -> Output {
    let place = Place::new(&format!("verify-{name}"));
    let path = |end: &str| place.path().join(end).display().to_string();
    let (charter_path, file_path) = (path("charter.cms"), path("transcript.moot"));
    std::fs::write(&charter_path, charter).unwrap();
    std::fs::write(&file_path, file).unwrap();
    let heads: Vec<String> = heads.iter().map(EntryId::hex).collect();
    let mut line = vec!["verify", &charter_path, &file_path];
    line.extend(heads.iter().flat_map(|head| ["--head", head.as_str()]));
    call(&place.path().join("nobody"), &line)
}

/// It stands; what is told of it.
pub(crate) fn stands(name: &str, file: &[u8], heads: &[EntryId]) -> Value {
    let output = verify(name, file, heads);
    assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["stands"], true);
    told
}

/// It does not stand, by this rule; what is told of it.
pub(crate) fn refused(name: &str, file: &[u8], heads: &[EntryId], rule: &str) -> Value {
    let output = verify(name, file, heads);
    assert_eq!(code(&output), 1, "{name}: {}", String::from_utf8_lossy(&output.stdout));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = complaint(&output);
    assert_eq!((&told["stands"], &told["rule"]), (&json!(false), &json!(rule)), "{text}");
    assert!(text.contains(&format!("is not valid ({rule})")), "{text}");
    assert!(!text.contains("Wire") && !text.contains("Peer"), "words, not names of errors: {text}");
    told
}

/// Refused, and no signature shows whose fault it is. `entry`: which, from 1; none if it is the
/// whole file.
pub(crate) fn refused_at(name: &str, file: &[u8], rule: &str, entry: Option<usize>) {
    let told = refused(name, file, &[], rule);
    let (blame, blamed) = (&told["blame"], &told["blamed"]);
    assert_eq!((&told["entry"], blame, blamed), (&json!(entry), &json!("anyone"), &json!([])), "{told}");
}

/// Refused for the last entry, and its author is named, who signed it.
pub(crate) fn refused_last(name: &str, file: &[u8], rule: &str, author: usize) {
    refused_author(name, file, rule, STORY.entries.len() + 1, author);
}

pub(crate) fn refused_author(name: &str, file: &[u8], rule: &str, entry: usize, author: usize) {
    let told = refused(name, file, &[], rule);
    let want = (&json!(entry), &json!("author"), &json!([id(author).hex()]));
    assert_eq!((&told["entry"], &told["blame"], &told["blamed"]), want, "{told}");
}

/// A folder where the program is run as a person would, on plain text.
pub(crate) struct Desk(Place);

impl Desk {
    pub(crate) fn new(name: &str) -> Self {
        Self(Place::new(&format!("verify-{name}")))
    }

    /// Writes a file there; its path.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    /// Exit code, standard output, standard error.
    pub(crate) fn run(&self, line: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
        command.current_dir(self.0.path()).env("FOLKMOOT_STATE", self.0.path().join("nobody")).args(line);
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (code(&output), text(&output.stdout), text(&output.stderr))
    }
}
