//! docs/control.md: every command has its request there, every request its place, and each line of
//! its table is a request that a member answers. Several requests of one connection are answered
//! each by its name. A command asks little.

mod proxy;

use crate::common::actor::Actor;
use crate::common::commands::helps;
use crate::common::netcat;
use crate::common::place::{Place, Times};
use folkmoot_control::Request;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::Duration;

fn page() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/control.md")).unwrap()
}

/// The rows of the page's table: commands, and what stands beside them.
fn rows(page: &str) -> Vec<(Vec<String>, String)> {
    let rows = page.lines().filter(|line| line.starts_with("| `folkmoot "));
    let row = |line: &str| {
        let (commands, requests) = line.trim_matches('|').split_once(" | ").unwrap();
        let commands = quoted(commands).into_iter().map(|one| one.replacen("folkmoot ", "", 1)).collect();
        (commands, requests.to_owned())
    };
    rows.map(row).collect()
}

/// What stands between backquotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_page_has_every_command_and_every_request() {
    let page = page();
    let asks: BTreeSet<String> = rows(&page).into_iter().flat_map(|(commands, _)| commands).collect();
    let (_, rest) = page.split_once("These commands need no member that runs:").unwrap();
    let alone: BTreeSet<String> = quoted(rest).into_iter().collect();
    let all: BTreeSet<String> = helps().into_keys().collect();
    assert!(all.len() > 50, "{all:?}");
    let is_alone =
        |command: &str| alone.iter().any(|one| command == one || command.starts_with(&format!("{one} ")));
    for command in &all {
        assert!(asks.contains(command) != is_alone(command), "{command}: once on the page, and once only");
    }
    for command in &asks {
        assert!(all.contains(command) || command == "fault", "there is no command {command}");
    }
    for command in &alone {
        assert!(all.iter().any(|one| one == command || one.starts_with(&format!("{command} "))), "{command}");
    }
    for verb in Request::VERBS {
        let is_there = page.contains(&format!("\"op\":\"{verb}\"")) || page.contains(&format!("`{verb}`"));
        assert!(is_there, "the request {verb} is not on the page");
    }
}

/// Three founders, of whom two run; a stranger asks.
struct Group {
    _place: Place,
    anna: Actor,
    _ben: Actor,
    _dora: Actor,
}

impl Group {
    fn new(name: &str) -> Self {
        let place = Place::new(name);
        let [mut anna, mut ben, cleo] = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name));
        place.found(&[&anna, &ben, &cleo].map(|one| one.state.as_path()), Times::PATIENT);
        anna.start(&place, &[], &[]);
        ben.start(&place, core::slice::from_ref(&anna.locator), &[]);
        anna.why("ben", "present");
        let mut dora = Actor::new(&place, "dora");
        dora.start(&place, core::slice::from_ref(&anna.locator), &["--apply"]);
        anna.until(&["vote", "list"], |open| open.as_array().is_some_and(|open| !open.is_empty()));
        Self { _place: place, anna, _ben: ben, _dora: dora }
    }
}

/// The answer to this line, as the page says to ask: with nc and jq.
fn asked(state: &std::path::Path, line: &str) -> Value {
    let script = "printf '%s\\n' \"$LINE\" | nc -NU control.sock | jq -c 'select(.id == 1)'";
    let mut shell = Command::new("timeout");
    let shell = shell.args(["30", "bash", "-c", script]).current_dir(state);
    let output = shell.env("PATH", netcat::path()).env("LINE", line).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{line}: {error}: {said:?} {output:?}"))
}

/// Whatever the member thinks of it, it knows the request. Those that end it come last.
#[test]
fn each_request_of_the_page_is_answered_over_nc() {
    let group = Group::new("control-rows");
    let rows = rows(&page());
    let lines = rows.iter().flat_map(|(_, requests)| quoted(requests));
    let lines: BTreeSet<String> = lines.filter(|one| one.starts_with("{\"op\"")).collect();
    assert!(lines.len() > 25, "{lines:?}");
    // A subscription has no end, and the page's own example has one.
    let ends = |line: &&String| {
        ["stop", "leave", "subscribe"].iter().any(|one| line.contains(&format!("\"{one}\"")))
    };
    let (last, first): (Vec<&String>, Vec<&String>) = lines.iter().partition(ends);
    let ask = |line: &String| {
        let answer = asked(&group.anna.state, &line.replacen('{', "{\"id\":1,", 1));
        let code = answer["code"].as_str().unwrap_or_default();
        assert!(!["malformed", "id", "unknown-verb", "bad-request"].contains(&code), "{line}: {answer}");
        assert!(answer.get("ok").is_some() != answer.get("error").is_some(), "{line}: {answer}");
        answer
    };
    for line in first {
        ask(line);
    }
    for op in ["leave", "stop"] {
        let line = last.iter().find(|line| line.contains(&format!("\"{op}\""))).unwrap();
        assert_eq!(ask(line)["ok"], Value::Null);
    }
}

fn connect(state: &std::path::Path) -> (BufReader<UnixStream>, UnixStream) {
    let stream = UnixStream::connect(state.join("control.sock")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    assert_eq!(next(&mut lines), json!({ "folkmoot": "control", "versions": [1] }));
    (lines, stream)
}

fn next(lines: &mut BufReader<UnixStream>) -> Value {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
}

#[test]
fn requests_of_one_connection_are_answered_each_by_its_name() {
    let group = Group::new("control-names");
    let anna = &group.anna;
    let (mut lines, mut stream) = connect(&anna.state);
    // More than are answered at once; some are refused, some are no requests.
    let mut text = String::from("{\"id\":\"heard\",\"op\":\"subscribe\"}\n");
    for id in 0..200 {
        let line = match id % 4 {
            0 => json!({ "id": id, "op": "status" }),
            1 => json!({ "id": id, "op": "vote", "subject": format!("nobody {id}"), "approve": true }),
            2 => json!({ "id": id, "op": "send", "payload": "6869", "service": "agreed" }),
            _ => json!({ "id": id, "op": format!("no-{id}") }),
        };
        text += &format!("{line}\n");
    }
    stream.write_all(text.as_bytes()).unwrap();
    let (mut open, mut messages) = ((0..200).collect::<BTreeSet<u64>>(), 0);
    while !open.is_empty() || messages < 50 {
        let said = next(&mut lines);
        if said["subscription"] == "heard" {
            messages += i32::from(said["event"] == "message");
            continue;
        }
        if said["id"] == "heard" {
            assert_eq!(said["ok"], Value::Null);
            continue;
        }
        let id = said["id"].as_u64().unwrap_or_else(|| panic!("{said}"));
        assert!(open.remove(&id), "{id} is answered twice");
        match id % 4 {
            0 => assert_eq!(said["ok"]["name"], "anna"),
            1 => assert!(said["error"].as_str().unwrap().contains(&format!("nobody {id}")), "{said}"),
            2 => assert!(said.get("ok").is_some(), "{said}"),
            _ => assert_eq!((&said["code"], &said["exit"]), (&json!("unknown-verb"), &json!("usage"))),
        }
    }
    // Whoever closes its side is answered still.
    let (mut lines, mut stream) = connect(&anna.state);
    stream.write_all(b"{\"op\":\"status\"}\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let said = next(&mut lines);
    assert_eq!((said.get("id"), &said["ok"]["name"]), (None, &json!("anna")));
    assert_eq!(anna.good(&["status"])["name"], "anna");
}
