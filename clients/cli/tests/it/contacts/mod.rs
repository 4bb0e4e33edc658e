//! The charter says where somebody of the group may be found: newcomers, and members that have lost
//! one another, need not be told.
//!
//! ```text
//! charter alone    ben starts, dora joins: by the founder's locator in the charter
//! no contact       join without --at: refused, and what to do
//! all have moved   the voted locator brings them together, the founding one leads nowhere
//! ```

use crate::common::actor::Actor;
use crate::common::place::{Place, Times};
use crate::common::program::{call, code, complaint, free_address, program};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Anna, who listens where the charter says, and Ben, who is told nothing.
fn founded(name: &str) -> (Place, Actor, Actor) {
    let place = Place::new(name);
    let [mut anna, mut ben] = ["anna", "ben"].map(|name| Actor::new(&place, name));
    anna.locator = format!("udp/{}", free_address());
    let states = [&anna, &ben].map(|one| one.state.as_path());
    place.found_with(&states, Times::PATIENT, &["--contact", &anna.locator]);
    anna.start(&place, &[], &[]);
    ben.start(&place, &[], &[]);
    anna.why("ben", "present");
    (place, anna, ben)
}

fn open(who: &Actor, name: &str) {
    who.until(&["vote", "list"], |list| {
        list.as_array().is_some_and(|list| list.iter().any(|one| one["name"] == name))
    });
}

#[test]
fn a_newcomer_joins_with_the_charter_alone() {
    let (place, anna, ben) = founded("contacts");
    let charter = place.signed().display().to_string();
    let shown = anna.good(&["charter", "verify", &charter]);
    assert_eq!(shown["contacts"], json!([anna.locator]));
    let dora = Actor::new(&place, "dora");
    let mut talk = dora.talk(&place, "join", "");
    for voter in [&anna, &ben] {
        open(voter, "dora");
        voter.good(&["vote", "approve", "dora"]);
    }
    anna.why("dora", "present");
    talk.types("/quit");
    let output = talk.end();
    assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
}

/// So long a newcomer waits at most until it is told whether anybody answers.
const TOLD: Duration = Duration::from_secs(3);

#[test]
fn a_newcomer_is_told_within_three_seconds_who_answers() {
    let (place, anna, _ben) = founded("answers");
    for (name, at) in [("dora", &*anna.locator), ("erik", "udp/127.0.0.1:9")] {
        let newcomer = Actor::new(&place, name);
        let mut command = program(&newcomer.state);
        command.arg("join").arg(place.signed()).args(["--at", at, "--listen", "127.0.0.1:0"]);
        if name == "erik" {
            // Where the charter's contact is, nobody may be heard either.
            anna.good(&["fault", "--drop", "1"]);
        }
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("asked for admission")));
        let asked = Instant::now();
        let told = lines.find(|line| line.contains("answer")).unwrap();
        assert!(asked.elapsed() < TOLD, "{told}");
        let wanted =
            if name == "dora" { format!("these answer: anna at {at}") } else { "nobody has answered".into() };
        assert!(told.contains(&wanted), "{told}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn without_a_contact_a_newcomer_is_told_to_ask_for_one() {
    let place = Place::new("no-contact");
    let anna = Actor::new(&place, "anna");
    for wrong in ["udp/0.0.0.0:4803", "udp/[::]:4803", "udp/127.0.0.1:0", "memory", "x/y"] {
        let pem = anna.state.join("identity.pem").display().to_string();
        let draft = anna.run(&["charter", "new", "test", "--founder", &pem, "--contact", wrong]);
        assert_eq!(code(&draft), 2, "{wrong}");
        assert!(complaint(&draft).contains(wrong), "{}", complaint(&draft));
    }
    place.found_with(&[&anna.state], Times::PATIENT, &["--votes", "1"]);
    let dora = Actor::new(&place, "dora");
    let charter = place.signed().display().to_string();
    for wrong in ["udp/0.0.0.0:4803", "udp/[::ffff:0.0.0.0]:4803", "udp/127.0.0.1:0", "memory/1", "x/y", "x"]
    {
        for command in [&["join", &charter, "--at", wrong][..], &["invite", "--at", wrong]] {
            assert_eq!(code(&call(&dora.state, command)), 2, "{command:?}");
        }
    }
    for command in [&["join", &charter][..], &["write", &charter, "hello"]] {
        let refused = call(&dora.state, command);
        assert_eq!(code(&refused), 2, "{command:?}");
        assert!(complaint(&refused).contains("names no contact"), "{}", complaint(&refused));
    }
}

#[test]
fn members_that_have_all_moved_meet_at_the_contact_that_they_voted_for() {
    let (place, mut anna, mut ben) = founded("moved");
    let refused = anna.run(&["charter", "change", "contacts", "udp/0.0.0.0:4803"]);
    assert_eq!(code(&refused), 5, "{}", complaint(&refused));
    let moved = format!("udp/{}", free_address());
    anna.good(&["charter", "change", "contacts", &moved]);
    let words = format!("set contacts = {moved} in the charter");
    open(&ben, &words);
    ben.good(&["vote", "approve", &words]);
    let decided = |status: &Value| status["decided"].as_u64().is_some_and(|number| number > 0);
    for one in [&anna, &ben] {
        one.until(&["status"], decided);
    }
    anna.kill();
    ben.kill();
    anna.locator = moved;
    ben.locator = String::new();
    anna.start(&place, &[], &[]);
    ben.start(&place, &[], &[]);
    anna.why("ben", "present");
    ben.why("anna", "present");
}
