//! Groups of real processes on real networks: each member is a process of its own with the shipped
//! engine, in a network namespace of its own. What they log is judged by the simulator's checkers.
//!
//! ```text
//!   folkmoot-net --scenario: ip netns, veth, bridges ------> [ member ] [ member ] [ member ]
//!        ^      starts, kills, cuts, moves, orders                |          |         |
//!        '------------------ logs, sorted by one clock -----------'----------'---------'
//!                                    |
//!                                    v   Record --> checkers
//! ```
//! Needs root and the program `ip` (iproute2). `--ready` says whether it can work here.

mod faults;
mod judge;
mod log;
mod member;
mod parcel;
mod scenarios;
mod seat;
mod stage;
mod taps;
mod wires;
mod words;

use clap::Parser;
use judge::{Seen, judge};
use member::in_words;
use serde_json::json;
use stage::Terms;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

#[derive(Parser)]
#[command(about = "Real processes in network namespaces, judged by the simulator's checkers")]
struct Args {
    /// Only this scenario; may be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Look for stray configurations for 3 s after each change instead of 10, and 10 s at the end.
    #[arg(long)]
    quick: bool,
    /// In which order members start; drawn if not given, and told.
    #[arg(long)]
    seed: Option<u64>,
    /// Scenarios at a time.
    #[arg(long, default_value_t = 3)]
    jobs: usize,
    /// A JSON line for each scenario on standard output.
    #[arg(long)]
    json: bool,
    /// Keep the logs in this folder, whatever comes of it. Without it, those of what failed are
    /// kept.
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Say whether namespaces can be made here, and do nothing.
    #[arg(long)]
    ready: bool,
    /// Be a member: the program starts itself so.
    #[arg(long, hide = true, value_name = "JSON")]
    as_member: Option<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match (&args.as_member, args.ready) {
        (Some(start), _) => serde_json::from_str(start)
            .map_err(in_words)
            .and_then(|start| runtime(1)?.block_on(member::member(start)))
            .map(|()| true),
        (None, true) => wires::ready().map(|()| true),
        (None, false) => runtime(2).and_then(|runtime| runtime.block_on(direct(&args))),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("folkmoot-net: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn runtime(threads: usize) -> Result<tokio::runtime::Runtime, String> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(threads).enable_all().build().map_err(in_words)
}

/// What came of a scenario.
struct Outcome {
    name: &'static str,
    took: Duration,
    result: Result<Seen, String>,
}

/// Plays the scenarios, and says what came of each. Whether all is good.
async fn direct(args: &Args) -> Result<bool, String> {
    wires::ready()?;
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    if let Some(unknown) = args.only.iter().find(|only| scenarios::ALL.iter().all(|(name, _)| name != only)) {
        let names: Vec<&str> = scenarios::ALL.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no scenario {unknown}; there are {}", names.join(", ")));
    }
    let root = match &args.keep {
        Some(folder) => folder.clone(),
        None => std::env::temp_dir().join(format!("folkmoot-net-{}", std::process::id())),
    };
    let between = Duration::from_secs(if args.quick { 3 } else { 10 });
    let seed = args.seed.unwrap_or_else(|| words::now() % 1_000_000);
    eprintln!("{:>12}   --seed {seed}", "all");
    let terms = Terms { between, last: Duration::from_secs(10), seed };
    let mut waiting: Vec<_> = scenarios::ALL.iter().filter(|(name, _)| wanted(name)).rev().collect();
    let (mut playing, mut tested, mut good) = (JoinSet::new(), false, true);
    let stop = tokio::signal::ctrl_c();
    tokio::pin!(stop);
    loop {
        while playing.len() < args.jobs.max(1)
            && let Some((name, about)) = waiting.pop()
        {
            eprintln!("{name:>12}   begins: {about}");
            let root = root.clone();
            playing.spawn(async move {
                let began = Instant::now();
                let result = scenarios::play(name, &root, terms).await;
                Outcome { name, took: began.elapsed(), result }
            });
        }
        let done = tokio::select! {
            done = playing.join_next() => done,
            // Dropped with this function: what runs, and its namespaces.
            _ = &mut stop => return Err("stopped; the namespaces are removed".into()),
        };
        let Some(outcome) = done else { break };
        let outcome = outcome.map_err(in_words)?;
        let passed = say(args, &root, &outcome)?;
        good &= passed;
        if let (true, false, Ok(seen)) = (passed, tested, &outcome.result) {
            tested = true;
            good &= self_test(args, outcome.name, seen);
        }
    }
    if good && args.keep.is_none() {
        std::fs::remove_dir_all(&root).map_err(in_words)?;
    } else {
        eprintln!("logs: {}", root.display());
    }
    Ok(good)
}

/// A line of result, for people or programs; whether it is good.
fn say(args: &Args, root: &Path, outcome: &Outcome) -> Result<bool, String> {
    let Outcome { name, took, result } = outcome;
    let violations = match result {
        Ok(seen) => judge(seen),
        Err(reason) => vec![("goal", reason.clone())],
    };
    let passed = violations.is_empty();
    let (counts, changes) = match result {
        Ok(seen) => (seen.record.counts, judge::for_each_change(seen)),
        Err(_) => Default::default(),
    };
    let most = changes.iter().map(|(count, _, change)| count.div_ceil(change.causes.max(1))).max();
    if args.json {
        let changes = changes.iter().map(|(count, _, change)| {
            json!({"change": change.what, "causes": change.causes, "configurations": count})
        });
        let broken = violations.iter().map(|(promise, what)| json!({"promise": promise, "what": what}));
        let line = json!({
            "scenario": name, "passed": passed, "seconds": took.as_secs_f64(),
            "deliveries": counts.deliveries, "views": counts.views,
            "changes": changes.collect::<Vec<_>>(), "broken": broken.collect::<Vec<_>>(),
        });
        println!("{line}");
    } else {
        let word = if passed { "ok" } else { "FAILED" };
        println!(
            "{word:>7}  {name:<8} {:>6.1} s  {} deliveries, {} views, at most {} configurations a change",
            took.as_secs_f64(),
            counts.deliveries,
            counts.views,
            most.unwrap_or(0)
        );
    }
    for (promise, what) in &violations {
        eprintln!("{name:>12}   broken: {promise}: {what}");
    }
    if let (false, Ok(seen)) = (passed, result) {
        let lines: Vec<String> = folkmoot_sim::transcript::lines(&seen.record).collect();
        let path = root.join(name).join("record.txt");
        std::fs::write(&path, lines.join("\n")).map_err(in_words)?;
        eprintln!("{name:>12}   all that was seen, in order: {}", path.display());
    }
    Ok(passed)
}

/// Whether the judges find each fault that is put into logs that passed.
fn self_test(args: &Args, name: &str, seen: &Seen) -> bool {
    let missed = faults::missed(seen);
    let (all, passed) = (faults::FAULTS.len(), missed.is_empty());
    if args.json {
        println!("{}", json!({"self-test": name, "faults": all, "missed": missed, "passed": passed}));
    } else {
        let word = if passed { "ok" } else { "FAILED" };
        println!(
            "{word:>7}  judges   {} of {all} faults put into the logs of {name} found",
            all - missed.len()
        );
    }
    missed.iter().for_each(|what| eprintln!("{name:>12}   {what}"));
    passed
}
