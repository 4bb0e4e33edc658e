//! Runs commands from the root of the workspace.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(PathBuf::from).unwrap_or(here)
}

/// Runs a command line in the root, its output passed through; says what it runs.
pub(crate) fn run(line: &str) -> Result<Duration, String> {
    eprintln!("$ {line}");
    let start = Instant::now();
    let status = command(line)?.status().map_err(|error| format!("{line}: {error}"))?;
    if status.success() { Ok(start.elapsed()) } else { Err(format!("`{line}` failed: {status}")) }
}

/// Runs a command line in the root and returns what it printed on both streams, whether or not it
/// succeeded.
pub(crate) fn capture(line: &str) -> Result<(bool, String), String> {
    let output = command(line)?.output().map_err(|error| format!("{line}: {error}"))?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Ok((output.status.success(), text))
}

/// As [`capture`], the streams apart: what was said for data, and what for people.
pub(crate) fn capture_apart(line: &str) -> Result<(bool, String, String), String> {
    let output = command(line)?.output().map_err(|error| format!("{line}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((output.status.success(), text(&output.stdout), text(&output.stderr)))
}

/// Whether a program answers to `--version` or `version`.
pub(crate) fn has(program: &str) -> bool {
    ["--version", "version", "-V"]
        .iter()
        .any(|flag| capture(&format!("{program} {flag}")).is_ok_and(|(success, _)| success))
}

fn command(line: &str) -> Result<Command, String> {
    let mut words = line.split_whitespace();
    let program = words.next().ok_or("empty command")?;
    let mut command = Command::new(program);
    // A chore builds everything once: what a next build could start from would only fill the disk.
    command.args(words).current_dir(root()).env("CARGO_INCREMENTAL", "0");
    Ok(command)
}
