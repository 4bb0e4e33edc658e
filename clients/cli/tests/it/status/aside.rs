//! A member that withholds one step holds the others up for the step deadline, and no longer.

use super::withhold;
use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use folkmoot_base::limits::STEP_DEADLINE;
use serde_json::Value;
use std::time::{Duration, Instant};

const NAME: &str = "status::aside::who_withholds_one_step_is_arriving_then_set_aside_until_it_takes_it";
/// Far above the step deadline (docs/GUARANTEES.md, "Liveness") and far below a group that is
/// stopped.
const SOON: Duration = Duration::from_secs(60);

#[test]
fn who_withholds_one_step_is_arriving_then_set_aside_until_it_takes_it() {
    if withhold::lived() {
        return;
    }
    let place = Place::new("aside");
    let [mut anna, mut ben, mut cleo] = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben, &cleo].map(|one| one.state.as_path()), Times::SHORT);
    anna.start(&place, &[], &[]);
    ben.start(&place, core::slice::from_ref(&anna.locator), &[]);
    anna.why("ben", "present");

    let begun = Instant::now();
    let mut withholding = withhold::start(&cleo, &place, &anna.locator, NAME);
    let told = anna.why("cleo", "arriving");
    let arrived = Instant::now();
    assert!(told["why"].as_str().unwrap().contains("key comes next"), "{told}");
    for one in [&anna, &ben] {
        let told = one.why("cleo", "set-aside");
        assert!(told["why"].as_str().unwrap().contains("held the others up"), "{told}");
        assert!(begun.elapsed() >= STEP_DEADLINE + age(&told), "before the step deadline: {told}");
        assert!(arrived.elapsed() <= SOON + age(&told), "long after the step deadline: {told}");
    }
    // It asks again, and each time the others say whom they wait for.
    ben.until(&["status"], |status| status["activity"] == "confirming the key: waiting for cleo");
    // Between its attempts the two have a key of their own.
    anna.good(&["send", "we go on", "--timeout", "30"]);
    ben.why("anna", "present");

    let killed = Instant::now();
    withholding.kill().unwrap();
    withholding.wait().unwrap();
    let told = anna.why("cleo", "silent");
    assert!(age(&told) <= killed.elapsed() + SOON, "long before it was killed: {told}");
    cleo.start(&place, core::slice::from_ref(&anna.locator), &[]);
    anna.why("cleo", "present");
    cleo.why("ben", "present");
}

/// How long ago it was, to the second below.
fn age(told: &Value) -> Duration {
    assert!(told["since"].as_str().unwrap().ends_with('Z'), "{told}");
    Duration::from_secs(told["seconds_ago"].as_u64().unwrap())
}
