//! The tables of docs/evidence/findings.md: each test that they name exists, and each command has a
//! row.

use crate::common::commands;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where tests are.
const FOLDERS: [&str; 3] = ["clients", "protocol", "host"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows under a heading, cell by cell.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let part = page.split(&format!("## {heading}\n")).nth(1).unwrap();
    let part = part.split("\n## ").next().unwrap();
    let rows = part.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// The names of functions that a cell has in backticks.
fn named(cell: &str) -> Vec<String> {
    let marked = cell.split('`').skip(1).step_by(2);
    marked.filter(|name| name.contains('_')).map(str::to_owned).collect()
}

fn tests(folder: &Path, all: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests(&path, all);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let parts = text.split("#[test]").chain(text.split("#[tokio::test")).skip(1);
            let name = |part: &str| {
                let (_, rest) = part.split_once("fn ")?;
                rest.split_once('(').map(|(name, _)| name.to_owned())
            };
            all.extend(parts.filter_map(name));
        }
    }
}

#[test]
fn each_finding_has_a_test_and_each_command_a_row() {
    let page = std::fs::read_to_string(root().join("docs/evidence/findings.md")).unwrap();
    let mut known = BTreeSet::new();
    FOLDERS.iter().for_each(|folder| tests(&root().join(folder), &mut known));
    let findings = rows(&page, "Findings");
    assert!(findings.len() > 20, "{findings:?}");
    for row in &findings {
        assert!(!named(&row[1]).is_empty(), "no test: {row:?}");
    }
    let shown = rows(&page, "Commands that show a person");
    for row in findings.iter().chain(&shown) {
        for name in named(&row[1]) {
            assert!(known.contains(&name), "there is no test {name}");
        }
    }
    let listed: BTreeSet<String> = shown.iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    let all: BTreeSet<String> = commands::helps().into_keys().collect();
    assert_eq!(listed.difference(&all).collect::<Vec<_>>(), Vec::<&String>::new(), "no such commands");
    assert_eq!(all.difference(&listed).collect::<Vec<_>>(), Vec::<&String>::new(), "commands without a row");
    for row in &shown {
        let says = ["nobody", "as `", "the founding text"].iter().any(|begin| row[1].starts_with(begin));
        assert!(says || !named(&row[1]).is_empty(), "{row:?}");
    }
}
