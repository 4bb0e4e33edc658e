//! Nothing that is piped into `folkmoot chat` is lost, or it says what was and ends with a code
//! that is not 0.
//!
//! ```text
//! through a change   seq 100000, while one member comes and goes: whole and in order at three
//! every byte         empty lines, bytes that are no text, a last line without an end, //
//! before /quit       what was piped before it arrives
//! no end of a line   /dev/zero: refused within the memory of one message
//! no key             ended while lines wait: it says how many were not sent
//! ```

use crate::common::actor::Actor;
use crate::common::draw::Draw;
use crate::common::place::{Place, Times};
use crate::common::program::{code, program};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Lines of the long talk.
const LINES: u64 = 100_000;

/// One who has a group of its own.
pub(super) fn alone(name: &str) -> (Place, Actor) {
    let place = Place::new(name);
    let mut anna = Actor::new(&place, "anna");
    place.found_with(&[&anna.state], Times::PATIENT, &["--votes", "1"]);
    anna.start(&place, &[], &[]);
    anna.until(&["status"], |status| status["epoch"].is_string());
    (place, anna)
}

fn chat(who: &Actor, input: impl Into<Stdio>) -> Child {
    let mut command = program(&who.state);
    command.arg("chat").stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Pipes this into a chat, to its end.
fn piped(who: &Actor, input: &[u8]) -> Output {
    let mut child = chat(who, Stdio::piped());
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    let writer = std::thread::spawn(move || stdin.write_all(&input).is_ok());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn messages(output: &Output) -> Vec<Value> {
    let lines = output.stdout.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    lines.filter(|event| event["event"] == "message").collect()
}

/// Hears so many messages, and counts those that it has heard.
pub(super) fn hears(who: &Actor, count: u64) -> (Arc<AtomicUsize>, JoinHandle<Vec<String>>) {
    let mut command = program(&who.state);
    command.args(["receive", "--count", &count.to_string()]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let (heard, name) = (Arc::new(AtomicUsize::new(0)), who.state.display().to_string());
    let told = Arc::clone(&heard);
    let task = std::thread::spawn(move || {
        let mut texts = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
            assert_ne!(event["event"], "missed", "{name}: {event}");
            if event["event"] == "message" {
                texts.push(event["text"].as_str().unwrap().to_owned());
                told.store(texts.len(), Ordering::Relaxed);
            }
        }
        assert!(child.wait().unwrap().success(), "{name} heard {}", texts.len());
        texts
    });
    (heard, task)
}

fn until(heard: &AtomicUsize, count: usize) {
    while heard.load(Ordering::Relaxed) < count {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn every_line_arrives_in_order_at_three_others_through_changes_of_members() {
    let count = Draw::setting("FOLKMOOT_LINES", LINES);
    let place = Place::new("whole");
    let names = ["anna", "ben", "cleo", "dora", "erik"];
    let [mut anna, mut ben, mut cleo, mut dora, mut erik] = names.map(|name| Actor::new(&place, name));
    let states = [&anna, &ben, &cleo, &dora, &erik].map(|one| one.state.as_path());
    place.found(&states, Times::PATIENT);
    anna.start(&place, &[], &[]);
    let at = [anna.locator.clone()];
    for one in [&mut ben, &mut cleo, &mut dora] {
        one.start(&place, &at, &[]);
    }
    for name in ["ben", "cleo", "dora"] {
        anna.why(name, "present");
    }
    let hearers = [&ben, &cleo, &dora].map(|one| hears(one, count));
    // Until all three have subscribed.
    std::thread::sleep(Duration::from_millis(500));
    let mut talk = chat(&anna, Stdio::piped());
    let mut input = talk.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        (1..=count).for_each(|number| writeln!(input, "{number}").unwrap());
    });
    let own = talk.stdout.take().unwrap();
    let own = std::thread::spawn(move || BufReader::new(own).lines().count());
    let third = usize::try_from(count / 3).unwrap();
    until(&hearers[0].0, third);
    erik.start(&place, &at, &[]);
    ben.why("erik", "present");
    until(&hearers[0].0, third * 2);
    erik.ask(&serde_json::json!({ "op": "leave" }));
    ben.why("erik", "left");
    let output = talk.wait_with_output().unwrap();
    assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    writer.join().unwrap();
    assert!(own.join().unwrap() > usize::try_from(count).unwrap());
    for (_, hearer) in hearers {
        let texts = hearer.join().unwrap();
        assert!(texts.into_iter().eq((1..=count).map(|number| number.to_string())));
    }
}

#[test]
fn every_byte_of_every_line_arrives_and_what_does_not_is_said() {
    let (_place, anna) = alone("bytes");
    let output = piped(&anna, b"one\n\n  two  \n//etc\n\xff\xfe\nlast");
    assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    let heard: Vec<Value> = messages(&output).into_iter().map(|one| one["payload"].clone()).collect();
    assert_eq!(heard, ["6f6e65", "", "202074776f2020", "2f657463", "fffe", "6c617374"]);
    // What comes before /quit is sent, what comes after it is not.
    let five_hundred: String = (1..=500).map(|number| format!("{number}\n")).collect();
    let output = piped(&anna, format!("{five_hundred}/quit\nafter\n").as_bytes());
    assert_eq!(code(&output), 0);
    let texts: Vec<Value> = messages(&output).into_iter().map(|one| one["text"].clone()).collect();
    assert!(texts.into_iter().eq((1..=500).map(|number| Value::from(number.to_string()))));
    // A line that is neither sent nor obeyed is told at the end.
    let output = piped(&anna, b"/nonsense\nheard\n");
    assert_eq!(code(&output), 1);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("/nonsense is not a command") && said.contains("1 line of the input"), "{said}");
    assert_eq!(messages(&output).len(), 1);
}

#[test]
fn a_line_without_an_end_is_refused_within_bounds() {
    let (_place, anna) = alone("zero");
    let output = chat(&anna, File::open("/dev/zero").unwrap()).wait_with_output().unwrap();
    assert_eq!(code(&output), 2, "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("line 1 of the standard input is longer than 4194304 bytes"), "{said}");
}

#[test]
fn lines_that_wait_for_a_key_are_not_lost_silently() {
    let (_place, mut anna) = alone("unsent");
    // It leaves, and so has no key.
    anna.ask(&serde_json::json!({ "op": "leave" }));
    anna.until(&["status"], |status| status["view"].is_null());
    let mut talk = chat(&anna, Stdio::piped());
    let mut input = talk.stdin.take().unwrap();
    writeln!(input, "one\ntwo").unwrap();
    std::thread::sleep(Duration::from_secs(2));
    anna.kill();
    let output = talk.wait_with_output().unwrap();
    assert_eq!(code(&output), 1, "{}", String::from_utf8_lossy(&output.stderr));
    let last = String::from_utf8_lossy(&output.stderr).lines().last().unwrap().to_owned();
    assert!(last.contains("2 lines not sent"), "{last}");
}

/// JSON needs six bytes for each of these: as text, a line would be too long for its readers.
#[test]
fn a_message_of_control_characters_ends_no_talk() {
    let (place, anna) = alone("zeros");
    let file = place.path().join("zeros");
    std::fs::write(&file, vec![0; 4 * 1024 * 1024]).unwrap();
    let mut talk = chat(&anna, Stdio::piped());
    let mut input = talk.stdin.take().unwrap();
    writeln!(input, "before").unwrap();
    let mut said = BufReader::new(talk.stdout.take().unwrap()).lines();
    let mut next = || loop {
        let event: Value = serde_json::from_str(&said.next().expect("the talk goes on").unwrap()).unwrap();
        if event["event"] == "message" {
            return event;
        }
    };
    assert_eq!(next()["text"], "before");
    let sent = program(&anna.state).args(["send", "--file"]).arg(&file).output().unwrap();
    assert_eq!(code(&sent), 0, "{}", String::from_utf8_lossy(&sent.stderr));
    let zeros = next();
    assert_eq!((&zeros["text"], zeros["payload"].as_str().unwrap().len()), (&Value::Null, 8 * 1024 * 1024));
    writeln!(input, "after").unwrap();
    assert_eq!(next()["text"], "after");
    drop(input);
    assert!(talk.wait().unwrap().success());
}

#[test]
fn what_nobody_else_has_heard_is_told() {
    let place = Place::new("nobody");
    let [mut anna, mut ben] = ["anna", "ben"].map(|name| Actor::new(&place, name));
    place.found(&[&anna.state, &ben.state], Times::PATIENT);
    anna.start(&place, &[], &[]);
    anna.until(&["status"], |status| status["epoch"].is_string());
    let nobody = |output: &Output| String::from_utf8_lossy(&output.stderr).contains("nobody has heard that");
    let output = piped(&anna, b"one\ntwo\n");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(code(&output) == 1 && said.contains("2 lines sent while nobody else was there"), "{said}");
    let send = || program(&anna.state).args(["send", "three"]).output().unwrap();
    assert!(nobody(&send()));
    ben.start(&place, &[anna.locator.clone()], &[]);
    anna.why("ben", "present");
    let output = piped(&anna, b"four\n");
    assert!(code(&output) == 0 && !nobody(&output) && !nobody(&send()));
}

#[test]
fn who_has_left_for_good_is_told_so_by_a_chat_on_its_running_member() {
    let place = Place::new("for-good");
    let [mut anna, mut ben, mut cleo] = ["anna", "ben", "cleo"].map(|name| Actor::new(&place, name));
    place.found(&[&anna.state, &ben.state, &cleo.state], Times::PATIENT);
    anna.start(&place, &[], &[]);
    let at = [anna.locator.clone()];
    ben.start(&place, &at, &[]);
    cleo.start(&place, &at, &[]);
    anna.why("cleo", "present");
    let outside = "is not a member of the group. To ask for admission";
    let said = |output: Output| String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said(piped(&cleo, b"")).contains(outside));
    cleo.good(&["leave", "--for-good"]);
    ben.until(&["vote", "approve", "release cleo"], |voted| !voted.is_null());
    anna.why("cleo", "left-for-good");
    assert!(said(piped(&cleo, b"")).contains(outside));
}

/// A stranger has no key.
#[test]
fn a_quit_that_waits_for_a_key_says_how_to_end_it() {
    let (place, _anna) = alone("quit");
    let erik = Actor::new(&place, "erik");
    let mut command = program(&erik.state);
    command.args(["chat", "--listen", "127.0.0.1:0", "--charter"]).arg(place.signed());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut talk = command.spawn().unwrap();
    writeln!(talk.stdin.take().unwrap(), "one\n/quit").unwrap();
    let mut said = BufReader::new(talk.stderr.take().unwrap()).lines().map_while(Result::ok);
    let waits = "still waiting for a key to send 1 line";
    let told = said.find(|line| line.contains(waits)).unwrap();
    assert!(told.contains("Ctrl-C ends this without sending"), "{told}");
    talk.kill().unwrap();
    talk.wait().unwrap();
}
