//! The full numbers of the issues. The log names commit, seeds, counts and durations, and is committed as evidence.

use crate::run::{capture, capture_apart, root};
use std::fmt::Write as _;
use std::fs;
use std::time::Instant;

/// The modules besides the one that a charter gets for so few: that one is in every other line.
pub(crate) const MODULES: [&str; 6] = ["tgdh", "str", "bd", "ckd", "dutta-barua", "mls"];

/// Runs the long versions of the checks and writes docs/evidence/release-COMMIT.log.
pub(crate) fn release(schedules: u32, fuzz_seconds: u32, issues: &[u32]) -> Result<(), String> {
    let (_, commit) = capture("git rev-parse --short=12 HEAD")?;
    let commit = commit.trim().to_owned();
    let mut log = format!("commit {commit}\n");
    let mut failed = Vec::new();
    let folder = root().join("docs/evidence");
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let path = folder.join(format!("release-{commit}.log"));
    let wanted = |issue: &u32| issues.is_empty() || issues.contains(issue);
    for (_, line) in lines(schedules, fuzz_seconds).into_iter().filter(|(issue, _)| wanted(issue)) {
        eprintln!("$ {line}");
        let start = Instant::now();
        let (good, said, aside) = capture_apart(&line)?;
        let word = if good { "ok" } else { "FAILED" };
        eprintln!("  {word} after {:.0} s", start.elapsed().as_secs_f64());
        writeln!(
            log,
            "\n$ {line}\n{}{}{word} after {:.1} s",
            last_lines(&said, 60),
            last_lines(&aside, 12),
            start.elapsed().as_secs_f64()
        )
        .map_err(|error| error.to_string())?;
        // After each line: hours of evidence do not depend on the last minute.
        fs::write(&path, &log).map_err(|error| error.to_string())?;
        if !good {
            failed.push(line);
        }
    }
    eprintln!("wrote docs/evidence/release-{commit}.log");
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join("; "))) }
}

/// Each with the issue whose numbers it shows.
fn lines(schedules: u32, fuzz_seconds: u32) -> Vec<(u32, String)> {
    let sim = "cargo run --release -p folkmoot-sim --";
    let main = [
        "cargo test --workspace --quiet".into(),
        format!("{sim} --schedules {schedules} --seed 1 --json"),
        format!("{sim} --mutants"),
        format!("{sim} --schedules 100 --seed 1 --digest"),
        "env FOLKMOOT_CRASH_MOMENTS=50 cargo test -p folkmoot-cli --test crash -- --nocapture".into(),
        "cargo run --release -- demo --json".into(),
        "cargo run --release -- bench ring --nodes 3 --senders 3 --bytes 1350 --service agreed --seconds 3 --json".into(),
        format!("cargo xtask fuzz --seconds {fuzz_seconds} --jobs 2 --resume"),
        "cat docs/evidence/fuzz.tsv".into(),
    ];
    let keyings = MODULES
        .iter()
        .map(|module| format!("{sim} --keying {module} --schedules {schedules} --seed 1 --json"));
    let keyings = keyings.chain([format!("{sim} --aim charter --schedules {schedules} --seed 1 --json")]);
    let model = ["", " --every-order", " --without rule-h", " --without k1"]
        .map(|rule| format!("cargo run --release -p folkmoot-model -- --changes 3{rule}"));
    let keyings = keyings.chain(model).chain([
        "cargo test -p folkmoot-agreement --test known_keys".into(),
        "cargo test -p folkmoot-keying --test known_keys".into(),
    ]);
    main.into_iter().map(|line| (2, line)).chain(keyings.map(|line| (3, line))).collect()
}

/// The last lines, but for what cargo says of its building: that names folders of this machine.
fn last_lines(text: &str, count: usize) -> String {
    const CARGO: [&str; 6] = ["Compiling", "Finished", "Running", "Downloaded", "Downloading", "Updating"];
    let is_cargo = |line: &&str| CARGO.iter().any(|word| line.trim_start().starts_with(word));
    let all: Vec<&str> = text.lines().filter(|line| !is_cargo(line) && !line.is_empty()).collect();
    let last = all.get(all.len().saturating_sub(count)..).unwrap_or_default();
    last.iter().map(|line| format!("{line}\n")).collect()
}
