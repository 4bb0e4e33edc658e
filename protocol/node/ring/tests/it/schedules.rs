//! Whatever the network does, the ring keeps extended virtual synchrony, and when the network heals
//! all nodes meet again.

use crate::harness::play::play;

/// `RING_SEED=first RING_COUNT=n` plays other schedules; `RING_TRACE=1` prints the transcript of a
/// failing one.
#[test]
fn random_schedules_keep_every_promise() {
    let number =
        |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let first = number("RING_SEED", 1);
    let count = number("RING_COUNT", 400);
    let mut failures = Vec::new();
    for seed in first..first + count {
        let (_, result) = play(seed, None, false);
        if let Err(why) = result {
            eprintln!("seed {seed}: {why}");
            failures.push(seed);
        }
    }
    if let (Some(seed), true) = (failures.first(), std::env::var("RING_TRACE").is_ok()) {
        let (world, _) = play(*seed, None, true);
        eprintln!("{}", world.trace.unwrap().join("\n"));
    }
    assert!(
        failures.is_empty(),
        "replay: RING_SEED={} RING_COUNT=1 RING_TRACE=1 cargo test -p folkmoot-ring",
        failures[0]
    );
}
