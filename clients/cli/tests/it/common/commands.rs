//! All commands of the program, by its own help.

use super::program::code;
use std::collections::BTreeMap;
use std::process::Command;

/// Another program answers to what follows it.
const BENCH: &str = "bench";

/// A command that has none below it, and what it takes.
pub(crate) struct Taken {
    pub(crate) command: String,
    /// Options with a value.
    pub(crate) options: Vec<String>,
    /// Whether it takes words that are no options.
    pub(crate) arguments: bool,
}

/// The help of a command.
pub(crate) fn help(command: &str) -> String {
    let words = command.split_whitespace();
    let output = Command::new(env!("CARGO_BIN_EXE_folkmoot")).args(words).arg("--help").output().unwrap();
    assert_eq!(code(&output), 0, "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that have none below them, each with its help; that of the bench is empty.
pub(crate) fn helps() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    walk("", &mut all);
    all
}

fn walk(above: &str, all: &mut BTreeMap<String, String>) {
    if above == BENCH {
        all.insert(above.to_owned(), String::new());
        return;
    }
    let text = help(above);
    assert!(
        text.contains("Example:\n  folkmoot ") || text.contains("Examples:\n  folkmoot "),
        "{above}: {text}"
    );
    let below: Vec<String> = section(&text, "Commands:")
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect();
    for name in &below {
        walk(format!("{above} {name}").trim_start(), all);
    }
    if below.is_empty() {
        all.insert(above.to_owned(), text);
    }
}

fn section<'a>(text: &'a str, head: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().skip_while(move |line| *line != head).skip(1).take_while(|line| !line.is_empty())
}

/// What each command takes.
pub(crate) fn all() -> Vec<Taken> {
    let helps = helps().into_iter().filter(|(command, _)| command != BENCH);
    helps
        .map(|(command, text)| {
            let option = |line: &str| {
                let (_, rest) = line.split_once("--")?;
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-')?;
                let (name, value) = rest.split_at(end);
                (value.starts_with(" <") && line.trim_start().starts_with('-')).then(|| format!("--{name}"))
            };
            Taken {
                options: text.lines().filter_map(option).collect(),
                arguments: text.contains("\nArguments:\n"),
                command,
            }
        })
        .collect()
}
