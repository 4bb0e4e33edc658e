//! `folkmoot-sim lcm`: discovery and keys of publish and subscribe.

use super::{DONE, FOUND};
use clap::Args;
use folkmoot_pubsub::discovery::Danger;
use folkmoot_sim::lcm::{CHURN_MUTANTS, MUTANTS, Plan, Story, Violation, World, churn, play, table};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Runs after which a mutant counts as not caught.
const RUNS_MAX: u64 = 200;
/// The same for hours of churn.
const CHURNS_MAX: u64 = 8;
/// How many hours these are.
const HOURS: u64 = 24;
/// Violations that are printed in full.
const PRINTED_MAX: usize = 20;

/// Plays runs of LCM's discovery and key agreement.
#[derive(Debug, Args)]
pub(crate) struct Lcm {
    /// How many runs to play.
    #[arg(long, default_value_t = 300)]
    schedules: u64,
    /// The first seed; the others follow it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads; as many as there are cores if not given.
    #[arg(long)]
    jobs: Option<usize>,
    /// One summary object on stdout.
    #[arg(long)]
    json: bool,
    /// Play this seed again, one line for each message.
    #[arg(long, value_name = "SEED")]
    replay: Option<u64>,
    /// Break each rule on purpose and see that its checker catches it.
    #[arg(long)]
    mutants: bool,
    /// Let nodes come and go for so many hours of virtual time: what they keep must not grow.
    #[arg(long, value_name = "HOURS")]
    churn_hours: Option<u64>,
    /// With --churn-hours: print a line for each message.
    #[arg(long, requires = "churn_hours")]
    transcript: bool,
    /// Count the JOIN_Responses as the fact sheet's simulation does.
    #[arg(long)]
    table: bool,
    /// With --table: draw the chart to this file.
    #[arg(long, requires = "table", value_name = "FILE")]
    svg: Option<PathBuf>,
    /// With --table: how many runs each number is the mean of.
    #[arg(long, requires = "table", default_value_t = 60)]
    runs: u64,
}

/// Does what the options say; the exit code.
pub(crate) fn run(options: &Lcm) -> u8 {
    if let Some(seed) = options.replay {
        return replay(seed);
    }
    if let Some(hours) = options.churn_hours {
        return churn_for(options, hours);
    }
    match () {
        () if options.mutants => mutants(options),
        () if options.table => tables(options),
        () => many(options),
    }
}

fn describe(plan: &Plan) -> String {
    format!(
        "{:?}, {} and {}, {} ± {} us, {} of a million lost",
        plan.story, plan.old, plan.new, plan.delay, plan.jitter, plan.loss
    )
}

fn replay(seed: u64) -> u8 {
    let plan = Plan::draw(seed);
    println!("seed {seed}: {}", describe(&plan));
    let mut world = World::new(&plan, None);
    world.log = Some(Vec::new());
    plan.play(&mut world);
    world.log.iter().flatten().for_each(|line| println!("{line}"));
    let found = folkmoot_sim::lcm::judge(&plan, &world);
    found.iter().for_each(|one| println!("{} broken: {}", one.checker, one.what));
    if found.is_empty() { DONE } else { FOUND }
}

fn threads(options: &Lcm) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    options.jobs.unwrap_or_else(cores).max(1)
}

#[derive(Default)]
struct Sum {
    runs: u64,
    stories: BTreeMap<String, u64>,
    keys: u64,
    joins: u64,
    responses: u64,
    rounds: u64,
    refused: u64,
    seconds: u64,
    broken: Vec<(u64, Violation)>,
}

fn many(options: &Lcm) -> u8 {
    let begun = Instant::now();
    let next = AtomicU64::new(options.seed);
    let end = options.seed.saturating_add(options.schedules);
    let sum = Mutex::new(Sum::default());
    std::thread::scope(|scope| {
        for _ in 0..threads(options) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        break;
                    }
                    let plan = Plan::draw(seed);
                    let (world, found) = play(&plan, None);
                    let Ok(mut sum) = sum.lock() else { break };
                    add(&mut sum, &plan, &world, found);
                }
            });
        }
    });
    let sum = sum.into_inner().unwrap_or_default();
    report(options, &sum, begun.elapsed().as_secs_f64());
    if sum.broken.is_empty() { DONE } else { FOUND }
}

fn add(sum: &mut Sum, plan: &Plan, world: &World, found: Vec<Violation>) {
    sum.runs += 1;
    *sum.stories.entry(format!("{:?}", plan.story).to_lowercase()).or_default() += 1;
    sum.keys +=
        world.nodes.iter().flat_map(|node| &node.seats).map(|seat| seat.keys.len() as u64).sum::<u64>();
    sum.joins += world.sent.iter().map(|sent| sent.joins).sum::<u64>();
    sum.responses += world.sent.iter().map(|sent| sent.responses).sum::<u64>();
    sum.rounds += world.sent.iter().map(|sent| sent.rounds).sum::<u64>();
    sum.refused += world.refused();
    sum.seconds += world.now / 1_000_000;
    for one in found {
        if sum.broken.len() < PRINTED_MAX {
            eprintln!("seed {}: {} broken: {} ({})", plan.seed, one.checker, one.what, describe(plan));
        }
        sum.broken.push((plan.seed, one));
    }
    if sum.runs.is_multiple_of(1_000) {
        eprintln!("{:>7} runs, {} violations", sum.runs, sum.broken.len());
    }
}

