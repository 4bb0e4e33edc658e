//! What a person at a plain terminal sees: no bytes that are no text, and whom `/quit` ends.

use super::whole::alone;
use crate::common::actor::{Actor, Talk};
use crate::common::place::{Place, Times};
use crate::common::program::{code, program};
use serde_json::json;
use std::fs::File;
use std::io::Write as _;
use std::process::{Child, Command, Output, Stdio};

/// As [`program`], for a person.
fn plain(who: &Actor, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    command.env_remove("FOLKMOOT_STATE").arg("--state").arg(&who.state).args(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ends(child: Child) -> String {
    let Output { stdout, stderr, .. } = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned()
}

/// Waits until so many hear what the member says.
fn listen(who: &Actor, count: u64) {
    let begun = std::time::Instant::now();
    while who.ask(&json!({ "op": "view" }))["listeners"] != count {
        assert!(begun.elapsed().as_secs() < 60, "{count} do not listen");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn what_is_no_text_reaches_no_terminal() {
    let place = Place::new("binary");
    let [mut anna, dora] = ["anna", "dora"].map(|name| Actor::new(&place, name));
    place.found_with(&[&anna.state], Times::PATIENT, &["--votes", "1", "--letters"]);
    anna.start(&place, &[], &[]);
    anna.until(&["status"], |status| status["epoch"].is_string());
    let file = place.path().join("picture").display().to_string();
    std::fs::write(&file, b"\x89PNG\r\n\x1a\n\0\x1b[2J").unwrap();
    let (hears, talks) = (plain(&anna, &["receive", "--count", "2"]), plain(&anna, &["chat"]));
    listen(&anna, 2);
    anna.good(&["send", "--sign", "--file", &file]);
    anna.good(&["send", "red \u{1b}[31malert"]);

    let charter = place.signed().display().to_string();
    let line = ["write", &charter, "--at", &anna.locator, "--listen", "127.0.0.1:0"];
    let mut writes = plain(&dora, &line);
    writes.stdin.take().unwrap().write_all(b"\0\xff\x1b[2J").unwrap();
    let letters = anna.until(&["letters"], |letters| letters[0]["name"] == "dora");
    assert_eq!((&letters[0]["text"], &letters[0]["payload"]), (&json!(null), &json!("00ff1b5b324a")));
    let listed = ends(plain(&anna, &["letters"]));
    anna.good(&["answer", "dora", "\u{1b}]0;title\u{7}"]);

    let proof = place.path().join("proof").display().to_string();
    anna.good(&["proof", "--out", &proof]);
    let verified = ends(plain(&anna, &["verify", &proof, "--charter", &charter]));
    let all = [
        (ends(hears), "(13 bytes, not text)"),
        (ends(writes), "anna: (10 bytes, not text)"),
        (listed, "(6 bytes, not text)"),
        (verified, "(13 bytes, not text)"),
    ];
    let talked = ends(talks);
    for part in
        ["(13 bytes, not text)", "red \u{fffd}[31malert", "(6 bytes, not text)", "(10 bytes, not text)"]
    {
        assert!(talked.contains(part), "{part}: {talked:?}");
    }
    for (shown, part) in all.iter().chain([&(talked, "red")]) {
        assert!(shown.contains(part), "{part}: {shown:?}");
        let raw = |c: char| c.is_control() && c != '\n';
        assert!(!shown.contains(raw), "{shown:?}");
    }
}

#[test]
fn quit_ends_a_member_only_where_it_was_started_and_says_whom_else_it_ends() {
    let place = Place::new("quit");
    let anna = Actor::new(&place, "anna");
    place.found_with(&[&anna.state], Times::PATIENT, &["--votes", "1"]);
    let mut starts = anna.talk(&place, "chat", "");
    anna.until(&["status"], |status| status["epoch"].is_string());
    let attach = || {
        let mut command = program(&anna.state);
        command.arg("chat").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let talk = Talk::of(command.spawn().unwrap());
        listen(&anna, 2);
        talk
    };
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let mut attached = attach();
    attached.types("/quit");
    let left = attached.end();
    assert!(code(&left) == 0 && !said(&left).contains("the member"), "{}", said(&left));
    listen(&anna, 1);
    anna.good(&["status"]);

    let attached = attach();
    starts.types("/quit");
    let started = starts.end();
    assert_eq!(code(&started), 0, "{}", said(&started));
    assert!(said(&started).contains("the talk of 1 other terminal or program"), "{}", said(&started));
    let ended = attached.end();
    assert!(said(&ended).contains("the member has stopped"), "{}", said(&ended));
}

#[test]
fn a_file_that_is_too_long_is_refused_unread() {
    let (place, anna) = alone("long");
    let file = place.path().join("film");
    File::create(&file).unwrap().set_len(1 << 40).unwrap();
    let sent = anna.run(&["send", "--file", &file.display().to_string()]);
    let why = String::from_utf8_lossy(&sent.stderr).into_owned();
    assert_eq!(code(&sent), 2, "{why}");
    assert!(why.contains("film has 1099511627776 bytes") && why.contains("4194304 (4 MiB)"), "{why}");
}
