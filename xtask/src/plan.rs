//! A list of steps that says what it will do, where it is, and what is left.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// One step: its name, about how many seconds it takes on a machine that never ran it, and what it does.
pub(crate) struct Step {
    name: &'static str,
    seconds: u64,
    work: fn() -> Result<(), String>,
}

impl Step {
    pub(crate) fn new(name: &'static str, seconds: u64, work: fn() -> Result<(), String>) -> Self {
        Self { name, seconds, work }
    }
}

/// Steps to run in order, and how long each took the last time.
pub(crate) struct Plan {
    title: &'static str,
    steps: Vec<Step>,
    took: BTreeMap<String, u64>,
}

impl Plan {
    pub(crate) fn new(title: &'static str, steps: Vec<Step>) -> Self {
        Self { title, steps, took: recall() }
    }

    /// Runs the steps. Stops at the first that fails, unless told to go on and list all failures.
    pub(crate) fn run(mut self, keep_going: bool) -> Result<(), String> {
        self.announce();
        let start = Instant::now();
        let mut done = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            eprintln!("{}", self.headline(number, step));
            let begun = Instant::now();
            let outcome = (step.work)();
            done.push((step.name, begun.elapsed(), outcome.is_ok()));
            match outcome {
                Ok(()) => drop(self.took.insert(step.name.to_owned(), begun.elapsed().as_secs())),
                Err(reason) => {
                    eprintln!("FAILED {}: {reason}", step.name);
                    if !keep_going {
                        break;
                    }
                }
            }
        }
        remember(&self.took);
        report(&done, start.elapsed());
        let failed: Vec<&str> = done.iter().filter(|(.., good)| !good).map(|(name, ..)| *name).collect();
        if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
    }

    fn announce(&self) {
        eprintln!("{}: {} steps, about {}", self.title, self.steps.len(), minutes(self.left(0)));
        for (number, step) in self.steps.iter().enumerate() {
            eprintln!("{:>4}. {} ({})", number + 1, step.name, minutes(self.expected(step)));
        }
    }

    fn headline(&self, number: usize, step: &Step) -> String {
        format!(
            "== {} of {}: {} (about {}; {} left in all)",
            number + 1,
            self.steps.len(),
            step.name,
            minutes(self.expected(step)),
            minutes(self.left(number))
        )
    }

    fn expected(&self, step: &Step) -> u64 {
        self.took.get(step.name).copied().unwrap_or(step.seconds)
    }

    fn left(&self, from: usize) -> u64 {
        self.steps.iter().skip(from).map(|step| self.expected(step)).sum()
    }
}

fn minutes(seconds: u64) -> String {
    if seconds < 90 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) }
}

fn report(done: &[(&str, Duration, bool)], total: Duration) {
    eprintln!();
    for (name, span, good) in done {
        let word = if *good { "ok" } else { "FAILED" };
        eprintln!("{word:>7}  {:>7.1} s  {name}", span.as_secs_f64());
    }
    eprintln!("         {:>7.1} s  in all", total.as_secs_f64());
}

/// Where the last durations are kept: beside this program, in cargo's target folder.
fn notes() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.join("xtask-durations"))
}

/// The last durations: a line each, seconds and name. Nothing if there are none yet.
fn recall() -> BTreeMap<String, u64> {
    let text = notes().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    let pair = |line: &str| {
        let (seconds, name) = line.split_once(' ')?;
        Some((name.to_owned(), seconds.parse().ok()?))
    };
    text.lines().filter_map(pair).collect()
}

/// Only an estimate hangs on these notes, so a disk that refuses them stops nothing.
fn remember(took: &BTreeMap<String, u64>) {
    let text: String = took.iter().map(|(name, seconds)| format!("{seconds} {name}\n")).collect();
    if let Some(path) = notes() {
        let _ = fs::write(path, text);
    }
}
