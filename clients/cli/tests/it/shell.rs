//! What the program gives a shell and the person at it: completions, manual pages, the version, the
//! way to the bench, progress.

use crate::common::place::Place;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// All that a person may type first.
const COMMANDS: [&str; 30] = [
    "demo",
    "identity",
    "charter",
    "member",
    "join",
    "chat",
    "send",
    "receive",
    "vote",
    "renew",
    "csr",
    "authority",
    "expel",
    "voters",
    "write",
    "letters",
    "answer",
    "roster",
    "status",
    "why",
    "proof",
    "verify",
    "export",
    "lcm",
    "bench",
    "completions",
    "man",
    "doctor",
    "help",
    "daemon",
];

fn run(line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_folkmoot")).args(line.split(' ')).stdin(Stdio::null()).output().unwrap()
}

fn good(line: &str) -> String {
    let output = run(line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let text = good(&format!("completions {shell}"));
        let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
        for command in COMMANDS {
            assert!(words.contains(&command), "{shell}: {command}");
        }
    }
    let mut bash =
        Command::new("bash").arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(good("completions bash").as_bytes()).unwrap();
    let output = bash.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let place = Place::new("man");
    let page = good("man");
    assert!(page.contains(".TH folkmoot 1") && page.contains("folkmoot\\-charter(1)"), "{page}");
    let folder = place.path().join("pages");
    good(&format!("man --out {}", folder.display()));
    let named = |name: &&str| !["help", "daemon"].contains(name);
    let within = ["charter-new", "vote-approve", "authority-take-over", "csr-submit"];
    for command in COMMANDS.into_iter().filter(named).chain(within) {
        let page = std::fs::read_to_string(folder.join(format!("folkmoot-{command}.1"))).unwrap();
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{command}: {page}");
    }
    assert!(folder.join("folkmoot.1").exists() && !folder.join("folkmoot-fault.1").exists());
}

#[test]
fn the_version_names_the_commit_where_git_knows_it() {
    let text = good("--version");
    let git = Command::new("git").args(["rev-parse", "HEAD"]).output();
    let known = git.is_ok_and(|output| output.status.success());
    let rest = text.trim().strip_prefix("folkmoot ").unwrap();
    let (version, commit) = rest.split_once(' ').unwrap_or((rest, ""));
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    assert_eq!(known, !commit.is_empty(), "{text}");
    let commit = commit.trim_matches(['(', ')']);
    let commit = commit.strip_suffix("-dirty").unwrap_or(commit);
    assert!(!known || (commit.len() >= 12 && commit.bytes().all(|c| c.is_ascii_hexdigit())), "{text}");
}

/// A copy of the program in a folder of its own, with a bench beside it or without.
fn alone(place: &Place, bench: Option<&str>) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let program = place.path().join("folkmoot");
    std::fs::copy(env!("CARGO_BIN_EXE_folkmoot"), &program).unwrap();
    if let Some(script) = bench {
        let file = place.path().join("folkmoot-bench");
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    }
    program
}

fn bench(program: &Path, args: &[&str]) -> Output {
    Command::new(program).args(args).env("PATH", "/nowhere").stdin(Stdio::null()).output().unwrap()
}

#[test]
fn bench_hands_all_words_over_to_its_program() {
    let place = Place::new("bench");
    let program = alone(&place, Some("echo \"$*\"; exit 5"));
    for (line, told) in [
        (vec!["bench", "--help"], "--help"),
        (vec!["bench", "ring", "--nodes", "3", "--json", "a b"], "ring --nodes 3 --json a b"),
        (vec!["--json", "bench", "links"], "--json links"),
    ] {
        let output = bench(&program, &line);
        assert_eq!(output.status.code(), Some(5), "its exit code is the bench's");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), told);
    }
}

#[test]
fn without_that_program_bench_says_how_to_build_it() {
    let place = Place::new("nobench");
    let program = alone(&place, None);
    let output = bench(&program, &["bench", "--help"]);
    assert_eq!(output.status.code(), Some(3));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("cargo build --release -p folkmoot-bench") && output.stdout.is_empty(), "{told}");
    let output = bench(&program, &["--json", "bench", "ring"]);
    assert_eq!(serde_json::from_slice::<Value>(&output.stderr).unwrap()["exit"], "configuration");
}

#[test]
fn the_demo_goes_well_and_says_how_far_it_is() {
    let output = run("demo --messages 20 --json");
    let told = String::from_utf8_lossy(&output.stderr);
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}\n{lines}");
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.last().unwrap()["failed"], 0);
    let steps: Vec<String> = (0..=8).map(|step| format!("progress: {step} of 8 steps of the demo")).collect();
    let seen: Vec<&str> = told.lines().filter(|line| line.starts_with("progress: ")).collect();
    assert_eq!(seen, steps, "{told}");
}
