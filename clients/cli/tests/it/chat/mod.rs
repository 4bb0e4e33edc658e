//! What is typed is sent and obeyed, and what the others do is shown meanwhile; who has nothing to
//! type is told the outcome.

mod terminal;
mod whole;

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::code;
use serde_json::Value;
use std::process::Output;

/// What was printed as events of this kind.
fn events(output: &Output, kind: &str) -> Vec<Value> {
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let events = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.filter(|event| event["event"] == kind).collect()
}

#[test]
fn lines_are_sent_and_orders_obeyed_while_a_stranger_without_a_keyboard_waits() {
    let place = Place::new("chat");
    let [mut anna, ben, cleo] = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name));
    place.found(&[&anna, &ben, &cleo].map(|one| one.state.as_path()), Times::PATIENT);
    anna.start(&place, &[], &[]);
    let dora = Actor::new(&place, "dora");
    let mut joining = dora.talk(&place, "join", &anna.locator);
    joining.closes();
    anna.why("dora", "asking");
    anna.good(&["vote", "approve", "dora"]);

    let mut talking = ben.talk(&place, "chat", &anna.locator);
    for typed in ["good evening", "/yes", "/nonsense", "/yes nobody"] {
        talking.types(typed);
    }
    ben.until(&["vote", "list"], |list| list[0]["name"] == "dora");
    talking.types("/yes dora");
    let joined = joining.end();
    assert_eq!(code(&joined), 0, "{}", String::from_utf8_lossy(&joined.stderr));
    let last = events(&joined, "view").pop().unwrap();
    assert!(last["members"].as_array().unwrap().len() > 1, "it ends once it shares a view: {last}");
    anna.why("dora", "left");

    // It parted in good order: nobody has to miss it.
    anna.why("dora", "left");
    talking.closes();
    let talked = talking.end();
    let complaints = String::from_utf8_lossy(&talked.stderr).into_owned();
    assert_eq!(code(&talked), 1, "{complaints}");
    for complaint in [
        "Type /yes NAME",
        "/nonsense is not a command",
        "called \"nobody\"",
        "3 lines of the input not obeyed",
    ] {
        assert!(complaints.contains(complaint), "{complaint}: {complaints}");
    }
    assert!(events(&talked, "message").iter().any(|event| event["text"] == "good evening"));
}

#[test]
fn what_cannot_start_says_why_and_not_that_nothing_runs() {
    let place = Place::new("start");
    let anna = Actor::new(&place, "anna");
    for line in [["chat", "--listen", "127.0.0.1:0"], ["join", "missing.cms", "--at=udp/127.0.0.1:9"]] {
        let output = anna.run(&line);
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!((code(&output), &error["exit"]), (3, &"configuration".into()), "{error}");
    }
}