fn report(options: &Lcm, sum: &Sum, wall: f64) {
    let violated = sum.broken.iter().fold(BTreeMap::<_, Vec<u64>>::new(), |mut all, (seed, one)| {
        all.entry(one.checker).or_default().push(*seed);
        all
    });
    if options.json {
        let summary = json!({
            "schedules": sum.runs, "seed": options.seed, "stories": sum.stories, "keys": sum.keys,
            "joins": sum.joins, "responses": sum.responses, "rounds": sum.rounds, "refused": sum.refused,
            "virtual_seconds": sum.seconds, "violations": sum.broken.len(), "violated": violated,
            "wall_seconds": wall,
        });
        println!("{summary}");
        return;
    }
    println!(
        "{} runs, {} violations, {} keys, {} JOINs, {} responses, {} rounds, {} virtual seconds in {wall:.1} s",
        sum.runs,
        sum.broken.len(),
        sum.keys,
        sum.joins,
        sum.responses,
        sum.rounds,
        sum.seconds
    );
    violated.iter().for_each(|(checker, seeds)| println!("  {checker:<24} {:>5}  {seeds:?}", seeds.len()));
}

fn mutants(options: &Lcm) -> u8 {
    let mut missed = churn_mutants(options);
    for mutant in MUTANTS {
        let caught = (options.seed..options.seed + RUNS_MAX).find(|seed| {
            let plan = story(*seed, mutant.story);
            let (_, found) = play(&plan, Some(mutant.danger));
            found.iter().any(|one| one.checker == mutant.checker)
        });
        missed += tell(options, mutant.checker, mutant.danger, caught);
    }
    if missed == 0 { DONE } else { FOUND }
}

/// Those that show in hours only.
fn churn_mutants(options: &Lcm) -> u8 {
    let one = |(danger, checker)| {
        let caught = (options.seed..options.seed + CHURNS_MAX).find(|seed| {
            let broken = churn::play(*seed, HOURS, Some(danger), false).broken;
            broken.iter().any(|one| one.checker == checker)
        });
        tell(options, checker, danger, caught)
    };
    CHURN_MUTANTS.into_iter().map(one).sum()
}

/// Says who catches a mutant; 1 if nobody does.
fn tell(options: &Lcm, checker: &str, danger: Danger, caught: Option<u64>) -> u8 {
    let danger = format!("{danger:?}");
    if options.json {
        println!("{}", json!({ "checker": checker, "danger": danger, "caught_at_seed": caught }));
    } else {
        let at = caught.map_or_else(|| "MISSES".to_owned(), |seed| format!("catches at seed {seed}"));
        println!("{checker:<24} {danger:<20} {at}");
    }
    u8::from(caught.is_none())
}

fn churn_for(options: &Lcm, hours: u64) -> u8 {
    let begun = Instant::now();
    let churned = churn::play(options.seed, hours, None, options.transcript);
    let wall = begun.elapsed().as_secs_f64();
    churned.log.iter().for_each(|line| eprintln!("{line}"));
    churned.broken.iter().for_each(|one| eprintln!("{} broken: {}", one.checker, one.what));
    let most = |place: usize| churned.largest.iter().filter_map(|hour| hour.get(place)).max();
    let summary = json!({
        "hours": churned.sent.len(), "seed": options.seed, "events": churned.events, "keys": churned.keys,
        "ids_most": most(0), "words_most": most(1), "disk_bytes_most": most(2),
        "by_hour": churned.largest, "sent_per_node_and_hour": churned.sent,
        "slowest_ms": churned.slowest / 1_000, "violations": churned.broken.len(), "wall_seconds": wall,
    });
    if options.json {
        println!("{summary}");
    } else {
        println!("{summary:#}");
    }
    if churned.broken.is_empty() { DONE } else { FOUND }
}

fn story(seed: u64, story: Story) -> Plan {
    Plan::of(seed, story)
}

fn tables(options: &Lcm) -> u8 {
    let rows = table::count(options.seed, options.runs);
    if let Some(file) = &options.svg {
        let drawn = table::draw(&rows).map_err(|error| error.to_string());
        let written = drawn.and_then(|svg| std::fs::write(file, svg).map_err(|error| error.to_string()));
        if let Err(error) = written {
            eprintln!("{}: {error}", file.display());
            return FOUND;
        }
    }
    for row in &rows {
        if options.json {
            println!("{}", row.json());
        } else {
            println!("{}", row.line());
        }
    }
    if rows.iter().all(table::Row::holds) { DONE } else { FOUND }
}
