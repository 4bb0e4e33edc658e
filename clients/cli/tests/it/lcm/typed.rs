//! Which channels a command takes, and what `lcm spy` tells of them: fields and rates.

use super::alone::alone;
use super::ends::interrupt;
use super::fleet::{Fleet, Recorder, ended, until};
use super::{event, folkmoot, recorder, run, said, url};
use crate::common::place::Place;
use folkmoot_lcm::typed::Typed;
use serde_json::{Value, json};
use std::io::BufRead;
use std::path::Path;

#[allow(dead_code, reason = "what lcm gen makes of robot.lcm is for other tests, too")]
mod generated {
    include!("../../../src/lcm/spy/types/robot.generated");
}

use generated::robot::{PoseT, ScanT};

fn write(file: &Path, messages: &[(&str, Vec<u8>)]) {
    let all = (0..).zip(messages).map(|(number, (channel, payload))| event(number, channel, payload));
    std::fs::write(file, all.collect::<Vec<_>>().concat()).unwrap();
}

/// The row of a channel in a table.
fn row(table: &Value, channel: &str) -> Value {
    let rows = table["channels"].as_array().unwrap();
    rows.iter().find(|row| row["channel"] == channel).cloned().unwrap_or_default()
}

#[test]
fn the_spy_tells_the_fields_of_types_that_it_is_given() {
    alone("lcm::typed::the_spy_tells_the_fields_of_types_that_it_is_given", || {
        let place = Place::new("lcm-types");
        let pose = PoseT { utime: 7, position: [1.0, 2.5, -3.0], name: "anna".into(), ..PoseT::default() };
        let mut damaged = pose.encode().unwrap();
        damaged.pop();
        let scan = ScanT { n: 1_000, ranges: vec![0.1; 1_000], flags: vec![true; 1_000], ..ScanT::default() };
        let words = vec!["x".repeat(30); 1_000];
        let (poses, nothing) = (vec![PoseT::default(); 1_000], vec![Vec::new(); 1_000]);
        let scan = ScanT { words, poses, nothing, ..scan };
        let (file, types) = (place.path().join("from.lcm"), "tests/it/lcm/robot.lcm");
        let all = [
            ("POSE", pose.encode().unwrap()),
            ("DAMAGED", damaged),
            ("SCAN", scan.encode().unwrap()),
            ("OTHER", vec![1; 20]),
            ("SHORT", vec![1]),
        ];
        assert!(all[2].1.len() > 64 << 10, "a long one");
        write(&file, &all);
        let url = url(0);
        let mut play = folkmoot(&url, &["play", "--loop", file.to_str().unwrap()]).spawn().unwrap();
        let mut spy = folkmoot(&url, &["spy", "--types", types]).spawn().unwrap();
        let tables = std::io::BufReader::new(spy.stdout.take().unwrap()).lines();
        let mut tables = tables.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap()).take(60);
        let table = tables.find(|table| all.iter().all(|(name, _)| row(table, name)["messages"].is_u64()));
        let table = table.unwrap();
        let person = run_plainly(&url, &["spy", "--types", types, "--seconds", "2"]);
        play.kill().unwrap();
        play.wait().unwrap();
        interrupt(&spy);
        tables.for_each(drop);
        assert!(spy.wait().unwrap().success());

        let told = row(&table, "POSE");
        let wanted = json!({
            "utime": 7, "position": [1.0, 2.5, -3.0], "turn": [[0.0, 0.0], [0.0, 0.0]],
            "name": "anna", "ok": false, "raw": 0,
        });
        assert_eq!((&told["type"], &told["fields"]), (&json!("robot.pose_t"), &wanted), "{told}");
        assert_eq!((&told["wrong"], &told["shortened"]), (&Value::Null, &json!(false)));
        let told = row(&table, "DAMAGED");
        assert_eq!((&told["type"], &told["fields"]), (&json!("robot.pose_t"), &Value::Null));
        assert_eq!(told["wrong"], "the message ends before its last field does");
        for (channel, fingerprint) in [("OTHER", json!("0101010101010101")), ("SHORT", Value::Null)] {
            let told = row(&table, channel);
            assert_eq!((&told["wrong"], &told["fingerprint"]), (&json!("type unknown"), &fingerprint));
            assert_eq!((&told["type"], &told["fields"]), (&Value::Null, &Value::Null));
        }
        let told = row(&table, "SCAN");
        assert_eq!(told["fields"]["ranges"].as_array().unwrap().len(), 1_000);
        assert_eq!((&told["fields"]["flags"]["length"], &told["shortened"]), (&json!(1_000), &json!(true)));

        assert!(person.contains("LAST MESSAGE"), "{person}");
        let pose =
            "robot.pose_t: utime=7, position=[1.0, 2.5, -3.0], turn=[[0.0, 0.0], [0.0, 0.0]], name=\"anna\"";
        assert!(person.contains(pose), "{person}");
        assert!(person.contains("type unknown: fingerprint 0101010101010101"), "{person}");
        assert!(person.contains("robot.pose_t, damaged: the message ends before"), "{person}");
        assert!(person.contains("ranges=[0.1, 0.1, 0.1, ... 1000 in all]"), "{person}");
    });
}

