//! Certificates for all channels that a pattern names.

use super::alone::alone;
use super::fleet::{Fleet, until};
use crate::lcm::papers::{good, refused};
use std::time::{Duration, Instant};

#[test]
fn pub_77_three_bridges_carry_three_hundred_channels_by_one_pattern() {
    alone("lcm::patterns::pub_77_three_bridges_carry_three_hundred_channels_by_one_pattern", || {
        let fleet = Fleet::new("lcm-patterns", 10, &[]);
        for (name, sender) in [("rover", 1), ("arm", 2), ("leg", 3)] {
            let line = format!("certify --root root --sender {sender} --channels ROBOT_.* --out {name}");
            let made = good(fleet.path(), &format!("{line} --lcm-url {}", fleet.outside()));
            assert_eq!(made["rights"][1]["pattern"], "ROBOT_.*");
        }
        let (rover, arm) = (fleet.bridge("rover", 1), fleet.bridge("arm", 2));
        let _leg = fleet.bridge("leg", 3);
        rover.is_with(&[1, 2, 3]);
        arm.is_with(&[1, 2, 3]);
        let there = fleet.record(3, "there.lcm");
        let names: Vec<String> = (0..300).map(|number| format!("ROBOT_{number}")).collect();
        let all = [("NOTES", vec![])].into_iter().chain(names.iter().map(|name| (name.as_str(), vec![1])));
        let all: Vec<(&str, Vec<u8>)> = all.collect();
        until("a message on each of 300 channels", || {
            for some in all.chunks(100) {
                fleet.play(1, some);
            }
            std::thread::sleep(Duration::from_millis(300));
            names.iter().all(|name| there.count(name, "\u{1}") > 0)
        });
        assert_eq!(there.count("NOTES", ""), 0, "the pattern does not name it");
        // One that nobody thought of when the bridges started.
        until("a message on another channel", || {
            fleet.play(2, &[("ROBOT_ARM_2", b"new".to_vec())]);
            std::thread::sleep(Duration::from_millis(300));
            there.count("ROBOT_ARM_2", "new") > 0
        });
        // A newcomer has the keys of two domains, not of three hundred.
        let started = Instant::now();
        arm.stop();
        let arm = fleet.bridge("arm", 2);
        arm.is_with(&[1, 2, 3]);
        assert!(started.elapsed() < Duration::from_secs(30));
    });
}

#[test]
fn a_pattern_is_not_taken_for_a_name() {
    let place = crate::common::place::Place::new("lcm-literal");
    let here = place.path();
    good(here, "root new root");
    let why = refused(here, "certify --root root --sender 4 --channel POSE.* --out arm", 2);
    assert!(why.contains("looks like a pattern") && why.contains("--channels 'POSE.*'"), "{why}");
    let why = refused(here, "certify --root root --sender 4 --channels ( --out arm", 2);
    assert!(why.contains("is not a pattern for channels"), "{why}");
    let why = refused(here, "certify --root root --sender 4 --channels POSE|SCAN --out arm", 2);
    assert!(why.contains("Write (POSE|SCAN)"), "{why}");
    let long = format!("certify --root root --sender 4 --channels {} --out arm", "x".repeat(64));
    refused(here, &long, 2);
    good(here, "certify --root root --sender 4 --channels POSE.* --channel SCAN --out arm");
    let why = refused(here, "spy --secured arm --seconds 1 --signed POSE_1", 3);
    assert!(why.contains("has no right POSE_1"), "{why}");
}
