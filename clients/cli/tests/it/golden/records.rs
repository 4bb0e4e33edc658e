//! The records: one file for each command, compared with what was noted, or written anew.

use super::stage::Note;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

/// How many lines of a record stand around a difference.
const AROUND: usize = 3;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden/records")
}

/// What the records are now, by the names of their files.
pub(super) fn records(notes: Vec<Note>, commands: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for note in notes {
        all.entry(command(&note.line, commands)).or_default().push(note.told);
    }
    let file = |command: String| format!("{}.json", command.replace(' ', "-"));
    let text = |notes: Vec<Value>| serde_json::to_string_pretty(&Value::Array(notes)).unwrap() + "\n";
    all.into_iter().map(|(command, notes)| (file(command), text(notes))).collect()
}

/// Of which command a line is: the one with the most words.
fn command(line: &str, commands: &BTreeSet<String>) -> String {
    let fits = |command: &&String| format!("{line} ").starts_with(&format!("{command} "));
    let found = commands.iter().filter(fits).max_by_key(|command| command.len());
    found.unwrap_or_else(|| panic!("{line:?} is of no command")).clone()
}

/// Writes the records, and removes those of commands that there are no more.
pub(super) fn write(now: &BTreeMap<String, String>) {
    std::fs::create_dir_all(folder()).unwrap();
    for name in kept().keys().filter(|name| !now.contains_key(*name)) {
        std::fs::remove_file(folder().join(name)).unwrap();
    }
    now.iter().for_each(|(name, text)| std::fs::write(folder().join(name), text).unwrap());
}

fn kept() -> BTreeMap<String, String> {
    let files = std::fs::read_dir(folder()).into_iter().flatten().map(|file| file.unwrap().path());
    let files = files.map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).unwrap())
    });
    files.collect()
}

/// Where the records and what is now differ, for people.
pub(super) fn differences(now: &BTreeMap<String, String>) -> String {
    let (kept, mut told) = (kept(), String::new());
    let names: BTreeSet<&String> = kept.keys().chain(now.keys()).collect();
    for name in names {
        let [old, new] = [&kept, now].map(|all| all.get(name).map_or("", String::as_str));
        if old != new {
            writeln!(told, "folkmoot {}  (records/{name})", name.trim_end_matches(".json")).unwrap();
            told.push_str(&difference(old, new));
        }
    }
    told
}

/// The lines that differ, with `-` as the record has them and `+` as they are now.
fn difference(old: &str, new: &str) -> String {
    let [old, new]: [Vec<&str>; 2] = [old, new].map(|text| text.lines().collect());
    let longest = common(&old, &new);
    let (mut one, mut other, mut all) = (0, 0, Vec::new());
    while one < old.len() || other < new.len() {
        if one < old.len() && other < new.len() && old[one] == new[other] {
            all.push((' ', old[one]));
            (one, other) = (one + 1, other + 1);
        } else if one < old.len()
            && (other == new.len() || longest[one + 1][other] >= longest[one][other + 1])
        {
            all.push(('-', old[one]));
            one += 1;
        } else {
            all.push(('+', new[other]));
            other += 1;
        }
    }
    let near = |place: usize| {
        let from = place.saturating_sub(AROUND);
        all[from..all.len().min(place + AROUND + 1)].iter().any(|(sign, _)| *sign != ' ')
    };
    let (mut told, mut gap) = (String::new(), false);
    for (place, (sign, line)) in all.iter().enumerate() {
        if near(place) {
            writeln!(told, "  {sign} {line}").unwrap();
        } else if !gap {
            told.push_str("    ...\n");
        }
        gap = !near(place);
    }
    told
}

/// How many lines the rests of both have in common, from each place on.
fn common(old: &[&str], new: &[&str]) -> Vec<Vec<usize>> {
    let mut longest = vec![vec![0; new.len() + 1]; old.len() + 1];
    for one in (0..old.len()).rev() {
        for other in (0..new.len()).rev() {
            longest[one][other] = if old[one] == new[other] {
                longest[one + 1][other + 1] + 1
            } else {
                longest[one + 1][other].max(longest[one][other + 1])
            };
        }
    }
    longest
}

#[test]
fn a_difference_shows_the_lines_that_changed() {
    let old: String = (0..20).map(|number| format!("{number}\n")).collect();
    let new = old.replace("10\n", "ten\n");
    let wanted = "    ...\n    7\n    8\n    9\n  - 10\n  + ten\n    11\n    12\n    13\n    ...\n";
    assert_eq!(difference(&old, &new), wanted);
    assert_eq!(difference("", "a\n"), "  + a\n");
    assert_eq!(difference("a\n", "a\n").trim(), "...");
}
