//! Runs the rules of the line many times and says what it found.

use clap::{Parser, ValueEnum};
use folkmoot_base::{Danger, Mutant};
use folkmoot_decisions::{People, Tally, World};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Runs the rules of the line of decisions under random schedules with liars.
#[derive(Debug, Parser)]
#[command(name = "folkmoot-decisions", version, about)]
struct Arguments {
    /// How many runs.
    #[arg(long, default_value_t = 10_000)]
    runs: u64,
    /// The seed of the first run.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Steps of a run, before everybody who is honest meets.
    #[arg(long, default_value_t = 60)]
    steps: usize,
    /// How many runs at once.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Without this rule: ends at the first fault.
    #[arg(long, value_enum)]
    without: Option<Rule>,
    /// Every rule in turn, and then all together: fails if one of them can be left out.
    #[arg(long)]
    mutants: bool,
    /// One object on stdout.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rule {
    Since,
    Stamps,
    Expiry,
    OneCommit,
    Promises,
    HighestCommit,
    Reports,
    Rejoin,
    Past,
    NamedKeys,
    Strikes,
    Holdings,
    Begins,
    Ahead,
    Electorates,
    AskingAgain,
    AbleVoters,
    Judgements,
    Whole,
    Counting,
    NearTime,
    Reasons,
    Drawers,
    SayingAgain,
    Dates,
    Skipping,
}

impl Rule {
    fn danger(self) -> Danger {
        match self {
            Self::Since => Danger::LineNoSince,
            Self::Stamps => Danger::LineNoStamps,
            Self::Expiry => Danger::LineNoExpiry,
            Self::OneCommit => Danger::LineTwoCommits,
            Self::Promises => Danger::LineBelowPromise,
            Self::HighestCommit => Danger::LineOwnChoice,
            Self::Reports => Danger::LineTrustsReports,
            Self::Rejoin => Danger::LineRejoinUnasked,
            Self::Past => Danger::LineNoPast,
            Self::NamedKeys => Danger::LineNoNamedStamps,
            Self::Strikes => Danger::LineNoStrike,
            Self::Holdings => Danger::LineHoldsUnseen,
            Self::Begins => Danger::LineBeginsLater,
            Self::Ahead => Danger::LineAheadOfClock,
            Self::Electorates => Danger::LineNoRunning,
            Self::AskingAgain => Danger::LineNeverAsksAgain,
            Self::AbleVoters => Danger::LineEndsAll,
            Self::Judgements => Danger::LineNoJudgements,
            Self::Whole => Danger::LineLeavesOut,
            Self::Counting => Danger::LineCeasedCounts,
            Self::NearTime => Danger::LineAnyClock,
            Self::Reasons => Danger::LineJudgesEmpty,
            Self::Drawers => Danger::LineJudgedRests,
            Self::SayingAgain => Danger::AdmissionSaysOnce,
            Self::Dates => Danger::LineAloneUnasked,
            Self::Skipping => Danger::LineSkipsAnyway,
        }
    }
}

/// What a search saw, and the first fault, with its seed.
#[derive(Default)]
struct Outcome {
    tally: Tally,
    fault: Option<(u64, String)>,
}

/// Runs until the first fault, on as many threads as asked for.
fn search(arguments: &Arguments, people: &People, danger: Mutant) -> Outcome {
    let next = AtomicU64::new(arguments.seed);
    let found = AtomicBool::new(false);
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let workers = (0..arguments.threads.max(1)).map(|_| {
            scope.spawn(|| {
                let mut outcome = Outcome::default();
                while !found.load(Ordering::Relaxed) && outcome.fault.is_none() {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= arguments.seed.saturating_add(arguments.runs) {
                        break;
                    }
                    outcome.run(people, seed, arguments.steps, danger);
                }
                found.fetch_or(outcome.fault.is_some(), Ordering::Relaxed);
                outcome
            })
        });
        let workers: Vec<_> = workers.collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let mut sum = Outcome::default();
    for outcome in outcomes {
        sum.add(outcome.tally);
        sum.fault = [sum.fault.take(), outcome.fault].into_iter().flatten().min();
    }
    sum
}

impl Outcome {
    fn add(&mut self, tally: Tally) {
        tally.into_iter().for_each(|(name, number)| *self.tally.entry(name).or_default() += number);
    }

    fn run(&mut self, people: &People, seed: u64, steps: usize, danger: Mutant) {
        let run = World::new(people, seed, danger).and_then(|mut world| {
            world.run(steps).map_err(|fault| format!("{fault}\n{}", world.describe()))?;
            self.add(world.tally());
            Ok(())
        });
        self.fault = run.err().map(|fault| (seed, fault));
    }
}

fn say(arguments: &Arguments, rule: Option<Rule>, outcome: &Outcome) {
    let found = outcome.fault.as_ref();
    let without = rule.map(|rule| format!("{rule:?}"));
    if arguments.json {
        let line = serde_json::json!({
            "runs": arguments.runs,
            "without": without,
            "seen": outcome.tally,
            "seed": found.map(|found| found.0),
            "fault": found.map(|found| &found.1),
        });
        println!("{line}");
        return;
    }
    let rules = without.map_or("all rules".to_owned(), |rule| format!("without {rule}"));
    let seen: Vec<String> = outcome.tally.iter().map(|(name, number)| format!("{name} {number}")).collect();
    match found {
        Some((seed, fault)) => println!("{rules}: seed {seed}: {fault}"),
        None => println!("{rules}: {} runs: no fault. Seen: {}", arguments.runs, seen.join(", ")),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let people = People::new();
    let mut good = true;
    let rules: Vec<Rule> = match (arguments.mutants, arguments.without) {
        (true, _) => Rule::value_variants().to_vec(),
        (false, Some(rule)) => vec![rule],
        (false, None) => Vec::new(),
    };
    for rule in &rules {
        let found = search(&arguments, &people, Some(rule.danger()).into());
        say(&arguments, Some(*rule), &found);
        good &= found.fault.is_some();
    }
    if rules.is_empty() || arguments.mutants {
        let found = search(&arguments, &people, Mutant::NONE);
        say(&arguments, None, &found);
        good &= found.fault.is_none();
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