fn run_plainly(url: &str, words: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_folkmoot"));
    let output = command.args(["lcm", "--lcm-url", url]).args(words).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn types_that_are_wrong_are_refused() {
    let place = Place::new("lcm-types-wrong");
    let file = place.path().join("a.lcm");
    std::fs::write(&file, "struct a {\n  b_t x; }").unwrap();
    let refused = |file: &str, why: &str| {
        let output = run(&url(1), &["spy", "--seconds", "1", "--types", file]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(3) && told.contains(why), "{told}");
    };
    refused(file.to_str().unwrap(), "a.lcm:2:7: no file defines b_t");
    refused("/nowhere/a.lcm", "/nowhere/a.lcm: ");
}

#[test]
fn the_last_table_has_rates_over_a_whole_interval() {
    alone("lcm::typed::the_last_table_has_rates_over_a_whole_interval", || {
        let place = Place::new("lcm-rates");
        let (file, url) = (place.path().join("from.lcm"), url(2));
        // 100 messages a second, for two seconds and again.
        let mut all = Vec::new();
        for number in 0..200_u64 {
            let mut one = event(0, "TICK", b"");
            one[12..20].copy_from_slice(&(number * 10_000).to_be_bytes());
            all.extend(one);
        }
        std::fs::write(&file, all).unwrap();
        let mut play = folkmoot(&url, &["play", "--loop", file.to_str().unwrap()]).spawn().unwrap();
        // The last table comes right after another one.
        let last = said(&run(&url, &["spy", "--channel", "TICK", "--seconds", "3"]));
        play.kill().unwrap();
        play.wait().unwrap();
        let rate = row(&last, "TICK")["messages_per_second"].as_f64().unwrap();
        assert!((30.0..=200.0).contains(&rate), "{last}");
    });
}

fn channels(recorder: &Recorder) -> Vec<String> {
    let mut names: Vec<String> = recorder.heard().into_iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn inverted_are_the_channels_that_do_not_match() {
    alone("lcm::typed::inverted_are_the_channels_that_do_not_match", || {
        let place = Place::new("lcm-invert");
        let (from, to) = (place.path().join("from.lcm"), place.path().join("to.lcm"));
        let all = ["POSE", "POSE_2", "SCAN", "NOTES"].map(|name| (name, vec![7]));
        write(&from, &all);
        let url = url(3);
        // What is played: all but POSE_2. What is recorded of it: all but SCAN and LCM's own.
        let pattern = "(SCAN|LCM.*)";
        let recorder = recorder(&url, &to, &["--channel", pattern, "--invert"]);
        let heard = Recorder::of(recorder, to.clone());
        until("all that is wanted", || {
            let words = ["play", "--speed", "0", "-v", "--channel", "POSE_.*", from.to_str().unwrap()];
            assert_eq!(said(&run(&url, &words))["messages"], 3);
            channels(&heard) == ["NOTES", "POSE"]
        });
        let told = heard.stop();
        assert!(told["messages"].as_u64() >= Some(2), "{told}");
        let spy = folkmoot(&url, &["spy", "--invert-channels", "--channel", "P.*"]).spawn().unwrap();
        super::ends::settle(&spy);
        assert!(run(&url, &["play", "--speed", "0", from.to_str().unwrap()]).status.success());
        std::thread::sleep(std::time::Duration::from_millis(300));
        interrupt(&spy);
        let last = ended(spy);
        assert_eq!((row(&last, "SCAN")["messages"].as_u64(), row(&last, "POSE")), (Some(1), Value::Null));
    });
}

#[test]
fn pub_67_an_inverted_bridge_carries_no_other_channels_than_its_certificate_names() {
    alone(
        "lcm::typed::pub_67_an_inverted_bridge_carries_no_other_channels_than_its_certificate_names",
        || {
            let both: &[&str] = &["POSE", "SCAN"];
            let fleet = Fleet::new("lcm-invert-bridge", 8, &[("rover", 1, both), ("arm", 2, both)]);
            let rover = fleet.bridge_of("rover", 1, &["--channel", "SCAN", "--invert"]);
            let arm = fleet.bridge("arm", 2);
            arm.is_with(&[1, 2]);
            let there = fleet.record(2, "there.lcm");
            fleet.play(1, &[("SCAN", b"out".to_vec()), ("NOTES", b"out".to_vec())]);
            fleet.carries(1, &there, "pose");
            let here = fleet.record(1, "here.lcm");
            fleet.carries(2, &here, "back");
            fleet.play(2, &[("SCAN", b"in".to_vec())]);
            fleet.carries(2, &here, "end");
            let went = |channel: &str| there.count(channel, "out") + here.count(channel, "in");
            assert_eq!((went("SCAN"), went("NOTES")), (0, 0));
            let told = rover.stop();
            assert_eq!(told["outward"]["not_permitted"], 1, "{told}");
        },
    );
}
