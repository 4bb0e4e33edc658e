//! One seed again: its transcript, what it broke, and the shortest schedule that still breaks it.

use super::{Arguments, DONE, FOUND};
use folkmoot_sim::aim::AIMS;
use folkmoot_sim::run::{Outcome, run};
use folkmoot_sim::schedule::Schedule;
use folkmoot_sim::stack::company;
use folkmoot_sim::transcript;
use folkmoot_sim::world::Options;

/// Plays `seed` again; the exit code.
pub(super) fn replay(arguments: &Arguments, seed: u64) -> u8 {
    let mut schedule = super::schedule(arguments, seed);
    if let Some(steps) = arguments.steps {
        schedule.steps.truncate(steps);
    }
    if arguments.shrink {
        schedule = shrink(schedule);
        for (index, (when, step)) in schedule.steps.iter().enumerate() {
            eprintln!("{index:>4}  {when:?}  {step:?}");
        }
    }
    let danger = arguments.danger.map(|danger| (danger, None));
    let options = Options { notes: arguments.transcript, digest: true, danger };
    let (outcome, record) = run(&schedule, company, options);
    if arguments.transcript {
        println!(
            "seed {seed}: {} players, {} founders, {} votes admit, {:?}",
            schedule.players, schedule.founders, schedule.votes, schedule.weather
        );
        transcript::lines(&record).for_each(|line| println!("{line}"));
    }
    if let Some(digest) = &outcome.digest {
        println!("digest {digest}");
    }
    print_violations(arguments, &outcome);
    let counts = outcome.counts;
    println!(
        "{} steps, {} deliveries, {} views, {} datagrams, {:.3} virtual seconds",
        counts.steps,
        counts.deliveries,
        counts.views,
        counts.datagrams,
        counts.micros as f64 / 1e6
    );
    if counts.lies > 0 {
        println!(
            "{} items from former keys, {} not protected, {} of these shown",
            counts.lies, counts.misled, counts.shown
        );
    }
    if outcome.violations.is_empty() { DONE } else { FOUND }
}

/// Says what a run broke, where, and how to see it again.
pub(super) fn print_violations(arguments: &Arguments, outcome: &Outcome) {
    let aim = AIMS.iter().find(|(_, aim)| arguments.aim == Some(*aim));
    let mut more = aim.map_or_else(String::new, |(name, _)| format!(" --aim {name}"));
    if let Some(keying) = arguments.keying {
        more.push_str(&format!(" --keying {}", keying.as_str()));
    }
    if let Some(scheme) = arguments.scheme {
        more.push_str(&format!(" --scheme {}", scheme.name()));
    }
    if arguments.hybrid {
        more.push_str(" --hybrid");
    }
    if let Some(far) = arguments.far {
        more.push_str(&format!(" --far {far}"));
    }
    for (violation, excerpt) in outcome.violations.iter().zip(&outcome.excerpts) {
        eprintln!(
            "seed {}: {} broken at {}: {}",
            outcome.seed, violation.property, violation.process, violation.what
        );
        excerpt.iter().for_each(|line| eprintln!("    {line}"));
        let seed = outcome.seed;
        eprintln!("  replay: cargo run --release -p folkmoot-sim -- --replay {seed}{more} --transcript");
    }
}

fn first_broken(schedule: &Schedule) -> Option<&'static str> {
    let (outcome, _) = run(schedule, company, Options::default());
    outcome.violations.first().map(|violation| violation.property)
}

/// Drops steps, half of them, a quarter, …, one, as long as the same promise breaks.
fn shrink(mut schedule: Schedule) -> Schedule {
    let Some(property) = first_broken(&schedule) else { return schedule };
    let mut chunk = schedule.steps.len().div_ceil(2);
    while chunk > 0 {
        let mut from = 0;
        while from < schedule.steps.len() {
            let mut fewer = schedule.clone();
            let to = from.saturating_add(chunk).min(fewer.steps.len());
            fewer.steps.drain(from..to);
            if first_broken(&fewer) == Some(property) {
                schedule = fewer;
            } else {
                from = to;
            }
        }
        chunk /= 2;
    }
    schedule
}
