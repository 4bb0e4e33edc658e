//! A certificate is put in the place of the one before while the programs run.

use super::alone::alone;
use super::fleet::{Fleet, until};
use crate::lcm::papers::good;
use std::time::Duration;

const POSE: &[&str] = &["POSE"];

#[test]
fn pub_80_a_channel_that_is_added_is_carried_without_a_restart() {
    alone("lcm::renewed::pub_80_a_channel_that_is_added_is_carried_without_a_restart", || {
        let robots = [("rover", 1, POSE), ("arm", 2, POSE), ("leg", 3, POSE)];
        let fleet = Fleet::new("lcm-renewed", 11, &robots);
        let bridges = [("rover", 1), ("arm", 2), ("leg", 3)].map(|(name, number)| fleet.bridge(name, number));
        bridges.iter().for_each(|bridge| bridge.is_with(&[1, 2, 3]));
        let there = fleet.record(3, "there.lcm");
        fleet.carries(1, &there, "before");
        // A certificate begins later than the one before by a second or more.
        std::thread::sleep(Duration::from_millis(1_100));
        for (name, number, _) in robots {
            let line =
                format!("certify --root root --sender {number} --request {name}/member.crt --out new-{name}");
            let made = good(
                fleet.path(),
                &format!("{line} --channel POSE --channel SCAN --days 700 --lcm-url {}", fleet.outside()),
            );
            assert_eq!(made["subject"], format!("CN={name}"));
            // As somebody would who knows how files are replaced.
            let [new, old] = [format!("new-{name}"), name.to_owned()].map(|one| fleet.path().join(one));
            std::fs::rename(new.join("member.crt"), old.join("member.crt")).unwrap();
        }
        bridges.iter().for_each(|bridge| bridge.has(Some("SCAN"), &[1, 2, 3]));
        bridges.iter().for_each(|bridge| bridge.has(Some("POSE"), &[1, 2, 3]));
        until("a scan", || {
            fleet.play(2, &[("SCAN", b"seen".to_vec())]);
            std::thread::sleep(Duration::from_millis(300));
            there.count("SCAN", "seen") > 0
        });
        fleet.carries(1, &there, "after");
        // Another's is refused, and nothing ends.
        std::fs::copy(fleet.path().join("arm/member.crt"), fleet.path().join("rover/member.crt")).unwrap();
        let [rover, ..] = &bridges;
        rover.says("not_renewed");
        fleet.carries(1, &there, "at the end");
    });
}
