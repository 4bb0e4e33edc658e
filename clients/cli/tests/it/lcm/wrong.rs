//! What a member says of a state that is not what it should be: each sentence is true, and says
//! what helps.

use super::alone::alone;
use super::fleet::{Bridge, Fleet, until};
use super::papers::{good, refused};
use super::{folkmoot, run};
use folkmoot::UnixTime;
use folkmoot::tools::{OsEntropy, wall_clock};
use folkmoot_identity::{certificate_from_pem, certificate_pem, key_from_pem};
use folkmoot_pubsub::secured::{Claim, Issuer};
use folkmoot_signing::plain::SigningKey;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const POSE: &[&str] = &["POSE"];
const DAY: u64 = 86_400;

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-rT").args([from, to]).status().unwrap();
    assert!(copied.success());
}

/// Two robots that were together; the second one's bridge has crashed.
fn crashed(name: &str, test: u32) -> (Fleet, Bridge) {
    let fleet = Fleet::new(name, test, &[("rover", 1, POSE), ("arm", 2, POSE)]);
    let (rover, arm) = (fleet.bridge("rover", 1), fleet.bridge("arm", 2));
    arm.is_with(&[1, 2]);
    copy(&fleet.path().join("arm/state"), &fleet.path().join("old"));
    arm.crash();
    (fleet, rover)
}

fn der(fleet: &Fleet, file: &str) -> Vec<u8> {
    certificate_from_pem(&fs::read_to_string(fleet.path().join(file)).unwrap()).unwrap()
}

fn root_key(fleet: &Fleet) -> SigningKey {
    let pem = fs::read_to_string(fleet.path().join("root/root.key")).unwrap();
    key_from_pem(&pem).unwrap().as_p256().unwrap().clone()
}

/// The same root key, whose certificate began so many seconds ago.
fn older_root(fleet: &Fleet, seconds: u64) {
    let (now, mut entropy) = (wall_clock().0, OsEntropy::new().unwrap());
    let term = UnixTime(now - seconds)..=UnixTime(now + 100_000);
    let issuer = Issuer::new("root", root_key(fleet), &term, &mut entropy).unwrap();
    fs::write(fleet.path().join("root/root.crt"), certificate_pem(issuer.certificate())).unwrap();
}

/// Gives a robot another certificate by the same root, with this term.
fn term(fleet: &Fleet, robot: &str, begins: u64, ends: u64) {
    let issuer = Issuer::open(&der(fleet, "root/root.crt"), root_key(fleet)).unwrap();
    let own = format!("{robot}/member.crt");
    let claim = Claim::from_der(&der(fleet, &own)).unwrap();
    let (rights, term) = (claim.rights.into_iter().collect(), UnixTime(begins)..=UnixTime(ends));
    let made = issuer.issue("robot", &claim.key, &rights, &term, &mut OsEntropy::new().unwrap()).unwrap();
    fs::write(fleet.path().join(own), certificate_pem(&made)).unwrap();
}

#[test]
fn a_member_whose_state_is_lost_or_old_says_so() {
    alone("lcm::wrong::a_member_whose_state_is_lost_or_old_says_so", || {
        let (fleet, rover) = crashed("lcm-lost", 20);
        let (state, old) = (fleet.path().join("arm/state"), fleet.path().join("old"));
        fs::remove_dir_all(&state).unwrap();
        let arm = fleet.bridge("arm", 2);
        assert_eq!(arm.says("behind")["what"], "2");
        until("the report", || arm.last().is_some_and(|last| last["keys"][0]["behind"] == true));
        assert!(rover.event("behind").is_none(), "the other one has lost nothing");
        arm.crash();
        fs::remove_dir_all(&state).unwrap();
        let spy = ["spy", "--seconds", "8", "--secured", &fleet.file("arm")];
        let told = String::from_utf8_lossy(&run(&fleet.outside(), &spy).stderr).into_owned();
        for part in ["than this state folder knows", "was lost", "Get a new certificate"] {
            assert!(told.contains(part), "{told}");
        }
        // After a few more agreements the copy is an older one.
        fs::remove_dir_all(&state).unwrap();
        copy(&old, &state);
        for _ in 0..2 {
            let arm = fleet.bridge("arm", 2);
            std::thread::sleep(Duration::from_secs(3));
            arm.crash();
        }
        fs::remove_dir_all(&state).unwrap();
        copy(&old, &state);
        fleet.bridge("arm", 2).says("behind");
    });
}

