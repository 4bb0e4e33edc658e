//! A member whose output nobody reads goes on, answers, and stops when it is told to. So does any
//! other member, by each signal that asks for it.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{ask, good, member, wait_for_ready};
use serde_json::json;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Far more than a pipe holds.
const MESSAGES: usize = 300;
const BYTES: usize = 2_000;
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn a_member_whose_output_nobody_reads_goes_on_and_stops_as_told() {
    let place = Place::new("unread");
    let [anna, mut ben] = ["anna", "ben"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben].map(|one| one.state.as_path()), Times::SHORT);
    let mut child = member(&anna.state, &place.signed(), &anna.locator, &[], &[]);
    let at = wait_for_ready(&mut child)["locator"].as_str().unwrap().to_owned();
    ben.start(&place, &[at], &[]);
    ben.why("anna", "present");
    let payload = "61".repeat(BYTES);
    for number in 0..MESSAGES {
        let send = json!({ "op": "send", "payload": payload, "service": "agreed" });
        ask(&anna.state, &send).unwrap_or_else(|error| panic!("message {number}: {error}"));
    }
    assert_eq!(good(&anna.state, &["status"])["activity"], "steady");
    stops_as_told(child, "TERM");
    ben.why("anna", "left");
}

/// Whoever is ended by a signal in place of its own will takes no leave, and has no exit code.
#[test]
fn each_signal_that_asks_a_member_to_stop_is_heard() {
    let place = Place::new("signals");
    let [anna, ben] = ["anna", "ben"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben].map(|one| one.state.as_path()), Times::SHORT);
    for signal in ["TERM", "INT", "HUP"] {
        let mut child = member(&anna.state, &place.signed(), &anna.locator, &[], &[]);
        wait_for_ready(&mut child);
        stops_as_told(child, signal);
    }
}

fn stops_as_told(mut child: Child, signal: &str) {
    let told = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
    assert!(told.success());
    let begun = Instant::now();
    let ended = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < LIMIT, "{signal}: it does not stop");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(ended.code(), Some(0), "{signal}: {ended}");
}
