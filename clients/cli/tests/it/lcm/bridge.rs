//! `folkmoot lcm bridge`: plain programs talk, and outside all is sealed.

use super::alone::alone;
use super::fleet::{Fleet, Sniffer, holds, until};
use super::{folkmoot, run};
use std::time::Duration;

const BOTH: &[&str] = &["POSE", "SCAN"];
/// Stands in contents, and nowhere else.
const MARK: &[u8] = b"where the rover is";

fn message(channel: &str, text: &str) -> (&'static str, Vec<u8>) {
    let channel = ["POSE", "SCAN", "NOTES"].into_iter().find(|one| *one == channel).unwrap();
    (channel, text.as_bytes().to_vec())
}

#[test]
fn pub_67_plain_programs_hear_one_another_and_outside_nobody_reads_a_word() {
    alone("lcm::bridge::pub_67_plain_programs_hear_one_another_and_outside_nobody_reads_a_word", || {
        let fleet = Fleet::new("lcm-bridge", 0, &[("rover", 1, BOTH), ("arm", 2, BOTH)]);
        let sniffer = Sniffer::new(&fleet.outside());
        let (rover, arm) = (fleet.bridge("rover", 1), fleet.bridge("arm", 2));
        rover.is_with(&[1, 2]);
        arm.is_with(&[1, 2]);
        let heard = fleet.record(2, "heard.lcm");
        let mut scan = MARK.repeat(60_000);
        let mut attempt = 0;
        until("100 poses and a long scan", || {
            attempt += 1;
            let poses: Vec<String> = (0..100).map(|number| format!("{attempt} {number}")).collect();
            let mut all: Vec<_> = poses.iter().map(|pose| message("POSE", pose)).collect();
            scan[0] = attempt;
            all.extend([("SCAN", scan.clone()), message("NOTES", "for this host alone")]);
            fleet.play(1, &all);
            std::thread::sleep(Duration::from_millis(500));
            let came = heard.heard();
            assert!(came.iter().all(|(channel, _)| channel != "NOTES"));
            let of = |one: &&(String, Vec<u8>)| one.1.starts_with(format!("{attempt} ").as_bytes());
            let came_poses: Vec<&[u8]> = came.iter().filter(of).map(|one| one.1.as_slice()).collect();
            let all_poses: Vec<&[u8]> = poses.iter().map(|pose| pose.as_bytes()).collect();
            let in_order =
                came_poses.iter().map(|one| all_poses.iter().position(|pose| pose == one).unwrap());
            assert!(in_order.is_sorted(), "the order is the speaker's");
            came_poses.len() == 100 && came.iter().any(|one| one.0 == "SCAN" && one.1 == scan)
        });
        // The other way, too.
        let back = fleet.record(1, "back.lcm");
        fleet.carries(2, &back, "from the arm");
        until("what the sniffer heard", || sniffer.sealed().len() > 100);
        for datagram in sniffer.heard() {
            assert!(!holds(&datagram, MARK) && !holds(&datagram, b"from the arm"), "what is said is sealed");
        }
        for datagram in sniffer.sealed() {
            assert!(!holds(&datagram, b"POSE") && !holds(&datagram, b"SCAN"), "names are hidden");
        }
        let told = rover.stop();
        let count = |pointer: &str| told.pointer(pointer).and_then(serde_json::Value::as_u64).unwrap();
        assert!(count("/outward/messages") >= 101 && count("/inward/messages") >= 1, "{told}");
        assert_eq!(count("/outward/not_permitted"), u64::from(attempt), "{told}");
        assert_eq!((count("/outward/failed"), count("/inward/failed")), (0, 0), "{told}");
        // It has left, so the other one is alone.
        arm.is_with(&[2]);
    });
}

#[test]
fn pub_66_of_two_bridges_one_carries_and_nothing_goes_round() {
    alone("lcm::bridge::pub_66_of_two_bridges_one_carries_and_nothing_goes_round", || {
        let robots = [("rover", 1, BOTH), ("arm", 2, BOTH), ("spare", 3, BOTH)];
        let fleet = Fleet::new("lcm-two", 1, &robots);
        let (rover, arm) = (fleet.bridge("rover", 1), fleet.bridge("arm", 2));
        let spare = fleet.bridge("spare", 1);
        arm.is_with(&[1, 2, 3]);
        until("the spare one stands by", || spare.last().is_some_and(|last| last["stands_by"] == true));
        let (here, there) = (fleet.record(1, "here.lcm"), fleet.record(2, "there.lcm"));
        for number in 0..20 {
            fleet.play(1, &[message("POSE", &format!("to {number}"))]);
            fleet.play(2, &[message("POSE", &format!("back {number}"))]);
        }
        fleet.carries(1, &there, "end");
        fleet.carries(2, &here, "end");
        for number in 0..20 {
            for (way, place) in [("to", &here), ("to", &there), ("back", &here), ("back", &there)] {
                let count = place.count("POSE", &format!("{way} {number}"));
                // The network may lose one, and nothing doubles one.
                assert!(count <= 1, "{way} {number}: {count} times");
            }
        }
        let came = |place: &super::fleet::Recorder, way: &str| {
            (0..20).filter(|number| place.count("POSE", &format!("{way} {number}")) == 1).count()
        };
        assert!(came(&there, "to") >= 15 && came(&here, "back") >= 15, "most of them come");
        assert_eq!(spare.number("/outward/messages") + spare.number("/inward/messages"), 0);
        // When the first one is gone, the spare one carries.
        rover.crash();
        fleet.carries(1, &there, "without the first");
        assert!(arm.stop()["inward"]["messages"].as_u64().unwrap() > 0);
    });
}

#[test]
fn pub_68_a_bridge_that_would_open_the_host_or_go_nowhere_is_refused() {
    alone("lcm::bridge::pub_68_a_bridge_that_would_open_the_host_or_go_nowhere_is_refused", || {
        let fleet = Fleet::new("lcm-refused", 2, &[("rover", 1, BOTH)]);
        let (folder, inside, outside) = (fleet.file("rover"), fleet.inside(1), fleet.outside());
        let refused = |more: &[&str], code: i32, why: &str| {
            let words = [&["bridge", "--secured", &folder, "--seconds", "1"], more].concat();
            let output = run(&inside, &words);
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(code) && told.contains(why), "{more:?}: {told}");
        };
        let open = inside.replace("ttl=0", "ttl=1");
        refused(&["--inside", &open], 2, "--inside-leaves-host");
        refused(&["--inside", &outside], 2, "inside and outside are both");
        refused(&["--inside", &outside, "--outside", &outside], 2, "inside and outside are both");
        refused(&["--outside", &fleet.inside(2)], 3, "rover/member.crt is for 239.255.76.68");
        let allowed = ["bridge", "--secured", &folder, "--seconds", "1", "--inside", &open];
        let allowed = run(&inside, &[&allowed[..], &["--inside-leaves-host"]].concat());
        assert!(allowed.status.success(), "{}", String::from_utf8_lossy(&allowed.stderr));
        // Two programs do not run on one folder.
        let one = fleet.bridge("rover", 1);
        one.is_with(&[1]);
        let words = ["bridge", "--secured", &folder, "--seconds", "1"];
        let second = folkmoot(&fleet.inside(2), &words).output().unwrap();
        assert_eq!(second.status.code(), Some(3), "{}", String::from_utf8_lossy(&second.stderr));
    });
}
