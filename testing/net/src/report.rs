//! Lines of result, for people or for programs.

use crate::Args;
use crate::direct::Outcome;
use crate::faults::{FAULTS, Trial};
use crate::judge;
use crate::member::in_words;
use serde_json::json;

/// A line of result, for people or programs.
pub(crate) fn say(args: &Args, outcome: &Outcome) -> Result<(), String> {
    let Outcome { name, attempt, folder, took, result, violations } = outcome;
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
            "scenario": name, "try": attempt, "passed": passed, "seconds": took.as_secs_f64(),
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
    for (promise, what) in violations {
        eprintln!("{name:>12}   broken: {promise}: {what}");
    }
    if let (false, Ok(seen)) = (passed, result) {
        let lines: Vec<String> = folkmoot_sim::transcript::lines(&seen.record).collect();
        let path = folder.join(name).join("record.txt");
        std::fs::write(&path, lines.join("\n")).map_err(in_words)?;
        eprintln!("{name:>12}   all that was seen, in order: {}", path.display());
    }
    Ok(())
}

/// Whether the judges found each fault that was put into logs that passed. If only some scenarios
/// were played, their logs may have no place for some faults.
pub(crate) fn self_test(args: &Args, trial: &Trial) -> bool {
    let (found, missed, all) = (trial.found(), trial.missed(), FAULTS.len());
    let passed = missed.is_empty() && (found == all || !args.only.is_empty());
    if args.json {
        println!("{}", json!({"self-test": "faults", "all": all, "found": found, "passed": passed}));
    } else {
        let word = if passed { "ok" } else { "FAILED" };
        println!("{word:>7}  judges   found {found} of the {all} kinds of faults, put into logs that passed");
    }
    missed.iter().for_each(|what| eprintln!("{:>12}   {what}", "judges"));
    passed
}
