//! Runs the model many times and says what it found.

use clap::Parser;
use folkmoot_order::{Rule, Rules, World};
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Runs the order protocol under random schedules: losses, cuts, partitions, crashes.
#[derive(Debug, Parser)]
#[command(name = "folkmoot-order", version, about)]
struct Arguments {
    /// How many runs.
    #[arg(long, default_value_t = 1_500)]
    runs: u64,
    /// The seed of the first run.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Ticks of a run, before the network becomes whole.
    #[arg(long, default_value_t = 600)]
    ticks: usize,
    /// Without this rule: ends at the first fault.
    #[arg(long)]
    without: Option<Rule>,
    /// With `--without`: goes on to the first fault with these words in it.
    #[arg(long, default_value = "")]
    fault: String,
    /// Every rule in turn, and then all together: fails if one of them can be left out.
    #[arg(long)]
    mutants: bool,
    /// One object on stdout.
    #[arg(long)]
    json: bool,
}

/// What a search saw, and the first fault, with its seed.
#[derive(Default)]
struct Outcome {
    seen: BTreeMap<&'static str, u64>,
    fault: Option<(u64, String)>,
}

fn search(arguments: &Arguments, rules: Rules) -> Outcome {
    let mut outcome = Outcome::default();
    for seed in arguments.seed..arguments.seed.saturating_add(arguments.runs) {
        let mut world = World::new(seed, rules);
        let result = world.run(arguments.ticks);
        world.history.seen.iter().for_each(|(name, number)| *outcome.seen.entry(name).or_default() += number);
        *outcome.seen.entry("messages").or_default() += world.history.sent();
        if let Err(fault) = result
            && fault.contains(&arguments.fault)
        {
            outcome.fault = Some((seed, format!("{fault}{}", world.history.describe())));
            break;
        }
    }
    outcome
}

fn say(arguments: &Arguments, rule: Option<Rule>, outcome: &Outcome) {
    let (without, found) = (rule.map(Rule::name), outcome.fault.as_ref());
    if arguments.json {
        let line = serde_json::json!({
            "runs": arguments.runs,
            "without": without,
            "seen": outcome.seen,
            "seed": found.map(|found| found.0),
            "fault": found.map(|found| &found.1),
        });
        println!("{line}");
        return;
    }
    let rules = without.map_or("all rules".to_owned(), |rule| format!("without {rule}"));
    let seen: Vec<String> = outcome.seen.iter().map(|(name, number)| format!("{name} {number}")).collect();
    match found {
        Some((seed, fault)) => println!("{rules}: seed {seed}: {fault}"),
        None => println!("{rules}: {} runs: no fault. Seen: {}", arguments.runs, seen.join(", ")),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut good = true;
    let rules: Vec<Rule> = match (arguments.mutants, arguments.without) {
        (true, _) => Rule::ALL.iter().map(|(rule, _)| *rule).collect(),
        (false, Some(rule)) => vec![rule],
        (false, None) => Vec::new(),
    };
    for rule in &rules {
        let found = search(&arguments, Rules { without: Some(*rule) });
        say(&arguments, Some(*rule), &found);
        good &= found.fault.is_some();
    }
    if rules.is_empty() || arguments.mutants {
        let found = search(&arguments, Rules::default());
        say(&arguments, None, &found);
        good &= found.fault.is_none();
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
