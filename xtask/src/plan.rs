//! A list of steps that says what it will do, which step it is at, and what is left.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// One step: its name, about how many seconds it takes on a machine that never ran it, and what it
/// does.
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

/// How it ended, and what each step took.
type Played = (Result<(), String>, BTreeMap<String, u64>);

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

    /// Runs the steps, says on `out` where it is, and keeps what each took for the next time. Stops
    /// at the first step that fails, unless told to go on and list all failures.
    pub(crate) fn run(self, keep_going: bool, out: &mut dyn Write) -> Result<(), String> {
        let (outcome, took) = self.play(keep_going, out).map_err(|error| error.to_string())?;
        remember(&took);
        outcome
    }

    fn play(mut self, keep_going: bool, out: &mut dyn Write) -> std::io::Result<Played> {
        self.announce(out)?;
        let start = Instant::now();
        let mut done = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            writeln!(out, "{}", self.headline(number, step))?;
            let begun = Instant::now();
            let outcome = (step.work)();
            done.push((step.name, begun.elapsed(), outcome.is_ok()));
            match outcome {
                Ok(()) => drop(self.took.insert(step.name.to_owned(), begun.elapsed().as_secs())),
                Err(reason) => {
                    writeln!(out, "FAILED {}: {reason}", step.name)?;
                    if !keep_going {
                        break;
                    }
                }
            }
        }
        report(&done, start.elapsed(), out)?;
        let failed: Vec<&str> = done.iter().filter(|(.., good)| !good).map(|(name, ..)| *name).collect();
        let outcome = if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) };
        Ok((outcome, self.took))
    }

    fn announce(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "{}: {} steps, about {}", self.title, self.steps.len(), minutes(self.left(0)))?;
        for (number, step) in self.steps.iter().enumerate() {
            writeln!(out, "{:>4}. {} ({})", number + 1, step.name, minutes(self.expected(step)))?;
        }
        Ok(())
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

fn report(done: &[(&str, Duration, bool)], total: Duration, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out)?;
    for (name, span, good) in done {
        let word = if *good { "ok" } else { "FAILED" };
        writeln!(out, "{word:>7}  {:>7.1} s  {name}", span.as_secs_f64())?;
    }
    writeln!(out, "         {:>7.1} s  in all", total.as_secs_f64())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let steps = vec![
            Step::new("first", 60, || Ok(())),
            Step::new("second", 120, || Err(String::from("broken"))),
            Step::new("third", 240, || Ok(())),
        ];
        Plan { title: "verify", steps, took: BTreeMap::from([(String::from("third"), 30)]) }
    }

    fn said(keep_going: bool) -> (String, Played) {
        let mut out = Vec::new();
        let played = plan().play(keep_going, &mut out).unwrap();
        (String::from_utf8(out).unwrap(), played)
    }

    #[test]
    fn a_plan_says_at_its_start_what_it_will_do() {
        let (said, _) = said(false);
        let head =
            "verify: 3 steps, about 4 min\n   1. first (60 s)\n   2. second (2 min)\n   3. third (30 s)\n";
        assert!(said.starts_with(head), "{said}");
    }

    #[test]
    fn each_step_says_where_the_plan_is_and_what_is_left() {
        let (said, _) = said(true);
        for line in [
            "== 1 of 3: first (about 60 s; 4 min left in all)",
            "== 2 of 3: second (about 2 min; 3 min left in all)",
            "== 3 of 3: third (about 30 s; 30 s left in all)",
        ] {
            assert!(said.contains(line), "{line} in {said}");
        }
    }

    #[test]
    fn the_first_failure_ends_a_plan_unless_it_shall_go_on() {
        let (said_first, (outcome, took)) = said(false);
        assert!(said_first.contains("FAILED second: broken") && !said_first.contains("== 3 of 3"));
        assert_eq!(outcome, Err(String::from("failed: second")));
        assert_eq!(took.keys().collect::<Vec<_>>(), ["first", "third"]);
        let (said_all, (outcome, _)) = said(true);
        assert!(said_all.contains("== 3 of 3") && said_all.contains("FAILED"));
        assert_eq!(outcome, Err(String::from("failed: second")));
    }
}
