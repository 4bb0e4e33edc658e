//! A flood, beside the same without.

use super::{Arguments, DONE, FOUND};
use folkmoot_sim::flood::{Cost, Costs, DISK_MAX, MEMORY_MAX, Plan, judge, play};
use serde_json::{Value, json};

/// Plays both; the exit code.
pub(super) fn compare(arguments: &Arguments, seconds: u64) -> u8 {
    let plan = Plan { seed: arguments.seed, seconds, floods: false, danger: arguments.danger };
    let quiet = play(plan);
    let flooded = play(Plan { floods: true, ..plan });
    let broken = judge(&quiet, &flooded);
    if !arguments.json {
        for (player, cost) in &flooded {
            println!("{}", line(*player, quiet.get(player).copied().unwrap_or_default(), *cost));
        }
        broken.iter().for_each(|what| println!("broken: {what}"));
        return if broken.is_empty() { DONE } else { FOUND };
    }
    let said = json!({
        "seconds": seconds,
        "seed": plan.seed,
        "bounds": { "memory": MEMORY_MAX, "disk": DISK_MAX, "times": 2 },
        "quiet": shown(&quiet),
        "flooded": shown(&flooded),
        "broken": broken,
    });
    println!("{said}");
    if broken.is_empty() { DONE } else { FOUND }
}

/// What the flood cost one member.
fn line(player: u8, quiet: Cost, flooded: Cost) -> String {
    let more = |flooded: u64, quiet: u64| flooded.saturating_sub(quiet) / 1_000;
    let times = |expelled: Option<u64>| {
        expelled.map_or_else(|| "never".to_owned(), |micros| format!("{} ms", micros / 1_000))
    };
    format!(
        "m{player}: {} kB of memory and {} kB of disk more than without the flood; an expulsion took {}, {} \
         without",
        more(flooded.memory, quiet.memory),
        more(flooded.disk, quiet.disk),
        times(flooded.expelled),
        times(quiet.expelled)
    )
}

fn shown(costs: &Costs) -> Value {
    let one = |(player, cost): (&u8, &Cost)| {
        json!({
            "member": player,
            "memory_most": cost.memory,
            "memory_end": cost.memory_end,
            "disk_most": cost.disk,
            "disk_end": cost.disk_end,
            "expelled_ms": cost.expelled.map(|micros| micros / 1_000),
        })
    };
    costs.iter().map(one).collect()
}
