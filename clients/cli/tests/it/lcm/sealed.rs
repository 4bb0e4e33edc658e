//! Commands with `--secured`, and what becomes of those who may not, must not, or come again.

use super::alone::alone;
use super::ends::interrupt;
use super::fleet::{Fleet, Recorder, Sniffer, ended, until};
use super::{folkmoot, recorder, run};
use crate::lcm::papers::good;
use std::collections::BTreeSet;
use std::time::Duration;

const BOTH: &[&str] = &["POSE", "SCAN"];
const POSE: &[&str] = &["POSE"];

/// A recorder that takes part in the secured group.
fn member(fleet: &Fleet, name: &str) -> Recorder {
    let file = fleet.path().join(format!("{name}.lcm"));
    let folder = fleet.file(name);
    Recorder::of(recorder(&fleet.outside(), &file, &["--secured", &folder]), file)
}

#[test]
fn what_members_play_members_record_opened() {
    alone("lcm::sealed::what_members_play_members_record_opened", || {
        let fleet = Fleet::new("lcm-sealed", 4, &[("rover", 1, BOTH), ("arm", 2, BOTH), ("leg", 3, BOTH)]);
        let file = fleet.path().join("from.lcm");
        let log = [("POSE", b"here".to_vec()), ("SCAN", vec![7; 200_000]), ("POSE", vec![])];
        fleet.write(&file, &log);
        let heard = member(&fleet, "arm");
        let echo = ["echo", "POSE", "SCAN", "--secured", &fleet.file("leg")];
        let echo = folkmoot(&fleet.outside(), &echo).spawn().unwrap();
        let rover = fleet.file("rover");
        let play = ["play", file.to_str().unwrap(), "--secured", &rover];
        until("what the rover plays", || {
            let played = run(&fleet.outside(), &play);
            assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
            std::thread::sleep(Duration::from_millis(300));
            let came = heard.heard();
            let has =
                |channel: &str, payload: &[u8]| came.iter().any(|one| one.0 == channel && one.1 == payload);
            log.iter().all(|(channel, payload)| has(channel, payload)) && has("SCAN", b"here")
        });
        interrupt(&echo);
        assert!(ended(echo)["messages"].as_u64().unwrap() > 0);
        let told = heard.stop();
        assert_eq!((&told["lost"]["unopened"]["forged"], &told["lost"]["refused"]), (&0.into(), &0.into()));
        // The log is LCM's own, and anybody who has it can read it.
        let again = run(&fleet.inside(1), &["play", "--speed", "0", &fleet.file("arm.lcm")]);
        assert!(again.status.success());
        // A channel that is not in the certificate.
        fleet.write(&file, &[("NOTES", vec![])]);
        let refused = run(&fleet.outside(), &play);
        let why = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(3) && why.contains("not for the channel NOTES"), "{why}");
        let elsewhere = run(&fleet.inside(1), &play);
        assert_eq!(elsewhere.status.code(), Some(3), "the certificate is for another group");
    });
}

#[test]
fn without_a_right_a_member_reads_no_content_and_an_outsider_no_name() {
    alone("lcm::sealed::without_a_right_a_member_reads_no_content_and_an_outsider_no_name", || {
        let robots = [("rover", 1, BOTH), ("arm", 2, BOTH), ("watch", 3, POSE)];
        let fleet = Fleet::new("lcm-rights", 5, &robots);
        let (rover, _arm) = (fleet.bridge("rover", 1), fleet.bridge("arm", 2));
        let (watch, there) = (member(&fleet, "watch"), fleet.record(2, "there.lcm"));
        let file = fleet.path().join("outside.lcm");
        let outsider = Recorder::of(recorder(&fleet.outside(), &file, &[]), file);
        rover.has(Some("POSE"), &[1, 2, 3]);
        rover.has(Some("SCAN"), &[1, 2]);
        until("a scan and a pose", || {
            fleet.play(1, &[("SCAN", b"for two".to_vec()), ("POSE", b"for three".to_vec())]);
            std::thread::sleep(Duration::from_millis(300));
            there.count("SCAN", "for two") > 0 && watch.count("POSE", "for three") > 0
        });
        let names = |recorder: &Recorder| -> BTreeSet<String> {
            let all = recorder.heard().into_iter().map(|(channel, _)| channel);
            // Neither is a program's: the agreement on keys, and the self test.
            all.filter(|name| !name.starts_with("folkmoot://") && name != "LCM_SELF_TEST").collect()
        };
        assert_eq!(names(&watch), BTreeSet::from(["POSE".to_owned()]));
        assert_eq!(names(&outsider), BTreeSet::new());
        assert!(watch.stop()["lost"]["unopened"]["unreadable"].as_u64().unwrap() > 0);
        assert!(outsider.stop()["lost"]["secured"].as_u64().unwrap() > 0);
    });
}

