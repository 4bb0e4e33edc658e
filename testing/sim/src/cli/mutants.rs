//! The hunt: each mutant is played until its checker catches it.

use super::{Arguments, DONE, FOUND, jobs};
use folkmoot_sim::mutant::{MUTANTS, Mutant};
use folkmoot_sim::run::run;
use folkmoot_sim::stack::company;
use folkmoot_sim::world::Options;
use serde_json::json;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Schedules after which a mutant counts as not caught.
const SCHEDULES_MAX: u64 = 400;

/// Hunts all mutants; the exit code.
pub(super) fn hunt(arguments: &Arguments) -> u8 {
    let wanted: Vec<Mutant> = MUTANTS.into_iter().filter(|mutant| is_wanted(arguments, mutant)).collect();
    let next = AtomicUsize::new(0);
    let missed = Mutex::new(0_u64);
    std::thread::scope(|scope| {
        for _ in 0..jobs(arguments) {
            scope.spawn(|| {
                while let Some(mutant) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let caught = catch(mutant, arguments.seed);
                    if let (None, Ok(mut missed)) = (caught, missed.lock()) {
                        *missed += 1;
                    }
                    tell(arguments, mutant, caught);
                }
            });
        }
    });
    let missed = missed.into_inner().unwrap_or(u64::MAX);
    eprintln!("{} mutants, {missed} not caught", wanted.len());
    if missed == 0 { DONE } else { FOUND }
}

fn is_wanted(arguments: &Arguments, mutant: &Mutant) -> bool {
    let name = format!("{} {:?}", mutant.checker, mutant.danger);
    arguments.only.as_ref().is_none_or(|text| name.contains(text.as_str()))
}

/// The seed at which the checker caught it, counted from `first`.
fn catch(mutant: &Mutant, first: u64) -> Option<u64> {
    (first..first.saturating_add(SCHEDULES_MAX)).find(|seed| {
        let schedule = mutant.schedule(*seed);
        let options = Options { danger: Some((mutant.danger, mutant.at)), ..Options::default() };
        let (outcome, _) = run(&schedule, company, options);
        outcome.violations.iter().any(|violation| violation.property == mutant.checker)
    })
}

fn tell(arguments: &Arguments, mutant: &Mutant, caught: Option<u64>) {
    let danger = format!("{:?}", mutant.danger);
    if arguments.json {
        println!("{}", json!({ "checker": mutant.checker, "danger": danger, "caught_at_seed": caught }));
        return;
    }
    match caught {
        Some(seed) => println!("{:<28} catches {danger:<26} at seed {seed}", mutant.checker),
        None => println!("{:<28} MISSES  {danger:<26} in {SCHEDULES_MAX} schedules", mutant.checker),
    }
}