#[test]
fn of_two_programs_with_one_certificate_one_says_so() {
    alone("lcm::wrong::of_two_programs_with_one_certificate_one_says_so", || {
        let (fleet, _rover) = crashed("lcm-twin", 21);
        copy(&fleet.path().join("arm"), &fleet.path().join("copy"));
        let (one, two) = (fleet.bridge("arm", 2), fleet.bridge("copy", 3));
        until("a word of the other", || [&one, &two].iter().any(|one| one.event("twin").is_some()));
    });
}

#[test]
fn a_term_that_has_not_begun_is_over_or_ends_soon_is_named_with_its_time() {
    alone("lcm::wrong::a_term_that_has_not_begun_is_over_or_ends_soon_is_named_with_its_time", || {
        let fleet = Fleet::new("lcm-terms", 22, &[("rover", 1, POSE), ("arm", 2, POSE)]);
        let now = wall_clock().0;
        let told = |command: &[&str], code: i32| {
            let folder = fleet.file("rover");
            let words = [command, &["--secured", &folder]].concat();
            let output = run(&fleet.outside(), &words);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(code), "{told}");
            told
        };
        term(&fleet, "rover", now + 100 * DAY, now + 200 * DAY);
        for command in [&["spy"][..], &["bridge"]] {
            let words = told(command, 3);
            let begins = format!("its term begins at {}", UnixTime(now + 100 * DAY));
            let clock = words.contains("member.crt: its term") && words.contains("this host's clock says 20");
            assert!(words.contains(&begins) && clock, "{words}");
        }
        term(&fleet, "rover", now - 200, now - 100);
        for command in [&["spy"][..], &["bridge"]] {
            let words = told(command, 5);
            assert!(words.contains(&format!("its term ended at {}", UnixTime(now - 100))), "{words}");
        }
        // The root is an hour old, by its certificate.
        term(&fleet, "rover", now - 3_600, now + 600);
        let words = told(&["spy", "--seconds", "1"], 0);
        assert!(words.contains("sender 1 ends within a day"), "{words}");
        let rover = fleet.bridge("rover", 1);
        assert_eq!(rover.says("ending")["what"], UnixTime(now + 600).to_string());
        let arm = fleet.bridge("arm", 2);
        arm.is_with(&[1, 2]);
        assert!(arm.event("ending").is_none());
        rover.crash();
        // It ends while the program runs.
        let now = wall_clock().0;
        term(&fleet, "rover", now - 100, now + 4);
        let words = told(&["bridge", "--outside", &fleet.outside(), "--inside", &fleet.inside(1)], 5);
        assert!(words.contains(&format!("certificate ended at {}", UnixTime(now + 4))), "{words}");
    });
}

#[test]
fn pub_71_nobody_is_told_of_a_certificate_that_ended_long_ago() {
    let fleet = Fleet::new("lcm-ended", 25, &[]);
    let now = wall_clock().0;
    older_root(&fleet, 10_000);
    for (robot, sender) in [("rover", 1), ("arm", 2)] {
        let line = format!("certify --root root --sender {sender} --channel POSE --out {robot}");
        good(fleet.path(), &format!("{line} --lcm-url {}", fleet.outside()));
    }
    term(&fleet, "arm", now - 9_000, now - 3_700);
    for line in ["arm/member.crt --only --root root --now", "--root root --again"] {
        let told = good(fleet.path(), &format!("exclude {line} --lcm-url {}", fleet.outside()));
        let one = &told["exclusions"][0];
        // It is told, for clocks that are late, and nobody is waited for.
        assert_eq!(
            (&told["done"], &one["over"], &one["excluded"]),
            (&json!(true), &json!(true), &json!(false))
        );
    }
    // One that ended just now is told: others' clocks may be late.
    term(&fleet, "rover", now - 9_000, now - 60);
    let line =
        format!("exclude rover/member.crt --only --root root --now --wait 1 --lcm-url {}", fleet.outside());
    refused(fleet.path(), &line, 6);
}