#[test]
fn whoever_is_excluded_hears_nothing_and_is_not_heard() {
    alone("lcm::sealed::whoever_is_excluded_hears_nothing_and_is_not_heard", || {
        let robots = [("rover", 1, BOTH), ("arm", 2, BOTH), ("thief", 3, BOTH)];
        let fleet = Fleet::new("lcm-thief", 6, &robots);
        let (rover, arm) = (fleet.bridge("rover", 1), fleet.bridge("arm", 2));
        let thief = fleet.bridge("thief", 3);
        rover.is_with(&[1, 2, 3]);
        let (there, stolen) = (fleet.record(2, "there.lcm"), fleet.record(3, "stolen.lcm"));
        fleet.carries(1, &stolen, "before");
        let line = format!("exclude thief/member.crt --root root --now --lcm-url {}", fleet.outside());
        good(fleet.path(), &line);
        rover.is_with(&[1, 2]);
        arm.is_with(&[1, 2]);
        fleet.carries(1, &there, "after");
        for _ in 0..10 {
            fleet.play(3, &[("POSE", b"from the thief".to_vec())]);
        }
        fleet.carries(1, &there, "end");
        assert_eq!((stolen.count("POSE", "after"), stolen.count("POSE", "end")), (0, 0), "it is deaf");
        assert_eq!(there.count("POSE", "from the thief"), 0, "nobody hears it");
        assert_eq!(thief.ends(), Some(5), "it says so");
        // It does not come back.
        let again = run(&fleet.outside(), &["spy", "--seconds", "20", "--secured", &fleet.file("thief")]);
        assert_eq!(again.status.code(), Some(5), "{}", String::from_utf8_lossy(&again.stderr));
        assert_eq!(rover.members(), [1, 2]);
    });
}

#[test]
fn a_bridge_comes_again_after_a_crash_and_what_was_recorded_is_refused() {
    alone("lcm::sealed::a_bridge_comes_again_after_a_crash_and_what_was_recorded_is_refused", || {
        let fleet = Fleet::new("lcm-again", 7, &[("rover", 1, BOTH), ("arm", 2, BOTH)]);
        let sniffer = Sniffer::new(&fleet.outside());
        let (rover, arm) = (fleet.bridge("rover", 1), fleet.bridge("arm", 2));
        arm.is_with(&[1, 2]);
        let there = fleet.record(2, "there.lcm");
        fleet.carries(1, &there, "once");
        let heard = there.count("POSE", "once");
        let recorded: Vec<Vec<u8>> = sniffer.sealed();
        let count = u64::try_from(recorded.len()).unwrap();
        let all = |arm: &super::fleet::Bridge| {
            ["replayed", "epochs", "names", "forged", "strangers"]
                .iter()
                .map(|why| arm.number(&format!("/outside/unopened/{why}")))
                .sum::<u64>()
        };
        let before = all(&arm);
        sniffer.repeat(&recorded);
        until("the repeated datagrams, refused", || all(&arm) >= before + count);
        assert_eq!(there.count("POSE", "once"), heard, "nothing counts twice");
        // After a restart there is no memory of what came, and no key that it was under.
        arm.crash();
        let arm = fleet.bridge("arm", 2);
        arm.is_with(&[1, 2]);
        rover.is_with(&[1, 2]);
        fleet.carries(1, &there, "again");
        let before = all(&arm);
        sniffer.repeat(&recorded);
        until("the repeated datagrams, refused again", || all(&arm) >= before + count);
        assert_eq!(there.count("POSE", "once"), heard, "nothing counts after a restart");
    });
}
