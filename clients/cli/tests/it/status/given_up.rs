//! Unreliable messages that never left: the status counts them, and says so to people.

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use serde_json::json;
use std::process::Command;

#[test]
fn a_status_tells_of_unreliable_messages_that_were_given_up() {
    let place = Place::new("given-up");
    let [mut anna, mut ben] = ["anna", "ben"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben].map(|one| one.state.as_path()), Times::SHORT);
    anna.start(&place, &[], &[]);
    ben.start(&place, core::slice::from_ref(&anna.locator), &[]);
    anna.why("ben", "present");
    anna.ask(&json!({ "op": "send", "payload": "61", "service": "unreliable" }));
    let status = anna.good(&["status"]);
    assert_eq!((&status["given_up"], &status["untold"]), (&json!(0), &json!(0)));
    assert!(!words(&anna).contains("given up"));
    // Each takes more than half of the packets that may leave at once, and several are handed in at
    // one moment.
    let burst = json!({
        "op": "burst", "count": 40, "bytes": 1_000_000, "service": "unreliable", "seconds": 0.0, "window": 0,
    });
    assert_eq!(anna.ask(&burst)["sent"], 40);
    let status = anna.until(&["status"], |status| status["given_up"].as_u64() > Some(1));
    let told = words(&anna);
    let line = format!("{} unreliable messages given up here", status["given_up"]);
    assert!(told.lines().any(|one| one.starts_with(&line)), "{told}");
}

/// The status, as people read it.
fn words(of: &Actor) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_folkmoot")).arg("--state").arg(&of.state).arg("status").output();
    String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
}
