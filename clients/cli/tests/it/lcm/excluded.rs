//! An exclusion is called done when the members have said so, and each hears it in the end.

use super::alone::alone;
use super::fleet::Fleet;
use crate::lcm::papers::{good, lcm, refused};
use crate::lcm::{event, folkmoot, said};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const POSE: &[&str] = &["POSE"];
const ROBOTS: [(&str, u16, &[&str]); 3] = [("rover", 1, POSE), ("arm", 2, POSE), ("thief", 3, POSE)];

/// Tells everything again: exit code, and what became of it.
fn again(fleet: &Fleet, seconds: u32) -> (Option<i32>, Value) {
    let line = format!("exclude --again --root root --wait {seconds} --lcm-url {}", fleet.outside());
    let output = lcm(fleet.path(), &line);
    let said = said(&output);
    let one = &said["exclusions"][0];
    assert_eq!(said["done"], one["excluded"]);
    (output.status.code(), one["groups"][0].clone())
}

#[test]
fn pub_46_whoever_plays_a_log_and_is_excluded_is_told_so() {
    alone("lcm::excluded::pub_46_whoever_plays_a_log_and_is_excluded_is_told_so", || {
        let fleet = Fleet::new("lcm-played-out", 10, &ROBOTS);
        let rover = fleet.bridge("rover", 1);
        let log = fleet.path().join("a.lcm");
        std::fs::write(&log, event(0, "POSE", b"here")).unwrap();
        let line = ["play", "--loop", "--secured", &fleet.file("thief"), log.to_str().unwrap()];
        let mut play = folkmoot(&fleet.outside(), &line);
        let play = play.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        rover.is_with(&[1, 3]);
        let line =
            format!("exclude thief/member.crt --root root --now --wait 1 --lcm-url {}", fleet.outside());
        refused(fleet.path(), &line, 6);
        rover.is_with(&[1]);
        let output = play.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(5), "{said}");
        assert!(said.contains("no longer takes part") && said.contains("is excluded"), "{said}");
    });
}

/// The statements in a robot's folder.
fn statements(fleet: &Fleet, robot: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(fleet.path().join(robot).join("excluded"));
    entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn pub_75_nobody_is_called_excluded_before_all_members_have_said_so() {
    alone("lcm::excluded::pub_75_nobody_is_called_excluded_before_all_members_have_said_so", || {
        let fleet = Fleet::new("lcm-confirm", 8, &ROBOTS);
        let line =
            format!("exclude thief/member.crt --root root --now --wait 1 --lcm-url {}", fleet.outside());
        let why = refused(fleet.path(), &line, 6);
        assert!(why.contains("no member confirmed it within 1 s") && why.contains("--again"), "{why}");
        // Nobody has heard it: the thief is with them.
        let (rover, thief) = (fleet.bridge("rover", 1), fleet.bridge("thief", 3));
        rover.is_with(&[1, 3]);
        let (code, told) = again(&fleet, 3);
        assert_eq!((code, &told["confirmed"], &told["missing"]), (Some(6), &json!([1]), &json!([2])));
        rover.is_with(&[1]);
        assert_eq!(thief.ends(), Some(5));
        assert_eq!(statements(&fleet, "rover").len(), 1, "it lies in the folder");
        // Who comes later hears it from the others, and then it is so for all.
        let arm = fleet.bridge("arm", 2);
        arm.is_with(&[1, 2]);
        let (code, told) = again(&fleet, 10);
        assert_eq!((code, &told["confirmed"], &told["missing"]), (Some(0), &json!([1, 2]), &json!([])));
        assert_eq!(statements(&fleet, "arm").len(), 1);
    });
}

#[test]
fn pub_76_an_exclusion_in_the_folder_counts_without_anybody_elses_word() {
    alone("lcm::excluded::pub_76_an_exclusion_in_the_folder_counts_without_anybody_elses_word", || {
        let fleet = Fleet::new("lcm-folder", 9, &ROBOTS);
        let (arm, thief) = (fleet.bridge("arm", 2), fleet.bridge("thief", 3));
        arm.is_with(&[2, 3]);
        let made = good(fleet.path(), "exclude thief/member.crt --root root");
        let file = fleet.path().join(made["exclusions"][0]["file"].as_str().unwrap());
        assert_eq!((&made["done"], &made["exclusions"][0]["excluded"]), (&false.into(), &false.into()));
        // While it runs.
        put(&file, &fleet.path().join("arm"));
        arm.is_with(&[2]);
        assert_eq!(thief.ends(), Some(5));
        // At the start, with a state that knows nothing of it. The rover has never met the arm.
        arm.crash();
        put(&file, &fleet.path().join("rover"));
        let (rover, thief) = (fleet.bridge("rover", 1), fleet.bridge("thief", 3));
        assert_eq!(thief.ends(), Some(5));
        rover.is_with(&[1]);
        // Whoever gets a certificate afterwards gets it, too.
        good(fleet.path(), "certify --root root --sender 4 --channel POSE --out leg");
        assert_eq!(statements(&fleet, "leg").len(), 1);
        // A file that is none is not passed over.
        std::fs::write(fleet.path().join("leg/excluded/other.statement"), [7; 96]).unwrap();
        let why = refused(fleet.path(), "spy --seconds 1 --secured leg", 3);
        assert!(why.contains("other.statement is no exclusion by the root"), "{why}");
    });
}

fn put(file: &Path, robot: &Path) {
    std::fs::create_dir_all(robot.join("excluded")).unwrap();
    std::fs::copy(file, robot.join("excluded").join(file.file_name().unwrap())).unwrap();
}
