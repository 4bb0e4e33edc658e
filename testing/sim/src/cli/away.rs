//! `folkmoot-sim away`: large groups of which many are away.

use super::{DONE, FOUND};
use clap::Args;
use folkmoot_base::Danger;
use folkmoot_sim::away::{CASES, Case, play};
use serde_json::json;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Plays large groups of which many are away.
#[derive(Debug, Args)]
pub(crate) struct Away {
    /// How many runs of each case to play.
    #[arg(long, default_value_t = 5)]
    schedules: u64,
    /// The first seed; the others follow it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// This case alone: drawn, lowest, cut or newcomers.
    #[arg(long, value_name = "CASE", value_parser = case)]
    case: Option<Case>,
    /// Threads; as many as there are cores if not given.
    #[arg(long)]
    jobs: Option<usize>,
    /// Play with this broken at every player (a name of `folkmoot_base::Danger`).
    #[arg(long, value_name = "NAME", value_parser = super::danger)]
    danger: Option<Danger>,
    /// One summary object on stdout.
    #[arg(long)]
    json: bool,
}

fn case(name: &str) -> Result<Case, String> {
    let named = CASES.into_iter().find(|(known, _)| *known == name);
    named.map(|(_, case)| case).ok_or_else(|| "drawn, lowest, cut or newcomers".to_owned())
}

/// Does what the options say; the exit code.
pub(crate) fn run(options: &Away) -> u8 {
    let cases = CASES.into_iter().filter(|(_, case)| options.case.is_none_or(|only| only == *case));
    let said: Vec<_> = cases.map(|(name, case)| (name, many(options, name, case))).collect();
    let failed = said.iter().any(|(_, (_, failed))| *failed > 0);
    if options.json {
        let shown = said.iter().map(|(name, (longest, failed))| {
            json!({ "case": name, "longest_ms": longest / 1_000, "failed": failed })
        });
        let shown: Vec<_> = shown.collect();
        println!("{}", json!({ "seed": options.seed, "schedules": options.schedules, "cases": shown }));
    }
    if failed { FOUND } else { DONE }
}

/// Plays one case under each seed. The longest time until all were together, in microseconds, and
/// how many runs failed.
fn many(options: &Away, name: &str, case: Case) -> (u64, u64) {
    let next = AtomicU64::new(options.seed);
    let end = options.seed.saturating_add(options.schedules);
    let sum = Mutex::new((0, 0));
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.unwrap_or_else(cores).max(1) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        break;
                    }
                    let outcome = play(case, seed, options.danger);
                    let Ok(mut sum) = sum.lock() else { break };
                    match outcome {
                        Ok(took) => sum.0 = took.max(sum.0),
                        Err(why) => {
                            sum.1 += 1;
                            eprintln!("{name}, seed {seed}: {why}");
                        }
                    }
                }
            });
        }
    });
    let (longest, failed) = sum.into_inner().unwrap_or_default();
    if !options.json {
        let runs = options.schedules;
        println!("{name}: {runs} runs, {failed} failed; one view after {} ms at most", longest / 1_000);
    }
    (longest, failed)
}
