//! Runs the fuzz targets of testing/fuzz, and reports each in one line.
//!
//! All targets at ten minutes each are hours of work. So each run is recorded in
//! docs/evidence/fuzz.tsv when it ends, with the commit that it ran at. If the runs are
//! interrupted, `--resume` goes on where they stopped.

use crate::record::{RECORD, Ran, Record};
use crate::run::{capture, root, run};
use std::fs;
use std::sync::Mutex;

/// Where cargo-fuzz finds its package, from the root.
const FOLDER: &str = "testing/fuzz/libfuzzer";
/// Options of libFuzzer: memory in all, seconds for one input, numbers at the end.
const OPTIONS: &str = "-rss_limit_mb=2048 -timeout=20 -print_final_stats=1";

/// What to run.
pub(crate) struct Plan {
    /// For each target.
    pub(crate) seconds: u32,
    /// Targets at a time.
    pub(crate) jobs: usize,
    /// These only; all where it is empty.
    pub(crate) only: Vec<String>,
    /// Write each run that ended well into the record.
    pub(crate) record: bool,
    /// Leave out what the record has for as long already, and write the rest into it.
    pub(crate) resume: bool,
}

/// Runs each target for the plan's seconds. Needs a nightly toolchain; installs cargo-fuzz where it
/// is missing.
pub(crate) fn fuzz(plan: &Plan) -> Result<(), String> {
    if !capture("cargo fuzz --version").is_ok_and(|(success, _)| success) {
        run("cargo install cargo-fuzz --locked --quiet")?;
    }
    let targets = chosen(plan)?;
    if targets.is_empty() {
        eprintln!("every target is in {RECORD} already");
        return Ok(());
    }
    if targets.len() == self::targets()?.len() {
        run(&format!("cargo +nightly fuzz build --fuzz-dir {FOLDER}"))?;
    } else {
        // Each is a program of its own, and takes its time to link.
        for target in &targets {
            run(&format!("cargo +nightly fuzz build --fuzz-dir {FOLDER} {target}"))?;
        }
    }
    let record = (plan.record || plan.resume).then(Record::open).transpose()?;
    let failed = run_all(plan, &targets, record.as_ref());
    if failed.is_empty() { Ok(()) } else { Err(format!("findings in: {}", failed.join(", "))) }
}

/// Runs the targets, as many at a time as the plan says. Returns those with a finding.
fn run_all(plan: &Plan, targets: &[String], record: Option<&Record>) -> Vec<String> {
    let queue = Mutex::new(targets.iter());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs.max(1) {
            scope.spawn(|| {
                while let Some(target) = next(&queue) {
                    let outcome = one(target, plan.seconds)
                        .and_then(|ran| record.map_or(Ok(()), |record| record.add(target, &ran)));
                    if let Err(reason) = outcome {
                        eprintln!("{target:<20} FAILED\n{reason}");
                        note(&failed, target);
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap_or_default()
}

/// The plan's targets, less those that the record has where it is resumed.
fn chosen(plan: &Plan) -> Result<Vec<String>, String> {
    let all = targets()?;
    if let Some(unknown) = plan.only.iter().find(|name| !all.contains(name)) {
        return Err(format!("no target is called {unknown:?}; there are {}", all.join(", ")));
    }
    let done = if plan.resume { Record::done(plan.seconds)? } else { Vec::new() };
    let wanted = |name: &String| plan.only.is_empty() || plan.only.contains(name);
    Ok(all.into_iter().filter(|name| wanted(name) && !done.contains(name)).collect())
}

/// Runs one target, seeds and what earlier runs found first, and prints its line.
fn one(target: &str, seconds: u32) -> Result<Ran, String> {
    let found = format!("{FOLDER}/corpus/{target}");
    fs::create_dir_all(root().join(&found)).map_err(|error| format!("{found}: {error}"))?;
    let seeds = format!("testing/fuzz/corpus/{target}");
    let (good, text) = capture(&format!(
        "cargo +nightly fuzz run --fuzz-dir {FOLDER} {target} {found} {seeds} -- -max_total_time={seconds} {OPTIONS}"
    ))?;
    if !good {
        return Err(tail(&text, 40));
    }
    let runs = number_after(&text, "stat::number_of_executed_units:").unwrap_or(0);
    let peak = number_after(&text, "stat::peak_rss_mb:").unwrap_or(0);
    let edges = text.rsplit(" cov: ").next().and_then(first_number).unwrap_or(0);
    let took = text.rsplit(" runs in ").next().and_then(first_number).unwrap_or(0);
    if runs == 0 {
        return Err(format!("no runs\n{}", tail(&text, 40)));
    }
    eprintln!("{target:<20} {runs:>10} runs {took:>5} s  {edges:>6} edges {peak:>5} MB  ok");
    Ok(Ran { seconds: took, runs, edges, peak })
}

fn next<'a>(queue: &Mutex<std::slice::Iter<'a, String>>) -> Option<&'a String> {
    queue.lock().ok()?.next()
}

fn note(failed: &Mutex<Vec<String>>, target: &str) {
    if let Ok(mut failed) = failed.lock() {
        failed.push(target.to_owned());
    }
}

fn number_after(text: &str, label: &str) -> Option<u64> {
    first_number(text.split(label).nth(1)?)
}

fn first_number(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

fn tail(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(count)..).unwrap_or_default().join("\n")
}

/// The names of the targets: one file each.
fn targets() -> Result<Vec<String>, String> {
    let folder = root().join(FOLDER).join("fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_some_and(|end| end == "rs") {
            names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}
