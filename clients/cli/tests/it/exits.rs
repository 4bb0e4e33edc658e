//! The table of exit codes in docs/cli.md, over every command: in an empty folder, and with words
//! that it does not take. Other tests have the codes that need a group.

use crate::common::commands;
use crate::common::place::Place;
use crate::common::program::{code, program};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

/// Every command that does something, and how it ends in an empty folder.
const ENDS: [(&str, i32); 58] = [
    // Done.
    ("identity new anna --no-passphrase", 0),
    ("authority new --group x --no-passphrase", 0),
    ("completions bash", 0),
    ("man", 0),
    ("lcm root new root", 0),
    // Nobody runs.
    ("send hello", 4),
    ("receive", 4),
    ("vote list", 4),
    ("vote approve dora", 4),
    ("vote reject dora", 4),
    ("renew", 4),
    ("withdraw", 4),
    ("rules", 4),
    ("leave", 4),
    ("expel dora", 4),
    ("voters anna", 4),
    ("resolve 17.36c92395e61b02aef6df28", 4),
    ("retime", 4),
    ("letters", 4),
    ("answer erik yes", 4),
    ("roster", 4),
    ("status", 4),
    ("why dora", 4),
    ("proof", 4),
    ("invite", 4),
    ("charter change threshold 2", 4),
    ("authority status", 4),
    // A file or a setting is missing.
    ("identity import --key nowhere --name anna --no-passphrase", 3),
    ("charter new x --founder nowhere", 3),
    ("identity show", 3),
    ("identity passphrase --no-passphrase", 3),
    ("identity rotate", 3),
    ("charter sign nowhere", 3),
    ("charter join nowhere", 3),
    ("charter show nowhere", 3),
    ("charter verify nowhere", 3),
    ("member --listen 127.0.0.1:0", 3),
    ("chat --listen 127.0.0.1:0", 3),
    ("join nowhere", 3),
    ("csr submit nowhere", 3),
    ("csr fetch nowhere", 3),
    ("authority show", 3),
    ("authority certificate", 3),
    ("authority hand-over nowhere/office.key", 3),
    ("authority take-over nowhere", 3),
    ("authority take-log nowhere", 3),
    ("authority log", 3),
    ("authority run nowhere", 3),
    ("write nowhere hello", 3),
    ("verify nowhere", 3),
    ("export copy", 3),
    ("lcm play nowhere.log", 3),
    ("lcm gen nowhere.lcm --out types", 3),
    ("lcm certify --root nowhere --sender 7 --out papers", 3),
    ("lcm certificate show nowhere", 3),
    ("lcm exclude nowhere --root nowhere --out x", 3),
    ("lcm bridge --secured nowhere", 3),
    ("lcm passphrase nowhere", 3),
];
/// They run until they are told to stop, or for long: other tests run them.
const LONG: [&str; 5] = ["demo", "bench", "lcm spy", "lcm log", "lcm echo"];
/// Its answer depends on the machine.
const EITHER: &str = "doctor";

/// In the folder where all of them are: files are made there.
fn run(folder: &Path, line: &str) -> i32 {
    let mut command = program(folder);
    command.args(line.split_whitespace()).current_dir(folder.parent().unwrap());
    let output = command.stdin(Stdio::null()).output().unwrap();
    let code = code(&output);
    println!("{code} {line}: {}", String::from_utf8_lossy(&output.stderr).trim());
    if code != 0 && line != EITHER {
        // Programs read why.
        let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
        assert!(error["error"].is_string() && error["exit"].is_string(), "{line}: {error}");
    }
    code
}

#[test]
fn every_command_ends_by_the_table() {
    let all: BTreeSet<String> = commands::helps().into_keys().collect();
    let place = Place::new("exits");
    let named =
        |command: &str| ENDS.iter().any(|(line, _)| format!("{line} ").starts_with(&format!("{command} ")));
    for command in &all {
        assert!(
            named(command) || LONG.contains(&command.as_str()) || command == EITHER,
            "{command} is not in the table"
        );
    }
    for (number, (line, wanted)) in ENDS.iter().enumerate() {
        let folder = place.path().join(number.to_string());
        assert_eq!(run(&folder, line), *wanted, "{line}");
    }
    for command in all.iter().filter(|command| *command != "bench") {
        assert_eq!(run(&place.path().join("x"), &format!("{command} --no-such-option")), 2, "{command}");
    }
    assert!(matches!(run(&place.path().join("x"), EITHER), 0 | 1));
}
