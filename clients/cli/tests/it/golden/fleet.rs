//! Publish and subscribe: papers, programs that hear one another, and a bridge.

use super::stage::{Note, Running, Stage};
use serde_json::json;
use std::process::Child;

/// What is played, and what is to come of it.
const TYPES: &str = "package robot; struct pose_t { double x; string name; }";

pub(super) fn story() -> Vec<Note> {
    let mut stage = Stage::new("fleet");
    papers(&mut stage);
    plain(&mut stage);
    bridge(&mut stage);
    stage.note("x", "a certificate", "lcm exclude arm/member.crt --root root");
    stage.note("x", "an excluded one", "lcm certificate show arm/member.crt --root root/root.crt");
    stage.note(
        "x",
        "nobody confirms it",
        "lcm exclude --again --root root --wait 1 --lcm-url udpm://239.255.76.68:7668?ttl=0",
    );
    stage.notes()
}

fn papers(stage: &mut Stage) {
    stage.note("x", "new", "lcm root new root --name robots");
    let group = "--lcm-url udpm://239.255.76.68:7668?ttl=0";
    stage.note(
        "x",
        "of a key that is made",
        &format!("lcm certify --root root --sender 4 --channel POSE --channels ROBOT_.* --out arm {group}"),
    );
    stage.note(
        "x",
        "its number is another's",
        &format!("lcm certify --root root --sender 4 --out leg {group}"),
    );
    stage.note("x", "a certificate that counts", "lcm certificate show arm/member.crt");
    stage.secret("phrase", "correct horse battery");
    stage.note("x", "encrypted", "lcm passphrase root --new-passphrase-file phrase");
    stage.note("x", "no more", "lcm passphrase root --no-passphrase --passphrase-file phrase");
}

fn plain(stage: &mut Stage) {
    std::fs::write(stage.file("pose.lcm"), TYPES).unwrap();
    stage.note("x", "a type", "lcm gen pose.lcm --out types");
    let log = [event(0, "POSE", b"one"), event(1, "SCAN", &[7; 300])];
    std::fs::write(stage.file("from.lcm"), log.concat()).unwrap();
    let lines = ["lcm log to.lcm --count 1 --channel POSE", "lcm echo POSE POSE_COPY --count 1"];
    let mut listeners: Vec<Child> = lines.iter().map(|line| stage.begin("x", line)).collect();
    let looks = "lcm spy --channel SCAN --types pose.lcm";
    let mut spy = stage.start("x", looks);
    let sees = |spy: &Running| spy.said().last().is_some_and(|table| table["channels"][0].is_object());
    // Any datagram may be lost.
    while !sees(&spy) || listeners.iter_mut().any(|one| one.try_wait().unwrap().is_none()) {
        stage.good("x", "lcm play from.lcm --speed 0");
    }
    spy.stops();
    stage.note_last(looks, ("what came", &spy));
    for (line, listener) in lines.iter().zip(listeners) {
        stage.end("x", "what came", line, listener);
    }
    stage.note("x", "a log", "lcm play from.lcm --speed 0");
    stage.note("x", "no log", "lcm play pose.lcm");
}

fn bridge(stage: &mut Stage) {
    let outside = "--outside udpm://239.255.76.68:7668?ttl=0";
    let line = format!("lcm bridge --secured arm {outside}");
    let mut bridge = stage.start("x", &line);
    bridge.says(|told| {
        let all = told["keys"].as_array().filter(|all| !all.is_empty());
        all.is_some_and(|all| all.iter().all(|key| key["members"] == json!([4])))
    });
    bridge.stops();
    stage.note_last(&line, ("alone", &bridge));
}

/// An event as LCM's logs have it.
fn event(number: u8, channel: &str, payload: &[u8]) -> Vec<u8> {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_be_bytes();
    let head = [0xed, 0xa1, 0xda, 1, 0, 0, 0, 0, 0, 0, 0, number, 0, 0, 0, 0, 0, 0, number, 0];
    let lengths = [length(channel.as_bytes()), length(payload)].concat();
    [&head[..], &lengths, channel.as_bytes(), payload].concat()
}
