//! Many schedules, on all cores.

use super::{Arguments, DONE, FOUND, jobs, schedule};
use folkmoot_sim::record::Counts;
use folkmoot_sim::run::{Outcome, run};
use folkmoot_sim::stack::company;
use folkmoot_sim::world::Options;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Seeds whose violations are printed in full.
const PRINTED_MAX: u64 = 20;

/// What all runs together came to.
#[derive(Default)]
struct Sum {
    schedules: u64,
    counts: Counts,
    broken: Vec<(u64, &'static str)>,
    digests: BTreeMap<u64, String>,
}

/// Plays the schedules; the exit code.
pub(super) fn play(arguments: &Arguments) -> u8 {
    let begun = Instant::now();
    let next = AtomicU64::new(arguments.seed);
    let end = arguments.seed.saturating_add(arguments.schedules);
    let stop = AtomicBool::new(false);
    let sum = Mutex::new(Sum::default());
    std::thread::scope(|scope| {
        for _ in 0..jobs(arguments) {
            scope.spawn(|| {
                let mut seed = next.fetch_add(1, Ordering::Relaxed);
                while seed < end && !stop.load(Ordering::Relaxed) {
                    let danger = arguments.danger.map(|danger| (danger, None));
                    let options = Options { digest: arguments.digest, danger, ..Options::default() };
                    let (outcome, _) = run(&schedule(arguments, seed), company, options);
                    take(&sum, &outcome, arguments, begun);
                    let over =
                        arguments.limit.is_some_and(|limit| begun.elapsed() > Duration::from_secs(limit));
                    stop.fetch_or(over, Ordering::Relaxed);
                    seed = next.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let sum = sum.into_inner().unwrap_or_default();
    report(arguments, &sum, begun.elapsed());
    if sum.broken.is_empty() { DONE } else { FOUND }
}

fn take(sum: &Mutex<Sum>, outcome: &Outcome, arguments: &Arguments, begun: Instant) {
    let Ok(mut sum) = sum.lock() else { return };
    sum.schedules += 1;
    let (all, one) = (&mut sum.counts, outcome.counts);
    all.steps += one.steps;
    all.deliveries += one.deliveries;
    all.views += one.views;
    all.datagrams += one.datagrams;
    all.inputs += one.inputs;
    all.micros += one.micros;
    all.lies += one.lies;
    all.misled += one.misled;
    all.shown += one.shown;
    all.superseded += one.superseded;
    all.slow_readers += one.slow_readers;
    all.forks += one.forks;
    if let Some(digest) = &outcome.digest {
        sum.digests.insert(outcome.seed, digest.clone());
    }
    if !outcome.violations.is_empty() && (sum.broken.len() as u64) < PRINTED_MAX {
        super::one::print_violations(arguments, outcome);
    }
    sum.broken.extend(outcome.violations.iter().map(|violation| (outcome.seed, violation.property)));
    if sum.schedules % 100 == 0 || sum.schedules == arguments.schedules {
        let seconds = begun.elapsed().as_secs();
        let broken = sum.broken.len();
        eprintln!(
            "{:>7} of {} schedules, {broken} violations, {seconds} s",
            sum.schedules, arguments.schedules
        );
    }
}

fn report(arguments: &Arguments, sum: &Sum, wall: Duration) {
    for (seed, digest) in &sum.digests {
        println!("{seed} {digest}");
    }
    let mut by_property: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (seed, property) in &sum.broken {
        by_property.entry(property).or_default().push(*seed);
    }
    let Counts { steps, deliveries, views, datagrams, inputs, micros, lies, misled, shown, .. } = sum.counts;
    let Counts { superseded, slow_readers, forks, .. } = sum.counts;
    if arguments.json {
        let summary = json!({
            "schedules": sum.schedules,
            "seed": arguments.seed,
            "violations": sum.broken.len(),
            "violated": by_property,
            "steps": steps,
            "deliveries": deliveries,
            "views": views,
            "datagrams": datagrams,
            "inputs": inputs,
            "virtual_seconds": micros / 1_000_000,
            "lies": lies,
            "not_protected": misled,
            "not_protected_and_shown": shown,
            "superseded": superseded,
            "slow_readers": slow_readers,
            "forks": forks,
            "wall_seconds": wall.as_secs_f64(),
        });
        println!("{summary}");
        return;
    }
    if arguments.digest {
        return;
    }
    println!(
        "{} schedules, {} violations, {steps} steps, {deliveries} deliveries, {views} views, {datagrams} datagrams, \
         {} virtual seconds in {:.1} s",
        sum.schedules,
        sum.broken.len(),
        micros / 1_000_000,
        wall.as_secs_f64()
    );
    if lies > 0 {
        println!(
            "{lies} items from former keys; not protected: {misled} who were away and followed them, \
             {shown} of these shown to others as another line"
        );
    }
    for (property, seeds) in by_property {
        let some: Vec<String> = seeds.iter().take(8).map(u64::to_string).collect();
        println!("  {property:<28} {:>5}  seeds {}", seeds.len(), some.join(" "));
    }
}
