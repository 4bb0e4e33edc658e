//! What was decided in somebody's absence is not told as if it happened now.
//!
//! ```text
//! dora   admitted, then expelled while cleo is away      a change of the charter
//! eve    joins, with a window for people: one line sums it up; she is not among those who answer
//! erik   joins, as a program: each event is marked
//! cleo   comes back: hears what she missed, with its time
//! ```

use crate::common::actor::{Actor, Talk};
use crate::common::place::{Place, Times};
use serde_json::Value;
use std::process::{Command, Stdio};

/// Proposes by one and approves by the other.
fn decide(place: &[&Actor; 2], proposal: &[&str], about: &[&str]) {
    place[1].good(proposal);
    let vote = [&["vote", "approve"], about].concat();
    place[0].until(&vote, |told| !told.is_null());
}

fn admit(voters: &[&Actor; 2], name: &str) {
    for voter in voters {
        voter.until(&["vote", "approve", name], |told| !told.is_null());
    }
    voters[0].why(name, "present");
}

/// What a talk has shown by its end, in both outputs.
fn shown(mut talk: Talk) -> String {
    talk.types("/quit");
    let output = talk.end();
    [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap()).concat()
}

/// `join` or `chat` as a person sees it.
fn window(who: &Actor, place: &Place, how: &str, at: &str) -> Talk {
    let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    command.env_remove("FOLKMOOT_STATE").arg("--state").arg(&who.state).args([how, "--at", at]);
    command.args((how == "chat").then_some("--charter")).arg(place.signed());
    command.args(["--listen", "127.0.0.1:0"]);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Talk::of(pipes.spawn().unwrap())
}

#[test]
fn what_was_decided_before_is_no_news() {
    let place = Place::new("past");
    let [mut anna, mut ben, mut cleo, mut dora, eve, erik] =
        ["anna", "ben", "cleo", "dora", "eve", "erik"].map(|name| Actor::new(&place, name));
    let founders = [&anna, &ben, &cleo].map(|one| one.state.as_path());
    place.found(&founders, Times { silence_ms: 3_000, days: 365 });
    anna.start(&place, &[], &[]);
    let at = [anna.locator.clone()];
    ben.start(&place, &at, &[]);
    cleo.start(&place, &at, &[]);
    anna.why("cleo", "present");
    cleo.good(&["leave"]);
    assert_eq!(cleo.ends(), 0);
    dora.start(&place, &at, &["--apply"]);
    let voters = [&anna, &ben];
    admit(&voters, "dora");
    decide(&voters, &["expel", "dora"], &["expel", "dora"]);
    anna.why("dora", "expelled");
    dora.kill();
    decide(&voters, &["charter", "change", "request_hours", "9"], &["request_hours"]);
    anna.until(&["vote", "list"], |open| open.as_array().is_some_and(Vec::is_empty));

    let window_of_eve = window(&eve, &place, "join", &anna.locator);
    admit(&voters, "eve");
    // Who answers is told after three seconds: by then she is in, too.
    std::thread::sleep(std::time::Duration::from_secs(4));
    let told = shown(window_of_eve);
    assert!(told.contains("eve was admitted") && !told.contains("dora"), "{told}");
    let decisions = "* the group has made 2 decisions so far; folkmoot rules shows the rules that they made";
    assert!(told.contains(decisions), "{told}");
    let answer = told.lines().find(|line| line.contains("these answer")).unwrap();
    assert!(answer.contains("anna") && !answer.contains("eve"), "{answer}");

    let program = erik.talk(&place, "join", &anna.locator);
    admit(&voters, "erik");
    let told = shown(program);
    let events = told.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let dora: Vec<Value> = events.filter(|event| event["name"] == "dora").collect();
    assert!(!dora.is_empty(), "{told}");
    assert!(dora.iter().all(|event| event["past"] == "before-joining"), "{told}");
    assert!(told.contains("\"event\":\"past\""), "{told}");

    let back = window(&cleo, &place, "chat", &anna.locator);
    anna.why("cleo", "present");
    let told = shown(back);
    let missed = |line: &&str| line.contains("while this member was away (20");
    assert!(told.lines().filter(missed).any(|line| line.contains("eve was admitted")), "{told}");
    assert!(!told.lines().filter(|line| !missed(line)).any(|line| line.contains("admitted")), "{told}");
}
