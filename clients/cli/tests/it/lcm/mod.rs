//! `folkmoot lcm`, on a network of its own. testing/lcm has programs of others.

#[path = "../../../../../host/lcm/tests/it/alone.rs"]
pub(crate) mod alone;
mod bridge;
mod ends;
mod excluded;
mod files;
mod fleet;
mod papers;
pub(crate) mod passphrases;
mod patterns;
mod playing;
mod renewed;
mod sealed;
mod typed;
mod wrong;

use crate::common::place::Place;
use alone::alone;
use serde_json::Value;
use std::io::BufRead;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Where the programs of one test meet.
fn url(test: u32) -> String {
    format!("udpm://239.255.76.67:{}?ttl=0", 40_000 + (std::process::id() * 4 + test) % 20_000)
}

fn folkmoot(url: &str, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    command.args(["--json", "lcm", "--lcm-url", url]).args(words);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(url: &str, words: &[&str]) -> Output {
    folkmoot(url, words).output().unwrap()
}

fn said(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// A recorder that listens.
fn recorder(url: &str, file: &Path, more: &[&str]) -> Child {
    let words = [&["log", file.to_str().unwrap()], more].concat();
    let child = folkmoot(url, &words).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    while !file.exists() {
        assert!(Instant::now() < end, "nothing listens on {url}");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

/// An event as LCM's logs have it.
fn event(number: u8, channel: &str, payload: &[u8]) -> Vec<u8> {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_be_bytes();
    let head = [0xed, 0xa1, 0xda, 1, 0, 0, 0, 0, 0, 0, 0, number, 0, 0, 0, 0, 0, 0, number, 0];
    let lengths = [length(channel.as_bytes()), length(payload)].concat();
    [&head[..], &lengths, channel.as_bytes(), payload].concat()
}

/// The events of a file, without number and time.
fn events(file: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(file).unwrap();
    let mut rest = bytes.as_slice();
    let mut found = Vec::new();
    while let Some(head) = rest.get(..28) {
        let length = |place: usize| u32::from_be_bytes(head[place..place + 4].try_into().unwrap()) as usize;
        let end = 28 + length(20) + length(24);
        found.push(rest[20..end].to_vec());
        rest = &rest[end..];
    }
    found
}

#[test]
fn what_is_played_is_recorded() {
    alone("lcm::what_is_played_is_recorded", || {
        let place = Place::new("lcm-play");
        let (from, to) = (place.path().join("from.lcm"), place.path().join("to.lcm"));
        let log = [event(0, "POSE", b"one"), event(1, "SCAN", &[7; 30_000]), event(2, "POSE_2", b"")];
        std::fs::write(&from, log.concat()).unwrap();
        let url = url(0);
        let mut recorder = recorder(&url, &to, &["--count", "2", "--channel", "POSE.*", "--seconds", "30"]);
        play_until(&url, &from, || recorder.try_wait().unwrap().is_some());
        let recorded = recorder.wait_with_output().unwrap();
        assert_eq!((recorded.status.code(), said(&recorded)["messages"].as_u64()), (Some(0), Some(2)));
        assert_eq!(events(&to), [&log[0][20..], &log[2][20..]]);
        assert_eq!(said(&recorded)["lost"]["refused"], 0);
        let again = run(&url, &["log", to.to_str().unwrap(), "--count", "1"]);
        assert_eq!(again.status.code(), Some(3), "an existing file stays");
        assert!(String::from_utf8_lossy(&again.stderr).contains("--force"));
    });
}

#[test]
fn a_damaged_log_is_played_as_far_as_it_goes() {
    alone("lcm::a_damaged_log_is_played_as_far_as_it_goes", || {
        let place = Place::new("lcm-damage");
        let file = place.path().join("damaged.lcm");
        let log = [&event(0, "A", b"one")[..], b"junk", &event(1, "A", b"two"), &event(2, "A", b"cut")[..30]]
            .concat();
        std::fs::write(&file, log).unwrap();
        let played = run(&url(1), &["play", "--speed", "0", file.to_str().unwrap()]);
        assert_eq!(played.status.code(), Some(1));
        let told = said(&played);
        assert_eq!((told["messages"].as_u64(), told["skipped_bytes"].as_u64()), (Some(2), Some(34)));
    });
}

#[test]
fn what_is_no_log_at_all_and_what_is_a_folder_is_called_so() {
    alone("lcm::what_is_no_log_at_all_and_what_is_a_folder_is_called_so", || {
        let place = Place::new("lcm-no-log");
        let file = place.path().join("program.py");
        std::fs::write(&file, "print('a program')\n").unwrap();
        let refused = |words: &[&str], why: &str| {
            let output = run(&url(1), words);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.code() == Some(3) && told.contains(why), "{told}");
        };
        let no_log = "program.py is not a log of LCM: there is no message in it";
        refused(&["play", "--loop", file.to_str().unwrap()], no_log);
        let folder = place.path().to_str().unwrap();
        refused(&["log", folder], "it is a folder, and a file is needed here");
        refused(&["log", "--force", folder], "it is a folder, and a file is needed here");
    });
}

/// Plays a log until it is told to stop: any datagram may be lost.
fn play_until(url: &str, file: &Path, mut stop: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !stop() {
        assert!(Instant::now() < end, "what is published on {url} is not heard");
        assert!(run(url, &["play", file.to_str().unwrap()]).status.success());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_spy_sees_channels_and_an_echo() {
    alone("lcm::the_spy_sees_channels_and_an_echo", || {
        let place = Place::new("lcm-echo");
        let file = place.path().join("pings.lcm");
        let mut pings: Vec<u8> =
            (0..100).flat_map(|number| event(number, "PING", b"are you there?")).collect();
        pings.extend(event(100, "OTHER", b""));
        std::fs::write(&file, pings).unwrap();
        let url = url(2);
        let mut spy = folkmoot(&url, &["spy", "--channel", "P.NG"]).spawn().unwrap();
        let mut echo = folkmoot(&url, &["echo", "PING", "PONG"]).spawn().unwrap();
        let mut some = folkmoot(&url, &["echo", "PING", "BACK", "--count", "50"]).spawn().unwrap();
        // A table every second; the last one when it is told to stop.
        let tables = std::io::BufReader::new(spy.stdout.take().unwrap()).lines().map(Result::unwrap);
        let (tell, told) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || tables.for_each(|table| tell.send(table).unwrap()));
        let mut seen = false;
        play_until(&url, &file, || {
            seen |= told.try_iter().any(|table| table.contains("PONG"));
            seen && some.try_wait().unwrap().is_some()
        });
        let some = some.wait_with_output().unwrap();
        assert_eq!((some.status.code(), said(&some)["messages"].as_u64()), (Some(0), Some(50)));
        [&spy, &echo].into_iter().for_each(ends::interrupt);
        assert!(echo.wait().unwrap().success() && spy.wait().unwrap().success());
        reader.join().unwrap();
        let told: Value = serde_json::from_str(&told.try_iter().last().unwrap()).unwrap();
        let channels = told["channels"].as_array().unwrap();
        let names: Vec<&str> = channels.iter().map(|channel| channel["channel"].as_str().unwrap()).collect();
        assert_eq!(names, ["PING", "PONG"], "{told}");
        assert_eq!(channels[0]["last_size"], 14);
    });
}

#[test]
fn types_are_written_for_a_program() {
    let place = Place::new("lcm-gen");
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(file("a.lcm"), "package p; struct a_t { b_t x; }").unwrap();
    std::fs::write(file("b.lcm"), "package p;\nstruct b_t { string name; }").unwrap();
    let url = url(3);
    let written = run(&url, &["gen", &file("a.lcm"), &file("b.lcm"), "--out", &file("out")]);
    assert_eq!(
        (written.status.code(), said(&written)["file"].as_str()),
        (Some(0), Some(&*file("out/lcm_types.rs")))
    );
    let types = std::fs::read_to_string(file("out/lcm_types.rs")).unwrap();
    assert!(types.contains("pub struct AT {") && types.contains("pub x: BT,"), "{types}");
    let alone = run(&url, &["gen", &file("a.lcm"), "--out", &file("alone")]);
    let told = String::from_utf8_lossy(&alone.stderr).into_owned();
    assert_eq!(alone.status.code(), Some(3));
    assert!(
        told.contains("a.lcm:1:29: no file defines p.b_t") && !Path::new(&file("alone")).exists(),
        "{told}"
    );
    assert_eq!(run(&url, &["gen", &file("none.lcm"), "--out", &file("out")]).status.code(), Some(3));
    assert_eq!(run(&url, &["gen", "--out", &file("out")]).status.code(), Some(2));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let code = |words: &[&str]| run(&url(3), words).status.code();
    assert_eq!(code(&["echo", "A", "A"]), Some(2), "it would never end");
    assert_eq!(code(&["spy", "--channel", "("]), Some(2));
    assert_eq!(code(&["echo", "A", &"B".repeat(64)]), Some(2));
    for (option, why) in [("--speed", "a speed is 0, or"), ("--start", "seconds, 0 or more")] {
        let played = run(&url(3), &["play", option, "-1", "x.lcm"]);
        let told = String::from_utf8_lossy(&played.stderr).into_owned();
        assert!(played.status.code() == Some(2) && told.contains(why), "{told}");
    }
    assert_eq!(code(&["play", "/nowhere/x.lcm"]), Some(3));
    assert_eq!(run("tcpq://localhost", &["spy"]).status.code(), Some(2));
}
