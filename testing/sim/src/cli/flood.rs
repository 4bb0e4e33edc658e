//! A flood, beside the same without.

use super::{Arguments, DONE, FOUND};
use folkmoot_sim::flood::{Costs, DISK_MAX, MEMORY_MAX, Plan, judge, play};
use serde_json::{Value, json};

/// Plays both; the exit code.
pub(super) fn compare(arguments: &Arguments, seconds: u64) -> u8 {
    let plan = Plan { seed: arguments.seed, seconds, floods: false, danger: arguments.danger };
    let quiet = play(plan);
    let flooded = play(Plan { floods: true, ..plan });
    let broken = judge(&quiet, &flooded);
    let said = json!({
        "seconds": seconds,
        "seed": plan.seed,
        "bounds": { "memory": MEMORY_MAX, "disk": DISK_MAX, "times": 2 },
        "quiet": shown(&quiet),
        "flooded": shown(&flooded),
        "broken": broken,
    });
    println!("{said:#}");
    if broken.is_empty() { DONE } else { FOUND }
}

fn shown(costs: &Costs) -> Value {
    let one = |(player, cost): (&u8, &folkmoot_sim::flood::Cost)| {
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