#[test]
fn whoever_has_another_root_or_a_wrong_clock_is_told_that_nothing_counts() {
    alone("lcm::wrong::whoever_has_another_root_or_a_wrong_clock_is_told_that_nothing_counts", || {
        let fleet = Fleet::new("lcm-strangers", 23, &[("rover", 1, POSE), ("late", 3, POSE)]);
        good(fleet.path(), "root new other");
        let url = fleet.outside();
        let line = format!("certify --root other --sender 2 --channel POSE --out arm --lcm-url {url}");
        good(fleet.path(), &line);
        let (rover, arm) = (fleet.bridge("rover", 1), fleet.bridge("arm", 2));
        for bridge in [&rover, &arm] {
            assert!(url.contains(bridge.says("strangers")["what"].as_str().unwrap()));
        }
        // The certificates do not match the folder's root.
        fs::copy(fleet.path().join("root/root.crt"), fleet.path().join("arm/root.crt")).unwrap();
        let mixed = run(&url, &["spy", "--secured", &fleet.file("arm")]);
        let words = String::from_utf8_lossy(&mixed.stderr).into_owned();
        assert!(mixed.status.code() == Some(3) && words.contains("the root has not signed it"), "{words}");
        drop(arm);
        // A clock that is ahead: by the others' clocks this certificate has not begun.
        let has = Command::new("faketime").arg("--version").output().is_ok();
        if !has {
            eprintln!("SKIPPED: without faketime no clock is wrong here");
            return;
        }
        let now = wall_clock().0;
        term(&fleet, "late", now + 2 * 3_600, now + 5 * 3_600);
        let words = ["bridge", "--seconds", "30", "--secured", &fleet.file("late")];
        let sides = ["--inside", &fleet.inside(3), "--outside", &url];
        let plain = folkmoot(&url, &[&words[..], &sides].concat());
        let mut late = Command::new("faketime");
        late.args(["-f", "+3h"]).arg(plain.get_program()).args(plain.get_args());
        let late = late.output().unwrap();
        let told = String::from_utf8_lossy(&late.stdout).into_owned();
        assert!(told.lines().any(|line| line.contains(r#""event":"apart","what":"1""#)), "{told}");
    });
}

#[test]
fn a_member_that_was_heard_and_is_silent_is_reported_once_and_when_it_is_heard_again() {
    alone(
        "lcm::wrong::a_member_that_was_heard_and_is_silent_is_reported_once_and_when_it_is_heard_again",
        || {
            let fleet = Fleet::new("lcm-silent", 24, &[("rover", 1, POSE), ("arm", 2, POSE)]);
            let (rover, arm) = (fleet.bridge("rover", 1), fleet.bridge("arm", 2));
            rover.is_with(&[1, 2]);
            arm.signal("-STOP");
            assert_eq!(rover.says("silent")["what"], "2");
            until("the report", || rover.last().is_some_and(|last| last["silent"] == serde_json::json!([2])));
            assert_eq!(rover.members(), [1, 2], "nobody watches for the dead");
            arm.signal("-CONT");
            assert_eq!(rover.says("heard")["what"], "2");
            until("the report", || rover.last().is_some_and(|last| last["silent"] == serde_json::json!([])));
            assert_eq!(rover.events("silent"), 1);
        },
    );
}
